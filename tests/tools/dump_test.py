"""Runs cfile-dump as its users do: dump_test.py CFILE_DUMP CFILE_IMPORT [--update].

What it prints stands in dump_golden.txt, a session: after "$ cfile-dump ARGUMENTS" the output, then the errors, each
line with "! " before it, then the exit code if it is not 0. Lines that begin with "=== " are titles. --update writes the file anew: read the difference.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

DUMP, IMPORT = "", ""  # paths of the binaries
HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "dump_golden.txt"
KUDU = HERE.parent / "golden" / "kudu"

# Names in the session, and the files of a real Kudu behind them.
FILES = {
    "words.cfile": "string_prefix_low_nn_nine",  # 9 strings in one block
    "flags.cfile": "bool_auto_run_n50_nine",  # 9 booleans, 4 of them null
    "paths.cfile": "varchar_prefix_seq_n50_snappy",  # 2 compressed blocks
    "keys.cfile": "key_int32_rle_neg",  # 16 blocks, both indexes
}

# A table with what is hard to print. Sorted by id.
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


class DumpTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name, source in FILES.items():
            shutil.copy(KUDU / f"{source}.cfile", cls.folder / name)
            (cls.folder / name).chmod(0o644)
        (cls.folder / "t.csv").write_text(CSV)
        subprocess.run(
            [IMPORT, "t.csv", "t", "--quiet", "--sorted-by", "id", "--type", "amount=int64"],
            cwd=cls.folder, check=True, timeout=60)

        # A letter of the first word.
        words = shutil.copy(cls.folder / "words.cfile", cls.folder / "damaged_words.cfile")
        flip(words, words.read_bytes().index(b"v0"))
        # The second of two blocks.
        flip(shutil.copy(cls.folder / "paths.cfile", cls.folder / "damaged_paths.cfile"), 1200)
        # The first node of the value index, and the footer.
        flip(shutil.copy(cls.folder / "keys.cfile", cls.folder / "damaged_index.cfile"), 16450)
        flip(shutil.copy(cls.folder / "keys.cfile", cls.folder / "damaged_footer.cfile"), 16700)
        shutil.copy(cls.folder / "words.cfile", cls.folder / "values")
        # Without its end; without its front.
        whole = next(cls.folder.glob("t/part-*/0001-text.cfile")).read_bytes()
        (cls.folder / "torn.cfile").write_bytes(whole[:-10])
        (cls.folder / "headless.cfile").write_bytes(b"\0" * 20 + whole[20:])

    def run_dump(self, *arguments):
        done = subprocess.run([DUMP, *arguments], cwd=self.folder, capture_output=True, timeout=60)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def dump(self, *arguments):
        code, out, error = self.run_dump(*arguments)
        self.assertEqual((code, error), (0, ""))
        return out


class Session(DumpTest):
    def answer(self, command):
        # Arguments hold no blanks: no quotes needed.
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
            for command in ([], ["header"], ["footer"], ["blocks"], ["index"], ["verify"]):
                document = json.loads(self.dump(*command, "--json", path))
                self.assertEqual(document["schema_version"], 1)
                self.assertEqual(document["path"], path)
            for line in self.dump("values", "--json", path).splitlines():
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

    def test_values_are_exact(self):
        rows = [json.loads(line) for line in self.dump("values", "--json", "t").splitlines()]
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
        rows = [json.loads(line)["value"] for line in self.dump("values", "--json", "salvaged.cfile").splitlines()]
        self.assertEqual(rows, ["plain", "two\nlines", None, "null", "", '"quoted"\ttab \\ \x1b[0m', "Zürich 東京"])
        self.dump("verify", "salvaged.cfile")

    def test_where(self):
        def ids(*arguments):
            return [json.loads(line)["values"]["id"]
                    for line in self.dump("values", "--json", "--columns", "id", *arguments, "t").splitlines()]

        self.assertEqual(ids("--where", "id = 7"), [7, 7])
        self.assertEqual(ids("--where", "id >= 7", "--ordinal", "3", "--count", "2"), [7, 8])
        self.assertEqual(ids("--where", "day < 2013-02-04"), [-5, 0, 7])
        self.assertEqual(ids("--where", "text is null"), [7])
        self.assertEqual(ids("--where", "text is not null", "--count", "2"), [-5, 0])
        self.assertEqual(ids("--where", "text begins two\nl"), [0])
        self.assertEqual(ids("--where", "text = "), [8])
        self.assertEqual(ids("--where", "amount != 2"), [-5, 0, 7, 9, 12])
        self.assertEqual(self.dump("values", "--where", "value <= -5", "t", "--column", "id", "--part", "0"), "-5\n")
        values = self.dump("values", "keys.cfile").splitlines()
        self.assertEqual(self.dump("values", "--where", "value > 0", "keys.cfile").splitlines(),
                         [value for value in values if int(value) > 0])
        shutil.copytree(self.folder / "t", self.folder / "two_parts")
        subprocess.run([IMPORT, "t.csv", "two_parts", "--quiet", "--append"], cwd=self.folder, check=True, timeout=60)
        found = [json.loads(line) for line in self.dump("values", "--json", "--where", "id = 8", "two_parts").splitlines()]
        self.assertEqual([row["ordinal"] for row in found], [4, 11])
        self.assertEqual(len(self.dump("values", "--where", "id = 8", "--ordinal", "5", "two_parts").splitlines()), 2)
        for wrong in ("id", "id ~ 7", "nothing = 7", "id = x", "id is 7", "id begins 7"):
            code, _, error = self.run_dump("values", "--where", wrong, "t")
            self.assertEqual(code, 1, error)

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
        self.assertNotIn("minimum", json.loads(self.dump("--json", "keys.cfile")))  # Kudu's have none

    def test_table_summary(self):
        summary = json.loads(self.dump("--json", "t"))
        self.assertEqual((summary["rows"], summary["parts"]), (7, [{"first_ordinal": 0, "rows": 7}]))
        self.assertEqual([(c["name"], c["type"], c["nullable"], c["nulls"]) for c in summary["columns"]],
                         [("id", "int32", False, 0), ("text", "string", True, 1), ("day", "date", True, 1),
                          ("amount", "int64", True, 1)])
        self.assertEqual(summary["size"], sum(f.stat().st_size for f in self.folder.glob("t/*/*.cfile")))
        self.assertEqual(summary["nulls"], 3)
        text = self.dump("t")
        self.assertIn("rows   7\n", text)
        for column in ("id", "text", "day", "amount", "total"):
            self.assertRegex(text, f"\n{column} ")


class Columns(DumpTest):
    """A table's column and part instead of the path of their file."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copytree(cls.folder / "t", cls.folder / "parts")
        subprocess.run([IMPORT, "t.csv", "parts", "--quiet", "--append"], cwd=cls.folder, check=True, timeout=60)
        cls.files = {}  # by table and part: the path of column id
        for table, count in (("t", 1), ("parts", 2)):
            report = json.loads(subprocess.run([DUMP, "verify", "--json", table], cwd=cls.folder, check=True,
                                               capture_output=True, timeout=60).stdout)
            for part in range(count):
                cls.files[table, part] = report["files"][4 * part]["path"]

    def test_one_file(self):
        for (table, part), path in self.files.items():
            part_options = [["--part", str(part)]] + ([[]] if table == "t" else [])
            for options in part_options:
                for command in ([], ["header"], ["footer"], ["blocks"], ["blocks", "--bytes"], ["index"], ["--json"],
                                ["blocks", "--json"]):
                    self.assertEqual(self.dump(*command, table, "--column", "id", *options), self.dump(*command, path))
                out = self.folder / "salvaged_column.cfile"
                self.dump("salvage", table, "--column", "id", *options, str(out), "--force")
                self.assertEqual(out.read_bytes(), (self.folder / path).read_bytes())

    def test_several_parts(self):
        for command in ([], ["header"], ["footer"], ["blocks"], ["index"], ["salvage"]):
            code, _, error = self.run_dump(*command, "parts", "--column", "id", *(["out"] if command == ["salvage"] else []))
            self.assertEqual((code, error), (1, "cfile-dump: parts has 2 parts: choose one with --part, from 0 on\n"))
        ids = "-5\n0\n7\n7\n8\n9\n12\n"
        self.assertEqual(self.dump("values", "parts", "--column", "id"), 2 * ids)
        self.assertEqual(self.dump("values", "parts", "--column", "id", "--part", "1"), ids)
        self.assertEqual(self.dump("values", "parts", "--column", "id", "--ordinal", "6", "--count", "2"), "12\n-5\n")
        self.assertEqual(json.loads(self.dump("values", "--json", "parts", "--column", "id", "--ordinal", "13")),
                         {"schema_version": 1, "ordinal": 13, "value": 12})
        self.assertEqual(self.dump("at", "parts", "8", "--column", "id"), "0\n")
        self.assertEqual(self.dump("at", "parts", "1", "--column", "id", "--part", "1"), "0\n")
        self.assertIn("ordinal  2\n", self.dump("find", "parts", "--column", "id", "7"))
        self.assertIn("ordinal  2\n", self.dump("find", "parts", "--column", "id", "--part", "1", "7"))

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
                (["blocks", "t", "--column", "ID"], "the table has no column 'ID'; it has id, text, day, amount"),
                (["blocks", "t", "--column", "id", "--part", "1"], "there is no part 1: t has 1 part, counted from 0"),
                (["verify", "t", "--part", "1"], "there is no part 1: t has 1 part, counted from 0"),
                (["values", "t", "--part", "0"], "--part goes with --column"),
                (["blocks", "words.cfile", "--column", "id"],
                 "--column and --part are for tables, and words.cfile is a single column"),
                (["values", "words.cfile", "--column", "id"],
                 "--column and --part are for tables, and words.cfile is a single column"),
                (["verify", "words.cfile", "--part", "0"],
                 "--column and --part are for tables, and words.cfile is a single column")):
            code, out, error = self.run_dump(*arguments)
            self.assertEqual((code, out, error), (1, "", f"cfile-dump: {expected}\n"))


