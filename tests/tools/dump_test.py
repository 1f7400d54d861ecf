"""Runs cfile-dump as its users do: dump_test.py CFILE_DUMP CFILE_IMPORT [--update].

dump_golden.txt is a session with the expected output. After "$ cfile-dump ARGUMENTS" comes the output, then the errors with "! "
before each line, then the exit code if it is not 0. Lines that begin with "=== " are titles. --update writes the file again;
check the difference.
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import unicodedata
import unittest

import tool_runner

from dump_case import DUMP, DumpCase
from golden_tables import GoldenFile, make_table

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "dump_golden.txt"
KUDU = HERE.parent / "golden" / "kudu"

# The files in the session, and the files of a real Kudu that they are copies of.
FILES = {
    "words.cfile": "string_prefix_low_nn_nine",  # 9 strings in one block
    "flags.cfile": "bool_auto_run_n50_nine",  # 9 booleans, 4 of them null
    "paths.cfile": "varchar_prefix_seq_n50_snappy",  # 2 compressed blocks
    "keys.cfile": "key_int32_rle_neg",  # 16 blocks, both indexes
}

# A table with values that are hard to print, sorted by id.
CSV = '''id,text,day,amount
-5,plain,2013-01-31,9007199254740993
0,"two
lines",2013-02-01,9007199254740992
7,,2013-02-02,
7,null,,-1
8,"","2013-02-04",2
9,"""quoted""\ttab \\ \x1b[0m",2013-02-05,3
12,Zürich 東京,2013-02-06,4
'''


def flip(path, offset, bits=1):
    data = bytearray(path.read_bytes())
    data[offset] ^= bits
    path.write_bytes(data)


class DumpTest(DumpCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, source in FILES.items():
            shutil.copy(KUDU / f"{source}.cfile", cls.folder / name)
            (cls.folder / name).chmod(0o644)
        (cls.folder / "t.csv").write_text(CSV)
        cls.make("t.csv", "t", "--sorted-by", "id", "--type", "amount=int64", loose=True)

        # Damage in a letter of the first word.
        words = shutil.copy(cls.folder / "words.cfile", cls.folder / "damaged_words.cfile")
        flip(words, words.read_bytes().index(b"v0"))
        # Damage in the second of two blocks.
        flip(shutil.copy(cls.folder / "paths.cfile", cls.folder / "damaged_paths.cfile"), 1200)
        # Damage in the first node of the value index, and in the footer.
        flip(shutil.copy(cls.folder / "keys.cfile", cls.folder / "damaged_index.cfile"), 16450)
        flip(shutil.copy(cls.folder / "keys.cfile", cls.folder / "damaged_footer.cfile"), 16700)
        shutil.copy(cls.folder / "words.cfile", cls.folder / "rows")
        # A file without its end, and a file without its start.
        whole = next(cls.folder.glob("t/part-*/0001-text.cfile")).read_bytes()
        (cls.folder / "torn.cfile").write_bytes(whole[:-10])
        (cls.folder / "headless.cfile").write_bytes(b"\0" * 20 + whole[20:])


class Session(DumpTest):
    def answer(self, command):
        # No argument of the session has blanks, so quotes are not needed.
        code, out, error = self.run_dump(*command.split()[1:])
        text = out + "".join(f"! {line}\n" for line in error.splitlines())
        return text + (f"exit code {code}\n" if code != 0 else "")

    def test_session(self):
        golden = GOLDEN.read_text()
        now = ""
        for line in golden.splitlines(keepends=True):
            if line.startswith("=== "):
                now += line
            elif line.startswith("$ "):
                now += line + self.answer(line[2:]) + "\n"
        if "--update" in sys.argv:
            GOLDEN.write_text(now)
            return
        self.assertEqual(now, golden)


class Json(DumpTest):
    def test_every_command_prints_versioned_json(self):
        for path in ("words.cfile", "flags.cfile", "paths.cfile", "keys.cfile"):
            for command in ([], ["summary"], ["hexdump", "--header"], ["hexdump", "--footer"], ["blocks"], ["blocks", "--ordinal", "0"], ["index"], ["verify"],
                            ["stats", "--dictionary"], ["stats"]):
                document = json.loads(self.dump(*command, "--json", path))
                self.assertEqual(document["schema_version"], 1)
                self.assertEqual(document["path"], path)
            for line in self.dump("rows", "--json", path).splitlines():
                self.assertEqual(json.loads(line)["schema_version"], 1)

    def test_blocks_and_summary_agree(self):
        for path in ("words.cfile", "flags.cfile", "paths.cfile", "keys.cfile"):
            summary = json.loads(self.dump("--json", path))
            blocks = json.loads(self.dump("blocks", "--json", path))["blocks"]
            self.assertEqual(summary["blocks"], len(blocks))
            self.assertEqual(summary["rows"], sum(block["rows"] for block in blocks))
            self.assertEqual(summary["nulls"], sum(block["nulls"] for block in blocks))
            self.assertEqual(summary["stored"], sum(block["stored"] for block in blocks))
            self.assertEqual(summary["encoded"], sum(block["encoded"] for block in blocks))
            self.assertEqual(summary["size"], (self.folder / path).stat().st_size)

    def test_blocks_show_their_bytes(self):
        for path in ("words.cfile", "paths.cfile"):  # the second is compressed
            blocks = json.loads(self.dump("blocks", "--json", "--bytes", path))["blocks"]
            text = self.dump("blocks", "--bytes", path).splitlines()[1:]
            for block, line in zip(blocks, text[1::2], strict=True):
                self.assertEqual(len(bytes.fromhex(block["bytes"])), block["encoded"])
                self.assertEqual(line, block["bytes"])

    def test_hexdump_has_every_byte(self):
        # A file of a table, with dictionary and statistics; compressed and uncompressed blocks.
        files = [*FILES, next(self.folder.glob("t/part-*/0001-text.cfile")).relative_to(self.folder)]
        for path in files:
            data = (self.folder / path).read_bytes()
            shown = b""
            for line in self.dump("hexdump", "--json", "--bytes", "1000000", path).splitlines():
                field = json.loads(line)
                self.assertEqual(field["schema_version"], 1)
                self.assertNotIn(field["name"], ("unknown bytes", "bytes after the end"))
                if "offset" not in field:
                    self.assertGreaterEqual(field["offset_before_compression"], 0)
                    continue
                self.assertEqual(field["offset"], len(shown))
                self.assertEqual(len(field["hex"]), 2 * field["size"])
                shown += bytes.fromhex(field["hex"])
            self.assertEqual(shown, data)

    def test_hexdump_describes_a_damaged_file(self):
        data = (self.folder / "keys.cfile").read_bytes()
        path = self.folder / "flipped_hexdump.cfile"
        for offset in range(0, len(data), 37):
            path.write_bytes(data[:offset] + bytes([data[offset] ^ 0x50]) + data[offset + 1:])
            code, out, error = self.run_dump("hexdump", "--json", path.name)
            self.assertIn(code, (2, 4))
            self.assertNotEqual(error, "")
            end = 0
            for field in map(json.loads, out.splitlines()):
                if "offset" in field:
                    self.assertEqual(field["offset"], end)
                    end += field["size"]
            self.assertEqual(end, len(data))

    def hexdump_fields(self, data, code):
        """The fields of a file with these bytes. Also checks that they cover it, and that the text form has as many lines of fields."""
        (self.folder / "damaged.cfile").write_bytes(data)
        done, out, error = self.run_dump("hexdump", "--json", "--bytes", "1000000", "damaged.cfile")
        self.assertEqual(done, code, error)
        fields = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(b"".join(bytes.fromhex(field["hex"]) for field in fields if "offset" in field), data if fields else b"")
        text = self.run_dump("hexdump", "--bytes", "1", "damaged.cfile")[1]
        self.assertEqual(sum(" | " in line for line in text.splitlines()), len(fields))
        return fields

    def test_hexdump_shows_damaged_ends(self):
        data = next(self.folder.glob("t/part-*/0000-id.cfile")).read_bytes()
        whole = self.hexdump_fields(data, 0)
        footer_begin = min(field["offset"] for field in whole if field["region"] == "footer")

        def values(fields, region, name):
            return [field["value"] for field in fields if field["region"] == region and field["name"] == name]

        # Only the checksum of the footer or of the header is wrong: all regions are there.
        for region, flipped in (("footer", len(data) - 20), ("header", 16)):
            fields = self.hexdump_fields(data[:flipped] + bytes([data[flipped] ^ 1]) + data[flipped + 1:], 2)
            self.assertEqual({field["region"] for field in whole}, {field["region"] for field in fields})
            self.assertRegex(values(fields, region, "checksum")[0], "^wrong: ")
        # The footer is lost: a header, and the rest.
        fields = self.hexdump_fields(data[:footer_begin], 2)
        self.assertEqual([field["name"] for field in fields if field["region"] == "gap"], ["bytes that were not understood"])
        self.assertEqual(values(fields, "header", "checksum"), ["right"])
        self.assertEqual(values(fields, "footer", "magic"), [])
        # The header or the footer claims too many bytes.
        for at, region, other in ((8, "header", "footer"), (len(data) - 4, "footer", "header")):
            fields = self.hexdump_fields(data[:at] + b"\xff\xff\xff\x7f" + data[at + 4:], 2)
            self.assertEqual(values(fields, region, "size of the message"), ["2147483647"])
            self.assertEqual(values(fields, region, "magic"), ["kuducfl2"])
            self.assertEqual(values(fields, other, "checksum"), ["right"])
        # The magic of the header is damaged.
        fields = self.hexdump_fields(b"x" + data[1:], 2)
        self.assertEqual({field["region"] for field in fields}, {"gap", "footer"})
        # The message of the footer is damaged.
        fields = self.hexdump_fields(data[:footer_begin + 4] + b"\xff" * 8 + data[footer_begin + 12:], 2)
        self.assertRegex(values(fields, "footer", "checksum")[0], "^wrong: ")
        self.assertEqual(len(values(fields, "footer", "rest of the message, which is malformed")), 1)
        self.assertEqual(values(fields, "header", "checksum"), ["right"])
        # Nothing can be understood.
        for data in (bytes(range(128, 228)), *(b"kuducfl2kuducfl2"[:size] for size in (1, 2, 11))):
            field, = self.hexdump_fields(data, 2)
            self.assertEqual((field["region"], field["offset"], field["size"]), ("gap", 0, len(data)))

    def test_hexdump_shows_the_column_of_the_header(self):
        fields = [json.loads(line) for line in self.dump("hexdump", "--json", "t", "--column", "id").splitlines()]
        column = next(i for i, field in enumerate(fields) if field["value"] == '"cfile.column"') + 1
        self.assertRegex(fields[column]["value"], "^message of [0-9]+ bytes$")
        inside = {field["name"]: field["value"] for field in fields[column + 1:column + 5]}
        self.assertRegex(inside["type"], r"^[0-9]+ \([a-z0-9]+\)$")
        self.assertEqual(inside["nullable"], "false")
        self.assertEqual(fields[column + 1]["depth"], fields[column]["depth"] + 1)
        self.assertIn('"  # a ColumnPB: cfile-dump hexdump shows its fields\n', self.dump("hexdump", "--header", "t", "--column", "id"))

    def test_hexdump_shows_each_element(self):
        (self.folder / "long.csv").write_text("n,text,x\n" + "".join(f"{i * i},word{i},{i}.25\n" for i in range(3000)))
        delta = ["minimum delta", "bit widths of the miniblocks", "miniblock", "place in the skip table"]
        for encoding, names in (("n=parquet-delta", delta),
                                ("text=parquet-delta-bytes", ["minimum delta", "place in the skip table"]),
                                ("text=parquet-delta-length", ["minimum delta", "place in the skip table"]),
                                ("x=parquet-alp", ["vector"])):
            shutil.rmtree(self.folder / "long", ignore_errors=True)
            self.make("long.csv", "long", "--compression", "none", "--encoding", encoding)
            column = encoding.split("=")[0]
            fields = [json.loads(line) for line in self.dump("hexdump", "--json", "long", "--column", column).splitlines()]
            found = [field["name"] for field in fields]
            for name in names:
                self.assertGreater(found.count(name), 1, (encoding, name))
            self.assertEqual({field["value"] for field in fields if field["name"] == "checksums of the parts"}, {"right"})
            offsets = [field["value"] for field in fields if field["name"] == "offsets of the entries"]
            self.assertRegex(offsets[0], "^0(, [0-9]+)*$")

    def test_verify_of_blocks_without_their_dictionary(self):
        (self.folder / "words.csv").write_text("w,n\n" + "".join(f"word{i % 100},{i}\n" for i in range(4000)))
        for options in (["--encoding", "w=parquet-dict"], ["--encoding", "w=dict"], ["--encoding", "w=dict", "--oldest-reader", "kudu"]):
            shutil.rmtree(self.folder / "words", ignore_errors=True)
            self.make("words.csv", "words", *options, loose=True)
            code, out, _ = self.run_dump("verify", "words", "--max-dictionary-values", "3")
            self.assertEqual(code, 4, out)
            self.assertEqual(out.count("a dictionary of"), 1, out)
            self.assertIn("a dictionary of 100 values is above the limit", out)
            self.assertIn("raise --max-dictionary-values", out)
            code, out, _ = self.run_dump("verify", "words", "--max-dictionary-values", "3", "--json")
            self.assertEqual([(len(file["damages"]), len(file["limits"])) for file in json.loads(out)["files"]], [(0, 1), (0, 0)])
            self.assertEqual(self.run_dump("report", "words", "--max-dictionary-values", "3", "--html", "words.html", "--force")[0], 4)
            # A damaged block is damage also without the dictionary.
            if "--oldest-reader" in options:
                continue
            file = next(self.folder.glob("words/part-*/0000-w.cfile"))
            flip(file, json.loads(self.dump("blocks", "--json", "words", "--column", "w"))["blocks"][0]["offset"] + 80)
            self.assertEqual(self.run_dump("verify", "words", "--max-dictionary-values", "3")[0], 2)

    def test_verify_of_a_missing_file(self):
        (self.folder / "two.csv").write_text("a,b\n1,2\n")
        self.make("two.csv", "two", loose=True)
        file = next(self.folder.glob("two/part-*/0001-b.cfile"))
        file.unlink()
        path = str(file.relative_to(self.folder))
        code, out, error = self.run_dump("verify", "two")
        self.assertEqual((code, error), (2, ""))
        self.assertIn(f"{path}: MISSING\n", out)
        self.assertIn("\n2 files checked: 1 missing\n", out)
        code, out, _ = self.run_dump("verify", "--quiet", "two")
        self.assertEqual((code, out.count("\n")), (2, 1))
        self.assertRegex(out, f"^{re.escape(path)}: .*No such file or directory\n$")
        code, out, _ = self.run_dump("verify", "--json", "two")
        self.assertEqual(code, 2)
        self.assertEqual([(file["ok"], file["missing"], len(file["damages"])) for file in json.loads(out)["files"]],
                         [(True, False, 0), (False, True, 1)])

    def test_values_of_nested_files(self):
        arrays = HERE.parent / "golden" / "cfile-0.2" / "uint64_parquet-byte-stream-split_nullable-array_zlib_bloom.cfile"
        lines = self.dump("rows", arrays).splitlines()
        rows = int(json.loads(self.dump("summary", "--json", arrays))["rows"])
        self.assertEqual(len(lines), rows)
        for kind in (r"\[.*null.*\]", r"\[[0-9]+(, .*)?\]"):
            self.assertTrue(any(re.fullmatch(kind, line) for line in lines), kind)
        shown = [json.loads(line) for line in self.dump("rows", "--json", arrays).splitlines()]
        self.assertEqual([record["ordinal"] for record in shown], list(range(rows)))
        self.assertEqual([record["value"] for record in shown], [json.loads(line) for line in lines])
        self.assertEqual(self.dump("rows", "--ordinal", 3, "--head", 4, arrays).splitlines(), lines[3:7])
        self.assertEqual(self.dump("rows", arrays, "--row", rows - 1).splitlines(), lines[-1:])
        # An empty array has no elements; a null is an element.
        empty = self.dump("rows", HERE.parent / "golden" / "cfile-0.2" / "string_prefix_array_snappy_kudu.cfile")
        self.assertEqual(empty.splitlines().count("[]"), 1)
        (self.folder / "lists.jsonl").write_text('{"l":[1,2]}\n{"l":[]}\n{}\n{"l":[null,4]}\n')
        self.make("lists.jsonl", "lists")
        path = next(self.folder.glob("lists/part-*/*.cfile"))
        self.assertEqual(self.dump("rows", path).splitlines(), ["0 3 1", "1 3 2", "0 1 -", "0 0 -", "0 2 -", "1 3 4"])
        self.assertEqual(self.dump("rows", path, "--row", 3).splitlines(), ["0 2 -", "1 3 4"])
        self.assertEqual(json.loads(self.dump("rows", "--json", path).splitlines()[3]),
                         {"schema_version": 1, "ordinal": 3, "entries": [{"repetition": 0, "definition": 2},
                                                                         {"repetition": 1, "definition": 3, "value": 4}]})
        for options, message in ((["--tail", "1"], "only --row, --ordinal and --limit"), (["--format", "csv"], "cannot be printed as csv"),
                                 (["--where", "value > 1"], "only --row"), (["--ordinal", "9"], "is beyond the end")):
            code, _, error = self.run_dump("rows", path, *options)
            self.assertEqual(code, 1)
            self.assertIn(message, error)

    def test_packed_parts(self):
        (self.folder / "pack.csv").write_text("id,name\n" + "".join(f"{i},name {i % 9}\n" for i in range(3000)))
        self.make("pack.csv", "packed", "--sorted-by", "id")
        [part] = self.folder.glob("packed/part-*")
        self.assertEqual([path.name for path in part.iterdir() if path.suffix != ".cft"], ["columns.packed"])
        packed, column = f"packed/{part.name}/columns.packed", f"packed/{part.name}/columns.packed/0001-name.cfile"
        rows = self.dump("rows", "packed")
        self.assertEqual(self.dump("rows", "packed", "--column", "name", "--row", 5), self.dump("rows", column, "--row", 5))
        for command in ("summary", "blocks", "hexdump", "index", "verify"):
            self.assertNotEqual(self.dump(command, column), "")
        self.assertEqual(self.dump("hexdump", "packed", "--column", "name"), self.dump("hexdump", column))
        self.dump("verify", "packed")
        code, _, error = self.run_dump("summary", packed)
        self.assertEqual(code, 1)
        self.assertIn(f"the file is a packed part of a table; its columns are {packed}/0000-id.cfile, {column}", error)
        code, _, error = self.run_dump("rows", f"{packed}/0009-x.cfile")
        self.assertNotEqual(code, 0)
        self.assertIn("the packed file has no such column", error)
        self.assertIn("0000-id.cfile", self.dump("find", "packed", "7", "--explain"))
        # Both ways back.
        self.dump("rewrite", "packed", "loose", "--pack-below", "0")
        self.assertEqual(self.dump("rows", "loose"), rows)
        self.assertFalse(list(self.folder.glob("loose/part-*/*.packed")))
        self.dump("rewrite", "loose", "again", "--pack-below", "1MiB")
        self.assertEqual(self.dump("rows", "again"), rows)
        self.assertTrue(list(self.folder.glob("again/part-*/*.packed")))
        self.dump("salvage", column, "of_packed.cfile")
        self.assertEqual(self.dump("rows", "of_packed.cfile"), self.dump("rows", column))
        code, _, error = self.run_dump("rows", column, "--max-metadata-size", "40")
        self.assertEqual(code, 4)
        self.assertIn("raise --max-metadata-size", error)
        # If the directory is damaged, table.cft says where a column is.
        values, dumped = self.dump("rows", column), self.dump("hexdump", column)
        flip(part / "columns.packed", (part / "columns.packed").stat().st_size - 30)
        code, out, _ = self.run_dump("verify", "packed")
        self.assertEqual(code, 2)
        self.assertIn("directory at offset", out)
        self.assertEqual(self.run_dump("verify", column)[0], 2)
        self.dump("salvage", column, "of_damaged.cfile")
        self.assertEqual(self.dump("rows", "of_damaged.cfile"), values)
        code, out, error = self.run_dump("hexdump", column)
        self.assertEqual((code, out), (2, dumped))
        self.assertIn("directory at offset", error)
        self.assertEqual(self.dump("rows", column, "--ignore-checksums"), values)
        code, _, error = self.run_dump("rows", f"{packed}/0009-x.cfile")
        self.assertEqual(code, 2)
        self.assertIn("directory at offset", error)

    def test_damaged_nested_files(self):
        records = [{"list": list(range(i % 7)) or None, "long": "x" * 50} for i in range(3000)]
        (self.folder / "n.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        self.make("n.jsonl", "n", "--block-size", "1KiB", "--encoding", "plain", "--compression", "none", loose=True)
        nested = next(self.folder.glob("n/part-*/0000-*.cfile"))
        arrays = HERE.parent / "golden" / "cfile-0.2" / "uint64_parquet-byte-stream-split_nullable-array_zlib_bloom.cfile"
        for path in (nested, pathlib.Path(shutil.copy(arrays, self.folder / "arrays.cfile"))):
            blocks = json.loads(self.dump("blocks", "--json", path))["blocks"]
            self.assertGreater(len(blocks), 1)
            whole = {form: self.dump("rows", *form, path) for form in ((), ("--json",))}
            flip(path, blocks[-1]["offset"] + 4, 255)
            rows = blocks[-1]["first_ordinal"]
            for form, expected in whole.items():
                code, out, error = self.run_dump("rows", *form, path)
                self.assertEqual(code, 2, error)
                self.assertTrue(out.endswith("\n"), out[-100:])
                self.assertTrue(expected.startswith(out))
                if form:
                    self.assertEqual(len([json.loads(line) for line in out.splitlines()]), rows)

    def test_bloom_filter_is_asked(self):
        code, _, error = self.run_dump("stats", "--probe", "7", "t", "--column", "id")
        self.assertEqual(code, 1)
        self.assertIn("the file has no Bloom filter", error)
        self.make("t.csv", "bloom", "--bloom", "id")
        for probe, found in ("7", True), ("-5", True), ("123456789", False):
            answer = json.loads(self.dump("stats", "--json", "--probe", probe, "bloom", "--column", "id"))
            self.assertEqual((answer["value"], answer["may_be_present"]), (probe, found))
        self.assertEqual(self.dump("stats", "--probe", "7", "bloom", "--column", "id"), "the Bloom filter says: may be present\n")
        self.assertEqual(self.run_dump("stats", "--probe", "seven", "bloom", "--column", "id")[0], 1)

    def lines_on_terminal(self, width, *arguments, codes=(0,)):
        """The lines of output on a terminal of this width. Each fits."""
        done = tool_runner.run(DUMP, *arguments, cwd=self.folder, COLUMNS=str(width))
        self.assertIn(done.returncode, codes, done.stderr)
        lines = done.stdout.decode().splitlines()
        for line in lines:
            cells = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
            self.assertLessEqual(cells, width, (arguments, line))
        return lines

    @staticmethod
    def left_out(hidden, width):
        """The lines that say that columns were left out."""
        what = "column of this list does" if hidden == 1 else "columns of this list do"
        return textwrap.wrap(f"{hidden} {what} not fit: use --json, or a wider terminal" if hidden else "", width, break_on_hyphens=False)

    def test_long_names_differ_on_the_terminal(self):
        names = [f"a_very_long_column_name_of_a_table_{i:03}" for i in range(40)]
        (self.folder / "long_names.csv").write_text(",".join(names) + "\n" + ",".join("1" * 40) + "\n")
        self.make("long_names.csv", "long_names")
        lines = self.lines_on_terminal(80, "long_names")
        self.assertEqual(len({line.split()[0] for line in lines if line.startswith("a_ve")}), 40, lines)

    def test_explain_shows_by_what_rows_were_excluded(self):
        (self.folder / "big.csv").write_text("id,city,other\n" + "".join(f"{i},{'AB'[i // 1500]}{i % 7},{i % 90}\n" for i in range(3000)))
        self.make("big.csv", "big", "--sorted-by", "id", "--bloom", "city", "--block-size", "4KiB")
        where = "id > 5 and city in (B1, B2, 'a city that is not in the table') and other < 1000 and other >= 0"
        for width in (80, 200):
            lines = self.lines_on_terminal(width, "explain", "big", "--where", where)
            begin = lines.index("rows that each condition excluded (by what), rows compared, and blocks read")
            total = json.loads(self.dump("explain", "--json", "big", "--where", where))["conditions"]
            means = {"bounds": "bounds", "statistics": "statistics", "Bloom filter": "bloom_filter", "index": "value_index"}
            used = [name for name, member in means.items() if any(each[f"rows_excluded_by_{member}"] for each in total)]
            self.assertTrue({"statistics", "index"} <= set(used), total)
            self.assertEqual(re.split(" {2,}", lines[begin + 1]), ["condition", *used, "compared", "blocks", "of"])
            unused = [name for name in means if name not in used]
            self.assertEqual(lines[begin + 2 + len(total)], "no rows were excluded by: " + ", ".join(unused))
            for line, condition in zip(lines[begin + 2:], total):
                numbers = [condition[f"rows_excluded_by_{means[name]}"] for name in used]
                numbers += [condition[name] for name in ("rows_compared", "blocks_read", "blocks")]
                self.assertEqual([int(number.replace(",", "")) for number in line.split()[-len(numbers):]], numbers)

    def test_summary_fits_the_terminal(self):
        name = "a name that is longer than most others are"
        row = {"id": 1, "nested": {"with a long name": ["value"]}, "名前が長い列": "値" * 30, name: "text " * 20, "day": "2024-05-01"}
        (self.folder / "terminal.jsonl").write_text(json.dumps(row) + "\n")
        self.make("terminal.jsonl", "terminal", "--encoding", "plain", loose=True)
        for table in ("t", "terminal"):
            columns = json.loads(self.dump("--json", table))["columns"]
            for width in (40, 60, 80, 100, 200):
                lines = self.lines_on_terminal(width, table)
                table_lines = lines[lines.index("") + 1:]
                for column, line in zip(columns, table_lines[1:]):
                    self.assertIn(",".join(column["encodings"])[:9], line)
                    self.assertRegex(line, rf"\b{column['size']}\b")
                hidden = 10 - len(table_lines[0].split())
                notice = self.left_out(hidden, width)
                self.assertEqual(table_lines[1 + len(columns) + 1:], notice, (width, table_lines))
                self.assertEqual(hidden > 0, width < 100)
                if width >= 80:  # the share and the ratio are left out first
                    self.assertTrue({"nulls", "minimum", "maximum"} <= set(table_lines[0].split()), table_lines)
        # Without a terminal nothing is cut, and nothing is left out.
        self.assertIn(name + " ", self.dump("terminal"))
        self.assertIn("maximum", self.dump("terminal"))
        path = next(self.folder.glob("terminal/part-*/0000-id.cfile")).relative_to(self.folder)
        self.assertTrue(self.lines_on_terminal(60, path)[0].endswith("/0000-id.cfile"))

    def test_other_output_fits_the_terminal(self):
        (self.folder / "long.csv").write_text("long,few\n" + "".join(f"{'x' * 70}{i:06},{'y' * 90}{i % 3}\n" for i in range(3000)))
        self.make("long.csv", "long_values", "--sorted-by", "long", "--block-size", "16KiB", "--encoding", "few=dict",
                  "--encoding", "long=plain")
        self.lines_on_terminal(80, "stats", "long_values", "--column", "long")
        self.lines_on_terminal(80, "explain", "long_values", "--where", f"long > '{'x' * 300}'")
        self.lines_on_terminal(80, "rewrite", "long_values", "x" * 100, "--encoding", "plain")
        commands = (["blocks"], ["whatif"], ["index"], ["stats"], ["stats", "--dictionary"], ["rows", "--explain", "--row", "6"], ["diff", "words.cfile"])
        columns = (["t", "--column", "text"], ["long_values", "--column", "long"], ["long_values", "--column", "few"])
        for path, *column in (*([path] for path in FILES), *columns, *([path] for path in self.folder.glob("t/part-*/*.cfile"))):
            for command, *arguments in commands:
                if command == "rows" and path == "long_values":
                    continue  # values are not shortened
                # The files differ, so the exit code of diff is 1.
                self.lines_on_terminal(80, command, path, *arguments, *column, codes=(0, 1) if command == "diff" else (0,))
        self.lines_on_terminal(80, "find", "--explain", "keys.cfile", "7")
        self.lines_on_terminal(80, "find", "--explain", "t", "7")
        self.lines_on_terminal(80, "explain", "t", "--where", "id > 7 and text is not null")
        self.lines_on_terminal(80, "verify", "t")
        path = shutil.copy(self.folder / "keys.cfile", self.folder / f"{'long' * 20}.cfile")
        self.assertIn("longlong.cfile: valid", self.lines_on_terminal(80, "verify", path)[0])
        self.lines_on_terminal(80, "find", "--explain", path, "7")

    def test_blocks_and_whatif_leave_out_what_does_not_fit(self):
        members = ["index", "offset", "size", "first_ordinal", "rows", "nulls", "encoding", "compression", "stored", "encoded"]
        names = ["index", "offset", "size", "first row", "rows", "nulls", "encoding", "codec", "stored", "encoded", "ratio", "minimum",
                 "maximum"]
        path = next(self.folder.glob("t/part-*/0000-id.cfile"))
        block = json.loads(self.dump("blocks", "--json", path))["blocks"][0]
        for width in (40, 60, 80, 100, 200):
            header, line, *note = self.lines_on_terminal(width, "blocks", path)
            shown = re.split(" {2,}", header.strip())
            self.assertEqual(shown, [name for name in names if name in shown])
            hidden = len(names) - len(shown)
            self.assertEqual(note, self.left_out(hidden, width))
            self.assertEqual(hidden == 0, width > 100)
            self.assertTrue({"offset", "size", "first row", "rows"} <= set(shown))
            for member, name in zip(members, names):  # each cell is below its name
                place = re.search(rf"\b{name}\b", header)
                if place is not None and name in ("encoding", "codec"):
                    self.assertTrue(str(block[member]).startswith(line[place.start():].split()[0].removesuffix("...")))
                elif place is not None:
                    self.assertEqual(line[:place.end()].split()[-1], str(block[member]))
        self.assertEqual(self.dump("blocks", path).splitlines(), self.lines_on_terminal(200, "blocks", path))
        # Bounds are shortened before columns are left out.
        wide, narrow = ({"minimum": lines[0].find("minimum"), "line": lines[1]} for lines in
                        (self.lines_on_terminal(width, "blocks", "t", "--column", "text") for width in (200, 110)))
        self.assertGreater(narrow["minimum"], 0)
        self.assertLessEqual(len(narrow["line"]), len(wide["line"]))
        lines = self.lines_on_terminal(80, "whatif", path)
        title = next(line for line in lines if line.startswith("encoding"))
        self.assertEqual(title.split()[:3], ["encoding", "codec", "bytes"])
        self.assertNotIn("Mvalue/s", title)
        self.assertTrue(any("<- file" in line for line in lines))
        self.assertTrue(any(lines[-4:].count(line) for hidden in range(1, 9) for line in self.left_out(hidden, 80)), lines)
        self.assertIn("Mvalue/s", "".join(self.lines_on_terminal(200, "whatif", path)))

    def test_commands_without_json_refuse_it(self):
        for command, *arguments in (["report", "t", "--html", "t.html"],):
            code, out, error = self.run_dump("--json", command, *arguments)
            self.assertEqual((code, out, error), (1, "", f"cfile-dump: {command} has no --json\nSee cfile-dump {command} --help\n"))
            code, out, error = self.run_dump(command, "--json", *arguments)
            self.assertEqual((code, out), (1, ""))
            self.assertIn("--json", error)
        self.assertFalse((self.folder / "t.html").exists())

    def test_help_fits_the_terminal(self):
        commands = re.findall(r"(?m)^  ([a-z]+) {2,}", self.dump("--help").partition("Subcommands:")[2])
        self.assertEqual(len(commands), 15)
        for command in ([], *([each] for each in commands)):
            lines = [line for line in self.lines_on_terminal(80, *command, "--help") if line.startswith("  -")]
            self.assertTrue(lines or command == [])

    def test_json_says_what_it_cuts(self):
        path = next(self.folder.glob("t/part-*/0001-text.cfile"))
        fields = [json.loads(line) for line in self.dump("hexdump", "--json", "--bytes", "5", path).splitlines()]
        self.assertEqual([field["hex_complete"] for field in fields], [field["size"] <= 5 for field in fields])
        self.assertEqual({field["hex_complete"] for field in fields}, {True, False})
        summary = json.loads(self.dump("--json", "t"))
        self.assertAlmostEqual(sum(column["share"] for column in summary["columns"]), 1)
        for column in summary["columns"]:
            self.assertAlmostEqual(column["ratio"], column["decoded"] / column["stored"])
        self.assertTrue(all((self.folder / "t" / part["name"]).is_dir() for part in summary["parts"]))
        for column in ("id", "text"):
            info = json.loads(self.dump("--json", "t", "--column", column))
            for block in json.loads(self.dump("blocks", "--json", "t", "--column", column))["blocks"]:
                self.assertEqual(block["compression"], info["compression"] if block["compressed"] else "none")

    def test_hexdump_of_a_block_that_is_not_there(self):
        self.assertEqual(self.run_dump("hexdump", "keys.cfile", "--block", "9")[2], self.run_dump("blocks", "keys.cfile", "--block", "9")[2])

    def test_summary_is_sorted_by_size(self):
        sizes = [column["size"] for column in json.loads(self.dump("summary", "--json", "--sort", "size", "t"))["columns"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertNotEqual(sizes, [column["size"] for column in json.loads(self.dump("--json", "t"))["columns"]])

    def check_cover(self, fields, begin, size):
        """The fields cover `size` bytes from offset `begin` on, without gaps and overlaps."""
        for field in fields:
            self.assertEqual(field["offset"], begin)
            self.assertGreater(field["size"], 0)
            self.assertEqual(len(field["hex"].removesuffix("...")), 2 * min(field["size"], 8))
            begin += field["size"]
            size -= field["size"]
        self.assertEqual(size, 0)

    def test_block(self):
        for path in ("words.cfile", "flags.cfile", "paths.cfile", "keys.cfile"):
            for block in json.loads(self.dump("blocks", "--json", "--bytes", path))["blocks"]:
                described = json.loads(self.dump("blocks", "--json", path, "--block", str(block["index"])))
                for name in ("index", "offset", "size", "first_ordinal", "encoding"):
                    self.assertEqual(described[name], block[name])
                self.assertEqual(described["compression"] != "none", block["compressed"])
                self.check_cover(described["stored_fields"], block["offset"], block["size"])
                self.assertEqual(described["stored_fields"][-1]["value"], "right")
                self.check_cover(described["fields"], 0, block["encoded"])
                for field in described["fields"]:
                    self.assertNotIn(field["name"], ("unknown bytes", "bytes after the last value"))
                    hexadecimal = field["hex"].removesuffix("...")
                    at = 2 * field["offset"]
                    self.assertEqual(hexadecimal, block["bytes"][at:at + len(hexadecimal)])
                for row in (block["first_ordinal"], block["first_ordinal"] + block["rows"] - 1):
                    self.assertEqual(json.loads(self.dump("blocks", "--json", "--ordinal", str(row), path)), described)

    def test_damaged_blocks_are_described(self):
        path = self.folder / "flipped_block.cfile"
        for source in ("words.cfile", "flags.cfile"):
            block = json.loads(self.dump("blocks", "--json", source, "--block", "0"))
            refused = 0
            for offset in range(block["offset"], block["offset"] + block["size"]):
                shutil.copy(self.folder / source, path)
                flip(path, offset, 0x50)
                code, out, error = self.run_dump("blocks", "--json", "flipped_block.cfile", "--block", "0")
                self.assertEqual(code, 2)
                self.assertIn("checksum mismatch", error)
                described = json.loads(out)
                self.assertIn("checksum mismatch", described["error"])
                self.assertIn("wrong: the bytes have", described["stored_fields"][-1]["value"])
                self.check_cover(described["stored_fields"], block["offset"], block["size"])
                self.check_cover(described["fields"], 0, block["size"] - 4)
                # Without the checksum, the same fields; and an error if the fields cannot be found.
                code, out, error = self.run_dump("blocks", "--json", "flipped_block.cfile", "--block", "0", "--ignore-checksums")
                ignored = json.loads(out)
                self.assertEqual(ignored["fields"], described["fields"])
                unknown = any(field["name"] == "unknown bytes" for field in ignored["fields"])
                self.assertIn(code, (2, 4) if unknown else (0, 2))
                self.assertEqual("error" in ignored, code != 0)
                refused += code != 0
            self.assertGreater(refused, 0)

    def test_values_are_exact(self):
        rows = [json.loads(line) for line in self.dump("rows", "--json", "t").splitlines()]
        self.assertEqual([row["ordinal"] for row in rows], list(range(7)))
        self.assertEqual([row["values"]["id"] for row in rows], [-5, 0, 7, 7, 8, 9, 12])
        self.assertEqual([row["values"]["text"] for row in rows],
                         ["plain", "two\nlines", None, "null", "", '"quoted"\ttab \\ \x1b[0m', "Zürich 東京"])
        self.assertEqual([row["values"]["day"] for row in rows[:4]],
                         ["2013-01-31", "2013-02-01", "2013-02-02", None])
        self.assertEqual([row["values"]["amount"] for row in rows],
                         ["9007199254740993", 9007199254740992, None, -1, 2, 3, 4])

    def test_salvage(self):
        code, out, error = self.run_dump("salvage", "--json", "torn.cfile", "salvaged.cfile")
        self.assertEqual((code, error), (2, ""))
        report = json.loads(out)
        self.assertEqual((report["rows"], report["has_footer"], report["missing"]), (7, False, []))
        rows = [json.loads(line)["value"] for line in self.dump("rows", "--json", "salvaged.cfile").splitlines()]
        self.assertEqual(rows, ["plain", "two\nlines", None, "null", "", '"quoted"\ttab \\ \x1b[0m', "Zürich 東京"])
        self.dump("verify", "salvaged.cfile")

    def test_where(self):
        def ids(*arguments):
            return [json.loads(line)["values"]["id"]
                    for line in self.dump("rows", "--json", "--columns", "id", *arguments, "t").splitlines()]

        self.assertEqual(ids("--where", "id = 7"), [7, 7])
        self.assertEqual(ids("--where", "id >= 7", "--ordinal", "3", "--count", "2"), [7, 8])
        self.assertEqual(ids("--where", "day < 2013-02-04"), [-5, 0, 7])
        self.assertEqual(ids("--where", "text is null"), [7])
        self.assertEqual(ids("--where", "text is not null", "--count", "2"), [-5, 0])
        self.assertEqual(ids("--where", "text begins two\nl"), [0])
        self.assertEqual(ids("--where", "text = ''"), [8])
        self.assertEqual(ids("--where", "id = 7 and text is not null"), [7])
        self.assertEqual(ids("--where", "day >= '2013-02-02' AND amount between 2 and 3"), [8, 9])
        self.assertEqual(ids("--where", "text like 'pl%' and id in (1, -5)"), [-5])
        self.assertEqual(ids("--where", "id > 0 and amount > 0 and day != 2013-02-04", "--count", "1"), [9])
        self.assertEqual(ids("--where", "id = 7 and id = 8"), [])
        self.assertEqual(ids("--where", "id = 7 or id = 8"), [7, 7, 8])
        self.assertEqual(ids("--where", "id in (7, 8) and not (text = '' or text is null)"), [7])
        self.assertEqual(ids("--where", "amount != 2"), [-5, 0, 7, 9, 12])
        self.assertEqual(self.dump("rows", "--where", "value <= -5", "t", "--column", "id", "--part", "0"), "-5\n")
        values = self.dump("rows", "keys.cfile").splitlines()
        self.assertEqual(self.dump("rows", "--where", "value > 0", "keys.cfile").splitlines(),
                         [value for value in values if int(value) > 0])
        shutil.copytree(self.folder / "t", self.folder / "two_parts")
        self.make("t.csv", "two_parts", "--append", loose=True)
        found = [json.loads(line) for line in self.dump("rows", "--json", "--where", "id = 8", "two_parts").splitlines()]
        self.assertEqual([row["ordinal"] for row in found], [4, 11])
        self.assertEqual(len(self.dump("rows", "--where", "id = 8", "--ordinal", "5", "two_parts").splitlines()), 2)
        # The JSON of several parts is one object, even if parts cannot be read.
        for path, printed in zip(self.folder.glob("two_parts/part-*/*-id.cfile"), (1, 0), strict=True):
            path.write_bytes(b"")
            code, out, _ = self.run_dump("hexdump", "--header", "--json", "two_parts", "--column", "id")
            self.assertEqual((code, len(json.loads(out)["files"])), (2, printed))
        for wrong in ("", "id", "id ~ 7", "nothing = 7", "id = x", "id is 7", "id begins 7", "text =", "id = 7 or", "(id = 7",
                      "text = 'a", "id = 7 and", "text = a id = 7", "text = null", "id = 7 not id = 8"):
            code, out, error = self.run_dump("rows", "--where", wrong, "t")
            self.assertEqual((code, out), (1, ""), wrong)
            self.assertRegex(error, r"^cfile-dump: --where: .* \((at the end|character \d+: .*)\)\n$")
        code, _, error = self.run_dump("rows", "--where", "id = 7", "keys.cfile")
        self.assertEqual(code, 1)
        self.assertIn("there is no column id; the only column is called value", error)

    def test_names_that_need_quotes(self):
        (self.folder / "names.csv").write_text('First Name,"a,b","say ""so""",and\nann,1,x,2\nbob,3,y,4\n')
        self.make("names.csv", "names")
        columns = '"a,b","say ""so""",First Name'
        self.assertEqual(self.dump("rows", "names", "--columns", columns, "--columns", "and").splitlines()[1:],
                         ["1\tx\tann\t2", "3\ty\tbob\t4"])
        records = self.dump("rows", "--format", "jsonl", "names", "--columns", columns).splitlines()
        self.assertEqual(json.loads(records[0]), {"First Name": "ann", "a,b": 1, 'say "so"': "x"})
        where = '"First Name" = bob and "a,b" >= 3 and "say ""so""" like \'y%\' and and = 4'
        self.assertEqual(self.dump("rows", "names", "--columns", "and", "--where", where), "and\n4\n")
        for wrong in ('"a', 'a,,b', '', '"a,b"c', 'a,b'):
            code, _, error = self.run_dump("rows", "names", "--columns", wrong)
            self.assertEqual(code, 1, error)
        self.assertIn('it has "First Name", "a,b", "say ""so""", "and"', error)
        # --column takes a name as it is, and as the error prints it.
        for name in ('say "so"', '"say ""so"""'):
            self.assertRegex(self.dump("names", "--column", name), r"\nminimum +x\nmaximum +y\n")

    def test_floats_stay_floats(self):
        (self.folder / "floats.csv").write_text("x\n1\n-0\n2.5\n1e300\n1e20\nnan\n-inf\n")
        self.make("floats.csv", "floats", "--type", "x=double")
        expected = ["1.0", "-0.0", "2.5", "1e+300", "1e+20", '"nan"', '"-inf"']
        values = self.dump("rows", "--json", "floats").splitlines()
        self.assertEqual([re.search(r'"x":(.*?)}', line)[1] for line in values], expected)
        records = self.dump("rows", "--format", "jsonl", "floats").splitlines()
        self.assertEqual([re.search(r'"x":(.*?)}', line)[1] for line in records], expected)
        self.assertIn('"values":{"x":-0.0}', self.dump("rows", "--json", "floats", "--row", "1"))

    def test_compression_is_what_blocks_use(self):
        (self.folder / "c.csv").write_text("same,short\n" + f"{'x' * 90},1\n" * 300)
        self.make("c.csv", "c", "--encoding", "plain", "--compression", "same=zstd", "--compression", "short=none")
        self.assertEqual([c["compressions"] for c in json.loads(self.dump("--json", "c"))["columns"]],
                         [["zstd"], ["none"]])
        # The block is too small to be compressed, although the file has a codec.
        (self.folder / "c.csv").write_text("same,short\nx,1\n")
        self.make("c.csv", "d", "--encoding", "plain", "--compression", "zstd")
        self.assertEqual([c["compressions"] for c in json.loads(self.dump("--json", "d"))["columns"]],
                         [["none"], ["none"]])
        self.assertNotIn("zstd", self.dump("d"))
        self.make("c.csv", "c", "--append", "--encoding", "plain")
        self.assertEqual(json.loads(self.dump("--json", "c"))["columns"][0]["compressions"], ["zstd"])

    def test_some_compressed_blocks(self):
        generator = random.Random(1)
        noise = "".join(f"{generator.randbytes(1000).hex()}\n" for _ in range(12))
        (self.folder / "p.csv").write_text("v\n" + noise + ("78" * 40 + "\n") * 300)
        self.make("p.csv", "p", "--encoding", "plain", "--compression", "zstd", "--block-size", "4KiB", "--type", "v=binary")
        blocks = json.loads(self.dump("blocks", "--json", "p", "--column", "v"))["blocks"]
        compressed = sum(block["compressed"] for block in blocks)
        column, = json.loads(self.dump("--json", "p"))["columns"]
        self.assertEqual((column["compressed_blocks"], column["blocks"]), (compressed, len(blocks)))
        self.assertTrue(0 < compressed < len(blocks), blocks)
        self.assertRegex(self.dump("p"), rf"\nv +binary +plain +zstd {compressed}/{len(blocks)} +\d")

    def test_ratios(self):
        path = next(self.folder.glob("t/part-*/0001-text.cfile"))
        for file in (path, "paths.cfile"):
            summary = json.loads(self.dump("--json", file))
            self.assertEqual(summary["ratio"], int(100 * summary["decoded"] / summary["stored"] + 0.5) / 100)
            self.assertEqual(summary["encoded_ratio"], int(100 * summary["encoded"] / summary["stored"] + 0.5) / 100)
        column = next(c for c in json.loads(self.dump("--json", "t"))["columns"] if c["name"] == "text")
        self.assertAlmostEqual(json.loads(self.dump("--json", path))["ratio"], column["ratio"], delta=0.0051)
        # Numbers that are not known are null, as in the summary of a table.
        damaged = json.loads(self.run_dump("--json", "damaged_words.cfile")[1])
        for name in ("nulls", "blocks", "stored", "encoded", "decoded", "ratio", "encoded_ratio", "bits_per_value"):
            self.assertIsNone(damaged[name], name)

    def test_statistics(self):
        def bounds(part):
            return [part[name] and part[name]["text"] for name in ("minimum", "maximum")]

        for column, expected in (("0000-id", ["-5", "12"]), ("0002-day", ["2013-01-31", "2013-02-06"]),
                                 ("0003-amount", ["-1", "9007199254740993"])):
            path = str(next(self.folder.glob(f"t/part-*/{column}.cfile")).relative_to(self.folder))
            summary = json.loads(self.dump("--json", path))
            self.assertEqual(bounds(summary), expected)
            self.assertEqual(summary["bloom_filter"], 0)
            self.assertIn(f"minimum           {expected[0]}\nmaximum           {expected[1]}\n", self.dump(path))
            blocks = json.loads(self.dump("blocks", "--json", path))["blocks"]
            self.assertEqual([bounds(block) for block in blocks], [expected])
            header, line = self.dump("blocks", path).splitlines()
            self.assertEqual((header.split()[-2:], line.split()[-2:]), (["minimum", "maximum"], expected))
        self.assertNotIn("minimum", json.loads(self.dump("--json", "keys.cfile")))  # Kudu's files have no statistics

    def test_bounds_are_cut_between_characters(self):
        # With the x before them, a cut after a fixed number of bytes would split an \u00e4 of 2 bytes.
        (self.folder / "wide.csv").write_text("a\nx" + "\u00e4" * 40 + "\n", encoding="utf-8")
        self.make("wide.csv", "wide", "--header", "yes")
        shown = "x" + "\u00e4" * 29 + "..."
        self.assertIn(f"minimum           {shown}\n", self.dump("wide", "--column", "a"))
        self.assertIn("x" + "\u00e4" * 11 + "...", self.dump("blocks", "wide", "--column", "a"))

    def test_table_summary(self):
        summary = json.loads(self.dump("--json", "t"))
        part = next(self.folder.glob("t/part-*")).name
        self.assertEqual((summary["rows"], summary["parts"]), (7, [{"name": part, "first_ordinal": 0, "rows": 7}]))
        self.assertEqual([(c["name"], c["type"], c["nullable"], c["nulls"]) for c in summary["columns"]],
                         [("id", "int32", False, 0), ("text", "string", True, 1), ("day", "date", True, 1),
                          ("amount", "int64", True, 1)])
        self.assertEqual(summary["size"], sum(f.stat().st_size for f in self.folder.glob("t/*/*.cfile")))
        self.assertEqual(summary["nulls"], 3)
        text = self.dump("t")
        self.assertIn("rows   7\n", text)
        for column in ("id", "text", "day", "amount", "total"):
            self.assertRegex(text, f"\n{column} ")


    def test_key_index(self):
        (self.folder / "k.csv").write_text("o,n\n" + "".join(f"{i},{'n' * (i % 5)}{i}\n" for i in range(500)))
        self.make("k.csv", "k", "--sorted-by", "o", "--sorted-by", "n", loose=True)
        summary = json.loads(self.dump("--json", "k"))
        files = {path.name[5:-6]: path.stat().st_size for path in self.folder.glob("k/*/*.cfile")}
        self.assertEqual([column["name"] for column in summary["columns"]], ["o", "n"])
        self.assertEqual(summary["key_index"]["size"], files["key_index"])
        self.assertEqual(summary["size"], sum(files.values()))
        self.assertAlmostEqual(sum(part["share"] for part in (*summary["columns"], summary["key_index"])), 1)
        self.assertNotIn("key_index", json.loads(self.dump("--json", "t")))
        for options in ([], ["--sort", "size"]):
            text = self.dump("k", *options)
            self.assertRegex(text, rf"\nkey index +binary .* {files['key_index']} ")
            self.assertRegex(text, rf"\ntotal +{sum(files.values())} +100.0 %")
        # Commands that read values refuse the key index, and say why.
        for command in (["rows", "k", "--column"], ["rows", "k", "--columns"], ["rows", "k", "--row", "1", "--column"],
                        ["whatif", "k", "--column"], ["diff", "k", "k", "--column"], ["find", "k", "1", "--column"]):
            code, _, error = self.run_dump(*command, "key index")
            self.assertNotEqual(code, 0)
            self.assertIn("the key index has no values, ", error)
            self.assertNotIn("no column", error)
        for command in ([], ["hexdump", "--header"], ["hexdump", "--footer"], ["blocks"], ["stats", "--dictionary"], ["index"], ["stats"], ["verify"], ["hexdump"]):
            code, _, error = self.run_dump(*command, "k", "--column", "key index")
            self.assertTrue(code == 0 or "no dictionary" in error, (command, error))


class Columns(DumpTest):
    """The options --column and --part instead of the path of a file."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copytree(cls.folder / "t", cls.folder / "parts")
        cls.make("t.csv", "parts", "--append", loose=True)
        cls.files = {}  # by table and part: the path of the file of column id
        for table, count in (("t", 1), ("parts", 2)):
            report = json.loads(subprocess.run([DUMP, "verify", "--json", table], cwd=cls.folder, check=True,
                                               capture_output=True, timeout=60).stdout)
            for part in range(count):
                cls.files[table, part] = report["files"][4 * part]["path"]

    def test_one_file(self):
        for (table, part), path in self.files.items():
            part_options = [["--part", str(part)]] + ([[]] if table == "t" else [])
            for options in part_options:
                for command in ([], ["hexdump", "--header"], ["hexdump", "--footer"], ["blocks"], ["blocks", "--bytes"], ["index"], ["--json"],
                                ["blocks", "--json"], ["blocks", "--ordinal", "1"]):
                    self.assertEqual(self.dump(*command, table, "--column", "id", *options), self.dump(*command, path))
                out = self.folder / "salvaged_column.cfile"
                self.dump("salvage", table, "--column", "id", *options, str(out), "--force")
                self.assertEqual(out.read_bytes(), (self.folder / path).read_bytes())

    def test_several_parts(self):
        for command in (["blocks", "--ordinal", "1"], ["hexdump"], ["salvage"]):
            code, _, error = self.run_dump(*command, "parts", "--column", "id", *(["out"] if command == ["salvage"] else []))
            self.assertEqual((code, error), (1, "cfile-dump: parts has 2 parts: choose one with --part, from 0 on\n"))
        # Other commands print one part after another.
        paths = [self.files["parts", part] for part in range(2)]
        for command in ([], ["hexdump", "--header"], ["hexdump", "--footer"], ["blocks"], ["index"], ["stats"]):
            texts = [f"# {path}\n{self.dump(*command, path)}" for path in paths]
            self.assertEqual(self.dump(*command, "parts", "--column", "id"), "\n".join(texts), command)
            document = json.loads(self.dump(*command, "parts", "--column", "id", "--json"))
            self.assertEqual(document["files"], [json.loads(self.dump(*command, path, "--json")) for path in paths], command)
        ids = "-5\n0\n7\n7\n8\n9\n12\n"
        self.assertEqual(self.dump("rows", "parts", "--column", "id"), 2 * ids)
        self.assertEqual(self.dump("rows", "parts", "--column", "id", "--part", "1"), ids)
        self.assertEqual(self.dump("rows", "parts", "--column", "id", "--ordinal", "6", "--count", "2"), "12\n-5\n")
        self.assertEqual(json.loads(self.dump("rows", "--json", "parts", "--column", "id", "--ordinal", "13")),
                         {"schema_version": 1, "ordinal": 13, "value": 12})
        self.assertEqual(self.dump("rows", "parts", "--row", "8", "--column", "id"), "0\n")
        self.assertEqual(self.dump("rows", "parts", "--row", "1", "--column", "id", "--part", "1"), "0\n")
        self.assertIn("ordinal  2\n", self.dump("find", "parts", "--column", "id", "7"))
        self.assertIn("ordinal  2\n", self.dump("find", "parts", "--column", "id", "--part", "1", "7"))
        self.assertIn("ordinal  2\n", self.dump("find", "parts", "7", "--part", "1"))  # id is the only column with a value index

    def test_verify(self):
        def files(*options):
            report = json.loads(self.dump("verify", "--json", "parts", *options))
            return [file["path"].split("/")[1:] for file in report["files"]]

        everything = files()
        self.assertEqual(len(everything), 8)
        self.assertEqual(files("--part", "1"), everything[4:])
        self.assertEqual(files("--column", "day"), everything[2::4])
        self.assertEqual(files("--column", "day", "--part", "0"), [everything[2]])

    def test_misuse(self):
        for arguments, expected in (
                (["blocks", "t"], "t is a table: choose one of its columns, such as --column id"),
                (["blocks", "t", "--column", "ID"], 'the table has no column "ID"; it has id, text, day, amount; did you mean id?'),
                (["blocks", "t", "--column", "id", "--part", "1"], "there is no part 1: t has 1 part, counted from 0"),
                (["verify", "t", "--part", "1"], "there is no part 1: t has 1 part, counted from 0"),
                (["blocks", "t", "--column", "id", "--part", "prt"], "t: no part has a name that begins with prt"),
                (["rows", "t", "--part", "7"], "there is no part 7: t has 1 part, counted from 0"),
                (["explain", "t", "--part", "1"], "there is no part 1: t has 1 part, counted from 0"),
                (["whatif", "words.cfile", "--part", "0"],
                 "--column and --part are for tables, but words.cfile is a single column"),
                (["summary", "--schema", "words.cfile"], "words.cfile is a single column of type string: only tables have a schema"),
                (["rows", "words.cfile", "--part", "0"],
                 "--column and --part are for tables, but words.cfile is a single column"),
                (["blocks", "words.cfile", "--column", "id"],
                 "--column and --part are for tables, but words.cfile is a single column"),
                (["rows", "words.cfile", "--column", "id"],
                 "--column and --part are for tables, but words.cfile is a single column"),
                (["verify", "words.cfile", "--part", "0"],
                 "--column and --part are for tables, but words.cfile is a single column")):
            code, out, error = self.run_dump(*arguments)
            self.assertEqual((code, out, error), (1, "", f"cfile-dump: {expected}\n"))


    def test_misuse_names_the_help(self):
        for arguments, expected in (
                (["--colum", "id", "t"], "unknown option --colum; did you mean --column?\nSee cfile-dump --help"),
                (["t", "--colum", "id"], "unknown option --colum; did you mean --column?\nSee cfile-dump --help"),
                (["whatif", "t", "--frobnicate", "0"], "unknown option --frobnicate\nSee cfile-dump whatif --help"),
                (["rows", "t", "--row", "0", "1", "2"], "unexpected arguments: 1 2\nSee cfile-dump rows --help"),
                (["rows", "t", "--count", "x"],
                 "--limit: 'x' is not a number from 0 to 2^64 - 1\nSee cfile-dump rows --help")):
            self.assertEqual(self.run_dump(*arguments), (1, "", f"cfile-dump: {expected}\n"))
        self.assertIn("neither a file nor a subcommand", self.run_dump("valeus", "t", "--head", "3")[2])

    def test_zero_bounds_have_no_sign(self):
        (self.folder / "zeros.csv").write_text("x\n0.0\n0.0\n")
        self.make("zeros.csv", "zeros", "--type", "x=double")
        column, = json.loads(self.dump("--json", "zeros"))["columns"]
        self.assertEqual((column["minimum"]["text"], column["maximum"]["text"]), ("0", "0"))
        for command in ([], ["stats"], ["blocks"]):
            self.assertNotIn("-0", self.dump(*command, "zeros", "--column", "x").replace("part-", ""), command)

    def test_footer_and_hexdump_name_features_and_bounds(self):
        self.assertIn("compatible_features: 1  # statistics\n", self.dump("hexdump", "--footer", "t", "--column", "id"))
        fields = [json.loads(line) for line in self.dump("hexdump", "--json", "t", "--column", "id").splitlines()]
        values = {field["name"]: field["value"] for field in fields if field["region"] in ("footer", "statistics")}
        self.assertEqual(values["compatible_features"], "1 (statistics)")
        stats = json.loads(self.dump("stats", "--json", "t", "--column", "id"))["file"]
        self.assertRegex(values["min_key"], rf" \({stats['minimum']['text']}\)$")
        self.assertRegex(values["max_key"], rf" \({stats['maximum']['text']}\)$")

    def test_explain_has_the_version_of_the_schema(self):
        for command in (["find", "t", "7"], ["rows", "t", "--row", "0"]):
            _, second = self.dump(command[0], "--explain", "--json", *command[1:]).splitlines()
            self.assertEqual(list(json.loads(second)), ["schema_version", "path", "explain"])

    def test_verify_counts_only_bytes_that_were_checked(self):
        code, out, _ = self.run_dump("verify", "--max-block-size", "1", "t", "--column", "text")
        self.assertEqual(code, 4, out)
        checked, size = map(int, re.search(r"checked (\d+) of (\d+) bytes", out).groups())
        self.assertLess(checked, size)


class Damage(DumpTest):
    def verify_each(self, copies):
        """Writes the copies of words.cfile as the columns of a table. Returns what verify says about each of them."""
        folder = self.folder / "copies"
        files = []
        for number, data in enumerate(copies):
            file = GoldenFile(self.folder / "words.cfile")
            file.path, file.name, file.size = self.folder / f"copy{number}", f"c{number}", len(data)
            file.path.write_bytes(data)
            files.append(file)
        make_table(files, folder)
        code, out, error = self.run_dump("verify", "--json", "copies")
        self.assertEqual((code, error), (2, ""))
        self.assertNotIn("expected by table.cft", out)
        shutil.rmtree(folder)
        reports = json.loads(out)["files"]
        self.assertEqual([pathlib.Path(report["path"]).name for report in reports], [file.path.name for file in files])
        return reports

    def test_verify_finds_each_flipped_byte(self):
        original = (self.folder / "words.cfile").read_bytes()
        reports = self.verify_each(original[:i] + bytes([original[i] ^ 0x10]) + original[i + 1:] for i in range(len(original)))
        self.assertEqual([i for i, report in enumerate(reports) if report["ok"]], [])

    def test_verify_finds_each_truncation(self):
        original = (self.folder / "words.cfile").read_bytes()
        reports = self.verify_each(original[:size] for size in range(len(original)))
        self.assertEqual([i for i, report in enumerate(reports) if report["ok"] or not report["damages"]], [])

    def test_table(self):
        self.assertIn("4 files checked: all valid\n", self.dump("verify", "t"))
        damaged = self.folder / "damaged_table"
        shutil.copytree(self.folder / "t", damaged)
        path = next(damaged.glob("*/*-day.cfile"))
        flip(path, path.stat().st_size // 2)
        code, out, error = self.run_dump("verify", "--json", "damaged_table")
        self.assertEqual((code, error), (2, ""))
        report = json.loads(out)
        self.assertFalse(report["ok"])
        self.assertEqual([file["path"] for file in report["files"] if not file["ok"]],
                         [str(path.relative_to(self.folder))])
        self.assertIn("4 files checked: 1 damaged\n", self.run_dump("verify", "damaged_table")[1])
        path.unlink()
        code, out, error = self.run_dump("verify", "damaged_table")
        self.assertEqual(code, 2)
        self.assertIn("4 files checked: 1 missing\n", out)
        other = next(damaged.glob("*/*-text.cfile"))
        flip(other, other.stat().st_size // 2)
        self.assertIn("4 files checked: 1 damaged, 1 missing\n", self.run_dump("verify", "damaged_table")[1])
        code, out, error = self.run_dump("damaged_table")
        self.assertNotEqual(code, 0)
        self.assertRegex(out, r"\nday \(incomplete\) +\S+ +- +- +- +- +- +- ")
        self.assertRegex(out, r"\ntotal \(incomplete\) +\d+ +- +- +-\n")
        report = json.loads(self.run_dump("--json", "damaged_table")[1])
        self.assertEqual((report["size"], report["nulls"], report["ratio"]), (None, None, None))
        self.assertIn("cfile-dump: ", error)


class Surroundings(DumpTest):
    # All kinds of output.
    PRINTING = ([], ["--json"], ["hexdump", "--header"], ["hexdump", "--footer", "--json"], ["blocks"], ["blocks", "--json"],
                ["blocks", "--ordinal", "7"], ["blocks", "--json", "--ordinal", "7"], ["index"], ["index", "--json"], ["rows"],
                ["rows", "--json"], ["rows", "--where", "value > 0"], ["rows", "--row", "7"], ["find", "--json", "7"],
                ["--help"], ["rows", "--help"], ["--version"])

    def commands(self):
        for command in self.PRINTING:
            yield command[:1] + ["keys.cfile"] + command[1:] if command[:1] and command[0][0] != "-" \
                else command + ["keys.cfile"]
        for command in ([], ["--json"], ["rows"], ["rows", "--format", "jsonl"], ["summary", "--schema"], ["rows", "--where", "id > 0"]):
            yield command + ["t"]

    def run_into(self, target, *arguments):
        done = subprocess.run([DUMP, *arguments], cwd=self.folder, stdout=target, stderr=subprocess.PIPE, timeout=60)
        return done.returncode, done.stderr.decode()

    def run_into_closed_pipe(self, *arguments):
        end, pipe = os.pipe()
        os.close(end)
        try:
            return self.run_into(pipe, *arguments)
        finally:
            os.close(pipe)

    def test_closed_pipe(self):
        for command in self.commands():
            self.assertEqual(self.run_into_closed_pipe(*command), (-signal.SIGPIPE, ""), command)

    def test_verify_and_salvage_end_as_they_find_it(self):
        (self.folder / "several").mkdir()
        for command, code in ((["words.cfile"], 0), (["damaged_words.cfile"], 2), (["--json", "damaged_words.cfile"], 2),
                              (["t"], 0), (["--json", "t"], 0)):
            self.assertEqual(self.run_into_closed_pipe("verify", *command), (code, ""), command)
        self.assertEqual(self.run_into_closed_pipe("salvage", "words.cfile", "several/words.cfile"), (0, ""))
        self.assertEqual(self.run_into_closed_pipe("salvage", "damaged_paths.cfile", "several/paths.cfile"), (2, ""))
        self.dump("verify", "several/paths.cfile")

    def test_pipestatus(self):
        for command, codes in (("rows --json keys.cfile | head -1", "141 0"), ("rows keys.cfile | cat", "0 0"),
                               ("verify damaged_words.cfile | true", "2 0"), ("verify words.cfile | true", "0 0")):
            done = subprocess.run(["bash", "-c", f'"$0" {command} >/dev/null; echo "${{PIPESTATUS[@]}}"', DUMP],
                                  cwd=self.folder, capture_output=True, timeout=60)
            self.assertEqual((done.stdout.decode(), done.stderr), (f"{codes}\n", b""), command)

    def test_ignored_sigpipe(self):
        # A service manager may start the tool with SIGPIPE ignored. The tool ends as if the signal was not ignored.
        for command in self.commands():
            end, pipe = os.pipe()
            os.close(end)
            done = subprocess.run([DUMP, *command], cwd=self.folder, stdout=pipe, stderr=subprocess.PIPE, restore_signals=False,
                                  timeout=60)
            os.close(pipe)
            self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""), command)

    def test_full_device(self):
        message = "cfile-dump: cannot write to standard output: No space left on device\n"
        with open("/dev/full", "wb") as full:
            for command in (*self.commands(), ["verify", "words.cfile"], ["verify", "t"],
                            ["salvage", "--force", "words.cfile", "full.cfile"]):
                self.assertEqual(self.run_into(full, *command), (3, message), command)
            self.assertEqual(self.run_into(full, "verify", "damaged_words.cfile"), (2, message))
            # If a table has several parts, the command ends after the first part.
            self.make("t.csv", "two_parts", "--sorted-by", "id")
            self.make("t.csv", "two_parts", "--append")
            for command in (["blocks"], ["stats", "--json"], ["index"]):
                self.assertEqual(self.run_into(full, *command, "two_parts", "--column", "id"), (3, message), command)

    def test_nothing_steers_a_terminal(self):
        # Names of folders, columns and keys with control characters for terminals: ESC, BEL, DEL, CSI as one character, and
        # U+202E, after which a terminal shows text from right to left.
        evil = "e\x1b[31m\x07\x7f\x9b\u202evil"
        csv, table = f"{evil}.csv", f"{evil}.t"
        (self.folder / csv).write_text(f"{evil},id\n{evil},7\n")
        (self.folder / f"{evil}.jsonl").write_text(json.dumps({evil: {evil: evil}}) + "\n")
        self.make(csv, table, loose=True)
        self.make(f"{evil}.jsonl", f"{evil}.j")
        file = f"{evil}.cfile"
        shutil.copy(next((self.folder / table).glob("*/*.cfile")), self.folder / file)
        flip(shutil.copy(self.folder / file, self.folder / f"{evil}.damaged"), 90)
        shutil.copytree(self.folder / table, self.folder / f"{evil}.torn")
        next((self.folder / f"{evil}.torn").glob("*/*.cfile")).write_bytes(b"")
        shown = set()
        for path in (file, table, f"{evil}.j", f"{evil}.damaged", f"{evil}.torn", f"{evil}.none", csv, evil):
            for command in ([], ["hexdump", "--header"], ["hexdump", "--footer"], ["blocks"], ["index"], ["rows"], ["verify"], ["rows", "--format", "jsonl"],
                            ["summary", "--schema"], ["rows", "--where", f'"{evil}" = 7'],
                            ["rows", "--where", f"id = {evil}"], ["rows", "--columns", evil], ["rows", "--row", "9"],
                            ["rows", "--format", "csv", "--print-import-options"], ["whatif", "--recommend"], ["rows", "--row", evil], ["find", evil],
                            ["find", "--column", evil, evil],
                            ["salvage", "--force", f"{evil}.out"], [evil]):
                for form in ([], ["--json"]):
                    code, out, error = self.run_dump(*command[:1], *form, path, *command[1:])
                    shown.add((code, out != "", error != ""))
                    self.assertNotRegex(error, "[^ -~\n]", (command, path))
                    if form == [] and command != ["rows", "--format", "jsonl"]:
                        self.assertNotRegex(out, "[^ -~\n\t]", (command, path))
                    else:  # JSON escapes control characters
                        self.assertNotRegex(out, "[\0-\x08\x0b-\x1f]", (command, path))
                        for line in out.splitlines() if command[:1] in (["rows"], ["rows", "--format", "jsonl"]) else [out]:
                            if line and "--schema" not in command:
                                json.loads(line)
        self.assertTrue({(0, True, False), (1, False, True), (2, True, True)} <= shown, shown)

    def test_schema_of_records_is_read_again(self):
        name = 'e\x1b"\\x\n'
        (self.folder / "odd.jsonl").write_text(json.dumps({name: 1}) + "\n")
        self.make("odd.jsonl", "odd")
        schema = self.dump("summary", "--schema", "odd")
        self.assertIn('"e\\x1b\\"\\\\x\\x0a"', schema)
        (self.folder / "odd.schema").write_text(schema)
        self.make("odd.jsonl", "odd2", "--schema", "odd.schema")
        self.assertEqual(json.loads(self.dump("rows", "--format", "jsonl", "odd2")), {name: 1})

    def test_limits(self):
        (self.folder / "nested.jsonl").write_text('{"a":{"b":1,"c":[1,2]},"d":1}\n')
        self.make("nested.jsonl", "nested")
        for command in (["rows", "--format", "jsonl"], ["summary", "--schema"]):
            for table, leaves in ([("t", 4)] if "--schema" in command else []) + [("nested", 3)]:
                self.dump(*command, "--max-leaves", str(leaves), table)
                code, out, error = self.run_dump(*command, "--max-leaves", str(leaves - 1), table)
                self.assertNotEqual(code, 0)
                self.assertEqual(out, "")
                self.assertRegex(error, f"limit of {leaves - 1}.*max.leaves")
        for command in ([], ["verify"], ["rows"]):
            self.assertNotEqual(self.run_dump(*command, "--max-leaves", "2", "nested")[0], 0)
        for option in ("--max-block-size", "--max-metadata-size", "--max-index-size", "--max-depth", "--max-leaves"):
            for value in ("-1", "x", "1x", "99999999999999999999999"):
                code, out, error = self.run_dump("rows", option, value, "t")
                self.assertEqual((code, out), (1, ""), (option, value))
                self.assertIn(f"{option}: '{value}' is not a ", error)
        self.dump("rows", "--max-block-size", "1MiB", "--max-metadata-size", "64 kb", "t")

    def test_errors_say_where_once(self):
        for command in (["rows", "--where", "value > a", "damaged_paths.cfile"], ["rows", "damaged_paths.cfile"],
                        ["rows", "--where", "value is null", "damaged_paths.cfile"]):
            code, _, error = self.run_dump(*command)
            self.assertEqual(code, 2)
            self.assertEqual(error.count("damaged_paths.cfile: "), 1, error)
            self.assertEqual(error.count("block at offset"), 1, error)

    def test_every_help_has_an_example(self):
        commands = ("hexdump", "blocks", "index", "rows", "count", "find", "verify")
        self.assertIn("Examples:\n", self.dump("--help"))
        for command in commands:
            self.assertIn(f"  {command} ", self.dump("--help"))
            self.assertRegex(self.dump(command, "--help"), f"Examples?:\n  cfile-dump {command} ")

    def test_version(self):
        self.assertRegex(self.dump("--version"), r"^cfile-dump \d+\.\d+\.\d+(-dev)?\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
