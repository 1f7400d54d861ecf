#!/usr/bin/env python3
"""Reads CFiles and tables. It was written from cfile/FORMAT.md alone, to prove that the document suffices.

    reader.py FILE      prints one JSON value a line: a row of the column (null, a value, or a list)
    reader.py TABLE     prints one JSON object a line: a row, or a nested record
    reader.py --check FILE|TABLE
                        also walks both index trees and compares statistics and Bloom filter with the values

It aims at clearness and not at speed: about a million values a second where whole blocks can be taken
at once (fixed widths, bit shuffling), a tenth of that for PREFIX, varints and packed levels.

Values are held raw: integers as int, FLOAT and DOUBLE as their bits (so that no NaN is changed), bool as
0 or 1, everything else as bytes. present() makes JSON of them.
"""
import io
import itertools
import json
import os
import struct
import sys
import zlib

try:
    import brotli
    import zstandard
except ImportError:  # Debian's modules are visible to Debian's interpreter only
    _DEBIAN = "/usr/bin/python3"
    if os.path.exists(_DEBIAN) and os.path.realpath(sys.executable) != os.path.realpath(_DEBIAN) and os.path.isfile(sys.argv[0]):
        os.execv(_DEBIAN, [_DEBIAN, *sys.argv])
    brotli = zstandard = None

# ---------------------------------------------------------------- errors and cursors


class Refused(Exception):
    """Why a file is not read. `where` names the file, the block and the byte; `what` says what is wrong there."""

    def __init__(self, where, what):
        super().__init__(f"{where}: {what}")
        self.where, self.what = where, what


class Damage(Refused):
    """The bytes break a rule of the format."""


class Unsupported(Refused):
    """The file needs something that this reader does not have."""


class Limit(Refused):
    """The file is legal, but larger than this reader takes."""


MAX_BLOCK_BYTES = 1 << 28  # of a block after decompression
MAX_BLOCK_ENTRIES = 1 << 24  # a block of 20 bytes may stand for 10^9 values: no list of that length is made
MAX_VALUE_BYTES = 1 << 26  # of all values of one block of DELTA_BYTE_ARRAY


class Cursor:
    """Takes bytes and numbers one behind the other, and never beyond the end."""

    def __init__(self, data, where, pos=0, end=None):
        self.data, self.where, self.pos = data, where, pos
        self.end = len(data) if end is None else end

    def damage(self, what):
        return Damage(f"{self.where}, byte {self.pos}", what)

    def left(self):
        return self.end - self.pos

    def take(self, size):
        if size > self.end - self.pos:
            raise self.damage(f"{size} bytes needed, {self.end - self.pos} are there")
        self.pos += size
        return self.data[self.pos - size:self.pos]

    def rest(self):
        return self.take(self.end - self.pos)

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def fixed32(self):
        return self.number(4)

    def vint(self, bits):
        """Unsigned LEB128 of at most 5 (32 bits) or 10 bytes (64 bits)."""
        value = 0
        for i in range(5 if bits == 32 else 10):
            byte = self.number(1)
            value |= (byte & 127) << (7 * i)
            if byte < 128:
                if value >> bits:
                    raise self.damage(f"a varint does not fit {bits} bits")
                return value
        raise self.damage("a varint is too long")

    def zigzag(self, bits):
        value = self.vint(bits)
        return (value >> 1) ^ -(value & 1)

    def sub(self, size):
        """A cursor over the next `size` bytes, which this one passes over."""
        if size > self.left():
            raise self.damage(f"{size} bytes needed, {self.left()} are there")
        self.pos += size
        return Cursor(self.data, self.where, self.pos - size, self.pos)

    def done(self, what):
        if self.pos != self.end:
            raise self.damage(f"{self.left()} bytes behind {what}")


# ---------------------------------------------------------------- CRC32C and XXH64


def _crc_table():
    """CRC32C of each pair of bytes."""
    one = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        one.append(byte)
    return [one[(one[low] ^ high) & 255] ^ (one[low] >> 8) for high in range(256) for low in range(256)], one


_CRC2, _CRC1 = _crc_table()


