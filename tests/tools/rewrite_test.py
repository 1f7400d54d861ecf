"""Runs whatif, rewrite, concat, diff and salvage of tables as users do: rewrite_test.py CFILE_DUMP CFILE_IMPORT."""

import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import tool_runner
from golden_tables import GOLDEN, golden_files, make_tables, one_of_each_kind

DUMP, IMPORT = "", ""  # paths of the binaries
# Values of types with which encodings differ most.
TYPES = {
    "bool": ["true", "false", "true"], "int8": ["-128", "127", "5"],
    "int32": ["-2147483648", "0", "7"],
    "uint32": ["4294967295", "10", "0"], "uint64": ["18446744073709551615", "99", "0"],
    "int128": ["-170141183460469231731687303715884105728", "1", "1"],
    "int96": ["000102030405060708090a0b", "ffffffffffffffffffffffff", "000102030405060708090a0b"],
    "float": ["-0.0", "nan", "0.1"], "double": ["-0.0", "inf", "0.1"], "decimal(18,2)": ["-9999999999999999.99", "0.00", "12.30"],
    "string": ["", "null", "Ñandú"], "binary": ["", "00ff0d0a", "00"], "fixed(3)": ["2c220a", "000000", "2c220b"],
    "date": ["0001-01-01", "9999-12-31", "1969-12-31"], "timestamp(us,UTC)": ["2013-01-31T10:00:00Z", "1969-12-31T00:00:00Z",
                                                                             "2013-01-31T10:00:00Z"],
}


STORED_AS = {"date": "int32", "timestamp(us,UTC)": "int64", "decimal(18,2)": "int64", "string": "bytes", "binary": "bytes",
             "fixed(3)": "fixed bytes"}


def encodings_by_type():
    """The table of cfile/README.md, which a test compares with the registry: {stored type: names of encodings}."""
    text = (GOLDEN.parents[1] / "cfile" / "README.md").read_text(encoding="utf-8")
    head, _, *rows = ([cell.strip() for cell in row.split("|")[1:-1]] for row in re.search(r"(?:^\| .*\n)+", text[text.index("| encoding | bool"):], re.M)[0].splitlines())
    return {kind: {row[0].strip("`") for row in rows if row[i]} for i, kinds in enumerate(head) if i > 0 for kind in kinds.split(", ")}


LOOSE = ("--pack-below", "0")  # each column of a part has a file of its own


class ToolTest(unittest.TestCase):
    maxDiff = 3000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments):
        done = tool_runner.run(*arguments, cwd=self.folder)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def dump(self, *arguments, code=0):
        done, out, error = self.run_tool(DUMP, *arguments)
        self.assertEqual((done, error), (code, ""), arguments)
        return out

    def refuse(self, code, pattern, *arguments):
        done, _, error = self.run_tool(DUMP, *arguments)
        self.assertEqual(done, code, error)
        self.assertRegex(error, pattern)

    def json(self, *arguments, code=0):
        return json.loads(self.dump(*arguments, "--json", code=code))

    def table(self, name, text, *options, suffix=".csv"):
        (self.folder / (name + suffix)).write_text(text, encoding="utf-8")
        done, out, error = self.run_tool(IMPORT, name + suffix, name, "--json", *options)
        self.assertEqual((done, error), (0, ""))
        return json.loads(out)

    def file(self, name, values, *options):
        """A file NAME.cfile with these values (texts; None is a null), from a table."""
        lines = "".join(",0\n" if value is None else '"",0\n' if value == "" else f"{value},0\n" for value in values)
        shutil.rmtree(self.folder / "made", ignore_errors=True)
        self.table("made", "x,n\n" + lines, "--header", "yes", *LOOSE, *options)
        shutil.copy(next(self.folder.glob("made/part-*/0000-x.cfile")), self.folder / f"{name}.cfile")
        return f"{name}.cfile"

    def table_of(self, name, columns):
        """A table with these values: {type: texts; None is a null}. The columns are named c0, c1, ..."""
        names = [f"c{i}" for i in range(len(columns))]
        rows = [",".join("" if value is None else value or '""' for value in row) for row in [names, *zip(*columns.values(), strict=True)]]
        self.table(name, "\n".join(rows) + "\n", "--header", "yes", *(f"--type={c}={kind}" for c, kind in zip(names, columns)))

    def values(self, path, *options):
        return [json.loads(line)["value"] for line in self.dump("rows", "--json", path, *options).splitlines()]

    def names(self, option):
        """The names that cfile-import knows for an option."""
        (self.folder / "any.csv").write_text("a\n1\n")
        _, _, error = self.run_tool(IMPORT, "any.csv", "none", option, "no-such-name")
        return set(re.findall(r"[a-z0-9-]+", re.search(r"one of:(.*)", error)[1])) - {"auto"}


