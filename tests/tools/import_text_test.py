"""Imports text as people have it: import_text_test.py CFILE_IMPORT CFILE_DUMP.

Pipes, compressed files, charsets, delimiters, names, bad rows, formats of dates, and what the summary says about them."""

import gzip
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import unittest
import zlib

import import_test
from import_test import ImportTest


class TextTest(ImportTest):
    def import_file(self, name, *options, stdin=None, environment=None):
        """Imports a file, or "-", into a new table t. Returns the summary."""
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        done = subprocess.run([import_test.IMPORT, name, "t", "--json", *options], cwd=self.folder, capture_output=True, timeout=300,
                              input=stdin, env=environment)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return json.loads(done.stdout)

    def refuse(self, data, message, *options, name="t.csv", exit_code=1):
        """Expects this error. Nothing is left."""
        self.write(data, name)
        done = self.run_tool(import_test.IMPORT, name, "t", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (exit_code, f"cfile-import: {message}\n"))
        self.assertEqual([entry.name for entry in self.folder.iterdir()], [name])
        (self.folder / name).unlink()

    def summary_text(self, text, *options):
        self.write(text)
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        done = self.run_tool(import_test.IMPORT, "t.csv", "t", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return done.stdout.decode()


TEXT = "name,v\n" + "".join(f"\u00e4{i},{i}\n" for i in range(50_000))
ROWS = [[f"\u00e4{i}", str(i)] for i in range(50_000)]


def zstd(data, *options):
    return subprocess.run(["zstd", "-qc", *options], input=data, capture_output=True, check=True).stdout


class Streams(TextTest):
    def test_standard_input(self):
        for name in ("-", "/dev/stdin"):
            summary = self.import_file(name, stdin=TEXT.encode())
            self.assertEqual(self.values(), ROWS)
            self.assertEqual((summary["bytes_in"], summary["packing"], summary["charset"]), (len(TEXT.encode()), "", "UTF-8"))
        done = subprocess.run([import_test.IMPORT, "-", "t2"], cwd=self.folder, capture_output=True, input=b"a,b\n1\n")
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (1, f"cfile-import: standard input:2:1: expected 2 fields, as in the header, but found 1{import_test.PAD}\n"))

    def test_a_fifo(self):
        os.mkfifo(self.folder / "pipe")
        writer = subprocess.Popen([sys.executable, "-c", "import sys, time\nwith open('pipe', 'wb') as pipe:\n"
                                   " for part in (b'a,b\\n1,', b'2\\n', b'3,4\\n'): pipe.write(part); pipe.flush(); time.sleep(0.05)"],
                                  cwd=self.folder)
        self.assertEqual(self.import_file("pipe")["rows"], 2)
        self.assertEqual(writer.wait(), 0)
        self.assertEqual(self.values(), [["1", "2"], ["3", "4"]])

    def test_json_lines_from_compressed_files(self):
        self.write(gzip.compress(b'{"a":1}\n{"a":2}\n'), "r.jsonl.gz")
        self.assertEqual(self.import_file("r.jsonl.gz")["rows"], 2)

    def test_compressed_by_content(self):
        data = TEXT.encode()
        half = len(data) // 2
        for packing, packed in (("gzip", gzip.compress(data)),
                                ("gzip", gzip.compress(data[:half]) + gzip.compress(b"") + gzip.compress(data[half:]) + bytes(700)),
                                ("zstd", zstd(data)), ("zstd", zstd(data[:half]) + zstd(data[half:])),
                                ("zstd", struct.pack("<II", 0x184D2A51, 3) + b"abc" + zstd(data, "--long=27"))):
            for name in ("t.csv", "-"):
                self.write(packed)
                summary = self.import_file(name, stdin=packed if name == "-" else None)
                self.assertEqual((summary["packing"], summary["stored_bytes"], summary["bytes_in"]), (packing, len(packed), len(data)))
                self.assertEqual(self.values(), ROWS)

    def test_damaged_data_publishes_nothing(self):
        generator = random.Random(3)
        data = TEXT.encode()
        for packing, packed in (("gzip", gzip.compress(data)), ("zstd", zstd(data, "--check"))):
            for size in sorted({1, 2, 3, len(packed) - 1, *(generator.randrange(20, len(packed)) for _ in range(10))} - {1, 2, 3}):
                self.refuse(packed[:size], f"t.csv: offset {size}: the compressed data is cut off; get the file again")
            for _ in range(20):
                damaged = bytearray(packed)
                damaged[generator.randrange(30, len(packed))] ^= 1 << generator.randrange(8)
                self.write(bytes(damaged))
                done = self.run_tool(import_test.IMPORT, "t.csv", "t")
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr.decode(), rf"^cfile-import: t.csv: offset \d+: (damaged {packing} data|the compressed data "
                                                       "is cut off|bytes after the end of the gzip data)")
                self.assertEqual([entry.name for entry in self.folder.iterdir()], ["t.csv"])
        packed = gzip.compress(data)
        self.refuse(packed + b"x", f"t.csv: offset {len(packed)}: bytes after the end of the gzip data")
        self.refuse(packed + b"\0x", f"t.csv: offset {len(packed) + 1}: bytes after the end of the gzip data")
        self.refuse(gzip.compress(packed), "t.csv: the file is compressed with gzip more than once; decompress it first: t.csv")

    def test_limits(self):
        data = TEXT.encode()
        self.refuse(gzip.compress(data), f"t.csv: more than {len(data) - 1} bytes of text: raise --max-input-bytes",
                    "--max-input-bytes", str(len(data) - 1), exit_code=4)
        self.write(gzip.compress(data))
        self.import_file("t.csv", "--max-input-bytes", str(len(data)))
        shutil.rmtree(self.folder / "t")
        # The header of a zstd frame with a window of 256 MiB.
        window = b"\x28\xb5\x2f\xfd\x00" + bytes([(28 - 10) << 3]) + b"\x01\x00\x00"
        self.write(window)
        done = self.run_tool(import_test.IMPORT, "t.csv", "t")
        self.assertEqual(done.returncode, 4)
        self.assertIn("a zstd window above the limit of 134217728 bytes; decompress the file first: zstd -d --long=31 t.csv",
                      done.stderr.decode())

    def test_memory_is_bounded(self):
        line = b"1,2.5,some text that is not long\n"
        compressor = zlib.compressobj(1, zlib.DEFLATED, 31)
        parts = [compressor.compress(b"a,b,c\n")] + [compressor.compress(line * 10_000) for _ in range(300)]
        self.write(b"".join(parts) + compressor.flush())
        self.assertLess(self.peak_memory(import_test.IMPORT, "t.csv", "t", "--quiet", "--threads", "2"), 64 << 20)

    def test_temporary_files(self):
        """They are in TMPDIR, without a name."""
        other = self.folder / "other"
        self.write(gzip.compress(TEXT.encode()))
        environment = dict(os.environ, TMPDIR=str(other))
        done = subprocess.run([import_test.IMPORT, "t.csv", "t"], cwd=self.folder, capture_output=True, env=environment)
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (3, f"cfile-import: create a temporary file in {other} (the variable TMPDIR sets another directory): "
                             "No such file or directory\n"))
        other.mkdir()
        self.import_file("t.csv", environment=environment)
        self.assertEqual(list(other.iterdir()), [])

    def test_signals_while_a_pipe_waits(self):
        environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
        for source in ("-", "pipe"):
            if source == "pipe":
                os.mkfifo(self.folder / "pipe")
            before = sorted(self.folder.iterdir())
            process = subprocess.Popen([import_test.IMPORT, source, "t"], cwd=self.folder, stdin=subprocess.PIPE,
                                       stderr=subprocess.PIPE, env=environment)
            if source == "-":
                process.stdin.write(b"a,b\n1,2\n")
                process.stdin.flush()
            caught = pathlib.Path(f"/proc/{process.pid}/status")
            while int(re.search(r"SigCgt:\s*(\w+)", caught.read_text())[1], 16) & 1 << (signal.SIGTERM - 1) == 0:
                os.sched_yield()  # until the handler is installed
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)
            self.assertEqual(process.stderr.read(), b"cfile-import: interrupted; nothing was written\n")
            process.stdin.close()
            process.stderr.close()
            self.assertEqual(sorted(self.folder.iterdir()), before)


