"""Runs cfile-import and cfile-dump as their users do: import_test.py CFILE_IMPORT CFILE_DUMP."""

import bz2
import gzip
import hashlib
import json
import lzma
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import tool_runner

IMPORT, DUMP = "", ""  # paths of the binaries


PAD = "; --pad takes rows with too few fields, --skip-bad-rows N skips wrong rows"


class ImportTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments):
        return tool_runner.run(*arguments, cwd=self.folder)

    def write(self, text, name="t.csv"):
        data = text if isinstance(text, bytes) else text.encode()
        (self.folder / name).write_bytes(data)

    def part_files(self):
        """Returns the contents of the files of table t that have columns, by file name."""
        return {path.name: path.read_bytes() for path in self.folder.glob("t/part-*/*") if path.suffix != ".cft"}

    def peak_memory(self, *command):
        """Runs the command. Returns the most memory that it used, in bytes."""
        program = pathlib.Path(IMPORT).read_bytes()
        if b"__asan_init" in program or b"__tsan_init" in program:
            self.skipTest("sanitizers keep memory that was freed")
        # A small process starts the command, because the system also counts the memory of the process that starts it.
        program = ("import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n"
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        done = self.run_tool(sys.executable, "-c", program, *command)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return int(done.stdout) * 1024

    def import_csv(self, text, *options):
        """Imports `text` into table t. Returns the summary."""
        self.write(text)
        done = self.run_tool(IMPORT, "t.csv", "t", "--json", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return json.loads(done.stdout)

    def values(self):
        """Returns the rows of table t, as lists of texts."""
        done = self.run_tool(DUMP, "rows", "t")
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return [line.split("\t") for line in done.stdout.decode().splitlines()][1:]

    def types(self, summary):
        return [(c["name"], c["type"], c["nullable"], c["nulls"]) for c in summary["columns"]]

    def expect_error(self, text, message, *options, exit_code=1):
        self.write(text)
        done = self.run_tool(IMPORT, "t.csv", "t", *options)
        # Parts have random names.
        error = re.sub("part-[0-9a-f]{32}", "part-X", done.stderr.decode())
        self.assertEqual(error, f"cfile-import: {message}\n")
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.returncode, exit_code)
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["t.csv"])


class RoundTrip(ImportTest):
    def test_tricky_text(self):
        summary = self.import_csv(
            '\ufeff"na""me",b,\u00e4,zip\r\n'
            '"x, ""y""\r\nz",,"",007\r\n'
            "plain, blank ,\u20ac,+1\r\n"
            "\r\n"
            'NA,"NA",null,1'
            , "--null", "NA", "--null", "none")
        self.assertEqual(self.types(summary), [
            ('na"me', "string", True, 1), ("b", "string", True, 1), ("\u00e4", "string", True, 0),
            ("zip", "string", True, 0)])
        self.assertEqual(summary["rows"], 3)
        self.assertEqual(self.values(), [
            ['x, \\"y\\"\\r\\nz'.replace('\\"', '"'), "null", '""', "007"],
            ["plain", " blank ", "\u20ac", "+1"],
            ["null", "NA", '"null"', "1"]])

    def test_types(self):
        summary = self.import_csv(
            "i,l,d,b,day,at,local,s\n"
            "1,3000000000,0.1,true,2013-01-31,2013-01-31T10:00:00Z,2013-01-31 10:00:00.5,x\n"
            "-2,,1e300,FALSE,0001-01-01,2013-01-31 12:00+02:00,2013-01-31,\n"
            ",,,,,,,\n")
        self.assertEqual(self.types(summary), [
            ("i", "int32", True, 1), ("l", "int64", True, 2), ("d", "double", True, 1),
            ("b", "bool", True, 1), ("day", "date", True, 1), ("at", "timestamp(us,UTC)", True, 1),
            ("local", "timestamp(us)", True, 1), ("s", "string", True, 2)])
        self.assertEqual(self.values(), [
            ["1", "3000000000", "0.1", "true", "2013-01-31", "2013-01-31T10:00:00Z",
             "2013-01-31T10:00:00.500000", "x"],
            ["-2", "null", "1e+300", "false", "0001-01-01", "2013-01-31T10:00:00Z",
             "2013-01-31T00:00:00", "null"],
            ["null"] * 8])

    def test_given_types(self):
        summary = self.import_csv(
            "price,id,bits,a=b\n12.3,30313233-3435-3637-3839-616263646566,00FF,7\n",
            "--type", "price=decimal(10,2)", "--type", "id=uuid", "--type", "bits=binary",
            "--type", "a=b=int8", "--not-null", "a=b")
        self.assertEqual([c["type"] for c in summary["columns"]],
                         ["decimal(10,2)", "uuid", "binary", "int8"])
        self.assertEqual(self.values(),
                         [["12.30", "30313233-3435-3637-3839-616263646566", "00ff", "7"]])

    def test_header_only(self):
        summary = self.import_csv("a,b\n", "--type", "b=int8")
        self.assertEqual(self.types(summary), [("a", "string", True, 0), ("b", "int8", True, 0)])
        self.assertEqual(summary["rows"], 0)
        self.assertEqual(self.values(), [])

    def test_many_rows_and_nulls(self):
        generator = random.Random(1)
        rows = [[str(generator.randrange(10**6)) if generator.random() < 0.9 else "",
                 '"%s"' % ("x" * generator.randrange(20))] for _ in range(20000)]
        self.import_csv("a,b\n" + "".join(",".join(row) + "\n" for row in rows))
        self.assertEqual(self.values(), [[a or "null", b if b == '""' else b.strip('"')]
                                         for a, b in rows])

    def test_long_values(self):
        rows = [["%d" % i, chr(ord("a") + i) * 1_000_000] for i in range(12)]
        self.import_csv("n,s\n" + "".join(",".join(row) + "\n" for row in rows))
        self.assertEqual(self.values(), rows)

    def test_other_delimiter(self):
        self.import_csv("a\tb\n1,5\t2\n", "--delimiter", "tab")
        self.assertEqual(self.values(), [["1,5", "2"]])

    def test_choices_for_columns(self):
        summary = self.import_csv("a,b\n1,2\n", "--encoding", "plain", "--compression", "none",
                                  "--compression", "b=zstd", "--block-size", "4KiB")
        self.assertEqual([(c["encoding"], c["compression"]) for c in summary["columns"]],
                         [("plain", "none"), ("plain", "zstd")])

    def test_goals(self):
        generator = random.Random(3)
        value, lines = 100.0, []
        for i in range(50000):
            value += generator.gauss(0, 0.01)
            lines.append("%d,%r,key-%012d,%s" % (i * 7, value, i * 7, generator.choice("abcd") * 20))
        csv = "n,walk,key,word\n" + "\n".join(lines) + "\n"
        size = {}
        for goal in ("balanced", "size", "speed"):
            with self.subTest(goal=goal):
                self.folder.joinpath("t.csv").write_text(csv)
                arguments = ["--pack-below", "0", *(["--for", goal] if goal == "size" else ["--for=" + goal])]
                done = self.run_tool(IMPORT, "t.csv", goal, "--json", *arguments)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                columns = json.loads(done.stdout)["columns"]
                size[goal] = sum(column["bytes"] for column in columns)
                self.assertEqual(columns[2]["compression"], "none" if goal == "speed" else "zstd")
                self.assertNotEqual(columns[0]["encoding"], "plain")
                for i, column in enumerate(columns):
                    # The file has the same encodings as the summary.
                    path = sorted(self.folder.glob(goal + "/part-*/*"))[i]
                    file = json.loads(self.run_tool(DUMP, str(path), "--json").stdout)
                    said = [(e["encoding"], e["blocks"], e["compressed_blocks"]) for e in column["encodings"]]
                    found = [(e["encoding"], e["blocks"], e["compressed_blocks"]) for e in file["blocks_by_encoding"]]
                    self.assertEqual(said, found)
                    self.assertEqual(column["encoding"], file["encoding"])
        self.assertLess(size["size"], size["balanced"] * 1.01)
        self.assertLess(size["balanced"], size["speed"])

    def test_default_is_automatic_and_kudu_is_not(self):
        csv = "n,s\n" + "".join("%d,word%d\n" % (i, i % 3) for i in range(20000))
        summary = self.import_csv(csv, "--oldest-reader=kudu")
        self.assertEqual([(c["encoding"], c["compression"]) for c in summary["columns"]],
                         [("bit-shuffle", "none"), ("dict", "none")])
        self.run_tool("/bin/rm", "-r", "t")
        summary = self.import_csv(csv, "--encoding", "auto", "--compression", "auto")
        automatic = [c["bytes"] for c in summary["columns"]]
        self.run_tool("/bin/rm", "-r", "t")
        self.assertEqual([c["bytes"] for c in self.import_csv(csv)["columns"]], automatic)

    def test_blocks_that_differ_are_shown(self):
        generator = random.Random(4)
        numbers = [generator.randrange(-2**63, 2**63) for _ in range(100000)] + list(range(100000))
        self.folder.joinpath("t.csv").write_text("n\n" + "".join("%d\n" % n for n in numbers))
        done = self.run_tool(IMPORT, "t.csv", "t", "--for", "speed", "--why")
        self.assertRegex(done.stdout.decode(), r"(?m)^n +int64 +0 +plain,\S+ +none ")
        done = self.run_tool(DUMP, "t", "--column", "n")
        self.assertRegex(done.stdout.decode(), r"(?m)^encoding +plain: \S+ % of the bytes, \d+ blocks\nencoding +\S+: ")