class Rewrite(ToolTest):
    def check_same(self, source, target):
        lines = self.dump("diff", source, target).splitlines()
        self.assertEqual(lines[-1], "the values are the same")
        # table.cft of a table of golden files does not say which columns have a value index.
        self.assertEqual([line for line in lines if line.startswith("schema") and "schema: key columns: none | " not in line], [], source)

    def test_golden_files_keep_their_values(self):
        """Golden files, as columns of tables, in one form after the other. diff and the printed values say that nothing has changed."""
        forms = [[], ["--compression", "{}=zstd", "--encoding", "{}=plain"], ["--encoding", "{}=parquet-plain"], ["--bloom", "{}"]]

        def check(table):
            turns = [word.format(file.column) for file, words in zip(tables[table], itertools.cycle(forms)) for word in words]
            source = table
            for number, options in enumerate((["--for", "size"], turns, ["--for", "speed", "--block-size", "100"])):
                target = f"{table}-{number}"
                self.dump("rewrite", source, target, "--json", *options)
                self.dump("verify", target)
                source = target
            self.check_same(table, target)
            if table.startswith("flat"):  # values of columns with levels cannot be printed
                self.assertEqual(self.dump("rows", table), self.dump("rows", target))

        tables, _ = make_tables(self.folder, golden_files())
        self.assertGreater(sum(map(len, tables.values())), 500)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(check, tables))

    def test_golden_files_of_each_kind(self):
        """Files without a table. Of those that no table can have, one of each type, by turns arrays and others."""
        def check(path):
            self.dump("rewrite", path, path.name)
            self.check_same(path, path.name)
            self.dump("verify", path.name)

        _, others = make_tables(self.folder, golden_files())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(check, {*one_of_each_kind(), *others[::3]}))

    def test_golden_tables_keep_their_values(self):
        tables = sorted(path.parent for folder in GOLDEN.glob("tables-*") for path in folder.glob("*/table.cft"))
        self.assertGreater(len(tables), 5)
        for table in tables:
            with self.subTest(table=table.name):
                copy = f"./{table.name}"  # a table is named like a subcommand
                report = self.json("rewrite", table, copy)
                before, after = self.json(table), self.json(copy)
                self.assertEqual(report["rows"], before["rows"])
                self.assertEqual([part["rows"] for part in after["parts"]], [part["rows"] for part in before["parts"]])
                self.assertEqual(self.dump("diff", table, copy, "--values-only", "--stored-rows"), "the values are the same\n")
                self.assertEqual(self.dump("rows", "--format", "jsonl", table), self.dump("rows", "--format", "jsonl", copy))
                self.dump("verify", copy)

    def test_what_is_kept(self):
        path = self.file("sorted", range(1000), "--sorted-by", "x", "--bloom", "x")
        report = self.json("rewrite", path, "copy.cfile", "--encoding", "rle")
        self.assertEqual(report["kept"], ["Bloom filter", "checksums", "movable blocks", "statistics", "value index"])
        self.assertEqual(report["dropped"], [])
        self.assertEqual([block["encoding"] for block in report["columns"][0]["blocks"]], ["rle"])
        self.assertEqual(self.dump("find", "copy.cfile", "700"), self.dump("find", path, "700"))
        before, after = self.json(path), self.json("copy.cfile")
        self.assertGreater(before["bloom_filter"], 0)
        self.assertEqual(after["bloom_filter"], before["bloom_filter"])
        self.assertEqual((after["minimum"]["text"], after["maximum"]["text"]), ("0", "999"))
        self.assertEqual(report["columns"][0]["bytes_before"], before["size"])
        self.assertEqual(report["columns"][0]["bytes"], after["size"])

    def test_versions_and_kudu(self):
        path = self.file("sorted", range(1000), "--sorted-by", "x")
        for options in (["--format-version", "1"], ["--oldest-reader", "kudu"]):
            report = self.json("rewrite", path, "old.cfile", "--force", *options)
            self.assertIn("statistics", report["dropped"])
            self.assertIn("value index", report["kept"])
            self.assertNotIn("minimum", self.json("old.cfile"))
            self.assertEqual(self.values("old.cfile"), list(range(1000)))
            self.dump("rewrite", "old.cfile", "new.cfile", "--force")
            self.assertEqual(self.json("new.cfile")["minimum"]["text"], "0")
        self.refuse(1, "--bloom value: Kudu", "rewrite", path, "x.cfile", "--oldest-reader", "kudu", "--bloom", "value")

    def test_tables_of_all_types_as_kudu_and_version_1(self):
        """Either the copy has the same values, or there is an error before anything is written."""
        types = {**TYPES, "int16": ["-32768", "32767", "0"], "uint8": ["255", "0", "7"], "uint16": ["65535", "0", "7"],
                 "int64": ["-9223372036854775808", "0", "7"], "varchar": ["", "a", "b"], "decimal(9,9)": ["-0.999999999", "0", "0.5"],
                 "decimal(38,10)": ["-9999999999999999999999999999.9999999999", "0.0", "1.5"],
                 "timestamp(ns)": ["2013-01-31T10:00:00.000000001", "1969-12-31T00:00:00", "2013-01-31T10:00:00"],
                 "timestamp(s,Europe/Berlin)": ["2013-01-31T10:00:00Z", "1969-12-31T00:00:00Z", "2013-01-31T10:00:00Z"],
                 "time(ms)": ["10:00:00.001", "00:00:00", "23:59:59"], "time(us)": ["10:00:00.001", "00:00:00", "23:59:59"],
                 "uuid": ["2c220a00-0000-0000-0000-000000000001"] * 3}
        without = ["fixed(3)", "int96", "timestamp(ns)", "timestamp(s,Europe/Berlin)", "time(ms)", "time(us)", "uuid"]
        for i, name in enumerate(without):
            self.table(f"t{i}", f"x\n{types[name][0]}\n", "--header", "yes", "--type", f"x={name}")
        self.table_of("t", {name: [*values, None] for name, values in types.items() if name not in without})
        before = {path.name for path in self.folder.iterdir()}
        for options in (["--oldest-reader", "kudu"], ["--format-version", "1"]):
            for i, name in enumerate(without):
                code, _, error = self.run_tool(DUMP, "rewrite", f"t{i}", "copy", *options)
                self.assertIn(code, (1, 4), error)
                self.assertRegex(error, f"(has no type|does not take values of type) {re.escape(name)}")
                self.assertEqual({path.name for path in self.folder.iterdir()}, before)
            self.dump("rewrite", "t", "copy", *options)
            self.assertIn("all valid", self.dump("verify", "copy"))
            self.dump("diff", "--values-only", "t", "copy")
            self.assertEqual(self.dump("rows", "copy", "--json"), self.dump("rows", "t", "--json"))
            self.dump("rewrite", "copy", "back")
            self.dump("diff", "t", "back", "--values-only")
            for made in ("copy", "back"):
                shutil.rmtree(self.folder / made)

    def test_decimals_without_precision_and_scale(self):
        self.table("t", "x,n\n1.01,1\n,2\n-2.50,3\n", "--type", "x=decimal(9,2)", "--oldest-reader", "kudu")
        self.assertIn("all valid", self.dump("verify", "t"))
        self.assertEqual(self.values("t", "--column", "x"), ["1.01", None, "-2.50"])
        self.assertEqual(json.loads(self.dump("rows", "--format", "jsonl", "--json", "t", "--where", "x > 1"))["x"], "1.01")
        path = self.file("d", ["1.01", "2.50"], "--type", "x=decimal(9,2)")
        for options in (["--oldest-reader", "kudu"], ["--format-version", "1"]):
            self.assertIn("precision and scale", self.json("rewrite", path, "old.cfile", "--force", *options)["dropped"])
        self.assertNotIn("precision and scale", self.json("rewrite", path, "new.cfile")["dropped"])

    def test_nested_tables_have_no_old_form(self):
        self.table("t", '{"a":1,"l":[1,2]}\n{"a":2,"l":[]}\n', suffix=".jsonl")
        before = {path.name for path in self.folder.iterdir()}
        for options in (["--oldest-reader", "kudu"], ["--format-version", "1"]):
            self.refuse(1, "levels", "rewrite", "t", "copy", *options)
            self.assertEqual({path.name for path in self.folder.iterdir()}, before)

    def test_metadata_is_kept(self):
        source = GOLDEN / "kudu" / "key_int32_rle_neg.cfile"
        self.dump("rewrite", source, "copy.cfile")
        pairs = re.compile(r'key: "(?!cfile\.)([^"]*)"')
        before = pairs.findall(self.dump("hexdump", "--header", source)) + pairs.findall(self.dump("hexdump", "--footer", source))
        after = pairs.findall(self.dump("hexdump", "--header", "copy.cfile")) + pairs.findall(self.dump("hexdump", "--footer", "copy.cfile"))
        self.assertGreater(len(before), 0)
        self.assertEqual(after, before)

    def test_targets(self):
        path = self.file("a", range(1000))
        before = (self.folder / path).read_bytes()
        other = self.file("b", range(9))
        self.refuse(1, "b.cfile exists already; --force replaces it", "rewrite", path, other)
        self.assertEqual(len(self.values(other)), 9)
        self.dump("rewrite", path, other, "--force")
        self.assertEqual(len(self.values(other)), 1000)
        # In place.
        self.dump("rewrite", path, path, "--force", "--encoding", "plain", "--compression", "zstd")
        self.assertNotEqual((self.folder / path).read_bytes(), before)
        self.assertEqual(self.values(path), list(range(1000)))
        # An error leaves the target as it was, and no temporary files.
        damaged = bytearray(before)
        damaged[100] ^= 1
        (self.folder / "damaged.cfile").write_bytes(damaged)
        files = sorted(self.folder.iterdir())
        self.refuse(2, "checksum", "rewrite", "damaged.cfile", "new.cfile")
        self.refuse(2, "checksum", "rewrite", "damaged.cfile", path, "--force")
        self.assertEqual(sorted(self.folder.iterdir()), files)
        self.assertEqual(self.values(path), list(range(1000)))
        self.refuse(1, "--encoding y: .* has no column of that name", "rewrite", path, "c.cfile", "--encoding", "y=rle")
        self.refuse(1, "--encoding nothing: ", "rewrite", path, "c.cfile", "--encoding", "nothing")
        self.refuse(4, "does not take values of type", "rewrite", path, "c.cfile", "--encoding", "prefix")
        self.assertFalse((self.folder / "c.cfile").exists())

    def test_tables(self):
        text = "id,name,day\n" + "".join(f"{i},{'nn' * (i % 3)},2024-01-{i % 28 + 1:02}\n" for i in range(500))
        self.table("t", text, "--sorted-by", "day", "--sorted-by", "id", "--bloom", "name", *LOOSE)
        self.table("t", text, "--append", *LOOSE)
        report = self.json("rewrite", "t", "u", "--encoding", "name=plain", "--compression", "day=zstd", "--block-size", "256", *LOOSE)
        self.assertEqual([column["name"] for column in report["columns"]], ["id", "name", "day"])
        self.assertEqual([block["encoding"] for block in report["columns"][1]["blocks"]], ["plain"])
        self.assertIn("Bloom filter", report["kept"])
        self.assertEqual(report["columns"][0]["bytes_before"],
                         sum(path.stat().st_size for path in self.folder.glob("t/part-*/0000-id.cfile")))
        # The key index is a file like those of the columns.
        keys, all_files = [{name: sum(path.stat().st_size for path in self.folder.glob(f"{name}/part-*/{pattern}")) for name in "tu"}
                           for pattern in ("*-key_index.cfile", "*.cfile")]
        self.assertEqual((report["key_index"]["bytes_before"], report["key_index"]["bytes"]), (keys["t"], keys["u"]))
        self.assertEqual(sum(block["blocks"] for block in report["key_index"]["blocks"]),
                         self.json("u")["key_index"]["blocks"])
        text = self.dump("rewrite", "t", "same", *LOOSE)
        size = sum(path.stat().st_size for path in self.folder.glob("same/part-*/*.cfile"))
        self.assertIn(f"same: 1000 rows, {size:,} bytes, before {all_files['t']:,}\n", text)
        self.assertRegex(text, rf"\n  key index +[\d,]+ bytes, before +{keys['t']:,} ")
        self.assertEqual(self.dump("rows", "u"), self.dump("rows", "t"))
        self.assertEqual(self.dump("find", "u", "2024-01-05", "60"), self.dump("find", "t", "2024-01-05", "60"))
        self.assertEqual(self.dump("verify", "u").splitlines()[-1].split(":")[-1], self.dump("verify", "t").splitlines()[-1].split(":")[-1])
        # Targets of tables.
        self.refuse(1, "u exists already", "rewrite", "t", "u")
        self.refuse(1, "a file|is not a table", "rewrite", "t", "t.csv", "--force")
        files = sorted(self.folder.iterdir())
        self.dump("rewrite", "t", "t", "--force", "--compression", "none")
        self.assertEqual(sorted(self.folder.iterdir()), files)
        self.assertEqual(self.dump("diff", "t", "u", "--values-only"), "the values are the same\n")
        # A damaged table leaves nothing.
        data = next(self.folder.glob("u/part-*/0001-name.cfile"))
        data.write_bytes(data.read_bytes()[:-20])
        self.refuse(2, "name.cfile", "rewrite", "u", "v")
        self.refuse(2, "name.cfile", "rewrite", "u", "t", "--force")
        self.assertEqual(sorted(self.folder.iterdir()), files)
        self.assertEqual(len(self.dump("rows", "t").splitlines()), 1001)
        self.refuse(1, "--encoding x: .* has no column of that name", "rewrite", "t", "v", "--encoding", "x=rle")

    def test_records(self):
        lines = "".join(json.dumps({"id": i, "tags": [f"t{j}" for j in range(i % 4)], "deep": [{"x": [i, None]}] if i % 2 else []}) + "\n"
                        for i in range(300))
        self.table("r", lines, suffix=".jsonl")
        self.dump("rewrite", "r", "s", "--encoding", "parquet-dict")
        self.assertEqual(self.dump("rows", "--format", "jsonl", "s"), self.dump("rows", "--format", "jsonl", "r"))