class Charsets(TextTest):
    def test_charsets(self):
        text = "name,v\n\u00e4\u00f6,1\n\u00fc,2\n"
        wide = text.replace("\u00fc", "\u20ac\U0001f600")
        for charset, encoded, expected, shown in [
                ("auto", wide.encode("utf-16"), wide, "UTF-16"), ("auto", wide.encode("utf-16-le"), wide, "UTF-16LE"),
                ("auto", wide.encode("utf-16-be"), wide, "UTF-16BE"), ("auto", wide.encode("utf-32"), wide, "UTF-32"),
                ("auto", b"\xfe\xff" + wide.encode("utf-16-be"), wide, "UTF-16"),
                ("auto", wide.encode("utf-8-sig"), wide, "UTF-8"), ("utf-8", wide.encode(), wide, "UTF-8"),
                ("utf-16", wide.encode("utf-16"), wide, "utf-16"), ("utf-16le", wide.encode("utf-16-le"), wide, "utf-16le"),
                ("utf-16le", wide.encode("utf-16"), wide, "utf-16le"), ("utf-16be", wide.encode("utf-16-be"), wide, "utf-16be"),
                ("latin-1", text.encode("latin-1"), text, "latin-1"), ("Latin-1", text.encode("latin-1"), text, "Latin-1"),
                ("windows-1252", text.replace("\u00fc", "\u20ac").encode("cp1252"), text.replace("\u00fc", "\u20ac"), "windows-1252")]:
            with self.subTest(charset=charset, shown=shown):
                rows = [line.split(",") for line in expected.splitlines()[1:]]
                for packed in (encoded, gzip.compress(encoded)):  # pipe -> gunzip -> charset
                    summary = self.import_file("-", "--charset", charset, stdin=packed)
                    self.assertEqual((self.values(), summary["charset"]), (rows, shown))
                    self.assertEqual(summary["columns"][0]["name"], "name")

    def test_characters_at_chunk_ends(self):
        text = "a\n" + "".join(chr(0x10000 + i % 1000) for i in range(200_001)) + "\n"
        for data in (text.encode("utf-16-le"), b"\xff\xfe" + text.encode("utf-16-le"), text.encode("utf-16-be")):
            summary = self.import_file("-", stdin=data)
            self.assertEqual(summary["bytes_in"] - text.encode().startswith(b"\xef"), len(text.encode()))
            self.assertEqual(self.values(), [[text[2:-1]]])

    def test_bad_sequences(self):
        head = "a,b\n1,2\n".encode("utf-16-le")
        advice = "; --charset sets another charset"
        self.refuse(head + b"\x00\xdc1\x00", f"t.csv:3: offset {len(head)}: the bytes 00dc3100 are no character of utf-16le" + advice,
                    "--charset", "utf-16le")
        self.refuse(head + b"x", f"t.csv:3: offset {len(head)}: the text ends within a character of UTF-16LE" + advice)
        self.refuse(gzip.compress(head + b"x"), f"t.csv:3: offset {len(head)}: the text ends within a character of UTF-16LE" + advice)
        self.refuse(b"a\nx\xff\xff\n", "t.csv:2: offset 3: the bytes ffff0a are no character of ascii" + advice, "--charset", "ascii")
        for name in ("nonsense", "utf-8//IGNORE"):
            self.refuse(b"a\n1\n", f"--charset {name}: iconv does not know this charset; iconv -l lists the names", "--charset", name)
        self.refuse("a,b\n".encode("utf-16"), "t.csv: the file is text in UTF-16; --charset auto converts it: t.csv", "--charset", "utf-8")


