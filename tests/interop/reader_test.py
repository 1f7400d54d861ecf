#!/usr/bin/env python3
"""Reads every golden file with reader.py, which was written from cfile/FORMAT.md alone, and compares value by value.

    reader_test.py [--import CFILE_IMPORT] [--mint-tables CFILE_MINT_TABLES] [--only KIND]

With --import, also makes tables with cfile-import and compares them with the input. With --mint-tables, also reads new tables of
cfile_mint_tables. Prints how many files of each kind were
read. The exit code is 1 if a test failed. Takes about 20 s of processor time.
"""
import argparse
import bisect
import contextlib
import functools
import gzip
import hashlib
import io
import itertools
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

import reader
from reader import BYTES, TYPES, CFile, Column, Cursor, Node, Refused, Shape
from reader_checks import array_entries, check_copies, check_file, check_table

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GOLDEN = os.path.join(ROOT, "tests", "golden")
FORMAT = os.path.join(ROOT, "cfile", "FORMAT.md")

passed, failed, counts, seconds = 0, 0, {}, {}
bits_read = {"file": 0, "table": 0}  # the incompatible feature bits of the golden files and tables


class Wrong(Exception):
    """The reader returned something else than expected."""


def expect(actual, expected, what):
    if actual != expected:
        raise Wrong(f"{what}: {str(actual)[:200]} should be {str(expected)[:200]}")


def run(kind, name, test, *arguments):
    """Runs a test and counts it. The test returns the number of values that it compared."""
    global passed, failed
    start = time.process_time()
    try:
        values = test(*arguments) or 0
    except (Refused, Wrong) as error:
        failed += 1
        print(f"FAILED {kind} {name}: {error}")
    except Exception as error:  # an error in the reader itself
        failed += 1
        print(f"FAILED {kind} {name}: {type(error).__name__}: {error}")
    else:
        passed += 1
        count = counts.setdefault(kind, [0, 0])
        count[0], count[1] = count[0] + 1, count[1] + values
    seconds[kind] = seconds.get(kind, 0) + time.process_time() - start


def read(path):
    with open(path, "rb") as file:
        return file.read()


def load(path):
    return json.loads(read(path))


# ---------------------------------------------------------------- folders of CFiles with a manifest: kudu, cfile, cfile-0.2

NAMES = {shape.name: number for number, shape in TYPES.items()}


def float_bits(shape, value):
    """The reader's raw value of a float or double."""
    return int.from_bytes(struct.pack("<f" if shape.size == 4 else "<d", value), "little")


# The numbers of the encodings, from the tables of FORMAT.md.
OUR_ENCODINGS = {name: int(number) for number, name in
                 re.findall(r"^\| (\d+) \| [A-Z_0-9]+ \| `([a-z0-9-]+)` \|", read(FORMAT).decode(), re.M)}
# A new encoding is not read until reader.py has a decoder of it.
UNREAD = [name for name, number in OUR_ENCODINGS.items() if number not in {**reader.KUDU, **reader.PARQUET, **reader.OWN}]
OUR_CODECS = {"none": 1, "snappy": 2, "lz4": 3, "zlib": 4, "gzip": 102, "brotli": 104, "zstd": 106}