class Outputs(ToolTest):
    def test_tables_have_only_their_own_files(self):
        """No command writes into the directory of a table, also with --force."""
        self.table("t", "a\n1\n")
        a = self.file("a", [1, 2])
        part = str(next(self.folder.glob("t/part-*/0000-a.cfile")).relative_to(self.folder))
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        for arguments in (("rewrite", "t", "t/new"), ("rewrite", a, "t/table.cft", "--force"), ("rewrite", part, part, "--force"),
                          ("rewrite", a, part, part, "--force"), ("salvage", "t", "t/new"), ("salvage", a, part, "--force"),
                          ("rows", part, "-o", "t/table.cft", "--format", "csv"), ("report", a, "--html", "t/table.cft", "--force")):
            self.refuse(1, f"is inside the table {re.escape(str((self.folder / 't').resolve()))}: choose another place", *arguments)
        self.assertEqual({path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}, before)
        for foreign in ("notes.txt", "table.txt", "chunk-list.txt", "temporary-notes/thesis.txt", "part-notes/thesis.txt", part + ".txt"):
            foreign = foreign.removeprefix("t/")
            path = self.folder / "t" / foreign
            path.parent.mkdir(exist_ok=True)
            path.write_text("mine")
            self.refuse(1, f"t has files of its table, and also {foreign}, which --force would remove: move it",
                        "rewrite", "t", "t", "--force")
            self.assertEqual(path.read_text(), "mine")
            path.unlink()
            if not part.startswith(f"t/{path.parent.name}/") and path.parent.name != "t":
                path.parent.rmdir()
        self.dump("rewrite", "t", "t", "--force")
        self.assertIn("1\n", self.dump("rows", "t"))