class Delimiters(TextTest):
    def test_plain_ones(self):
        for text, name, delimiter, columns in [
                ("a,b\n1,2\n", "t.csv", "comma", 2), ("a\tb\n1\t2\n", "t.csv", "tab", 2), ("a;b\n1,5;2,5\n", "t.csv", "semicolon", 2),
                ("a|b|c\n1|2|3\n", "t.txt", "pipe", 3), ('"a;x",b\n"1;2",3\n', "t.csv", "comma", 2),
                ('"a,x";b\n"1,2";3\n', "t.csv", "semicolon", 2), ("a,b\tc,d\n1,2\t3,4\n", "t.csv", "comma", 3),
                ("a,b\tc,d\n1,2\t3,4\n", "t.tsv", "tab", 2), ("a\n1\n", "t.csv", "comma", 1), ("a;b\n1\n", "t.csv", "comma", 1), ("a,b;c\n1,2;3\n1;2\n", "t.csv", "semicolon", 2),
                ("a;b\n" + "1;2\n" * 500 + "1,2;3\n", "t.csv", "semicolon", 2)]:
            with self.subTest(text=text[:20], name=name):
                self.write(text, name)
                summary = self.import_file(name)
                self.assertEqual((summary["delimiter"]["name"], len(summary["columns"])), (delimiter, columns))
        self.write(gzip.compress(b"a,b\tc,d\n1,2\t3,4\n"), "t.tsv.gz")
        self.assertEqual(self.import_file("t.tsv.gz")["delimiter"]["name"], "tab")

    def test_bad_rows_among_the_first_lines(self):
        self.write('a;b\n1,5;2\n3\n4;"x"y\n5;6\n7;8\n')
        self.assertEqual(self.import_file("t.csv", "--skip-bad-rows", "2")["delimiter"],
                         {"name": "semicolon", "reason": "4 of the first 6 lines have 2 fields"})
        shutil.rmtree(self.folder / "t")
        self.refuse("a;b\n1;2\n3\n", "t.csv:3:1: expected 2 fields, as in the header, but found 1" + import_test.PAD)
        self.refuse("a;b\n1,5;2\n", 't.csv:2:1: column "a": "1,5" is not of type double: expected a number; --decimal-comma reads numbers such '
                    "as 1.234,5", "--type", "a=double")
        self.write("a\n1\n")
        for wrong, said in (("int644", "; did you mean int64?"), ("jsn", ", json; did you mean json?"), ("Int32", "; did you mean int32?"),
                            ("strnig", "; did you mean string?"), ("xyz", "uuid, json\nSee")):
            self.assertIn(said, self.run_tool(import_test.IMPORT, "t.csv", "t", "--type", f"a={wrong}").stderr.decode())
        (self.folder / "t.csv").unlink()
        self.refuse("a\n1\n2,3\n", "t.csv:3:3: expected 1 field, as in the header, but found 2" + import_test.PAD, "--delimiter", ",")

    def test_it_is_said(self):
        self.assertIn("\ndelimiter: semicolon (each of the first 2 lines has 2 fields); the first line has the names\n",
                      self.summary_text("a;b\nx;y\n"))
        self.assertIn("\ndelimiter: comma (the only line has 2 fields); the first line has the names\n", self.summary_text("a,b\n"))
        self.assertIn("\ndelimiter: comma (no character gives most of the first lines the same number of fields); ",
                      self.summary_text("a\nx\n"))
        self.assertIn("\ndelimiter: comma (--delimiter); the first line is a row\n",
                      self.summary_text("a;b\nx;y\n", "--delimiter", ",", "--no-header"))


class Names(TextTest):
    def names(self, text, *options):
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        summary = self.import_csv(text, *options)
        return [c["name"] for c in summary["columns"]], summary["header"], summary["rows"]

    def test_names(self):
        self.assertEqual(self.names("1,x\n2,y\n", "--no-header"), (["column_1", "column_2"], False, 2))
        self.assertEqual(self.names("1,x\n2,y\n", "--no-header", "--names", 'a,"b,c"'), (["a", "b,c"], False, 2))
        self.assertEqual(self.names("k,l\n2,y\n", "--header", "yes", "--names", "a,b"), (["a", "b"], True, 1))
        self.assertEqual(self.names("k,l\n2,y\n", "--names", "a,b", "--type", "a=int64"), (["a", "b"], True, 1))
        self.assertEqual(self.names("k,k\n2,y\n", "--names", "k2,k", "--sorted-by", "k"), (["k2", "k"], True, 1))
        self.write("1,x\n2,y\n")
        done = self.run_tool(import_test.IMPORT, "t.csv", "t3", "--names", "a,b", "--type", "a=int8")
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (0, "cfile-import: warning: t.csv: the first line is imported as a row, because its fields are values of the "
                             "types of their columns (use --header yes if the first line has the names, --header no to end this "
                             "warning)\n"))
        self.write("3,z\n")
        shutil.rmtree(self.folder / "t3")

    def test_wrong_names(self):
        for names, message in [("a", "1 names for the 2 columns of t.csv"), ("a,b,c", "3 names for the 2 columns of t.csv"),
                               ("a,", "name 2 is empty"), ("a,a", 'two columns have the name "a"')]:
            self.refuse("x,y\n1,2\n", "--names: " + message, "--names", names)
        usage = "\nSee cfile-import --help"
        self.refuse("x,y\n", "--names a,b\nc: expected the names, separated by commas" + usage, "--names", "a,b\nc")
        self.refuse("x,y\n", "--names a,b: with --append say whether there is a header: --header yes or no" + usage,
                    "--names", "a,b", "--append")
        self.refuse("x,y\n", "--header excludes --no-header" + usage, "--header", "yes", "--no-header")

    def test_append(self):
        self.names("1,x\n", "--no-header", "--names", "a,b")
        self.import_csv("2,y\n", "--append", "--no-header", "--names", "a,b")
        self.import_csv("q,r\nz,3\n", "--append", "--header", "yes", "--names", "b,a")
        self.assertEqual(self.values(), [["1", "x"], ["2", "y"], ["3", "z"]])


