#!/usr/bin/env python3
"""Reads CFiles and tables. It was written from cfile/FORMAT.md alone, to prove that the document is complete.

    reader.py FILE      prints the rows of a column as JSON, one per line: null, a value, an array, or a list of
                        [repetition level, definition level, value]
    reader.py TABLE     prints the rows, or nested records, of a table as JSON, one per line

The code aims at clarity: about a million values per second where a block can be decoded at once, a tenth of that for PREFIX and
varints. It does not read LZO. Errors are Damage, Unsupported or Limit, and name the place. Raw values are int for integers, the bits
as int for FLOAT and DOUBLE (so that no NaN is changed), 0 or 1 for bool, bytes for all others. present() converts them to JSON.
"""
import bisect
import functools
import itertools
import json
import os
import re
import struct
import sys

import named_algorithms
from named_algorithms import crc32c, kudu_hash, xxh64

# ---------------------------------------------------------------- errors and cursors

class Refused(Exception):
    """The file is not read. `where` names the file, the block and the byte; `what` describes the error."""

    def __init__(self, where, what):
        super().__init__(f"{where}: {what}")
        self.where, self.what = where, what

class Damage(Refused):
    """The bytes break a rule of the format."""

class Unsupported(Refused):
    """The file needs something that this reader does not have."""

class Limit(Refused):
    """The file is valid, but above a limit of this reader."""

def refuse(when, where, what):
    if when:
        raise Damage(where, what)

MAX_BLOCK_BYTES = 1 << 28  # of a block after decompression
MAX_BLOCK_ENTRIES = 1 << 24  # a block of 20 bytes may encode 10^9 values, too many for a list
MAX_LEVELS, MAX_DEPTH = 40, 64  # levels of an index, depth of a schema
MAX_VALUE_BYTES = 1 << 26  # all values of one block of DELTA_BYTE_ARRAY

class Cursor:
    """Takes bytes and numbers one after another. Damage if they are beyond the end.

    values: in the levels of a movable block, the cursor at its values, which are not part of the levels; else None.
    """

    values = None

    def __init__(self, data, where, pos=0, end=None):
        self.data, self.where, self.pos = data, where, pos
        self.end = len(data) if end is None else end

    def refuse(self, when, what):
        if when:
            raise Damage(f"{self.where}, byte {self.pos}", what)

    def limit(self, count, largest=MAX_BLOCK_ENTRIES):
        if count > largest:
            raise Limit(self.where, f"{count} values or bytes in one block are more than this reader takes")

    def left(self):
        return self.end - self.pos

    def take(self, size):
        self.refuse(size > self.end - self.pos, "the bytes end too early")
        self.pos += size
        return self.data[self.pos - size:self.pos]

    def rest(self):
        return self.take(self.end - self.pos)

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def fixed32(self):
        return self.number(4)

    def vint(self, bits):
        """Takes an unsigned LEB128 number of at most 5 bytes (32 bits) or 10 bytes (64 bits)."""
        value = 0
        for i in range(5 if bits == 32 else 10):
            byte = self.number(1)
            value |= (byte & 127) << (7 * i)
            if byte < 128:
                self.refuse(value >> bits, "a varint has too many bits")
                return value
        raise Damage(f"{self.where}, byte {self.pos}", "a varint is too long")

    def zigzag(self, bits):
        value = self.vint(bits)
        return (value >> 1) ^ -(value & 1)

    def sub(self, size):
        """Returns a cursor over the next `size` bytes, which this cursor skips."""
        self.refuse(size > self.left(), "the bytes end too early")
        self.pos += size
        return Cursor(self.data, self.where, self.pos - size, self.pos)

    def done(self, what):
        self.refuse(self.pos != self.end, f"{self.left()} bytes after {what}")

# ---------------------------------------------------------------- codecs

CODECS = {
    2: named_algorithms.snappy, 3: named_algorithms.lz4_block, 4: named_algorithms.zlib_stream, 102: named_algorithms.gzip,
    104: named_algorithms.brotli_stream, 106: named_algorithms.zstd,
}  # 1 is no compression; 103 is LZO, which this reader does not have

def decompress(codec, data, size, where):
    try:
        return CODECS[codec](data, size)
    except named_algorithms.Missing as missing:
        raise Unsupported(where, f"codec {codec} needs {missing}") from None
    except (ValueError, IndexError) as error:
        raise Damage(where, f"the data of codec {codec} are damaged: {error}") from None

# ---------------------------------------------------------------- protobuf messages

# "Message: field=number:kind ...". A kind is int, uint, bool, bytes, fixed32, fixed64, an enum of 2 or 3 values, or a message; * is
# a repeated field.
MESSAGES = {}
for _line in """
Pointer: offset=1:int size=2:int
Pair: key=1:bytes value=2:bytes
Tree: root_block=1:Pointer
Extensions: data_type=1:int encoding=2:int compression=3:int type_length=4:int decimal_precision=5:int decimal_scale=6:int \
    time_unit=7:int logical_type=8:int time_zone=9:bytes max_repetition_level=10:int max_definition_level=11:int \
    num_entries=12:int statistics=13:Pointer created_by=15:bytes
Header: major_version=1:int minor_version=2:int metadata=3:Pair*
Footer: data_type=1:int encoding=2:int num_values=3:int posidx_info=4:Tree validx_info=5:Tree compression=6:int \
    metadata=7:Pair* is_type_nullable=8:bool dict_block_ptr=9:Pointer incompatible_features=10:uint \
    compatible_features=11:uint is_type_array=12:bool extensions=1000:Extensions piece_directory=1001:Pointer
Trailer: num_entries=1:int type=2:enum2
BlockStatistics: present_count=1:uint null_count=2:uint nan_count=3:uint min_key=4:bytes max_key=5:bytes min_inexact=6:bool \
    max_inexact=7:bool
Statistics: blocks=1:BlockStatistics* file=2:BlockStatistics bloom_filter=3:bytes
Column: type=1:int encoding=2:int compression=3:int nullable=4:bool extensions=5:Extensions array=6:bool
BloomHeader: num_hash_functions=1:int
SchemaNode: name=1:bytes repetition=2:enum3 children=3:SchemaNode* column=4:Column kind=5:enum3 column_id=6:uint \
    default_value=7:bytes
PartColumn: file_name=1:bytes size_bytes=2:uint num_values=3:uint null_count=4:uint min_key=5:bytes max_key=6:bytes \
    column_id=7:uint lower_bound=8:bytes upper_bound=9:bytes nan_count=10:uint
Part: directory=1:bytes num_rows=2:uint columns=3:PartColumn* order=5:uint* packed_size_bytes=7:uint packed_ends=8:uint*
PackedColumn: file_name=1:bytes size_bytes=2:uint
PackedFile: columns=1:PackedColumn*
ChunkColumn: column_id=1:uint statistics=2:BlockStatistics
Chunk: file_name=1:bytes size_bytes=2:uint crc32c=3:fixed32 height=4:uint num_parts=5:uint num_rows=6:uint data_bytes=7:uint \
    columns=8:ChunkColumn*
ChunkContents: parts=1:Part* chunks=2:Chunk*
Table: schema=1:SchemaNode parts=2:Part* created_by=3:bytes key_columns=4:uint* incompatible_features=5:uint \
    next_column_id=6:uint chunks=7:Chunk* nulls_last=8:uint* condemned=9:bytes* key_index_id=10:uint sequence=11:uint \
    replaced=12:bytes* commit_ids=13:fixed64* job_ids=14:bytes* metadata=16:Pair* oldest_reader=17:uint \
    merge_rule=18:MergeRule
MergeRule: deleted_column=1:uint time_column=2:uint time_bound=3:int
""".strip().splitlines():
    _name, _fields = _line.split(": ")
    MESSAGES[_name] = {}
    for _field, _number, _kind in (_words.replace(":", "=").split("=") for _words in _fields.split()):
        MESSAGES[_name][int(_number)] = (_field, _kind.rstrip("*"), _kind.endswith("*"))

class Message(dict):
    """The fields that are set in a message. A field that is not set reads as None."""

    def __getattr__(self, name):
        return self.get(name)

def parse(name, data, where, depth=0):
    """Parses a protobuf message. Unknown fields, and known ones of another wire type, are skipped."""
    fields = MESSAGES[name]
    message = Message((field, []) for field, _, repeated in fields.values() if repeated)
    refuse(depth > 200, where, "messages lie too deep in each other")
    for number, wire, value in wire_fields(Cursor(data, where)):
        field, kind, repeated = fields.get(number, ("", "", False))
        wanted = {"int": 0, "uint": 0, "bool": 0, "enum2": 0, "enum3": 0, "fixed64": 1, "fixed32": 5}.get(kind, 2)
        if wanted != 2 and repeated and wire == 2:  # packed: numbers back to back
            packed = Cursor(value, where)
            while packed.left():
                message[field].append(packed.number(8) if kind == "fixed64" else packed.vint(64))
        elif kind and wire == wanted and not (kind in ("enum2", "enum3") and value >= int(kind[4])):
            if kind == "int":
                value -= (value >> 63) << 64
            elif kind == "bool":
                value = value != 0
            elif kind in ("fixed32", "fixed64"):
                value = int.from_bytes(value, "little")
            elif kind in MESSAGES:
                value = parse(kind, value, f"{where}, field {field}", depth + 1)
            if repeated:
                message[field].append(value)
            elif kind in MESSAGES and field in message:
                message[field].update(value)
            else:
                message[field] = value
    return message

def wire_fields(cursor):
    """Yields (number, wire type, value) of each field. Skips groups, which no message here has."""
    groups = []
    while cursor.left():
        tag = cursor.vint(32)
        number, wire = tag >> 3, tag & 7
        cursor.refuse(not number or wire > 5 or wire == 4 and groups[-1:] != [number], "this is no protobuf field")
        size = cursor.vint(32) if wire == 2 else {1: 8, 5: 4}.get(wire, 0)
        value = cursor.vint(64) if wire == 0 else cursor.take(size)
        if wire == 3:
            groups.append(number)
        elif wire == 4:
            groups.pop()
        elif not groups:
            yield number, wire, value
    cursor.refuse(groups, "a group does not end")

# ---------------------------------------------------------------- types

class Shape:
    """The properties of a type that encodings need. kind is int, float, bool, bytes or fixed; size is in bytes."""

    def __init__(self, kind, size=0, signed=False, name=""):
        self.kind, self.size, self.signed, self.name = kind, size, signed, name
        self.format = {1: "b", 2: "h", 4: "i", 8: "q"}.get(size, "") if kind in ("int", "float") else ""
        if not signed:
            self.format = self.format.upper()

    def unpack(self, data):
        """Decodes values that are stored back to back, little-endian."""
        if self.format:
            return list(struct.unpack(f"<{len(data) // self.size}{self.format}", data))
        pieces = [data[i:i + self.size] for i in range(0, len(data), self.size)]
        if self.kind == "fixed":
            return pieces
        return [int.from_bytes(piece, "little", signed=self.signed) for piece in pieces]

    def memcmp(self, value):
        """The memcmp form of a value: the order of these bytes, as unsigned numbers, is the order of the values."""
        if self.kind == "int":
            return (value + (1 << (8 * self.size - 1) if self.signed else 0)).to_bytes(self.size, "big")
        if self.kind == "float":
            sign = 1 << (8 * self.size - 1)
            return (value ^ (2 * sign - 1 if value & sign else sign)).to_bytes(self.size, "big")
        return bytes([value]) if self.kind == "bool" else value

    def from_memcmp(self, form, where):
        """The value with this memcmp form."""
        refuse(self.size and len(form) != self.size or self.name == "INT96" or self.kind == "bool" and form not in (b"\0", b"\1"), where,
               f"{form.hex()} is no value of type {self.name}")
        if self.kind == "int":
            return int.from_bytes(form, "big") - (1 << (8 * self.size - 1) if self.signed else 0)
        if self.kind == "float":
            bits, sign = int.from_bytes(form, "big"), 1 << (8 * self.size - 1)
            return bits ^ (sign if bits & sign else 2 * sign - 1)
        return form[0] if self.kind == "bool" else form

    def is_nan(self, value):
        infinity = 0x7F800000 if self.size == 4 else 0x7FF0000000000000
        return self.kind == "float" and value & (1 << 8 * self.size - 1) - 1 > infinity

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
UINT32, BYTES, DIGITS = TYPES[4], TYPES[12], {15: 9, 16: 18, 17: 38}

