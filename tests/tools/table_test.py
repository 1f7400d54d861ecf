"""Runs cfile-table as its users do: table_test.py CFILE_TABLE CFILE_IMPORT CFILE_DUMP."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

TABLE, IMPORT, DUMP = "", "", ""  # paths of the binaries


class Table(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        for part, ids in enumerate([(1, 4, 7), (2, 5, 8), (3, 6, 9)]):
            (self.folder / "t.csv").write_text("id,name\n" + "".join(f"{i},name {i}\n" for i in ids))
            subprocess.run([IMPORT, "t.csv", "t", "--quiet", *(["--append"] if part else ["--sorted-by", "id"])],
                           cwd=self.folder, check=True, timeout=60)

    def run_tool(self, *arguments, tool=None):
        done = subprocess.run([tool or TABLE, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def succeed(self, *arguments, tool=None):
        code, out, error = self.run_tool(*arguments, tool=tool)
        self.assertEqual((code, error), (0, ""))
        return out

    def unpack(self):
        """Gives each column of table t a file of its own."""
        self.succeed("rewrite", "t", "t", "--force", "--pack-below", "0", tool=DUMP)

    def parts(self):
        return json.loads(self.succeed("parts", "--json", "t"))["parts"]

    def ids(self):
        rows = self.succeed("rows", "t", "--columns", "id", tool=DUMP).splitlines()[1:]
        return [int(row) for row in rows]

    def test_parts(self):
        parts = self.parts()
        self.assertEqual([(part["first_ordinal"], part["rows"]) for part in parts], [(0, 3), (3, 3), (6, 3)])
        lines = self.succeed("parts", "t").splitlines()
        self.assertEqual(len(lines), 4)
        for part, line in zip(parts, lines[1:]):
            self.assertEqual(line.split(), [part["part"], str(part["first_ordinal"]), "3", str(part["bytes"])])

    def test_compact_and_gc(self):
        self.assertEqual(self.ids(), [1, 4, 7, 2, 5, 8, 3, 6, 9])
        first, second, third = (part["part"] for part in self.parts())
        code, _, error = self.run_tool("compact", "t", first, third)
        self.assertEqual(code, 1)
        self.assertIn(f"part {second} is between the parts {first} and {third}", error)
        self.assertRegex(
            self.succeed("compact", "t", first, second),
            r"^merged 6 rows: 0 blocks copied \(0 bytes\), \d blocks encoded again\n$",
        )
        self.assertEqual(self.ids(), [1, 2, 4, 5, 7, 8, 3, 6, 9])
        self.assertIn("merged 9 rows: ", self.succeed("compact", "t"))
        self.assertEqual(self.ids(), list(range(1, 10)))
        self.assertEqual(len(self.parts()), 1)
        self.assertIn("removed 0 items, 0 bytes", self.succeed("gc", "t"))
        self.assertRegex(self.succeed("gc", "--older-than", "0", "t").splitlines()[-1], r"^removed 4 items, \d+ bytes$")
        self.assertEqual(self.ids(), list(range(1, 10)))
        self.succeed("verify", "t", tool=DUMP)
        subprocess.run([IMPORT, "t.csv", "t", "--quiet", "--append"], cwd=self.folder, check=True, timeout=60)
        self.assertEqual(len(self.ids()), 12)
        self.assertIn("merged 9 rows: ", self.succeed("compact", "--newest", "t"))
        self.assertEqual(self.ids(), list(range(1, 10)))

    def files(self):
        """The files with columns, in the order of the parts."""
        folders = [self.folder / "t" / part["part"] for part in self.parts()]
        return [sorted(path.name for path in folder.iterdir() if path.suffix != ".cft") for folder in folders]

    def test_compact_and_drop_below_choose_the_packing(self):
        packed, loose = ["columns.packed"], ["0000-id.cfile", "0001-name.cfile"]
        self.assertEqual(self.files(), [packed] * 3)
        self.assertIn("merged 0 rows: ", self.succeed("compact", "t", "2"))
        self.assertIn("merged 3 rows: ", self.succeed("compact", "t", "2", "--pack-below", "0"))
        self.assertEqual(self.files(), [packed, packed, loose])
        self.assertIn("merged 0 rows: ", self.succeed("compact", "t", "2", "--pack-below", "0"))
        self.succeed("drop-below", "t", "2", "--pack-below", "1")
        self.assertEqual(self.files(), [loose, packed, loose])
        self.succeed("drop-below", "t", "3")
        self.assertEqual(self.files(), [loose, packed, loose])
        self.succeed("compact", "t", "--pack-below", "0")
        self.assertEqual(self.files(), [loose])
        self.succeed("drop-below", "t", "4")
        self.assertEqual(self.files(), [packed])
        self.assertIn("merged 6 rows: ", self.succeed("compact", "t", "--pack-below", "0"))
        self.assertEqual(self.files(), [loose])
        self.assertEqual(self.ids(), list(range(4, 10)))

    def test_raise(self):
        old = [IMPORT, "t.csv", "old", "--quiet", "--oldest-reader", "0.1"]
        subprocess.run(old, cwd=self.folder, check=True, timeout=60)
        subprocess.run([IMPORT, "t.csv", "old", "--quiet", "--append"], cwd=self.folder, check=True, timeout=60)
        code, _, error = self.run_tool("t.csv", "old", "--append", "--oldest-reader", "0.2", tool=IMPORT)
        self.assertEqual(code, 1)
        self.assertIn("its files cannot be for 0.2. RaiseOldestReader (cfile-table raise)", error)
        self.assertEqual(json.loads(self.succeed("raise", "--json", "old", "0.2"))["before"], "0.1")
        self.assertIn("is 0.2 already", self.succeed("raise", "old", "0.2"))
        code, _, error = self.run_tool("raise", "old", "0.1")
        self.assertEqual(code, 1)
        self.assertIn("write its rows into a new table", error)
        self.assertEqual(self.run_tool("raise", "old", "0.7")[0], 1)
        self.succeed("rewrite", "old", "again", "--oldest-reader", "0.1", tool=DUMP)
        self.assertIn("is now 0.2", self.succeed("raise", "again", "0.2"))

    def test_drop(self):
        names = [part["part"] for part in self.parts()]
        line = rf"{names[1]} +3 rows\n"
        self.assertRegex(self.succeed("drop", "--dry-run", "t", names[1][:12]), f"^{line}would remove 3 of 9 rows\n$")
        self.assertEqual(len(self.ids()), 9)
        self.assertRegex(self.succeed("drop", "t", names[1][:12]), f"^{line}removed 3 of 9 rows\n$")
        self.assertEqual(self.ids(), [1, 4, 7, 3, 6, 9])
        code, _, error = self.run_tool("drop", "t", names[1])
        self.assertEqual(code, 1)
        self.assertIn(names[1], error)
        self.assertEqual(self.run_tool("drop", "--dry-run", "t", "0")[0], 0)  # by number
        self.assertIn("did you mean drop?", self.run_tool("drp", "t")[2])
        code, out, error = self.run_tool("drop", "t", "part-")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("the names of 2 parts begin with part-", error)
        code, out, error = self.run_tool("drop", "t", names[0], names[2])
        self.assertEqual((code, out), (1, ""))
        self.assertIn("these are all 6 rows of the table; --all removes them", error)
        self.assertEqual(self.ids(), [1, 4, 7, 3, 6, 9])
        self.assertIn("would remove 6 of 6 rows", self.succeed("drop", "--all", "--dry-run", "t"))
        self.assertIn("removed 6 of 6 rows", self.succeed("drop", "--all", "t"))
        self.assertEqual(self.ids(), [])

    def test_drop_below(self):
        names = [part["part"] for part in self.parts()]
        lines = "".join(rf"{name} +{rows} rows\n" for name, rows in zip(names, (2, 1, 1)))
        self.assertRegex(self.succeed("drop-below", "--dry-run", "t", "5"), f"^{lines}would remove 4 of 9 rows\n$")
        self.assertEqual(len(self.ids()), 9)
        self.assertRegex(self.succeed("drop-below", "t", "5"), f"^{lines}removed 4 of 9 rows\n$")
        self.assertEqual(self.ids(), [5, 6, 7, 8, 9])
        code, out, error = self.run_tool("drop-below", "t", "10")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("these are all 5 rows of the table; --all removes them", error)
        self.assertEqual(self.succeed("drop-below", "t", "0"), "removed 0 of 5 rows\n")
        code, _, error = self.run_tool("drop-below", "t", "x")
        self.assertEqual(code, 1)
        self.assertIn("x", error)
        self.assertEqual(self.run_tool("drop-below", "t", "5", "6")[0], 1)
        subprocess.run([IMPORT, "t.csv", "by_two", "--quiet", "--sorted-by", "name", "--sorted-by", "id"],
                       cwd=self.folder, check=True, timeout=60)
        self.assertRegex(self.succeed("drop-below", "by_two", "name 6", "6"), "\nremoved 1 of 3 rows\n$")
        rows = self.succeed("rows", "by_two", "--columns", "id", tool=DUMP).splitlines()[1:]
        self.assertEqual(rows, ["6", "9"])
        (self.folder / "nulls.csv").write_text("id\n3\n\n1\n")
        subprocess.run([IMPORT, "nulls.csv", "nulls", "--quiet", "--sorted-by", "id", "--nulls", "last"],
                       cwd=self.folder, check=True, timeout=60)
        for key, left in (("2", ["3", "null"]), ("null", ["null"])):
            self.assertRegex(self.succeed("drop-below", "nulls", key), "\nremoved 1 of . rows\n$")
            self.assertEqual(self.succeed("rows", "nulls", tool=DUMP).splitlines()[1:], left)
        subprocess.run([IMPORT, "t.csv", "unsorted", "--quiet"], cwd=self.folder, check=True, timeout=60)
        code, _, error = self.run_tool("drop-below", "unsorted", "5")
        self.assertEqual(code, 1)
        self.assertIn("the table is not sorted by a column", error)

    def test_repair(self):
        self.unpack()
        table, ids = self.folder / "t", self.ids()
        self.assertEqual(self.succeed("repair", "t"), "nothing to repair: 3 parts, 9 rows, 0 lost\n")
        dropped, names = self.parts()[1]["part"], [part["part"] for part in self.parts()]
        self.succeed("drop", "t", dropped)
        (table / "table.cft").write_bytes(b"?" * 100)
        code, out, error = self.run_tool("repair", "--dry-run", "t")
        self.assertEqual((code, error), (2, ""))
        self.assertIn("would be repaired: 2 parts, 6 rows, 0 lost\n", out)
        self.assertEqual((table / "table.cft").read_bytes(), b"?" * 100)
        out = self.succeed("repair", "t")
        self.assertRegex(out, r"^damaged: t/table.cft: this is not the file of a table")
        self.assertRegex(out, rf"{dropped} +dropped +3 rows, 0 lost: ")
        kept = out.splitlines()[-2].removeprefix("the damaged table.cft is now ")
        self.assertEqual((table / kept).read_bytes(), b"?" * 100)
        self.assertEqual(self.ids(), ids[:3] + ids[6:])
        column = table / names[2] / "0001-name.cfile"
        column.write_bytes(column.read_bytes()[:-50])
        # The part stays until an option says otherwise. Dry runs say what real runs say.
        code, out, error = self.run_tool("repair", "--dry-run", "t")
        self.assertEqual((code, error), (2, ""))
        self.assertRegex(out, rf"{names[2]} +damaged +3 rows, not all readable: ")
        self.assertTrue(out.endswith("--salvage recovers what can be read of the damaged parts\n"
                                     "not repaired: 2 parts, 6 rows, not all readable, 0 lost\n"))
        self.assertEqual(self.run_tool("repair", "t"), (code, out, error))
        dry = self.run_tool("repair", "--dry-run", "--drop-damaged", "t")
        code, out, error = self.run_tool("repair", "--drop-damaged", "t")
        self.assertRegex(out, rf"{names[2]} +left out +3 rows, 3 lost: ")
        summary = "--force brings back parts that were left out, until gc removes them\nrepaired: 1 part, 3 rows, 3 lost\n"
        self.assertTrue(out.endswith(summary))
        self.assertEqual(dry, (2, out.replace("repaired", "would be repaired"), ""))
        # It stays listed.
        code, out, error = self.run_tool("repair", "--salvage", "t")
        self.assertRegex(out, rf"{names[2]} +left out +3 rows, 3 lost: ")
        self.assertTrue(out.endswith(summary.replace("repaired", "nothing to repair")))
        self.assertEqual(self.run_tool("repair", "--force", "t")[0], 2)
        self.assertEqual([part["part"] for part in self.parts()], [names[0], names[2]])
        dry = self.run_tool("repair", "--dry-run", "--salvage", "t")
        self.assertRegex(dry[1], rf"{names[2]} +salvaged +3 rows, 0 lost: ")
        # Only the footer is lost, so all rows can be recovered.
        code, out, error = self.run_tool("repair", "--salvage", "t")
        self.assertEqual((code, error), (2, ""))
        self.assertEqual(dry, (2, out.replace("repaired", "would be repaired"), ""))
        self.assertEqual(self.ids(), ids[:3] + ids[6:])
        self.succeed("verify", "t", tool=DUMP)
        code, _, error = self.run_tool("repair", "none")
        self.assertEqual(code, 3)
        self.assertIn("none/table.cft", error)

    def test_repair_keeps_rows_with_lost_values(self):
        self.unpack()
        names = [part["part"] for part in self.parts()]
        (self.folder / "t" / names[1] / "0001-name.cfile").unlink()
        out = self.run_tool("repair", "--salvage", "t")[1]
        self.assertTrue(out.endswith("no row of the damaged parts is whole; --null-lost makes lost values of nullable columns null; "
                                     "--drop-damaged leaves the parts out\nnot repaired: 3 parts, 9 rows, not all readable, 0 lost\n"))
        code, out, _ = self.run_tool("repair", "--salvage", "--null-lost", "--json", "t")
        part = json.loads(out)["parts"][1]
        self.assertEqual((code, part["state"], part["lost_rows"], part["lost_values"]),
                         (2, "salvaged", 0, [{"column": "name", "values": 3}]))
        rows = self.succeed("rows", "t", tool=DUMP).splitlines()[4:7]
        self.assertEqual([row.split("\t") for row in rows], [[i, "null"] for i in "258"])
        self.assertIn("--null-lost needs --salvage", self.run_tool("repair", "--null-lost", "t")[2])

    def test_repair_of_packed_parts(self):
        ids, names = self.ids(), [part["part"] for part in self.parts()]
        torn, damaged = (self.folder / "t" / name / "columns.packed" for name in names[:2])
        torn.write_bytes(torn.read_bytes()[:-10])  # of the directory
        content = bytearray(damaged.read_bytes())
        [column] = [at for at in range(64, len(content), 64) if content[at:at + 8] == b"kuducfl2"]
        blocks = json.loads(self.succeed("blocks", "--json", f"t/{names[1]}/columns.packed/0001-name.cfile", tool=DUMP))["blocks"]
        content[column + blocks[0]["offset"]] ^= 1
        damaged.write_bytes(content)
        code, out, error = self.run_tool("repair", "t")
        self.assertEqual((code, error), (2, ""))
        self.assertRegex(out, rf"{names[0]} +damaged +3 rows, not all readable: t/{names[0]}/columns\.packed: .*expected")
        self.assertRegex(out, rf"{names[1]} +damaged +3 rows, not all readable: t/{names[1]}/columns\.packed/0001-name\.cfile: ")
        self.assertRegex(out, r"\nnot repaired: 3 parts, 9 rows, not all readable, 0 lost\n$")
        dry = self.run_tool("repair", "--dry-run", "--salvage", "t")
        code, out, error = self.run_tool("repair", "--salvage", "t")
        self.assertEqual(dry, (code, out.replace("repaired: ", "would be repaired: "), error))
        self.assertRegex(out, rf"{names[0]} +salvaged +3 rows, 0 lost: ")
        self.assertRegex(out, rf"{names[1]} +damaged +3 rows, not all readable: ")
        code, out, error = self.run_tool("repair", "--salvage", "--null-lost", "t")
        self.assertRegex(out, rf"{names[1]} +salvaged +3 rows, 0 lost: .*\n  name: 3 lost values are null\n")
        self.assertEqual(self.files(), [["columns.packed"]] * 3)
        self.assertEqual(self.ids(), ids)
        names = [row.split("\t")[1] for row in self.succeed("rows", "t", tool=DUMP).splitlines()[1:]]
        self.assertEqual(names, [f"name {i}" for i in ids[:3]] + ["null"] * 3 + [f"name {i}" for i in ids[6:]])
        self.succeed("verify", "t", tool=DUMP)

    def test_verify_reads_the_copies(self):
        """repair needs the copies of the descriptions of parts, and writes them again."""
        part = self.parts()[1]["part"]
        for missing in (False, True):
            copy = next((self.folder / "t" / part).glob("part-*.cft"))
            copy.unlink() if missing else copy.write_bytes(copy.read_bytes()[:-1])
            code, out, error = self.run_tool("verify", "t", tool=DUMP)
            self.assertEqual((code, error), (2, ""))
            self.assertIn(f"t/{part}: {'MISSING' if missing else 'DAMAGED'}\n", out)
            code, out, error = self.run_tool("repair", "--dry-run", "t")
            self.assertEqual(code, 2)
            self.assertRegex(out, rf"^damaged: t/{part}.*\nwould be repaired: 3 parts, 9 rows, 0 lost\n$")
            self.assertEqual(self.succeed("repair", "t"), out.replace("would be ", ""))
            self.succeed("verify", "t", tool=DUMP)

    def test_drop_below_a_date(self):
        for column, values in (("day", ["2013-05-31", "2013-06-01", "2013-06-02"]),
                               ("time", ["2013-05-31T23:59:59Z", "2013-06-01T00:00:00Z", "2013-06-01T00:00:01Z"])):
            (self.folder / "dates.csv").write_text("\n".join([column, *values]) + "\n")
            subprocess.run([IMPORT, "dates.csv", column, "--quiet", "--sorted-by", column], cwd=self.folder, check=True, timeout=60)
            self.assertRegex(self.succeed("drop-below", column, "2013-06-01"), "\nremoved 1 of 3 rows\n$")

    def test_large_blocks_need_no_option(self):
        (self.folder / "big.csv").write_text("k,s\n" + "".join(f"{k},{'x' * (17 << 20)}\n" for k in (1, 2)))
        for append in ([], ["--append"]):
            arguments = [IMPORT, "big.csv", "big", "--quiet", "--max-block-size", "64MiB", "--encoding", "s=plain", "--compression", "none"]
            subprocess.run([*arguments, *(append or ["--sorted-by", "k"])], cwd=self.folder, check=True, timeout=60)
        self.assertIn("merged 4 rows", self.succeed("compact", "big"))
        self.assertIn("removed 2 of 4 rows", self.succeed("drop-below", "big", "2"))
        self.assertEqual(self.succeed("repair", "big"), "nothing to repair: 1 part, 2 rows, 0 lost\n")

    def test_clears_an_unfinished_table(self):
        """A killed first import leaves files, which gc removes."""
        (self.folder / "big.csv").write_text("a,b\n" + "2,some text\n1,some text\n" * 200_000)
        arguments = [IMPORT, "big.csv", "new", "--quiet", "--sorted-by", "a", "--memory", "4MiB"]
        process = subprocess.Popen(arguments, cwd=self.folder)
        while process.poll() is None and not list(self.folder.glob("new/temporary-*/0/table.cft")):
            pass
        process.kill()
        self.assertEqual(process.wait(timeout=60), -signal.SIGKILL)
        self.assertTrue(list(self.folder.glob("new/part-*/.*.cfile-tmp")))
        dry = self.succeed("gc", "--older-than", "0", "--dry-run", "new")
        self.assertRegex(dry, r"(?s)^part-.*\ntemporary-.*\nwould remove 2 items, \d+ bytes\n$")
        self.assertEqual(self.succeed("gc", "--older-than", "0", "new"), dry.replace("would remove", "removed"))
        self.assertEqual(list((self.folder / "new").iterdir()), [])

    def test_json(self):
        def result(*arguments, code=0):
            done, out, error = self.run_tool(*arguments, "--json", "t")
            self.assertEqual((done, error), (code, ""))
            document = json.loads(out)
            self.assertEqual((document["schema_version"], document["path"]), (1, "t"))
            return document

        names = [part["part"] for part in self.parts()]
        compact = result("compact")
        self.assertEqual((compact["rows"], compact["copied_blocks"], compact["copied_bytes"]), (9, 0, 0))
        self.assertGreater(compact["recoded_blocks"], 0)
        would = result("gc", "--older-than", "0", "--dry-run")
        garbage = result("gc", "--older-than", "0")
        self.assertEqual(would, {**garbage, "dry_run": True})
        self.assertTrue(set(names) <= {item["name"] for item in garbage["removed"]})
        self.assertEqual(garbage["bytes"], sum(item["bytes"] for item in garbage["removed"]))
        drop = result("drop", "--all", "--dry-run")
        self.assertEqual((drop["dry_run"], drop["rows"], [part["rows"] for part in drop["removed"]]), (True, 9, [9]))
        repair = result("repair")
        self.assertEqual((repair["changed"], repair["complete"], repair["damage"], repair["kept_as"]), (False, True, None, None))
        self.assertEqual((repair["rows"], repair["lost_rows"], repair["num_parts"]), (9, 0, 1))
        self.unpack()
        column = next((self.folder / "t").glob("part-*/0001-name.cfile"))
        column.write_bytes(column.read_bytes()[:-50])
        repair = result("repair", "--dry-run", code=2)
        self.assertEqual((repair["dry_run"], repair["changed"], repair["complete"], repair["lost_rows"]), (True, False, False, 0))
        part, = repair["parts"]
        self.assertEqual((part["part"], part["state"], part["rows"], part["lost_rows"]), (column.parent.name, "damaged", 9, 0))
        self.assertIn("0001-name.cfile", part["reason"])

    def test_repair_steers_no_terminal(self):
        self.unpack()
        evil = "t\x1b[31m\x07"
        (self.folder / "t").rename(self.folder / evil)
        (self.folder / evil / "table.cft").write_bytes(b"?" * 100)
        column = next((self.folder / evil).glob("part-*/0001-name.cfile"))
        column.write_bytes(column.read_bytes()[:-50])
        code, out, error = self.run_tool("repair", evil)
        self.assertEqual((code, error), (2, ""))
        self.assertRegex(out, "^damaged: ")
        self.assertRegex(out, "(?m)^part-.* damaged ")
        self.assertNotRegex(out, "[^ -~\n]")

    def test_parts_fit_the_terminal(self):
        for width in (60, 80):
            done = subprocess.run([TABLE, "parts", "t"], cwd=self.folder, capture_output=True, text=True, timeout=60, check=True,
                                  env=dict(os.environ, COLUMNS=str(width)))
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), width)
            self.assertEqual(done.stdout.splitlines()[0].split(), ["part", "first", "row", "rows", "bytes"])

    def test_wrong_use(self):
        for arguments in ([], ["parts"], ["drop", "t"], ["gc", "--older-than", "-1", "t"], ["melt", "t"]):
            code, out, error = self.run_tool(*arguments)
            self.assertEqual((code, out), (1, ""), arguments)
            self.assertRegex(error, r"^cfile-table: .*\nSee cfile-table --help\n$")
        code, _, error = self.run_tool("parts", "missing")
        self.assertEqual(code, 3)
        self.assertRegex(error, r"^cfile-table: .*missing.*\n$")
        self.assertIn("cfile-table compact flights", self.succeed("--help"))
        self.assertRegex(self.succeed("--version"), r"^cfile-table \d")


if __name__ == "__main__":
    TABLE, IMPORT, DUMP = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