class BadRows(TextTest):
    def skipped(self, text, *options):
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        summary = self.import_csv(text, *options)
        return summary["skipped"]["lines"], self.values(), [c["type"] for c in summary["columns"]]

    def test_kinds(self):
        text = ('i,s\n1,a\n2\n3,b,c\n4,"x\ny"\n5,"open\n6,q"uote\n7,"a"b\n8,ok\r9\n10,ok\n"multi\nline",x,y\n11,"last"\n')
        lines, rows, types = self.skipped(text, "--skip-bad-rows", "7")
        self.assertEqual((lines, types), ([3, 4, 7, 8, 9, 10, 12], ["int32", "string"]))
        self.assertEqual(rows, [["1", "a"], ["4", "x\\ny"], ["10", "ok"], ["11", "last"]])
        shutil.rmtree(self.folder / "t")
        self.refuse(text, "t.csv:3:1: expected 2 fields, as in the header, but found 1; more rows are bad than --skip-bad-rows 6 allows",
                    "--skip-bad-rows", "6")

    def test_values(self):
        text = b"i,s\n1,a\nx,b\n3,caf\xe9\n,d\n5,e\n"
        self.write(text)
        self.assertEqual(self.skipped(text, "--skip-bad-rows", "3", "--type", "i=int8", "--not-null", "i"),
                         ([3, 4, 5], [["1", "a"], ["5", "e"]], ["int8", "string"]))
        summary = self.summary_text(text, "--skip-bad-rows", "9", "--type", "i=int8", "--sorted-by", "i", "--not-null", "i")
        self.assertIn('3 bad rows skipped:\n  line 3: column "i": "x" is not of type int8: expected an integer\n'
                      '  line 4: column "s": "caf\\xe9" is not valid UTF-8; '
                      'say the charset of the file, for example: --charset windows-1252\n'
                      '  line 5: column "i": a null, but the column is not nullable\n', summary)

    def test_bad_rows_do_not_count_for_types(self):
        self.assertEqual(self.skipped("a,b\n1,2\nx\n3,y,z\n", "--skip-bad-rows", "2"), ([3, 4], [["1", "2"]], ["int32", "int32"]))

    def test_append(self):
        self.skipped("a,b\n1,x\n", "--not-null", "a")
        summary = self.import_csv("a,b\n2,y\nz,z\n,q\n3\n", "--append", "--skip-bad-rows", "3")
        self.assertEqual(summary["skipped"]["lines"], [3, 4, 5])
        self.assertEqual(self.values(), [["1", "x"], ["2", "y"]])

    def test_names_that_the_first_row_gets(self):
        self.write("1,x\n2,4\n3\n4,z\n5,6\n")
        done = self.run_tool(import_test.IMPORT, "t.csv", "t", "--type", "column_2=int8", "--skip-bad-rows", "3", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["skipped"]["lines"]), (0, [1, 3, 4]))
        self.assertEqual(self.values(), [["2", "4"], ["5", "6"]])

    def test_any_number_of_threads(self):
        generator = random.Random(7)
        bad = ["1", "x,2,3", '"a', 'b"c,1', "q,w,e", '"z"z,1', "\r1,2", '"1\n2",3,4']
        lines = []
        for i in range(120_000):
            lines.append(generator.choice(bad) if i % 1000 == 999 else f'{i},"text {i}\n"' if i % 7 == 0 else f"{i},plain")
        text = "id,s\n" + "\n".join(lines) + "\n"
        results = []
        for threads in ("1", "2", "4", "7"):
            for options in ((), ("--sorted-by", "s"), ("--sorted-by", "s", "--memory", "1MiB")):
                shutil.rmtree(self.folder / "t", ignore_errors=True)
                summary = self.import_csv(text, "--skip-bad-rows", "1000", "--type", "id=int32", "--threads", threads, *options)
                results.append((summary["skipped"], summary["rows"], sorted(self.values())))
        for other in results[1:]:
            self.assertEqual(other, results[0])
        self.assertEqual(results[0][0]["rows"], 120)
        self.assertEqual(len(results[0][0]["reasons"]), 10)
        kept = {str(i) for i in range(120_000) if i % 1000 != 999}
        self.assertEqual({row[0] for row in results[0][2]}, kept)