def shape_of(type_number, extensions, where):
    """The shape of a type. The extensions must fit it."""
    shape, e = TYPES.get(type_number), extensions or Message()
    logical, unit, zone, length = e.logical_type or 0, e.time_unit or 0, e.time_zone or b"", e.type_length or 0
    if shape is None or logical not in range(4) or unit not in range(5):
        raise Unsupported(where, f"type {type_number}, logical type {logical} or time unit {unit} is not known")
    fits = (length > 0 if type_number == 107 else length == 0) and 0 <= (e.decimal_precision or 0) <= DIGITS.get(type_number, 0)
    fits = fits and 0 <= (e.decimal_scale or 0) <= (e.decimal_precision or 0) and (unit != 0) == (logical in (1, 2))
    fits = fits and (logical == 1 or not zone) and not (logical == 1 and unit == 3 and zone == b"UTC")
    carriers = {0: {type_number}, 1: {7}, 2: {5} if unit < 3 else {7}, 3: {107} if length == 16 else set()}
    refuse(not fits or type_number not in carriers[logical], where, f"the extensions do not fit the type {shape.name}")
    return Shape("fixed", length, False, shape.name) if type_number == 107 else shape

def number_of(kudu, extension, default, where, what):
    """A type, encoding or codec. A number of 100 or more is in the extensions; Kudu's field is then 999."""
    number = default if kudu is None else kudu
    refuse(number is None, where, f"{what} is missing")
    return extension or 0 if number == 999 else number

# ---------------------------------------------------------------- bits, RLE-hybrid, group varint

_BITS = [bytes(byte >> i & 1 for i in range(8)) for byte in range(256)]

def unpack_bits(data, width, count):
    """Decodes `count` bit-packed values, least significant bit first. `data` has at least the bytes that they need."""
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

def as_signed(values, bits):
    half, whole = 1 << (bits - 1), 1 << bits
    return [value - whole if value >= half else value for value in values]

def hybrid(cursor, width, count):
    """Decodes `count` values of RLE-hybrid. Bytes after them are not checked."""
    cursor.limit(count)
    out, value_size = [], (width + 7) // 8
    while len(out) < count:
        header = cursor.vint(32)
        wanted, run = count - len(out), header >> 1
        cursor.refuse(run < 1 or run * (8 if header & 1 else 1) > 0x7FFFFFFF, "a run has 0 values or more than 2^31 - 1")
        if header & 1:
            if run * 8 >= wanted:  # the last run may be cut off after the last value that is needed
                packed = cursor.take(min(run * width, cursor.left()))
                cursor.refuse(len(packed) * 8 < wanted * width, "a literal run is cut off")
                out += unpack_bits(packed, width, wanted)
            else:
                out += unpack_bits(cursor.take(run * width), width, run * 8)
        else:
            value = cursor.number(value_size)
            cursor.refuse(value >> width, f"a repeated value has more than {width} bits")
            out += [value] * min(run, wanted)
    return out

@functools.cache
def _group_layouts(count, field):
    """For each selector of `count` fields of `field` bits: the begin and end of each integer after it, and the end of the last."""
    layouts = []
    for selector in range(1 << (count * field)):
        sizes = [(selector >> field * (count - 1 - i) & (1 << field) - 1) + 1 for i in range(count)]
        ends = list(itertools.accumulate(sizes))
        layouts.append((list(zip([0] + ends, ends)), ends[-1]))
    return layouts

