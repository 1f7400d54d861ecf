"""Imports Parquet files as users do: parquet_import_test.py CFILE_IMPORT CFILE_DUMP."""

import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

IMPORT, DUMP = "", ""  # paths of the binaries
GOLDEN = pathlib.Path(__file__).parents[1] / "golden/parquet-files"


class ParquetImportTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def copy(self, golden, name):
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(GOLDEN / f"{golden}.parquet", target)

    def run_tool(self, *arguments, stdin=None):
        return subprocess.run(arguments, cwd=self.folder, capture_output=True, timeout=300, input=stdin)

    def summary(self, *arguments, stdin=None):
        done = self.run_tool(IMPORT, *arguments, "--json", stdin=stdin)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return json.loads(done.stdout)

    def error(self, *arguments, exit_code=1):
        done = self.run_tool(IMPORT, *arguments)
        self.assertEqual((done.returncode, done.stdout), (exit_code, b""))
        return done.stderr.decode()

    def rows(self, table="t"):
        done = self.run_tool(DUMP, "rows", table)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return [line.split("\t") for line in done.stdout.decode().splitlines()][1:]

    def test_content_not_name_says_that_it_is_parquet(self):
        self.copy("pyarrow_old_types", "data.csv")
        summary = self.summary("data.csv", "t")
        self.assertEqual((summary["format"], summary["rows"]), ("Parquet", 24))
        self.assertEqual(sum(summary["pages"].values()), 2)
        self.assertEqual([(c["name"], c["type"], c["nulls"]) for c in summary["columns"]],
                         [("int32", "int32", 4), ("string", "string", 4)])
        self.assertEqual(self.rows()[0][-2:], ["-50", "name 6"])

    def test_pipes_and_compressed_files(self):
        self.copy("pyarrow_old_types", "t.parquet")
        self.summary("t.parquet", "t")
        data = (self.folder / "t.parquet").read_bytes()
        (self.folder / "t.parquet.gz").write_bytes(gzip.compress(data))
        for number, (name, stdin, packing) in enumerate((("-", data, ""), ("t.parquet.gz", None, "gzip"),
                                                         ("-", gzip.compress(data), "gzip"))):
            summary = self.summary(name, f"u{number}", stdin=stdin)
            self.assertEqual((summary["format"], summary["rows"], summary["packing"]), ("Parquet", 24, packing))
            self.assertEqual(summary["bytes_in"], len(data))
            self.assertEqual(self.rows(f"u{number}"), self.rows())
        summary = self.summary("-", "sorted", "--sorted-by", "int32", "--nulls", "first", stdin=data)
        self.assertEqual(summary["rows"], 24)
        self.assertIn("--charset is for text; t.parquet is not text", self.error("t.parquet", "v", "--charset", "latin-1"))

    def test_int96_is_a_timestamp(self):
        self.copy("spark_int96", "t.parquet")
        types = {c["name"]: c["type"] for c in self.summary("t.parquet", "t")["columns"]}
        self.assertEqual(types["timestamp"], "timestamp(ns)")
        self.summary("t.parquet", "raw", "--type", "timestamp=int96")
        at = [row[list(types).index("timestamp")] for row in self.rows()]
        raw = [row[list(types).index("timestamp")] for row in self.rows("raw")]
        self.assertEqual(at[2], "1994-10-09T23:59:58.123480000")
        self.assertEqual(len(raw[2]), 24)
        self.summary("t.parquet", "micros", "--type", "timestamp=timestamp(us)")
        self.assertEqual([row[list(types).index("timestamp")] for row in self.rows("micros")], [time and time[:-3] for time in at])
        # Rows are appended to a table that has int96.
        self.assertEqual(self.summary("t.parquet", "raw", "--append")["rows"], len(raw))

    def test_export_gives_the_same_rows(self):
        for golden in ("pyarrow_old_types", "pyarrow_encodings"):
            with self.subTest(golden=golden):
                self.copy(golden, "in.parquet")
                self.summary("in.parquet", golden)
                done = self.run_tool(DUMP, "rows", golden, "-o", f"{golden}.parquet")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
                back = self.summary(f"{golden}.parquet", f"{golden}-back")
                self.assertEqual(back["format"], "Parquet")
                self.assertEqual(self.rows(f"{golden}-back"), self.rows(golden))
        done = self.run_tool(DUMP, "rows", golden, "-o", "out.parquet", "--where", "true = true")
        self.assertEqual((done.returncode, (self.folder / "out.parquet").exists()), (1, False))

    def export(self, *options):
        """Exports table t to out.parquet. Returns what the tool prints, and the counts of --report."""
        done = self.run_tool(DUMP, "rows", "t", "-o", "out.parquet", "--report", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        text = done.stdout.decode()
        return text, tuple(map(int, re.search(r"\n(\d+) pages? copied, (\d+) compressed again, (\d+) encoded again\n$", text).groups()))

    def test_export_options(self):
        generator = random.Random(2)
        (self.folder / "t.csv").write_text("i,s\n" + "".join(f"{generator.randrange(9)},{generator.choice('ab')}\n" for _ in range(5000)))
        words = ("--encoding", "parquet-plain", "--compression", "zstd", "--block-size", "8KiB")
        self.assertEqual(self.run_tool(IMPORT, "t.csv", "t", "--quiet", *words).returncode, 0)
        rows = self.rows()
        text, (copied, recompressed, recoded) = self.export()
        self.assertRegex(text, r"^5,000 rows in 1 row group, [0-9,]+ -> [0-9,]+ bytes\n")
        self.assertEqual((copied > 0, recompressed, recoded), (True, 0, 0))
        for options, groups, expected in [
                (["--compression", "zstd"], 1, (copied, 0, 0)), (["--compression", "none"], 1, (0, copied, 0)),
                (["--compression", "snappy"], 1, (0, copied, 0)), (["--page-version", "2"], 1, (copied, 0, 0)),
                (["--row-group-rows", "2000"], "[3-9]", None)]:
            with self.subTest(options=options):
                text, counts = self.export(*options)
                self.assertRegex(text, f"^5,000 rows in {groups} row group")
                self.assertEqual(counts, expected or counts)
                self.summary("out.parquet", "back")
                self.assertEqual(self.rows("back"), rows)
                shutil.rmtree(self.folder / "back")
        # The data pages of version 2 have the type 3, those of version 1 the type 0: the first field of the page's header.
        for version, kind in (("1", 0), ("2", 6)):
            self.export("--page-version", version)
            self.assertEqual((self.folder / "out.parquet").read_bytes()[4:6], bytes([0x15, kind]))
        done = self.run_tool(DUMP, "rows", "t", "--format", "parquet", "--report")
        self.assertEqual((done.stdout[:4], done.stdout[-4:], done.returncode), (b"PAR1", b"PAR1", 0))
        self.assertIn(b" pages copied, ", done.stderr)

    def test_wrong_export_options(self):
        self.copy("pyarrow_old_types", "t.parquet")
        self.summary("t.parquet", "t")
        for options, message in [
                (["--compression", "snappy", "--format", "csv"], "--compression is for parquet, but the format is csv"),
                (["--page-version", "1", "--format", "jsonl"], "--page-version is for parquet, but the format is jsonl"),
                (["--row-group-rows", "9", "--format", "tsv"], "--row-group-rows is for parquet, but the format is tsv"),
                (["--report", "--format", "csv"], "--report is for parquet, but the format is csv"),
                (["--delimiter", ";"], "--delimiter is for csv and tsv, but the format is parquet")]:
            done = self.run_tool(DUMP, "rows", "t", "-o", "out.parquet", *options)
            self.assertEqual((done.returncode, done.stderr.decode()), (1, f"cfile-dump: {message}\n"))
        for options in (["--page-version", "3"], ["--row-group-rows", "0"], ["--compression", "nonsense"], ["--compression", "zlib"]):
            done = self.run_tool(DUMP, "rows", "t", "-o", "out.parquet", *options)
            self.assertEqual(done.returncode, 1, options)
            self.assertIn(options[1].encode(), done.stderr)
        self.assertFalse((self.folder / "out.parquet").exists())

    def test_report_counts_pages(self):
        self.copy("pyarrow_encodings", "t.parquet")
        small = ("--block-size", "32", "--report", "--why")
        text = self.run_tool(IMPORT, "t.parquet", "t", *small).stdout.decode()
        self.assertIn("7 pages copied, 0 compressed again, 0 encoded again\n", text)
        for options, counts in ((("--for", "balanced"), (0, 0, 7)), (("--encoding", "double=plain"), (6, 0, 1))):
            pages = self.summary("t.parquet", "t" + options[0], *small, *options)["pages"]
            self.assertEqual((pages["copied"], pages["recompressed"], pages["recoded"]), counts)
        self.assertIn("  as in the pages\n", text)

    def test_the_summary_says_which_pages_kept_their_encoding(self):
        self.copy("pyarrow_encodings", "t.parquet")
        chosen = "those of the options, otherwise chosen for each block, for balanced size and speed\n"
        for number, (options, expected) in enumerate((
                ((), "those of the Parquet pages (7 pages copied, 0 compressed again, 0 encoded again)\n"),
                (("--encoding", "double=plain"),
                 "those of the Parquet pages (6 pages copied, 0 compressed again, 1 encoded again); where they changed, " + chosen),
                (("--for", "balanced"), chosen))):
            text = self.run_tool(IMPORT, "t.parquet", f"t{number}", "--block-size", "32", *options).stdout.decode()
            self.assertIn("\nencodings and codecs: " + expected, text)

    def test_sorting(self):
        self.copy("pyarrow_types_v1", "t.parquet")
        summary = self.summary("t.parquet", "t", "--columns", "int32", "--columns", "string", "--sorted-by", "int32", "--pack-below", "0")
        self.assertEqual((summary["reordered"], summary["sorted_by"]), (True, ["int32"]))
        # The column is nullable in the file, but has no nulls. So the table needs no compound keys.
        self.assertEqual(len(list(self.folder.glob("t/part-*/*.cfile"))), 2)
        numbers = sorted((i * 37) % 101 - 50 for i in range(24))
        self.assertEqual([int(row[-2]) for row in self.rows()], numbers)
        self.summary("t.parquet", "t", "--columns", "int32", "--columns", "string", "--append")
        self.assertEqual([int(row[-2]) for row in self.rows()], numbers * 2)
        self.copy("pyarrow_nested_v2", "n.parquet")
        self.assertFalse(self.summary("n.parquet", "n", "--sorted-by", "id")["reordered"])

    def test_nulls_in_sort_columns(self):
        self.copy("pyarrow_old_types", "t.parquet")
        self.assertIn("null", self.error("t.parquet", "t", "--sorted-by", "int32", "--not-null", "int32"))
        self.assertFalse((self.folder / "t").exists())
        for options, nulls in (([], slice(-4, None)), (["--nulls", "first"], slice(4))):
            self.summary("t.parquet", "t", "--sorted-by", "int32", *options)
            keys = [row[-2] for row in self.rows()]
            self.assertEqual((keys.count("null"), keys[nulls]), (4, ["null"] * 4))
            shutil.rmtree(self.folder / "t")

    def test_parts(self):
        self.copy("pyarrow_page_index", "t.parquet")
        self.summary("t.parquet", "t", "--part-per-row-group")
        self.assertEqual(len(list(self.folder.glob("t/part-*"))), 3)

    def test_directories(self):
        for year in (2023, 2024):
            self.copy("pyarrow_no_statistics", f"in/year={year}/x.parquet")
        summary = self.summary("in", "t")
        self.assertEqual(summary["rows"], 48)
        self.assertEqual([c["name"] for c in summary["columns"]], ["int32", "double", "year"])
        self.assertEqual([row[-1] for row in self.rows()], ["2023"] * 24 + ["2024"] * 24)

    def test_several_files(self):
        """Files and patterns are one table, as the files of a directory are."""
        for name in ("a", "b"):
            self.copy("pyarrow_old_types", f"{name}.parquet")
        for number, inputs in enumerate((("a.parquet", "b.parquet"), ("*.parquet",))):
            summary = self.summary(*inputs, f"t{number}")
            self.assertEqual((summary["rows"], summary["format"]), (48, "Parquet"))
            rows = self.rows(f"t{number}")
            self.assertEqual(rows[:24], rows[24:])
        self.assertEqual(self.summary("a.parquet", "b.parquet", "t0", "--append")["rows"], 48)
        self.assertEqual(self.summary("a.parquet", "b.parquet", "t3", "--sorted-by", "int32")["reordered"], True)
        self.copy("pyarrow_no_statistics", "c.parquet")
        self.assertEqual(self.summary("a.parquet", "c.parquet", "t4")["rows"], 48)
        (self.folder / "d.csv").write_text("int32\n1\n")
        self.assertIn("d.csv: ", self.error("a.parquet", "d.csv", "t5"))
        self.assertIn("--schema is for CSV and JSON; a.parquet is read as Parquet", self.error("a.parquet", "t5", "--schema", "d.csv"))
        self.assertIn("did you mean int32?", self.error("a.parquet", "t5", "--columns", "itn32"))
        self.assertFalse((self.folder / "t5").exists())

    def test_columns_that_some_files_lack(self):
        self.copy("pyarrow_no_statistics", "in/year=2023/x.parquet")
        self.copy("pyarrow_bloom", "in/year=2024/x.parquet")
        self.copy("pyarrow_no_statistics", "in/year=2025/x.parquet")
        self.copy("pyarrow_bloom", "b.parquet")
        self.summary("b.parquet", "b")
        bloom = self.rows("b")
        names = [c["name"] for c in self.summary("in", "t")["columns"]]
        self.assertEqual(names, ["int32", "double", "int64", "string", "year"])
        rows = self.rows()
        self.assertEqual([row[2:] for row in rows[:24] + rows[-24:]],
                         [["null", "null", "2023"]] * 24 + [["null", "null", "2025"]] * 24)
        self.assertEqual([row[2:4] for row in rows[24:-24]], [row[-2:] for row in bloom])
        self.assertEqual(self.run_tool(DUMP, "verify", "t").returncode, 0)
        # Columns are chosen from those of all files and folders.
        for chosen in (["string"], ["int32", "int64", "year"], ["year"], ["string", "int64"]):
            self.summary("in", "c", "--columns", ",".join(chosen))
            kept = sorted(names.index(name) for name in chosen)
            self.assertEqual(self.rows("c"), [[row[i] for i in kept] for row in rows])
            self.assertEqual(self.run_tool(DUMP, "verify", "c").returncode, 0)
            shutil.rmtree(self.folder / "c")
        self.assertEqual(self.error("in", "c", "--columns", "int32,stirng"),
                         "cfile-import: in: there is no column stirng; did you mean string?\n")
        self.assertEqual(self.run_tool(IMPORT, "--print-names", "in", "c").stdout.decode().split(),
                         ["int32", "double", "year", "int64", "string"])
        self.copy("pyarrow_nested_v2", "in/year=2026/x.parquet")
        self.assertIn("in/year=2026/x.parquet: column ", self.error("in", "u"))
        self.summary("in", "u", "--columns", "int64")

    def parquet(self, name, text, *types):
        (self.folder / "x.csv").write_text(text)
        self.summary("x.csv", "x", *(word for each in types for word in ("--type", each)))
        (self.folder / name).parent.mkdir(exist_ok=True)
        self.assertEqual(self.run_tool(DUMP, "rows", "x", "-o", name).returncode, 0)
        shutil.rmtree(self.folder / "x")

    def test_types_that_differ_are_widened(self):
        self.parquet("in/1.parquet", "a,b,c,d,e,f\n1,-1,1.5,1,1.25,\n2,,2.5,255,2,\n",
                     "a=int32", "b=int64", "c=float", "d=uint8", "e=decimal(5,2)", "f=int32")
        self.parquet("in/2.parquet", "a,b,c,d,e,f,g\n1099511627776,0.5,1e300,-7,1234567.89,x,3\n",
                     "a=int64", "b=double", "c=double", "d=int8", "e=decimal(9,2)", "f=string", "g=uint32")
        self.parquet("in/3.parquet", "a,b,c,d,e,f,g\n,3,4,4000000000,,,-4\n",
                     "a=string", "b=int16", "c=int32", "d=uint32", "e=double", "f=date", "g=int8")
        columns = self.summary("in", "t")["columns"]
        self.assertEqual([(c["name"], c["type"]) for c in columns],
                         [("a", "int64"), ("b", "double"), ("c", "double"), ("d", "int64"), ("e", "decimal(9,2)"), ("f", "string"),
                          ("g", "int64")])
        self.assertEqual(self.rows(), [["1", "-1", "1.5", "1", "1.25", "null", "null"], ["2", "null", "2.5", "255", "2.00", "null", "null"],
                                       ["1099511627776", "0.5", "1e+300", "-7", "1234567.89", "x", "3"],
                                       ["null", "3", "4", "4000000000", "null", "null", "-4"]])
        self.assertEqual(self.run_tool(DUMP, "verify", "t").returncode, 0)
        self.parquet("in/4.parquet", "a,c\nx,y\n")
        self.assertEqual(self.error("in", "u"), "cfile-import: in/4.parquet: column a is string, but int64 in in/2.parquet, and no type "
                                                "holds the values of both\n")
        self.parquet("big/1.parquet", "a\n9007199254740993\n")
        self.parquet("big/2.parquet", "a\n0.5\n")
        self.assertIn("value 0 is 9007199254740993, to which no double is equal", self.error("big", "u"))
        self.assertFalse((self.folder / "u").exists())

    def pandas(self, *options):
        """Exports table t. Returns the names of columns and the index that the pair "pandas" of the Parquet file has."""
        done = self.run_tool(DUMP, "rows", "t", "-o", "out.parquet", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        data = (self.folder / "out.parquet").read_bytes().decode("latin-1")
        described, _ = json.JSONDecoder().raw_decode(data, data.index("{", data.index("pandas\x18")))
        shutil.rmtree(self.folder / "t")
        return [column["field_name"] for column in described["columns"]], described["index_columns"]

    def test_metadata(self):
        self.copy("fastparquet_types", "f.parquet")
        self.copy("fastparquet_types", "one/f.parquet")
        for part in ("a=1", "a=2"):
            self.copy("fastparquet_types", f"two/{part}/f.parquet")
        names = ["int", "double", "maybe", "text", "flag", "kind", "at", "json"]
        rows = [{"kind": "range", "name": None, "start": 0, "step": 1, "stop": 24}]
        for source, imported, exported, expected in [
                ("f.parquet", [], [], (names, rows)),
                ("f.parquet", ["--columns", "text", "--columns", "maybe"], [], (["maybe", "text"], rows)),
                ("f.parquet", [], ["--columns", "at,kind"], (["kind", "at"], rows)),
                ("f.parquet", ["--sorted-by", "int"], [], (names, rows)),  # the rows have this order
                ("f.parquet", ["--sorted-by", "kind"], [], (names, [])),
                ("f.parquet", ["--sorted-by", "kind", "--columns", "kind"], [], (["kind"], [])),
                ("f.parquet", ["--for", "size"], [], (names, rows)),
                ("one", [], [], (names, rows)), ("two", [], [], (names, [])), ("two", ["--sorted-by", "int"], [], (names, []))]:
            with self.subTest(source=source, imported=imported, exported=exported):
                self.summary(source, "t", *imported)
                self.assertEqual(self.pandas(*exported), expected)
        # The table keeps its own metadata. A file that differs takes the description from a directory.
        self.summary("f.parquet", "t")
        self.summary("f.parquet", "t", "--append")
        table_tool = str(pathlib.Path(IMPORT).with_name("cfile-table"))
        self.assertEqual(self.run_tool(table_tool, "compact", "t").returncode, 0)
        self.assertEqual(self.pandas(), (names, []))
        data = (GOLDEN / "fastparquet_types.parquet").read_bytes()
        (self.folder / "two/a=2/f.parquet").write_bytes(data.replace(b'"pandas_type": "mixed-integer"', b'"pandas_type": "other-integer"'))
        self.summary("two", "t")
        with self.assertRaises(ValueError):
            self.pandas()

    def test_arrow_schema(self):
        self.copy("pyarrow_arrow_schema", "a.parquet")
        for options in ([], ["--columns", "string"], ["--sorted-by", "string"]):
            self.summary("a.parquet", "t", *options)
            for columns in ([], ["--columns", "string"]):
                self.assertEqual(self.run_tool(DUMP, "rows", "t", "-o", "out.parquet", *columns).returncode, 0)
                self.assertIn(b"ARROW:schema", (self.folder / "out.parquet").read_bytes())
            shutil.rmtree(self.folder / "t")

    def test_errors(self):
        self.copy("pyarrow_encrypted_footer", "e.parquet")
        self.assertIn("e.parquet: the metadata is encrypted", self.error("e.parquet", "t", exit_code=4))
        self.copy("pyarrow_types_v2", "t.parquet")
        data = bytearray((self.folder / "t.parquet").read_bytes())
        data[40] ^= 1
        (self.folder / "t.parquet").write_bytes(data)
        self.assertIn("t.parquet: column bool: page at offset 4: ", self.error("t.parquet", "t"))
        self.assertIn("--type", self.error("t.parquet", "t", "--type", "bool=int8"))
        self.assertIn("--delimiter is for CSV", self.error("t.parquet", "t", "--delimiter", ";"))
        self.assertFalse((self.folder / "t").exists())


if __name__ == "__main__":
    IMPORT, DUMP = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