class DiffOfKeys(ToolTest):
    def test_a_single_key_column(self):
        text = "city,id\nA,1\nB,2\n"
        self.table("sorted", text, "--sorted-by", "id")
        self.table("unsorted", text)
        self.table("compound", text, "--sorted-by", "city", "--sorted-by", "id")
        for a, b, expected in (("sorted", "unsorted", ("id", "none")), ("sorted", "compound", ("id", "city, id"))):
            self.assertIn("schema: key columns: {} | {}\n".format(*expected), self.dump("diff", a, b))
            found, = [each for each in self.json("diff", a, b)["schema"] if each["property"] == "key columns"]
            self.assertEqual((found["a"], found["b"]), expected)

    def test_a_file_and_a_table(self):
        self.table("t", "city,id\nA,1\nB,2\n", *LOOSE)
        path = next(self.folder.glob("t/part-*/*-id.cfile"))
        code, out, _ = self.run_tool(DUMP, "diff", path, "t")
        self.assertEqual((code, out), (1, "schema: kind: file | table\n"
                                       "a file was not compared with a whole table: choose a column with --column NAME\n"))
        self.assertIn("the values are the same\n", self.dump("diff", path, "t", "--column", "id"))


class SalvageTable(ToolTest):
    shared = None  # a folder with the table of all tests

    def setUp(self):
        super().setUp()
        if self.shared is None:
            for part in range(3):
                rows = "".join(f"{i},{'x' * 40}{i}\n" for i in range(1000 * part, 1000 * (part + 1)))
                append = ["--append"] if part > 0 else []
                self.table("t", "id,text\n" + rows, *append, *LOOSE, "--encoding", "plain", "--compression", "none", "--block-size", "8KiB")
            SalvageTable.parts = self.part_folders("t")
            folder = tempfile.TemporaryDirectory()
            self.addClassCleanup(folder.cleanup)
            SalvageTable.shared = shutil.move(self.folder / "t", folder.name)
            (self.folder / "t.csv").unlink()
        shutil.copytree(self.shared, self.folder / "t")
        self.columns = [self.folder / part / "0001-text.cfile" for part in self.parts]

    def part_folders(self, table):
        files = [file["path"] for file in self.json("verify", table)["files"]]
        return list(dict.fromkeys(str(pathlib.Path(*pathlib.Path(file).parts[:2])) for file in files))

    def ids(self, table):
        return [json.loads(line)["values"]["id"] for line in self.dump("rows", "--json", table).splitlines()]

    def contents(self, table):
        return {path.relative_to(self.folder / table): path.read_bytes() for path in (self.folder / table).rglob("*") if path.is_file()}

    def test_a_sound_table_is_copied(self):
        self.assertEqual(self.dump("salvage", "t", "left"), "left: all that was in t\n  3000 rows of 3 parts, 0 lost\n")
        self.assertEqual(self.contents("left"), self.contents("t"))
        self.dump("diff", "t", "left")

    def test_rows_that_all_columns_have(self):
        block = self.json("blocks", self.columns[1].relative_to(self.folder))["blocks"][2]
        bytes_ = bytearray(self.columns[1].read_bytes())
        bytes_[block["offset"] + 100] ^= 1
        self.columns[1].write_bytes(bytes_)
        self.columns[2].unlink()
        (self.folder / "t/table.cft").write_bytes(b"?" * 100)
        before = self.contents("t")
        out = self.dump("salvage", "t", "left", code=2)
        lost = block["rows"]
        self.assertTrue(out.startswith(f"left: what is left of t\n  {2000 - lost} rows of 2 parts, {1000 + lost} lost\n"
                                       "  damaged: t/table.cft: this is not "), out)
        self.assertRegex(out, rf"\n  part-\w+ salvaged, 1000 rows, {lost} lost: .*checksum mismatch")
        self.assertRegex(out, r"\n  part-\w+ left out, 1000 rows, 1000 lost: ")
        first = 1000 + block["first_ordinal"]
        self.assertEqual(self.ids("left"), [*range(first), *range(first + lost, 2000)])
        self.dump("verify", "left")
        self.assertEqual(self.contents("t"), before)
        # Only the files of the new table are there.
        self.assertEqual({str(path.parent) for path in self.contents("left")},
                         {".", *(str(pathlib.Path(part).relative_to("left")) for part in self.part_folders("left"))})
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"t", "left"})

    def test_json(self):
        self.columns[0].write_bytes(self.columns[0].read_bytes()[:-50])  # only the footer is lost
        report = self.json("salvage", "t", "left", code=2)
        self.assertEqual({key: report[key] for key in ("path", "out", "complete", "damage", "rows", "lost_rows")},
                         {"path": "t", "out": "left", "complete": False, "damage": "", "rows": 3000, "lost_rows": 0})
        self.assertEqual([part["state"] for part in report["parts"]], ["salvaged", "kept", "kept"])
        self.assertEqual(self.ids("left"), [*range(3000)])

    def test_lost_values_become_null(self):
        self.columns[0].unlink()
        out = self.dump("salvage", "t", "left", "--null-lost", code=2)
        self.assertIn("  3000 rows of 3 parts, 0 lost\n", out)
        self.assertIn("\n    text: 1000 lost values are null\n", out)
        self.assertEqual(self.ids("left"), [*range(3000)])
        self.refuse(1, "--null-lost is for a whole table", "salvage", self.columns[1].relative_to(self.folder), "x", "--null-lost")

    def test_wrong_use(self):
        (self.folder / "folder").mkdir()
        self.refuse(1, "folder exists already", "salvage", "t", "folder")
        self.refuse(1, "folder is not a table", "salvage", "t", "folder", "--force")
        self.refuse(1, "choose it with --column", "salvage", "t", "left", "--part", "0")
        self.refuse(1, "choose it with --column", "salvage", "t", "left", "--sorted")
        self.refuse(3, "folder is a directory, but not a table", "salvage", "folder", "left")
        self.assertFalse((self.folder / "left").exists())
        self.dump("salvage", "t", "left")
        self.dump("salvage", "t", "left", "--force")


    def test_signals_leave_nothing(self):
        for doubled in range(6):
            numbers = "".join(f"{i * 7919 % 1_000_003}\n" for i in range(200_000 << doubled))
            self.table("big", "n\n" + numbers, "--encoding", "plain", "--compression", "none", "--block-size", "4KiB")
            path = next(self.folder.glob("big/part-*/*.cfile"))
            (self.folder / "out").mkdir()
            process = subprocess.Popen([DUMP, "salvage", path, "out/o.cfile"], cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            while process.poll() is None and not list((self.folder / "out").iterdir()):
                os.sched_yield()
            process.send_signal(signal.SIGINT)
            _, message = process.communicate(timeout=300)
            if process.returncode != 0:
                self.assertEqual((process.returncode, message), (-signal.SIGINT, b""))
                self.assertEqual(list((self.folder / "out").iterdir()), [])
                return
            shutil.rmtree(self.folder / "out")  # salvage was faster than the signal
            shutil.rmtree(self.folder / "big")
        self.fail("the signal did not interrupt salvage")


class Concat(ToolTest):
    def test_files_follow_each_other(self):
        parts = [list(range(0, 1000, 3)), [1000, 1000, 1007], [1007, 2000]]
        paths = [self.file(f"f{i}", values, "--sorted-by", "x") for i, values in enumerate(parts)]
        report = self.json("rewrite", *paths, "all.cfile")
        self.assertEqual(self.values("all.cfile"), sum(parts, []))
        self.assertEqual((report["rows"], report["out"]), (sum(map(len, parts)), "all.cfile"))
        self.assertIn("value index", report["kept"])
        self.assertEqual(json.loads(self.dump("find", "all.cfile", "1007", "--json"))["ordinal"], 336)
        self.dump("verify", "all.cfile")
        # In another order there is no value index.
        report = self.json("rewrite", *reversed(paths), "all.cfile", "--force")
        self.assertEqual(self.values("all.cfile"), parts[2] + parts[1] + parts[0])
        self.assertIn("value index", report["dropped"])
        self.refuse(1, "no value index", "find", "all.cfile", "7")

    def test_blocks_are_copied(self):
        """Blocks of tables are movable. They are copied unless the options ask for another form."""
        rows = [f"{i},{i * i % 9973},text {i},{i if i % 3 else ''}" for i in range(60_000)]
        types = ["--sorted-by", "id", "--type", "null=int32", "--encoding", "plain", *LOOSE]
        for name, part in (("one", rows[:30_000]), ("two", rows[30_000:])):
            self.table(name, "id,n,text,null\n" + "\n".join(part) + "\n", *types)
        for column in ("id", "n", "text", "null"):
            paths = [next(self.folder.glob(f"{table}/part-*/*-{column}.cfile")) for table in ("one", "two")]
            report = self.json("rewrite", *paths, f"{column}.cfile")
            blocks = self.json("blocks", f"{column}.cfile")["blocks"]
            before = [block for path in paths for block in self.json("blocks", path)["blocks"]]
            self.assertEqual(report["rows"], 60_000)
            self.assertGreater(report["copied_blocks"], 0)
            self.assertLessEqual(report["copied_blocks"], len(blocks))
            if report["copied_blocks"] == len(before):
                self.assertEqual([(b["rows"], b["encoding"], b["encoded"]) for b in blocks],
                                 [(b["rows"], b["encoding"], b["encoded"]) for b in before])
            self.assertEqual(self.values(f"{column}.cfile"), self.values(paths[0]) + self.values(paths[1]))
            self.assertIn(": valid", self.dump("verify", f"{column}.cfile"))
            self.assertRegex(self.dump("rewrite", *paths, "again.cfile", "--force"), r"\n  \d+ blocks? copied, the others encoded again\n")
            # Another encoding or codec, or a Bloom filter: nothing is copied.
            for other in (["--encoding", "rle" if column != "text" else "prefix"], ["--compression", "gzip"], ["--bloom", "value"],
                          ["--oldest-reader", "kudu"]):
                report = self.json("rewrite", *paths, "other.cfile", "--force", *other)
                self.assertEqual(report["copied_blocks"], 0, other)
                self.assertEqual(self.json("diff", f"{column}.cfile", "other.cfile", "--values-only")["different_values"], 0)
        # The new file of the sorted column is searched by key.
        self.assertEqual(json.loads(self.dump("find", "id.cfile", "45000", "--json"))["ordinal"], 45_000)
        # A file without nulls and one with nulls: the blocks of the file without nulls have another form.
        n, null = (next(self.folder.glob(f"one/part-*/*-{column}.cfile")) for column in ("n", "null"))
        self.dump("rewrite", n, null, n, "mixed.cfile")
        self.assertEqual(self.values("mixed.cfile"), self.values(n) + self.values(null) + self.values(n))

    def test_damaged_blocks_are_not_copied(self):
        self.table("made", "n\n" + "".join(f"{i * 7919 % 10007}\n" for i in range(40_000)), "--encoding", "plain", "--compression", "none")
        path = next(self.folder.glob("made/part-*/*.cfile"))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        (self.folder / "damaged.cfile").write_bytes(data)
        self.refuse(2, "damaged.cfile: block at offset .*checksum", "rewrite", path, "damaged.cfile", "all.cfile")
        self.assertFalse((self.folder / "all.cfile").exists())

    def test_nulls_and_one_file(self):
        some, full = self.file("some", [1, None, 3]), self.file("full", [4, 5])
        self.dump("rewrite", full, some, full, "all.cfile", "--encoding", "plain", "--block-size", "1")
        self.assertEqual(self.values("all.cfile"), [4, 5, 1, None, 3, 4, 5])
        self.dump("rewrite", some, "one.cfile")
        self.assertEqual(self.values("one.cfile"), [1, None, 3])

    def test_levels(self):
        path = next((GOLDEN / "cfile-0.2").glob("string_*levels-1-3*.cfile"))
        self.dump("rewrite", path, path, "twice.cfile")
        once, twice = self.json(path), self.json("twice.cfile")
        self.assertEqual((twice["rows"], twice["type"]), (2 * once["rows"], once["type"]))
        out = self.dump("diff", path, "twice.cfile", "--values-only", code=1)
        self.assertEqual(out, f"values: rows: {once['rows']} | {2 * once['rows']}\nthe row counts differ; "
                         f"the first {once['rows']} row{'' if once['rows'] == 1 else 's'} "
                         f"{'is' if once['rows'] == 1 else 'are'} the same\n")

    def test_wrong_use(self):
        numbers, texts = self.file("numbers", [1, 2]), self.file("texts", ["a", "b"])
        self.refuse(1, "numbers.cfile has the type int32, but texts.cfile has the type string", "rewrite", numbers, texts, "all.cfile")
        self.refuse(1, "made is a table: only files are joined", "rewrite", numbers, "made", "all.cfile")
        self.refuse(1, "exists already", "rewrite", numbers, numbers, texts)
        self.refuse(1, "FILES is required", "rewrite", numbers)
        self.assertFalse((self.folder / "all.cfile").exists())


class Diff(ToolTest):
    def lines(self, *arguments):
        out = self.dump("diff", *arguments, code=1).splitlines()
        return [line for line in out if line.startswith("values: ")], out[-1]

    def test_values(self):
        a = [str(i) for i in range(200_000)]
        b = list(a)
        for row in (0, 7, 65535, 65536, 199_999):
            b[row] = "-1"
        path_a, path_b = self.file("a", a), self.file("b", b)
        expected = [f"values: row {row}: {row} | -1" for row in (0, 7, 65535, 65536, 199_999)]
        self.assertEqual(self.lines(path_a, path_b, "--values-only"), (expected, "the values differ: 5 rows"))
        # The blocks need not be the same.
        self.dump("rewrite", path_b, "small.cfile", "--block-size", "1000", "--encoding", "plain")
        self.assertEqual(self.lines(path_a, "small.cfile", "--values-only"), (expected, "the values differ: 5 rows"))
        self.assertEqual(self.lines(path_a, path_b, "--count", "2"),
                         (expected[:2], "the values differ: 5 rows, of which the first 2 are shown"))
        found = self.json("diff", path_a, "small.cfile", "--count", "3", code=1)
        self.assertEqual(found["values"], [{"ordinal": row, "a": row, "b": -1} for row in (0, 7, 65535)])
        self.assertEqual((found["different_values"], found["same_values"]), (5, False))
        layout = {entry["property"] for entry in found["layout"]}
        self.assertTrue({"blocks", "encodings", "size"} <= layout, layout)
        # If the codec makes no block smaller, only the codec setting of the file differs.
        plain = ["--encoding", "plain", "--compression", "none"]
        noise = self.file("noise", [random.Random(i).randrange(2 ** 31) for i in range(3000)], *plain)
        self.dump("rewrite", noise, "setting.cfile", "--encoding", "plain", "--compression", "snappy")
        lines = self.dump("diff", noise, "setting.cfile").splitlines()
        self.assertIn("layout: codec setting: none | snappy", lines)
        self.assertFalse(any("codec of blocks" in line for line in lines), lines)
        same = self.file("same", [7] * 3000, *plain)
        self.dump("rewrite", same, "compressed.cfile", "--encoding", "plain", "--compression", "snappy")
        self.assertIn("layout: codec of blocks: none | snappy\n", self.dump("diff", same, "compressed.cfile"))
        self.assertEqual(self.dump("diff", path_a, path_a), "the values are the same\n")

    def peak_memory_kib(self, out, *command):
        """Runs the command, and writes its output into the file `out`. Returns the largest memory of the command, in KiB."""
        binary = pathlib.Path(DUMP).read_bytes()
        if b"__asan_init" in binary or b"__tsan_init" in binary:
            self.skipTest("sanitizers keep memory that was freed")
        # A small process starts the command, because the system also counts the memory of the process that starts a command.
        program = ("import resource, subprocess, sys\nsubprocess.run(sys.argv[2:], stdout=open(sys.argv[1], 'wb'))\n"
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        code, peak, error = self.run_tool(sys.executable, "-c", program, out, *command)
        self.assertEqual((code, error), (0, ""))
        return int(peak)

    def test_memory_does_not_depend_on_the_differences(self):
        rows = 300_000
        a, b = self.file("a", range(rows)), self.file("b", range(1, rows + 1))
        for form in ([], ["--json"]):
            least, most = (self.peak_memory_kib("out", DUMP, "diff", a, b, "--count", count, *form) for count in (1, rows))
            text = (self.folder / "out").read_text()
            self.assertGreater(text.count("\n"), rows)
            if form:
                self.assertEqual(json.loads(text)["values"][::rows - 1], [{"ordinal": i, "a": i, "b": i + 1} for i in (0, rows - 1)])
            # In memory, all of the output would take about 10 MB as text, and 100 MB as objects.
            self.assertLess(most - least, 6000, form)

    def test_nulls_and_bits(self):
        a = self.file("a", ["1.5", None, "0.0", "nan", "5"], "--type", "x=double")
        b = self.file("b", ["1.5", "2", "-0.0", "nan", "5"], "--type", "x=double", "--not-null", "x")
        lines, last = self.lines(a, b)
        self.assertEqual((lines, last), (["values: row 1: null | 2", "values: row 2: 0 | -0"], "the values differ: 2 rows"))
        self.assertIn("schema: nullable: yes | no\n", self.dump("diff", a, b, code=1))
        self.assertNotIn("nullable", self.dump("diff", a, b, "--values-only", code=1))
        # A NaN with another payload. In a file of version 1, bytes can be changed without a checksum.
        self.dump("rewrite", b, "plain.cfile", "--format-version", "1", "--encoding", "plain")
        data = bytearray((self.folder / "plain.cfile").read_bytes())
        at = data.index(bytes.fromhex("000000000000f87f"))
        data[at] = 5
        (self.folder / "payload.cfile").write_bytes(data)
        lines, _ = self.lines("plain.cfile", "payload.cfile")
        self.assertEqual(lines, ["values: row 3: nan 0x7ff8000000000000 | nan 0x7ff8000000000005"])
        found = self.json("diff", "plain.cfile", "payload.cfile", code=1)
        self.assertEqual(found["values"], [{"ordinal": 3, "a": "nan 0x7ff8000000000000", "b": "nan 0x7ff8000000000005"}])

    def test_every_type(self):
        self.table_of("a", TYPES)
        self.table_of("b", {kind: [values[1], *values[1:]] for kind, values in TYPES.items()})
        self.assertEqual(self.dump("diff", "a", "a"), "the values are the same\n")
        found = self.json("diff", "a", "b", "--count", "100", code=1)
        a, b = (json.loads(self.dump("rows", name, "--json", "--head", "1"))["values"] for name in "ab")
        self.assertEqual(found["values"], [{"column": name, "ordinal": 0, "a": a[name], "b": b[name]} for name in a])

    def test_rows_types_and_columns(self):
        a, b, c = self.file("a", [1, 2, 3]), self.file("b", [1, 2]), self.file("c", ["x", "y", "z"])
        self.assertEqual(self.lines(a, b), (["values: rows: 3 | 2"], "the row counts differ; the first 2 rows are the same"))
        changed = self.file("changed", [1, 5])
        self.assertEqual(self.lines(a, changed)[1], "the row counts differ; the values differ: 1 row")
        out = self.dump("diff", a, c, code=1)
        self.assertIn("schema: type: int32 | string\n", out)
        self.assertTrue(out.endswith("\nthe columns or their types differ\n"), out)
        dates = self.file("dates", ["1970-01-02", "1970-01-03", "1970-01-04"])
        self.assertEqual(self.lines(a, dates), ([], "the columns or their types differ; the values that were compared are the same"))
        self.table("t", "id,name\n1,a\n2,b\n")
        self.table("u", "name,id,more\na,1,0\nx,2,0\n")
        self.table("v", "id,name\n3,c\n2,d\n")
        self.assertEqual(self.lines("t", "v", "--values-only")[1], "the values differ: 3 values in 2 columns")
        out = self.dump("diff", "t", "u", code=1)
        self.assertIn("schema: columns: id, name | name, id, more\n", out)
        self.assertIn("schema: column more, present: no | yes\n", out)
        self.assertIn("values: column name, row 1: b | x\n", out)
        self.assertEqual(self.dump("diff", "t", "u", "--column", "id", "--values-only"), "the values are the same\n")
        self.assertEqual(self.lines("t", "u", "--column", "name")[0], ["values: column name, row 1: b | x"])
        self.dump("diff", "t", a, code=1)
        path = next(self.folder.glob("t/part-*/columns.packed")) / "0001-name.cfile"
        self.assertEqual(self.dump("diff", path, "t", "--column", "name"), "the values are the same\n")

    def test_records(self):
        def change(rows):
            rows[3]["tags"][1] = "other"
            rows[4]["tags"].append("more")
            rows[20_002]["tags"] = []

        text = "".join(json.dumps({"id": i, "tags": [f"t{j}" for j in range(i % 5)]}) + "\n" for i in range(30_000))
        self.table("a", text, suffix=".jsonl")
        rows = [json.loads(line) for line in text.splitlines()]
        change(rows)
        self.table("b", "".join(json.dumps(row) + "\n" for row in rows), suffix=".jsonl")
        self.assertEqual(self.dump("diff", "a", "a"), "the values are the same\n")
        found = self.json("diff", "a", "b", code=1)["values"]
        self.assertEqual([(entry["ordinal"], entry["entry"]) for entry in found], [(3, 1), (4, 4), (20_002, 0)])
        self.assertEqual((found[0]["a"]["value"], found[0]["b"]["value"]), ("t1", "other"))
        self.assertEqual((found[1]["a"], found[1]["b"]["value"]), (None, "more"))
        self.assertEqual((found[2]["a"]["value"], found[2]["b"]["value"]), ("t0", None))

    def test_full_disk(self):
        a, b = self.file("a", [1, 2]), self.file("b", [1, 3])
        for other in (a, b):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([DUMP, "diff", a, other], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 3, done.stderr)

    def test_exit_codes(self):
        a = self.file("a", range(100))
        self.refuse(2, "OTHER is required", "diff", a)
        self.refuse(2, "has no column", "diff", "made", "made", "--column", "nothing")
        self.refuse(2, "for tables", "diff", a, a, "--column", "x")
        self.refuse(3, "nothing.cfile", "diff", a, "nothing.cfile")
        data = bytearray((self.folder / a).read_bytes())
        data[100] ^= 1
        (self.folder / "damaged.cfile").write_bytes(data)
        self.refuse(2, "checksum", "diff", a, "damaged.cfile")
        code, out, error = self.run_tool(DUMP, "diff", a, "damaged.cfile", "--json")
        self.assertEqual(code, 2)
        self.assertIn("checksum", json.loads(out)["error"])
        self.assertNotIn("same_values", json.loads(out))
        self.refuse(4, "--max-block-size", "diff", a, a, "--max-block-size", "10")


class WhatIf(ToolTest):
    def trials(self, *arguments):
        column, = self.json("whatif", *arguments)["columns"]
        return column

    def test_all_forms_are_tried(self):
        encodings, codecs = self.names("--encoding"), self.names("--compression")
        self.assertGreater(len(encodings), 10)
        taken = encodings_by_type()
        self.assertEqual(set().union(*taken.values()), encodings)
        chance = random.Random(7)
        self.table_of("t", {kind: values * 400 for kind, values in TYPES.items()})
        document = self.json("whatif", "t")
        sample = []
        for type_name, column in zip(TYPES, document["columns"], strict=True):
            with self.subTest(type=type_name):
                self.assertEqual(column["sample"]["rows"], 1200)
                self.assertTrue(column["sample"]["all_rows"])
                tried = [(trial["encoding"], trial["compression"]) for trial in column["tried"]]
                self.assertEqual(len(tried), len(set(tried)))
                here = taken[STORED_AS.get(type_name, type_name)]
                self.assertEqual(set(tried), {(encoding, codec) for encoding in here for codec in codecs})
                self.assertFalse(codecs & set(document["not_built_in"]))
                sizes = [trial["bytes"] for trial in column["tried"] if "bytes" in trial]
                self.assertEqual(sizes, sorted(sizes))
                self.assertEqual(min(trial["ratio"] for trial in column["tried"]), 1)
                sample.append(chance.sample(column["tried"], 3))
                # Encodings that are left out do not take the type.
                other = chance.choice(sorted(encodings - here))
                self.refuse(4, "does not take values of type", "rewrite", "t", "z", "--encoding", f"{column['name']}={other}")
        # The sizes are those of real files.
        for trials in zip(*sample, strict=True):
            options = [word for i, trial in enumerate(trials)
                       for word in ("--encoding", f"c{i}={trial['encoding']}", "--compression", f"c{i}={trial['compression']}")]
            report = self.json("rewrite", "t", "u", "--force", *options)
            self.assertEqual([column["bytes"] for column in report["columns"]], [trial["bytes"] for trial in trials], trials)

    def test_a_damaged_column_does_not_stop_the_others(self):
        self.table("t", "a,b,c\n1,2,3\n4,5,6\n", *LOOSE)
        path = next(self.folder.glob("t/part-*/*-b.cfile"))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        code, out, error = self.run_tool(DUMP, "whatif", "t", "--json")
        columns = json.loads(out)["columns"]
        self.assertEqual((code, [column["name"] for column in columns]), (2, ["a", "b", "c"]))
        self.assertEqual(["error" in column for column in columns], [False, True, False])
        for arguments in ((), ("--recommend",)):
            code, out, error = self.run_tool(DUMP, "whatif", "t", *arguments)
            self.assertEqual((code, error.count("\n")), (2, 1))
            # A line of --recommend says for which column nothing is recommended.
            self.assertEqual(["-b.cfile" in line for line in (out + error).splitlines()].count(True), 2 if arguments else 1)
            self.assertIn("c=" if arguments else "\nc: ", out)
        _, out, error = self.run_tool(DUMP, "whatif", path)
        self.assertEqual((out, error.count("\n")), ("", 1))

    def test_marks_and_reason(self):
        values = ["Bergen", "Oslo"] * 2000
        path = self.file("x", values, "--encoding", "x=dict", "--compression", "none")
        column = self.trials(path)
        self.assertEqual([(t["encoding"], t["compression"]) for t in column["tried"] if t["in_file"]], [("dict", "none")])
        compressed = self.file("y", values, "--encoding", "plain", "--compression", "zstd")
        self.assertEqual([(t["encoding"], t["compression"]) for t in self.trials(compressed)["tried"] if t["in_file"]],
                         [("plain", "zstd")])
        imported = self.table("auto", "x\n" + "\n".join(values) + "\n", "--header", "yes")["columns"][0]
        self.assertEqual([(block["encoding"], block["blocks"]) for block in column["automatic"]["blocks"]],
                         [(block["encoding"], block["blocks"]) for block in imported["encodings"]])
        self.assertEqual(column["automatic"]["reason"], imported["encoding_reason"])
        self.assertTrue(column["automatic"]["recomputed"])
        marked, = [t for t in column["tried"] if t["automatic"]]
        self.assertEqual(marked["encoding"], imported["encodings"][0]["encoding"])
        text = self.dump("whatif", path)
        self.assertRegex(text, r"\ndict +none .*<- file")
        self.assertRegex(text, rf"\n{marked['encoding']} +{marked['compression']} .*<- automatic")
        self.assertRegex(text, r"\n  automatic \(recomputed on the sample, goal balanced\): .*: " + re.escape(imported["encoding_reason"]) + "\n")

    def test_recorded_choice(self):
        path = self.file("x", [i * i % 2003 for i in range(20_000)])
        choice = self.trials(path)["in_file"]["choice"]
        self.assertEqual(choice["goal"], "balanced")
        self.assertEqual(self.json(path)["choice"], choice)
        sentence = rf"{choice['chosen']['encoding']}[^,]*, [0-9.]+ bits: [0-9.]+ × smaller than plain, .*the smallest.*, scan[^,]*"
        self.assertRegex(self.dump(path), rf"\nchoice +goal balanced: {sentence}\n")
        self.assertRegex(self.dump("hexdump", "--footer", path), rf"\n  choice {{  # {sentence}\n")
        text = " ".join(self.dump("whatif", path).split())
        self.assertRegex(text, rf" automatic \(recorded in the file, goal balanced\): {sentence}")
        self.assertIn(" automatic (recomputed on the sample, goal size): ", " ".join(self.dump("whatif", path, "--for", "size").split()))
        named = self.file("y", [1, 2, 3], "--encoding", "plain")
        self.assertIsNone(self.json(named)["choice"])
        self.assertIsNone(self.trials(named)["in_file"]["choice"])

    def test_order(self):
        path = self.file("x", [i * i % 1000 for i in range(3000)])
        for order in ("decode", "encode"):
            speeds = [t[order]["values_per_second"] for t in self.trials(path, "--sort", order)["tried"]]
            self.assertEqual(speeds, sorted(speeds, reverse=True))

    def test_samples(self):
        values = [f"value {i % 1000}" for i in range(300_000)]
        path = self.file("x", values, "--block-size", "8KiB", "--encoding", "plain")
        sample = self.trials(path, "--sample-bytes", "200000")["sample"]
        self.assertFalse(sample["all_rows"])
        self.assertEqual(len(sample["ranges"]), 16)
        self.assertEqual(sample["rows"], sum(end - begin for begin, end in sample["ranges"]))
        self.assertEqual(sample["ranges"][0][0], 0)
        self.assertGreater(sample["ranges"][-1][0], 250_000)
        blocks = {block["first_ordinal"] for block in self.json("blocks", path)["blocks"]}
        self.assertLessEqual({begin for begin, _ in sample["ranges"]}, blocks)
        self.assertEqual(sample["decoded_bytes"],
                         sum(16 + len(values[i]) for begin, end in sample["ranges"] for i in range(begin, end)))
        self.assertLess(200_000, sample["decoded_bytes"])
        self.assertLess(sample["decoded_bytes"], 1_000_000)
        self.assertRegex(self.dump("whatif", path, "--sample-bytes", "200000"), r"sample +\d+ rows in 16 places, \d+\.\d MB decoded\n")

    def test_notes_and_failures(self):
        path = self.file("x", [f"value {i}" for i in range(1000)])
        column = self.trials(path, "--max-dictionary-values", "10")
        notes = {t["encoding"]: t["note"] for t in column["tried"] if t["compression"] == "none" and "note" in t}
        self.assertRegex(notes["parquet-dict"], r"^\S+ in \d+ of \d+ blocks?$")
        # A record that does not fit into a block, unless a dictionary makes it small.
        text = json.dumps({"tags": ["x" * 50_000] * 100}) + "\n"
        self.table("r", text, "--encoding", "parquet-dict", suffix=".jsonl")
        column = self.trials("r", "--max-block-size", "600KiB")
        failed = {t["encoding"]: t["error"] for t in column["tried"] if "error" in t}
        self.assertIn("plain", failed)
        self.assertNotIn("parquet-dict", failed)
        self.assertIn("--max-block-size", failed["plain"])
        self.assertRegex(self.dump("whatif", "r", "--max-block-size", "600KiB"), r"\nplain +none +fails +.*--max-block-size")

    def test_recommendations(self):
        text = "id,city,x\n" + "".join(f"{i},{'Oslo' if i % 7 else 'Bergen'},{i / 8}\n" for i in range(5000))
        self.table("t", text)
        lines = self.dump("whatif", "t", "--recommend").splitlines()
        self.assertEqual(lines[::2], ["# size", "# balanced", "# speed"])
        for heading, line in zip(lines[::2], lines[1::2], strict=True):
            goal, options = heading[2:], shlex.split(line)
            self.assertEqual(len([o for o in options if o == "--encoding"]), 3)
            self.table(goal, text, *options)
            document = self.json("whatif", goal)
            for column in document["columns"]:
                chosen = [f"{column['name']}={t['encoding']}" for t in column["tried"] if t["in_file"]]
                self.assertEqual(len(chosen), 1)
                self.assertIn(chosen[0], options)
        for column in self.json("whatif", "t")["columns"]:
            size = column["recommended"]["size"]
            self.assertLessEqual(size["bytes"], 1.05 * min(t["bytes"] for t in column["tried"] if " in " not in t.get("note", "")))
        # The column of a file has the name that export and rewrite give it.
        path = next(self.folder.glob("t/part-*/columns.packed")) / "0001-city.cfile"
        options = shlex.split(self.dump("whatif", path, "--recommend").splitlines()[1])
        self.assertEqual([option.split("=")[0] for option in options[1::2]], ["value", "value"])
        self.dump("rewrite", path, "again.cfile", *options)
        self.table("imported", "value\n" + "Oslo\n" * 100, *options)

    def test_no_values(self):
        self.table("empty", "id,city\n", "--type", "id=int32")
        self.table("nulls", "id,city\n1,\n2,\n", "--type", "city=string")
        for table, count in (("empty", 2), ("nulls", 1)):
            lines = self.dump("whatif", table).splitlines()
            self.assertEqual(lines.count("  no values, so nothing is tried"), count)
            columns = self.json("whatif", table)["columns"]
            self.assertEqual([len(column["tried"]) > 0 for column in columns], [column["sample"]["values"] > column["sample"]["nulls"]
                                                                               for column in columns])
            self.assertEqual(columns[-1]["recommended"], {})
            text = self.dump("whatif", table, "--recommend")
            self.assertEqual(text.count(": no values, so nothing is recommended\n"), count)
            self.assertEqual(text.count("--encoding"), 3 * (2 - count))

    def test_plain_numbers_are_not_decoded(self):
        path = self.file("x", range(200_000), "--encoding", "plain", "--compression", "none")
        plain, = (t for t in self.trials(path)["tried"] if (t["encoding"], t["compression"]) == ("plain", "none"))
        self.assertFalse(plain["decoded"])
        self.assertRegex(self.dump("whatif", path), r"\nplain +none .* - +-  .*not decoded")

    def test_every_kind_of_golden_file(self):
        """Levels, nulls, arrays of Kudu, files without rows and without a positional index."""
        seen = {}
        for path in golden_files():
            seen.setdefault(re.sub(r"_(none|snappy|lz4|zlib|gzip|brotli|zstd|bloom|v1)(?=_|$)|^[a-z0-9]+_[a-z-]+", "", path.stem), path)

        def check(columns, rows, summaries):
            for column, summary in zip(columns, summaries, strict=True):
                self.assertEqual(column["sample"]["rows"], rows)
                self.assertEqual(column["sample"]["nulls"], summary["nulls"])
                self.assertEqual([t for t in column["tried"] if "error" in t], [])

        tables, others = make_tables(self.folder, list(seen.values())[:60])
        for table in tables:
            with self.subTest(table=table):
                self.dump("rewrite", table, f"{table}-again")  # counts the nulls
                summary = self.json(f"{table}-again")
                check(self.json("whatif", table)["columns"], summary["rows"], summary["columns"])
        for path in others:
            with self.subTest(path=path.name):
                summary = self.json(path)
                check(self.json("whatif", path)["columns"], summary["rows"], [summary])

    def test_wrong_use(self):
        path = self.file("x", [1])
        self.refuse(1, "--column and --part are for tables", "whatif", path, "--column", "x")
        self.refuse(1, "has no column", "whatif", "made", "--column", "nothing")
        self.refuse(1, "--sort", "whatif", path, "--sort", "nothing")
        self.refuse(3, "nothing.cfile", "whatif", "nothing.cfile")


if __name__ == "__main__":
    DUMP, IMPORT = (os.path.abspath(path) for path in sys.argv[1:3])
    del sys.argv[1:3]
    unittest.main()
