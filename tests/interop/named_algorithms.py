"""The algorithms that cfile/FORMAT.md names: CRC32C, XXH64, CityHash64, Snappy, LZ4, zlib, GZIP, Zstandard, Brotli.

A decompressor takes the compressed bytes and the exact size after decompression. It raises ValueError or IndexError if the bytes
are damaged, and Missing if a module is not installed (Debian's python3-zstandard and python3-brotli).
"""
import io
import os
import struct
import sys
import zlib

try:
    import brotli
    import zstandard
except ImportError:  # only Debian's interpreter finds Debian's modules: run the program again with it
    _DEBIAN = "/usr/bin/python3"
    if os.path.exists(_DEBIAN) and os.path.realpath(sys.executable) != os.path.realpath(_DEBIAN) and os.path.isfile(sys.argv[0]):
        os.execv(_DEBIAN, [_DEBIAN, *sys.argv])
    brotli = zstandard = None


class Missing(Exception):
    pass


# ---------------------------------------------------------------- CRC32C, XXH64


def _crc_tables():
    one = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        one.append(byte)
    return one, [one[(one[low] ^ high) & 255] ^ (one[low] >> 8) for high in range(256) for low in range(256)]


_CRC1, _CRC2 = _crc_tables()  # by byte, by pair of bytes