class Dialects(TextTest):
    def rows(self, text, *options):
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        summary = self.import_csv(text, *options)
        return [c["type"] for c in summary["columns"]], self.values()

    def test_quotes_and_escapes(self):
        self.assertEqual(self.rows('a\tb\n1\t"x\n2\ty"\n', "--quote", "none"), (["int32", "string"], [["1", '"\\"x"'], ["2", 'y"']]))
        self.assertEqual(self.rows("a,b\n1,'it''s, ok\n'\n2,\"\n", "--quote", "'")[1], [["1", r"it's, ok\n"], ["2", r'"\""']])
        text = 'a,b\n1,"x\\"y\\\\"\n2,\\N\n\\3,\\,z\\\n\n4,"\\N"\n'
        self.assertEqual(self.rows(text, "--escape", "\\"),
                         (["int32", "string"], [["1", r'x"y\\'], ["2", "null"], ["3", r",z\n"], ["4", "N"]]))
        shutil.rmtree(self.folder / "t")
        self.refuse('a,b\n1,"x\\"', "t.csv:2:3: this quote is never closed", "--escape", "\\")
        self.refuse("a,b\n1,x\\", "t.csv:2:4: an escape at the end of the file", "--escape", "\\")
        for option in ("--quote", "--escape", "--comment"):
            done = self.run_tool(import_test.IMPORT, "t.csv", "t", option, "ab")
            self.assertIn(f"{option} ab: expected one ASCII character, or none", done.stderr.decode())
        done = self.run_tool(import_test.IMPORT, "t.csv", "t", "--escape", "|", "--comment", "|")
        self.assertIn("--comment |: another of --delimiter, --quote, --escape and --comment", done.stderr.decode())

    def test_lines_that_are_skipped(self):
        text = 'made by "x\n;;\na,b\n# "\n1,2\n#3,4\n5,x\n'
        types, rows = self.rows(text, "--skip-lines", "2", "--comment", "#")
        self.assertEqual((types, rows), (["int32", "string"], [["1", "2"], ["5", "x"]]))
        shutil.rmtree(self.folder / "t")
        self.refuse(text, 't.csv:7:3: column "b": "x" is not of type int8: expected an integer', "--type", "b=int8",
                    "--skip-lines", "2", "--comment", "#")
        self.refuse("a\n1\n", "t.csv: the file is empty; a header with the names of its columns is missing", "--skip-lines", "5")

    def test_ragged_rows(self):
        text = "a,b,c\n1\n2,x\n3,y,4\n5,z,6,,\n"
        self.assertEqual(self.rows(text, "--pad"), (["int32", "string", "int32"], [
            ["1", "null", "null"], ["2", "x", "null"], ["3", "y", "4"], ["5", "z", "6"]]))
        shutil.rmtree(self.folder / "t")
        self.refuse("a,b\n1,2,3\n", "t.csv:2:5: expected 2 fields, as in the header, but found 3; --skip-bad-rows N skips such rows", "--pad")
        # Each of many short rows fits.
        self.assertEqual(len(self.rows(",".join("abcdefgh") + "\n" + "1\n" * 100_000, "--pad")[1]), 100_000)

    def test_numbers(self):
        self.assertEqual(self.rows("a,b,c\n 1, 2.5 , x \n2\t,3,y\n"),
                         (["int32", "double", "string"], [["1", "2.5", " x "], ["2", "3", "y"]]))
        text = "a;b;c;d\n1.234,5;1 000;1.5;1'234'567,25\n-0,5;-2\u00a0000\u00a0000;7,1;1,5\n"
        types, rows = self.rows(text, "--decimal-comma")
        self.assertEqual((types, rows), (["double", "int32", "string", "double"], [
            ["1234.5", "1000", "1.5", "1234567.25"], ["-0.5", "-2000000", "7,1", "1.5"]]))
        self.assertEqual(self.rows("a;b\n1.234,5;x\n2;y\n", "--decimal-comma", "--type", "a=decimal(10,2)", "--sorted-by", "a")[1],
                         [["2.00", "y"], ["1234.50", "x"]])
        shutil.rmtree(self.folder / "t")
        self.refuse("a;b\n1.5;x\n", 't.csv:2:1: column "a": "1.5" is not of type double: expected 1.234,5',
                    "--decimal-comma", "--type", "a=double")

    def test_names_in_quotes(self):
        self.assertEqual(self.import_csv('"2010","2011"\n1,2\n')["header"], True)
        self.assertEqual(self.values(), [["1", "2"]])

    def test_columns(self):
        text = "a,b,b\n1,x,2\n3,y,4\n"
        self.assertEqual(self.rows(text, "--columns", "b_2,a"), (["int32", "int32"], [["2", "1"], ["4", "3"]]))
        self.assertEqual(self.rows(text, "--columns", "a", "--sorted-by", "a")[1], [["1"], ["3"]])
        self.assertEqual(self.rows(text, "--columns", "column_2", "--no-header")[1], [["b"], ["x"], ["y"]])
        shutil.rmtree(self.folder / "t")
        self.refuse(text, "--columns z: t.csv has no column of that name", "--columns", "z")
        self.refuse(text, "--columns a: given twice", "--columns", "a", "--columns", "a")
        self.refuse(text, "--sorted-by b: t.csv has no column of that name", "--columns", "a", "--sorted-by", "b")