def group_varints(cursor, groups, count=4, field=2):
    """Decodes groups of 4 integers with 4 fields of 2 bits before them, or of 5 integers with 5 fields of 3 bits."""
    out, layouts = [], _group_layouts(count, field)
    for _ in range(groups):
        layout, size = layouts[cursor.number((count * field + 7) // 8) & (1 << count * field) - 1]
        body = cursor.take(size)
        out += [int.from_bytes(body[start:end], "little") for start, end in layout]
    return out

# ---------------------------------------------------------------- Kudu's data blocks

# Each function takes a cursor over the encoded values, the shape and the dictionary, and returns (count, first ordinal, values).

def kudu_plain(cursor, shape, dictionary=None):
    if shape.kind == "bytes":
        start = cursor.pos
        first, count, offsets_at = cursor.fixed32(), cursor.fixed32(), cursor.fixed32()
        at = Cursor(cursor.data, cursor.where, start, cursor.end)
        at.take(12)
        cursor.refuse(offsets_at < 12 or start + offsets_at > cursor.end, "the position of the offsets lies outside of the block")
        at.pos = start + offsets_at
        cursor.refuse((count + 3) // 4 * 5 > at.left(), f"there are no offsets for {count} values")
        offsets = group_varints(at, (count + 3) // 4)[:count] + [offsets_at]
        at.done("the last offset")
        cursor.refuse(offsets[0] != 12 or any(a > b for a, b in zip(offsets, offsets[1:])), "offsets do not begin at 12 or descend")
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
    count, first, interval, _ = group_varints(cursor, 1)
    cursor.refuse(interval < 1, "the restart interval is 0")
    restarts = (count - 1) // interval if count else 0
    tail = 4 * restarts + 4
    cursor.refuse(tail > cursor.left(), "the restart offsets are cut off")
    at = Cursor(cursor.data, cursor.where, cursor.end - tail, cursor.end)
    offsets = [at.fixed32() for _ in range(restarts)]
    at.refuse(at.fixed32() != restarts, f"the restart count is not {restarts}")
    body = Cursor(cursor.data, cursor.where, cursor.pos, cursor.end - tail)
    values, value, expected = [], b"", []
    for i in range(count):
        if i and i % interval == 0:
            expected.append(body.pos - start)
        shared, unshared = body.vint(32), body.vint(32)
        body.refuse(shared > (0 if i % interval == 0 else len(value)), "a value shares more bytes than there are before it")
        value = value[:shared] + body.take(unshared)
        values.append(value)
    body.done("the last value")
    body.refuse(expected != offsets, "the restart offsets do not lead to the restart points")
    cursor.pos = cursor.end
    return count, first, values

def kudu_group_varint(cursor, shape, dictionary=None):
    count, minimum, first, _ = group_varints(cursor, 1)
    cursor.refuse((count + 3) // 4 * 5 > cursor.left(), f"{count} values are cut off")
    values = [minimum + value for value in group_varints(cursor, (count + 3) // 4)[:count]]
    cursor.refuse(values and max(values) >> 32, "a value does not fit 32 bits")
    cursor.done("the last group")
    return count, first, values

def kudu_rle(cursor, shape, dictionary=None):
    count, first = cursor.fixed32(), cursor.fixed32()
    width = 1 if shape.kind == "bool" else shape.size * 8
    values = hybrid(cursor, width, count)
    return count, first, as_signed(values, width) if shape.signed else values

_SWAPS = ((7, bytes.fromhex("00aa00aa00aa00aa")), (14, bytes.fromhex("0000cccc0000cccc")), (28, bytes.fromhex("00000000f0f0f0f0")))

def unshuffle(data, size):
    """Restores elements of `size` bytes from rows of bits: row 8j + b holds bit b of byte j of each element."""
    row = len(data) // (8 * size)
    out = bytearray(len(data))
    for j in range(size):
        rows = data[8 * j * row:8 * (j + 1) * row]
        # The 8 bytes at the same position of the 8 rows are a matrix of 8 x 8 bits. Its transpose holds byte j of 8 elements.
        # All matrices are transposed at once, as one long number, by exchanging squares of 1, 2 and 4 bits.
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
    fits = size == cursor.end - start and padded == (count + 7) // 8 * 8 and element in widths
    cursor.refuse(not fits, "the header of a BIT_SHUFFLE block does not fit its bytes, its count or its type")
    out = []
    while padded:
        n = min(8192 // element, padded)
        chunk = cursor.take(int.from_bytes(cursor.take(4), "big"))
        out.append(unshuffle(decompress(3, chunk, n * element, cursor.where), element))
        padded -= n
    cursor.done("the last chunk")
    stored = Shape(shape.kind, element, shape.signed)
    return count, first, stored.unpack(b"".join(out)[:count * element])

def kudu_dict(cursor, shape, dictionary):
    mode = cursor.fixed32()
    if mode == 2:
        return kudu_plain(cursor, shape)
    cursor.refuse(mode != 1, f"DICT mode {mode} is neither 1 nor 2")
    count, first, codes = kudu_bit_shuffle(cursor, UINT32)
    return count, first, look_up(cursor, codes, dictionary)

def look_up(cursor, codes, dictionary):
    cursor.refuse(codes and (dictionary is None or max(codes) >= len(dictionary)), "a code has no value in the dictionary")
    return [dictionary[code] for code in codes]

KUDU = {
    1: (kudu_plain, lambda s: True), 2: (kudu_prefix, lambda s: s.kind == "bytes"),
    3: (kudu_group_varint, lambda s: s.name == "UINT32"),
    4: (kudu_rle, lambda s: s.kind == "bool" or s.kind == "int" and s.size <= 8),
    5: (kudu_dict, lambda s: s.kind == "bytes"), 6: (kudu_bit_shuffle, lambda s: s.kind in ("int", "float")),
}

# ---------------------------------------------------------------- Parquet's data blocks

# Each function takes a cursor over the page, the number of values, Parquet's type as a Shape and the dictionary, and returns the
# values. Integers are unsigned; FIXED_LEN_BYTE_ARRAY, INT96 and integers of 16 bytes have the shape fixed.

def parquet_plain(cursor, count, shape, dictionary=None):
    if shape.kind == "bool":
        cursor.refuse((count + 7) // 8 > cursor.left(), f"{count} values are cut off")
        return unpack_bits(cursor.take((count + 7) // 8), 1, count)
    if shape.kind == "bytes":
        cursor.refuse(4 * count > cursor.left(), f"{count} values are cut off")
        return [cursor.take(cursor.fixed32()) for _ in range(count)]
    return shape.unpack(cursor.take(count * shape.size))

def parquet_group_var_int(cursor, count, shape, dictionary=None):
    of_32 = shape.size == 4
    groups = (count + 3) // 4 if of_32 else (count + 4) // 5
    cursor.refuse(groups * 5 > cursor.left(), f"{count} values are cut off")
    return (group_varints(cursor, groups) if of_32 else group_varints(cursor, groups, 5, 3))[:count]

def parquet_rle(cursor, count, shape, dictionary=None):
    if count == 0 and cursor.left() == 0:
        return []
    return hybrid(cursor.sub(cursor.fixed32()), 1, count)

def delta_integers(cursor, count, bits, lenient=False):
    """DELTA_BINARY_PACKED. Returns unsigned values and, for skip tables, the block size and where blocks begin and end.

    `lenient` allows miniblocks of any multiple of 8, for the examples in Parquet's first documents.
    """
    if count == 0 and cursor.left() == 0:
        return [], 0, []
    start, mask = cursor.pos, (1 << bits) - 1
    block_size, miniblocks, total = cursor.vint(32), cursor.vint(32), cursor.vint(32)
    divides = miniblocks and 0 < block_size < 1 << 31 and block_size % miniblocks == 0
    cursor.refuse(not divides, f"{miniblocks} miniblocks do not divide blocks of {block_size}")
    miniblock = block_size // miniblocks
    cursor.refuse(miniblock % 8 if lenient else block_size % 128 or miniblock % 32, f"miniblocks of {miniblock} are not legal")
    cursor.refuse(total != count, f"the page counts {total} values and not {count}")
    cursor.limit(count)
    deltas, left, starts = [cursor.zigzag(bits)], count - 1, []
    while left > 0:
        starts.append(cursor.pos - start)
        least, widths = cursor.zigzag(bits), cursor.take(miniblocks)
        for width in widths[:(left + miniblock - 1) // miniblock]:
            cursor.refuse(width > bits, f"a miniblock has a width of {width} bits")
            packed = cursor.take(miniblock * width // 8)
            deltas += [least + delta for delta in unpack_bits(packed, width, min(miniblock, left))]
            left -= min(miniblock, left)
    starts.append(cursor.pos - start)
    return [value & mask for value in itertools.accumulate(deltas)][:count], block_size, starts

def parquet_delta(cursor, count, shape, dictionary=None, lenient=False):
    return delta_integers(cursor, count, 8 * shape.size, lenient)[0]

def parquet_delta_length(cursor, count, shape, dictionary=None):
    lengths = as_signed(delta_integers(cursor, count, 32)[0], 32)
    cursor.refuse(lengths and min(lengths) < 0, "a length is negative")
    ends = list(itertools.accumulate(lengths, initial=0))
    body = cursor.take(ends[-1])
    return [body[a:b] for a, b in zip(ends, ends[1:])]

def parquet_delta_bytes(cursor, count, shape, dictionary=None):
    if count == 0 and cursor.left() == 0:
        return []
    prefixes = delta_integers(cursor, count, 32)[0]
    values, value, total = [], b"", 0
    for prefix, suffix in zip(prefixes, parquet_delta_length(cursor, count, shape)):
        cursor.refuse(prefix > len(value), "a prefix is negative or longer than the value before")
        value = value[:prefix] + suffix
        cursor.refuse(shape.kind == "fixed" and len(value) != shape.size, "a value has not as many bytes as its type")
        total += len(value)
        cursor.limit(total, MAX_VALUE_BYTES)
        values.append(value)
    return values

def parquet_codes(cursor, count, shape=None, dictionary=None):
    if count == 0 and cursor.left() == 0:
        return []
    width = cursor.number(1)
    cursor.refuse(width > 32, f"codes have {width} bits")
    return hybrid(cursor, width, count)

def parquet_dict(cursor, count, shape, dictionary=None):
    return look_up(cursor, parquet_codes(cursor, count), dictionary)

def parquet_byte_stream_split(cursor, count, shape, dictionary=None):
    page = cursor.rest()
    cursor.refuse(len(page) != count * shape.size, f"{count} values of {shape.size} bytes do not make {len(page)} bytes")
    out = bytearray(len(page))
    for i in range(shape.size):
        out[i::shape.size] = page[i * count:(i + 1) * count]
    return shape.unpack(bytes(out))

def _float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]

def parquet_alp(cursor, count, shape, dictionary=None):
    if count == 0 and cursor.left() == 0:
        return []
    bits, single = 8 * shape.size, shape.size == 4
    mode, integers, log, total = cursor.number(1), cursor.number(1), cursor.number(1), cursor.fixed32()
    cursor.refuse(mode or integers or not 3 <= log <= 15 or total != count, "the header of an ALP page does not fit")
    vectors, size = (count + (1 << log) - 1) >> log, 1 << log
    offsets_at = cursor.pos
    offsets = struct.unpack(f"<{vectors}I", cursor.take(4 * vectors))
    largest, nearest = (10, _float32) if single else (18, float)
    out = []
    for v, offset in enumerate(offsets):
        cursor.refuse(offsets_at + offset != cursor.pos, f"vector {v} does not follow the one before it")
        n = min(size, count - v * size)
        e, f, exceptions, frame = cursor.number(1), cursor.number(1), cursor.number(2), cursor.number(shape.size)
        width = cursor.number(1)
        cursor.refuse(e > largest or f > e or exceptions > n or width > bits, "the header of an ALP vector is out of range")
        deltas = unpack_bits(cursor.take((n * width + 7) // 8), width, n)
        factor, scale = nearest(float(f"1e{f}")), nearest(float(f"1e-{e}"))
        whole = as_signed([frame + delta & (1 << bits) - 1 for delta in deltas], bits)
        if single:
            floats = [_float32(_float32(_float32(float(i)) * factor) * scale) for i in whole]
            values = list(struct.unpack(f"<{n}I", struct.pack(f"<{n}f", *floats)))
        else:
            values = list(struct.unpack(f"<{n}Q", struct.pack(f"<{n}d", *[float(i) * factor * scale for i in whole])))
        places = struct.unpack(f"<{exceptions}H", cursor.take(2 * exceptions))
        for place, value in zip(places, shape.unpack(cursor.take(shape.size * exceptions))):
            cursor.refuse(place >= n, f"an exception is at {place} of {n} values")
            values[place] = value
        out += values
    if count:
        cursor.done("the last vector")
    return out

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

# The encodings of cfile itself, with numbers from 1000. Their functions are like those in PARQUET, but the values have the
# column's own shape.
def unpack_vector(cursor, width, count, size):
    """Takes bit-packed numbers of `size` bytes, which are interleaved if there are 1,024."""
    if count < 1024:
        return unpack_bits(cursor.take((count * width + 7) // 8), width, count)
    lanes, rows = 128 // size, [cursor.take(128) for _ in range(width)]
    columns = [b"".join(row[size * lane:size * lane + size] for row in rows) for lane in range(lanes)]
    by_lane = [unpack_bits(column, width, 8 * size) for column in columns]
    return [by_lane[i % lanes][i // lanes] for i in range(count)]

def own_for(cursor, count, shape, dictionary=None):
    size, start = shape.size or 1, cursor.pos
    bits = 8 * size
    signed = shape.kind == "int" and shape.signed
    number = lambda: cursor.number(size) if not signed else as_signed([cursor.number(size)], bits)[0]
    entries = []
    for _ in range((count + 1023) // 1024):
        entries.append((cursor.fixed32(), cursor.number(1), cursor.number(1), cursor.number(2), number(), number()))
    out = []
    for v, (offset, width, form, exceptions, least, greatest) in enumerate(entries):
        n = min(1024, count - 1024 * v)
        cursor.refuse(form > 1 or form and (n < 1024 or exceptions or shape.kind == "bool"), f"the form of vector {v} is {form}")
        cursor.refuse(width > bits or exceptions >= n or least > greatest, f"the entry of vector {v} is out of range")
        cursor.refuse(cursor.pos - start != offset, f"vector {v} does not follow what is before it")
        cursor.refuse(not form and not exceptions and width != (greatest - least).bit_length(), f"the width of vector {v} is not the least one")
        cursor.refuse(shape.kind == "bool" and (exceptions or greatest > 1), f"vector {v} does not hold booleans")
        packed = unpack_vector(cursor, width, n, size)
        if form == 1:
            value, step = cursor.number(size), cursor.number(size)
            values = [value := value + each & (1 << bits) - 1 for each in [packed[0]] + [step + each for each in packed[1:]]]
            out += as_signed(values, bits) if signed else values
            continue
        reference = number() if exceptions else least
        values = [reference + each & (1 << bits) - 1 for each in packed]
        places = [cursor.number(2) for _ in range(exceptions)]
        cursor.refuse(any(a >= b for a, b in zip(places, places[1:] + [n])), f"the exceptions of vector {v} do not ascend")
        for place in places:
            values[place] = cursor.number(size)
        out += as_signed(values, bits) if signed else values
    cursor.done("the last vector")
    return [bool(value) for value in out] if shape.kind == "bool" else out

def own_fsst(cursor, count, shape, dictionary=None):
    start, out = cursor.pos, []
    if count:
        form = cursor.number(1)
        cursor.refuse(form not in (1, 2), f"the form is {form}")
        common = cursor.take(cursor.vint(32))
        offsets = [cursor.fixed32() for _ in range((count + 63) // 64)]
        ends = [start + offset for offset in offsets[1:]] + [cursor.end]
        for g, (offset, end) in enumerate(zip(offsets, ends)):
            cursor.refuse(cursor.pos - start != offset or end < cursor.pos, f"group {g} does not follow what is before it")
            group, others = cursor.sub(end - cursor.pos), min(64, count - 64 * g) - 1
            if form == 2:
                out += [common + value for value in separate_values(group, others + 1, dictionary)]
                continue
            kind, width = group.number(1), group.number(1)
            first, least_shared, least_suffix = (group.vint(32) for _ in range(3))
            group.refuse(kind & 127 > 32 or width > 32, "a width is more than 32 bits")
            shared = [least_shared + each for each in unpack_bits(group.take((others * (kind & 127) + 7) // 8), kind & 127, others)]
            suffixes = [least_suffix + each for each in unpack_bits(group.take((others * width + 7) // 8), width, others)]
            text = Cursor(group.rest() if kind < 128 else expand_symbols(group, dictionary), cursor.where)
            value = b""
            for size, more in zip([0] + shared, [first] + suffixes):
                cursor.refuse(size > len(value), "a value shares more bytes than the value before it has")
                value = value[:size] + text.take(more)
                out.append(common + value)
            text.done("the last suffix")
    cursor.done("the last group")
    return out

def separate_values(group, count, dictionary):
    kind, least = group.number(1), group.vint(32)
    width = kind & 127
    group.refuse(width > 32, "a width is more than 32 bits")
    sizes = [least + each for each in unpack_bits(group.take((count * width + 7) // 8), width, count)]
    texts = [group.take(size) for size in sizes]
    group.done("the last value")
    return texts if kind < 128 else [expand_symbols(Cursor(codes, group.where), dictionary) for codes in texts]

def expand_symbols(codes, symbols):
    text = bytearray()
    while codes.left():
        code = codes.number(1)
        codes.refuse(code < 255 and (symbols is None or code >= len(symbols)), "a code has no symbol")
        text += codes.take(1) if code == 255 else symbols[code]
    return bytes(text)

class Bits:
    """Takes numbers from the bits of bytes, least significant bit first. After the last byte all bits are 0."""

    def __init__(self, data):
        self.bits, self.used = int.from_bytes(data, "little"), 0

    def take(self, width):
        self.used += width
        return self.bits >> self.used - width & (1 << width) - 1

def ans_table(weights, log):
    """The symbol, the number of bits and the base of the next state, for each state."""
    size, state, symbols = 1 << log, 0, [0] * (1 << log)
    for symbol, weight in enumerate(weights):
        for _ in range(weight):
            symbols[state] = symbol
            state = (state + size // 2 + size // 8 + 3) % size
    table, used = [], list(weights)
    for symbol in symbols:
        number, used[symbol] = used[symbol], used[symbol] + 1
        bits = log + 1 - number.bit_length()
        table.append((symbol, bits, (number << bits) - size))
    return table

def ans_symbols(cursor, data, table, log, count):
    bits = Bits(data)
    states, out = [bits.take(log) for _ in range(8)], []
    for i in range(count):
        symbol, width, base = table[states[i % 8]]
        states[i % 8] = base + bits.take(width)
        out.append(symbol)
    cursor.refuse(any(states) or (bits.used + 7) // 8 != len(data) or bits.bits >> bits.used, "the codes do not end as they should")
    return out

def compact_bins(cursor, size, log, bins):
    lowers, widths, weights = [], [], []
    for b in range(bins):
        lowers.append(cursor.number(size))
        widths.append(cursor.number(1))
        weights.append(cursor.number(2) if bins > 1 else 1)
        cursor.refuse(widths[b] > 8 * size or weights[b] == 0, f"the width or the weight of bin {b} is out of range")
    cursor.refuse(sum(weights) != 1 << log, "the weights of the bins do not add up")
    return lowers, widths, weights

def own_compact(cursor, count, shape, dictionary=None):
    if count == 0:
        cursor.done("no values")
        return []
    size, start, is_float = shape.size, cursor.pos, shape.kind == "float"
    mask, limit = (1 << 8 * size) - 1, {4: 10, 8: 22}[size] if is_float else 0
    flags, log, bins, power = [cursor.number(1) for _ in range(4)]
    order, line, multiples, decimals = flags & 3, flags & 4, flags & 8, flags & 16
    cursor.refuse(flags >> 5 or line and order or decimals and not is_float, f"the transformation is {flags}")
    cursor.refuse(power > (limit if decimals else 0), f"{power} decimals")
    cursor.refuse(not (4 <= log <= 12 if bins else log == 0), f"2^{log} states")
    slope = cursor.number(size) if line else 0
    factor, addend = (cursor.number(size), cursor.number(size)) if multiples else (1, 0)
    lowers, widths, weights = compact_bins(cursor, size, log, bins + 1)
    table = ans_table(weights, log) if bins else []
    pages = (count + 1023) // 1024
    offsets = [cursor.fixed32() for _ in range(pages)]
    out = []
    for p, offset in enumerate(offsets):
        n = min(1024, count - 1024 * p)
        cursor.refuse(cursor.pos - start != offset, f"page {p} does not follow what is before it")
        sums = [cursor.number(size) for _ in range(1 if line else order)]
        exceptions = cursor.number(2) if decimals else 0
        symbols = ans_symbols(cursor, cursor.take(cursor.number(2)), table, log, n) if bins else [0] * n
        if len(set(widths)) == 1:
            packed = unpack_vector(cursor, widths[0], n, size)
        else:
            data = Bits(cursor.take((sum(widths[b] for b in symbols) + 7) // 8))
            packed = [data.take(widths[b]) for b in symbols]
        numbers = [lowers[b] + each & mask for b, each in zip(symbols, packed)]
        if line:
            numbers = [sums[0] + slope * i + each for i, each in enumerate(numbers)]
        for before in [] if line else reversed(sums):
            numbers = list(itertools.accumulate(numbers, initial=before))[1:]
        numbers = [each * factor + addend & mask for each in numbers]
        places = [cursor.number(2) for _ in range(exceptions)]
        cursor.refuse(any(a >= b for a, b in zip(places, places[1:] + [n])), f"the exceptions of page {p} do not ascend")
        if decimals:
            nearest = _float32 if size == 4 else float
            quotients = [nearest(nearest(float(each)) / float(10 ** power)) for each in as_signed(numbers, 8 * size)]
            numbers = [int.from_bytes(struct.pack({4: "<f", 8: "<d"}[size], each), "little") for each in quotients]
        elif is_float:
            sign = 1 << 8 * size - 1
            numbers = [each ^ sign if each & sign else each ^ mask for each in numbers]
        for place in places:
            numbers[place] = cursor.number(size)
        out += numbers
    cursor.done("the last page")
    return as_signed(out, 8 * size) if not is_float and shape.signed else out

def own_alp_rd(cursor, count, shape, dictionary=None):
    size, start, bits, out = shape.size, cursor.pos, 8 * shape.size, []
    entries = [(cursor.fixed32(), *[cursor.number(1) for _ in range(3)], cursor.number(2)) for _ in range((count + 1023) // 1024)]
    for v, (offset, code_width, width, shift, exceptions) in enumerate(entries):
        n = min(1024, count - 1024 * v)
        high_bits = bits - width - shift
        cursor.refuse(cursor.pos - start != offset, f"vector {v} does not follow what is before it")
        cursor.refuse(code_width > 3 or code_width + width > bits or shift >= bits or high_bits < (code_width > 0),
                      f"the widths of vector {v} are out of range")
        cursor.refuse(exceptions > (n if high_bits else 0), f"vector {v} has {exceptions} exceptions")
        bases = [cursor.number(size) for _ in range(1 << code_width)]
        numbers = unpack_vector(cursor, code_width + width, n, size)
        values = [bases[number >> width] + ((number & (1 << width) - 1) << shift) for number in numbers]
        places = [cursor.number(2) for _ in range(exceptions)]
        cursor.refuse(any(a >= b for a, b in zip(places, places[1:] + [n])), f"the exceptions of vector {v} do not ascend")
        for place in places:
            values[place] += cursor.number((high_bits + 7) // 8) << width + shift
        out += [value & (1 << bits) - 1 for value in values]
    cursor.done("the last vector")
    return out

OWN = {1000: (own_for, lambda s: s.kind == "bool" or s.kind == "int" and s.size <= 8),
       1001: (own_fsst, lambda s: s.kind == "bytes"),
       1002: (own_compact, lambda s: s.kind == "float" or s.kind == "int" and s.size <= 8),
       1003: (own_alp_rd, lambda s: s.kind == "float")}

def takes(encoding, shape):
    """True if this reader decodes blocks of this encoding and shape."""
    takes_shape = {**KUDU, **PARQUET, **OWN}.get(encoding, (None, lambda s: False))[1]
    return takes_shape(parquet_shape(shape) if encoding in PARQUET else shape)

def parquet_shape(shape):
    """Parquet's own type for a shape, with integers unsigned."""
    if shape.kind == "int":
        return Shape("fixed", 16) if shape.size == 16 else Shape("int", max(4, shape.size))
    return shape

def parquet_page(encoding, cursor, count, shape, dictionary=None):
    """Decodes a page of a column of this shape, also of an encoding in OWN. The dictionary holds values of the shape."""
    if not takes(encoding, shape):
        raise Unsupported(cursor.where, f"encoding {encoding} does not take {shape.name}")
    cursor.limit(count)
    if encoding in OWN:
        return OWN[encoding][0](cursor, count, shape, dictionary)
    inner, decode = parquet_shape(shape), PARQUET[encoding][0]
    values = decode(cursor, count, inner, dictionary)
    return values if encoding in (102, 108) else from_parquet(cursor, values, shape)

def from_parquet(cursor, values, shape):
    if shape.kind != "int" or not values:
        return values
    if shape.size == 16:
        return [int.from_bytes(value, "big", signed=shape.signed) for value in values]
    if shape.signed:
        values = as_signed(values, 8 * max(4, shape.size))
    low = -(1 << (8 * shape.size - 1)) if shape.signed else 0
    cursor.refuse(min(values) < low or max(values) >= low + (1 << 8 * shape.size), f"a value does not fit {shape.name}")
    return values

def to_parquet_plain(shape, value):
    """The bytes of a value that Bloom filters hash: Parquet's PLAIN encoding, for BYTE_ARRAY without the length."""
    if shape.kind == "int":
        if shape.size == 16:
            return value.to_bytes(16, "big", signed=shape.signed)
        size = max(4, shape.size)
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    return value.to_bytes(shape.size, "little") if shape.kind == "float" else value

# ---------------------------------------------------------------- data blocks

class Column:
    """What is needed to decode a block: the shape, the headers before the values, and the encoding.

    extended: each block names its own encoding. movable: the head of a block says more than the body of Kudu's blocks, whose first
    ordinal is 0.
    """

    movable = False

    def __init__(self, shape, encoding=1, nullable=False, extended=False, levels=None, array=False, dictionary=None):
        self.shape, self.encoding, self.nullable, self.extended = shape, encoding, nullable, extended
        self.levels, self.array, self.dictionary = levels, array, dictionary  # levels: the two maxima, or None

class Block:
    """A decoded block. A row is a value or None; with arrays, a list; with levels, a list of (repetition, definition, value).

    values: the values that are present. nulls: the number of nulls; with levels and arrays, of entries without a value. skip,
    page: the skip table of an extended block, and a cursor at its body.
    """

    def __init__(self, encoding, first, values, skip, page):
        self.encoding, self.first, self.values, self.skip, self.page = encoding, first, values, skip, page
        self.rows, self.nulls = values, 0

def encoded_values(cursor, column, expected=None):
    """Decodes the values of a block. Their number must be `expected` unless that is None."""
    if cursor.values:
        cursor.done("the levels")
        cursor = cursor.values
    encoding, skip, page = column.encoding, b"", None
    if not column.extended:
        count, first, values = _kudu_block(cursor, column, encoding)
    else:
        encoding, count, first = cursor.vint(32), cursor.vint(32), cursor.vint(32)
        skip = cursor.take(cursor.vint(64))
        page = Cursor(cursor.data, cursor.where, cursor.pos, cursor.end)
        cursor.refuse(expected not in (None, count), f"an extended block of {count} values should have {expected}")
        if encoding < 100:
            inner_count, inner_first, values = _kudu_block(cursor, column, encoding)
            outer_first = 0 if column.movable else first
            cursor.refuse((inner_count, inner_first) != (count, outer_first), "a block and its envelope do not agree")
        elif encoding in PARQUET or encoding in OWN:
            values = parquet_page(encoding, cursor, count, column.shape, column.dictionary)
        else:
            raise Unsupported(cursor.where, f"encoding {encoding} is not known")
    cursor.refuse(expected not in (None, count), f"a block of {count} values should have {expected}")
    return Block(encoding, first, values, skip, page)

def vint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])

def unpack_movable(data, codec, where):
    """Checks a movable block. Returns its rows and entries, and its levels and values for decode_block.

    The values have the form of an extended block.
    """
    refuse(len(data) < 52, where, "there is no room for the head of a movable block")
    encoding, block_codec, rows, entries, present, first, dictionary, *sizes = struct.unpack_from("<13I", data)
    stored, sizes, sections = sizes[::2], sizes[1::2], []
    parts = range(0, sum(stored), 4096)
    end = 52 + 4 * len(parts)
    refuse(len(data) != end + 4 + sum(stored), where, "the sections do not have the sizes that the head says")
    refuse(crc32c(data[:end]) != int.from_bytes(data[end:end + 4], "little"), where, "the checksum of the head is wrong")
    payload = Cursor(data, where, end + 4)
    for i, part in enumerate(parts):
        found = crc32c(data[end + 4 + part:end + 4 + min(part + 4096, sum(stored))])
        refuse(found != int.from_bytes(data[52 + 4 * i:56 + 4 * i], "little"), where, f"the checksum of part {i} is wrong")
    refuse((block_codec == 1) != (stored == sizes), where, f"the codec is {block_codec}, but the sizes do not fit")
    refuse(block_codec != 1 and codec == 1, where, "a section is compressed, but the footer names no codec")
    if dictionary or block_codec != 1 and block_codec not in CODECS:
        raise Unsupported(where, f"dictionary {dictionary} or codec {block_codec} is not known")
    for stored_size, size in zip(stored, sizes):
        section = payload.take(stored_size)
        refuse(stored_size > size, where, "a section is stored in more bytes than it has")
        payload.limit(size, MAX_BLOCK_BYTES)
        sections.append(section if stored_size == size else decompress(block_codec, section, size, where))
    envelope = b"".join(map(vint, (encoding, present, first, sizes[1])))
    return rows, entries, (sections[0], envelope + sections[1] + sections[2])

def _kudu_block(cursor, column, encoding):
    if encoding not in KUDU:
        raise Unsupported(cursor.where, f"encoding {encoding} is not known")
    decode, takes = KUDU[encoding]
    if not takes(column.shape):
        raise Unsupported(cursor.where, f"encoding {encoding} does not take {column.shape.name}")
    return decode(cursor, column.shape, column.dictionary)

def decode_block(data, column, where):
    """data: the bytes of the block; of a movable block, what unpack_movable returned."""
    cursor = Cursor(data[0] if column.movable else data, where)
    if column.movable:
        cursor.values = Cursor(data[1], where)
    if column.levels:
        return _levels_block(cursor, column)
    if column.array:
        return _array_block(cursor, column)
    if not column.nullable:
        return encoded_values(cursor, column)
    count = cursor.vint(32)
    present = hybrid(cursor.sub(cursor.vint(64)), 1, count)
    block = encoded_values(cursor, column, sum(present))
    following = iter(block.values)
    block.rows, block.nulls = [next(following) if bit else None for bit in present], count - len(block.values)
    return block

def _levels_block(cursor, column):
    entries, records = cursor.vint(32), cursor.vint(32)
    cursor.limit(entries)
    kinds = []
    for maximum in column.levels:
        stream = cursor.sub(cursor.vint(64))
        kinds.append(hybrid(stream, maximum.bit_length(), entries) if maximum else [0] * entries)
        cursor.refuse(entries and max(kinds[-1]) > maximum, f"a level is above {maximum}")
    repetitions, definitions = kinds
    cursor.refuse(repetitions.count(0) != records or entries and repetitions[0], f"the levels do not make {records} records")
    full = column.levels[1]
    block = encoded_values(cursor, column, definitions.count(full))
    following = iter(block.values)
    block.rows, block.nulls = [], entries - len(block.values)
    for repetition, definition in zip(repetitions, definitions):
        if not repetition:
            block.rows.append([])
        block.rows[-1].append((repetition, definition, next(following) if definition == full else None))
    return block

def _array_block(cursor, column):
    elements, arrays = cursor.vint(32), cursor.vint(32)
    validity = hybrid(cursor.sub(cursor.vint(64)), 1, elements)
    lengths = hybrid(cursor.sub(cursor.vint(64)), 16, arrays)
    present = hybrid(cursor.sub(cursor.vint(64)), 1, arrays)
    cursor.refuse(sum(lengths) != elements, f"the lengths of arrays do not make {elements} elements")
    cursor.refuse(any(length and not bit for length, bit in zip(lengths, present)), "a null array has elements")
    cursor.refuse(not column.nullable and not all(present), "an array is null in a column without nulls")
    block = encoded_values(cursor, column, sum(validity))
    following = iter(block.values)
    flat = iter([next(following) if bit else None for bit in validity])
    block.rows = [list(itertools.islice(flat, length)) if bit else None for length, bit in zip(lengths, present)]
    block.nulls = elements - len(block.values) + lengths.count(0)  # null elements, empty arrays and null arrays
    return block

# ---------------------------------------------------------------- files

CHECKSUMS, ARRAYS, PIECES, OWN_ENCODINGS, MOVABLE, LEVELS, EXTENDED = 1, 2, 1 << 25, 1 << 26, 1 << 28, 1 << 29, 1 << 30
FILE_BITS = CHECKSUMS | ARRAYS | PIECES | OWN_ENCODINGS | MOVABLE | LEVELS | EXTENDED

def piece_record(cursor):
    """Reads a record of a piece table: block, first, encoding, and pieces of rows, key, begin, size, crc, front, back; first: a row."""
    at = cursor.sub(cursor.vint(32))
    record = Message(block=Message(offset=at.vint(64), size=at.vint(32)), first=at.vint(32), encoding=at.vint(32), pieces=[])
    row = end = 0
    while at.left():
        rows, key = at.vint(32), at.take(at.vint(64))
        begin, size, crc = end + at.vint(32), at.vint(32), at.fixed32()
        end = begin + size
        at.refuse(not rows or end > record.block.size, "a piece has no rows, or is not in its block")
        at.refuse(record.pieces and key < record.pieces[-1].key, "the keys of pieces do not ascend")
        front, back = at.take(at.vint(64)), at.take(at.vint(64))
        record.pieces.append(Message(first=row, rows=rows, key=key, begin=begin, size=size, crc=crc, front=front, back=back))
        row += rows
    at.refuse(not record.pieces, "a record has no pieces")
    return record

class CFile:
    def __init__(self, data, name="file"):
        self.data, self.name = data, name
        self._nodes, self._leaves, self._vint_keys = {}, {}, False
        self.version = {b"kuducfil": 1, b"kuducfl2": 2}.get(data[:8], 0)
        refuse(not self.version or len(data) < 24, name, "this is no CFile: no magic at its start, or it is too short")
        refuse(data[-12:-4] != data[:8], name, "header and footer do not have the same magic")
        header_size, footer_size = int.from_bytes(data[8:12], "little"), int.from_bytes(data[-4:], "little")
        self.first_byte, footer_at = 12 + header_size, len(data) - 12 - footer_size
        refuse(self.first_byte > footer_at, name, "header and footer overlap")
        self.last_byte, where = footer_at, f"{name}, footer at {footer_at}"
        self.footer = footer = parse("Footer", data[footer_at:-12], where)
        bits = footer.incompatible_features or 0
        self.checksums = self.version == 2 and bool(bits & CHECKSUMS)
        header_crc = data[self.first_byte:self.first_byte + 4] == crc32c(data[:self.first_byte]).to_bytes(4, "little")
        if self.checksums:
            self.first_byte, self.last_byte = self.first_byte + 4, footer_at - 4
            refuse(self.first_byte > self.last_byte or not header_crc, f"{name}, header", "the checksum is wrong")
            footer_crc = data[self.last_byte:footer_at] == crc32c(data[footer_at:]).to_bytes(4, "little")
            refuse(not footer_crc, where, "the checksum is wrong")
        refuse(self.version == 2 and header_crc and not self.checksums, where, "the header has a checksum, but bit 0 is clear")
        self.header = parse("Header", data[12:12 + header_size], f"{name}, header")
        self._read_footer(bits, where)

    def _read_footer(self, bits, where):
        footer, extensions = self.footer, self.footer.extensions or Message()
        refuse(self.version == 1 and bits & CHECKSUMS, where, "version 1 has no checksums, but bit 0 is set")
        for bit in range(32):
            if bits >> bit & 1 and not FILE_BITS >> bit & 1:
                raise Unsupported(where, f"incompatible feature bit {bit} is not known")
        self.type = number_of(footer.data_type, extensions.data_type, None, where, "data_type")
        self.encoding = number_of(footer.encoding, extensions.encoding, None, where, "encoding")
        self.codec = number_of(footer.compression, extensions.compression, 1, where, "compression") or 1  # 0 also means none
        if self.codec != 1 and self.codec not in CODECS or self.encoding not in {**KUDU, **PARQUET, **OWN}:
            raise Unsupported(where, f"codec {self.codec} or encoding {self.encoding} is not known")
        nullable, extended, array, has_levels = bool(footer.is_type_nullable), bits & EXTENDED, bits & ARRAYS, bits & LEVELS
        needs_extended = has_levels or max(self.type, self.encoding, self.codec) >= 100
        refuse(needs_extended and not extended, where, "bit 30 is clear, but blocks must be extended ones")
        refuse(bool(array) != bool(footer.is_type_array) or array and has_levels, where, "the bits of arrays and levels do not fit")
        refuse(self.encoding >= 1000 and not bits & OWN_ENCODINGS, where, "bit 26 is clear, but the encoding needs it")
        refuse(bits & OWN_ENCODINGS and not extended, where, "bit 26 is set without bit 30")
        self.piece_directory = footer.piece_directory or Message() if bits & PIECES else None
        refuse(bits & PIECES and not self.checksums, where, "bit 25 is set without bit 0")
        if bits & PIECES:
            self.stored(self.piece_directory, "piece directory")
        refuse(bits & MOVABLE and not (extended and self.checksums), where, "bit 28 is set without bits 0 and 30")
        self.num_values, self.num_entries, levels = footer.num_values, None, None
        refuse(self.num_values is None or not 0 <= self.num_values < 1 << 32, where, f"num_values is {self.num_values}")
        if has_levels:
            levels = (extensions.max_repetition_level or 0, extensions.max_definition_level or 0)
            self.num_entries = extensions.num_entries or 0
            legal = 0 <= min(levels) and max(levels) < 65536 and nullable == (levels[1] > 0)
            refuse(not legal, where, f"the maxima of the levels are {levels}")
        refuse(self.num_values and not self.root("ordinal") and not self.root("value"), where, "there are values, but no index")
        self.column = Column(shape_of(self.type, extensions, where), self.encoding, nullable, bool(extended), levels, bool(array))
        self.column.movable = bool(bits & MOVABLE)
        self.column.dictionary = self._read_dictionary()

    def _read_dictionary(self):
        if not self.footer.dict_block_ptr:
            return None
        data, where = self.block(self.footer.dict_block_ptr, "dictionary")
        cursor, shape = Cursor(data, where), self.column.shape
        if self.encoding == 5:
            _, _, values = kudu_plain(cursor, shape)
            cursor.refuse(len(values) > len(data) // 2 + 1, "different values take more bytes than the dictionary has")
            return values
        cursor.refuse(self.encoding not in (102, 108, 1001), f"there is a dictionary, but the encoding is {self.encoding}")
        values = parquet_page(100, cursor, cursor.vint(64), shape)
        cursor.done("the dictionary's last value")
        wrong = self.encoding == 1001 and (len(values) > 255 or not all(1 <= len(symbol) <= 8 for symbol in values))
        cursor.refuse(wrong, "a table has at most 255 symbols of 1 to 8 bytes")
        return values

    def stored(self, pointer, what, before=None):
        """Returns a cursor at the stored bytes of a block, and a text that says where it is."""
        offset, size = pointer.offset, pointer.size
        where = f"{self.name}, {what} at {offset}"
        end = self.last_byte if before is None else before
        inside = None not in (offset, size) and size >= 0 and self.first_byte <= offset and offset + size <= end
        refuse(not inside, where, f"a pointer to {size} bytes does not lead between {self.first_byte} and {end}")
        return Cursor(self.data, where, offset, offset + size), where

    def block(self, pointer, what, before=None):
        """Checks and decompresses a block. Returns its bytes, and a text that says where it is."""
        cursor, where = self.stored(pointer, what, before)
        if self.checksums:
            body = cursor.take(max(cursor.left() - 4, 0))
            refuse(cursor.fixed32() != crc32c(body), where, "the checksum is wrong")
            cursor = Cursor(body, where)
        if self.codec == 1:
            return cursor.rest(), where
        compressed = cursor.fixed32() if self.version == 1 else None
        size = cursor.fixed32()
        body = cursor.rest()
        refuse(compressed not in (None, len(body)), where, f"{len(body)} compressed bytes should be {compressed}")
        if self.version == 2 and len(body) == size:
            return body, where
        cursor.limit(size, MAX_BLOCK_BYTES)
        return decompress(self.codec, body, size, where), where

    # -- index trees

    def root(self, by):
        info = self.footer.posidx_info if by == "ordinal" else self.footer.validx_info
        return info and (info.root_block or Message())

    def node(self, pointer, by, before=None):
        """Reads a node of the positional index (by "ordinal") or value index. Returns whether it is a leaf, and its (key, pointer)s."""
        if (pointer.offset, by) in self._nodes:
            return self._nodes[pointer.offset, by]
        data, where = self.block(pointer, f"index node by {by}", before)
        refuse(len(data) < 4 or int.from_bytes(data[-4:], "little") > len(data) - 4, where, "the trailer's length does not fit")
        trailer_at = len(data) - 4 - int.from_bytes(data[-4:], "little")
        trailer = parse("Trailer", data[trailer_at:-4], where)
        count = trailer.num_entries
        refuse(None in (count, trailer.type) or not 0 <= 4 * count <= trailer_at, where, "the trailer does not fit")
        offsets_at, entries, end = trailer_at - 4 * count, [], 0
        first = struct.unpack_from("<I", data, offsets_at)[0] if count else 0
        if by == "ordinal" and pointer == self.root(by):
            self._vint_keys = self.version == 1 and first < offsets_at and data[first] == 0
        for start in struct.unpack(f"<{count}I", data[offsets_at:trailer_at]):
            cursor = Cursor(data, where, start, offsets_at)
            if by == "ordinal" and self._vint_keys:
                key = cursor.vint(64)
            else:
                key = cursor.take(cursor.vint(64))
                cursor.refuse(by == "ordinal" and len(key) != 4, "a positional key has not 4 bytes")
                key = int.from_bytes(key, "big") if by == "ordinal" else key
            child = Message(offset=cursor.vint(64), size=cursor.vint(32))
            cursor.refuse(child.size < 4 or child.offset < end, "blocks are empty, overlap or do not ascend")
            end = child.offset + child.size
            ascends = not entries or key > entries[-1][0] or by == "value" and key == entries[-1][0]
            cursor.refuse(not ascends, "keys do not ascend")
            entries.append((key, child))
        refuse(end > pointer.offset, where, "a child does not lie before its parent")
        refuse(not entries and (trailer.type == 1 or self.num_values or pointer != self.root(by)), where, "a node has no entries")
        self._nodes[pointer.offset, by] = (trailer.type == 0, entries)
        return self._nodes[pointer.offset, by]

    def leaves(self, by):
        """All (key, pointer to a data block) of a tree, in order. Checks every node."""
        if by not in self._leaves:
            self._leaves[by] = []
            self._walk(self.root(by), by, None, 1, self.last_byte, 0)
            entries = self._leaves[by]
            refuse(entries and entries[0][1].offset >= self.first_byte + 64, self.name, "the first block is far from the header")
            begins = [key for key, _ in entries[:1]] == ([0] if self.num_values else [])
            refuse(by == "ordinal" and not begins, self.name, "the positional index does not begin with ordinal 0")
        return self._leaves[by]

    def _walk(self, pointer, by, first_key, depth, before, after):
        """Adds the leaf entries below a node to self._leaves. All blocks below it must begin at `after` or later."""
        leaf, entries = self.node(pointer, by, before)
        where = f"{self.name}, index node by {by} at {pointer.offset}"
        if depth > MAX_LEVELS:
            raise Limit(where, f"the tree has more than {MAX_LEVELS} levels")
        same = first_key is None or entries and entries[0][0] == first_key
        refuse(not same, where, "the first key is not the one that the parent has")
        last = self._leaves[by][-1][0] if self._leaves[by] else None
        for key, child in entries:
            refuse(child.offset < after, where, "a block does not stand after those of the entry before")
            refuse(last is not None and (key < last or by == "ordinal" and key == last), where, "keys do not ascend across nodes")
            if leaf:
                self._leaves[by].append((key, child))
            else:
                self._walk(child, by, key, depth + 1, pointer.offset, after)
            after, last = child.offset + child.size, None

    def _descend(self, by, wanted):
        """The data block of the last key <= (by ordinal) or < (by value) `wanted`; else the first one; None in an empty tree."""
        pointer, leaf = self.root(by), False
        for _ in range(MAX_LEVELS):
            leaf, entries = self.node(pointer, by)
            smaller = [child for key, child in entries if key < wanted or by == "ordinal" and key == wanted]
            pointer = smaller[-1] if smaller else entries[0][1] if entries else None
            if leaf or pointer is None:
                return pointer
        raise Limit(self.name, f"the tree has more than {MAX_LEVELS} levels")

    def data_block(self, pointer, expected=None):
        if self.column.movable:
            stored, where = self.stored(pointer, "data block")
            rows, entries, data = unpack_movable(stored.rest(), self.codec, where)
            block = decode_block(data, self.column, where)
            found = len(block.rows), len(block.values) + block.nulls
            refuse((rows, entries) != found, where, f"the head says {rows} rows, {entries} entries; the block has {found}")
        else:
            data, where = self.block(pointer, "data block")
            block = decode_block(data, self.column, where)
        wrong = expected is not None and block.first != expected & 0xFFFFFFFF
        refuse(wrong or not block.rows, where, f"the first of {len(block.rows)} rows is {block.first}, it should be {expected}")
        refuse(block.nulls and self.root("value"), where, "there are nulls in a file with a value index")
        return block

    def seek_ordinal(self, ordinal):
        """The row with this ordinal, found with the positional index."""
        if not 0 <= ordinal < self.num_values:
            raise IndexError(ordinal)
        block = self.data_block(self._descend("ordinal", ordinal))
        there = block.first <= ordinal < block.first + len(block.rows)
        refuse(not there, self.name, f"the positional index does not lead to row {ordinal}")
        return block.rows[ordinal - block.first]

    def seek_key(self, wanted):
        """(ordinal, exact) of the first row whose memcmp form is >= the wanted one; (num_values, False) if there is none."""
        if self.column.levels or self.column.array:
            raise Unsupported(self.name, "a key does not lead to records or arrays")
        pointer, memcmp = self._descend("value", wanted), self.column.shape.memcmp
        places = [child for _, child in self.leaves("value")]
        start = next((i for i, child in enumerate(places) if child == pointer), len(places))
        for pointer in places[start:]:
            block = self.data_block(pointer)
            if memcmp(block.rows[-1]) < wanted:
                continue
            i = bisect.bisect_left(block.rows, wanted, key=memcmp)
            return block.first + i, memcmp(block.rows[i]) == wanted
        return self.num_values, False

    # -- pieces

    def piece_tables(self):
        """Yields (offset of the first data block, pointer to the table) for each entry of the piece directory."""
        if self.piece_directory is None:
            return
        data, where = self.block(self.piece_directory, "piece directory")
        cursor, first, end = Cursor(data, where), 0, 0
        cursor.refuse(not data, "it has no entries")
        while cursor.left():
            blocks, gap, size = cursor.vint(64), cursor.vint(64), cursor.vint(32)
            first, table = first + blocks, Message(offset=end + gap, size=size)
            cursor.refuse(not blocks or first < end or table.offset <= first or not size, "the blocks and tables do not ascend")
            end = table.offset + size
            cursor.refuse(end > self.piece_directory.offset, "a table does not lie before the directory")
            yield first, table

    def pieces(self, table):
        """Yields the records of a piece table."""
        data, where = self.block(table, "piece table")
        cursor = Cursor(data, where)
        while cursor.left():
            yield piece_record(cursor)

    def piece_values(self, record, piece):
        """Reads one piece of a block. Returns its values."""
        cursor, where = self.stored(record.block, "data block")
        data = cursor.take(record.block.size)[piece.begin:piece.begin + piece.size]
        refuse(crc32c(data) != piece.crc, where, f"the checksum of the piece from row {piece.first} on is wrong")
        body = Cursor(piece.front + data + piece.back, where)
        if record.encoding < 100:
            count, first, values = _kudu_block(body, self.column, record.encoding)
            body.refuse((count, first) != (piece.rows, 0), "the body of a piece has another count or first ordinal")
        else:
            values = parquet_page(record.encoding, body, piece.rows, self.column.shape, self.column.dictionary)
        return values

    def seek_key_in_piece(self, wanted):
        """As seek_key, but reads a piece of the block. None if the block has no pieces, or if the value is not in this piece."""
        pointer, memcmp = self._descend("value", wanted), self.column.shape.memcmp
        tables = [table for first, table in self.piece_tables() if pointer and first <= pointer.offset]
        for record in self.pieces(tables[-1]) if tables else ():
            if record.block == pointer:
                smaller = [piece for piece in record.pieces if piece.key < wanted] or record.pieces[:1]
                values = self.piece_values(record, smaller[-1])
                i = bisect.bisect_left(values, wanted, key=memcmp)
                return (record.first + smaller[-1].first + i, memcmp(values[i]) == wanted) if i < len(values) else None
        return None

    # -- contents

    def is_bloom(self):
        """True for Kudu's Bloom filter files. They have 0 values, and only a value index; each of its blocks holds a filter."""
        return self.num_values == 0 and not self.footer.posidx_info and bool(self.root("value")) and bool(self.leaves("value"))

    def bloom_filters(self):
        """Yields (first key, number of hash functions, bits) of each block of a Bloom filter file."""
        for key, pointer in self.leaves("value"):
            data, where = self.block(pointer, "Bloom filter")
            cursor = Cursor(data, where)
            header = parse("BloomHeader", cursor.take(cursor.fixed32()), where)
            yield key, header.num_hash_functions or 0, cursor.rest()

    def blocks(self):
        """Yields all data blocks in order. Each must begin at the row where the block before it ends."""
        if self.is_bloom():
            return
        by = "ordinal" if self.root("ordinal") or not self.root("value") else "value"
        row = entries = 0
        for key, pointer in self.leaves(by) if self.root(by) else ():
            refuse(by == "ordinal" and key != row, self.name, f"a block begins at row {key}, but the one before it ends at {row}")
            block = self.data_block(pointer, row)
            row, entries = row + len(block.rows), entries + len(block.values) + block.nulls
            yield block
        whole = row == self.num_values and self.num_entries in (None, entries)
        refuse(not whole, self.name, f"{row} rows of {entries} entries are not what the footer says")

    def rows(self):
        for block in self.blocks():
            yield from block.rows

    def statistics(self):
        extensions = self.footer.extensions or Message()
        if not (self.footer.compatible_features or 0) & 1 or not extensions.statistics:
            return None
        data, where = self.block(extensions.statistics, "statistics")
        statistics = parse("Statistics", data, where)
        counts = statistics.file or Message()
        total = (counts.present_count or 0) + (counts.null_count or 0)
        expected = self.num_entries if self.column.levels else self.num_values
        refuse(total != expected and not self.column.array, where, f"they count {total} rows or entries")
        return statistics

# ---------------------------------------------------------------- statistics and their Bloom filter

SALTS = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31]

def kudu_bloom_has(functions, bits, key):
    """True if a key may be in this Bloom filter of Kudu. ValueError for keys of more than 32 bytes."""
    h = kudu_hash(key)
    places = ((h + k * (h >> 32) & 0xFFFFFFFF) % (8 * len(bits)) for k in range(functions))
    return all(bits[place >> 3] >> (place & 7) & 1 for place in places)

class SplitBlockBloom:
    def __init__(self, data, where="Bloom filter"):
        refuse(not data or len(data) % 32, where, f"{len(data)} bytes are no blocks of 32")
        self.words = struct.unpack(f"<{len(data) // 4}I", data)

    def has(self, data):
        """True if a value may be in the filter. `data`: the value as to_parquet_plain() returns it."""
        h = xxh64(data)
        block = (h >> 32) * (len(self.words) // 8) >> 32
        x = h & 0xFFFFFFFF
        return all(self.words[8 * block + i] >> ((x * salt & 0xFFFFFFFF) >> 27) & 1 for i, salt in enumerate(SALTS))

# ---------------------------------------------------------------- tables

REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
PLAIN_GROUP, LIST, MAP = 0, 1, 2
NULLABLE_KEYS, CHUNKS, COLUMN_IDS, METADATA, PACKED = 2, 4, 8, 32, 512  # bits of a table's incompatible_features
MERGE_RULE, DELETED_COLUMN, TIME_COLUMN = 1024, 2048, 4096
TABLE_BITS = NULLABLE_KEYS | CHUNKS | COLUMN_IDS | METADATA | PACKED | MERGE_RULE | DELETED_COLUMN | TIME_COLUMN
PACKED_FILE = b"columns.packed"
MAX_HEIGHT = 8  # of a chunk

class Node:
    """A node of a schema: a leaf, or a group with children."""

    def __init__(self, name, repetition=REQUIRED, children=(), kind=PLAIN_GROUP, column=None):
        self.name, self.repetition, self.children, self.kind, self.column = name, repetition, children, kind, column

    def number(self, repetitions=0, definitions=0):
        """Sets the maximum repetition and definition levels, and the leaves, of this node and all below. Returns the leaves."""
        self.repetitions = repetitions + (self.repetition == REPEATED)
        self.definitions = definitions + (self.repetition != REQUIRED)
        below = [leaf for child in self.children for leaf in child.number(self.repetitions, self.definitions)]
        self.leaves = below if self.children else [self]
        return self.leaves

def assemble(node, entries, where):
    """Makes a group, or the value of a leaf, from the entries of its leaves: {leaf: [(repetition, definition, value), ...]}.

    A group is a dict. A missing field is None; a REPEATED field is a list.
    """
    if not node.children:
        [column] = entries.values()
        refuse(len(column) != 1 or column[0][1] < node.definitions, where, f"the entries of {node.name!r} do not make one value")
        return column[0][2]
    record = {}
    for child in node.children:
        mine = {leaf: entries[leaf] for leaf in child.leaves}
        there = {column[0][1] >= child.definitions for column in mine.values()}
        refuse(len(there) > 1, where, f"the leaves of {child.name!r} do not agree whether it is there")
        if there == {False}:
            refuse(child.repetition == REQUIRED or any(len(column) > 1 for column in mine.values()), where,
                   f"{child.name!r} is not there, but it is REQUIRED or has more than one entry")
            record[child.name] = [] if child.repetition == REPEATED else None
        elif child.repetition == REPEATED:
            record[child.name] = [assemble(child, instance, where) for instance in _instances(child, mine, where)]
        else:
            record[child.name] = assemble(child, mine, where)
    return record

def _instances(child, mine, where):
    """Divides the entries of a REPEATED node into those of each occurrence."""
    divided = []
    for column in mine.values():
        starts = [i for i, entry in enumerate(column) if i == 0 or entry[0] <= child.repetitions]
        divided.append([column[a:b] for a, b in zip(starts, starts[1:] + [len(column)])])
    refuse(len({len(pieces) for pieces in divided}) > 1, where, f"the leaves of {child.name!r} do not agree how often it is there")
    return [dict(zip(mine, pieces)) for pieces in zip(*divided)]

def pretty(node, value, convert):
    """Returns a record with each value converted, a LIST as a list, and a MAP as a list of pairs."""
    if value is None or not node.children:
        return None if value is None else convert(node, value)
    out = {}
    for child in node.children:
        part = value[child.name]
        many = child.repetition == REPEATED
        out[child.name] = [pretty(child, item, convert) for item in part] if many else pretty(child, part, convert)
    if node.kind == PLAIN_GROUP:
        return out
    [items], [repeated] = out.values(), node.children
    if node.kind == MAP:
        return [list(item.values()) for item in items]
    bare = len(repeated.children) != 1 or repeated.kind != PLAIN_GROUP or repeated.name in ("array", node.name + "_tuple")
    return items if bare else [list(item.values())[0] for item in items]

def compound_key(values, shapes, nulls=None):
    """The values of a row in several columns as one string. The order of these strings is the order of the rows.

    nulls: for each column, the byte of a null, or None if the column is not nullable."""
    forms = []
    for i, (value, shape, null) in enumerate(zip(values, shapes, nulls or [None] * len(shapes))):
        form = null if value is None else shape.memcmp(value)
        if value is not None and shape.kind == "bytes" and i + 1 < len(shapes):
            form = form.replace(b"\0", b"\0\1") + b"\0\0"
        forms.append(b"\1" + form if value is not None and null is not None else form)
    return b"".join(forms)

def unseal(data, magics, where):
    """Returns the magic and the message of table.cft, a chunk or a copy."""
    cursor = Cursor(data, where)
    magic = cursor.take(8)
    cursor.refuse(magic not in magics, f"the magic {magic} is none of {magics}")
    body = cursor.take(cursor.fixed32())
    cursor.refuse(cursor.fixed32() != crc32c(cursor.data[:12 + len(body)]), "the checksum is wrong")
    cursor.done("the checksum")
    return magic, body

def plain_path(folder, *names):
    """The path of a file of a table. The names come from a message."""
    names = [(name or b"").decode("utf-8", "surrogateescape") for name in names]
    plain = not any(name in ("", ".", "..") or "/" in name or "\0" in name for name in names)
    refuse(not plain, folder, f"{names} are no plain names")
    return os.path.join(folder, *names)

def path_of(folder, part, entry):
    """The path of the file that has the column."""
    return plain_path(folder, part.directory, PACKED_FILE if entry.packed_end else entry.file_name)

def packed_columns(data, path):
    """The columns of a packed file by name: where their bytes begin and end."""
    refuse(data[-8:] != b"cfilepk1", path, "this is no packed file")
    cursor = Cursor(data, path, max(len(data) - 12, 0))
    start = len(data) - 12 - cursor.fixed32()
    refuse(start < 0, path, f"the directory begins {-start} bytes before the file")
    message = parse("PackedFile", unseal(data[start:-12], (b"cfilepk1",), path)[1], path)
    columns, end = {}, 0
    for column in message.columns:
        name, begin = column.file_name or b"", -(-end // 64) * 64
        end = begin + (column.size_bytes or 0)
        plain_path(path, name)
        legal = name not in columns and begin < end
        refuse(not legal, path, f"the column {name} is empty or stands twice")
        columns[name] = begin, end
    refuse(end != start, path, f"the columns end at {end}, the directory begins at {start}")
    return columns

def read_file(path):
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        raise Damage(path, "the file is missing") from None

class Table:
    """An open table. parts: all parts, in the order of the rows. In each part, `columns` has one message for each leaf, then one for
    the compound keys; None if the part lacks the column. `by_id` has the messages of all columns, also of those that the schema no
    longer has. chunks: (message, parts below it) for each chunk."""

    def __init__(self, path, data=None, name="table.cft"):
        self.path, where = path, os.path.join(path, name)
        magic, body = unseal(read_file(where) if data is None else data, (b"cfiletb1", b"cfiletb2"), where)
        self.message = parse("Table", body, where)
        bits = self.message.incompatible_features or 0
        refuse((magic == b"cfiletb2") != (bits != 0), where, f"the magic does not fit the feature bits {bits:x}")
        unknown = bits & ~TABLE_BITS
        if unknown:
            raise Unsupported(where, f"incompatible feature bits {unknown:x} are not known")
        self.root = root = self._node(self.message.schema or Message(), where, 0)
        self.leaves, self.keys = root.number(), self.message.key_columns
        self.flat = not root.name and not any(node.children or node.repetition == REPEATED for node in root.children)
        legal = root.children and root.repetition == REQUIRED and root.kind == PLAIN_GROUP
        refuse(not legal, where, "the root is not a REQUIRED group of kind PLAIN")
        can = {i for i, leaf in enumerate(self.leaves)
               if not leaf.repetitions and leaf.definitions < 2 and leaf.shape.name != "INT96"}
        refuse(len(set(self.keys) & can) != len(self.keys), where, "a key column is none of the leaves, stands twice, has levels or is INT96")
        nullable = {i for i in self.keys if self.leaves[i].definitions}
        refuse(nullable and not bits & NULLABLE_KEYS, where, "a key column is nullable, but the feature bit is not set")
        last = self.message.nulls_last
        refuse(len(set(last) & nullable) != len(last), where, "nulls_last names no nullable key column, or one twice")
        self._check_rule(bits, where)
        self.key_nulls = [(b"\2" if i in last else b"\0") if i in nullable else None for i in self.keys]
        self.by_id = bits & COLUMN_IDS
        self._set_ids(where)
        refuse(bool(self.message.chunks) != bool(bits & CHUNKS), where, "there are chunks without the feature bit, or the bit without chunks")
        refuse(bool(self.message.metadata) != bool(bits & METADATA), where, "there is metadata without the feature bit, or the bit without it")
        heights = [chunk.height or 0 for chunk in self.message.chunks]
        refuse(heights != sorted(heights, reverse=True), where, "the heights of the chunks increase")
        self.chunks, self.parts, self._seen = [], [], set()
        for chunk in self.message.chunks:
            self.parts += self._chunk(chunk, where)
        self.parts += [self._part(part, where) for part in self.message.parts]
        newer = 3 if bits or self.message.sequence else 2
        self.oldest_reader = self.message.oldest_reader or newer  # 1: Kudu, 2: version 0.1, 3: version 0.2
        if bits:
            self.oldest_reader = max(self.oldest_reader, 3)
        rows = sum(part.num_rows or 0 for part in self.parts)
        refuse(rows > 1 << 62 or len(self.parts) > 1 << 32, where, f"{len(self.parts)} parts with {rows} rows are too many")

    def _set_ids(self, where):
        """Sets the ids of the leaves and, after them, of the compound keys."""
        message, count = self.message, len(self.leaves)
        given = [message.next_column_id, message.key_index_id] + [v for leaf in self.leaves for v in (leaf.column_id, leaf.default)]
        refuse(not self.by_id and any(v is not None for v in given), where, "there are ids or defaults, but the feature bit is not set")
        self.ids = [i if leaf.column_id is None else leaf.column_id for i, leaf in enumerate(self.leaves)]
        if self.keys:
            self.ids.append(count if message.key_index_id is None else message.key_index_id)
        self.next_id = (message.next_column_id or 0) if self.by_id else len(self.ids)
        legal = len(set(self.ids)) == len(self.ids) and all(i < self.next_id for i in self.ids)
        refuse(not legal, where, f"the ids {self.ids} are not different numbers below {self.next_id}")
        for leaf in self.leaves:
            leaf.has_levels = leaf.repetitions > 0 or leaf.definitions > 1
            if leaf.default is not None:
                refuse(leaf.has_levels, where, f"{leaf.name!r} has levels and a default")
                leaf.default = leaf.shape.from_memcmp(leaf.default, f"{where}, default of {leaf.name!r}")

    def _part(self, part, where):
        """Checks a part. Puts its columns into the order of the schema."""
        where = f"{where}, part {part.directory}"
        ends = part.packed_ends
        refuse(ends and len(ends) != len(part.columns), where, f"{len(ends)} ends in the packed file do not fit {len(part.columns)} columns")
        refuse(any(ends) and not (self.message.incompatible_features or 0) & PACKED, where, "the part is packed, but the feature bit is not set")
        for column, end in zip(part.columns, ends):
            fits = not end or (column.size_bytes or 0) <= end <= (part.packed_size_bytes or 0)
            refuse(not fits, where, f"{column.file_name} cannot end at {end} of {part.packed_size_bytes} bytes")
            column["packed_end"] = end
        ids = [i if column.column_id is None else column.column_id for i, column in enumerate(part.columns)]
        refuse(not self.by_id and (ids != self.ids or any(column.column_id is not None for column in part.columns)), where,
               f"{len(ids)} columns or their ids are not those of the schema")
        refuse(any(i >= self.next_id for i in ids), where, f"the ids {ids} are not below {self.next_id}")
        known = [i for i in ids if i in self.ids]
        refuse(len(set(known)) != len(known), where, f"an id stands twice in {ids}")
        part["by_id"] = dict(zip(ids, part.columns))
        part["columns"] = [part.by_id.get(i) for i in self.ids]
        for leaf, entry in itertools.zip_longest(self.leaves, part.columns):
            if entry is None:
                has_rows = leaf and (leaf.default is not None or leaf.has_levels or leaf.definitions)
                refuse(not has_rows, where, f"the column {leaf.name if leaf else 'of compound keys'!r} is missing")
                continue
            nulls, rows = entry.null_count or 0, part.num_rows or 0
            nans = entry.nan_count or 0 if entry.min_key is None else 0
            can = leaf and (leaf.has_levels or leaf.definitions)
            legal = (entry.num_values or 0) == rows < 1 << 32 and (can or not nulls)
            legal = legal and (leaf and leaf.has_levels or nulls + nans <= rows)
            legal = legal and (entry.min_key is None) == (entry.max_key is None)
            bounds = (entry.lower_bound, entry.upper_bound) if entry.min_key is None else (None, None)  # else ignored
            for low, high in ((entry.min_key, entry.max_key), bounds):
                legal = legal and (low is None or high is None or low <= high)
            legal = legal and (not nans or leaf and leaf.shape.kind == "float")
            refuse(not legal, where, f"the counts or bounds of {entry.file_name} do not fit")
        return part

    def _chunk(self, chunk, where):
        """Returns the parts below a chunk."""
        name, height = chunk.file_name or b"", chunk.height or 0
        digits = name[6:-4]
        legal = name == b"chunk-" + digits + b".cft" and len(digits) == 32 and not digits.strip(b"0123456789abcdef")
        refuse(not legal or name in self._seen, where, f"the name {name} of a chunk is not legal, or stands twice")
        refuse(height > MAX_HEIGHT, where, f"the height {height} of a chunk is above {MAX_HEIGHT}")
        self._seen.add(name)
        path = plain_path(self.path, name)
        data = read_file(path)
        fits = len(data) == (chunk.size_bytes or 0) and int.from_bytes(data[-4:], "little") == (chunk.crc32c or 0)
        refuse(not fits, path, "the chunk has another size or checksum than the file that names it says")
        contents = parse("ChunkContents", unseal(data, (b"cfilech1",), path)[1], path)
        heights = {below.height or 0 for below in contents.chunks}
        legal = not contents.parts and heights == {height - 1} if height else not contents.chunks
        refuse(not legal, path, f"a chunk of height {height} has other entries than it should have")
        parts = [self._part(part, path) for part in contents.parts]
        for below in contents.chunks:
            parts += self._chunk(below, path)
        totals = (len(parts), sum(part.num_rows or 0 for part in parts))
        refuse(totals != (chunk.num_parts or 0, chunk.num_rows or 0) or not parts, path, f"the totals {totals} are not those that are stated")
        for column in chunk.columns:
            self._check_chunk_column(column, totals[1], path)
        self.chunks.append((chunk, parts))
        return parts

    def _check_chunk_column(self, column, rows, where):
        number = column.column_id or 0
        refuse(number >= self.next_id, where, f"the id {number} of statistics is not below {self.next_id}")
        i, statistics = self.column_of(number), column.statistics or Message()
        if i is None:
            return
        leaf = self.leaves[i] if i < len(self.leaves) else None
        counts = (statistics.present_count or 0) + (statistics.null_count or 0)
        bounds = [(statistics.min_key, statistics.min_inexact), (statistics.max_key, statistics.max_inexact)]
        legal = counts == rows and not (leaf and leaf.repetitions)
        legal = legal and all(bound is None or inexact and len(bound) <= 64 for bound, inexact in bounds)
        refuse(not legal, where, f"the statistics of column id {number} are not legal")

    def _check_rule(self, bits, where):
        rule = self.message.merge_rule
        bounded = rule or Message()
        fits = (rule is not None) == bool(bits & MERGE_RULE)
        for number, bit, shapes in ((bounded.deleted_column, DELETED_COLUMN, (("bool", False),)),
                                    (bounded.time_column, TIME_COLUMN, (("int4", True), ("int8", True)))):
            fits = fits and (number is not None) == bool(bits & bit)
            if fits and number is not None:
                leaf = self.leaves[number] if number < len(self.leaves) else None
                fits = leaf and not leaf.repetitions and leaf.definitions < 2 and number not in self.keys and (leaf.shape.kind + str(leaf.shape.size or ""), leaf.shape.signed) in shapes
        fits = fits and (bounded.time_bound is None or bounded.time_column is not None)
        if fits and rule is not None:
            fits = self.keys and not any(self.leaves[i].shape.name in ("FLOAT", "DOUBLE") for i in self.keys)
        refuse(not fits, where, "the merge rule does not fit the feature bits or the columns")

    def _is_gone(self, row):
        rule = self.message.merge_rule
        time = row[rule.time_column] if rule.time_bound is not None else None
        return rule.deleted_column is not None and row[rule.deleted_column] or time is not None and time < rule.time_bound

    def _node(self, message, where, depth):
        name, column = (message.name or b"").decode("utf-8", "surrogateescape"), message.column or Message()
        if depth > MAX_DEPTH:
            raise Limit(where, f"more than {MAX_DEPTH} nodes lie below each other")
        children = [self._node(child, where, depth + 1) for child in message.children]
        node = Node(name, message.repetition or 0, children, message.kind or 0, column)
        refuse(depth and not name or len({child.name for child in children}) != len(children), where,
               f"a name below {name!r} is empty or stands twice")
        if not children:
            number = number_of(column.type or 0, (column.extensions or Message()).data_type, None, where, "type")
            node.shape = shape_of(number, column.extensions, where)
            node.column_id, node.default = message.column_id, message.default_value
        wraps = len(children) == 1 and children[0].repetition == REPEATED
        refuse(node.kind != PLAIN_GROUP and not wraps, where, f"LIST or MAP {name!r} has not one REPEATED child")
        pair = children[0].children if node.kind == MAP else ()
        is_pair = len(pair) == 2 and not pair[0].children and pair[0].repetition == REQUIRED
        refuse(node.kind == MAP and not is_pair, where, f"MAP {name!r} has no pairs of a REQUIRED key and a value")
        return node

    def files(self, part):
        """The CFiles of a part, one for each leaf. The last one is that of the compound keys, if the table has them. None: the part
        lacks the column."""
        out = []
        for leaf, entry in itertools.zip_longest(self.leaves, part.columns):
            if entry is None:
                out.append(None)
                continue
            data, path = self._bytes(part, entry)
            file = CFile(data, path)
            fits = file.num_values == (part.num_rows or 0) and (entry.size_bytes or 0) == len(file.data)
            refuse(not fits, path, "the file has another size or number of rows than table.cft says")
            if leaf:
                self._check_column(leaf, file)
            out.append(file)
        return out

    def _bytes(self, part, entry):
        """The bytes of a column's CFile, and a name for them."""
        path = path_of(self.path, part, entry)
        data = read_file(path)
        if not entry.packed_end:
            return data, path
        refuse(len(data) != part.packed_size_bytes, path, f"{len(data)} bytes are not the {part.packed_size_bytes} of table.cft")
        begin, end = packed_columns(data, path).get(entry.file_name, (0, 0))
        where = os.path.join(path, os.fsdecode(entry.file_name))
        refuse((end, end - begin) != (entry.packed_end, entry.size_bytes or 0), where, f"its bytes {begin} to {end} are not those of table.cft")
        return data[begin:end], where

    def _check_column(self, leaf, file):
        same = (leaf.shape.name, leaf.shape.size) == (file.column.shape.name, file.column.shape.size)
        refuse(not same, file.name, "the file has another type than the schema")
        flat = leaf.repetitions == 0 and leaf.definitions < 2
        fits = file.column.levels == (None if flat else (leaf.repetitions, leaf.definitions))
        fits = fits and file.column.nullable == (leaf.definitions > 0)
        refuse(not fits, file.name, "the file has other levels, or other nulls, than the schema")

    def column_of(self, number):
        """The position of the column with this id among `columns` of a part; None if the schema does not have it."""
        return self.ids.index(number) if number in self.ids else None

    def rows(self):
        """Yields rows as dicts of raw values, as assemble() returns them. With a merge rule, only those that count."""
        newest = {}
        if self.message.merge_rule is not None:
            for part in self.parts:
                newest.update((key, (part.directory, i)) for i, key in enumerate(self.files(part)[-1].rows()))
        for part in self.parts:
            kept = {i for folder, i in newest.values() if folder == part.directory}
            for i, row in enumerate(zip(*self.columns(part))):
                if self.message.merge_rule is not None and (i not in kept or self._is_gone(row)):
                    continue
                entries = {}
                for leaf, value in zip(self.leaves, row):
                    entries[leaf] = value if leaf.has_levels else [(0, 0 if value is None else leaf.definitions, value)]
                yield assemble(self.root, entries, self.path)

    def columns(self, part):
        """The rows of each leaf column of a part: for each leaf an iterator."""
        lacking = lambda leaf: [(0, 0, None)] if leaf.has_levels else leaf.default
        return [file.rows() if file else itertools.repeat(lacking(leaf), part.num_rows or 0)
                for leaf, file in zip(self.leaves, self.files(part))]

# ---------------------------------------------------------------- repair

def rebuild(path):
    """Finds out what a lost table.cft said: returns the newest copy, as a Table, and the descriptions of the parts in order."""
    copies, marks = {}, {}  # by folder
    attempts, took_place, last = {}, {}, {}  # the times of the files of each attempt to commit; numbers of commits by sequence
    for folder in sorted(os.listdir(path)):
        inside = os.path.join(path, folder)
        for name in sorted(os.listdir(inside)) if os.path.isdir(inside) else ():
            match = re.fullmatch(r"(part|dropped)-(\d+)-([0-9a-f]{16})(\.cft)?", name)
            if not match or bool(match[4]) != (match[1] == "part"):
                if name == "dropped":
                    marks.setdefault(folder, []).append(None)
                continue
            tag = int(match[2]), int(match[3], 16)
            file = os.path.join(inside, name)
            attempts[tag] = max(attempts.get(tag, 0), os.stat(file).st_mtime_ns)
            if match[1] == "dropped":
                marks.setdefault(folder, []).append(tag)
                continue
            copy = Table(path, read_file(file), os.path.join(folder, name))
            [part], ids = copy.parts, copy.message.commit_ids
            same = (copy.message.sequence, ids[:1], part.directory) == (tag[0], [tag[1]], os.fsencode(folder))
            refuse(not same, file, "this is not the copy of this part and this commit")
            copies.setdefault(folder, []).append((tag, copy))
            took_place.update((tag[0] - i, number) for i, number in enumerate(ids) if i)
    for tag in sorted(attempts, key=attempts.get):  # the newest attempt counts
        last[tag[0]] = tag[1]
    copied = {tag for found in copies.values() for tag, _ in found}
    highest = max(copied, default=(0,))[0]
    interrupted = lambda tag: tag not in copied and tag[0] >= highest  # a power cut has kept marks, but no copy
    counts = lambda tag: took_place.get(tag[0], last[tag[0]]) == tag[1] and not interrupted(tag)
    newest = max(((tag, copy) for found in copies.values() for tag, copy in found if counts(tag)), key=lambda found: found[0], default=None)
    refuse(newest is None, path, "no part has a copy of the schema")
    replaced = {}
    for tag, copy in itertools.chain(*copies.values()):
        for folder in copy.message.replaced:
            replaced.setdefault(os.fsdecode(folder), []).append(tag)
    parts = []
    for folder, found in copies.items():
        described = max(tag[0] for tag, _ in found)
        gone = [tag for tag in marks.get(folder, []) + replaced.get(folder, []) if tag is None or tag[0] >= described and counts(tag)]
        whole = lambda part: all(os.path.exists(path_of(path, part, entry)) for entry in part.columns if entry)
        mine = [(whole(copy.parts[0]), tag[0], copy) for tag, copy in found if counts(tag)]
        if mine and not gone:
            parts.append(max(mine, key=lambda copy: copy[:2])[2].parts[0])
    return newest[1], sorted(parts, key=lambda part: part.order)

# ---------------------------------------------------------------- output

def present(shape, value, extensions=None):
    """Converts a raw value to JSON."""
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

def main(path):
    if os.path.isdir(path):
        table = Table(path)
        for row in table.rows():
            print(json.dumps(pretty(table.root, row, lambda leaf, value: present(leaf.shape, value, leaf.column.extensions))))
        return
    with open(path, "rb") as stream:
        file = CFile(stream.read(), path)
    extensions, shape, levels = file.footer.extensions, file.column.shape, file.column.levels
    for row in file.rows():
        if isinstance(row, list):
            row = [(*v[:2], present(shape, v[2], extensions)) if levels else present(shape, v, extensions) for v in row]
        else:
            row = present(shape, row, extensions)
        print(json.dumps(row))

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except Refused as refused:
        sys.exit(f"{type(refused).__name__}: {refused}")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader of the output has closed the pipe: no error
