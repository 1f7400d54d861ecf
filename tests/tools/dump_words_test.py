"""Tests the subcommands rows, find and count of cfile-dump, old words, and suggestions: dump_words_test.py CFILE_DUMP CFILE_IMPORT."""

import collections
import csv
import gzip
import json
import os
import pty
import random
import re
import shutil
import subprocess
import sys
import unittest

from dump_case import DUMP, IMPORT, DumpCase

NUM_ROWS = 9_000
ROWS = [(i * 2, f"name {i % 7}" if i % 5 else None, i / 4) for i in range(NUM_ROWS)]  # id, name, x


class WordsTest(DumpCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        options = ["--sorted-by", "id", "--block-size", "4KiB", "--encoding", "plain", "--compression", "none", "--type", "x=double"]
        for name, begin, end in (("t", 0, NUM_ROWS), ("a", 0, 4000), ("b", 4000, NUM_ROWS)):
            with open(cls.folder / f"{name}.csv", "w", newline="") as file:
                rows = csv.writer(file, lineterminator="\n")
                rows.writerows([("id", "name", "x"), *ROWS[begin:end]])
        cls.make("t.csv", "t", *options, loose=True)
        cls.make("a.csv", "parts", *options, loose=True)
        cls.make("b.csv", "parts", "--append")
        (cls.folder / "f.csv").write_text("f,n\n-inf,1\n-5,2\n0.5,3\n")
        cls.make("f.csv", "floats", "--sorted-by", "f", "--type", "f=double")
        (cls.folder / "n.jsonl").write_text("".join(f'{{"id":{i},"tags":["x{i}","y"]}}\n' for i in range(3000)))
        cls.make("n.jsonl", "nested", "--sorted-by", "id", "--block-size", "4KiB", "--encoding", "plain", "--compression", "none", loose=True)
        cls.file = str(next(cls.folder.glob("t/part-*/0000-id.cfile")).relative_to(cls.folder))
        cls.names = str(next(cls.folder.glob("t/part-*/0001-name.cfile")).relative_to(cls.folder))

    def ids(self, *arguments):
        return [json.loads(line)["id"] for line in self.dump("rows", "--format", "jsonl", *arguments).splitlines()]

    def terminal(self, width, *command):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([DUMP, *command], cwd=self.folder, stdout=theirs, env=os.environ | {"COLUMNS": str(width)})
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 65536):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        return text.decode().replace("\r\n", "\n")