class Inputs(TextTest):
    def run_import(self, *arguments):
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        return self.run_tool(import_test.IMPORT, *arguments)

    def check(self, rows, *arguments):
        done = self.run_import(*arguments, "t", "--json")
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        self.assertEqual(self.values(), rows)
        return json.loads(done.stdout)

    def error(self, *arguments):
        done = self.run_import(*arguments)
        self.assertEqual((done.returncode, (self.folder / "t").exists()), (1, False))
        return done.stderr.decode().splitlines()[0].removeprefix("cfile-import: ")

    def test_csv(self):
        folder = self.folder / "days"
        (folder / "more").mkdir(parents=True)
        (folder / ".hidden.csv").write_text("x\n")
        (folder / "_SUCCESS").write_text("")
        (folder / "1.csv").write_text("id,v\n1,NA\n2,3")
        (folder / "2.csv").write_bytes(b"\xef\xbb\xbfid,v\r\n3,4.5\r\n")
        (folder / "more/3.csv.gz").write_bytes(gzip.compress(b"id,v\n"))
        (folder / "more/4.csv").write_text("id,v\n4,x\n")
        first = [["1", "null"], ["2", "3"], ["3", "4.5"]]
        self.check(first, "days/1.csv", "days/2.csv")
        self.check(first, "days/[12].csv", "days/more/3.csv.gz")
        self.check(first, "days/2.csv", "days/1.csv", "--sorted-by", "id")
        summary = self.check([["1", "NA"], ["2", "3"], ["3", "4.5"], ["4", "x"]], "days")
        self.assertEqual(summary["columns"][1]["type_reason"], 'line 2 of days/more/4.csv has "x"')
        # Places are those in the files.
        self.assertEqual(self.error("days", "t", "--type", "v=double"),
                         'days/more/4.csv:2:3: column "v": "x" is not of type double: expected a number')
        done = self.run_import("days", "t", "--type", "v=double", "--skip-bad-rows", "1")
        self.assertIn("  line 2: days/more/4.csv: ", done.stdout.decode())
        (folder / "5.csv").write_text("id,w\n4,x\n")
        self.assertEqual(self.error("days", "t"), "days/5.csv: the first line is not that of days/1.csv, which has the names of "
                         "the columns; --append --evolve adds files with other columns")
        # Without names, all lines are rows.
        for name in ("a.csv", "b.csv"):
            self.write("1,2\n1,2\n", name)
        self.check([["1", "2"]] * 4, "a.csv", "b.csv", "--no-header")
        # Lines that end with carriage returns.
        for name, text in (("a.csv", b"id,v\r1,2\r3,4"), ("b.csv", b"id,v\r5,6\r")):
            (self.folder / name).write_bytes(text)
        self.check([["1", "2"], ["3", "4"], ["5", "6"]], "a.csv", "b.csv")

    def test_schema(self):
        """The schema of a table gives CSV its types."""
        self.write("id,price,note\n1,2.5,x\n2,,y\n")
        self.write("message t {\n  required int64 id;\n  optional int32 price (DECIMAL(7,2));\n  optional binary note (STRING);\n}\n", "s")
        summary = self.import_csv("id,price,note\n1,2.5,x\n2,,y\n", "--schema", "s")
        self.assertEqual([(c["type"], c["nullable"]) for c in summary["columns"]], [("int64", False), ("decimal(7,2)", True), ("string", True)])
        shutil.rmtree(self.folder / "t")
        self.import_csv("id,price,note\n1,2.5,x\n", "--schema", "s", "--type", "price=double")
        shutil.rmtree(self.folder / "t")
        self.write("message t {\n  required group a {\n    required int64 b;\n  }\n}\n", "s")
        self.assertEqual(self.error("t.csv", "t", "--schema", "s"), "s: a.b is nested, but t.csv is CSV")
        self.write("message t {\n  optional int64 id;\n  optional int64 other;\n}\n", "s")
        self.assertEqual(self.error("t.csv", "t", "--schema", "s"), "--schema other: t.csv has no column of that name")

    def test_json_lines(self):
        self.write('{"a":1}', "a.jsonl")
        self.write('{"a":2}\n', "b.jsonl")
        self.write("a\n1\n", "c.csv")
        self.check([["1"], ["2"]], "a.jsonl", "b.jsonl")
        for name, text in (("1.csv", "a,b\n1,2\n"), ("2.csv", "a,b,c\n3,4,5\n"), ("3.csv", "a,b\n6\n")):
            self.write(text, name)
        self.assertEqual(self.error("1.csv", "2.csv", "t"), "2.csv:1:5: expected 2 fields, as in the first file, but found 3; "
                                                            "--append --evolve adds files with other columns")
        self.assertIn("3.csv:2:1: expected 2 fields, as in the header, but found 1; --pad ", self.error("1.csv", "3.csv", "t"))
        self.assertIn("c.csv: files that are imported together have one format, that of a.jsonl", self.error("a.jsonl", "c.csv", "t"))

    def test_wrong_places(self):
        self.write("a\n1\n")
        (self.folder / "empty").mkdir()
        self.assertEqual(self.error("t.csv", "-"), "OUT_TABLE -: a table is a directory and cannot be standard output; "
                         "cfile-dump rows writes them there")
        self.assertEqual(self.error("-", "t.csv", "t"), "IN -: standard input cannot be one of several inputs")
        self.assertEqual(self.error("t.csv"), "OUT_TABLE is required")
        for arguments, code, message in (
                (("t", "t.csv"), 1, "t.csv: a file, and not a table; the table comes last: cfile-import FILE ... TABLE"),
                (("t", "t.csv", "--append"), 1, "t.csv: a file, and not a table; the table comes last: cfile-import FILE ... TABLE"),
                (("empty", "t"), 3, "empty: there is no file"), (("*.tsv", "t"), 3, "*.tsv: no file has such a name")):
            done = self.run_import(*arguments)
            self.assertEqual((done.returncode, done.stderr.decode()), (code, f"cfile-import: {message}\n"))

    def test_print_names(self):
        """The names that shells complete: of all files, of the first bytes of each."""
        (self.folder / "d").mkdir()
        csv_text = 'id;"a;b";c d\n' + "1;2;3\n" * 500_000
        files = {"d/1.csv": csv_text.encode(), "d/2.csv.gz": gzip.compress(b"id,\xc3\xa9,\"x,\"\"y\"\n1,2,3\n" + bytes(range(33, 127)) * 9999),
                 "d/3.json": json.dumps([{"id": 1, "g": {"h": 2}}, {"j": [3]}], indent=4).encode(), "d/4.jsonl": b'{"k":1}\n{"l":2}\n{"m"',
                 "d/5.csv": b"\xff\xfe\x00", "d/_6.csv": b"hidden\n", "d/7.jsonl.gz": gzip.compress(b'{"n":1}\n' + b'{"n":2}\n' * 300_000)}
        if shutil.which("zstd"):
            files["d/8.csv.zst"] = subprocess.run(["zstd", "-c"], input=b"o\tp\n1\t2\n", capture_output=True, check=True).stdout
        for name, data in files.items():
            (self.folder / name).write_bytes(data)

        def names(path):
            done = self.run_import("--print-names", path, str(self.folder / "t"))
            self.assertEqual((done.returncode, done.stderr.decode(), (self.folder / "t").exists()), (0, "", False))
            return done.stdout.decode().splitlines()
        self.assertEqual(names("d/1.csv"), ["id", "a;b", "c d"])
        self.assertEqual(names("d/2.csv.gz"), ["id", "\u00e9", 'x,"y'])
        self.assertEqual(names("d/3.json"), ["id", "g", "j"])
        self.assertEqual(names("d"), ["id", "a;b", "c d", "\u00e9", 'x,"y', "g", "j", "k", "l", "n"] + ["o", "p"] * ("d/8.csv.zst" in files))
        os.mkfifo(self.folder / "fifo")
        self.assertEqual(names("fifo"), [])