def crc32c(data):
    crc, table = 0xFFFFFFFF, _CRC2
    for pair in struct.unpack_from(f"<{len(data) // 2}H", data):
        crc = table[(crc ^ pair) & 0xFFFF] ^ (crc >> 16)
    if len(data) % 2:
        crc = _CRC1[(crc ^ data[-1]) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


_M64 = (1 << 64) - 1
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def _rotate(x, n):
    return ((x << n) | (x >> (64 - n))) & _M64


def xxh64(data):
    """XXH64 with seed 0."""
    size, pos, h = len(data), 0, _P5
    if size >= 32:
        lanes = [(_P1 + _P2) & _M64, _P2, 0, -_P1 & _M64]
        while pos + 32 <= size:
            for i, word in enumerate(struct.unpack_from("<4Q", data, pos)):
                lanes[i] = _rotate((lanes[i] + word * _P2) & _M64, 31) * _P1 & _M64
            pos += 32
        h = sum(_rotate(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & _M64
        for lane in lanes:
            h = ((h ^ _rotate(lane * _P2 & _M64, 31) * _P1 & _M64) * _P1 + _P4) & _M64
    h = (h + size) & _M64
    while pos + 8 <= size:
        word = int.from_bytes(data[pos:pos + 8], "little")
        h = (_rotate(h ^ _rotate(word * _P2 & _M64, 31) * _P1 & _M64, 27) * _P1 + _P4) & _M64
        pos += 8
    if pos + 4 <= size:
        h = (_rotate(h ^ int.from_bytes(data[pos:pos + 4], "little") * _P1 & _M64, 23) * _P2 + _P3) & _M64
        pos += 4
    for byte in data[pos:]:
        h = _rotate(h ^ byte * _P5 & _M64, 11) * _P1 & _M64
    h = (h ^ (h >> 33)) * _P2 & _M64
    h = (h ^ (h >> 29)) * _P3 & _M64
    return h ^ (h >> 32)


_K0, _K1, _K2, _K3 = 0xA5B85C5E198ED849, 0x8D58AC26AFE12E47, 0xC47B6E9E3A970ED3, 0xC70F6907E782AA0B


def _mix(u, v):
    multiplier = 0xC6A4A7935BD1E995
    a = (u ^ v) * multiplier & _M64
    a ^= a >> 47
    b = (u ^ a) * multiplier & _M64
    b ^= b >> 47
    return b * multiplier & _M64


def kudu_hash(s):
    """The hash of Kudu's Bloom filters for at most 32 bytes: CityHash64 of release 1.0 with Kudu's own constants."""
    def f(size, at):
        return int.from_bytes(s[at:at + size], "little")

    def rot(x, by):
        return _rotate(x & _M64, 64 - by)

    n = len(s)
    if n > 32:
        raise ValueError("only keys of up to 32 bytes are hashed")
    if n == 0:
        return _K2
    if n <= 3:
        x = ((s[0] + (s[n >> 1] << 8)) * _K2 ^ (n + (s[n - 1] << 2)) * _K3) & _M64
        return (x ^ x >> 47) * _K2 & _M64
    if n <= 8:
        return _mix(n + (f(4, 0) << 3), f(4, n - 4))
    if n <= 16:
        return _mix(f(8, 0), rot(f(8, n - 8) + n, n)) ^ f(8, n - 8)
    a, b, c, d = f(8, 0) * _K1, f(8, 8), f(8, n - 8) * _K2, f(8, n - 16) * _K0
    return _mix(rot(a - b, 43) + rot(c, 30) + d & _M64, a + rot(b ^ _K3, 20) - c + n & _M64)


# ---------------------------------------------------------------- LZ4 and Snappy


def _literals(out, data, pos, length, size):
    if pos + length > len(data) or len(out) + length > size:
        raise ValueError("literals are cut off, or more than there is room for")
    out += data[pos:pos + length]
    return pos + length


def _copy(out, distance, length, size):
    """Appends a copy of the `length` bytes that begin `distance` before the end of `out`. They may overlap the copy."""
    if not 0 < distance <= len(out) or len(out) + length > size:
        raise ValueError("a copy lies outside of the block")
    start = len(out) - distance
    piece = out[start:start + length]
    out += piece if distance >= length else (piece * (length // distance + 1))[:length]


def lz4_block(data, size):
    """Decompresses one raw block, without framing. Its last sequence has literals only."""
    out, pos = bytearray(), 0
    while True:
        token, pos = data[pos], pos + 1
        length = token >> 4
        while length >= 15:  # more bytes of the length follow, up to one that is not 255
            length, pos = length + data[pos], pos + 1
            if data[pos - 1] != 255:
                break
        pos = _literals(out, data, pos, length, size)
        if pos == len(data):
            break
        distance, pos = data[pos] | data[pos + 1] << 8, pos + 2
        length = token & 15
        while length >= 15:
            length, pos = length + data[pos], pos + 1
            if data[pos - 1] != 255:
                break
        _copy(out, distance, length + 4, size)
    if len(out) != size:
        raise ValueError(f"LZ4 makes {len(out)} bytes and not {size}")
    return bytes(out)


def snappy(data, size):
    """Decompresses the raw format: the size as a varint, then literals and copies."""
    out, pos, named = bytearray(), 0, 0
    while True:
        named, pos = named | (data[pos] & 127) << 7 * pos, pos + 1
        if data[pos - 1] < 128 or pos > 5:
            break
    while pos < len(data):
        tag, pos = data[pos], pos + 1
        kind, length = tag & 3, tag >> 2
        if kind == 0:
            if length >= 60:  # the length is in the next 1 to 4 bytes
                length, pos = int.from_bytes(data[pos:pos + length - 59], "little"), pos + length - 59
            pos = _literals(out, data, pos, length + 1, size)
        elif kind == 1:
            _copy(out, tag >> 5 << 8 | data[pos], (length & 7) + 4, size)
            pos += 1
        else:
            width = 2 if kind == 2 else 4
            _copy(out, int.from_bytes(data[pos:pos + width], "little"), length + 1, size)
            pos += width
    if pos != len(data) or not len(out) == size == named:
        raise ValueError(f"Snappy names {named} bytes and makes {len(out)}, not {size}")
    return bytes(out)


# ---------------------------------------------------------------- codecs of modules


def _inflate(data, size, wbits, members):
    """Decompresses zlib (wbits 15) or GZIP (wbits 31). `members`: several GZIP members in a row are allowed."""
    out = b""
    while True:
        stream = zlib.decompressobj(wbits)
        try:
            out += stream.decompress(data, size - len(out) + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from None
        data = stream.unused_data
        if not data or not members:
            break
    if data or not stream.eof or len(out) != size:
        raise ValueError(f"a zlib stream is cut off, followed by bytes, or makes another number of bytes than {size}")
    return out


def zlib_stream(data, size):
    return _inflate(data, size, 15, False)


def gzip(data, size):
    return _inflate(data, size, 31, True)


def zstd(data, size):
    """Decompresses one frame."""
    if zstandard is None:
        raise Missing("the module zstandard")
    try:
        out = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read(size + 1)
        whole = zstandard.ZstdDecompressor().decompressobj()
        if len(out) == size:  # then the whole frame is not too large to decompress at once
            whole.decompress(data)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if len(out) != size or not whole.eof or whole.unused_data:
        raise ValueError(f"a Zstandard frame is cut off, followed by bytes, or makes another number of bytes than {size}")
    return out


def brotli_stream(data, size):
    if brotli is None:
        raise Missing("the module brotli")
    try:
        out = brotli.decompress(data)  # an error if the stream is cut off or followed by bytes
    except brotli.error as error:
        raise ValueError(str(error)) from None
    if len(out) != size:
        raise ValueError(f"Brotli makes {len(out)} bytes and not {size}")
    return out
