"""Runs cfile-dump rows as its users do: export_test.py CFILE_DUMP CFILE_IMPORT."""

import concurrent.futures
import csv
import io
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

import golden_tables
import tool_runner
from golden_tables import GOLDEN

DUMP, IMPORT = "", ""  # paths of the binaries
# A value of each type that inference cannot tell, or that is hard to write.
TYPES = {
    "bool": ["true", "false"], "int8": ["-128", "127"], "int16": ["-32768", "32767"], "int32": ["-2147483648", "0"],
    "int64": ["-9223372036854775808", "9223372036854775807"], "uint8": ["255", "0"], "uint16": ["65535", "9"],
    "uint32": ["4294967295", "10"], "uint64": ["18446744073709551615", "99"],
    "int128": ["-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"],
    "int96": ["000102030405060708090a0b", "ffffffffffffffffffffffff"],
    "float": ["-0.0", "nan", "inf", "-inf", "1.0", "3.4028235e+38", "1e-45", "0.1"],
    "double": ["-0.0", "nan", "inf", "-inf", "1.0", "1.7976931348623157e+308", "5e-324", "0.1", "123456.5"],
    "decimal(9,0)": ["-999999999", "0"], "decimal(9,9)": ["-0.000000001", "0.999999999"],
    "decimal(18,2)": ["-9999999999999999.99", "0.00", "0.05", "12.30"],
    "decimal(38,10)": ["-9999999999999999999999999999.9999999999", "0.0000000001", "18446744073.7095516160"],
    "decimal(38,38)": ["-0.00000000000000000000000000000000000001"],
    "string": ["", "null", "a,b", 'say "x"', "two\nlines", "\r\n", "tab\there", " blanks ", "\ufeffmark", "Ñandú", "x" * 70000, "\x00",
               "1234567", "12345,78", "1234567890123\"5"],
    "varchar": ["v", ""], "binary": ["", "00ff0d0a"], "fixed(3)": ["2c220a"], "uuid": ["30313233-3435-3637-3839-616263646566"],
    "date": ["0001-01-01", "9999-12-31", "@2932897", "1969-12-31"], "time(s)": ["23:59:59"], "time(ms)": ["00:00:00.001", "@-1"],
    "time(us)": ["10:00:00.000001"], "time(ns)": ["10:00:00.000000001", "10:00:00"],
    "timestamp(s,UTC)": ["1969-12-31T23:59:59Z"], "timestamp(ms)": ["2013-01-31T10:00:00.120"],
    "timestamp(us,UTC)": ["2013-01-31T10:00:00Z", "9999-12-31T23:59:59.999999Z", "@9223372036854775807"],
    "timestamp(ns)": ["1677-09-21T00:12:43.145224192", "2262-04-11T23:47:16.854775807"],
}


def is_utf8(text):
    """False: bytes were decoded with surrogateescape."""
    return not re.search("[\udc80-\udcff]", text)


class ExportTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments):
        return tool_runner.run(*arguments, cwd=self.folder)

    def succeed(self, *arguments):
        done = self.run_tool(*arguments)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), arguments)
        return done.stdout

    def export(self, *arguments):
        return self.succeed(DUMP, *self.command(arguments))

    def command(self, arguments):
        """The command that writes CSV, or to the file of the second argument."""
        arguments = list(map(str, arguments))
        if len(arguments) > 1 and not arguments[1].startswith("-"):
            arguments[1:1] = ["-o"]
        chosen = {"-o", "--format", "--help"} & set(arguments)
        return ["rows", *arguments, *([] if chosen else ["--format", "csv"])]

    def expect_error(self, message, *arguments, exit_code=1):
        done = self.run_tool(DUMP, *self.command(arguments))
        self.assertEqual(done.stderr.decode(), f"cfile-dump: {message}\n")
        self.assertEqual(done.returncode, exit_code)

    def write_csv(self, header, rows, name="t.csv"):
        """Writes rows of texts; None is a null. All other fields are quoted."""
        quoted = [["" if field is None else '"%s"' % field.replace('"', '""') for field in row] for row in [header, *rows]]
        (self.folder / name).write_text("".join(",".join(row) + "\n" for row in quoted), newline="")

    def make_all_types(self, rows=0):
        """Makes table t with a column of each type and nulls. `rows` more rows repeat the values at random."""
        names = [f"a {name}" for name in TYPES]
        longest = max(map(len, TYPES.values()))
        table = [[values[i] if i < len(values) else None for values in TYPES.values()] for i in range(longest)]
        generator = random.Random(1)
        for _ in range(rows):
            table.append([generator.choice([None, *(value for value in values if len(value) < 100)]) for values in TYPES.values()])
        self.write_csv(names, table)
        types = [option for name in TYPES for option in ("--type", f"a {name}={name}")]
        self.succeed(IMPORT, "--quiet", "t.csv", "t", *types)
        return names, table