class Sorting(ImportTest):
    def test_rows_are_sorted_stably(self):
        generator = random.Random(2)
        rows = [[str(generator.randrange(-500, 500)), '"r""%d"' % i] for i in range(10000)]
        summary = self.import_csv("k,v\n" + "".join(",".join(row) + "\n" for row in rows),
                                  "--sorted-by", "k")
        self.assertTrue(summary["reordered"])
        self.assertEqual(summary["sorted_by"], ["k"])
        rows.sort(key=lambda row: int(row[0]))
        self.assertEqual(self.values(), [[k, v[1:-1].replace('""', '"')] for k, v in rows])
        found = self.run_tool(DUMP, "find", "t", "--column", "k", rows[5000][0])
        self.assertEqual(found.returncode, 0, found)

    def test_rows_sorted_by_several_columns(self):
        rows = [f"{name},{day},{i}" for i, (name, day) in enumerate(
            (name, day) for day in (3, 1, -2) for name in ("b", "", "a\u0000", "a", "ab"))]
        self.import_csv('name,day,i\n' + "".join(('""' if row[0] == "," else "") + row + "\n" for row in rows),
                        "--sorted-by", "name", "--sorted-by", "day")
        self.assertEqual([row[1] for row in self.values()], ["-2", "1", "3"] * 5)
        find = lambda *keys: json.loads(self.run_tool(DUMP, "find", "--json", "t", *keys).stdout)
        found = find("a", "1")
        self.assertEqual((found["ordinal"], found["exact"], found["value"]), (4, True, ["a", 1]))
        found = find("a", "2")
        self.assertEqual((found["ordinal"], found["exact"], found["value"]), (5, False, ["a", 3]))
        found = find("ab")
        self.assertEqual((found["ordinal"], found["exact"], found["value"]), (9, True, ["ab", -2]))
        found = find("c")
        self.assertEqual((found["ordinal"], found["exact"], found["end"]), (15, False, True))
        self.write("name,day,i\nz,1,0\nz,0,1\n")
        self.assertEqual(self.run_tool(IMPORT, "t.csv", "t", "--append").returncode, 0)
        self.assertEqual(find("z", "1")["ordinal"], 16)
        self.assertEqual(self.run_tool(DUMP, "verify", "t").returncode, 0)

    def test_rows_that_exceed_the_memory(self):
        """Rows that are sorted in runs give the same files as rows that are sorted at once."""
        generator = random.Random(7)
        text = "k,name,n,v\n" + "".join(
            f'{generator.randrange(-40, 40)},"{"x" * generator.randrange(30)}",{generator.choice(["", "1", "-7"])},{i}\n'
            for i in range(8_000))
        # A row takes more than 60 bytes, so there are at least 7 runs of 64 KiB, or 2 runs of 200 KiB. The memory is only
        # enough to merge two runs at a time.
        for keys in (["k"], ["name", "k"]):
            options = [option for key in keys for option in ("--sorted-by", key)]
            at_once = self.import_csv(text, *options)
            files = self.part_files()
            shutil.rmtree(self.folder / "t")
            for memory in ("64KiB", "200KiB"):
                with self.subTest(keys=keys, memory=memory):
                    in_runs = self.import_csv(text, *options, "--memory", memory)
                    self.assertEqual(self.part_files(), files)
                    self.assertEqual((in_runs["rows"], in_runs["reordered"], in_runs["columns"]),
                                     (8_000, True, at_once["columns"]))
                    self.assertEqual(len(list((self.folder / "t").iterdir())), 2)  # table.cft and the part
                    # An appended part is sorted in the same way. Its columns may have another order in the file.
                    self.write("v,k,name,n\n" + "".join(f"{i},{-i},x,\n" for i in range(2_000)))
                    done = self.run_tool(IMPORT, "t.csv", "t", "--append", "--quiet", "--memory", memory)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertEqual([row[3] for row in self.values()[8_000:]], [str(i) for i in reversed(range(2_000))])
                    self.assertEqual(len(list((self.folder / "t").iterdir())), 3)
                    self.assertEqual(self.run_tool(DUMP, "verify", "t").returncode, 0)
                    shutil.rmtree(self.folder / "t")

    def test_an_error_in_a_later_run(self):
        rows = "".join(f"{-i},{i}\n" for i in range(3_000))
        for last, message in (("x,1", 't.csv:3002:1: column "k": "x" is not of type int32: expected an integer'),
                              ("1,1,1", "t.csv:3002:5: expected 2 fields, as in the header, but found 3" + PAD),
                              ("1,", 't.csv:3002:3: column "v": a null, but the column is not nullable')):
            self.expect_error("k,v\n" + rows + last + "\n", message, "--sorted-by", "k", "--type", "k=int32",
                              "--not-null", "v", "--memory", "64KiB")
            self.assertFalse((self.folder / "t").exists())

    def test_memory_of_sorting_is_bounded(self):
        generator = random.Random(8)
        with open(self.folder / "t.csv", "w") as file:
            file.write("k,v\n")
            file.writelines(f"{generator.randrange(10**6)},{i}\n" for i in range(2_500_000))
        files, peaks = [], []
        for memory in ("16MiB", "1GiB"):
            peaks.append(self.peak_memory(IMPORT, "t.csv", "t", "--quiet", "--sorted-by", "k", "--memory", memory))
            files.append(self.part_files())
            shutil.rmtree(self.folder / "t")
        self.assertLess(peaks[0], 96 << 20)
        self.assertGreater(peaks[1], 128 << 20)  # the places and keys alone take 2,500,000 * 48 bytes
        self.assertEqual(files[0], files[1])

    def test_nulls_sort_first_or_last(self):
        rows = [("b", "2"), ("", "1"), ("b", ""), ("null", ""), ("", "")]
        text = "name,n,i\n" + "".join(f"{name},{n},{i}\n" for i, (name, n) in enumerate(rows))
        find = lambda *keys: json.loads(self.run_tool(DUMP, "find", "--json", "t", *keys).stdout)
        for where, order, option in (("first", [4, 1, 2, 0, 3], ["--nulls", "first"]), ("last", [0, 2, 3, 1, 4], ["--nulls", "last"]),
                                     ("last", [0, 2, 3, 1, 4], [])):
            with self.subTest(option):
                self.import_csv(text, "--sorted-by", "name", "--sorted-by", "n", *option)
                self.assertEqual([int(row[2]) for row in self.values()], order)
                for keys, row in ((("null",), order.index(4 if where == "first" else 1)), (("null", "null"), order.index(4)),
                                  (('"null"',), order.index(3)), (("b", "null"), order.index(2)), (("b", "2"), order.index(0))):
                    found = find(*keys)
                    self.assertEqual((found["ordinal"], found["exact"]), (row, True), keys)
                self.assertEqual(find("null", "null")["value"], [None, None])
                summary = self.run_tool(DUMP, "t").stdout.decode()
                self.assertIn(f"\nkeys   name (nulls {where}), n (nulls {where})\n", summary)
                summary = json.loads(self.run_tool(DUMP, "--json", "t").stdout)
                self.assertEqual(summary["keys"], [{"name": "name", "nulls": where}, {"name": "n", "nulls": where}])
                # An appended part is sorted like the table.
                self.assertEqual(self.import_csv(text, "--append")["reordered"], True)
                self.assertEqual([int(row[2]) for row in self.values()], order * 2)
                self.assertEqual(self.run_tool(DUMP, "verify", "t").returncode, 0)
                self.run_tool("rm", "-r", "t")
        # If the only sort column has nulls, the table has compound keys, too.
        self.import_csv("k,i\n2,0\n,1\n1,2\n", "--sorted-by", "k")
        self.assertEqual([row[1] for row in self.values()], ["2", "0", "1"])
        self.assertEqual(find("null")["ordinal"], 2)
        for option in (["--append"], []):
            done = self.run_tool(IMPORT, "t.csv", "t", "--nulls", "first", *option)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(b"--nulls", done.stderr)

    def test_rows_in_order_stay(self):
        summary = self.import_csv("k\n-1\n-0.0\n0\n0\n5\n", "--sorted-by", "k")
        self.assertFalse(summary["reordered"])
        self.assertEqual(self.values(), [["-1"], ["-0"], ["0"], ["0"], ["5"]])

    def test_keys_of_each_kind(self):
        for kind, values in {
            "string": ["\u00e9", "b", '"a""b"', "a", '""'],
            "bool": ["true", "false", "true"],
            "decimal(38,2)": ["9", "-1.5", "0.01"],
            "double": ["0", "-0", "1e9", "-inf"],
            "fixed(2)": ["ff00", "00ff"],
        }.items():
            with self.subTest(kind):
                summary = self.import_csv("k,n\n" + "".join(f"{v},{i}\n" for i, v in enumerate(values)),
                                          "--type", f"k={kind}", "--sorted-by", "k")
                self.assertTrue(summary["reordered"])
                self.run_tool("rm", "-r", "t")

    def test_append(self):
        self.import_csv("k,v\n1,a\n2,b\n", "--sorted-by", "k")
        summary = self.import_csv("v,k\nd,4\nc,3\n", "--append")
        self.assertEqual((summary["rows"], summary["reordered"], summary["sorted_by"]), (2, True, ["k"]))
        self.assertEqual(self.values(), [["1", "a"], ["2", "b"], ["3", "c"], ["4", "d"]])

    def test_nulls_that_come_later(self):
        self.import_csv("k,v\n1,a\n", "--sorted-by", "k")
        self.import_csv("k,v\n2,\n", "--append")
        self.assertEqual(self.values(), [["1", "a"], ["2", "null"]])

    def expect_found(self, keys):
        """Checks that find prints the ordinal of the smallest key that is not less than the wanted one; of equal keys the first."""
        for wanted in range(min(keys) - 1, max(keys) + 2):
            ordinal = min((i for i, key in enumerate(keys) if key >= wanted), key=lambda i: (keys[i], i), default=len(keys))
            done = self.run_tool(DUMP, "find", "--json", "t", str(wanted))
            self.assertEqual((done.stderr, done.returncode), (b"", int(wanted not in keys)))
            found = json.loads(done.stdout)
            self.assertEqual((found["ordinal"], found["exact"]), (ordinal, wanted in keys), (keys, wanted))

    def test_rows_that_are_appended_are_found(self):
        self.import_csv("k\n1\n5\n", "--sorted-by", "k")
        self.import_csv("k\n3\n", "--append")
        self.expect_found([1, 5, 3])
        self.import_csv("k\n8\n5\n3\n", "--append")
        self.expect_found([1, 5, 3, 3, 5, 8])

    def test_records_that_are_appended_are_found(self):
        self.import_csv("k\n1\n5\n", "--sorted-by", "k")
        for part, records in enumerate(([6, 9], [4, 2, 7], [5, 12]), start=1):
            self.write("".join('{"k":%d}\n' % k for k in records), "more.jsonl")
            done = self.run_tool(IMPORT, "--quiet", "--json", "more.jsonl", "t", "--append")
            self.assertEqual((done.stderr, done.returncode), (b"", 0))
            summary = json.loads(done.stdout)
            self.assertEqual((summary["sorted_by"], summary["reordered"]), (["k"], records == [4, 2, 7]))
            index = self.run_tool(DUMP, "index", "--value", "t", "--column", "k", "--part", str(part)).stdout.decode()
            self.assertTrue(index.startswith("value index\n"), index)
        self.expect_found([1, 5, 6, 9, 2, 4, 7, 5, 12])
        self.assertEqual(self.import_csv("k\n3\n0\n", "--append")["sorted_by"], ["k"])
        self.expect_found([1, 5, 6, 9, 2, 4, 7, 5, 12, 0, 3])
        for record, message in (('{"k":null}', "k: int32 expected, found null"), ('{}', "k: the field is required, but missing")):
            self.write(record, "more.jsonl")
            done = self.run_tool(IMPORT, "--quiet", "more.jsonl", "t", "--append")
            message += "; --evolve changes the columns of the table so that the rows fit"
            self.assertEqual((done.returncode, done.stderr.decode()), (1, f"cfile-import: more.jsonl:1: {message}\n"))
        # An error in the records is reported as usual.
        self.write('{"k":13}\n{"k":"x"}\n', "more.jsonl")
        done = self.run_tool(IMPORT, "--quiet", "more.jsonl", "t", "--append")
        self.assertEqual((done.returncode, done.stderr.startswith(b"cfile-import: more.jsonl:2: k: ")), (1, True))