def crc32c(data):
    crc, table = 0xFFFFFFFF, _CRC2
    for pair in struct.unpack_from(f"<{len(data) // 2}H", data):
        crc = table[(crc ^ pair) & 0xFFFF] ^ (crc >> 16)
    if len(data) % 2:
        crc = _CRC1[(crc ^ data[-1]) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


_M64 = (1 << 64) - 1
_X1, _X2, _X3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_X4, _X5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def _rotate(x, n):
    return ((x << n) | (x >> (64 - n))) & _M64


def xxh64(data):
    """XXH64 with seed 0."""
    size, pos = len(data), 0
    if size >= 32:
        lanes = [(_X1 + _X2) & _M64, _X2, 0, -_X1 & _M64]
        while pos + 32 <= size:
            for i, word in enumerate(struct.unpack_from("<4Q", data, pos)):
                lanes[i] = _rotate((lanes[i] + word * _X2) & _M64, 31) * _X1 & _M64
            pos += 32
        h = sum(_rotate(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & _M64
        for lane in lanes:
            h = ((h ^ _rotate(lane * _X2 & _M64, 31) * _X1 & _M64) * _X1 + _X4) & _M64
    else:
        h = _X5
    h = (h + size) & _M64
    while pos + 8 <= size:
        word = int.from_bytes(data[pos:pos + 8], "little")
        h = (_rotate(h ^ _rotate(word * _X2 & _M64, 31) * _X1 & _M64, 27) * _X1 + _X4) & _M64
        pos += 8
    if pos + 4 <= size:
        h = (_rotate(h ^ int.from_bytes(data[pos:pos + 4], "little") * _X1 & _M64, 23) * _X2 + _X3) & _M64
        pos += 4
    for byte in data[pos:]:
        h = _rotate(h ^ byte * _X5 & _M64, 11) * _X1 & _M64
    h = (h ^ (h >> 33)) * _X2 & _M64
    h = (h ^ (h >> 29)) * _X3 & _M64
    return h ^ (h >> 32)


# ---------------------------------------------------------------- codecs


def _copy(out, distance, length):
    """Appends `length` bytes that begin `distance` before the end. They may overlap what they make."""
    start = len(out) - distance
    if distance >= length:
        out += out[start:start + length]
    else:
        piece = bytes(out[start:])
        out += (piece * (length // distance + 1))[:length]


def lz4_block(data, size, where):
    cursor, out, pos, end = Cursor(data, where), bytearray(), 0, len(data)

    def long_length(length, pos):
        while True:
            if pos >= end:
                raise cursor.damage("an LZ4 length is cut off")
            length += data[pos]
            pos += 1
            if data[pos - 1] != 255:
                return length, pos

    while True:
        if pos >= end:
            raise cursor.damage("LZ4 data end without a last sequence")
        token = data[pos]
        pos += 1
        length = token >> 4
        if length == 15:
            length, pos = long_length(15, pos)
        if pos + length > end or len(out) + length > size:
            raise cursor.damage("LZ4 literals are more than there is room for")
        out += data[pos:pos + length]
        pos += length
        if pos == end:  # the last sequence has literals only
            break
        if pos + 2 > end:
            raise cursor.damage("an LZ4 distance is cut off")
        distance = data[pos] | data[pos + 1] << 8
        pos += 2
        length = (token & 15) + 4
        if length == 19:
            length, pos = long_length(19, pos)
        if not 0 < distance <= len(out) or len(out) + length > size:
            raise cursor.damage("an LZ4 match lies outside of the block")
        _copy(out, distance, length)
    if len(out) != size:
        raise cursor.damage(f"LZ4 makes {len(out)} bytes and not {size}")
    return bytes(out)


def snappy(data, size, where):
    cursor, out = Cursor(data, where), bytearray()
    if cursor.vint(32) != size:
        raise cursor.damage(f"Snappy names another size than {size}")
    while cursor.left():
        tag = cursor.number(1)
        length = tag >> 2
        if tag & 3 == 0:
            length = (cursor.number(length - 59) if length >= 60 else length) + 1
            if len(out) + length > size:
                raise cursor.damage("Snappy literals are more than there is room for")
            out += cursor.take(length)
            continue
        if tag & 3 == 1:
            length, distance = (length & 7) + 4, tag >> 5 << 8 | cursor.number(1)
        else:
            length, distance = length + 1, cursor.number(2 if tag & 3 == 2 else 4)
        if not 0 < distance <= len(out) or len(out) + length > size:
            raise cursor.damage("a Snappy copy lies outside of the block")
        _copy(out, distance, length)
    if len(out) != size:
        raise cursor.damage(f"Snappy makes {len(out)} bytes and not {size}")
    return bytes(out)


def _zlib(data, size, where, wbits, members):
    out = b""
    while True:
        stream = zlib.decompressobj(wbits)
        try:
            out += stream.decompress(data, size - len(out) + 1)
        except zlib.error as error:
            raise Damage(where, str(error)) from None
        data = stream.unused_data
        if len(out) > size or not stream.eof or (data and not members):
            raise Damage(where, "a zlib stream is too long, cut off or followed by bytes")
        if not data:
            break
    if len(out) != size:
        raise Damage(where, f"zlib makes {len(out)} bytes and not {size}")
    return out


def _zstd(data, size, where):
    if zstandard is None:
        raise Unsupported(where, "Zstandard needs the module zstandard")
    try:
        out = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read(size + 1)
        if len(out) == size:
            whole = zstandard.ZstdDecompressor().decompressobj()
            whole.decompress(data)
            if not whole.eof or whole.unused_data:
                raise Damage(where, "a Zstandard frame is cut off or followed by bytes")
            return out
    except zstandard.ZstdError as error:
        raise Damage(where, str(error)) from None
    raise Damage(where, f"Zstandard makes another number of bytes than {size}")


def _brotli(data, size, where):
    if brotli is None:
        raise Unsupported(where, "Brotli needs the module brotli")
    try:
        out = brotli.decompress(data)  # refuses a stream that is cut off or followed by bytes
    except brotli.error as error:
        raise Damage(where, str(error)) from None
    if len(out) != size:
        raise Damage(where, f"Brotli makes {len(out)} bytes and not {size}")
    return out


CODECS = {
    1: None, 2: snappy, 3: lz4_block, 4: lambda d, n, w: _zlib(d, n, w, 15, False),
    102: lambda d, n, w: _zlib(d, n, w, 31, True), 104: _brotli, 106: _zstd,
}

# ---------------------------------------------------------------- protobuf messages

# Of each message: field number: (name, kind). A kind is int, uint, bool, bytes or another message; [kind] is a repeated field.
POINTER = {1: ("offset", "int"), 2: ("size", "int")}
PAIR = {1: ("key", "bytes"), 2: ("value", "bytes")}
TREE = {1: ("root_block", POINTER)}
EXTENSIONS = {
    1: ("data_type", "int"), 2: ("encoding", "int"), 3: ("compression", "int"), 4: ("type_length", "int"),
    5: ("decimal_precision", "int"), 6: ("decimal_scale", "int"), 7: ("time_unit", "int"), 8: ("logical_type", "int"),
    9: ("time_zone", "bytes"), 10: ("max_repetition_level", "int"), 11: ("max_definition_level", "int"),
    12: ("num_entries", "int"), 13: ("statistics", POINTER), 15: ("created_by", "bytes"),
}
HEADER = {1: ("major_version", "int"), 2: ("minor_version", "int"), 3: ("metadata", [PAIR])}
FOOTER = {
    1: ("data_type", "int"), 2: ("encoding", "int"), 3: ("num_values", "int"), 4: ("posidx_info", TREE),
    5: ("validx_info", TREE), 6: ("compression", "int"), 7: ("metadata", [PAIR]), 8: ("is_type_nullable", "bool"),
    9: ("dict_block_ptr", POINTER), 10: ("incompatible_features", "uint"), 11: ("compatible_features", "uint"),
    12: ("is_type_array", "bool"), 1000: ("extensions", EXTENSIONS),
}
TRAILER = {1: ("num_entries", "int"), 2: ("type", "int")}
BLOCK_STATISTICS = {
    1: ("present_count", "uint"), 2: ("null_count", "uint"), 3: ("nan_count", "uint"), 4: ("min_key", "bytes"),
    5: ("max_key", "bytes"), 6: ("min_inexact", "bool"), 7: ("max_inexact", "bool"),
}
STATISTICS = {1: ("blocks", [BLOCK_STATISTICS]), 2: ("file", BLOCK_STATISTICS), 3: ("bloom_filter", "bytes")}
COLUMN = {
    1: ("type", "int"), 2: ("encoding", "int"), 3: ("compression", "int"), 4: ("nullable", "bool"),
    5: ("extensions", EXTENSIONS), 6: ("array", "bool"),
}
BLOOM_HEADER = {1: ("num_hash_functions", "int")}
SCHEMA_NODE = {1: ("name", "bytes"), 2: ("repetition", "int"), 4: ("column", COLUMN), 5: ("kind", "int")}
SCHEMA_NODE[3] = ("children", [SCHEMA_NODE])
PART_COLUMN = {
    1: ("file_name", "bytes"), 2: ("size_bytes", "uint"), 3: ("num_values", "uint"), 4: ("null_count", "uint"),
    5: ("min_key", "bytes"), 6: ("max_key", "bytes"),
}
PART = {1: ("directory", "bytes"), 2: ("num_rows", "uint"), 3: ("columns", [PART_COLUMN])}
TABLE = {1: ("schema", SCHEMA_NODE), 2: ("parts", [PART]), 3: ("created_by", "bytes"), 4: ("key_columns", ["uint"])}


class Message(dict):
    """The fields of a message that are there. A field that is not there reads as None."""

    def __getattr__(self, name):
        return self.get(name)


def parse(fields, data, where, depth=0):
    """Parses a protobuf message. Unknown fields, and known ones of another wire type, are skipped."""
    cursor, message = Cursor(data, where), Message()
    if depth > 200:
        raise cursor.damage("messages lie too deep in each other")
    for name, kind in fields.values():
        if isinstance(kind, list):
            message[name] = []
    while cursor.left():
        tag = cursor.vint(64)
        number, wire = tag >> 3, tag & 7
        if not 0 < number < 1 << 29 or wire not in (0, 1, 2, 5):
            raise cursor.damage("this is no protobuf field")
        if wire == 0:
            value = cursor.vint(64)
        else:
            value = cursor.take({1: 8, 2: None, 5: 4}[wire] or (cursor.vint(64) if wire == 2 else 0))
        name, kind = fields.get(number, (None, None))
        repeated, kind = isinstance(kind, list), kind[0] if isinstance(kind, list) else kind
        if kind is None or (kind in ("int", "uint", "bool")) != (wire == 0) or wire in (1, 5):
            if repeated and kind == "uint" and wire == 2:  # a packed repeated number
                packed = Cursor(value, where)
                while packed.left():
                    message[name].append(packed.vint(64))
            continue
        if kind == "int":
            value -= (value >> 63) << 64
        elif kind == "bool":
            value = value != 0
        elif isinstance(kind, dict):
            value = parse(kind, value, f"{where}, field {name}", depth + 1)
        if repeated:
            message[name].append(value)
        elif isinstance(kind, dict) and name in message:
            message[name].update(value)
        else:
            message[name] = value
    return message


# ---------------------------------------------------------------- types


class Shape:
    """What encodings see of a type. kind is int, float, bool, bytes or fixed; size is in bytes."""

    def __init__(self, kind, size=0, signed=False, name=""):
        self.kind, self.size, self.signed, self.name = kind, size, signed, name
        self.format = {1: "b", 2: "h", 4: "i", 8: "q"}.get(size, "") if kind in ("int", "float") else ""
        if not signed:
            self.format = self.format.upper()

    def fixed_width(self):
        return self.kind in ("int", "float", "fixed")

    def unpack(self, data):
        """Values back to back, little-endian."""
        if self.format:
            return list(struct.unpack(f"<{len(data) // self.size}{self.format}", data))
        pieces = [data[i:i + self.size] for i in range(0, len(data), self.size)]
        if self.kind == "fixed":
            return pieces
        return [int.from_bytes(piece, "little", signed=self.signed) for piece in pieces]

    def memcmp(self, value):
        """The form whose unsigned order of bytes is the order of the values."""
        if self.kind == "int":
            return (value + (1 << (8 * self.size - 1) if self.signed else 0)).to_bytes(self.size, "big")
        if self.kind == "float":
            sign = 1 << (8 * self.size - 1)
            return (value ^ (2 * sign - 1 if value & sign else sign)).to_bytes(self.size, "big")
        return bytes([value]) if self.kind == "bool" else value

    def is_nan(self, value):
        if self.kind != "float":
            return False
        infinity = 0x7F800000 if self.size == 4 else 0x7FF0000000000000
        return value & (infinity * 2 | infinity | infinity - 1) & ~(1 << (8 * self.size - 1)) > infinity

    def is_zero(self, value):
        return self.kind == "float" and value & ~(1 << (8 * self.size - 1)) == 0


TYPES = {
    0: Shape("int", 1, False, "UINT8"), 1: Shape("int", 1, True, "INT8"), 2: Shape("int", 2, False, "UINT16"),
    3: Shape("int", 2, True, "INT16"), 4: Shape("int", 4, False, "UINT32"), 5: Shape("int", 4, True, "INT32"),
    6: Shape("int", 8, False, "UINT64"), 7: Shape("int", 8, True, "INT64"), 8: Shape("bytes", 0, False, "STRING"),
    9: Shape("bool", 0, False, "BOOL"), 10: Shape("float", 4, False, "FLOAT"), 11: Shape("float", 8, False, "DOUBLE"),
    12: Shape("bytes", 0, False, "BINARY"), 13: Shape("int", 8, True, "UNIXTIME_MICROS"),
    14: Shape("int", 16, True, "INT128"), 15: Shape("int", 4, True, "DECIMAL32"), 16: Shape("int", 8, True, "DECIMAL64"),
    17: Shape("int", 16, True, "DECIMAL128"), 18: Shape("bool", 0, False, "IS_DELETED"),
    19: Shape("bytes", 0, False, "VARCHAR"), 20: Shape("int", 4, True, "DATE"), 103: Shape("fixed", 12, False, "INT96"),
    107: Shape("fixed", 0, False, "FIXED_LEN_BYTE_ARRAY"),
}
UINT32, BYTES, BOOL = TYPES[4], TYPES[12], TYPES[9]


def shape_of(type_number, extensions, where):
    shape = TYPES.get(type_number)
    if shape is None:
        raise Unsupported(where, f"type {type_number} is not known")
    if type_number == 107:
        length = (extensions or Message()).type_length or 0
        if length < 1:
            raise Damage(where, "FIXED_LEN_BYTE_ARRAY has no type_length")
        return Shape("fixed", length, False, shape.name)
    return shape


def number_of(kudu, extension, default, where, what):
    """A number of 100 or more stands in the extension, and Kudu's field then says 999."""
    number = default if kudu is None else kudu
    if number is None:
        raise Damage(where, f"{what} is missing")
    if number == 999:
        if extension is None or extension < 100:
            raise Damage(where, f"{what} is 999, but the extensions name no number of 100 or more")
        return extension
    if extension is not None or number >= 100:
        raise Damage(where, f"{what} is {number} in the message and {extension} in the extensions")
    return number


# ---------------------------------------------------------------- bits, RLE-hybrid, group varint

_BITS = [bytes(byte >> i & 1 for i in range(8)) for byte in range(256)]


def unpack_bits(data, width, count):
    """`count` bit-packed values, least significant bit first, of at least the bytes that they need."""
    if width == 0:
        return [0] * count
    data = data[:(count * width + 7) // 8]
    if width in (8, 16, 32, 64):
        return list(struct.unpack(f"<{count}{'?BH?I???Q'[width // 8]}", data))
    if width == 1:
        return list(b"".join([_BITS[byte] for byte in data])[:count])
    out, mask, shifts = [], (1 << width) - 1, range(0, 8 * width, width)
    for pos in range(0, len(data), width):  # 8 values at a time
        group = int.from_bytes(data[pos:pos + width], "little")
        out += [group >> shift & mask for shift in shifts]
    return out[:count]


def hybrid(cursor, width, count):
    """`count` values of RLE-hybrid. What stands behind them is not looked at."""
    if count > MAX_BLOCK_ENTRIES:
        raise Limit(cursor.where, f"{count} values in one block are more than this reader takes")
    out, value_size = [], (width + 7) // 8
    while len(out) < count:
        header = cursor.vint(32)
        wanted, run = count - len(out), header >> 1
        if run < 1 or run * (8 if header & 1 else 1) > 0x7FFFFFFF:
            raise cursor.damage("a run has 0 values or more than 2^31 - 1")
        if header & 1:
            if run * 8 >= wanted:  # the last run needed may end with the last value needed
                packed = cursor.take(min(run * width, cursor.left()))
                if len(packed) * 8 < wanted * width:
                    raise cursor.damage("a literal run is cut off")
                out += unpack_bits(packed, width, wanted)
            else:
                out += unpack_bits(cursor.take(run * width), width, run * 8)
        else:
            value = cursor.number(value_size)
            if value >> width:
                raise cursor.damage(f"a repeated value has more than {width} bits")
            out += [value] * min(run, wanted)
    return out


def _group_layouts(count, field):
    """For each selector: where each integer begins and ends behind it."""
    layouts = []
    for selector in range(1 << (count * field)):
        sizes = [(selector >> field * (count - 1 - i) & (1 << field) - 1) + 1 for i in range(count)]
        ends = list(itertools.accumulate(sizes))
        layouts.append((list(zip([0] + ends, ends)), ends[-1]))
    return layouts


_GROUPS_32, _GROUPS_64 = _group_layouts(4, 2), None


def group_varints(cursor, groups):
    """All integers of `groups` groups of four."""
    out = []
    for _ in range(groups):
        layout, size = _GROUPS_32[cursor.number(1)]
        body = cursor.take(size)
        out += [int.from_bytes(body[start:end], "little") for start, end in layout]
    return out


# ---------------------------------------------------------------- Kudu's data blocks

# Each takes a cursor over the encoded values, the shape and the dictionary, and returns (count, first ordinal, values).


def kudu_plain(cursor, shape, dictionary=None):
    if shape.kind == "bytes":
        start = cursor.pos
        first, count, offsets_at = cursor.fixed32(), cursor.fixed32(), cursor.fixed32()
        at = Cursor(cursor.data, cursor.where, start, cursor.end)
        at.take(12)
        if offsets_at < 12 or start + offsets_at > cursor.end:
            raise cursor.damage("the position of the offsets lies outside of the block")
        at.pos = start + offsets_at
        if (count + 3) // 4 * 5 > at.left():
            raise cursor.damage(f"there are no offsets for {count} values")
        offsets = group_varints(at, (count + 3) // 4)[:count] + [offsets_at]
        at.done("the last offset")
        if offsets[0] != 12 or any(a > b for a, b in zip(offsets, offsets[1:])):
            raise cursor.damage("offsets do not begin at 12 or descend")
        body = cursor.data[start:start + offsets_at]
        cursor.pos = cursor.end
        return count, first, [body[a:b] for a, b in zip(offsets, offsets[1:])]
    count, first = cursor.fixed32(), cursor.fixed32()
    if shape.kind == "bool":
        values = unpack_bits(cursor.take((count + 7) // 8), 1, count)
    else:
        values = shape.unpack(cursor.take(count * shape.size))
    cursor.done("the last value")
    return count, first, values


def kudu_prefix(cursor, shape, dictionary=None):
    start = cursor.pos
    count, first, interval, zero = group_varints(cursor, 1)
    if interval < 1 or zero:
        raise cursor.damage("the restart interval is 0, or the fourth number is not")
    restarts = (count - 1) // interval if count else 0
    tail = 4 * restarts + 4
    if tail > cursor.left():
        raise cursor.damage("the restart offsets are cut off")
    at = Cursor(cursor.data, cursor.where, cursor.end - tail, cursor.end)
    offsets = [at.fixed32() for _ in range(restarts)]
    if at.fixed32() != restarts:
        raise at.damage(f"the restart count is not {restarts}")
    body = Cursor(cursor.data, cursor.where, cursor.pos, cursor.end - tail)
    values, value, expected = [], b"", []
    for i in range(count):
        if i and i % interval == 0:
            expected.append(body.pos - start)
        shared, unshared = body.vint(32), body.vint(32)
        if shared > (0 if i % interval == 0 else len(value)):
            raise body.damage("a value shares more bytes than there are before it")
        value = value[:shared] + body.take(unshared)
        values.append(value)
    body.done("the last value")
    if expected != offsets:
        raise body.damage("the restart offsets do not lead to the restart points")
    cursor.pos = cursor.end
    return count, first, values


def kudu_group_varint(cursor, shape, dictionary=None):
    count, minimum, first, zero = group_varints(cursor, 1)
    if (count + 3) // 4 * 5 > cursor.left():
        raise cursor.damage(f"{count} values are cut off")
    values = [minimum + value for value in group_varints(cursor, (count + 3) // 4)[:count]]
    if zero or (values and max(values) >> 32):
        raise cursor.damage("a value does not fit 32 bits, or the fourth number is not 0")
    cursor.done("the last group")
    return count, first, values


def kudu_rle(cursor, shape, dictionary=None):
    count, first = cursor.fixed32(), cursor.fixed32()
    width = 1 if shape.kind == "bool" else shape.size * 8
    values = hybrid(cursor, width, count)
    if shape.signed:
        half, whole = 1 << (width - 1), 1 << width
        values = [value - whole if value >= half else value for value in values]
    return count, first, values


_SWAPS = ((7, bytes.fromhex("00aa00aa00aa00aa")), (14, bytes.fromhex("0000cccc0000cccc")), (28, bytes.fromhex("00000000f0f0f0f0")))


def unshuffle(data, size):
    """Bytes of elements of `size` bytes from rows of bits: row 8j + b holds bit b of byte j of each element."""
    row = len(data) // (8 * size)
    out = bytearray(len(data))
    for j in range(size):
        rows = data[8 * j * row:8 * (j + 1) * row]
        # The 8 bytes that stand in one column of the 8 rows are a matrix of bits. Its transpose holds byte j of 8 elements.
        # All columns are transposed at once, as one long number, by exchanging squares of 1, 2 and 4 bits.
        columns = bytearray(8 * row)
        for b in range(8):
            columns[b::8] = rows[b * row:(b + 1) * row]
        x = int.from_bytes(columns, "little")
        for shift, pattern in _SWAPS:
            exchanged = (x ^ x >> shift) & int.from_bytes(pattern[::-1] * row, "little")
            x ^= exchanged ^ exchanged << shift
        out[j::size] = x.to_bytes(8 * row, "little")
    return bytes(out)


def kudu_bit_shuffle(cursor, shape, dictionary=None):
    start = cursor.pos
    first, count, size, padded, element = (cursor.fixed32() for _ in range(5))
    widths = (1, 2, 4) if shape.name == "UINT32" else (shape.size,)
    if size != cursor.end - start or padded != (count + 7) // 8 * 8 or element not in widths:
        raise cursor.damage("the header of a BIT_SHUFFLE block does not fit its bytes, its count or its type")
    out = []
    while padded:
        n = min(8192 // element, padded)
        chunk = cursor.take(int.from_bytes(cursor.take(4), "big"))
        out.append(unshuffle(lz4_block(chunk, n * element, cursor.where), element))
        padded -= n
    cursor.done("the last chunk")
    stored = Shape(shape.kind, element, shape.signed)
    return count, first, stored.unpack(b"".join(out)[:count * element])


def kudu_dict(cursor, shape, dictionary):
    mode = cursor.fixed32()
    if mode == 2:
        return kudu_plain(cursor, shape)
    if mode != 1:
        raise cursor.damage(f"DICT mode {mode} is neither 1 nor 2")
    count, first, codes = kudu_bit_shuffle(cursor, UINT32)
    return count, first, look_up(cursor, codes, dictionary)


def look_up(cursor, codes, dictionary):
    if codes and (dictionary is None or max(codes) >= len(dictionary)):
        raise cursor.damage("a code has no value in the dictionary")
    return [dictionary[code] for code in codes]


KUDU = {
    1: (kudu_plain, lambda s: True), 2: (kudu_prefix, lambda s: s.kind == "bytes"),
    3: (kudu_group_varint, lambda s: s.name == "UINT32"),
    4: (kudu_rle, lambda s: s.kind == "bool" or s.kind == "int" and s.size <= 8),
    5: (kudu_dict, lambda s: s.kind == "bytes"), 6: (kudu_bit_shuffle, lambda s: s.kind in ("int", "float")),
}

# ---------------------------------------------------------------- Parquet's data blocks

# Each takes a cursor over the page, the number of values, Parquet's type as a Shape and the dictionary. Skip tables are in `skip`,
# if there is one. Integers come as unsigned ones; FIXED_LEN_BYTE_ARRAY and INT96 have the shape fixed.


def parquet_plain(cursor, count, shape, dictionary=None, skip=b""):
    if shape.kind == "bool":
        if (count + 7) // 8 > cursor.left():
            raise cursor.damage(f"{count} values are cut off")
        return unpack_bits(cursor.take((count + 7) // 8), 1, count)
    if shape.kind == "bytes":
        if 4 * count > cursor.left():
            raise cursor.damage(f"{count} values are cut off")
        return [cursor.take(cursor.fixed32()) for _ in range(count)]
    return shape.unpack(cursor.take(count * shape.size))


def parquet_group_var_int(cursor, count, shape, dictionary=None, skip=b""):
    global _GROUPS_64
    if shape.size == 4:
        if (count + 3) // 4 * 5 > cursor.left():
            raise cursor.damage(f"{count} values are cut off")
        return group_varints(cursor, (count + 3) // 4)[:count]
    _GROUPS_64 = _GROUPS_64 or _group_layouts(5, 3)
    out = []
    while len(out) < count:
        layout, size = _GROUPS_64[cursor.number(2) & 0x7FFF]
        body = cursor.take(size)
        out += [int.from_bytes(body[start:end], "little") for start, end in layout]
    return out[:count]


def parquet_rle(cursor, count, shape, dictionary=None, skip=b""):
    if count == 0 and cursor.left() == 0:
        return []
    return hybrid(cursor.sub(cursor.fixed32()), 1, count)


def delta_integers(cursor, count, bits, lenient=False):
    """DELTA_BINARY_PACKED. Returns unsigned values and, for skip tables, block size and the places where blocks begin.

    lenient takes miniblocks of any multiple of 8, for the examples of Parquet's first documents.
    """
    if count == 0 and cursor.left() == 0:
        return [], 0, []
    start, mask = cursor.pos, (1 << bits) - 1
    block_size, miniblocks, total = cursor.vint(64), cursor.vint(64), cursor.vint(64)
    if not miniblocks or not 0 < block_size < 1 << 31 or block_size % miniblocks:
        raise cursor.damage(f"{miniblocks} miniblocks do not divide blocks of {block_size}")
    miniblock = block_size // miniblocks
    if (miniblock % 8 if lenient else block_size % 128 or miniblock % 32) or total != count:
        raise cursor.damage(f"blocks of {block_size}, miniblocks of {miniblock} or a count of {total} are not legal here")
    if count > MAX_BLOCK_ENTRIES:
        raise Limit(cursor.where, f"{count} values in one block are more than this reader takes")
    first = cursor.zigzag(64)
    deltas, left, starts = [], count - 1, []
    while left > 0:
        starts.append(cursor.pos - start)
        least, widths = cursor.zigzag(64), cursor.take(miniblocks)
        for width in widths:
            if left <= 0:
                break
            if width > bits:
                raise cursor.damage(f"a miniblock has a width of {width} bits")
            packed = cursor.take(miniblock * width // 8)
            n = min(miniblock, left)
            deltas += [least + delta for delta in unpack_bits(packed, width, n)]
            left -= n
    starts.append(cursor.pos - start)
    if not count:
        return [], block_size, starts
    return [value & mask for value in itertools.accumulate(deltas, initial=first)], block_size, starts


def _signed(values, bits):
    half, whole = 1 << (bits - 1), 1 << bits
    return [value - whole if value >= half else value for value in values]


def delta_entry(entry, k, values, block_size, starts, size):
    """Checks the entry of a skip table for value k: the place of the block that the next value is in, and the value."""
    if entry.fixed32() != starts[k // block_size] or entry.number(size) != values[k]:
        raise entry.damage(f"the skip table is wrong about value {k}")


def parquet_delta(cursor, count, shape, dictionary=None, skip=b"", lenient=False):
    values, block_size, starts = delta_integers(cursor, count, 8 * shape.size, lenient)
    if skip:
        entry = Cursor(skip, cursor.where + ", skip table")
        for k in range(1024, count, 1024):
            delta_entry(entry, k, values, block_size, starts, shape.size)
        entry.done("the last entry")
    return values


def parquet_delta_length(cursor, count, shape, dictionary=None, skip=b"", marks=None):
    """`marks` gets what the skip table of DELTA_BYTE_ARRAY needs to know."""
    start = cursor.pos
    raw, block_size, starts = delta_integers(cursor, count, 32)
    lengths, bytes_at = _signed(raw, 32), cursor.pos - start
    if lengths and min(lengths) < 0:
        raise cursor.damage("a length is negative")
    ends = list(itertools.accumulate(lengths, initial=0))
    body = cursor.take(ends[-1])
    if marks is not None:
        marks.extend((raw, block_size, starts, ends, bytes_at))
    if skip:
        entry = Cursor(skip, cursor.where + ", skip table")
        if entry.fixed32() != bytes_at:
            raise entry.damage("the skip table does not lead to the bytes")
        for k in range(1024, count, 1024):
            delta_entry(entry, k, raw, block_size, starts, 4)
            if entry.fixed32() != ends[k]:
                raise entry.damage(f"the skip table is wrong about the bytes of value {k}")
        entry.done("the last entry")
    return [body[a:b] for a, b in zip(ends, ends[1:])]


def parquet_delta_bytes(cursor, count, shape, dictionary=None, skip=b""):
    if count == 0 and cursor.left() == 0:
        return []
    start, marks = cursor.pos, []
    prefixes, block_size, starts = delta_integers(cursor, count, 32)
    suffixes_at = cursor.pos - start
    suffixes = parquet_delta_length(cursor, count, shape, marks=marks)
    values, value, total = [], b"", 0
    for prefix, suffix in zip(prefixes, suffixes):
        if prefix > len(value):  # a negative one is a large unsigned one
            raise cursor.damage("a prefix is longer than the value before it")
        value = value[:prefix] + suffix
        if shape.kind == "fixed" and len(value) != shape.size:
            raise cursor.damage(f"a value has {len(value)} bytes and not {shape.size}")
        total += len(value)
        if total > MAX_VALUE_BYTES:
            raise Limit(cursor.where, f"the values of a block have more than {MAX_VALUE_BYTES} bytes")
        values.append(value)
    if skip:
        entry, entries = Cursor(skip, cursor.where + ", skip table"), len(range(1024, count, 1024))
        if entry.fixed32() != suffixes_at or entry.fixed32() != marks[4]:
            raise entry.damage("the skip table does not lead to the suffixes or their bytes")
        kept = skip[8 + 24 * entries:]
        for k in range(1024, count, 1024):
            delta_entry(entry, k, prefixes, block_size, starts, 4)
            delta_entry(entry, k, marks[0], marks[1], marks[2], 4)
            suffix_at, prefix_at = entry.fixed32(), entry.fixed32()
            prefix = values[k][:prefixes[k]]
            if suffix_at != marks[3][k] or prefix_at != 0xFFFFFFFF and kept[prefix_at:prefix_at + len(prefix)] != prefix:
                raise entry.damage(f"the skip table is wrong about the bytes of value {k}")
    return values


def parquet_codes(cursor, count, shape=None, dictionary=None, skip=b""):
    if count == 0 and cursor.left() == 0:
        return []
    width = cursor.number(1)
    if width > 32:
        raise cursor.damage(f"codes have {width} bits")
    return hybrid(cursor, width, count)


def parquet_dict(cursor, count, shape, dictionary=None, skip=b""):
    return look_up(cursor, parquet_codes(cursor, count), dictionary)


def parquet_byte_stream_split(cursor, count, shape, dictionary=None, skip=b""):
    page = cursor.rest()
    if len(page) != count * shape.size:
        raise cursor.damage(f"{count} values of {shape.size} bytes do not make {len(page)} bytes")
    out = bytearray(len(page))
    for i in range(shape.size):
        out[i::shape.size] = page[i * count:(i + 1) * count]
    return shape.unpack(bytes(out))


def _float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def parquet_alp(cursor, count, shape, dictionary=None, skip=b""):
    if count == 0 and cursor.left() == 0:
        return []
    bits, single = 8 * shape.size, shape.size == 4
    mode, integers, log, total = cursor.number(1), cursor.number(1), cursor.number(1), cursor.fixed32()
    if mode or integers or not 3 <= log <= 15 or total != count:
        raise cursor.damage("the header of an ALP page does not fit")
    vectors, size = (count + (1 << log) - 1) >> log, 1 << log
    offsets_at = cursor.pos
    offsets = struct.unpack(f"<{vectors}I", cursor.take(4 * vectors))
    largest = 10 if single else 18
    nearest = _float32 if single else float
    out = []
    for v, offset in enumerate(offsets):
        if offsets_at + offset != cursor.pos:
            raise cursor.damage(f"vector {v} does not follow the one before it")
        n = min(size, count - v * size)
        e, f, exceptions, frame = cursor.number(1), cursor.number(1), cursor.number(2), cursor.number(shape.size)
        width = cursor.number(1)
        if e > largest or f > e or exceptions > n or width > bits:
            raise cursor.damage("exponent, factor, exceptions or width of an ALP vector are out of range")
        deltas = unpack_bits(cursor.take((n * width + 7) // 8), width, n)
        factor, scale = nearest(float(f"1e{f}")), nearest(float(f"1e-{e}"))
        whole = _signed([frame + delta & (1 << bits) - 1 for delta in deltas], bits)
        if single:
            floats = [_float32(_float32(_float32(float(i)) * factor) * scale) for i in whole]
            values = list(struct.unpack(f"<{n}I", struct.pack(f"<{n}f", *floats)))
        else:
            values = list(struct.unpack(f"<{n}Q", struct.pack(f"<{n}d", *[float(i) * factor * scale for i in whole])))
        places = struct.unpack(f"<{exceptions}H", cursor.take(2 * exceptions))
        for place, value in zip(places, shape.unpack(cursor.take(shape.size * exceptions))):
            if place >= n:
                raise cursor.damage(f"an exception is at {place} of {n} values")
            values[place] = value
        out += values
    cursor.done("the last vector")
    return out


def levels_stream(cursor, width, count):
    """Levels as RLE-hybrid, of a width of at most 32."""
    if width > 32:
        raise cursor.damage(f"levels have {width} bits")
    return hybrid(cursor, width, count)


def bit_packed_levels(cursor, width, count):
    """BIT_PACKED (104): values from the most significant bit of a byte down."""
    if width > 32:
        raise cursor.damage(f"levels have {width} bits")
    packed = cursor.take((count * width + 7) // 8)
    number, total = int.from_bytes(packed, "big"), len(packed) * 8
    return [number >> (total - (i + 1) * width) & (1 << width) - 1 for i in range(count)]


def _integers(shape):
    return shape.kind == "int" and shape.size in (4, 8)


PARQUET = {
    100: (parquet_plain, lambda s: True), 101: (parquet_group_var_int, _integers), 103: (parquet_rle, lambda s: s.kind == "bool"),
    105: (parquet_delta, _integers), 106: (parquet_delta_length, lambda s: s.kind == "bytes"),
    107: (parquet_delta_bytes, lambda s: s.kind == "bytes" or s.kind == "fixed" and s.name != "INT96"),
    102: (parquet_dict, lambda s: True), 108: (parquet_dict, lambda s: True),
    109: (parquet_byte_stream_split, lambda s: s.kind in ("int", "float") or s.kind == "fixed" and s.name != "INT96"),
    110: (parquet_alp, lambda s: s.kind == "float"),
}


def parquet_shape(shape):
    """Parquet's own type for a shape, with integers unsigned."""
    if shape.kind == "int":
        return Shape("fixed", 16) if shape.size == 16 else Shape("int", max(4, shape.size))
    return shape


def parquet_page(encoding, cursor, count, shape, dictionary=None, skip=b""):
    """The values of a page whose column has this shape. The dictionary holds values of the shape."""
    inner = parquet_shape(shape)
    decode, takes = PARQUET[encoding]
    if not takes(inner):
        raise cursor.damage(f"encoding {encoding} does not take {shape.name}")
    if count > MAX_BLOCK_ENTRIES:
        raise Limit(cursor.where, f"{count} values in one block are more than this reader takes")
    values = decode(cursor, count, inner, dictionary, skip=skip)
    return values if encoding in (102, 108) else from_parquet(cursor, values, shape)


def from_parquet(cursor, values, shape):
    if shape.kind != "int" or not values:
        return values
    if shape.size == 16:
        return [int.from_bytes(value, "big", signed=shape.signed) for value in values]
    if shape.signed:
        values = _signed(values, 8 * max(4, shape.size))
    low = -(1 << (8 * shape.size - 1)) if shape.signed else 0
    if min(values) < low or max(values) >= low + (1 << 8 * shape.size):
        raise cursor.damage(f"a value does not fit {shape.name}")
    return values


def to_parquet_plain(shape, value):
    """A value's bytes in Parquet's PLAIN encoding, of BYTE_ARRAY without the length: what Bloom filters hash."""
    if shape.kind == "int":
        if shape.size == 16:
            return value.to_bytes(16, "big", signed=shape.signed)
        size = max(4, shape.size)
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    return value.to_bytes(shape.size, "little") if shape.kind == "float" else value


# ---------------------------------------------------------------- data blocks


class Column:
    """What a block must be known by: its shape, its header and its encoding. extended: each block names its own encoding."""

    def __init__(self, shape, encoding=1, nullable=False, extended=False, levels=None, array=False, dictionary=None):
        self.shape, self.encoding, self.nullable, self.extended = shape, encoding, nullable, extended
        self.levels, self.array, self.dictionary = levels, array, dictionary  # levels: the two maxima, or None


class Block:
    """Decoded rows. A row is a value, None, of arrays a list, of levels a list of (repetition, definition, value)."""

    def __init__(self, first, rows, encoding, values, nulls):
        self.first, self.rows, self.encoding, self.values, self.nulls = first, rows, encoding, values, nulls


def encoded_values(cursor, column, expected):
    """Returns encoding, first ordinal and values. Their number must be `expected`, if that is known."""
    encoding = column.encoding
    if not column.extended:
        count, first, values = _kudu_block(cursor, column, encoding)
    else:
        encoding, count, first = cursor.vint(32), cursor.vint(32), cursor.vint(32)
        skip = cursor.take(cursor.vint(32))
        if expected is not None and count != expected:
            raise cursor.damage(f"an extended block of {count} values should have {expected}")
        if encoding < 100:
            inner_count, inner_first, values = _kudu_block(cursor, column, encoding)
            if (inner_count, inner_first) != (count, first):
                raise cursor.damage("a block and its envelope do not agree")
        elif encoding in PARQUET:
            values = parquet_page(encoding, cursor, count, column.shape, column.dictionary, skip)
        else:
            raise Unsupported(cursor.where, f"encoding {encoding} is not known")
    if expected is not None and count != expected:
        raise cursor.damage(f"a block of {count} values should have {expected}")
    return encoding, first, values


def _kudu_block(cursor, column, encoding):
    if encoding not in KUDU:
        raise Unsupported(cursor.where, f"encoding {encoding} is not known")
    decode, takes = KUDU[encoding]
    if not takes(column.shape):
        raise cursor.damage(f"encoding {encoding} does not take {column.shape.name}")
    return decode(cursor, column.shape, column.dictionary)


def decode_block(data, column, where):
    cursor = Cursor(data, where)
    if column.levels:
        return _levels_block(cursor, column)
    if column.array:
        return _array_block(cursor, column)
    if not column.nullable:
        encoding, first, values = encoded_values(cursor, column, None)
        return Block(first, values, encoding, values, 0)
    count = cursor.vint(32)
    present = hybrid(cursor.sub(cursor.vint(32)), 1, count)
    encoding, first, values = encoded_values(cursor, column, sum(present))
    following = iter(values)
    rows = [next(following) if bit else None for bit in present]
    return Block(first, rows, encoding, values, count - len(values))


def _levels_block(cursor, column):
    entries, records = cursor.vint(32), cursor.vint(32)
    kinds = []
    for maximum in column.levels:
        stream = cursor.sub(cursor.vint(32))
        if not maximum and stream.left():
            raise cursor.damage("there are levels whose maximum is 0")
        if entries > MAX_BLOCK_ENTRIES:
            raise Limit(cursor.where, f"{entries} entries in one block are more than this reader takes")
        levels = hybrid(stream, maximum.bit_length(), entries) if maximum else [0] * entries
        if entries and max(levels) > maximum:
            raise cursor.damage(f"a level is above {maximum}")
        kinds.append(levels)
    repetitions, definitions = kinds
    full = column.levels[1]
    if repetitions.count(0) != records or entries and repetitions[0]:
        raise cursor.damage(f"the repetition levels do not make {records} records")
    encoding, first, values = encoded_values(cursor, column, definitions.count(full))
    following, rows = iter(values), []
    for repetition, definition in zip(repetitions, definitions):
        if not repetition:
            rows.append([])
        rows[-1].append((repetition, definition, next(following) if definition == full else None))
    return Block(first, rows, encoding, values, entries - len(values))


def _array_block(cursor, column):
    elements, arrays = cursor.vint(32), cursor.vint(32)
    validity = hybrid(cursor.sub(cursor.vint(32)), 1, elements)
    lengths = hybrid(cursor.sub(cursor.vint(32)), 16, arrays)
    present = hybrid(cursor.sub(cursor.vint(32)), 1, arrays)
    if sum(lengths) != elements or any(length and not bit for length, bit in zip(lengths, present)):
        raise cursor.damage("the lengths of arrays do not add up, or a null array has elements")
    if not column.nullable and not all(present):
        raise cursor.damage("an array is null in a column without nulls")
    encoding, first, values = encoded_values(cursor, column, sum(validity))
    following = iter(values)
    flat = iter([next(following) if bit else None for bit in validity])
    rows = [list(itertools.islice(flat, length)) if bit else None for length, bit in zip(lengths, present)]
    # Entries without a value are null elements, empty arrays and null arrays.
    return Block(first, rows, encoding, values, elements - len(values) + lengths.count(0))


def array_entries(row, nullable):
    """An array as a record: (repetition, definition, value)."""
    empty = 1 if nullable else 0
    if not row:
        return [(0, 0 if row is None else empty, None)]
    return [(1 if i else 0, empty + (1 if value is None else 2), value) for i, value in enumerate(row)]


# ---------------------------------------------------------------- files

BIT_NAMES = {27: "encryption"}
CHECKSUMS, ARRAYS, LEVELS, EXTENDED = 1, 2, 1 << 29, 1 << 30


class CFile:
    def __init__(self, data, name="file"):
        self.data, self.name = data, name
        self._nodes, self._leaves, self._vint_keys = {}, {}, False
        self.version = {b"kuducfil": 1, b"kuducfl2": 2}.get(data[:8], 0)
        if not self.version or len(data) < 24:
            raise Damage(name, "this is no CFile: no magic at its start, or it is too short")
        if data[-12:-4] != data[:8]:
            raise Damage(name, "header and footer do not have the same magic")
        header_size, footer_size = int.from_bytes(data[8:12], "little"), int.from_bytes(data[-4:], "little")
        self.first_byte, footer_at = 12 + header_size, len(data) - 12 - footer_size
        if self.first_byte > footer_at:
            raise Damage(name, "header and footer overlap")
        self.last_byte = footer_at
        self.footer = footer = parse(FOOTER, data[footer_at:-12], f"{name}, footer at {footer_at}")
        bits = footer.incompatible_features or 0
        self.checksums = self.version == 2 and bool(bits & CHECKSUMS)
        header_crc = data[self.first_byte:self.first_byte + 4] == crc32c(data[:self.first_byte]).to_bytes(4, "little")
        if self.checksums:
            self.first_byte, self.last_byte = self.first_byte + 4, footer_at - 4
            if self.first_byte > self.last_byte or not header_crc:
                raise Damage(f"{name}, header", "the checksum is wrong")
            if data[self.last_byte:footer_at] != crc32c(data[footer_at:]).to_bytes(4, "little"):
                raise Damage(f"{name}, footer at {footer_at}", "the checksum is wrong")
        elif self.version == 2 and header_crc:
            raise Damage(f"{name}, footer at {footer_at}", "the header has a checksum, but the footer says that there are none")
        self.header = parse(HEADER, data[12:12 + header_size], f"{name}, header")
        self._read_footer(bits, f"{name}, footer at {footer_at}")

    def _read_footer(self, bits, where):
        footer, extensions = self.footer, self.footer.extensions or Message()
        if self.version == 1 and (bits or footer.compatible_features or footer.extensions):
            raise Damage(where, "version 1 has neither feature bits nor extensions")
        for bit in range(32):
            if bits >> bit & 1 and not (CHECKSUMS | ARRAYS | LEVELS | EXTENDED) >> bit & 1:
                raise Unsupported(where, f"incompatible feature bit {bit} is not known {BIT_NAMES.get(bit, '')}")
        self.type = number_of(footer.data_type, extensions.data_type, None, where, "data_type")
        self.encoding = number_of(footer.encoding, extensions.encoding, None, where, "encoding")
        self.codec = number_of(footer.compression, extensions.compression, 1, where, "compression") or 1
        if self.codec not in CODECS:
            raise Unsupported(where, f"codec {self.codec} is not known")
        extended, array = bool(bits & EXTENDED), bool(bits & ARRAYS)
        if self.encoding not in KUDU and self.encoding not in PARQUET:
            raise Unsupported(where, f"encoding {self.encoding} is not known")
        if not extended and (bits & LEVELS or max(self.type, self.encoding, self.codec) >= 100):
            raise Damage(where, "bit 30 is clear, but blocks must be extended ones")
        if array != bool(footer.is_type_array) or array and bits & LEVELS:
            raise Damage(where, "the bits of arrays and levels do not fit")
        self.num_values = footer.num_values
        if self.num_values is None or not 0 <= self.num_values < 1 << 32:
            raise Damage(where, f"num_values is {self.num_values}")
        levels = None
        self.num_entries = None
        if bits & LEVELS:
            levels = (extensions.max_repetition_level or 0, extensions.max_definition_level or 0)
            self.num_entries = extensions.num_entries
            if not (0 <= min(levels) and max(levels) < 65536) or bool(footer.is_type_nullable) != (levels[1] > 0):
                raise Damage(where, f"the maxima of the levels are {levels}")
            if self.num_entries is None or footer.validx_info or not footer.posidx_info:
                raise Damage(where, "a file of levels has no num_entries, no positional index or a value index")
        shape = shape_of(self.type, extensions, where)
        if footer.validx_info and (shape.name == "INT96" or footer.is_type_nullable):
            raise Damage(where, "there is a value index of a column that cannot have one")
        self.column = Column(shape, self.encoding, bool(footer.is_type_nullable), extended, levels, array)
        self.column.dictionary = self._read_dictionary()
        for pair in self.header.metadata:
            if pair.key == b"cfile.column":
                first = parse(COLUMN, pair.value or b"", f"{self.name}, header, cfile.column")
                if number_of(first.type, (first.extensions or Message()).data_type, None, where, "cfile.column type") != self.type:
                    raise Damage(where, "header and footer name different types")

    def _read_dictionary(self):
        if not self.footer.dict_block_ptr:
            return None
        data, where = self.block(self.footer.dict_block_ptr, "dictionary")
        cursor, shape = Cursor(data, where), self.column.shape
        if self.encoding == 5:
            _, first, values = kudu_plain(cursor, shape)
            if first:
                raise cursor.damage(f"the dictionary's first ordinal is {first}")
            return values
        if self.encoding not in (102, 108):
            raise cursor.damage(f"there is a dictionary, but the encoding is {self.encoding}")
        values = parquet_page(100, cursor, cursor.vint(64), shape)
        cursor.done("the dictionary's last value")
        return values

    def block(self, pointer, what, before=None):
        """The bytes of a block, checked and decompressed, and the words that say where it is."""
        offset, size = pointer.offset, pointer.size
        where = f"{self.name}, {what} at {offset}"
        end = self.last_byte if before is None else before
        if offset is None or size is None or size < 0 or offset < self.first_byte or offset + size > end:
            raise Damage(where, f"a pointer to {size} bytes does not lead between {self.first_byte} and {end}")
        cursor = Cursor(self.data, where, offset, offset + size)
        if self.checksums:
            body = cursor.take(max(size - 4, 0))
            if cursor.fixed32() != crc32c(body):
                raise Damage(where, "the checksum is wrong")
            cursor = Cursor(body, where)
        decompress = CODECS[self.codec]
        if decompress is None:
            return cursor.rest(), where
        compressed = cursor.fixed32() if self.version == 1 else None
        size = cursor.fixed32()
        body = cursor.rest()
        if compressed not in (None, len(body)):
            raise Damage(where, f"{len(body)} compressed bytes should be {compressed}")
        if self.version == 2 and len(body) == size:
            return body, where
        if size > MAX_BLOCK_BYTES:
            raise Limit(where, f"a block of {size} bytes is larger than this reader takes")
        return decompress(body, size, where), where

    # -- index trees

    def root(self, by):
        info = self.footer.posidx_info if by == "ordinal" else self.footer.validx_info
        return info and (info.root_block or Message())

    def node(self, pointer, by, before=None):
        """A node of the positional (by "ordinal") or value index: whether it is a leaf, and its (key, pointer)."""
        if (pointer.offset, by) in self._nodes:
            return self._nodes[pointer.offset, by]
        data, where = self.block(pointer, f"index node by {by}", before)
        if len(data) < 4 or int.from_bytes(data[-4:], "little") > len(data) - 4:
            raise Damage(where, "the trailer's length does not fit")
        trailer_at = len(data) - 4 - int.from_bytes(data[-4:], "little")
        trailer = parse(TRAILER, data[trailer_at:-4], where)
        count = trailer.num_entries
        if count is None or trailer.type not in (0, 1) or not 0 <= 4 * count <= trailer_at:
            raise Damage(where, "the trailer does not fit the node")
        offsets_at = trailer_at - 4 * count
        offsets = [*struct.unpack(f"<{count}I", data[offsets_at:trailer_at]), offsets_at]
        if offsets[0] != 0 or any(a >= b for a, b in zip(offsets, offsets[1:])):
            raise Damage(where, "the entries' offsets do not begin at 0 or do not ascend")
        if self.version == 1 and by == "ordinal" and pointer == self.root(by):
            self._vint_keys = data[0] == 0
        entries = []
        for start, end in zip(offsets, offsets[1:]):
            cursor = Cursor(data, where, start, end)
            if by == "ordinal" and self.version == 1 and self._vint_keys:
                key = cursor.vint(64)
            else:
                key = cursor.take(cursor.vint(32))
                if by == "ordinal":
                    if len(key) != 4:
                        raise cursor.damage("a positional key has not 4 bytes")
                    key = int.from_bytes(key, "big")
            child = Message(offset=cursor.vint(64), size=cursor.vint(32))
            cursor.done("an entry")
            if child.offset + child.size > pointer.offset:
                raise cursor.damage("a child does not lie before its parent")
            if entries and (key < entries[-1][0] or by == "ordinal" and key == entries[-1][0]):
                raise cursor.damage("keys do not ascend")
            entries.append((key, child))
        if trailer.type == 1 and not entries:
            raise Damage(where, "an internal node has no entries")
        self._nodes[pointer.offset, by] = (trailer.type == 0, entries)
        return self._nodes[pointer.offset, by]

    def leaves(self, by):
        """All (key, pointer to a data block) of a tree, in order. Every node is checked on the way."""
        if by not in self._leaves:
            out = []

            def walk(pointer, first_key, depth, before):
                leaf, entries = self.node(pointer, by, before)
                where = f"{self.name}, index node by {by} at {pointer.offset}"
                if depth > 40:
                    raise Damage(where, "the tree has more than 40 levels")
                if first_key is not None and (not entries or entries[0][0] != first_key):
                    raise Damage(where, "the first key is not the one that the parent has")
                if not leaf:
                    for key, child in entries:
                        walk(child, key, depth + 1, pointer.offset)
                    return
                if out and entries[0][0] < out[-1][0]:
                    raise Damage(where, "keys do not ascend from node to node")
                out.extend(entries)

            walk(self.root(by), None, 1, None)
            if by == "ordinal" and bool(out) != (self.num_values > 0) or by == "ordinal" and out and out[0][0] != 0:
                raise Damage(self.name, "the positional index does not begin with ordinal 0")
            self._leaves[by] = out
        return self._leaves[by]

    def _descend(self, by, wanted):
        """The last entry whose key is <= (by ordinal) or < (by value) the wanted one, else the first; None in an empty tree."""
        pointer, leaf = self.root(by), False
        for _ in range(40):
            leaf, entries = self.node(pointer, by)
            chosen = None
            for key, child in entries:
                if key < wanted or by == "ordinal" and key == wanted:
                    chosen = child
            pointer = chosen or (entries[0][1] if entries else None)
            if leaf or pointer is None:
                return pointer
        raise Damage(self.name, "the tree has more than 40 levels")

    def data_block(self, pointer, expected_first=None):
        data, where = self.block(pointer, "data block")
        block = decode_block(data, self.column, where)
        if expected_first is not None and block.first != expected_first & 0xFFFFFFFF:
            raise Damage(where, f"the first ordinal is {block.first}, the index says {expected_first}")
        if not block.rows:
            raise Damage(where, "a block has no rows")
        return block

    def seek_ordinal(self, ordinal):
        """The row with this ordinal, by way of the positional index."""
        if not 0 <= ordinal < self.num_values:
            raise IndexError(ordinal)
        block = self.data_block(self._descend("ordinal", ordinal))
        if not block.first <= ordinal < block.first + len(block.rows):
            raise Damage(self.name, f"the positional index does not lead to row {ordinal}")
        return block.rows[ordinal - block.first]

    def seek_key(self, wanted):
        """(ordinal, exact) of the first row whose memcmp form is >= the wanted one; (num_values, False) if there is none."""
        pointer, memcmp = self._descend("value", wanted), self.column.shape.memcmp
        places = [child for _, child in self.leaves("value")]
        start = next((i for i, child in enumerate(places) if child == pointer), len(places))
        for pointer in places[start:]:
            block = self.data_block(pointer)
            if memcmp(block.rows[-1]) < wanted:
                continue
            low, high = 0, len(block.rows) - 1
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if memcmp(block.rows[middle]) < wanted else (low, middle)
            return block.first + low, memcmp(block.rows[low]) == wanted
        return self.num_values, False

    # -- contents

    def is_bloom(self):
        """Kudu's Bloom filter files have 0 values, and a value index only whose blocks hold a filter each."""
        return self.num_values == 0 and not self.footer.posidx_info and bool(self.root("value")) and bool(self.leaves("value"))

    def bloom_filters(self):
        """(first key, number of hash functions, bits) of each block of a Bloom filter file."""
        for key, pointer in self.leaves("value"):
            data, where = self.block(pointer, "Bloom filter")
            cursor = Cursor(data, where)
            header = parse(BLOOM_HEADER, cursor.take(cursor.fixed32()), where)
            if (header.num_hash_functions or 0) < 1:
                raise Damage(where, "there are no hash functions")
            yield key, header.num_hash_functions, cursor.rest()

    def blocks(self):
        """All data blocks in order, each checked to begin where the one before it ends."""
        if self.is_bloom():
            return
        by = "ordinal" if self.root("ordinal") else "value"
        if not self.root(by):
            raise Damage(self.name, "there is no index")
        row = entries = 0
        for key, pointer in self.leaves(by):
            if by == "ordinal" and key != row:
                raise Damage(self.name, f"the index says that a block begins at {key}, but the one before it ends at {row}")
            block = self.data_block(pointer, row)
            row, entries = row + len(block.rows), entries + len(block.values) + block.nulls
            yield block
        if row != self.num_values or self.num_entries not in (None, entries):
            raise Damage(self.name, f"{row} rows of {entries} entries are not what the footer says")

    def rows(self):
        for block in self.blocks():
            yield from block.rows

    def statistics(self):
        extensions = self.footer.extensions or Message()
        if self.version == 1 or not (self.footer.compatible_features or 0) & 1 or not extensions.statistics:
            return None
        data, where = self.block(extensions.statistics, "statistics")
        return parse(STATISTICS, data, where)

    # -- checks

    def check(self):
        """Reads everything and compares it with each other. Returns how many nodes and blocks there are."""
        blocks = list(self.blocks())
        if self.root("ordinal") and self.root("value"):
            if [p for _, p in self.leaves("ordinal")] != [p for _, p in self.leaves("value")]:
                raise Damage(self.name, "the two indexes lead to different blocks")
        if self.root("value") and blocks:
            self._check_value_keys(blocks)
        statistics = self.statistics()
        if statistics:
            check_statistics(statistics, blocks, self.column.shape, f"{self.name}, statistics")
        filters = len(list(self.bloom_filters())) if self.is_bloom() else 0
        return len(self._nodes), len(blocks) or filters, self._check_layout()

    def _check_value_keys(self, blocks):
        memcmp, last = self.column.shape.memcmp, b""
        for (key, pointer), block in zip(self.leaves("value"), blocks):
            forms = [memcmp(value) for value in block.rows]
            if any(a > b for a, b in zip([last] + forms, forms)):
                raise Damage(f"{self.name}, data block at {pointer.offset}", "values do not ascend, but there is a value index")
            common = len(os.path.commonprefix([last, forms[0]]))
            # Kudu's delta files, which have no positional index, keep longer keys.
            if key != forms[0][:common + 1] and (self.root("ordinal") or not forms[0].startswith(key)):
                raise Damage(f"{self.name}, data block at {pointer.offset}", f"the value key {key.hex()} is not that of its block")
            last = forms[-1]

    def _check_layout(self):
        """Blocks must not overlap, and bytes that no pointer covers are zero. Returns the number of such bytes."""
        pointers = [p for by in ("ordinal", "value") if self.root(by) for _, p in self.leaves(by)]
        ranges = {(p.offset, p.offset + p.size) for p in pointers}
        for by in ("ordinal", "value"):
            if self.root(by):
                ranges.add((self.root(by).offset, self.root(by).offset + self.root(by).size))
        for _, entries in (node for node in self._nodes.values() if not node[0]):
            ranges |= {(p.offset, p.offset + p.size) for _, p in entries}
        for p in (self.footer.dict_block_ptr, (self.footer.extensions or Message()).statistics):
            if p:
                ranges.add((p.offset, p.offset + p.size))
        at = padding = 0
        for start, end in [(0, self.first_byte), *sorted(ranges), (self.last_byte, len(self.data))]:
            if start < at or self.data[at:start].strip(b"\0"):
                raise Damage(f"{self.name}, byte {at}", "blocks overlap, or bytes that belong to none are not zero")
            padding, at = padding + start - at, end
        return padding


# ---------------------------------------------------------------- statistics and their Bloom filter

SALTS = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31]


class SplitBlockBloom:
    def __init__(self, data, where="Bloom filter"):
        if not data or len(data) % 32:
            raise Damage(where, f"{len(data)} bytes are no blocks of 32")
        self.words = struct.unpack(f"<{len(data) // 4}I", data)

    def has(self, data):
        """Whether a value may be in it. `data`: its bytes in Parquet's PLAIN encoding."""
        h = xxh64(data)
        block = (h >> 32) * (len(self.words) // 8) >> 32
        x = h & 0xFFFFFFFF
        return all(self.words[8 * block + i] >> ((x * salt & 0xFFFFFFFF) >> 27) & 1 for i, salt in enumerate(SALTS))


def measure(values, nulls, shape):
    """What statistics should say of these values."""
    forms = [shape.memcmp(v) for v in values if not shape.is_nan(v)] if shape.name != "INT96" else []
    nans = len(values) - len(forms) if shape.kind == "float" else 0
    if shape.kind == "float" and forms:  # a zero is -0 as minimum, +0 as maximum
        sign = 1 << (8 * shape.size - 1)
        zeros = [v for v in values if shape.is_zero(v)]
        forms = [min(forms), max(forms)]
        minus, plus = shape.memcmp(sign), shape.memcmp(0)
        if zeros:
            forms = [min(forms[0], minus) if forms[0] == plus else forms[0], plus if forms[1] == minus else forms[1]]
    low, high = (min(forms), max(forms)) if forms else (None, None)
    return len(values), nulls, nans, low, high


def cut(key, upwards):
    """A bound that is longer than 64 bytes is cut. Returns the bound (or None) and whether it is inexact."""
    if key is None or len(key) <= 64:
        return key, False
    key = key[:64]
    if upwards:
        key = key.rstrip(b"\xff")
        key = key[:-1] + bytes([key[-1] + 1]) if key else None
    return key, True


def check_statistics(statistics, blocks, shape, where):
    def compare(entry, expected, what):
        present, nulls, nans, low, high = expected
        counts = (entry.present_count or 0, entry.null_count or 0, entry.nan_count or 0)
        if counts != (present, nulls, nans):
            raise Damage(where, f"{what}: counts {counts} should be {(present, nulls, nans)}")
        for key, inexact, value, upwards in ((entry.min_key, entry.min_inexact, low, False), (entry.max_key, entry.max_inexact, high, True)):
            if key is None:
                continue  # not known
            bound, is_cut = cut(value, upwards)
            if key != bound or (inexact or False) != is_cut:
                raise Damage(where, f"{what}: bound {key.hex()} should be {bound and bound.hex()}")

    parts = [measure(block.values, block.nulls, shape) for block in blocks]
    if statistics.blocks and len(statistics.blocks) != len(blocks):
        raise Damage(where, f"{len(statistics.blocks)} entries for {len(blocks)} blocks")
    for i, (entry, part) in enumerate(zip(statistics.blocks, parts)):
        compare(entry, part, f"block {i}")
    lows, highs = ([p[n] for p in parts if p[n] is not None] for n in (3, 4))
    whole = (*(sum(p[n] for p in parts) for n in range(3)), min(lows, default=None), max(highs, default=None))
    compare(statistics.file or Message(), whole, "file")
    if statistics.bloom_filter is not None:
        bloom = SplitBlockBloom(statistics.bloom_filter, where)
        for value in {value for block in blocks for value in block.values}:
            if not bloom.has(to_parquet_plain(shape, value)):
                raise Damage(where, f"the Bloom filter lacks the value {value!r}")


# ---------------------------------------------------------------- tables

REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
PLAIN_GROUP, LIST, MAP = 0, 1, 2


class Node:
    """A node of a schema: a leaf, or a group with children."""

    def __init__(self, name, repetition=REQUIRED, children=None, kind=PLAIN_GROUP, column=None):
        self.name, self.repetition, self.children, self.kind, self.column = name, repetition, children or [], kind, column
        self.repetitions = self.definitions = 0

    def number(self, leaves, repetitions=0, definitions=0):
        """Counts the REPEATED, and the OPTIONAL and REPEATED nodes down to each node, and collects the leaves in order."""
        self.repetitions = repetitions + (self.repetition == REPEATED)
        self.definitions = definitions + (self.repetition != REQUIRED)
        for child in self.children:
            child.number(leaves, self.repetitions, self.definitions)
        self.leaves = [leaf for child in self.children for leaf in child.leaves] if self.children else [self]
        if not self.children:
            leaves.append(self)


def assemble(node, entries, where):
    """A record or group from the entries of its leaves: {leaf: [(repetition, definition, value), ...]}.

    A field that is not there is left out, a REPEATED one is a list.
    """
    record = {}
    for child in node.children:
        mine = {leaf: entries[leaf] for leaf in child.leaves}
        if child.repetition == REQUIRED:
            record[child.name] = _one(child, mine, where)
            continue
        there = {column[0][1] >= child.definitions for column in mine.values()}
        if len(there) > 1:
            raise Damage(where, f"the leaves of {child.name!r} do not agree whether it is there")
        if not there.pop():
            if any(len(column) > 1 for column in mine.values()):
                raise Damage(where, f"{child.name!r} is not there, but has more than one entry")
            if child.repetition == REPEATED:
                record[child.name] = []
        elif child.repetition == OPTIONAL:
            record[child.name] = _one(child, mine, where)
        else:
            record[child.name] = _repeated(child, mine, where)
    return record


def _repeated(child, mine, where):
    instances = []
    for leaf, column in mine.items():
        starts = [i for i, entry in enumerate(column) if i == 0 or entry[0] <= child.repetitions]
        pieces = [column[a:b] for a, b in zip(starts, starts[1:] + [len(column)])]
        instances = instances or [{} for _ in pieces]
        if len(pieces) != len(instances):
            raise Damage(where, f"the leaves of {child.name!r} do not agree how often it is there")
        for instance, piece in zip(instances, pieces):
            instance[leaf] = piece
    return [_one(child, instance, where) for instance in instances]


def _one(child, mine, where):
    if child.children:
        return assemble(child, mine, where)
    [column] = mine.values()
    if len(column) != 1 or column[0][1] != child.definitions:
        raise Damage(where, f"the entries of {child.name!r} do not make one value")
    return column[0][2]


def pretty(node, record, convert):
    """A record as JSON: null for what is not there, a LIST as a list, a MAP as a list of pairs."""
    if record is None:
        return None
    if not node.children:
        return convert(node, record)
    out = {}
    for child in node.children:
        value = record.get(child.name)
        out[child.name] = [pretty(child, v, convert) for v in value] if child.repetition == REPEATED else pretty(child, value, convert)
    if node.kind == LIST:
        [repeated] = node.children
        wrapped = len(repeated.children) == 1  # a group around the element
        return [list(element.values())[0] if wrapped else element for element in out[repeated.name]]
    if node.kind == MAP:
        return [list(pair.values()) for pair in out[node.children[0].name]]
    return out


def convert_record(node, record, convert):
    """A record of assemble() with each value converted."""
    if not node.children:
        return convert(node, record) if record is not None else None
    out = {}
    for child in node.children:
        if child.name in record:
            value = record[child.name]
            if child.repetition == REPEATED:
                out[child.name] = [convert_record(child, v, convert) for v in value]
            else:
                out[child.name] = convert_record(child, value, convert)
    return out


def compound_key(values, shapes):
    """The values of several columns as one string whose order is that of the rows."""
    forms = [shape.memcmp(value) for value, shape in zip(values, shapes)]
    for i, shape in enumerate(shapes[:-1]):
        if shape.kind == "bytes":
            forms[i] = forms[i].replace(b"\0", b"\0\1") + b"\0\0"
    return b"".join(forms)


class Table:
    def __init__(self, path):
        self.path, where = path, os.path.join(path, "table.cft")
        with open(where, "rb") as file:
            cursor = Cursor(file.read(), where)
        if cursor.take(8) != b"cfiletb1":
            raise Damage(where, "this is no table")
        body = cursor.take(cursor.fixed32())
        if cursor.fixed32() != crc32c(cursor.data[:12 + len(body)]):
            raise Damage(where, "the checksum is wrong")
        cursor.done("the checksum")
        self.message = parse(TABLE, body, where)
        self.root, self.leaves = self._node(self.message.schema or Message(), where, 0), []
        self.root.number(self.leaves)
        self.keys = self.message.key_columns
        self.flat = not self.root.name and all(not c.children and c.repetition != REPEATED for c in self.root.children)
        if any(key >= len(self.leaves) for key in self.keys) or self.root.repetition != REQUIRED:
            raise Damage(where, "a key column is none of the leaves, or the root is not REQUIRED")
        self.num_rows = sum(part.num_rows or 0 for part in self.message.parts)

    def _node(self, message, where, depth):
        if depth > 64 or (message.repetition or 0) > 2 or (message.kind or 0) > 2 or bool(message.children) == bool(message.column) and depth:
            raise Damage(where, f"the schema's node {message.name!r} is not legal")
        name = (message.name or b"").decode("utf-8", "surrogateescape")
        children = [self._node(child, where, depth + 1) for child in message.children]
        node = Node(name, message.repetition or 0, children, message.kind or 0, message.column)
        if len({child.name for child in children}) != len(children):
            raise Damage(where, f"two nodes in {name!r} have one name")
        if node.kind and (len(children) != 1 or children[0].repetition != REPEATED):
            raise Damage(where, f"LIST or MAP {name!r} has not one REPEATED child")
        if node.kind == MAP:
            pair = children[0].children
            if len(pair) != 2 or pair[0].children or pair[0].repetition != REQUIRED:
                raise Damage(where, f"MAP {name!r} has no pairs of a REQUIRED key and a value")
        return node

    def files(self, part):
        """The CFiles of a part, one for each leaf, and behind them that of the compound keys, if there are any."""
        expected = len(self.leaves) + bool(self.keys)
        if len(part.columns) != expected:
            raise Damage(self.path, f"{len(part.columns)} columns of a part should be {expected}")
        out = []
        for i, entry in enumerate(part.columns):
            names = [(name or b"").decode("utf-8", "surrogateescape") for name in (part.directory, entry.file_name)]
            if any(not name or "/" in name or name in (".", "..") for name in names):
                raise Damage(self.path, f"{names} are no plain names")
            path = os.path.join(self.path, *names)
            with open(path, "rb") as file:
                column = CFile(file.read(), path)
            if column.num_values != (part.num_rows or 0) or entry.size_bytes not in (None, len(column.data)):
                raise Damage(path, "the file has another size or number of rows than table.cft says")
            if i < len(self.leaves):
                self._check_column(self.leaves[i], column)
            out.append(column)
        return out

    def _check_column(self, leaf, column):
        extensions = leaf.column.extensions or Message()
        flat = leaf.repetitions == 0 and leaf.definitions < 2
        levels = None if flat else (leaf.repetitions, leaf.definitions)
        if number_of(leaf.column.type, extensions.data_type, None, self.path, "type") != column.type:
            raise Damage(column.name, "the file has another type than the schema")
        if column.column.levels != levels or flat and column.column.nullable != bool(leaf.definitions):
            raise Damage(column.name, "the file has other levels than the schema")

    def rows(self):
        """Rows as dicts, raw values; of nested tables records as assemble() makes them."""
        for part in self.message.parts:
            files = self.files(part)[:len(self.leaves)]
            for row in zip(*(file.rows() for file in files)):
                if self.flat:
                    yield {leaf.name: value for leaf, value in zip(self.leaves, row)}
                    continue
                entries = {}
                for leaf, file, value in zip(self.leaves, files, row):
                    flat = [(0, leaf.definitions if value is not None else 0, value)]
                    entries[leaf] = value if file.column.levels else flat
                yield assemble(self.root, entries, self.path)

    def check(self):
        """Reads everything: each file, the compound keys, and what table.cft says of the columns."""
        for part in self.message.parts:
            files = self.files(part)
            for file, entry in zip(files, part.columns):
                file.check()
                values = nulls = 0
                low = high = None
                for block in file.blocks():
                    _, _, _, block_low, block_high = measure(block.values, 0, file.column.shape)
                    nulls += block.nulls
                    low = min((x for x in (low, block_low) if x is not None), default=None)
                    high = max((x for x in (high, block_high) if x is not None), default=None)
                if entry.null_count not in (None, nulls):
                    raise Damage(file.name, f"{nulls} nulls, table.cft says {entry.null_count}")
                if entry.min_key is not None and entry.min_key > low or entry.max_key is not None and entry.max_key < high:
                    raise Damage(file.name, "values lie outside of the bounds in table.cft")
            if self.keys:
                columns = [list(files[key].rows()) for key in self.keys]
                shapes = [files[key].column.shape for key in self.keys]
                if [compound_key(values, shapes) for values in zip(*columns)] != list(files[-1].rows()):
                    raise Damage(files[-1].name, "the compound keys are not those of the rows")


# ---------------------------------------------------------------- output


def present(shape, value, extensions=None):
    """A raw value as JSON."""
    if value is None or shape.kind == "int":
        return value
    if shape.kind == "bool":
        return bool(value)
    if shape.kind == "float":
        number = struct.unpack("<f" if shape.size == 4 else "<d", value.to_bytes(shape.size, "little"))[0]
        return "NaN" if number != number else str(number).replace("inf", "Infinity") if number in (1e999, -1e999) else number
    if shape.name in ("STRING", "VARCHAR"):
        return value.decode("utf-8", "surrogateescape")
    if extensions and extensions.logical_type == 3 and len(value) == 16:
        h = value.hex()
        return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))
    return value.hex()


def main(arguments):
    checking = arguments[:1] == ["--check"]
    if len(arguments) != 1 + checking:
        print(__doc__, file=sys.stderr)
        return 1
    path = arguments[-1]

    def convert(node, value):
        number = number_of(node.column.type, (node.column.extensions or Message()).data_type, None, path, "type")
        return present(shape_of(number, node.column.extensions, path), value, node.column.extensions)

    try:
        if os.path.isdir(path):
            table = Table(path)
            if checking:
                table.check()
            for row in table.rows():
                print(json.dumps(pretty(table.root, row, convert), ensure_ascii=True))
            return 0
        with open(path, "rb") as stream:
            file = CFile(stream.read(), path)
        if checking:
            file.check()
        extensions, shape = file.footer.extensions, file.column.shape
        for row in file.rows():
            if isinstance(row, list):
                row = [v[:2] + (present(shape, v[2], extensions),) if file.column.levels else present(shape, v, extensions) for v in row]
            else:
                row = present(shape, row, extensions)
            print(json.dumps(row))
        return 0
    except Refused as refused:
        print(f"{type(refused).__name__}: {refused}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