class RoundTrip(ExportTest):
    def test_all_types(self):
        names, table = self.make_all_types()
        text = self.export("t", "--threads", "1")
        self.assertEqual(list(csv.reader(io.StringIO(text.decode(), newline=""))),
                         [names, *([field or "" for field in row] for row in table)])
        for form, file in (("csv", "u.csv"), ("tsv", "u.tsv")):
            self.export("t", file, "--format", form)
            options = shlex.split(self.export("t", "--format", form, "--print-import-options").decode())
            self.succeed(IMPORT, "--quiet", file, form, *options)
            self.assertEqual(self.succeed(DUMP, "rows", form), self.succeed(DUMP, "rows", "t"))
            self.assertEqual(self.succeed(DUMP, "summary", "--schema", form).split(b"\n")[1:],
                             self.succeed(DUMP, "summary", "--schema", "t").split(b"\n")[1:])

    def test_types_that_csv_shows(self):
        rows = [["1", "3000000000", "1.0", "true", "2013-01-31", "2013-01-31T10:00:00Z", "2013-01-31T10:00:00.500000", "x,"],
                ["2", "4", "-0.0", "false", "2013-02-01", "2013-02-01T00:00:00Z", "2013-02-01T00:00:00", ""]]
        self.write_csv(list("ildbaztx"), rows)
        self.succeed(IMPORT, "--quiet", "t.csv", "t")
        self.export("t", "u.csv")
        self.succeed(IMPORT, "--quiet", "u.csv", "u")
        for command in (["rows"], ["summary", "--schema"]):
            self.assertEqual(self.succeed(DUMP, *command, "u").split(b"\n")[1:], self.succeed(DUMP, *command, "t").split(b"\n")[1:])

    def test_golden_files(self):
        tables, others = golden_tables.make_tables(self.folder, golden_tables.golden_files())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            checked = sum(pool.map(self.check_golden_table, tables, tables.values()))
        self.assertGreater(checked, 600)

    def check_golden_table(self, table, files):
        """Returns how many columns were exported and imported again."""
        if files[0].nested:
            self.expect_error(f"column {files[0].column} is nested, so a field of csv cannot hold it: use --format jsonl, "
                              "or choose other columns with --columns", table)
            return 0
        text = self.export(table)
        names, *rows = csv.reader(io.StringIO(text.decode(errors="surrogateescape"), newline=""))
        self.assertEqual(names, [file.name for file in files])
        # cfile-import refuses other texts than UTF-8.
        names = [name for name, fields in zip(names, zip(*rows, strict=True)) if is_utf8("".join(fields))]
        columns = ["--columns", ",".join(names)] if len(names) < len(files) else []
        (self.folder / f"{table}.csv").write_bytes(self.export(table, *columns) if columns else text)
        options = shlex.split(self.export(table, "--print-import-options", *columns).decode())
        self.succeed(IMPORT, "--quiet", f"{table}.csv", f"{table}-again", *options)
        self.assertEqual(self.succeed(DUMP, "rows", f"{table}-again"), self.succeed(DUMP, "rows", table, *columns), table)
        return len(names)

    def test_golden_files_of_each_kind(self):
        """Files without a table. Some are nested."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            checked = sum(pool.map(self.check_golden_file, golden_tables.one_of_each_kind()))
        self.assertGreater(checked, 8)

    def check_golden_file(self, file):
        """False: the file is nested."""
        text = self.run_tool(DUMP, "rows", "--format", "csv", file)
        if text.returncode != 0:
            self.assertEqual(text.returncode, 1, text.stderr)
            self.assertIn("is nested", text.stderr.decode())
            return False
        table = file.stem
        (self.folder / f"{table}.csv").write_bytes(text.stdout)
        options = shlex.split(self.export(file, "--print-import-options").decode())
        self.succeed(IMPORT, "--quiet", f"{table}.csv", table, *options)
        self.assertEqual(self.succeed(DUMP, "rows", table, "--column", "value"), self.succeed(DUMP, "rows", file), file)
        return True

    def test_golden_tables(self):
        for folder in sorted((GOLDEN / "tables-0.2").iterdir()):
            if not folder.is_dir():
                continue
            lines = self.export(folder, "--format", "jsonl")
            self.assertEqual(lines, self.export(folder, "--format", "jsonl", "--threads", "3"))
            self.assertEqual(lines, self.succeed(DUMP, "rows", "--format", "jsonl", folder), folder)
            done = self.run_tool(DUMP, "rows", "--format", "csv", folder)
            if done.returncode != 0:
                self.assertIn(b"is nested", done.stderr)
                continue
            (self.folder / "t.csv").write_bytes(done.stdout)
            shutil.rmtree(self.folder / "t", ignore_errors=True)
            self.succeed(IMPORT, "--quiet", "t.csv", "t", *shlex.split(self.export(folder, "--print-import-options").decode()))
            self.assertEqual(self.succeed(DUMP, "rows", "t"), self.succeed(DUMP, "rows", folder), folder)

    def test_json_lines(self):
        self.make_all_types()
        lines = self.export("t", "--format", "jsonl")
        self.assertEqual(lines, self.succeed(DUMP, "rows", "--format", "jsonl", "t"))
        self.assertIn(b'"a float":-0.0,"a double":-0.0', lines)
        (self.folder / "u.jsonl").write_bytes(lines)
        (self.folder / "schema").write_bytes(self.succeed(DUMP, "summary", "--schema", "t"))
        self.succeed(IMPORT, "--quiet", "u.jsonl", "u", "--schema", "schema")
        self.assertEqual(self.succeed(DUMP, "rows", "u"), self.succeed(DUMP, "rows", "t"))


class Options(ExportTest):
    def test_threads_give_the_same_text(self):
        self.make_all_types(rows=30_000)
        for form in ("csv", "jsonl"):
            one = self.export("t", "--format", form, "--threads", "1")
            for threads in (2, 7):
                self.assertTrue(self.export("t", "--format", form, "--threads", threads) == one)
        where = "\"a uint8\" = 255 or \"a bool\" is null"
        one = self.export("t", "--where", where, "--threads", "1")
        self.assertEqual(len(self.succeed(DUMP, "rows", "t", "--where", where).splitlines()),
                         len(list(csv.reader(io.StringIO(one.decode(), newline="")))))
        self.assertTrue(self.export("t", "--where", where, "--threads", "5") == one)

    def test_columns_header_and_delimiter(self):
        self.write_csv(["a,b", "n", 'q"'], [["x;", "1", "y"], [None, "2", ""]])
        self.succeed(IMPORT, "--quiet", "t.csv", "t")
        self.assertEqual(self.export("t"), b'"a,b",n,"q"""\nx;,1,y\n,2,""\n')
        self.assertEqual(self.export("t", "--columns", 'n,"a,b"', "--delimiter", ";"), b'n;a,b\n1;"x;"\n2;\n')
        self.assertEqual(self.export("t", "--columns", "n", "--where", "n > 1", "--no-header"), b"2\n")
        self.assertEqual(self.export("t", "--format", "jsonl", "--columns", "n,\"a,b\""), b'{"n":1,"a,b":"x;"}\n{"n":2}\n')
        self.assertEqual(self.export("t", "--print-import-options", "--delimiter", ";").decode(),
                         "--header yes --delimiter ';' --type a,b=string --type n=int32 --type 'q\"=string'\n")
        self.assertEqual(self.export("t", "--print-import-options", "--no-header", "--columns", "n").decode(),
                         "--header no --delimiter , --type column_1=int32\n")

    def test_import_options_as_the_help_shows(self):
        # The example of --help also works for names that a shell would change, or in which cfile-import would find another delimiter.
        example, = re.findall(r"\n  (eval cfile-import .*\\\n.*)\n", self.succeed(DUMP, "rows", "--help").decode())
        for number, name in enumerate(("a;b", "a\tb", "two  spaces", "two\nlines", "it's", "$HOME *")):
            self.write_csv([name], [["1"], ["2"]])
            self.succeed(IMPORT, "--quiet", "t.csv", f"t{number}", "--delimiter", ",")
            self.export(f"t{number}", "flights.csv")
            command = (example.replace("cfile-import", f"{IMPORT} --quiet").replace("cfile-dump", DUMP)
                       .replace(" copy ", f" copy{number} ").replace("rows flights ", f"rows t{number} "))
            self.succeed("bash", "-c", command)
            for what in (["rows", f"copy{number}"], ["rows", "--json", f"copy{number}"]):
                self.assertEqual(self.succeed(DUMP, *what), self.succeed(DUMP, *what[:-1], f"t{number}"), name)

    def test_each_column_once(self):
        self.write_csv(["n", "m"], [["1", "2"]])
        self.succeed(IMPORT, "--quiet", "t.csv", "t")
        for form in ("csv", "tsv"):
            self.expect_error("--columns: column n is given twice", "t", "--format", form, "--columns", "n,m", "--columns", "n")
        done = self.run_tool(DUMP, "rows", "t", "--json", "--columns", "n,n")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, b"", b"cfile-dump: --columns: column n is given twice\n"))

    def test_conditions_on_records(self):
        (self.folder / "t.jsonl").write_text("".join(json.dumps({"n": i, "list": list(range(i % 3))}) + "\n" for i in range(5000)))
        self.succeed(IMPORT, "--quiet", "t.jsonl", "t")
        lines = [json.loads(line) for line in self.export("t", "--format", "jsonl", "--where", "n in (7, 8, 4999)").splitlines()]
        self.assertEqual(lines, [{"n": 7, "list": [0]}, {"n": 8, "list": [0, 1]}, {"n": 4999, "list": [0]}])
        self.assertEqual(self.export("t", "--format", "jsonl", "--where", "n = 7", "--columns", "list"), b'{"list":[0]}\n')
        self.expect_error("column list.list.element is nested, so a field of csv cannot hold it: use --format jsonl, or choose other columns "
                          "with --columns", "t")

    def test_wrong_use(self):
        self.write_csv(["n"], [["1"]])
        self.succeed(IMPORT, "--quiet", "t.csv", "t")
        formats = self.run_tool(DUMP, "rows", "t", "--format", "xml").stderr.decode().partition("one of ")[2].strip()
        self.expect_error(f"the name of t.xlsx does not show the format: add --format, with one of {formats}", "t", "t.xlsx")
        self.expect_error("--no-header is for csv and tsv, but the format is jsonl", "t", "u.jsonl", "--no-header")
        for delimiter in ("a", "1", "-", '"', "ab", ""):
            self.assertEqual(self.run_tool(DUMP, "rows", "--format", "csv", "t", "--delimiter", delimiter).returncode, 1 if delimiter else 0)
        self.assertEqual(self.run_tool(DUMP, "rows", "--format", "csv", "t", "--where", "").returncode, 1)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["t", "t.csv"])

    def test_the_input_is_no_output(self):
        self.write_csv(["n"], [["1"]])
        self.succeed(IMPORT, "--quiet", "t.csv", "t")
        part = next(self.folder.glob("t/part-*/*.cfile"))
        shutil.copy(part, self.folder / "own.cfile")
        (self.folder / "link.csv").symlink_to("own.cfile")
        (self.folder / "alias").symlink_to("t")
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        lost = "is the input, which would be lost: choose another place for the output"
        inside = f"is inside the table {self.folder.resolve() / 't'}: choose another place for the output"
        for place, out, why in (("own.cfile", "own.cfile", lost), ("own.cfile", "./t/../own.cfile", lost), ("own.cfile", "link.csv", lost),
                                ("t", part, inside), ("t/.", "t/new.csv", inside), ("alias", "t/part-new/x.csv", inside),
                                ("t", "alias/table.cft", inside)):
            self.expect_error(f"{out} {why}", place, out, "--format", "csv")
            done = self.run_tool(DUMP, "report", place, "--html", out, "--force")
            self.assertEqual((done.returncode, done.stderr.decode()), (1, f"cfile-dump: {out} {why}\n"))
        done = self.run_tool(DUMP, "report", "t", "--column", "n", "--html", part, "--force")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual({path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}, before)
        self.export("t", "t-2.csv")
        self.export("own.cfile", "own.csv")