class OldWords(WordsTest):
    def test_old_words_do_the_same_and_say_the_new_one(self):
        for old, new in (
                (["values", "t", "--head", "3"], ["rows", "t", "--limit", "3"]),
                (["values", "--json", "t", "--tail=2"], ["rows", "--json", "t", "--tail", "2"]),
                (["at", "t", "7"], ["rows", "t", "--row", "7"]),
                (["at", "--json", "--column", "x", "t", "7"], ["rows", "--json", "--column", "x", "t", "--row", "7"]),
                (["records", "t", "-n", "2"], ["rows", "--format", "jsonl", "t", "-n", "2"]),
                (["records", "t", "--format", "csv"], ["rows", "t", "--format", "csv"]),
                (["records", "--json", "nested", "--tail", "1"], ["rows", "nested", "--tail", "1"]),
                (["records", "--schema", "nested"], ["summary", "--schema", "nested"]),
                (["export", "t"], ["rows", "t", "--format", "csv"]),
                (["export", "t", "--to", "tsv"], ["rows", "t", "--format", "tsv"]),
                (["block", self.file, "1"], ["blocks", self.file, "--block", "1"]),
                (["block", self.file, "--ordinal", "9"], ["blocks", self.file, "--ordinal", "9"]),
                (["header", self.file], ["hexdump", self.file, "--header"]),
                (["footer", "--json", self.file], ["hexdump", "--json", self.file, "--footer"]),
                (["dictionary", self.file], ["stats", self.file, "--dictionary"])):
            code, out, error = self.run_dump(*old)
            self.assertEqual((code, out), (0, self.dump(*new)), old)
            needed = [word for word in new if word in ("--row", "--block", "--format", "--header", "--footer", "--dictionary")]
            if old[0] == "records" and "csv" not in old:
                needed = ["--format jsonl"]
            elif needed and needed[0] in ("--row", "--block"):
                needed = [needed[0] + "=..."]
            elif old == ["export", "t"]:
                needed = ["--format csv"]
            elif "--format" in needed:
                needed = []  # the user has given it
            word = " ".join([new[0] if new[0] != "summary" else "rows", *needed])
            self.assertEqual(error, f"cfile-dump {old[0]} is now cfile-dump {word}; the old word goes with 0.3\n")
            for text in (self.dump("--help"), self.dump("--print-declarations")):
                self.assertNotIn(f'"{old[0]}"', text)
                self.assertNotIn(f"\n  {old[0]} ", text)
        self.assertEqual(self.run_dump("export", "t", "o.jsonl")[0], 0)
        self.assertEqual((self.folder / "o.jsonl").read_text(), self.dump("rows", "t", "--format", "jsonl"))
        self.assertEqual(self.run_dump("concat", self.file, self.file, "two.cfile")[0], 0)
        self.assertEqual(len(self.dump("rows", "two.cfile").splitlines()), 2 * NUM_ROWS)

    def test_suggestions(self):
        for command, end in ((["rws", "t"], "; did you mean rows?"), (["rows", "t", "--limti", "3"], "; did you mean --limit?"),
                             (["rows", "t", "--columns", "nmae"], "; did you mean name?"),
                             (["rows", "t", "--column", "ID"], "; did you mean id?"),
                             (["count", "t", "--by", "nane"], "; did you mean name?"),
                             (["rows", "t", "--format", "cvs"], "; did you mean csv?"),
                             (["t", "--jsn"], "; did you mean --json?"), (["find", "t", "1", "--explian"], "; did you mean --explain?")):
            code, out, error = self.run_dump(*command)
            self.assertEqual((code, out), (1, ""))
            self.assertEqual(error.splitlines()[0][-len(end):], end, command)
        for command in (["xyzzy", "t"], ["rows", "t", "--frobnicate"], ["rows", "t", "--columns", "zzz"]):
            self.assertNotIn("did you mean", self.run_dump(*command)[2])
        name = next(self.folder.glob("parts/part-*")).name
        self.assertIn(f"did you mean {name}?", self.run_dump("rows", "parts", "--part", name[:-1] + "x")[2])

    def test_suggestions_of_the_other_tools(self):
        for options, said in ((["--quiett"], "--quiet"), (["--header", "atuo"], "auto"), (["--for", "sped"], "speed"),
                              (["--encoding", "dcit"], "dict"), (["--compression", "id=ztsd"], "zstd"), (["--type", "id=doubel"], "double"),
                              (["--columns", "nmae"], "name"), (["--sorted-by", "nmae"], "name"), (["--not-null", "nam"], "name"),
                              (["--bloom", "naem"], "name"), (["--encoding", "nmae=dict"], "name")):
            self.assertIn(f"did you mean {said}?", self.run_tool(IMPORT, "t.csv", "u", *options)[2], options)
        for options, said in ((["--sort", "sise"], "size"),):
            self.assertIn(f"did you mean {said}?", self.run_dump("summary", "t", *options)[2], options)
        for command, said in ((["rewrite", "t", "u", "--encoding", "nmae=dict"], "name"), (["whatif", "t", "--for", "seed"], "speed")):
            self.assertIn(f"did you mean {said}?", self.run_dump(*command)[2], command)

    def test_suggestions_of_nested_fields(self):
        (self.folder / "n.jsonl").write_text('{"id":1,"trip":{"day":"2024-01-01","km":3},"tags":["a"]}\n')
        (self.folder / "at.json").write_text('{"meta": {"results": 1}, "data": {"results": [{"a": 1}]}}')
        self.assertEqual(self.run_tool(IMPORT, "n.jsonl", "n", "--quiet")[0], 0)
        schema = self.dump("summary", "--schema", "n")
        (self.folder / "schema").write_text(schema)
        for names, said in (("trip.dya", "trip.day"), ("id,tirp", "trip"), ("tags.list.elemnt", "tags.list.element")):
            self.assertIn(f"did you mean {said}?", self.run_dump("rows", "n", "--columns", names)[2])
        for options, said in ((["--columns", "id,tirp"], "trip"), (["--columns", "tirp"], "trip"), (["--type", "trip.dya=date"], "trip.day"),
                              (["--columns", "tirp", "--schema", "schema"], "trip")):
            self.assertIn("--columns tirp: " if "--columns" in options else "--type trip.dya: ", self.run_tool(IMPORT, "n.jsonl", "u", *options)[2])
            self.assertIn(f"did you mean {said}?", self.run_tool(IMPORT, "n.jsonl", "u", *options)[2], options)
        self.assertIn("--columns tirp: n has no column of that name; did you mean trip?",
                      self.run_tool(IMPORT, "n.jsonl", "n", "--append", "--columns", "tirp")[2])
        for path, said in (("/dtaa/results", "/data"), ("/data/result", "/data/results")):
            self.assertIn(f"did you mean {said}?", self.run_tool(IMPORT, "at.json", "u", "--at", path)[2], path)

    def test_limits_stand_in_one_page(self):
        limits = self.dump("--help-limits")
        self.assertIn("  --max-block-size BYTES", limits)
        self.assertNotIn("--json", limits)
        for command in ([], ["rows"], ["verify"]):
            self.assertNotIn("--max-block-size BYTES", self.dump(*command, "--help"))