class Threads(ImportTest):
    """The files that are written, and the error that is reported, do not depend on the number of threads."""

    def table_files(self):
        """Returns a hash of each column's file, and what cfile-dump prints of the table: table.cft has random names and numbers."""
        files = {name: hashlib.sha256(content).hexdigest() for name, content in self.part_files().items()}
        return files, re.sub(rb"part-[0-9a-f]{32}", b"PART", self.run_tool(DUMP, "--json", "t").stdout)

    def expect_same_files(self, text, *options):
        written = []
        for threads in (1, 2, 4, 7):
            summary = self.import_csv(text, "--threads", str(threads), *options)
            for varies in ("seconds", "megabytes_per_second"):
                summary.pop(varies, None)
            written.append((summary, self.table_files()))
            shutil.rmtree(self.folder / "t")
        for other in written[1:]:
            self.assertEqual(other, written[0])

    def rows(self, count):
        generator = random.Random(5)
        return [[str(i), str(generator.randrange(-10**9, 10**9)), repr(generator.random()),
                 generator.choice(["", "NA", '""', "true", '"a,""b""\r\nc\n"']),
                 '"%s"' % ("\n" * generator.randrange(30)), "2013-01-%02d" % (1 + i % 31)] for i in range(count)]

    def text(self, rows):
        return "id,n,d,s,lines,day\r\n" + "".join(",".join(row) + "\r\n" for row in rows)

    def test_same_files(self):
        text = self.text(self.rows(40_000))
        self.expect_same_files(text, "--null", "NA")
        self.expect_same_files(text, "--compression", "zstd", "--block-size", "4KiB", "--encoding", "lines=plain")
        self.expect_same_files(text, "--sorted-by", "n")
        self.expect_same_files(text, "--sorted-by", "day", "--sorted-by", "n")
        self.expect_same_files("a\n" + "\n" * 300_000 + "1\n")
        self.expect_same_files("a,b\n")
        self.expect_same_files("a,b\n" + "\n" * 600_000 + "1,2\n" + "\n" * 600_000)
        self.expect_same_files("a,b\n" + ("x" * 700_000 + ",y\n") * 5)

    def test_types_are_those_of_all_pieces(self):
        rows = "1,1,1,2013-01-01,\n" * 100_000
        for place in (0, 50_000, 100_000):
            at = place * 18
            summary = self.import_csv("a,b,c,d,e\n" + rows[:at] + "3000000000,0.5,,2013-01-01T00:00:00Z,x\n" + rows[at:])
            self.assertEqual([(c["type"], c["nulls"]) for c in summary["columns"]],
                             [("int64", 0), ("double", 0), ("int32", 1), ("timestamp(us,UTC)", 0), ("string", 100_000)])
            shutil.rmtree(self.folder / "t")

    def test_first_error_is_reported(self):
        rows = self.rows(40_000)
        line = lambda row: 2 + sum(field.count("\n") for fields in rows[:row] for field in fields) + row
        for threads in ("1", "2", "4"):
            # If several values are wrong, the first wrong value in the file is reported, in any column.
            wrong = [list(row) for row in rows]
            wrong[20_000][1], wrong[20_003][0], wrong[39_999][0] = "x", "y", "z"
            self.expect_error(self.text(wrong), f't.csv:{line(20_000)}:7: column "n": "x" is not of type int64: '
                              "expected an integer", "--threads", threads, "--type", "n=int64", "--type", "id=int64")
            # A stray quote is reported, and not an error after this quote, where quotes no longer match.
            wrong = [list(row) for row in rows]
            wrong[20_000][3] = 'a"b'
            wrong[30_000] = ["1"]
            self.expect_error(self.text(wrong),
                              f"t.csv:{line(20_000)}:{sum(map(len, wrong[20_000][:3])) + 5}: a quote in an unquoted field; "
                              "put the field in quotes and write the quote inside it twice", "--threads", threads)
            wrong = rows[:-1] + [["1"], ["2"]]
            self.expect_error(self.text(wrong), f"t.csv:{line(39_999)}:1: expected 6 fields, as in the header, but found 1" + PAD,
                              "--threads", threads)
            # A value that cannot be written is reported before a later value that cannot be read.
            self.expect_error("a,b\n" + "1,x\n" * 100_000 + "1," + "x" * 17_000_000 + "\n" + "1,x\n" * 100_000 + "y,x\n",
                              "t/part-X/0001-b.cfile: the value at ordinal 100000 has 17000000 bytes, above the limit of "
                              "16777216: raise --max-block-size", "--threads", threads, "--type", "a=int64", exit_code=4)

    def test_memory_is_bounded(self):
        """Imports a file that is much longer than the pieces that threads may hold at once."""
        self.write("a,b,c\n" + '1,2.5,"some text that is not long"\n' * 3_000_000)
        for threads in ("1", "4"):
            self.assertLess(self.peak_memory(IMPORT, "t.csv", "t", "--quiet", "--threads", threads), 64 << 20)
            shutil.rmtree(self.folder / "t")

    def test_wrong_number(self):
        for threads in ("0", "257", "-1", "x"):
            self.write("a\n1\n")
            done = self.run_tool(IMPORT, "t.csv", "t", "--threads", threads)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"--threads", done.stderr)