class Damage(DumpTest):
    def test_verify_finds_each_flipped_byte(self):
        path = self.folder / "flipped.cfile"
        original = (self.folder / "words.cfile").read_bytes()
        for offset in range(len(original)):
            data = bytearray(original)
            data[offset] ^= 0x10
            path.write_bytes(data)
            code, out, error = self.run_dump("verify", "flipped.cfile")
            self.assertIn(code, (2, 4), f"byte {offset}: {out}")
            self.assertEqual(error, "")

    def test_verify_finds_each_truncation(self):
        path = self.folder / "cut.cfile"
        original = (self.folder / "words.cfile").read_bytes()
        for size in range(len(original)):
            path.write_bytes(original[:size])
            self.assertEqual(self.run_dump("verify", "cut.cfile")[0], 2, size)

    def test_table(self):
        self.assertIn("4 files, 0 not in order\n", self.dump("verify", "t"))
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
        path.unlink()
        code, out, error = self.run_dump("verify", "damaged_table")
        self.assertNotEqual(code, 0)
        self.assertIn("4 files, 1 not in order\n", out)
        code, out, error = self.run_dump("damaged_table")
        self.assertNotEqual(code, 0)
        self.assertIn("day (incomplete)", out)
        self.assertIn("cfile-dump: ", error)


class Surroundings(DumpTest):
    def test_closed_pipe_ends_quietly(self):
        for arguments in (["values", "keys.cfile"], ["blocks", "--json", "keys.cfile"]):
            with subprocess.Popen([DUMP, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                process.stdout.close()
                error = process.stderr.read()
                process.wait(60)
            self.assertEqual((process.returncode, error), (0, b""))

    def test_full_device(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([DUMP, "values", "keys.cfile"], cwd=self.folder, stdout=full,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"standard output could not be written", done.stderr)

    def test_every_help_has_an_example(self):
        commands = ("header", "footer", "blocks", "index", "values", "at", "find", "records", "verify")
        self.assertIn("Examples:\n", self.dump("--help"))
        for command in commands:
            self.assertIn(f"  {command} ", self.dump("--help"))
            self.assertRegex(self.dump(command, "--help"), f"Examples?:\n  cfile-dump {command} ")

    def test_version(self):
        self.assertRegex(self.dump("--version"), r"^cfile-dump \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    DUMP, IMPORT = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