def probe_trees(file, values):
    """Seeks with both indexes: by ordinal; by the keys of values, and by keys between and beyond them."""
    count = len(values)
    places = sorted({0, 1, count // 3, count // 2, count - 2, count - 1} & set(range(count)))
    if file.root("ordinal"):
        for row in places:
            expect(file.seek_ordinal(row), values[row], f"row {row} by ordinal")
    if file.root("value") and count:
        forms = [file.column.shape.memcmp(value) for value in values]
        keys = {forms[row] for row in places}
        for key in keys | {key + b"\0" for key in keys} | {b"", b"\xff" * 40}:
            row = next((i for i, form in enumerate(forms) if form >= key), count)
            expect(file.seek_key(key), (row, row < count and forms[row] == key), f"row by key {key.hex()[:40]}")
            in_piece = file.seek_key_in_piece(key)
            expect(in_piece in (None, file.seek_key(key)), True, f"row by key {key.hex()[:40]}, in a piece")


def bloom_filters(file, about, keys):
    """Compares Kudu's Bloom filters with their description and looks keys up. Returns the number of filters and keys."""
    filters = list(file.bloom_filters())
    for (key, functions, bits), want, (_, pointer) in zip(filters, about["blocks"], file.leaves("value")):
        actual = (key.hex(), pointer.offset, pointer.size, functions, len(bits), bin(int.from_bytes(bits, "little")).count("1"))
        expect(actual, (want["first_index_key"], want["offset"], want["size"], want["num_hash_functions"], want["bits_bytes"],
                        want["ones"]), "filter")
    expect(len(filters), len(about["blocks"]), "filters")
    chosen = [key for key in map(bytes.fromhex, keys[::max(1, len(keys) // 2000)]) if len(key) <= 32]
    for key in chosen:  # the filter of a key is the last one whose first key is not greater
        _, functions, bits = filters[max(0, bisect.bisect_right([first for first, _, _ in filters], key) - 1)]
        expect(reader.kudu_bloom_has(functions, bits, key), True, f"key {key.hex()} in its filter")
    strangers = sum(reader.kudu_bloom_has(functions, bits, b"no key %d" % i) for i in range(300))
    expect(strangers < 15, True, f"{strangers} of 300 keys that are not in a filter are not there")
    return len(filters) + len(chosen)


def check_origin(file, about, blocks):
    """Compares a file with what the tools of Kudu say about it."""
    expect(file.column.shape.name, about["data_type"], "type")
    expect(file.num_values, about["num_values"], "num_values")
    expect(file.footer.incompatible_features or 0, about["incompatible_features"], "incompatible_features")
    metadata = {pair.key.decode(): pair.value.hex() for pair in file.footer.metadata}
    for key, value in about.get("footer_metadata", {}).items():
        if len(value) < 200:
            expect(metadata.get(key), value, f"metadata {key}")
    expect(blocks, about.get("data_blocks", blocks), "data blocks")
    if "dict_entries" in about:
        expect(len(file.column.dictionary), about["dict_entries"], "words in the dictionary")


def printed(path):
    """Returns what reader.py prints for a file or a table."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        reader.main(path)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def first_form(kind, value):
    """Returns a value of a manifest as the golden files of Kudu and of version 0.1 first had it, in a JSON file of its own."""
    if value is None:
        return None
    if kind == "bool":
        return bool(value)
    if kind in ("string", "varchar"):
        return bytes.fromhex(value).decode()
    if kind not in ("float", "double"):
        return value
    code, size = ("<f", 4) if kind == "float" else ("<d", 8)
    number, = struct.unpack(code, value.to_bytes(size, "little"))
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    return float(f"{number:.9g}") if kind == "float" else number


def payloads():
    """Compares the files and what the manifests say about them with the hashes from before the manifests."""
    hashes = dict(reversed(line.split()) for line in read(os.path.join(GOLDEN, "payloads.sha256")).decode().splitlines())
    for folder in ("kudu", "kudu/bloom", "kudu/delta", "cfile"):
        rows, files, _ = manifest_of(folder)
        for about in files:
            run("payloads", about["file"], payload, folder, about, rows[about["rows"]], hashes)
    run("payloads", "all", expect, list(hashes), [], "hashes of other files")


def payload(folder, about, rows, hashes):
    if "origin" in about:
        description = json.dumps(about["origin"], indent=1) + ("\n" if folder == "kudu" else "")
    else:
        description = json.dumps({"num_values": len(rows), "nullable": about["nullable"], "has_validx": about["value_index"],
                                  "encoding": about["encoding"], "compression": about["compression"]}) + "\n"
    name = f"{folder}/{about['file']}"
    values = "".join(json.dumps(first_form(about["type"], value)) + "\n" for value in rows)
    for kind, data in (("cfile", read(os.path.join(GOLDEN, name + ".cfile"))), ("json", description.encode()),
                       ("values", values.encode())):
        expect(hashlib.sha256(data).hexdigest(), hashes.pop(f"{name}.{kind}"), f"hash of {kind}")
    return len(rows)


def output(path, about, rows):
    """Compares what reader.py prints for a golden file with its rows."""
    expect(printed(path), [first_form(about["type"], value) for value in rows], "output")
    return len(rows)


def outputs():
    for name in ("kudu/double_plain_rnd_nn", "kudu/binary_dict_high_n10", "kudu/string_plain_utf_nrun", "kudu/bool_rle_rnd_nn",
                 "kudu/float_bshuf_seq_n10", "kudu/date_rle_vrun_n10", "cfile/double_parquet-dict_zstd_nulls"):
        folder, file = name.split("/")
        rows, files, _ = manifest_of(folder)
        about, = (about for about in files if about["file"] == file)
        run("output", name, output, os.path.join(GOLDEN, name + ".cfile"), about, rows[about["rows"]])


def minted_folders():
    return sorted(os.path.relpath(folder, GOLDEN) for folder, _, names in os.walk(GOLDEN) if "manifest.jsonl.gz" in names)


@functools.cache
def manifest_of(name):
    """Returns the rows by name, the files and the tables of a folder (tests/golden/minted_files.h describes the form)."""
    lines = gzip.decompress(read(os.path.join(GOLDEN, name, "manifest.jsonl.gz"))).decode().splitlines()
    lines = [json.loads(line) for line in lines]
    rows = {line["rows"]: line["values"] for line in lines if "values" in line}
    return rows, [line for line in lines if "file" in line], [line for line in lines if "table" in line]


def minted_rows(column, shape, rows):
    """The raw rows of a column of the manifest."""
    convert = bytes.fromhex if shape.kind in ("bytes", "fixed") else int
    value = lambda v: None if v is None else convert(v)
    if "levels" in column:
        return [[(repetition, definition, value(v)) for repetition, definition, v in row] for row in rows]
    return [value(row) for row in rows]


def check_minted(file, column, expected):
    """Compares a file with its description and its rows. Returns the number of rows."""
    if column["encoding"] != "auto":
        expect(file.encoding, OUR_ENCODINGS[column["encoding"]], "encoding")
    expect(file.codec, OUR_CODECS[column["compression"]], "codec")
    expect(file.version, column["version"], "version")
    expect(bool(file.root("value")), column["value_index"], "value index")
    expect(bool(file.root("ordinal")), column["positional_index"], "positional index")
    if "levels" not in column:
        expect(file.column.nullable, column["nullable"], "nullable")
    elif not column["array"]:
        expect(file.column.levels, tuple(column["levels"]), "levels")
    blocks = check_file(file)
    if "origin" in column:
        check_origin(file, column["origin"], blocks)
        if column["origin"].get("kind") == "bloom":
            return bloom_filters(file, column["origin"], expected)
    bits_read["file"] |= file.footer.incompatible_features or 0
    rows = list(file.rows())
    probe_trees(file, rows)
    if column.get("array"):
        rows = [array_entries(row, column["levels"][1] == 3) for row in rows]
    expect(rows, minted_rows(column, file.column.shape, expected), "rows")
    return len(rows)


def minted_file(path, column, rows):
    return check_minted(CFile(read(path), os.path.basename(path)), column, rows[column["rows"]])


def minted_table(path, about, rows):
    table, count = reader.Table(path), 0
    check_table(table)
    expect(list(table.keys), about["keys"], "key columns")
    for part, names in itertools.zip_longest(table.parts, about["parts"]):
        for file, column, name in zip(table.files(part), about["columns"], names):
            count += check_minted(file, column, rows[name])
    expect(len(list(table.rows())), sum(part.num_rows for part in table.parts), "rows")
    return count


def minted(name):
    folder, (rows, files, tables_) = os.path.join(GOLDEN, name), manifest_of(name)
    for about in files:
        if about["encoding"] not in UNREAD:
            run(name, about["file"], minted_file, os.path.join(folder, about["file"] + ".cfile"), about, rows)
    for about in tables_:
        if not any(column["encoding"] in UNREAD for column in about["columns"]):
            run(name, about["table"], minted_table, os.path.join(folder, about["table"]), about, rows)


# ---------------------------------------------------------------- tables of tests/golden/mint_tables.cc: tables-*


def read_table(path):
    """Compares a table with what cfile reads from it (tests/golden/table_rows.h)."""
    about, table = load(path + ".json"), reader.Table(path)
    bits_read["table"] |= table.message.incompatible_features or 0
    check_table(table)
    check_copies(table)
    expect([list(table.keys), table.message.nulls_last], [about["keys"], about["nulls_last"]], "key columns")
    expect([[pair.key.decode(), pair.value.decode()] for pair in table.message.metadata], about.get("metadata", []), "metadata")
    expect([part.num_rows or 0 for part in table.parts], about["parts"], "rows of the parts")
    expect(len(table.leaves), len(about["columns"]), "columns")
    for file in filter(None, itertools.chain.from_iterable(map(table.files, table.parts))):
        bits_read["file"] |= file.footer.incompatible_features or 0
    parts = [[list(rows) for rows in table.columns(part)] for part in table.parts]
    count = 0
    for i, (leaf, column) in enumerate(zip(table.leaves, about["columns"])):
        if "levels" in column:
            expect([leaf.repetitions, leaf.definitions], column["levels"], "levels")
        else:
            expect((leaf.name, leaf.definitions > 0), (column["name"], column["nullable"]), "column")
        rows = [row for part in parts for row in part[i]]
        expect(rows, minted_rows(column, leaf.shape, column["rows"]), column["name"])
        count += len(rows)
    rows = list(table.rows())
    if "counting" not in about:
        expect(len(rows), sum(about["parts"]), "rows")
        return count
    stored = [dict(zip([leaf.name for leaf in table.leaves], row)) for part in parts for row in zip(*part)]
    expect(rows, [stored[i] for i in about["counting"]], "rows that count")
    return count


def damaged_table(path):
    """Reads a table with one changed byte in table.cft, a chunk or a copy. It is refused or read; no other error may occur."""
    refused, originals = 0, (reader.refuse, reader.read_file, reader.Table)
    reader.refuse = lambda when, where, what: originals[0](when and "checksum" not in what, where, what)
    reader.Table = functools.cache(reader.Table)  # copies with the same bytes are read once
    names = [os.path.join(folder, name) for folder, _, files in os.walk(path) for name in files if name.endswith(".cft")]
    try:
        for name in sorted(names)[-3:]:  # of each table: some copies or chunks, and table.cft
            data = read(name)
            for i in range(0, len(data), max(1, len(data) // 40)):
                changed = bytes([*data[:i], data[i] ^ (1 << i % 8), *data[i + 1:]])
                reader.read_file = lambda file, changed=changed, name=name: changed if file == name else originals[1](file)
                try:
                    table = originals[2](path)
                    check_copies(table)
                    for part in table.parts[-2:]:
                        table.files(part)
                except Refused:
                    refused += 1
    finally:
        reader.refuse, reader.read_file, reader.Table = originals
    return refused


def read_tables(kind, folder, damages=False):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            run(kind, name[:-5], read_table, os.path.join(folder, name[:-5]))
            if damages:
                run("damage", name[:-5], damaged_table, os.path.join(folder, name[:-5]))


def new_tables(tool):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([tool, folder], capture_output=True, text=True)
        expect((done.returncode, done.stderr), (0, ""), "cfile_mint_tables")
        read_tables("new tables", folder)


def table_folders():
    return sorted(name for name in os.listdir(GOLDEN) if name.startswith("tables-"))


# ---------------------------------------------------------------- pages of Parquet and ALP

PHYSICAL = {
    "BOOLEAN": TYPES[9], "INT32": TYPES[5], "INT64": TYPES[7], "INT96": TYPES[103], "FLOAT": TYPES[10], "DOUBLE": TYPES[11],
    "BYTE_ARRAY": BYTES,
}
PAGES = {
    "PLAIN": 100, "GROUP_VAR_INT": 101, "PLAIN_DICTIONARY": 102, "RLE": 103, "DELTA_BINARY_PACKED": 105,
    "DELTA_LENGTH_BYTE_ARRAY": 106, "DELTA_BYTE_ARRAY": 107, "RLE_DICTIONARY": 108, "BYTE_STREAM_SPLIT": 109, "ALP": 110,
}


def levels_stream(cursor, width, count):
    """Decodes levels in RLE-hybrid. The width is at most 32 bits."""
    cursor.refuse(width > 32, f"levels have {width} bits")
    return reader.hybrid(cursor, width, count)


def bit_packed_levels(cursor, width, count):
    """Decodes BIT_PACKED (104): the first value is in the most significant bits of a byte."""
    cursor.refuse(width > 32, f"levels have {width} bits")
    packed = cursor.take((count * width + 7) // 8)
    number, total = int.from_bytes(packed, "big"), len(packed) * 8
    return [number >> (total - (i + 1) * width) & (1 << width) - 1 for i in range(count)]


def decode_page(about, data, folder, lenient=False):
    cursor, count, width = Cursor(data, "page"), about["num_values"], about["bit_width"]
    encoding, framing = about["encoding"], about.get("framing") or ""
    if about["type"].startswith("INDEX_OR_LEVEL"):
        if encoding == "BIT_PACKED":
            return bit_packed_levels(cursor, width, count)
        if framing.startswith("1 byte"):
            return reader.parquet_codes(cursor, count)
        if framing.startswith("4-byte"):
            cursor = cursor.sub(cursor.fixed32())
        return levels_stream(cursor, width, count)
    shape = PHYSICAL.get(about["type"]) or Shape("fixed", about["type_length"])
    if encoding == "DELTA_BINARY_PACKED" and lenient:
        values = reader.parquet_delta(cursor, count, reader.parquet_shape(shape), lenient=True)
        return reader.from_parquet(cursor, values, shape)
    dictionary = None
    if "dict_bin" in about:
        page = Cursor(read(os.path.join(folder, about["dict_bin"])), "dictionary")
        dictionary = reader.parquet_page(100, page, about["dict_num_values"], shape)
    return reader.parquet_page(PAGES[encoding], cursor, count, shape, dictionary)


def page_values(about):
    """The expected values of a page, from its .json file, as the reader's raw values."""
    if "values_runs" in about:
        return [int(value) for value, count in about["values_runs"] for _ in range(count)]
    form = about["values_format"]
    if form.startswith(("f32", "f64")):
        return [int(value, 16) for value in about["values"]]
    return [bytes.fromhex(v) if form == "hex" else int(v) for v in about["values"]]


def page(path):
    about, folder = load(path + ".json"), os.path.dirname(path)
    data = read(path + ".bin")
    if about.get("bytes_hex") is not None:
        expect(data.hex(), about["bytes_hex"], "bytes")
    if about.get("spec_valid") is False:  # only a lenient reader decodes it, because its miniblocks are too small
        must_refuse(about, data, folder)
        expect(decode_page(about, data, folder, lenient=True), page_values(about), "values")
    else:
        expect(decode_page(about, data, folder), page_values(about), "values")
    return about["num_values"]


def vector(path):
    """A block or page of tests/golden/vectors: any encoding, by its name in tools, and any physical type."""
    about = load(path + ".json")
    if about["encoding"] in UNREAD:
        return 0
    number, cursor, count = OUR_ENCODINGS[about["encoding"]], Cursor(bytes.fromhex(about["bytes_hex"]), path), about["num_values"]
    name = about["type"].upper()
    shape = Shape("fixed", about["type_length"]) if name == "FIXED BYTES" else TYPES[NAMES.get(name, 12)]
    if number < 100:
        counted, _, values = reader.KUDU[number][0](cursor, shape, None)
        expect(counted, count, "count")
    else:
        values = reader.parquet_page(number, cursor, count, shape, dictionary_page(about.get("dictionary_hex"), shape))
    wanted = [bytes.fromhex(v) if shape.kind in ("bytes", "fixed") else int(v, 16) if shape.kind == "float" else int(v)
              for v in about["values"]]
    expect(values, wanted, "values")
    return count


def dictionary_page(text, shape):
    """The values of a dictionary in the form of RLE_DICTIONARY, of hexadecimal digits; None without digits."""
    cursor = Cursor(bytes.fromhex(text or ""), "dictionary")
    return reader.parquet_page(100, cursor, cursor.vint(64), shape) if text else None


def must_refuse(about, data, folder):
    try:
        values = decode_page(about, data, folder)
    except Refused:
        return
    raise Wrong(f"was not refused, gave {str(values)[:100]}")


def malformed(path):
    about, folder = load(path + ".json"), os.path.dirname(path)
    data = read(path + ".bin")
    if about["expect"] == "error":
        must_refuse(about, data, folder)
        if "lenient_values" in about:
            expect(decode_page(about, data, folder, lenient=True), about["lenient_values"], "values")
        return 0
    try:
        values = decode_page(about, data, folder)
    except Refused:
        if about["expect"] == "either":
            return 0
        raise
    if not about.get("values_undefined"):
        wanted = page_values(about)
        expect(values, wanted * (about["num_values"] if len(wanted) == 1 else 1), "values")
    return len(values)


def pages(kind, folder, test):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            run(kind, name, test, os.path.join(folder, name[:-5]))


# ---------------------------------------------------------------- nested records


def parse_message(text):
    """Parses the schema of a golden file, `message m { optional group a (LIST) { ... } }`. Returns the root and the leaves."""
    tokens = re.findall(r"[\w]+|[{};()]", text)
    words = ["required", "optional", "repeated"]
    position = 0

    def node():
        nonlocal position
        repetition = words.index(tokens[position])
        group, name = tokens[position + 1] == "group", tokens[position + 2]
        position += 3
        kind = 0
        if tokens[position] == "(":
            kind = {"LIST": reader.LIST, "MAP": reader.MAP}.get(tokens[position + 1], 0)
            position += 3
        if not group:
            position += 1
            return Node(name, repetition)
        return Node(name, repetition, children(), kind)

    def children():
        nonlocal position
        position += 1
        out = []
        while tokens[position] != "}":
            out.append(node())
        position += 1
        return out

    position = 2
    root = Node(tokens[1], 0, children())
    return root, root.number()


def paths(node, before=""):
    for child in node.children:
        path = before + child.name
        yield from paths(child, path + ".") if child.children else [path]


def completed(node, record):
    """Adds missing fields to a golden record: None, or an empty list."""
    if record is None or not node.children:
        return record
    return {child.name: [completed(child, v) for v in record.get(child.name, [])] if child.repetition == 2
            else completed(child, record.get(child.name)) for child in node.children}


def nested(path):
    """Checks that the encoded levels decode to those of the triples, and that the triples assemble to the records."""
    about = load(path)
    root, leaves = parse_message(about["schema"])
    expect(list(paths(root)), [column["path"] for column in about["columns"]], "leaves")
    entries, levels = [], 0
    for leaf, column in zip(leaves, about["columns"]):
        expect((leaf.repetitions, leaf.definitions), (column["max_rep"], column["max_def"]), "maxima of " + column["path"])
        for which, key in enumerate(("rep_levels_encoded", "def_levels_encoded")):
            if key in column:
                form, wanted = column[key], [triple[which] for triple in column["triples"]]
                expect(form["bit_width"], column[("max_rep", "max_def")[which]].bit_length(), "width")
                for name in form:
                    if "_hex_" in name:
                        decode = bit_packed_levels if name.startswith("bit_packed") else levels_stream
                        expect(decode(Cursor(bytes.fromhex(form[name]), name), form["bit_width"], form["num_levels"]), wanted, name)
                        levels += len(wanted)
        records = []
        for triple in column["triples"]:
            if triple[0] == 0:
                records.append([])
            records[-1].append(tuple(triple))
        expect(len(records), about["num_records"], "records of " + column["path"])
        entries.append(records)
    for i, wanted in enumerate(about["records"]):
        record = reader.assemble(root, {leaf: records[i] for leaf, records in zip(leaves, entries)}, path)
        expect(record, completed(root, wanted), f"record {i}")
    return levels + sum(len(column["triples"]) for column in about["columns"])


# ---------------------------------------------------------------- examples of FORMAT.md

WORDS = {shape.name.lower(): number for number, shape in TYPES.items()} | {"uuid": 107}


def parse_values(text, shape):
    """Parses the values after `= `: numbers, words, quoted text, UUIDs."""
    if shape.kind == "bytes":
        return [json.loads(text).encode() for text in re.findall(r'"(?:[^"\\]|\\.)*"', text)]
    out = []
    for word in text.split():
        if word == "null":
            out.append(None)
        elif shape.kind == "fixed":
            out.append(bytes.fromhex(word.replace("-", "")))
        elif shape.kind == "bool":
            out.append(["false", "true"].index(word))
        else:
            out.append(float_bits(shape, float(word)) if shape.kind == "float" else int(word))
    return out


def example(info, data, text):
    """Decodes the bytes of a hexdump in FORMAT.md and compares them with its line `= values`. Returns the number of values."""
    words = info.split()
    kind, options = words[0], dict(word.split("=") for word in words if "=" in word)
    words = [word for word in words if "=" not in word]
    options = {key: value if key == "dictionary" else int(value) for key, value in options.items()}
    if kind == "rle-hybrid":
        wanted = [int(word) for word in text.split()]
        expect(reader.hybrid(Cursor(data, kind), options["width"], options["count"]), wanted, "values")
        return len(wanted)
    if kind == "group-varint":
        wanted = [int(word) for word in text.split()]
        expect(reader.group_varints(Cursor(data, kind), 1), wanted, "values")
        return len(wanted)
    if kind == "table":
        table = reader.Table("example", data)
        words = [f"{leaf.name}:{leaf.shape.name.lower()}{'?' * leaf.repetition}" for leaf in table.leaves]
        words += [f"key:{key}" for key in table.keys]
        for part in table.parts:
            words.append(f"{part.directory.decode()}:{part.num_rows}")
            words += [f"{entry.file_name.decode()}:{entry.size_bytes}:{entry.null_count}" if entry else "-" for entry in part.columns]
        expect(" ".join(words), text, "table")
        return len(words)
    if kind == "piece-table":
        cursor, words = Cursor(data, kind), []
        while cursor.left():
            record = reader.piece_record(cursor)
            names = {number: name for name, number in OUR_ENCODINGS.items()}
            words.append(f"{record.block.offset}+{record.block.size}:{record.first}:{names[record.encoding]}")
            words += [f"{piece.rows}:{piece.begin}+{piece.size}:{piece.key.decode()}" for piece in record.pieces]
        expect(" ".join(words), text, "pieces")
        return len(words)
    number = WORDS[words[1]]
    shape = Shape("fixed", 16) if words[1] == "uuid" else TYPES[number]
    if kind == "statistics":
        statistics, entries = reader.parse("Statistics", data, kind), []
        for entry in [statistics.file, *statistics.blocks]:
            low, high = (key and bound(key) for key in (entry.min_key, entry.max_key))
            entries.append(f"{entry.present_count or 0}/{entry.null_count or 0}/{entry.nan_count or 0}:{low}..{high}")
        expect(entries, text.split(), "statistics")
        return len(entries)
    wanted = None if text.startswith("(") else parse_values(text, shape)
    if kind == "bloom-filter":
        bloom = reader.SplitBlockBloom(data)
        bits = sum(bin(word).count("1") for word in bloom.words)
        expect((all(bloom.has(reader.to_parquet_plain(shape, value)) for value in wanted), bits), (True, 8 * len(wanted)), "filter")
        return len(wanted)
    if kind == "file":
        file = CFile(data, info)
        check_file(file)
        expect(list(file.rows()), wanted, "values")
        return len(wanted)
    if kind in ("page", "block", "nullable", "levels", "array", "extended", "movable") and words[2] in UNREAD:
        return 0
    if kind == "page":
        dictionary = dictionary_page(options.get("dictionary"), shape)
        expect(reader.parquet_page(OUR_ENCODINGS[words[2]], Cursor(data, info), options["count"], shape, dictionary), wanted, "values")
        return len(wanted)
    levels = (options.get("repetition", 0), options.get("definition", 0)) if kind == "levels" else None
    column = Column(shape, OUR_ENCODINGS[words[2]], kind in ("nullable", "array", "movable"), kind in ("extended", "levels", "movable"), levels, kind == "array")
    if kind not in ("block", "nullable", "levels", "array", "extended", "movable"):
        raise Wrong("no such kind of example is known")
    if kind == "movable":
        column.movable = True
        _, _, data = reader.unpack_movable(data, 1, info)
    block = reader.decode_block(data, column, info)
    rows = block.rows
    if wanted is None:
        expect(block.nulls, len(re.findall(r"\(\d+,\d+\)", text)), "entries without a value")
        rows = [entry for row in rows for entry in (row if levels else array_entries(row, True))]
        rows = " ".join("(" + ",".join(str(part) for part in entry if part is not None) + ")" for entry in rows)
        wanted = text
    expect(rows, wanted, "values")
    return len(text.split())


def bound(key):
    """The double of a memcmp form, as FORMAT.md writes it."""
    bits = int.from_bytes(key, "big")
    number = struct.unpack(">d", (bits ^ (1 << 63) if bits >> 63 else bits ^ (1 << 64) - 1).to_bytes(8, "big"))[0]
    return str(number).removesuffix(".0")


def examples(path):
    """Tests the hexdumps of FORMAT.md."""
    document = read(path).decode()
    for info, body in re.findall(r"^```hexdump ([^\n]*)\n(.*?)^```$", document, re.M | re.S):
        data, text = bytearray(), ""
        for line in body.splitlines():
            if line.startswith("= "):
                text = line[2:]
            elif re.match("[0-9a-f]{4,}  ", line):  # other lines are headings, or bytes before compression
                offset, rest = line.split(None, 1)
                if int(offset, 16) != len(data):
                    run("format", info, expect, int(offset, 16), len(data), "offset")
                data += bytes.fromhex(rest.split("|")[0])
        run("format", info, example, info, bytes(data), text)
        if data[:8] == b"kuducfil":
            run("damage", "exact", exact_damage, bytes(data))
    run("format", "sentences", sentences)


def sentences():
    """Tests the examples in the text of FORMAT.md."""
    expect(reader.crc32c(b"123456789").to_bytes(4, "little").hex(), "839206e3", "CRC32C, stored as fixed32")
    key = reader.compound_key([b"a\0b", -1, b"c"], [TYPES[8], TYPES[5], TYPES[8]])
    expect(key.hex(" "), "61 00 01 62 00 00 7f ff ff ff 63", "compound key")
    dictionary = bytes.fromhex("00000000 02000000 13000000 666967 70656172 000c0f0000")
    words = reader.kudu_plain(Cursor(dictionary, "dictionary"), BYTES)[2]
    block = bytes.fromhex("01000000 00000000 03000000 21000000 08000000 01000000 00000009 800400000000000000")
    expect(reader.kudu_dict(Cursor(block, "block"), BYTES, words), (3, 0, [b"fig", b"fig", b"pear"]), "DICT")
    cursor = Cursor(bytes.fromhex("03 0a000000 14000000 1e000000"), "dictionary")
    numbers = reader.parquet_page(100, cursor, cursor.vint(64), TYPES[5])
    page = Cursor(bytes.fromhex("02036400"), "page")
    expect(reader.parquet_page(108, page, 4, TYPES[5], numbers), [10, 20, 30, 20], "RLE_DICTIONARY")
    return 5


# ---------------------------------------------------------------- damage


# Changes of one byte in the file of version 1 of FORMAT.md, which has no checksums: {offset: (new byte, part of the error)}.
CHANGES = {
    0x00: (0x6A, "no magic"), 0x08: (0xFF, "overlap"), 0x10: (0x03, "too early"), 0x14: (0x01, "should be 0"),
    0x20: (0x01, "not 4 bytes"), 0x21: (0x14, "before its parent"), 0x22: (0x03, "do not ascend"), 0x28: (0x7F, "does not fit"),
    0x29: (0x20, "does not fit"), 0x2A: (0x01, "is no protobuf field"), 0x2B: (0x7F, "does not fit"), 0x30: (0x16, "type 22"),
    0x32: (0x00, "encoding 0"), 0x34: (0x03, "2 rows"), 0x3A: (0x40, "does not lead"), 0x3E: (0x05, "codec 5"), 0x49: (0xFF, "overlap"),
}


def exact_damage(data):
    """Checks that each of CHANGES is refused with its own error, which names the place."""
    for at, (byte, reason) in CHANGES.items():
        try:
            check_file(CFile(data[:at] + bytes([byte]) + data[at + 1:], "file"))
            why = "not refused"
        except Refused as refused:
            why = str(refused)
        expect(reason in why and why.startswith("file"), True, f"byte {at:x}: {why}; {reason!r}")
    return len(CHANGES)


def damage(path):
    """Reads copies of a file with one bit changed, and copies that are cut off. Each is refused or read; no other error may occur.

    In a file with checksums each changed bit is refused, except in the zeros between blocks.
    """
    data = read(path)
    whole = CFile(data, "file")
    check_file(whole)
    used = [(0, whole.first_byte), (whole.last_byte, len(data))]
    used += [(p.offset, p.offset + p.size) for by in ("ordinal", "value") if whole.root(by) for _, p in whole.leaves(by)]
    step, refused = max(1, len(data) // 61), 0
    copies = [(i, bytes([*data[:i], data[i] ^ 1 << i % 8, *data[i + 1:]])) for i in range(0, len(data), step)]
    # Most numbers are small, so a change of a high bit in the last bytes (index trees and footer) is more likely to matter.
    copies += [(i, bytes([*data[:i], data[i] ^ 128, *data[i + 1:]])) for i in range(max(0, len(data) - 60), len(data))]
    copies += [(0, data[:len(data) * i // 12]) for i in range(12)]
    for i, copy in copies:
        try:
            check_file(CFile(copy, "copy"))
        except Refused:
            refused += 1
        else:
            if whole.checksums and any(start <= i < end for start, end in used):
                raise Wrong(f"a changed bit in byte {i} was not seen")
    refuse = reader.refuse
    reader.refuse = lambda when, where, what: refuse(when and what != "the checksum is wrong", where, what)
    try:  # once more without checksums, so that the checks of all layers see the change
        for _, copy in copies:
            try:
                check_file(CFile(copy, "copy"))
            except Refused:
                refused += 1
    finally:
        reader.refuse = refuse
    return refused


def damaged_files():
    for folder in ("kudu", "cfile", os.path.join("kudu", "bloom"), os.path.join("kudu", "delta")):
        names = sorted(name for name in os.listdir(os.path.join(GOLDEN, folder)) if name.endswith(".cfile"))
        chosen = [name for i, name in enumerate(names) if i % 5 == 0 or "nocrc" in name]
        for name in chosen:
            path = os.path.join(GOLDEN, folder, name)
            if os.path.getsize(path) < 6000:
                run("damage", name, damage, path)


# ---------------------------------------------------------------- tables made by cfile-import

INTEGERS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "int128": 128, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
SHAPES = {**{name: TYPES[NAMES[name.upper()]] for name in INTEGERS}, "float": TYPES[11], "bool": TYPES[9], "bytes": BYTES,
          "fixed": Shape("fixed", 5), "int96": TYPES[103]}
CHOICES = {  # the encodings that a shape supports
    key: [name for name, number in OUR_ENCODINGS.items() if reader.takes(number, shape)] + ["auto"] for key, shape in SHAPES.items()
}
COMPRESSIONS = ["none", "snappy", "lz4", "zlib", "gzip", "brotli", "zstd", "auto"]


def make_columns(rows):
    """Returns columns of every type: {name: (type, choices, texts, raw values)}. Some columns ascend."""
    state = 12345

    def random(bits):
        nonlocal state
        out = 0
        for _ in range(0, bits, 32):
            state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            out = out << 32 | state >> 32
        return out % (1 << bits)

    columns = {}
    for name, bits in INTEGERS.items():
        base = 0 if name[0] == "u" else 1 << (bits - 1)
        spread = [random(bits) - base for _ in range(rows)]
        narrow = [random(min(bits, 6)) - (base and 32) for _ in range(rows)]
        low, high = -base, (1 << bits) - 1 - base
        for i, value in enumerate((low, high, low, 0)):
            spread[i % rows] = value
        columns[f"{name}_a"] = (name, name, [str(v) for v in spread], spread)
        columns[f"{name}_b"] = (name, name, [str(v) for v in narrow], narrow)
    sequence = [1000 + 3 * i + random(1) for i in range(rows)]
    columns["ascending"] = ("int64", "int64", [str(v) for v in sequence], sequence)
    decimals = [random(30) - (1 << 29) for _ in range(rows)]
    for name, choices, shift in (("decimal(9,2)", "int32", 4), ("decimal(18,2)", "int64", 0), ("decimal(38,2)", "int128", 0)):
        values = [value >> shift if abs(value >> shift) < 10 ** 9 else 0 for value in decimals]
        texts = [f"{'-' if v < 0 else ''}{abs(v) // 100}.{abs(v) % 100:02}" for v in values]
        columns[name.translate({40: 95, 41: 95, 44: 95})] = (name, choices, texts, values)
    prices = [random(20) / 100 for _ in range(rows)]
    for i, value in enumerate((float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 5e-324)):
        prices[i % rows] = value if rows > 2000 else -0.0 if rows > 1 and i < 2 else prices[i % rows]
    columns["price"] = ("double", "float", [repr(v) for v in prices], prices)
    for name, sign in (("upwards", 1), ("downwards", -1)):  # zeros, 0 and -0, are bounds in their statistics
        values = [sign * (i % 9) * 0.5 for i in range(rows)]
        columns[name] = ("double", "float", [repr(v) for v in values], values)
    singles = [float(random(16)) / 8 - 100 for _ in range(rows)]
    columns["single"] = ("float", "float", [repr(v) for v in singles], singles)
    flags = [random(3) > 0 for _ in range(rows)]
    columns["flag"] = ("bool", "bool", [str(v).lower() for v in flags], flags)
    words = [f"name-{random(9)}-é" * (1 + random(2)) for _ in range(rows)]
    columns["word"] = ("string", "bytes", words, [word.encode() for word in words])
    tops = [b"\xff" * (60 + random(3)) + bytes([random(8)]) for _ in range(rows)]  # some have no maximum in statistics
    columns["top"] = ("binary", "bytes", [value.hex() for value in tops], tops)
    zeros = [bytes(random(2) * random(4) % 3 for _ in range(1 + random(2))) for _ in range(rows)]  # many bytes 00 and 01
    columns["zeros"] = ("binary", "bytes", [value.hex() for value in zeros], zeros)
    sorted_words = [f"/path/{i // 50}/{i:08}" for i in range(rows)]
    columns["path"] = ("varchar", "bytes", sorted_words, [word.encode() for word in sorted_words])
    long_words = ["x" * 70 + f"{i:08}" for i in range(rows)]  # longer than a bound in statistics may be
    columns["long"] = ("string", "bytes", long_words, [word.encode() for word in long_words])
    for name, kind, size, choices in (("blob", "binary", 0, "bytes"), ("fixed", "fixed(5)", 5, "fixed"),
                                      ("int96", "int96", 12, "int96")):
        values = [random(8 * (size or random(3))).to_bytes(size or 8, "big") for _ in range(rows)]
        columns[name] = (kind, choices, [value.hex() for value in values], values)
    uuids = [random(128).to_bytes(16, "big") for _ in range(rows)]
    columns["uuid"] = ("uuid", "fixed", [present_uuid(value) for value in uuids], uuids)
    return columns


def present_uuid(value):
    h = value.hex()
    return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))


def import_table(tool, source, table, *options):
    done = subprocess.run([tool, "--quiet", *options, source, table], capture_output=True, text=True)
    if done.returncode:
        raise Wrong(f"cfile-import: {done.stderr.strip()[:300]}")


def table_of_all_types(tool, folder, rows, turn):
    """Tests a table with columns of every type. Every second column has nulls. `turn` chooses the encodings and codecs."""
    columns = make_columns(rows)
    options = ["--block-size", "4KiB" if rows > 100 else "64KiB"]
    lines = [list(columns)]
    nulls = {name: set(range(3, rows, 7)) if i % 2 else set() for i, name in enumerate(columns)}
    for i, (name, (kind, choices, _, _)) in enumerate(columns.items()):
        encoding, codec = CHOICES[choices][turn % len(CHOICES[choices])], COMPRESSIONS[(turn + i) % 7]
        options += ["--type", f"{name}={kind}", "--encoding", f"{name}={encoding}", "--compression", f"{name}={codec}"]
    for row in range(rows):
        lines.append(["" if row in nulls[name] else column[2][row] for name, column in columns.items()])
    source, path = os.path.join(folder, f"{rows}-{turn}.csv"), os.path.join(folder, f"{rows}-{turn}")
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(",".join(line) + "\n" for line in lines)
    import_table(tool, source, path, *options)
    table = reader.Table(path)
    check_table(table)
    actual = list(table.rows())
    expect(len(actual), rows, "rows")
    for leaf in table.leaves:
        kind, _, _, values = columns[leaf.name]
        if kind in ("double", "float"):
            values = [float_bits(TYPES[11 if kind == "double" else 10], value) for value in values]
        wanted = [None if row in nulls[leaf.name] else value for row, value in enumerate(values)]
        expect([row[leaf.name] for row in actual], wanted, leaf.name)
    return rows * len(columns)


def sorted_table(tool, folder, rows, *keys):
    """Tests a table sorted by `keys`: one column has a value index, several have compound keys. A second part is appended."""
    columns = make_columns(rows)
    names = ["ascending", "path", "int16_a", "word", "flag", "price", "fixed", "uint8_b", "decimal_38_2_", "zeros"]
    source, path = os.path.join(folder, "sorted.csv"), os.path.join(folder, "-".join(keys))
    with open(source, "w", encoding="utf-8") as file:
        file.write(",".join(names) + "\n")
        file.writelines(",".join(columns[name][2][row] for name in names) + "\n" for row in range(rows))
    options = [word for name in names for word in ("--type", f"{name}={columns[name][0]}")]
    options += ["--block-size", "512", "--encoding", "word=prefix"] + [word for key in keys for word in ("--sorted-by", key)]
    import_table(tool, source, path, *options)
    import_table(tool, source, path, "--append")
    table, values = reader.Table(path), 0
    check_table(table)
    for part in table.parts:
        files = table.files(part)
        by_name = {leaf.name: (file, list(file.rows())) for leaf, file in zip(table.leaves, files)}
        shapes = [by_name[key][0].column.shape for key in keys]
        forms = [reader.compound_key(row, shapes) for row in zip(*(by_name[key][1] for key in keys))]
        expect(forms, sorted(forms), "order of the rows")
        probe_trees(files[-1] if len(keys) > 1 else by_name[keys[0]][0], forms if len(keys) > 1 else by_name[keys[0]][1])
        for name in names:
            kind, rowset = columns[name][0], by_name[name][1]
            wanted = columns[name][3]
            if kind == "double":
                wanted = [float_bits(TYPES[11], value) for value in wanted]
            expect(sorted(rowset), sorted(wanted), name)
            values += len(rowset)
    expect(len(table.parts), 2, "parts")
    return values


def table_of_null_keys(tool, folder, rows, nulls):
    """Tests a table that is sorted by columns with nulls."""
    source, path = os.path.join(folder, "null_keys.csv"), os.path.join(folder, f"null_keys_{nulls}")
    wanted = [(None if row % 3 == 0 else f"word {row % 7}", None if row % 5 == 0 else row % 4 + 1) for row in range(rows)]
    with open(source, "w", encoding="utf-8") as file:
        file.write("word,number\n")
        file.writelines(",".join("" if value is None else str(value) for value in row) + "\n" for row in wanted)
    import_table(tool, source, path, "--sorted-by", "word", "--sorted-by", "number", "--nulls", nulls)
    table = reader.Table(path)
    check_table(table)
    wanted.sort(key=lambda row: [((value is None) == (nulls == "last"), value or "") for value in row])
    actual = [(row["word"] and row["word"].decode(), row["number"]) for row in table.rows()]
    expect(actual, wanted, "rows")
    return 2 * rows


def json_text(node, value):
    """A record as JSON for cfile-import: a LIST as a list, a MAP as an object."""
    if value is None or not node.children:
        return json.dumps(value)
    if node.kind:
        [repeated] = node.children
        names = [child.name for child in repeated.children]
        items = [[json_text(child, item[child.name]) for child in repeated.children] for item in value[repeated.name]]
        if node.kind == reader.LIST:
            return "[" + ", ".join(item[0] if len(names) == 1 else json_text(repeated, raw_item)
                                   for item, raw_item in zip(items, value[repeated.name])) + "]"
        return "{" + ", ".join((k if k[0] == '"' else f'"{k}"') + ": " + v for k, v in items) + "}"
    parts = []
    for child in node.children:
        inner = value[child.name]
        text = "[" + ", ".join(json_text(child, v) for v in inner) + "]" if child.repetition == 2 else json_text(child, inner)
        parts.append(f"{json.dumps(child.name)}: {text}")
    return "{" + ", ".join(parts) + "}"


def distinct_keys(node, record):
    """A completed record in which maps have each key only once, because JSON objects need that."""
    if record is None or not node.children:
        return record
    out = {}
    for child in node.children:
        value = record[child.name]
        if child.repetition == 2:
            items = {str(item["key"]): item for item in value}.values() if node.kind == reader.MAP else value
            out[child.name] = [distinct_keys(child, item) for item in items]
        else:
            out[child.name] = distinct_keys(child, value)
    return out


def presented(node, record):
    """A record with its raw values converted to JSON."""
    if record is None:
        return None
    if not node.children:
        return reader.present(node.shape, record, node.column.extensions)
    return {child.name: [presented(child, v) for v in record[child.name]] if child.repetition == 2
            else presented(child, record[child.name]) for child in node.children}


def nested_table(tool, folder, path):
    """Imports golden records into a table and reads them again."""
    about = load(path)
    root, _ = parse_message(about["schema"])
    base = os.path.join(folder, os.path.basename(path)[:-5])
    records = [distinct_keys(root, completed(root, record)) for record in about["records"]]
    with open(base + ".schema", "w", encoding="utf-8") as file:
        file.write(about["schema"])
    with open(base + ".jsonl", "w", encoding="utf-8") as file:
        file.writelines(json_text(root, record) + "\n" for record in records)
    import_table(tool, base + ".jsonl", base, "--schema", base + ".schema", "--block-size", "1KiB")
    table = reader.Table(base)
    check_table(table)
    count = 0
    for i, (row, wanted) in enumerate(itertools.zip_longest(table.rows(), records)):
        expect(presented(table.root, row), wanted, f"record {i}")
        count += len(table.leaves)
    # reader.py prints a LIST as a list and a MAP as a list of pairs.
    expect(printed(base), [reader.pretty(root, record, lambda node, value: value) for record in records], "printed records")
    return count


def tables(tool):
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(max(map(len, CHOICES.values()))):
            run("tables", f"all types, turn {turn}", table_of_all_types, tool, folder, 2305 if turn % 3 == 0 else 1025, turn)
        run("tables", "one row", table_of_all_types, tool, folder, 1, 2)
        for keys in (["ascending"], ["path"], ["int16_a"], ["word"], ["flag"], ["price"], ["fixed"], ["decimal_38_2_"],
                     ["flag", "word", "int16_a"], ["word", "price", "path"], ["fixed", "uint8_b"], ["zeros", "fixed"],
                     ["flag", "zeros", "ascending"]):
            run("tables", "sorted by " + " ".join(keys), sorted_table, tool, folder, 1500, *keys)
        for nulls in ("first", "last"):
            run("tables", f"keys with nulls {nulls}", table_of_null_keys, tool, folder, 1500, nulls)
        names = sorted(os.listdir(os.path.join(GOLDEN, "parquet", "nested")))
        for name in names:
            run("tables/nested", name, nested_table, tool, folder, os.path.join(GOLDEN, "parquet", "nested", name))


# ---------------------------------------------------------------- the whole


OTHER_FORMATS = ["arrow", "parquet-files"]  # folders with files of other formats, which reader.py does not read


def nothing_left_out(known):
    """Checks that every folder of golden files is read here, and that every file in it belongs to a file that is read."""
    for name in minted_folders():
        _, files, tables_ = manifest_of(name)
        there = {about["file"] + ".cfile" for about in files} | {about["table"] for about in tables_} | {"manifest.jsonl.gz"}
        there |= {os.path.basename(other) for other in minted_folders() if os.path.dirname(other) == name}
        expect(set(os.listdir(os.path.join(GOLDEN, name))), there, f"files in {name}")
    for name in table_folders():
        names = os.listdir(os.path.join(GOLDEN, name))
        expect(set(names), {other for name in names if name.endswith(".json") for other in (name, name[:-5])}, f"tables in {name}")
    for folder, _, names in os.walk(GOLDEN):
        kind = os.path.relpath(folder, GOLDEN)
        if kind.split(os.sep)[0] in minted_folders() + table_folders() + OTHER_FORMATS:
            continue
        expect(kind in (".", *known), True, f"folder {kind} is read")
        for name in names if kind != "." else ():
            base = re.sub(r"\.(dict\.bin|bin|json)$", "", name)
            there = base + ".json" in names and (kind in ("parquet/nested", "vectors") or base + ".bin" in names)
            expect(there or name == "INDEX.md", True, f"{kind}/{name} is read")


def feature_bits():
    """Checks that FORMAT.md, reader.py and the golden files have the same incompatible feature bits, so that no bit is added to one of
    them alone; the golden files of a bit come with its release (CONTRIBUTING.md, Change the format). Returns the number of bits."""
    with open(FORMAT, encoding="utf-8") as file:
        text = file.read()
    without_golden = ({25}, set())  # until the release that adds the bits of files and of tables
    tables_of_bits = re.findall(r"^\|[^|\n]*\bincompatible_features \| meaning \|\n\| --- \| --- \|\n((?:\|.*\n)+)", text, re.MULTILINE)
    expect(len(tables_of_bits), 2, "tables of bits in FORMAT.md: those of files, and those of tables")
    known = (reader.FILE_BITS, reader.TABLE_BITS)
    for rows, known_bits, read_bits, without in zip(tables_of_bits, known, bits_read.values(), without_golden):
        listed = {int(bit) for bit, meaning in re.findall(r"^\| (?:bit )?(\d+) \| (.*) \|$", rows, re.MULTILINE) if "reserved" not in meaning}
        expect({bit for bit in range(32) if known_bits >> bit & 1}, listed, "bits of reader.py and of FORMAT.md")
        expect({bit for bit in range(32) if read_bits >> bit & 1}, listed - without, "bits of the golden files and of FORMAT.md")
    return sum(bits.bit_count() for bits in known)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--import", dest="tool", help="cfile-import, to make tables with")
    parser.add_argument("--mint-tables", help="cfile_mint_tables, to make tables with")
    parser.add_argument("--only", help="only this kind")
    arguments = parser.parse_args()
    folder = lambda *names: os.path.join(GOLDEN, *names)
    steps = {
        "format": lambda: examples(FORMAT),
        **{name: functools.partial(minted, name) for name in minted_folders()},
        **{name: functools.partial(read_tables, name, folder(name), damages=True) for name in table_folders()},
        "parquet": lambda: pages("parquet", folder("parquet"), page),
        "parquet/seeds": lambda: pages("parquet/seeds", folder("parquet", "seeds"), page),
        "parquet/groupvarint": lambda: pages("parquet/groupvarint", folder("parquet", "groupvarint"), page),
        "parquet/malformed": lambda: pages("parquet/malformed", folder("parquet", "malformed"), malformed),
        "parquet/nested": lambda: [run("parquet/nested", name, nested, folder("parquet", "nested", name))
                                   for name in sorted(os.listdir(folder("parquet", "nested")))],
        "vectors": lambda: pages("vectors", folder("vectors"), vector),
        "alp": lambda: pages("alp", folder("alp"), page),
        "alp/malformed": lambda: pages("alp/malformed", folder("alp", "malformed"), malformed),
    }
    known = [kind for kind in steps if kind != "format"]
    if UNREAD:
        print("not read, because reader.py has no decoder: " + ", ".join(UNREAD))
    steps["golden"] = lambda: run("golden", "folders", nothing_left_out, known)
    if arguments.only is None:
        steps["feature bits"] = lambda: run("golden", "feature bits", feature_bits)
    steps["payloads"] = payloads
    steps["output"] = outputs
    steps["damage"] = damaged_files
    if arguments.mint_tables:
        steps["new tables"] = lambda: new_tables(arguments.mint_tables)
    if arguments.tool:
        steps["tables"] = lambda: tables(arguments.tool)
    for kind, step in steps.items():
        if arguments.only in (None, kind):
            step()
    for kind, (files, values) in counts.items():
        print(f"{kind}: {files} read, {values} values compared, {seconds[kind]:.1f} s of processor time")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