class Errors(ImportTest):
    def test_csv(self):
        self.expect_error("", "t.csv: the file is empty; a header with the names of its columns is missing")
        self.expect_error(b"a,b\xe9\n1,2\n", 't.csv:1:3: the name "b\\xe9" is not valid UTF-8; say the charset of the file, '
                          "for example: --charset windows-1252")
        self.expect_error("a,b\n1,2\n1\n",
                          "t.csv:3:1: expected 2 fields, as in the header, but found 1" + PAD)
        self.expect_error('a\n"x', "t.csv:2:1: this quote is never closed")
        self.expect_error(b"a\ncaf\xe9\n",
                          't.csv:2:1: column "a": "caf\\xe9" is not of type string: it is not valid UTF-8; say the charset of the '
                          "file, for example: --charset windows-1252")

    def test_values(self):
        self.expect_error("a,b\n\u00e4,1\n\u00e4,x\n",
                          't.csv:3:3: column "b": "x" is not of type int8: expected an integer',
                          "--type", "b=int8")
        self.expect_error("a\n128\n",
                          't.csv:2:1: column "a": "128" is not of type int8: it is outside -128 to 127',
                          "--type", "a=int8")
        self.expect_error('a\n""\n', 't.csv:2:1: column "a": "" is not of type int8: expected an integer',
                          "--type", "a=int8")
        self.expect_error("a,b\n1,\n", 't.csv:2:3: column "b": a null, but the column is not nullable',
                          "--not-null", "b")
        self.expect_error("a\n2\nnan\n", 't.csv:3:1: column "a": nan, but rows are sorted by this '
                          "column and nan has no order", "--sorted-by", "a")
        self.expect_error("a,b\n2,1\n,1\n", 't.csv:3:1: column "a": a null, but the column is not nullable',
                          "--sorted-by", "a", "--not-null", "a")

    def test_late_error_leaves_nothing(self):
        rows = "".join(f"{i},\n" for i in range(100_000))
        self.expect_error("a,b\n" + rows + "x,1\n",
                          't.csv:100002:1: column "a": "x" is not of type int64: expected an integer',
                          "--type", "a=int64")

    def test_options(self):
        for option, value in [("--type", "x=int8"), ("--not-null", "x"), ("--sorted-by", "x"),
                              ("--encoding", "x=plain"), ("--compression", "x=none")]:
            self.expect_error("a\n1\n", f"{option} x: t.csv has no column of that name", option, value)
        usage = "\nSee cfile-import --help"
        self.expect_error("a\n1\n", "--delimiter ;;: expected one ASCII character, or tab" + usage,
                          "--delimiter", ";;")
        for option in ("--max-block-size", "--max-metadata-size", "--block-size"):
            most = 2**30 - 1 if option == "--block-size" else 2**31 - 1
            for text in ("-1", "0", "-4KiB", "2GiB", "18446744073709551617", "99999999999999999999999", "x", "1.5KiB"):
                self.expect_error("a\n1\n", f"{option}: '{text}' is not a number of bytes from 1 to {most}, such as 64KiB" + usage,
                                  f"{option}={text}")
        for option, most in (("--max-depth", 1000), ("--max-leaves", 10**7), ("--threads", 256)):
            for text in ("-1", "0", str(most + 1), "18446744073709551617", "1e2", "x"):
                self.expect_error("a\n1\n", f"{option}: '{text}' is not a number from 1 to {most}" + usage, f"{option}={text}")
        self.expect_error("a\n1\n", "--block-size 9437184: it is above half of --max-block-size" + usage, "--block-size", "9MiB")
        self.import_csv("a\n1\n", "--block-size", "9MiB", "--max-block-size", "18MiB")
        done = self.run_tool(DUMP, "t", "--max-block-size", "-1")
        self.assertEqual((done.returncode, b"--max-block-size: '-1' is not a number" in done.stderr), (1, True))
        done = self.run_tool(DUMP, "t", "--max-leaves", "-1")
        self.assertEqual((done.returncode, b"--max-leaves: '-1' is not a number" in done.stderr), (1, True))
        shutil.rmtree(self.folder / "t")
        self.expect_error("a\n1\n", "--type a: expected COLUMN=TYPE" + usage, "--type", "a")
        self.write("a\n1\n")  # a codec that this build does not have has an exit code of its own
        done = self.run_tool(IMPORT, "t.csv", "t", "--compression", "lzo")
        if b"not built" in done.stderr:
            self.assertEqual(done.returncode, 4)
        self.expect_error("a\n1\n", "--not-null excludes --append" + usage, "--append", "--not-null", "a")

    def test_files(self):
        done = self.run_tool(IMPORT, "missing.csv", "t")
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (3, "cfile-import: open missing.csv: No such file or directory\n"))
        self.import_csv("a\n1\n")
        done = self.run_tool(IMPORT, "t.csv", "t")
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (1, "cfile-import: t: exists already; remove it first, or add to a table "
                             "with --append\n"))
        self.assertEqual(self.values(), [["1"]])

    def test_append(self):
        self.import_csv("a,b\n1,2\n", "--not-null", "b")
        evolve = "; --evolve changes the columns of the table so that the rows fit"
        for text, message in [
            ("a,c\n1,2\n", 't.csv:1:3: column "c": the table t has no such column' + evolve),
            ("a\n1\n", 't.csv: there is no column "b", which the table t has' + evolve),
            ("a,b\n1,\n", 't.csv:2:3: column "b": a null, but the column is not nullable' + evolve),
            ("a,b\n1,2.5\n", 't.csv:2:3: column "b": "2.5" is not of type int32: expected an integer' + evolve),
            ("a,b\n1,9999999999\n", 't.csv:2:3: column "b": "9999999999" is not of type int32: '
             "it is outside -2147483648 to 2147483647" + evolve),
            ("a,b\n1,x\n", 't.csv:2:3: column "b": "x" is not of type int32: expected an integer'),
        ]:
            self.write(text)
            done = self.run_tool(IMPORT, "t.csv", "t", "--append")
            self.assertEqual((done.returncode, done.stderr.decode()), (1, f"cfile-import: {message}\n"))
        self.assertEqual(self.values(), [["1", "2"]])
        self.assertEqual(self.run_tool(DUMP, "verify", "t").returncode, 0)

    def files(self):
        return sorted(str(path) for path in self.folder.glob("t/**/*"))

    def interrupt_import(self, sent, head, line, name, *options, begun=""):
        """Imports a file that repeats `line` into table t. Sends the signal when the import has begun to write: when there is
        a new file with `begun` in its path. An import may end before the signal, because it was fast. Such an import is undone
        and repeated with twice the lines."""
        kept = self.folder / "kept"
        shutil.rmtree(kept, ignore_errors=True)
        if (self.folder / "t").exists():
            shutil.copytree(self.folder / "t", kept)
        before = self.files()
        for doubled in range(6):
            self.write(head + line * (500_000 << doubled), name)
            process = subprocess.Popen([IMPORT, name, "t", *options], cwd=self.folder, stderr=subprocess.PIPE)
            while process.poll() is None and not any(begun in path for path in set(self.files()).difference(before)):
                os.sched_yield()
            process.send_signal(sent)
            process.send_signal(sent)  # twice, like a terminal that is closed
            _, message = process.communicate(timeout=300)
            if process.returncode != 0:
                self.assertEqual((process.returncode, message), (-sent, b"cfile-import: interrupted; nothing was written\n"))
                self.assertEqual(self.files(), before)
                return
            shutil.rmtree(self.folder / "t")
            if kept.exists():
                shutil.copytree(kept, self.folder / "t")
        self.fail("the signal did not interrupt the import")

    def test_a_file_that_is_cut(self):
        """Another process cuts the input while it is read: an error, no signal, and nothing is left."""
        line = "1,some text\n"
        for doubled in range(6):
            self.write("a,b\n" + line * (500_000 << doubled), "t.csv")
            process = subprocess.Popen([IMPORT, "t.csv", "t", "--threads", "1"], cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
            while process.poll() is None and "t.csv" not in pathlib.Path(f"/proc/{process.pid}/maps").read_text():
                os.sched_yield()
            os.truncate(self.folder / "t.csv", 4096)
            _, message = process.communicate(timeout=300)
            if process.returncode != 0:
                self.assertEqual((process.returncode, message), (3, b"cfile-import: t.csv: the file was cut while it was read\n"))
                self.assertEqual(self.files(), [])
                return
            shutil.rmtree(self.folder / "t")
        self.fail("the import was faster")

    def test_json_that_is_cut(self):
        line = '{"a":1,"b":"some text"}\n'
        for doubled in range(6):
            self.write(line * (500_000 << doubled), "t.jsonl")
            process = subprocess.Popen([IMPORT, "t.jsonl", "t"], cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
            while process.poll() is None and "t" not in os.listdir(self.folder):
                os.sched_yield()
            os.truncate(self.folder / "t.jsonl", 4096)
            _, message = process.communicate(timeout=300)
            if process.returncode != 0:
                self.assertEqual((process.returncode, message), (3, b"cfile-import: t.jsonl: the file was cut while it was read\n"))
                return
            shutil.rmtree(self.folder / "t")
        self.fail("the import was faster")

    def test_signals_leave_nothing(self):
        for head, line, name in (("a,b\n", "1,some text\n", "t.csv"), ("", '{"a":1,"b":"some text"}\n', "t.jsonl")):
            for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(name=name, signal=sent):
                    self.interrupt_import(sent, head, line, name)
                    self.assertFalse((self.folder / "t").exists())

    def test_signal_leaves_the_table_as_it_was(self):
        self.import_csv("a,b\n1,x\n")
        self.interrupt_import(signal.SIGTERM, "a,b\n", "1,some text\n", "t.csv", "--append")
        self.assertEqual(self.values(), [["1", "x"]])

    def test_signal_while_sorting_leaves_nothing(self):
        self.interrupt_import(signal.SIGTERM, "a,b\n", "2,some text\n1,some text\n", "t.csv", "--sorted-by", "a", "--memory", "4MiB",
                              begun="temporary-")
        self.assertFalse((self.folder / "t").exists())

    def test_ignored_signal_stays_ignored(self):
        """A signal that is ignored at the start, as with nohup, does not end the import."""
        self.write("a,b\n" + "1,some text\n" * 500_000)
        process = subprocess.Popen([IMPORT, "t.csv", "t", "--quiet"], cwd=self.folder, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        while process.poll() is None:  # sends the signal at every stage of the import
            process.send_signal(signal.SIGHUP)
            os.sched_yield()
        self.assertEqual((process.returncode, process.communicate()[1]), (0, b""))


class Headers(ImportTest):
    def names(self, text, *options):
        """Imports `text` and expects no warning. Returns the names of columns, the renamed columns, and whether there is a header."""
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        summary = self.import_csv(text, *options)
        return ([c["name"] for c in summary["columns"]], [(r["column"], r["from"], r["to"]) for r in summary["renamed"]],
                summary["header"])

    def test_columns_without_a_name(self):
        # Output of R's write.csv and pandas' to_csv.
        self.assertEqual(self.names('"","x","y"\n"1",1.5,"a"\n"2",2,"b"\n'), (["column_1", "x", "y"], [(1, "", "column_1")], True))
        self.assertEqual(self.names(",0,1\n0,0.5,0.25\n1,1.5,0.75\n"), (["column_1", "0", "1"], [(1, "", "column_1")], True))
        self.assertEqual(self.values(), [["0", "0.5", "0.25"], ["1", "1.5", "0.75"]])
        self.assertEqual(self.names(",x,,column_3,\n1,2,3,4,5\n"),
                         (["column_1", "x", "column_3_2", "column_3", "column_5"],
                          [(1, "", "column_1"), (3, "", "column_3_2"), (5, "", "column_5")], True))

    def test_names_that_repeat(self):
        self.assertEqual(self.names("a,a,a_2,a,b,b\nv,w,x,y,z,z\n"),
                         (["a", "a_3", "a_2", "a_4", "b", "b_2"], [(2, "a", "a_3"), (4, "a", "a_4"), (6, "b", "b_2")], True))
        self.assertEqual(self.names("a_2,a,a,a_2,a_2_2\n" + "v," * 4 + "w\n")[0], ["a_2", "a", "a_3", "a_2_3", "a_2_2"])
        done = self.run_tool(DUMP, "rows", "t", "--columns", "a_3")
        self.assertEqual((done.returncode, done.stdout), (0, b"a_3\nv\n"))

    def test_summary_names_them(self):
        self.write('"",a,a\nx,y,z\n')
        done = self.run_tool(IMPORT, "t.csv", "t")
        self.assertIn("\ncolumn 1 has no name and was named column_1\n"
                      "column 3 is another column with the name a and was named a_2\n", done.stdout.decode())
        self.write("," * 30 + "x\n")
        done = self.run_tool(IMPORT, "t.csv", "t2")
        self.assertIn("\ncolumn 10 has no name and was named column_10\n"
                      "and 20 more columns were named in this way (--json lists them)\n", done.stdout.decode())

    def test_many_columns(self):
        """The time does not grow with the square of the number of columns."""
        self.import_csv("a\nx\n")
        for names in ([f"name {i}" for i in range(200_000)], ["b"] * 200_000, [""] * 200_000):
            self.write(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
            done = self.run_tool(IMPORT, "t.csv", "t", "--append")
            self.assertIn(b"the table t has no such column", done.stderr)

    def test_no_rows(self):
        self.write("a\n")
        done = self.run_tool(IMPORT, "t.csv", "t", "--why")
        self.assertRegex(done.stdout.decode(), r"\na +string +0 +- +- +\d+ +0.000  no values\n$")

    def test_more_columns_than_open_files(self):
        self.write(",".join(f"c{i}" for i in range(300)) + "\n" + ",".join(str(i) for i in range(300)) + "\n")
        done = self.run_tool("/bin/sh", "-c", f"ulimit -S -n 100; '{IMPORT}' t.csv t --quiet")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(self.values(), [[str(i) for i in range(300)]])
        done = self.run_tool("/bin/sh", "-c", f"ulimit -S -n 100; '{DUMP}' verify t")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    WARNING = ("cfile-import: warning: t.csv: the first line is imported as a row, because its fields are values of the types of "
               "their columns; the columns are named column_1, column_2, ... (use --header yes if the first line has the names, "
               "--header no to end this warning)\n")

    def test_first_line_is_a_row(self):
        for text, types in [
                ("1,2.5,x\n2,3,y\n", ["int32", "double", "string"]),
                ("0.5\n1\n", ["double"]),
                ("3000000000,a\n1,b\n", ["int64", "string"]),
                ("2020-01-01,\n2020-01-02,5\n,\n", ["date", "int32"]),  # its null is in a column with other nulls
                ("true,2020-01-01T00:00:00Z\nfalse,2020-01-01\n", ["bool", "timestamp(us,UTC)"]),
                ("x,1\ny,2\n,3\n", ["string", "int32"])]:
            with self.subTest(text=text):
                shutil.rmtree(self.folder / "t", ignore_errors=True)
                self.write(text)
                done = self.run_tool(IMPORT, "t.csv", "t", "--json")
                summary = json.loads(done.stdout)
                self.assertEqual((done.stderr.decode(), summary["header"]), (self.WARNING, False))
                self.assertEqual(summary["warnings"], [self.WARNING[len("cfile-import: warning: "):-1]])
                self.assertEqual([c["type"] for c in summary["columns"]], types)
                self.assertEqual([c["name"] for c in summary["columns"]], [f"column_{i + 1}" for i in range(len(types))])
                self.assertEqual(len(self.values()), text.count("\n"))
        done = self.run_tool(IMPORT, "t.csv", "t2", "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_first_line_is_the_header(self):
        for text in ("id,v\n1,2\n", "1,2\n", "a,b\nx,y\n", "2019,x\nu,v\n", "1,\n2,3\n", "1,x\n,\n2,5\n", "0,1\n,\n"):
            with self.subTest(text=text):
                self.assertEqual(self.names(text)[2], True)

    def test_header_is_said(self):
        self.assertEqual(self.names("1,2\n3,4\n", "--header", "yes"), (["1", "2"], [], True))
        self.assertEqual(self.values(), [["3", "4"]])
        self.assertEqual(self.names("1,2\n3,4\n", "--type", "2=int64"), (["1", "2"], [], True))  # the line has the name 2
        self.assertEqual(self.names("a,a\nb,c\n", "--header", "no", "--sorted-by", "column_2"), (["column_1", "column_2"], [], False))
        self.assertEqual(self.values(), [["a", "a"], ["b", "c"]])
        self.write("5,6\n")
        self.import_csv("d,e\n", "--append", "--header", "no")
        self.assertEqual(self.values(), [["a", "a"], ["b", "c"], ["d", "e"]])
        self.expect_header_error("1,2\n3,4\n", "--type", "column_9=int8")

    def expect_header_error(self, text, *options):
        self.write(text)
        done = self.run_tool(IMPORT, "t.csv", "t3", *options)
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (1, "cfile-import: --type column_9: t.csv has no column of that name; did you mean column_1?\n"))

    def test_row_that_is_found_sorts(self):
        self.write("3,x\n1,y\n2,z\n")
        done = self.run_tool(IMPORT, "t.csv", "t", "--sorted-by", "column_1", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(self.values(), [["1", "y"], ["2", "z"], ["3", "x"]])


class OtherFormats(ImportTest):
    def test_they_are_named(self):
        text = "name,v\n" + "x,1\n" * 100
        unpack = "decompress it first: "
        for name in ("t.csv", "t.jsonl"):
            for data, message in [
                    (gzip.compress(gzip.compress(text.encode())), f"compressed with gzip more than once; {unpack}{name}"),
                    (bz2.compress(text.encode()), f"compressed with bzip2; {unpack}bunzip2 -k {name}"),
                    (lzma.compress(text.encode()), f"compressed with xz; {unpack}unxz -k {name}"),
                    (b"\x04\x22\x4d\x18 rest", f"compressed with lz4; {unpack}unlz4 {name}"),
                    (b"PK\x03\x04 rest", f"a zip archive, or a spreadsheet in one; unpack it, or save the sheet as CSV: unzip {name}")]:
                with self.subTest(message=message):
                    self.write(data, name)
                    done = self.run_tool(IMPORT, name, "t")
                    self.assertEqual((done.returncode, done.stderr.decode()), (1, f"cfile-import: {name}: the file is {message}\n"))
                    self.assertFalse((self.folder / "t").exists())

    def test_torn_parquet_is_no_text(self):
        for name in ("t.csv", "t.jsonl"):
            for parquet in (b"PAR1" + bytes(100) + b"PAR1", b"PAR1\x15\x04" + bytes(100)):
                self.write(parquet, name)
                done = self.run_tool(IMPORT, name, "t")
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"cfile-import: {name}: ", done.stderr.decode())
                self.assertFalse((self.folder / "t").exists())

    def test_json_array(self):
        self.write('[\n{"a": 1}, {"a": 2},\n{"a": 3}]\n', "t.txt")
        done = self.run_tool(IMPORT, "--quiet", "t.txt", "t")
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        self.assertEqual(self.run_tool(DUMP, "rows", "t").stdout.decode(), "a\n1\n2\n3\n")

    def test_text_that_begins_like_them(self):
        for text in ("PAR1,b\n1,2\n", "FEA1,b\n1,2\n", "BZh9,b\n1,2\n", "PK,b\n1,2\n", "a\n", "\ufeffa,b\n1,2\n"):
            self.import_csv(text)
            shutil.rmtree(self.folder / "t")


class Records(ImportTest):
    SCHEMA = """message Record {
  required string sid,
  repeated long appid,
  optional group tcp { optional long mss, optional long flag },
  repeated group trans { optional string uri, optional int monitor_flag }
}"""
    LINES = (
        '{"sid":"8509_1576752657","appid":[81,205,67],"tcp":{"mss":1750,"flag":344},'
        '"trans":[{"uri":"/icon.jpg","monitor_flag":1},{"uri":"/myyhp_2.2-4.js"}]}\n'
        '{"sid":"8510_1576752667","appid":[58,98]}\n'
        '{"sid":"8511_1576754667","appid":[198],"tcp":{"flag":256}}\n')

    def import_records(self, text, *options, name="r.jsonl"):
        self.write(text, name)
        done = self.run_tool(IMPORT, name, "t", "--json", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return json.loads(done.stdout)

    def records(self, *options):
        done = self.run_tool(DUMP, "rows", "--format", "jsonl", "t", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return done.stdout.decode()

    def test_given_schema(self):
        self.write(self.SCHEMA, "record.schema")
        summary = self.import_records(self.LINES, "--schema", "record.schema", "--compression", "trans.uri=zstd")
        self.assertNotIn("schema", summary)
        self.assertEqual((summary["rows"], [column["name"] for column in summary["columns"]]),
                         (3, ["sid", "appid", "tcp.mss", "tcp.flag", "trans.uri", "trans.monitor_flag"]))
        self.assertEqual(summary["columns"][4]["compression"], "zstd")
        self.assertEqual(self.records(), self.LINES)
        self.assertEqual(self.records("--ordinal", "1", "--count", "1"), self.LINES.splitlines(True)[1])
        self.assertEqual(self.records("--columns", "tcp.flag,trans.uri"),
                         '{"tcp":{"flag":344},"trans":[{"uri":"/icon.jpg"},{"uri":"/myyhp_2.2-4.js"}]}\n'
                         '{}\n{"tcp":{"flag":256}}\n')
        self.assertIn("  required binary sid (STRING);\n", self.records("--schema"))
        self.import_records(self.LINES, "--append")
        self.assertEqual(self.records(), 2 * self.LINES)
        self.assertEqual(self.records("--ordinal", "6"), "")
        summary = json.loads(self.run_tool(DUMP, "t", "--json").stdout)["columns"][4]
        self.assertEqual((summary["name"], summary["levels"]),
                         ("trans.uri", {"max_repetition": 1, "max_definition": 2}))
        verified = self.run_tool(DUMP, "verify", "t")
        self.assertIn(b"12 files checked: all valid\n", verified.stdout)
        done = self.run_tool(DUMP, "rows", "t")
        self.assertEqual((done.stdout.decode(), done.stderr), (2 * self.LINES, b""))

    def test_verify_compares_leaves(self):
        loose = ("--pack-below", "0")
        self.import_records('{"g":[{"a":1,"b":1},{"a":2,"b":2}]}\n{"g":[{"a":3,"b":3}]}\n', *loose)
        leaf = next((self.folder / "t").glob("*/0001-*"))
        self.write('{"g":[{"a":1,"b":1}]}\n{"g":[{"a":2,"b":2},{"a":3,"b":3}]}\n', "other.jsonl")
        self.run_tool(IMPORT, "other.jsonl", "other", *loose)
        leaf.write_bytes(next((self.folder / "other").glob("*/0001-*")).read_bytes())
        done = self.run_tool(DUMP, "verify", "t")
        self.assertEqual(done.returncode, 2)
        self.assertIn("t: DAMAGED\n  g.list.element.b: record 0: repetition level 1 and definition level 1 expected, "
                      "found 0 and 1; concerns rows 0 to 0\n"
                      "2 files checked: each is valid, but they contradict each other\n", done.stdout.decode())

    def test_found_schema_keeps_everything(self):
        random.seed(6)
        records = []
        for i in range(500):
            record = {"id": i, "name": random.choice(["", "é", "a\nb"])}
            if random.random() < 0.5:
                record["tags"] = [random.choice(["x", None]) for _ in range(random.randrange(3))]
            if random.random() < 0.5:
                record["point"] = {"x": random.random(), "rows": [[1] * random.randrange(3) for _ in range(2)]}
            records.append(record)
        text = "".join(json.dumps(r, separators=(",", ":"), ensure_ascii=False) + "\n" for r in records)
        summary = self.import_records(text)
        printed = self.records()
        # The records are equal, except that fields are in the order of the schema.
        self.assertEqual([json.loads(line) for line in printed.splitlines()], records)
        self.assertEqual(self.records("--schema"), summary["schema"])
        done = self.run_tool(IMPORT, "r.jsonl", "t2")
        self.assertIn("message r {\n  optional int64 id;\n", done.stdout.decode())
        self.assertIn("\nt2: 500 records, 5 columns\n", done.stdout.decode())

    def test_schema_is_that_of_all_records(self):
        """Records after the first 4 MiB, from which the schema is found first."""
        first = '{"i":1,"u":18446744073709551615,"d":0.5,"s":"%s","l":[],"o":{},"e":["x"],"b":true,"n":null,' \
            '"t":"2024-01-01T00:00:00Z","w":"2024-01-01"}\n' % ("x" * 100_000)
        same = ""
        no_element, no_field = first.replace('"o":{}', '"o":{"a":null}'), first.replace('"l":[]', '"l":[null]')
        settled = no_field.replace('"o":{}', '"o":{"a":null}')
        for start, late in [
                (first, same), (settled, same),
                (settled, '{"i":1}\n'),  # required fields are missing
                (settled, settled.replace('"i":1', '"i":1.5')),
                (settled, settled.replace('"i":1', '"i":-0')),
                (settled, settled.replace('"u":18446744073709551615', '"u":null')),
                (settled, settled.replace('"d":0.5', '"d":9007199254740992')),
                (settled, settled.replace('"d":0.5', '"d":7')),
                (settled, settled.replace('"u":18446744073709551615', '"u":-1')),
                (settled, settled.replace('"i":1', '"i":123456789012345678901234567890')),
                (settled, settled.replace('"u":18446744073709551615', '"u":' + "9" * 50)),
                (settled, settled.replace('"e":["x"]', '"e":[null]')),
                (settled, settled.replace('"n":null', '"n":[{"x":1}]')),
                (settled, settled.replace('"n":null', '"n":"2024-01-01"')),
                (settled, settled.replace('"n":null', '"n":"12"')),
                (settled, settled.replace('"n":null', '"n":"a"') + settled.replace('"n":null', '"n":"2024-01-01"')),
                (settled, settled.replace("00Z", "00.5Z")),
                (settled, settled.replace("T00:00:00Z", "")),
                (settled, settled.replace("00Z", "00")),
                (settled, settled.replace("00Z", "00.123456789Z")),
                (settled, settled.replace('"w":"2024-01-01"', '"w":"2024-01-01T00:00:00Z"')),
                (settled, settled.replace('"w":"2024-01-01"', '"w":""')),
                (settled.replace("00Z", "00.123456789Z"), settled.replace("T00:00:00Z", "")),
                (settled, settled.replace('"l":[null]', '"l":[1]')),
                (settled, settled.replace('"o":{"a":null}', '"o":{"a":"x","b":1}')),
                (no_element, no_element.replace('"l":[]', '"l":["x"]')),
                (no_field, no_field.replace('"o":{}', '"o":{"a":"x"}'))]:
            summaries = []
            for text in (start * 50 + late, start + late + start * 49):
                summaries.append(self.import_records(text))
                self.assertEqual([json.loads(line) for line in self.records("--columns", "i,d,e").splitlines()],
                                 [{k: v for k, v in json.loads(line).items() if k in "ide"} for line in text.splitlines()])
                shutil.rmtree(self.folder / "t")
            self.assertEqual(summaries[0]["schema"], summaries[1]["schema"], late[:100])
            self.assertEqual(summaries[0]["rows"], summaries[1]["rows"])
        for late, message in [
                (settled.replace('"i":1', '"i":"1"'), "i: strings here and integers in line 1"),
                (settled.replace('"d":0.5', '"d":9007199254740993'), "d: fractions here and an integer above 2^53 in line 51"),
                (settled.replace('"b":true', '"b":1'), "b: integers here and true or false in line 1")]:
            self.expect_error(settled * 50 + late, f"r.jsonl:51: {message}, which no type holds; "
                              "--type or --schema says which type to use")
        self.expect_error(settled * 50 + '{"i":1', "r.jsonl:51: invalid JSON: "
                          "an object or an array does not end; --skip-bad-rows N skips such records")

    def test_long_lines_and_blank_ones(self):
        lines = ['{"a":["' + "x" * length + '"]}' for length in (0, 3_000_000, 5, 1_100_000)]
        self.import_records("\ufeff" + "\n\n \t\n".join(lines))
        self.assertEqual(self.records(), "".join(line + "\n" for line in lines))

    def expect_error(self, text, message, *options, exit_code=1):
        self.write(text, "r.jsonl")
        files = sorted(entry.name for entry in self.folder.iterdir())
        done = self.run_tool(IMPORT, "r.jsonl", "t", *options)
        self.assertEqual((done.stderr.decode(), done.stdout), (f"cfile-import: {message}\n", b""))
        self.assertEqual(done.returncode, exit_code)
        self.assertEqual(sorted(entry.name for entry in self.folder.iterdir()), files)

    def test_summary_of_nested_records(self):
        self.write("".join(f'{{"a":{i},"b":["1","{"x" * 90 * i}"]}}\n' for i in range(9)), "r.jsonl")
        text = self.run_tool(IMPORT, "r.jsonl", "u").stdout.decode()
        lines = text.splitlines()[-3:]
        self.assertEqual(lines[0], '{"a":0,"b":["1",""]}')
        self.assertTrue(lines[2].startswith('{"a":2,"b":["1","xxx') and lines[2].endswith("xxx...") and len(lines[2]) == 100, lines)

    def test_limits_can_be_raised(self):
        record = {"v": "x" * 17_000_000}
        for _ in range(80):
            record = {"g": record}
        self.import_records(json.dumps(record), "--max-depth", "100", "--max-block-size", "32MiB")
        self.assertNotEqual(self.run_tool(DUMP, "rows", "--format", "jsonl", "t").returncode, 0)
        self.assertEqual(json.loads(self.records("--max-depth", "100", "--max-block-size", "32MiB")), record)

    def test_limits_are_no_damage(self):
        """A value above the default limit: the tools say which option to raise, and drop nothing."""
        self.import_records(json.dumps({"v": "x" * 20_000_000}) + '\n{"v":"y"}', "--max-block-size", "64MiB")
        (file,) = (path.relative_to(self.folder) for path in pathlib.Path(self.folder).glob("t/part-*/0000-v.cfile"))
        for command in (["verify", "t"], ["verify", file], ["rows", file], ["salvage", file, "out.cfile"], [file]):
            done = self.run_tool(DUMP, *command)
            self.assertEqual(done.returncode, 4, command)
            self.assertIn(b"above the limit of 16777216: raise --max-block-size", done.stdout + done.stderr, command)
            self.assertNotIn(b"DAMAGED", done.stdout)
        report = json.loads(self.run_tool(DUMP, "verify", "--json", file).stdout)["files"][0]
        self.assertEqual((report["ok"], report["damages"], len(report["limits"])), (False, [], 1))
        for command in (["verify", "t"], ["salvage", file, "out.cfile"], ["verify", "out.cfile"]):
            done = self.run_tool(DUMP, *command, "--max-block-size", "64MiB")
            self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.run_tool(DUMP, "rows", "out.cfile", "--max-block-size", "64MiB").stdout.count(b"\n"), 2)

    def test_errors_leave_nothing(self):
        self.write(self.SCHEMA, "s")
        self.expect_error(self.LINES + '\n{"sid":1}\n', "r.jsonl:5: sid: string expected, found a number", "--schema", "s")
        self.expect_error(self.LINES * 20_000 + '{"trans":[]}\n',
                          "r.jsonl:60001: sid: the field is required, but missing", "--schema", "s")
        self.expect_error('{"sid":"","trans":[{"uri":[]}]}', "r.jsonl:1: trans.uri: string expected, found an array",
                          "--schema", "s")
        self.expect_error('{"a":1}\n{"a":[]}\n', "r.jsonl:2: a: arrays here and integers in line 1, which no type holds; "
                          "--type PATH=json keeps the text of the values")
        self.expect_error('{"a":""}\n{"a":"%s"}\n{"a":""}\n' % ("x" * 17_000_000),
                          "r.jsonl:2: a: a value has 17000000 bytes, above the limit of 16777216: raise --max-block-size",
                          exit_code=4)
        deep = '{"g":' * 80 + "{}" + "}" * 80
        path = ".".join("g" * 65)
        self.expect_error(deep, f"r.jsonl:1: {path}: a depth of 65 is above the limit of 64: raise --max-depth", exit_code=4)
        self.expect_error("", "r.jsonl: cannot infer a schema: no record has a field")
        self.write("message m {\n  required int32 a\n  required int32 b }", "s")
        self.expect_error("{}", "s:3:3: ';' expected, found 'required'", "--schema", "s")
        self.expect_error("{}", "--null is for CSV; r.jsonl is read as JSON", "--null", "a")
        self.expect_error('{"a":1}', "--encoding b: r.jsonl has no column of that name", "--encoding", "b=plain")


class Output(ImportTest):
    def test_summary(self):
        self.write("name,v\na,1\nb,\n")
        done = self.run_tool(IMPORT, "t.csv", "t", "--sorted-by", "name")
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines[0], "t: 2 rows, 2 columns, sorted by name")
        self.assertRegex(lines[1], r"^14 bytes of CSV -> [0-9,]+ bytes \([0-9.]+ : 1\) in [0-9.]+ s, [0-9.]+ MB/s$")
        self.assertEqual(lines[2:], ["delimiter: comma (each of the first 3 lines has 2 fields); the first line has the names", "",
                                     "column  type    nulls  row 0  row 1",
                                     "name    string      -  a      b",
                                     "v       int32       1  1      null"])
        self.write("name,v\n" + "c" * 30 + ",1\n")
        done = self.run_tool(IMPORT, "t.csv", "t", "--append")
        self.assertEqual(done.stdout.decode().splitlines()[-2], "name    string      -  " + "c" * 24 + "...")
        lines = self.run_tool(IMPORT, "t.csv", "t2", "--sorted-by", "name", "--why").stdout.decode().splitlines()
        self.assertEqual(lines[3:5], ["encodings and codecs: those of the options, otherwise chosen for each block, for balanced size "
                                      "and speed", ""])
        self.assertRegex(lines[5], r"^column +type +nulls +encoding +compression +bytes +bytes/row +why this encoding$")
        self.assertRegex(lines[6], r"^name +string +- +\S+ +none +[0-9,]+ +[0-9.]+  \S.*$")
        self.assertRegex(lines[7], r"^v +int32 +0 +\S+ +none +[0-9,]+ +[0-9.]+  no other encoding saves much$")

    def test_json(self):
        summary = self.import_csv("a\n1\n")
        self.assertEqual(summary["schema_version"], 1)
        size = sum(os.path.getsize(f) for f in self.folder.glob("t/**/*.cfile"))
        self.assertEqual(summary["bytes_out"], size)
        more = self.import_csv("a\n1\n2\n", "--append")
        self.assertGreater(summary["table_bytes"], size)
        self.assertEqual(sum(each["table_bytes"] for each in (summary, more)),
                         sum(os.path.getsize(path) for path in self.folder.glob("t/**/*") if path.is_file()))

    def test_output_that_cannot_be_written(self):
        self.write("a\n1\n")
        for options in (["--json"], [], ["--help"], ["--version"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([IMPORT, "t.csv", "t", *options], cwd=self.folder, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr),
                             (3, b"cfile-import: cannot write to standard output: No space left on device\n"))
            if not options or options == ["--json"]:
                self.assertEqual(self.values(), [["1"]])
                shutil.rmtree(self.folder / "t")

    def test_closed_pipes_and_streams(self):
        def shell(command):
            done = self.run_tool("/bin/bash", "-c", command.replace("IMPORT", f"'{IMPORT}'") + "; echo ${PIPESTATUS[0]}")
            return done.stdout.decode().splitlines()[-1]
        self.write('a\n"x')
        self.assertEqual(shell("IMPORT t.csv t 2>&1 | true"), "1")
        self.assertEqual(shell("IMPORT t.csv t 2>&- >&-"), "1")
        self.write("a\n" + "1\n" * 500_000)
        for command in ("IMPORT t.csv t --progress always 2>&1 | true", "IMPORT t.csv t --json | true",
                        "IMPORT t.csv t --progress always --json <&- >&- 2>&-"):
            with self.subTest(command=command):
                self.assertEqual(shell(command), "0")
                self.assertEqual(self.run_tool(DUMP, "verify", "t").returncode, 0)
                self.assertEqual(len(self.values()), 500_000)
                shutil.rmtree(self.folder / "t")

    def test_quiet(self):
        self.write("a\n1\n")
        done = self.run_tool(IMPORT, "t.csv", "t", "--quiet", "--progress", "always")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_progress(self):
        self.write("a,b\n" + "1,some text\n" * 1_000_000)
        done = self.run_tool(IMPORT, "t.csv", "t", "--progress", "always")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stderr == b"" or done.stderr.endswith(b"\r\x1b[K"))

    def test_help(self):
        done = self.run_tool(IMPORT, "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"Examples:", done.stdout)
        self.assertEqual(self.run_tool(IMPORT, "--version").stdout[:13], b"cfile-import ")


if __name__ == "__main__":
    IMPORT, DUMP = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