class Rows(WordsTest):
    def test_files(self):
        text = self.dump("rows", "t", "--format", "csv", "--where", "id > 100")
        for name, read in (("o.csv", lambda data: data), ("o.csv.gz", gzip.decompress),
                           ("o.csv.zst", lambda data: subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout)):
            if name.endswith(".zst") and not shutil.which("zstd"):
                continue
            self.assertEqual(self.dump("rows", "t", "-o", name, "--where", "id > 100"), "")
            self.assertEqual(read((self.folder / name).read_bytes()).decode(), text, name)
        self.make("o.csv.gz", "again", "--type", "x=double")
        self.assertEqual(self.dump("rows", "again", "--format", "csv"), text)
        self.assertEqual(self.dump("rows", "t", "--limit", "0", "-o", "empty.jsonl.gz"), "")
        self.assertEqual(gzip.decompress((self.folder / "empty.jsonl.gz").read_bytes()), b"")
        for out, message in (("o.parquet.gz", "is compressed inside"), ("o.gz", "does not show the format"), ("o.xyz", "does not show")):
            code, _, error = self.run_dump("rows", "t", "-o", out)
            self.assertEqual(code, 1)
            self.assertIn(message, error)
            self.assertFalse((self.folder / out).exists())

    def test_parquet_takes_the_rows_that_csv_takes(self):
        """Also of the second part, of nested rows, and without damaged rows."""
        if "parquet" not in self.dump("rows", "--help"):
            self.skipTest("this build has no Parquet")
        copy, _ = self.damage("t", "x", 10_000)
        number = 0
        temporary = self.folder / "temporary"
        temporary.mkdir()
        os.environ["TMPDIR"] = str(temporary)
        self.addCleanup(os.environ.pop, "TMPDIR")
        for table, code, *choices in (
                ("t", 0, ["--limit", "3"], ["--where", "id > 3 and x < 7"], ["--where", "name is null", "--columns", "x,name", "--tail", "5"],
                 ["--sample", "70", "--seed", "3"], ["--from", "40", "--to", "9000"], ["--row", "5"], ["--ordinal", "8990"], ["--column", "x", "-n", "9"]),
                ("parts", 0, ["--part", "1"], ["--part", "0", "--where", "id > 7000"], ["--where", "id > 7900 and id < 8100"]),
                ("nested", 0, ["--where", "id between 40 and 45"], ["--sample", "700"], ["--tail", "3", "--columns", "tags"], ["-n", "0"]),
                (self.file, 0, ["--where", "value > 9000", "-n", "3"]), (self.names, 0, ["-n", "3"], ["--where", "value is null", "-n", "2"]),
                (copy, 2, ["--skip-damaged"], ["--skip-damaged", "--where", "x > 1"], ["--skip-damaged", "-n", "3000"])):
            for choice in choices:
                number += 1
                done, expected, _ = self.run_dump("rows", table, "--format", "jsonl", *choice)
                self.assertEqual(done, code)
                done, out, error = self.run_dump("rows", table, "-o", f"some{number}.parquet", *choice)
                self.assertEqual((done, out), (code, ""), error)
                self.make(f"some{number}.parquet", f"some{number}")
                self.assertEqual(self.dump("rows", f"some{number}", "--format", "jsonl"), expected, choice)
        self.assertEqual(list(temporary.iterdir()), [])
        code, out, error = self.run_dump("rows", "t", "--row", "5", "--explain", "--format", "parquet")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("--explain is for text and JSON", error)

    def test_parts(self):
        ids = [row[0] for row in ROWS]
        self.assertEqual(self.ids("parts", "--part", "1"), ids[4000:])
        self.assertEqual(self.ids("parts", "--part", "0", "--tail", "2"), ids[3998:4000])
        self.assertEqual(self.ids("parts", "--part", "1", "--row", "5"), [ids[4005]])
        self.assertEqual(self.ids("parts", "--part", "1", "--from", "7000", "--to", "9000"), [i for i in ids[4000:] if 7000 <= i < 9000])
        self.assertEqual(self.ids("parts", "--part", "1", "--where", "id < 8010"), [i for i in ids[4000:] if i < 8010])
        self.assertEqual(json.loads(self.dump("rows", "parts", "--part", "1", "--row", "5", "--json"))["ordinal"], 5)
        for number, name in enumerate(json.loads(self.dump("--json", "parts"))["parts"]):
            begin = name["name"][:20]
            self.assertEqual(self.ids("parts", "--part", begin), self.ids("parts", "--part", number))
            self.assertEqual(self.dump("count", "parts", "--part", begin), f"{(4000, 5000)[number]}\n")
        self.assertIn("the names of 2 parts begin with part-", self.run_dump("rows", "parts", "--part", "part-")[2])
        self.assertEqual(self.run_dump("rows", "parts", "--part", "1", "--row", "5000")[0], 1)

    def test_threads_give_the_same_text(self):
        for options in ([], ["--json"], ["--format", "hex"], ["--where", "name is null"], ["--sample", "300"], ["--tail", "7000"]):
            one = self.dump("rows", "parts", "--threads", "1", *options)
            self.assertEqual(self.dump("rows", "parts", "--threads", "5", *options), one, options)
        one = self.dump("rows", "nested", "--threads", "1")
        self.assertEqual(self.dump("rows", "nested", "--threads", "3"), one)

    def test_terminal(self):
        lines = self.terminal(60, "rows", "t", "-n", "700").splitlines()
        self.assertEqual(lines[:3], ["  id  name         x", "   0  null         0", "   2  name 1    0.25"])
        self.assertEqual(len(lines), 701)
        text = self.terminal(40, "rows", "parts", "--columns", "id,name,x", "--where", "id in (2, 8002)", "-n", "2")
        self.assertEqual(text.splitlines()[0].split(), ["id", "name", "x"])
        (self.folder / "wide.csv").write_text(f"a,b\n{'v' * 30},{'w' * 30}\n1,2\n")
        self.make("wide.csv", "wide")
        self.assertEqual(self.terminal(50, "rows", "wide"), f"row 0\na  {'v' * 30}\nb  {'w' * 30}\n\nrow 1\na  1\nb  2\n")
        self.assertEqual(self.terminal(50, "rows", "wide", "--format", "csv"), f"a,b\n{'v' * 30},{'w' * 30}\n1,2\n")

    def damage(self, table, column, *offsets):
        copy = f"damaged-{table}-{column}"
        shutil.rmtree(self.folder / copy, ignore_errors=True)
        shutil.copytree(self.folder / table, self.folder / copy)
        path = next((self.folder / copy).glob(f"part-*/*-{column}*.cfile"))
        data = bytearray(path.read_bytes())
        for offset in offsets:
            data[offset] ^= 1
        path.write_bytes(data)
        blocks = json.loads(self.dump("blocks", "--json", next((self.folder / table).glob(f"part-*/*-{column}*.cfile"))))["blocks"]
        lost = [block for block in blocks if any(block["offset"] <= offset < block["offset"] + block["size"] for offset in offsets)]
        self.assertEqual(len(lost), len(offsets))
        return copy, {row for block in lost for row in range(block["first_ordinal"], block["first_ordinal"] + block["rows"])}

    def test_skip_damaged(self):
        copy, lost = self.damage("t", "x", 10_000, 40_000)
        left = [i for i in range(NUM_ROWS) if i not in lost]
        for threads in ("1", "4"):
            for form, first in (([], 1), (["--format", "csv"], 1), (["--format", "jsonl"], 0), (["--json"], 0)):
                code, out, error = self.run_dump("rows", copy, "--skip-damaged", "--threads", threads, *form)
                self.assertEqual(code, 2)
                self.assertEqual(out.splitlines()[first:],
                                 [line for i, line in enumerate(self.dump("rows", "t", *form).splitlines()[first:]) if i not in lost])
                self.assertEqual(error.count(" are left out: "), 2, error)
                self.assertIn("-x.cfile: block at offset", error)
                self.assertEqual(error.splitlines()[-1], f"cfile-dump: warning: {len(lost)} rows with damaged values left out")
        # Columns without damage have all rows, and conditions on damaged columns test the others.
        self.assertEqual(self.run_dump("rows", copy, "--skip-damaged", "--columns", "id,name")[0], 0)
        for where, expected in (("x > 1000", [i for i in left if ROWS[i][2] > 1000]), ("name is null", [i for i in left if i % 5 == 0])):
            code, out, _ = self.run_dump("rows", copy, "--skip-damaged", "--where", where, "--format", "jsonl")
            self.assertEqual((code, [json.loads(line)["id"] for line in out.splitlines()]), (2, [ROWS[i][0] for i in expected]))
        # Without the option, the rows before the damage are printed.
        code, out, error = self.run_dump("rows", copy, "--format", "csv")
        self.assertEqual((code, len(out.splitlines()) - 1), (2, min(lost)))
        self.assertIn("checksum", error)
        code, _, error = self.run_dump("rows", copy, "--skip-damaged", "-o", "left.csv")
        self.assertEqual((code, len((self.folder / "left.csv").read_text().splitlines()) - 1), (2, len(left)))
        # Rows that cannot be read do not count for the limit.
        last = max(lost)
        for threads in ("1", "4"):
            for count in (1, min(lost), min(lost) + 5, last + 3 - len(lost), len(left) + 1):
                limit = ["--skip-damaged", "--threads", threads, "--format", "jsonl", "-n", count]
                _, out, _ = self.run_dump("rows", copy, *limit)
                self.assertEqual([json.loads(line)["id"] for line in out.splitlines()], [ROWS[i][0] for i in left[:count]])
                _, out, _ = self.run_dump("rows", copy, "--where", "x > 1", *limit)
                self.assertEqual([json.loads(line)["id"] for line in out.splitlines()],
                                 [ROWS[i][0] for i in left if ROWS[i][2] > 1][:count])
        # Of a part whose file is cut, no row is left. The parts after it have all their rows.
        (self.folder / "p.csv").write_text("id,x\n" + "".join(f"{i},{i % 7}\n" for i in range(900)))
        for more in ([], ["--append"], ["--append"]):
            self.make("p.csv", "cut", *more, loose=True)
        part = json.loads(self.dump("summary", "cut", "--json"))["parts"][1]["name"]
        file = next((self.folder / "cut" / part).glob("*-x*.cfile"))
        file.write_bytes(file.read_bytes()[:100])
        code, out, error = self.run_dump("rows", "cut", "--skip-damaged", "--format", "csv")
        self.assertEqual((code, out.splitlines()[1:]), (2, 2 * (self.folder / "p.csv").read_text().splitlines()[1:]), error)
        # The same of a part that lacks a file; one line says it, whatever the number of threads.
        file.unlink()
        self.assertEqual(self.run_dump("rows", "cut", "--format", "csv")[0], 3)
        for threads in ("1", "4"):
            code, out, error = self.run_dump("rows", "cut", "--skip-damaged", "--format", "csv", "--threads", threads)
            self.assertEqual((code, out.splitlines()[1:]), (2, 2 * (self.folder / "p.csv").read_text().splitlines()[1:]), error)
            self.assertRegex(error, "^cfile-dump: warning: rows 900 to 1799 are left out: .*-x.cfile.*\n.* 900 rows with damaged values left out\n$")
        # A row that is chosen by its number stays this row.
        for row in (min(lost), min(lost) - 1):
            _, out, _ = self.run_dump("rows", copy, "--skip-damaged", "--row", row, "--format", "jsonl")
            self.assertEqual(len(out.splitlines()), row not in lost)
            self.assertEqual(self.dump("rows", "t", "--row", row, "--where", f"id != {ROWS[row][0]}", "--format", "jsonl"), "")
        code, _, error = self.run_dump("rows", copy)
        self.assertEqual(code, 2)
        self.assertIn(f"; --skip-damaged prints the other rows, cfile-table repair --salvage {copy} keeps them in the table", error)

    def test_skip_damaged_records_and_files(self):
        copy, lost = self.damage("nested", "tags", 8_000)
        code, out, _ = self.run_dump("rows", copy, "--skip-damaged")
        self.assertEqual(code, 2)
        ids = [json.loads(line)["id"] for line in out.splitlines()]
        self.assertLessEqual(set(range(3000)) - lost, set(ids))
        self.assertLess(len(ids), 3000)
        self.assertEqual(ids, sorted(set(ids)))
        for count in (1, ids.index(max(i for i in ids if i < min(lost))) + 3, len(ids) + 1):
            _, out, _ = self.run_dump("rows", copy, "--skip-damaged", "-n", count)
            self.assertEqual([json.loads(line)["id"] for line in out.splitlines()], ids[:count])
        copy, lost = self.damage("t", "id", 9_000)
        file = next((self.folder / copy).glob("part-*/*-id.cfile"))
        code, out, _ = self.run_dump("rows", file, "--skip-damaged")
        self.assertEqual((code, out.split()), (2, [str(row[0]) for i, row in enumerate(ROWS) if i not in lost]))


