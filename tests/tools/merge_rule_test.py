"""Runs the tools on tables with a merge rule: merge_rule_test.py CFILE_TABLE CFILE_IMPORT CFILE_DUMP."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TABLE, IMPORT, DUMP = "", "", ""  # paths of the binaries

PARTS = ("1,Oslo,5,false,2024-01-01\n2,Rome,6,false,2024-01-02\n3,Bonn,7,false,2024-01-03\n4,Wien,8,false,2024-01-04\n",
         "2,Rome,60,false,2024-02-02\n3,Bonn,,true,2024-02-03\n5,Kyiv,9,false,2024-02-05\n",
         "7,Bern,1,false,2024-03-01\n")
VISIBLE = ["1\tOslo\t5\tfalse\t2024-01-01", "4\tWien\t8\tfalse\t2024-01-04", "2\tRome\t60\tfalse\t2024-02-02",
           "5\tKyiv\t9\tfalse\t2024-02-05", "7\tBern\t1\tfalse\t2024-03-01"]


class MergeRule(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        for part, rows in enumerate(PARTS):
            self.write("t.csv", rows)
            how = ["--append"] if part else ["--sorted-by", "id", "--merge", "newest", "--deleted-column", "gone", "--time-column", "day"]
            self.succeed("t.csv", "t", "--quiet", *how, tool=IMPORT)

    def write(self, name, rows):
        (self.folder / name).write_text("id,town,count,gone,day\n" + rows)

    def run_tool(self, *arguments, tool=None):
        done = subprocess.run([tool or DUMP, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def succeed(self, *arguments, tool=None):
        code, out, error = self.run_tool(*arguments, tool=tool)
        self.assertEqual((code, error), (0, ""), arguments)
        return out

    def rows(self, *arguments):
        return self.succeed("rows", "t", *arguments).splitlines()[1:]

    def assertNeedsStoredRows(self, *arguments, tool=None):
        code, out, error = self.run_tool(*arguments, tool=tool)
        self.assertEqual((code, out), (1 if arguments[0] != "diff" else 2, ""), arguments)
        self.assertIn("--stored-rows", error)
        return error

    def test_rows(self):
        self.assertEqual(self.rows(), VISIBLE)
        self.assertEqual(self.rows("--threads", "1"), VISIBLE)
        self.assertEqual(len(self.rows("--stored-rows")), 8)
        self.assertEqual(self.rows("-n", "3"), VISIBLE[:3])
        self.assertEqual(self.rows("--tail", "2"), VISIBLE[-2:])
        self.assertEqual(self.rows("--tail", "9"), VISIBLE)
        self.assertEqual(self.rows("--where", "count < 9 and town != 'Bern'"), VISIBLE[:2])
        self.assertEqual(self.rows("--where", "gone"), [])
        self.assertEqual(self.rows("--where", "town = 'Rome'", "--tail", "3"), VISIBLE[2:3])
        self.assertEqual(self.rows("--from", "2", "--to", "5"), VISIBLE[1:3])
        self.assertEqual(self.rows("--part", "0"), VISIBLE[:2])
        self.assertEqual(self.rows("--columns", "town", "-n", "1"), ["Oslo"])
        self.assertEqual(self.succeed("rows", "t", "--column", "id").split(), ["1", "4", "2", "5", "7"])
        for seed in range(5):
            sample = self.rows("--sample", "3", "--seed", str(seed))
            self.assertEqual(len(sample), 3)
            self.assertLessEqual(set(sample), set(VISIBLE))
        self.assertEqual(set(self.rows("--sample", "99")), set(VISIBLE))

    def test_formats(self):
        rows = [json.loads(line) for line in self.succeed("rows", "t", "--json").splitlines()]
        self.assertEqual([row["values"]["id"] for row in rows], [1, 4, 2, 5, 7])
        self.assertNotIn("ordinal", rows[0])
        self.assertEqual(len(self.succeed("rows", "t", "--format", "jsonl").splitlines()), 5)
        self.succeed("rows", "t", "-o", "t.csv.gz")
        self.succeed("t.csv.gz", "copy", "--quiet", tool=IMPORT)
        self.assertEqual(self.succeed("count", "copy"), "5\n")
        code, _, error = self.run_tool("rows", "t", "-o", "t.parquet")
        if code != 4:  # a build without Parquet
            self.assertEqual((code, error), (0, ""))
            self.succeed("t.parquet", "from_parquet", "--quiet", tool=IMPORT)
            self.assertEqual(self.succeed("rows", "from_parquet").splitlines()[1:], VISIBLE)

    def test_nested_rows(self):
        (self.folder / "a.jsonl").write_text('{"id":1,"tags":["a"],"gone":false}\n{"id":2,"tags":["b","c"],"gone":false}\n')
        (self.folder / "b.jsonl").write_text('{"id":1,"tags":["x"],"gone":true}\n{"id":3,"tags":[],"gone":false}\n')
        self.succeed("a.jsonl", "n", "--quiet", "--sorted-by", "id", "--merge", "newest", "--deleted-column", "gone", tool=IMPORT)
        self.succeed("b.jsonl", "n", "--quiet", "--append", tool=IMPORT)
        visible = ['{"id":2,"tags":["b","c"],"gone":false}', '{"id":3,"tags":[],"gone":false}']
        self.assertEqual(self.succeed("rows", "n").splitlines(), visible)
        self.assertEqual(self.succeed("rows", "n", "-n", "1").splitlines(), visible[:1])
        self.assertEqual(self.succeed("find", "n", "3").splitlines()[-1], visible[1])
        self.assertNotIn("ordinal", self.succeed("rows", "n", "--json"))

    def test_row_numbers_are_refused(self):
        self.assertNeedsStoredRows("rows", "t", "--row", "0")
        self.assertNeedsStoredRows("rows", "t", "--ordinal", "1")
        self.assertNeedsStoredRows("rows", "t", "--column", "id", "--part", "0")
        self.assertNeedsStoredRows("find", "t", "2", "--part", "0")
        self.assertNeedsStoredRows("find", "t", "2", "--column", "id")
        self.assertNeedsStoredRows("diff", "t", "t")
        self.assertNeedsStoredRows("rewrite", "t", "part", "--part", "0")
        self.assertEqual(self.rows("--row", "2", "--stored-rows"), ["3\tBonn\t7\tfalse\t2024-01-03"])
        self.assertEqual(self.succeed("rows", "t", "--column", "id", "--part", "1", "--stored-rows").split(), ["2", "3", "5"])
        self.assertEqual(self.succeed("diff", "t", "t", "--stored-rows"), "the values are the same\n")

    def test_count_find_explain(self):
        self.assertEqual(self.succeed("count", "t"), "5\n")
        self.assertEqual(self.succeed("count", "t", "--stored-rows"), "8\n")
        self.assertEqual(self.succeed("count", "t", "--part", "1"), "2\n")
        self.assertEqual(self.succeed("count", "t", "--distinct", "town"), "5\n")
        self.assertEqual(self.succeed("find", "t", "2").split("\n", 2), ["exact    yes", "", self.fields(VISIBLE[2])])
        code, out, _ = self.run_tool("find", "t", "3")  # deleted: the next key is 4
        self.assertEqual((code, out.split("\n", 2)), (1, ["exact    no", "", self.fields(VISIBLE[1])]))
        code, out, _ = self.run_tool("find", "t", "8", "--json")
        self.assertEqual((code, json.loads(out)["end"], json.loads(out)["exact"]), (1, True, False))
        self.assertIn("ordinal  6\n", self.succeed("find", "t", "5", "--stored-rows"))
        self.assertTrue(self.succeed("explain", "t", "--where", "count > 5").startswith("3 of 8 stored rows match\n"))

    def fields(self, row):
        return "".join(f"{name:5}  {value}\n" for name, value in zip(("id", "town", "count", "gone", "day"), row.split("\t")))

    def test_stored_data(self):
        self.assertIn("all valid", self.succeed("verify", "t"))
        for arguments in (["blocks", "t", "--column", "id"], ["index", "t", "--column", "key index"], ["stats", "t", "--column", "id"],
                          ["hexdump", "t", "--column", "id", "--part", "0"], ["whatif", "t", "--column", "town"]):
            self.assertNotEqual(self.succeed(*arguments), "")
        summary = self.succeed("summary", "t")
        self.assertIn("rows   8 stored\n", summary)
        self.assertIn("merge  newest; deleted column gone; time column day\n", summary)
        self.succeed("salvage", "t", "left")
        self.assertEqual(self.succeed("count", "left"), "5\n")

    def test_time_bound(self):
        self.assertEqual(self.succeed("time-bound", "t", "2024-02-01", tool=TABLE), "")
        self.assertEqual(self.rows(), VISIBLE[2:])
        code, _, error = self.run_tool("time-bound", "t", "2024-01-01", tool=TABLE)
        self.assertEqual(code, 1)
        self.assertIn("would bring rows back", error)
        rule = json.loads(self.succeed("summary", "--json", "t"))["merge"]
        self.assertEqual(rule, {"rule": "newest", "deleted_column": "gone", "time_column": "day", "time_bound": "2024-02-01"})
        self.succeed("rewrite", "t", "copy", "--for", "size")
        self.assertIn("merge  newest; deleted column gone; time column day, from 2024-02-01 on\n", self.succeed("summary", "copy"))
        self.assertEqual(self.succeed("rows", "copy").splitlines()[1:], VISIBLE[2:])
        self.succeed("compact", "copy", tool=TABLE)
        self.assertEqual(self.succeed("count", "copy", "--stored-rows"), "3\n")
        self.succeed("rows", "t", "-o", "t.csv")
        self.succeed("t.csv", "other", "--quiet", tool=IMPORT)
        code, _, error = self.run_tool("time-bound", "other", "2024-01-01", tool=TABLE)
        self.assertEqual(code, 1)
        self.assertIn("no merge rule", error)

    def test_nothing_comes_back(self):
        self.assertNeedsStoredRows("drop", "t", "1", tool=TABLE)
        self.succeed("drop", "t", "2", tool=TABLE)
        self.assertEqual(self.rows(), VISIBLE[:4])
        self.succeed("drop", "t", "1", "--stored-rows", tool=TABLE)
        self.assertEqual(len(self.rows()), 4)

    def test_lost_rows(self):
        part = sorted((self.folder / "t").glob("part-*"), key=lambda each: each.stat().st_mtime_ns)[1]
        files = [part] if part.is_file() else [path for path in part.iterdir() if path.suffix != ".cft"]
        for file in files:
            file.write_bytes(file.read_bytes()[:20])
        self.assertNeedsStoredRows("repair", "t", "--drop-damaged", tool=TABLE)
        error = self.assertNeedsStoredRows("salvage", "t", "left")
        self.assertNotIn("-table", error)  # the name of the temporary copy
        self.assertEqual(self.run_tool("salvage", "t", "left", "--stored-rows")[0], 2)
        self.assertEqual(self.succeed("count", "left"), "5\n")

    def test_schema(self):
        schema = self.succeed("summary", "--schema", "t")
        self.assertTrue(schema.endswith("}\nsorted by id\nmerge newest\ndeleted column gone\ntime column day\n"), schema)
        self.assertEqual(self.succeed("rows", "--schema", "t"), schema)
        (self.folder / "t.schema").write_text(schema)
        rows = [dict(zip(("id", "town", "count", "gone", "day"), row.split("\t"))) for row in VISIBLE]
        rows = [{**row, "id": int(row["id"]), "count": int(row["count"]), "gone": row["gone"] == "true"} for row in rows]
        (self.folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.write("t.csv", "".join(PARTS[2:]))
        for source in ("t.csv", "t.jsonl"):
            self.succeed(source, source + ".table", "--quiet", "--schema", "t.schema", tool=IMPORT)
            self.assertEqual(self.succeed("summary", "--schema", source + ".table"), schema)
        (self.folder / "t.schema").write_text(schema.replace("newest", "oldest"))
        code, _, error = self.run_tool("t.csv", "new", "--schema", "t.schema", tool=IMPORT)
        self.assertEqual(code, 1)
        self.assertIn("expected merge newest", error)

    def test_import(self):
        self.write("t.csv", "9,Lund,1,false,2024-01-01\n9,Lund,2,false,2024-01-01\n")
        code, _, error = self.run_tool("t.csv", "t", "--append", tool=IMPORT)
        self.assertEqual(code, 1)
        self.assertIn("the rows of a part must have different keys", error)
        # Also if the rows are sorted in runs.
        many = "".join(f"{9999 - i % 4500},Lund,{i},false,2024-01-01\n" for i in range(9000))
        self.write("t.csv", many)
        code, _, error = self.run_tool("t.csv", "t", "--append", "--memory", "64KiB", tool=IMPORT)
        self.assertEqual(code, 1)
        self.assertIn("the rows of a part must have different keys", error)
        self.write("t.csv", "1,Lund,1,false,2024-01-01\n")
        for arguments in (["--merge", "newest"], ["--sorted-by", "id", "--deleted-column", "gone"],
                          ["--sorted-by", "id", "--merge", "newest", "--deleted-column", "missing"],
                          ["--sorted-by", "id", "--merge", "newest", "--deleted-column", "town"]):
            self.assertEqual(self.run_tool("t.csv", "new", *arguments, tool=IMPORT)[0], 1, arguments)
        self.write("t.csv", "1,Lund,1,true,2024-01-01\n8,Lund,1,false,2024-01-01\n")
        self.succeed("t.csv", "t", "--quiet", "--append", "--evolve", tool=IMPORT)
        self.assertEqual([row.split("\t")[0] for row in self.rows()], ["4", "2", "5", "7", "8"])


if __name__ == "__main__":
    TABLE, IMPORT, DUMP = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