class Reasons(TextTest):
    def reasons(self, text, *options):
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        return [(c["type"], c["type_reason"], c.get("null_suggested")) for c in self.import_csv(text, *options)["columns"]]

    def test_missing_values(self):
        text = "day,delay,city\n" + "1,2,x\n" * 5 + "1,NA,NA\n" + "2,3,z\n"
        self.assertEqual(self.reasons(text), [("int32", "all values", None), ("int32", "all values", None),
                                              ("string", 'line 2 has "x"', None)])
        self.assertEqual(self.values()[5], ["1", "null", "NA"])
        self.assertIn('\n\ncolumn delay: int32; line 7 has "NA", which was taken as a null\n', self.summary_text(text))
        self.assertEqual(self.reasons(text, "--type", "delay=string")[1], ("string", "--type", None))
        self.assertEqual(self.values()[5], ["1", "NA", "NA"])
        for mark in ("NA", "N/A", "null", "NULL", "-", "  "):
            for value, kind in (("1.5", "double"), ("2013-01-31", "date"), ("true", "bool")):
                self.assertEqual(self.reasons(f"a,b\n{mark},1\n{value},1\n -,1\n")[0][0], kind)
                self.assertEqual([row[0] for row in self.values()], ["null", value, "null"])
            self.assertEqual(self.reasons(f"a,b\n{mark},1\n")[0][0], "string")
            self.assertEqual(self.reasons(f'a,b\n1,1\n"{mark}",1\n')[0][0], "string")
        # A column of numbers takes them also with --append and --type; bad rows have none.
        self.reasons("a\n1\n")
        self.import_csv("a\nNA\n2\n", "--append")
        self.assertEqual(self.values(), [["1"], ["null"], ["2"]])
        self.assertEqual(self.reasons("a\nNA\n2\nx\n", "--type", "a=int8", "--skip-bad-rows", "1")[0][0], "int8")
        self.assertEqual(self.values(), [["null"], ["2"]])
        # Sorted, with the missing ones last.
        self.reasons("a\n3\nNA\n2\n", "--sorted-by", "a")
        self.assertEqual(self.values(), [["2"], ["3"], ["null"]])
        shutil.rmtree(self.folder / "t")
        self.refuse("a\n3\nNA\n", 't.csv:3:1: column "a": a null, but the column is not nullable', "--not-null", "a")

    def test_null_is_suggested(self):
        for mark in ("\\N", "?", "n a"):
            self.assertEqual(self.reasons(f"a\n{mark}\n1.5\n{mark}\n2\n"), [("string", f'line 2 has {json.dumps(mark)}',
                                                                        {"text": mark, "type": "double"})])
            word = re.search("with (.*) it would be double", self.summary_text(f"a\n{mark}\n1.5\n"))[1]
            shutil.rmtree(self.folder / "t")
            done = self.run_tool("/bin/sh", "-c", f"'{import_test.IMPORT}' t.csv t --json {word}")
            self.assertEqual(json.loads(done.stdout)["columns"][0]["type"], "double", word)
        self.assertEqual(self.reasons('a\n1\n"?"\n'), [("string", 'line 3 has "?"', None)])  # --null would not help
        self.assertEqual(self.reasons("a\n1\n?\n.\n"), [("string", 'line 3 has "?"', None)])

    def test_values_are_not_suggested_as_null(self):
        for value in ("01234", "123456789012345678901234567890", "+7", "1,234", "12 km", "x"):
            field = f'"{value}"' if "," in value else value
            text = f"a,b\n1,1\n{field},2\n3,3\n"
            self.assertEqual(self.reasons(text)[0], ("string", f'line 3 has "{value}"', None))
            self.assertNotIn("--null", self.summary_text(text))
            self.assertIn(f'column a: string, because line 3 has "{value}"\n', self.summary_text(text))

    def test_first_values_of_other_types(self):
        self.assertEqual(self.reasons("a,b,c,d,e\n1,1,2013-01-31,nan,\n3000000000,2,2013-01-31T10:00:00,1.5,\n1.5,true,1,1,\n"),
                         [("double", 'line 4 has "1.5"', None), ("string", 'line 4 has "true"', None),
                          ("string", 'line 4 has "1"', None), ("double", 'line 3 has "1.5"', None), ("string", "no values", None)])
        self.assertEqual(self.reasons("a\n1\n", "--type", "a=int8"), [("int8", "--type", None)])
        self.assertEqual([c["type_reason"] for c in self.import_csv("a\n1\n", "--append")["columns"]], ["the table"])

    def test_any_number_of_threads(self):
        text = "a,b\n" + "1,x\n" * 200_000 + "?,x\n" + '1,"x\n"\n' * 100_000 + "1.5,x\n"
        expected = [("string", 'line 200002 has "?"', {"text": "?", "type": "double"}), ("string", 'line 2 has "x"', None)]
        for threads in ("1", "2", "5"):
            self.assertEqual(self.reasons(text, "--threads", threads), expected)

    def test_encodings(self):
        generator = random.Random(5)
        rows = [(i * 3 + 7, generator.choice("ab"), generator.randrange(2**40), i // 1000, generator.random(), "", f"customer {i:06}")
                for i in range(20_000)]
        text = "steps,few,wide,runs,noise,none,names\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
        reasons = lambda *options: {c["name"]: c["encoding_reason"] for c in self.import_csv(text, *options)["columns"]}
        found = reasons()
        self.assertRegex(found["steps"], r"^small differences(, then zstd)?: [0-9.]+ % of plain$")
        self.assertEqual((found["few"], found["none"], found["noise"]),
                         ("few distinct values", "no values", "few first bits: 87 % of plain"))
        self.assertRegex(found["wide"], r"^a small range: 6[0-9] % of plain$")
        self.assertRegex(found["runs"], r"^a small range, then zstd: 0\.[0-9] % of plain$")
        self.assertRegex(found["names"], r"^neighbours begin alike")
        shutil.rmtree(self.folder / "t")
        found = reasons("--encoding", "few=prefix", "--encoding", "steps=plain")
        self.assertEqual((found["few"], found["steps"]), ("--encoding", "--encoding"))
        shutil.rmtree(self.folder / "t")
        self.assertEqual(set(reasons("--oldest-reader", "kudu").values()), {"the default of the type", "no values"})

    def test_stored_bytes(self):
        packed = gzip.compress("a\n1\n".encode("utf-16"))
        self.write(packed)
        done = self.run_tool(import_test.IMPORT, "t.csv", "t")
        self.assertRegex(done.stdout.decode(), rf"\n4 bytes of CSV \({len(packed)} in gzip, UTF-16\) -> ")


class Formats(TextTest):
    def value(self, kind, text):
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        self.import_csv(f'v\n"{text}"\n', "--type", "v=" + kind, "--header", "yes")
        return self.values()[0][0]

    def test_formats(self):
        for kind, text, expected in [
                ("date(%d.%m.%Y)", "31.01.2013", "2013-01-31"), ("date(%d.%m.%Y)", "1.2.2013", "2013-02-01"),
                ("date(%m/%d/%y)", "12/31/69", "1969-12-31"), ("date(%D)", "12/31/68", "2068-12-31"), ("date(%Y%m%d)", "20130131", "2013-01-31"),
                ("date(%a, %d %b %Y)", "Thu, 31 JANUARY 2013", "2013-01-31"), ("date(%Y-%j)", "2012-366", "2012-12-31"),
                ("date(%Y=%m=%d)", "2013=01=31", "2013-01-31"), ("date(%e/%m/%Y%%)", " 1/2/2013%", "2013-02-01"),
                ("timestamp(us,UTC;%d.%m.%Y %H:%M:%S)", "31.01.2013 10:00:07", "2013-01-31T10:00:07Z"),
                ("timestamp(us,UTC;%d/%b/%Y:%T %z)", "31/Jan/2013:10:00:00 +0200", "2013-01-31T08:00:00Z"),
                ("timestamp(ms;%F %I:%M %p)", "2013-01-31 12:05 am", "2013-01-31T00:05:00"),
                ("timestamp(ms;%F %I:%M %p)", "2013-01-31 12:05 PM", "2013-01-31T12:05:00"),
                ("timestamp(ns;%F %T.%f)", "2013-01-31 12:05:00.5", "2013-01-31T12:05:00.500000000"),
                ("timestamp(ms,UTC;epoch)", "1359590400250", "2013-01-31T00:00:00.250Z"), ("date(epoch)", "-1", "1969-12-31"),
                ("timestamp(ns;epoch)", " 1359590400000000001", "2013-01-31T00:00:00.000000001"),
                ("timestamp(ms,UTC;%s.%f)", "1359590400.250", "2013-01-31T00:00:00.250Z"), ("time(s;%H.%M)", "7.30", "07:30:00")]:
            with self.subTest(kind=kind, text=text):
                self.assertEqual(self.value(kind, text), expected)

    def test_wrong_values(self):
        for kind, text, reason in [
                ("date(%d.%m.%Y)", "31.02.2013", "there is no such day"), ("date(%Y-%j)", "2013-366", "there is no such day"),
                ("date(%d.%m.%Y)", "2013-01-31", "expected the form %d.%m.%Y"), ("date(%d.%m.%Y)", "31.01.2013 ", "expected the form %d.%m.%Y"),
                ("date(%d.%m.%Y)", "32.01.2013", "expected the form %d.%m.%Y"), ("date(%b %d %Y)", "Janu 1 2013", "expected the form %b %d %Y"),
                ("date(%d.%m.%Y)", "1.1.13", "expected the form %d.%m.%Y"),
                ("timestamp(ms;%F %T.%f)", "2013-01-31 12:05:00.0001", "it has more than the 3 digits after the point that the type holds"),
                ("timestamp(ns;%F)", "3013-01-31", "it is outside the years 1677 to 2262 that the type holds"),
                ("timestamp(ms,UTC;epoch)", "1.5", "expected an integer"), ("date(epoch)", "3000000000", "expected an integer"),
                ("timestamp(us,UTC;%s)", "1359590400000", "%s is a number of seconds; for milliseconds: timestamp(ms,UTC;epoch)"),
                ("timestamp(s,UTC;%s)", "99999999999999999999", "expected the form %s")]:
            with self.subTest(text=text):
                self.refuse(f"v\n1\n{text}\n".replace("1\n", "", 1),
                            f't.csv:2:1: column "v": "{text}" is not of type {kind.split("(")[0] if kind[0] == "d" else kind.split(";")[0] + ")"}: '
                            + reason, "--type", "v=" + kind)

    def test_wrong_formats(self):
        for kind, message in [
                ("date(%d.%m)", 'the format "%d.%m" does not say the day'), ("date(%d.%m.%Y %H)", 'the format "%d.%m.%Y %H" has a time, which '
                                                                                              "a date has not"),
                ("date(%F %d)", 'the format "%F %d" says a part of the time twice'), ("date(%Q)", 'the format "%Q" has an unknown conversion: %Q'),
                ("date(%)", 'the format "%" ends with %'), ("time(s;%M)", 'the format "%M" does not say the hour'),
                ("time(s;%F %H)", 'the format "%F %H" has a date, which a time has not'),
                ("timestamp(us;%F %I)", 'the format "%F %I" has only one of %I and %p'),
                ("timestamp(us;%F %T%z)", 'the format "%F %T%z" has a zone, which the type has not; use for example timestamp(us,UTC)')]:
            with self.subTest(kind=kind):
                self.refuse("v\n", f"--type v={kind}: {message}\nSee cfile-import --help", "--type", "v=" + kind)

    def test_sorted_and_appended(self):
        self.import_csv("d,v\n02.01.2013,a\n01.02.2012,b\n", "--type", "d=date(%d.%m.%Y)", "--sorted-by", "d")
        self.assertEqual(self.values(), [["2012-02-01", "b"], ["2013-01-02", "a"]])
        self.import_csv("d,v\n3/1/2014,c\n", "--append", "--type", "d=date(%m/%d/%Y)")
        self.assertEqual(self.values()[2], ["2014-03-01", "c"])
        self.write("d,v\n3,c\n")
        done = self.run_tool(import_test.IMPORT, "t.csv", "t", "--append", "--type", "d=int8")
        self.assertEqual((done.returncode, done.stderr.decode()), (1, "cfile-import: --type d=int8: the table t has the type date\n"))


if __name__ == "__main__":
    import_test.IMPORT, import_test.DUMP = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