class Names(WordsTest):
    def test_unknown_columns(self):
        names = [f"column{i}" for i in range(300)]
        (self.folder / "wide.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
        self.make("wide.csv", "wide")
        listed = ", ".join(names[:20]) + " and 280 more; did you mean column7?"
        for arguments, place in ((["--where", "colum7 = 1"], ' (character 1: "colum7 = 1")'), (["--columns", "colum7"], "")):
            code, _, error = self.run_dump("rows", "wide", *arguments)
            self.assertEqual(code, 1)
            self.assertTrue(error.endswith(f"{listed}{place}\n"), error)

    def test_turned_comparisons(self):
        for turned, plain in (("17990 < id", "id > 17990"), ("4>=id", "id <= 4"), ("6 = id", "id = 6"), ("-0.5 > x or 3 != id and 2 > x", "x<2 and id!=3"),
                              ("1e1 > id", "id < 10"), ("17990.5 <= id", "id >= 17990.5"), ("'name 4' = name", "name = 'name 4'"),
                              ("'name 1' < name and not 'name 3' <= name", "name > 'name 1' and name < 'name 3'")):
            self.assertEqual(self.ids("t", "--where", turned), self.ids("t", "--where", plain))
            self.assertTrue(self.ids("t", "--where", turned))

    def test_like_finds_what_a_regular_expression_finds(self):
        chance = random.Random(7)
        texts = ["".join(chance.choice("abB%_") for _ in range(chance.randrange(9))) for _ in range(400)]
        (self.folder / "like.csv").write_text("s\n" + "".join(f'"{text}"\n' for text in texts))
        self.make("like.csv", "like")
        for _ in range(60):
            pattern = "".join(chance.choice("aab%%_") for _ in range(chance.randrange(1, 7)))
            for word, flags in (("like", 0), ("ilike", re.IGNORECASE)):
                expected = [t for t in texts if re.fullmatch(pattern.replace("%", ".*").replace("_", "."), t, flags)]
                found = [json.loads(line)["s"] for line in self.dump("rows", "like", "--where", f"s {word} '{pattern}'", "--format", "jsonl").splitlines()]
                self.assertEqual(found, expected, (word, pattern))

    def test_part_without_column(self):
        """--part alone: all files of the part, or an error where only one file makes sense."""
        folder = sorted((self.folder / "parts").glob("part-*"))
        files = {f"parts/{path.parent.name}/{path.name}" for path in folder[0].parent.glob("part-*/*.cfile")}
        first = json.loads(self.dump("blocks", "--json", "parts", "--part", "0", "--column", "id"))["path"].rpartition("/")[0]
        expected = sorted(file for file in files if file.startswith(first))
        self.assertEqual(len(expected), 3)
        for command in (["summary"], ["blocks"], ["index"], ["stats"]):
            out = self.dump(*command, "parts", "--part", "0")
            self.assertEqual(sorted(line[2:] for line in out.splitlines() if line.startswith("# ")), expected, command)
        code, _, error = self.run_dump("hexdump", "parts", "--part", "0")
        self.assertEqual(code, 1)
        self.assertIn("choose one of its columns, such as --column id", error)

    def test_part_in_every_subcommand(self):
        """A part is read as if it were a table, and --column and --part choose a file."""
        self.dump("rewrite", "parts", "second", "--part", "1")
        self.assertEqual(self.ids("second"), self.ids("parts", "--part", "1"))
        self.assertEqual(self.run_dump("rewrite", "second", "second", "--part", "0", "--force")[0], 1)
        self.assertEqual(self.dump("summary", "--schema", "parts", "--part", "1"), self.dump("summary", "--schema", "parts"))
        self.assertEqual(self.dump("diff", "parts", "parts", "--part", "1"), "the values are the same\n")
        self.assertEqual(self.run_dump("diff", "parts", "second", "--values-only")[0], 1)
        self.dump("rewrite", "second", "third")
        code, out, _ = self.run_dump("diff", "parts", "third", "--part", "0", "--values-only", "--count", "1")
        self.assertEqual((code, out.splitlines()[0]), (1, "values: rows: 4000 | 5000"))
        self.dump("rewrite", "parts", "id.cfile", "--column", "id", "--part", "0")
        self.assertEqual(self.dump("rows", "id.cfile").split(), [str(row[0]) for row in ROWS[:4000]])
        self.assertEqual(self.dump("diff", "parts", "id.cfile", "--column", "id", "--part", "0", "--values-only"), "the values are the same\n")
        explained = json.loads(self.dump("explain", "parts", "--part", "1", "--where", "id < 8010", "--json"))
        self.assertEqual((explained["rows"], explained["matches"], len(explained["parts"])), (5000, 5, 1))
        whatif = json.loads(self.dump("whatif", "parts", "--part", "0", "--sample-bytes", "1KiB", "--json"))
        self.assertEqual([(column["name"], column["rows"]) for column in whatif["columns"]], [("id", 4000), ("name", 4000), ("x", 4000)])
        whatif = json.loads(self.dump("whatif", "parts", "--part", "1", "--column", "x", "--sample-bytes", "1KiB", "--json"))
        self.assertEqual([(column["name"], column["rows"]) for column in whatif["columns"]], [("x", 5000)])
        self.assertEqual(self.run_dump("whatif", self.file, "--column", "id")[0], 1)
        self.dump("report", "parts", "--part", "1", "--html", "part.html")
        page = (self.folder / "part.html").read_text()
        self.assertIn('"rows":5000', page)
        self.assertNotIn('"part":0', page)
        for command in ("rows", "find", "count", "blocks", "index", "hexdump", "stats", "explain", "whatif", "verify", "salvage", "diff", "rewrite",
                        "report", "summary"):
            self.assertIn("--part PART", self.dump(command, "--help"), command)

    def test_schema_as_json(self):
        found = json.loads(self.dump("summary", "--json", "--schema", "t"))
        self.assertEqual(found, {"schema_version": 1, "path": "t", "schema": self.dump("summary", "--schema", "t")})
        self.assertEqual(json.loads(self.dump("--json", "--schema", "t")), found)

    def test_blocks_as_large_as_the_file(self):
        """No option is needed, but a file cannot claim more memory than 64 times its bytes."""
        options = ["--max-block-size", "64MiB", "--encoding", "plain"]
        (self.folder / "large.csv").write_text("s\n" + "".join(random.Random(1).choices("ab ", k=20 << 20)) + "\n")
        self.make("large.csv", "large", *options, "--compression", "none")
        self.assertEqual(len(self.dump("rows", "large", "--format", "csv", "--no-header")), (20 << 20) + 1)
        self.assertEqual(self.run_dump("verify", "large")[0], 0)
        self.make("large.csv", "packed", *options, "--compression", "zstd")
        self.assertEqual(self.dump("rows", "packed", "--format", "csv"), self.dump("rows", "large", "--format", "csv"))
        for command in (["verify", "packed"], ["rewrite", "packed", "packed2"], ["salvage", "packed", "packed3"]):
            self.assertEqual(self.run_dump(*command)[0], 0, command)
        self.assertEqual(self.run_dump("rows", "packed2", "-n", "1")[0], 0)
        code, _, error = self.run_dump("rows", "large", "--max-block-size", "16MiB")
        self.assertEqual(code, 4)
        (self.folder / "bomb.csv").write_text("s\n" + "a" * (20 << 20) + "\n")
        self.make("bomb.csv", "bomb", *options, "--compression", "zstd")
        code, _, error = self.run_dump("rows", "bomb")
        self.assertEqual(code, 4)
        self.assertIn("raise --max-block-size", error)
        self.assertEqual(self.run_dump("rows", "bomb", "--max-block-size", "32MiB")[0], 0)

    def test_exit_codes(self):
        """As --help and ExitCodeOf say: 1 wrong use, 2 damaged, 3 input or output failed, 4 above a limit or unknown here."""
        copy = "lost"
        shutil.copytree(self.folder / "t", self.folder / copy)
        next((self.folder / copy).glob("part-*/*-name.cfile")).unlink()
        for code, tool, *arguments in (
                (1, DUMP, "rewrite", "t", "parts"), (1, IMPORT, "t.csv", "t"), (1, IMPORT, "t", "t.csv"), (1, IMPORT, "a.csv", "b.csv", "t"),
                (1, DUMP, "rows", "t", "at"), (1, DUMP, "rows", "t", "--row"), (1, DUMP, "count", "t", "--where", "z = 1"),
                (3, DUMP, "rows", "none"), (3, DUMP, "count", "none"), (3, IMPORT, "none.csv", "new"), (3, IMPORT, "t.csv", "none", "--append"),
                (3, DUMP, "rows", copy), (3, DUMP, "summary", copy), (2, DUMP, "verify", copy),
                (4, DUMP, "rewrite", "t", "new", "--encoding", "id=dict"), (4, IMPORT, "t.csv", "new", "--encoding", "id=dict")):
            found, _, error = self.run_tool(tool, *arguments)
            self.assertEqual(found, code, (arguments, error))
            self.assertFalse((self.folder / "new").exists())


class Find(WordsTest):
    def test_row(self):
        for options in ([], ["--column", "id"]):
            self.assertEqual(self.dump("find", "t", "8", *options), "ordinal  4\nexact    yes\n\nid    8\nname  name 4\nx     1\n")
        self.assertEqual(json.loads(self.dump("find", "--json", "t", "10"))["row"], {"id": 10, "x": 1.25})
        self.assertEqual(self.dump("find", self.file, "8"), "ordinal  4\nexact    yes\nvalue    8\n")
        self.assertIn('\n\n{"id":7,"tags":["x7","y"]}\n', self.dump("find", "nested", "7"))
        self.assertEqual(self.dump("find", "parts", "8002", "--part", "1"), "ordinal  1\nexact    yes\n\nid    8002\nname  name 4\nx     1000.25\n")

    def test_exit_code(self):
        code, out, error = self.run_dump("find", "t", "9")
        self.assertEqual((code, error), (1, ""))
        self.assertIn("ordinal  5\nexact    no\n", out)
        self.assertEqual(self.run_dump("find", "t", "99999"), (1, f"ordinal  {NUM_ROWS} (the end: all values are less)\nexact    no\n", ""))
        self.assertEqual(self.run_dump("find", "parts", "9000", "--part", "0")[0], 1)

    def test_keys_with_dashes(self):
        for key, n in (("-inf", 1), ("-5", 2), ("0.5", 3)):
            for command in (["find", "floats", key, "--json"], ["find", "--json", "floats", key], ["find", "--json", "floats", "--", key]):
                self.assertEqual(json.loads(self.dump(*command))["row"]["n"], n)
        self.assertEqual(self.ids("t", "--from", "-5", "--to", "4"), [0, 2])
        self.assertEqual(len(self.dump("rows", "floats", "--from", "-inf", "--to", "0").splitlines()), 3)
        self.assertIn("unknown option --inf", self.run_dump("find", "floats", "--inf")[2])


class Count(WordsTest):
    def test_rows(self):
        self.assertEqual(self.dump("count", "t"), f"{NUM_ROWS}\n")
        self.assertEqual(self.dump("count", self.file, "--where", "value >= 100"), f"{NUM_ROWS - 50}\n")
        self.assertEqual(self.dump("count", "parts", "--where", "name is null and x < 1500"), f"{6000 // 5}\n")
        self.assertEqual(self.dump("count", "nested"), "3000\n")
        self.assertEqual(self.dump("count", "nested", "--where", "id < 7"), "7\n")
        self.assertEqual(self.dump("count", self.file, "--distinct", "value"), f"{NUM_ROWS}\n")
        self.assertEqual(json.loads(self.dump("count", "--json", "t", "--where", "id < 8"))["rows"], 4)

    def test_nested_rows_as_the_help_says(self):
        lines = self.dump("rows", "nested", "--tail", "2").splitlines()
        self.assertEqual(self.dump("rows", "nested", "--tail", "2", "--format", "text").splitlines(), lines)
        found = [json.loads(line) for line in self.dump("rows", "nested", "--tail", "2", "--json").splitlines()]
        self.assertEqual(found, [{"schema_version": 1, "ordinal": 2998 + i, "values": json.loads(line)} for i, line in enumerate(lines)])

    def test_explain_keeps_conditions_apart(self):
        where = " or ".join(f"name = 'a long text that has the same beginning {i}'" for i in range(3))
        for width in (60, 100, 300):
            lines = [line.split("  ")[0] for line in self.terminal(width, "explain", "t", "--where", where).splitlines() if line.startswith("name ")]
            self.assertEqual(len(set(lines)), 4, lines)  # three conditions, and the column

    def test_groups(self):
        counts = collections.Counter(row[1] for row in ROWS)
        lines = [line.split("\t") for line in self.dump("count", "parts", "--by", "name").splitlines()]
        self.assertEqual(lines[0], ["name", "rows"])
        self.assertEqual({name: int(rows) for name, rows in lines[1:]}, {name or "null": rows for name, rows in counts.items()})
        self.assertEqual([int(rows) for _, rows in lines[1:]], sorted(counts.values(), reverse=True))
        self.assertEqual(len(self.dump("count", "t", "--by", "name", "--top", "3").splitlines()), 4)
        found = json.loads(self.dump("count", "t", "--by", "name", "--by", "id", "--where", "id < 6", "--json"))
        self.assertEqual([(group["values"], group["rows"]) for group in found["groups"]],
                         [(["name 1", 2], 1), (["name 2", 4], 1), ([None, 0], 1)])
        self.assertEqual(self.terminal(80, "count", "t", "--by", "name", "--top", "1"), f"name  rows\nnull  {counts[None]}\n")

    def test_nan_is_no_key(self):
        (self.folder / "f.csv").write_text("x\n1\n2\n")
        self.make("f.csv", "f", "--type", "x=double", "--sorted-by", "x")
        self.assertEqual(self.run_dump("find", "f", "nan"), (1, "", "cfile-dump: NaN cannot be a key\n"))

    def test_links_stay(self):
        (self.folder / "real.csv").write_text("old")
        (self.folder / "link.csv").symlink_to("real.csv")
        self.assertEqual(self.run_dump("rows", "t", "-n", "1", "-o", "link.csv"), (0, "", ""))
        self.assertTrue((self.folder / "link.csv").is_symlink())
        self.assertEqual((self.folder / "real.csv").read_text(), self.dump("rows", "t", "-n", "1", "--format", "csv"))
        (self.folder / "out").symlink_to("/proc/self/fd/1")  # as /dev/stdout
        with (self.folder / "redirected").open("wb") as file:
            done = subprocess.run([DUMP, "rows", "t", "-n", "1", "--format", "csv", "-o", "out"], cwd=self.folder, stdout=file)
        self.assertEqual(done.returncode, 0)
        self.assertTrue((self.folder / "out").is_symlink())
        self.assertEqual((self.folder / "redirected").read_bytes(), (self.folder / "real.csv").read_bytes())

    def test_distinct(self):
        self.assertEqual(self.dump("count", "t", "--distinct", "name"), "7\n")  # nulls do not count
        self.assertEqual(self.dump("count", "parts", "--distinct", "id", "--where", "id < 1000"), "500\n")
        (self.folder / "null.csv").write_text('s\n"null"\n\na\n')
        self.make("null.csv", "null")
        self.assertEqual(self.dump("count", "null", "--distinct", "s"), "2\n")  # the string null counts

    def test_limits_and_misuse(self):
        code, out, error = self.run_dump("count", "t", "--by", "id", "--memory", "10KiB")
        self.assertEqual((code, out, error), (4, "", "cfile-dump: the different values need more than 10240 bytes: raise --memory\n"))
        self.assertEqual(len(self.dump("count", "t", "--by", "name", "--memory", "1KiB").splitlines()), 9)
        for options, message in ((["--top", "3"], "--top needs --by"), (["--by", "name", "--distinct", "id"], "excludes"),
                                 (["--by", "zzz"], "no column"), (["--where", "zzz = 1"], "no column")):
            code, out, error = self.run_dump("count", "t", *options)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(message, error)
        code, _, error = self.run_dump("count", "nested", "--by", "tags.list.element")
        self.assertEqual(code, 1)
        self.assertIn("is nested", error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