class Output(ExportTest):
    def test_error_leaves_no_file(self):
        self.write_csv(["n"], [[str(i * 7919 % 100_000)] for i in range(100_000)])
        self.succeed(IMPORT, "--quiet", "t.csv", "t", "--encoding", "plain", "--compression", "none", "--block-size", "4KiB")
        (self.folder / "u.csv").write_text("old")
        column = next(self.folder.glob("t/part-*/*.cfile"))
        data = bytearray(column.read_bytes())
        data[len(data) // 2] ^= 1
        column.write_bytes(data)
        for threads in (1, 4):
            done = self.run_tool(DUMP, "rows", "t", "-o", "u.csv", "--threads", threads)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual((self.folder / "u.csv").read_text(), "old")
            # To standard output, the rows before the damage are written.
            done = self.run_tool(DUMP, "rows", "--format", "csv", "t", "--threads", threads)
            self.assertEqual(done.returncode, 2)
            rows = done.stdout.decode().splitlines()
            self.assertGreater(len(rows), 10_000)
            self.assertEqual(rows, ["n", *(str(i * 7919 % 100_000) for i in range(len(rows) - 1))])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["t", "t.csv", "u.csv"])

    def test_closed_pipe_and_full_disk(self):
        self.write_csv(["n"], [[str(i)] for i in range(300_000)])
        self.succeed(IMPORT, "--quiet", "t.csv", "t")
        process = subprocess.Popen([DUMP, "rows", "--format", "csv", "t"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual((process.stderr.read(), process.wait()), (b"", -signal.SIGPIPE))
        process.stderr.close()
        with open("/dev/full", "wb") as full:
            done = subprocess.run([DUMP, "rows", "--format", "csv", "t"], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (3, "cfile-dump: cannot write to standard output: No space left on device\n"))


if __name__ == "__main__":
    DUMP, IMPORT = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
