"""Imports JSON Lines and JSON arrays with the options of CSV: import_json_test.py CFILE_IMPORT CFILE_DUMP.

Sorting, nulls in sort columns, types, formats of dates, dates that are found, and why a column has its type. Also the options
--bloom and --format-version, with CSV and with JSON."""

import json
import os
import random
import shutil
import sys
import unittest

import import_test
from import_test import ImportTest


class JsonTest(ImportTest):
    def import_json(self, records, *options, name="r.jsonl"):
        """Imports records, or a text, into a new table t. Returns the summary."""
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        return self.add_json(records, *options, name=name)

    def add_json(self, records, *options, name="r.jsonl"):
        lines = records if isinstance(records, str) else "".join(json.dumps(record) + "\n" for record in records)
        self.write(lines, name)
        done = self.run_tool(import_test.IMPORT, name, "t", "--json", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return json.loads(done.stdout)

    def records(self):
        done = self.run_tool(import_test.DUMP, "rows", "--format", "jsonl", "t")
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        self.assertEqual(self.run_tool(import_test.DUMP, "verify", "t").returncode, 0)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refuse(self, records, message, *options):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        self.write(lines, "bad.jsonl")
        before = sorted(self.folder.iterdir())
        done = self.run_tool(import_test.IMPORT, "bad.jsonl", "bad", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (1, f"cfile-import: {message}\n"))
        self.assertEqual(sorted(self.folder.iterdir()), before)


def without_nulls(record):
    return {key: value for key, value in record.items() if value is not None}


class Sorting(JsonTest):
    def make_records(self, count, nulls):
        generator = random.Random(11)
        key = lambda: None if nulls and generator.random() < 0.2 else generator.randrange(count)
        return [{"k": key(), "g": {"s": generator.choice("abc")}, "l": [{"x": i, "y": None}] * (i % 3), "i": i} for i in range(count)]

    def test_orders(self):
        by_key = lambda record, last=True: ((record["k"] is None) == last, record["k"] or 0)
        for nulls in (False, True):
            records = self.make_records(3000, nulls)
            for columns, options, order in [
                    (["k"], [], by_key), (["k"], ["--nulls", "first"], lambda record: by_key(record, False)),
                    (["g.s", "k"], ["--nulls", "last"], lambda record: (record["g"]["s"], by_key(record)))]:
                for memory in ("64KiB", "1GiB"):
                    for name, text in (("r.jsonl", records), ("r.json", json.dumps(records, indent=1))):
                        with self.subTest(nulls=nulls, columns=columns, options=options, memory=memory, name=name):
                            sort = [word for column in columns for word in ("--sorted-by", column)]
                            summary = self.import_json(text, *sort, *options, "--memory", memory, name=name)
                            self.assertEqual((summary["sorted_by"], summary["reordered"]), (columns, True))
                            expected = [without_nulls(record) | {"l": [{"x": each["x"]} for each in record["l"]]}
                                        for record in sorted(records, key=order)]
                            self.assertEqual(self.records(), expected)
            found = json.loads(self.run_tool(import_test.DUMP, "find", "t", "b", "--json").stdout)
            self.assertEqual((found["ordinal"], found["exact"]), (sum(record["g"]["s"] == "a" for record in records), True))

    def test_in_order_already(self):
        self.assertFalse(self.import_json([{"k": 1}, {"k": 1}, {"k": 2}, {"k": None}], "--sorted-by", "k")["reordered"])
        self.assertEqual(self.records(), [{"k": 1}, {"k": 1}, {"k": 2}, {}])
        summary = self.run_tool(import_test.IMPORT, "r.jsonl", "u", "--sorted-by", "k").stdout.decode()
        self.assertIn("\nu: 4 records, 1 column, sorted by k (nulls last)\n", summary)

    def test_append(self):
        self.import_json([{"k": 2, "v": "b"}, {"v": "a"}], "--sorted-by", "k", "--nulls", "first")
        self.add_json([{"k": 5, "v": "c"}, {"k": None, "v": "d"}, {"k": 1, "v": "e"}], "--append")
        self.assertEqual([record["v"] for record in self.records()], list("abdec"))
        self.refuse([{"k": 1, "v": "x"}], "--nulls requires --sorted-by\nSee cfile-import --help", "--nulls", "first")

    def test_schema(self):
        self.write("message r { optional int64 k; required int64 v; }", "s")
        self.import_json([{"k": 2, "v": 1}, {"v": 2}, {"k": 1, "v": 3}], "--schema", "s", "--sorted-by", "k", "--nulls", "first")
        self.assertEqual([record["v"] for record in self.records()], [2, 3, 1])

    def test_errors(self):
        records = [{"k": 2, "l": [1], "d": 1.5}, {"k": None, "l": [], "d": 0.5}]
        self.refuse(records, "bad.jsonl:2: k: int64 expected, found null", "--sorted-by", "k", "--not-null", "k")
        self.refuse(records, "--sorted-by l.list.element: a column in a list or in several optional groups cannot sort rows",
                    "--sorted-by", "l.list.element")
        self.refuse(records, "--sorted-by x: bad.jsonl has no column of that name", "--sorted-by", "x")


class Types(JsonTest):
    def types(self, records, *options):
        return {column["name"]: (column["type"], column["type_reason"]) for column in self.import_json(records, *options)["columns"]}

    def test_found_dates(self):
        day, local, zoned = "2024-01-31", "2024-01-31T10:00:00", "2024-01-31T10:00:00Z"
        for values, expected, reason in [
                ([day, None, day], "date", "all values"), ([zoned, zoned], "timestamp(us,UTC)", "all values"),
                ([local, local], "timestamp(us)", "all values"), ([zoned, day], "timestamp(us,UTC)", "all values"),
                ([day, zoned], "timestamp(us,UTC)", f'line 2 has "{zoned}"'),
                ([zoned, "2024-01-31T10:00:00.123456789Z"], "timestamp(ns,UTC)", 'line 2 has "2024-01-31T10:00:00.123456789Z"'),
                ([day, "2024-02-30"], "string", 'line 2 has "2024-02-30"'), ([day, local, zoned], "string", f'line 3 has "{zoned}"'),
                ([day, ""], "string", 'line 2 has ""'), (["12", "13"], "string", 'line 1 has "12"'),
                (["true"], "string", 'line 1 has "true"'),
                ([None, None], "string", "no values"), ([1, 2], "int64", "all values"), ([1, 2.5, 3.5], "double", 'line 2 has "2.5"'),
                ([1, 2**63], "uint64", 'line 2 has "9223372036854775808"'), ([True], "bool", "all values")]:
            with self.subTest(values=values):
                self.assertEqual(self.types([{"v": value, "i": 1} for value in values])["v"], (expected, reason))
        self.import_json([{"l": [{"d": day}], "t": "2024-01-31T10:00:00+02:00"}])
        self.assertEqual(self.records(), [{"l": [{"d": day}], "t": "2024-01-31T08:00:00Z"}])
        self.assertEqual(self.types([{"t": local}], "--oldest-reader", "kudu")["t"][0], "timestamp(us,UTC)")

    def test_reasons_are_printed(self):
        self.write('{"d":"2024-01-31"}\n\n{"d":"n/a"}\n', "r.jsonl")
        done = self.run_tool(import_test.IMPORT, "r.jsonl", "t")
        self.assertIn('\n\ncolumn d: string, because line 3 has "n/a"\n', done.stdout.decode())

    def test_given_types(self):
        records = [{"a": 1, "b": "2024-01-31", "g": {"d": "31.01.2024"}, "t": 1706659200, "l": ["5"], "m": 1},
                   {"a": 2, "b": "", "g": {"d": "1.2.2024"}, "t": "1706659201", "l": [6], "m": True},
                   {"a": 3, "b": "c", "g": {"d": "02.02.2024"}, "t": 1706659202, "l": [], "m": "x"}]
        options = {"a": "int8", "b": "string", "g.d": "date(%d.%m.%Y)", "t": "timestamp(s,UTC;%s)", "l.list.element": "int16",
                   "m": "string"}
        words = [word for name, kind in options.items() for word in ("--type", f"{name}={kind}")]
        types = self.types(records, *words)
        self.assertEqual(types, {name: (kind.split(";")[0] + ")" if ";" in kind else kind.split("(%")[0], "--type")
                                 for name, kind in options.items()})
        expected = [{"a": 1, "b": "2024-01-31", "g": {"d": "2024-01-31"}, "t": "2024-01-31T00:00:00Z", "l": [5], "m": "1"},
                    {"a": 2, "b": "", "g": {"d": "2024-02-01"}, "t": "2024-01-31T00:00:01Z", "l": [6], "m": "true"},
                    {"a": 3, "b": "c", "g": {"d": "2024-02-02"}, "t": "2024-01-31T00:00:02Z", "l": [], "m": "x"}]
        self.assertEqual(self.records(), expected)
        # A new part may have another format.
        records[0]["g"]["d"] = records[1]["g"]["d"] = records[2]["g"]["d"] = "01/02/24"
        self.add_json(records, "--append", "--type", "g.d=date(%m/%d/%y)", "--type", "t=timestamp(s,UTC;%s)", "--type", "m=string")
        self.assertEqual([record["g"]["d"] for record in self.records()][3:], ["2024-01-02"] * 3)
        done = self.run_tool(import_test.IMPORT, "r.jsonl", "t", "--append", "--type", "a=int64")
        self.assertEqual(done.stderr.decode(), "cfile-import: --type a=int64: the table t has the type int8\n")

    def test_wrong_values(self):
        self.refuse([{"a": 1}, {"a": 200}], 'bad.jsonl:2: a: "200" is not of type int8: it is outside -128 to 127', "--type", "a=int8")
        self.refuse([{"a": "1.2.2024"}, {"a": "2024-01-02"}],
                    'bad.jsonl:2: a: "2024-01-02" is not of type date: expected the form %d.%m.%Y', "--type", "a=date(%d.%m.%Y)")
        self.refuse([{"a": True}, {"a": 1}], "bad.jsonl:2: a: integers here and true or false in line 1, which no type holds; "
                    "--type or --schema says which type to use")
        self.refuse([{"a": {"b": 1}}], "--type a: bad.jsonl has no column of that name", "--type", "a=int8")

    def import_text(self, text, *options):
        (self.folder / "r.json").write_text(text)
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        done = self.run_tool(import_test.IMPORT, "r.json", "t", "--json", *options)
        error = done.stderr.decode().removeprefix("cfile-import: ").rstrip()
        self.assertEqual((self.folder / "t").exists(), not error)
        return error or json.loads(done.stdout)["skipped"]

    def test_numbers_that_are_not_finite(self):
        text = '{"a":"nan","i":7,"s":"nan"}\n{"a":1.5,"i":"-inf","s":"x"}\n{"a":"inf","i":9007199254740992,"s":"inf"}\n{"i":"nan"}\n'
        self.import_text(text)
        done = self.run_tool(import_test.DUMP, "rows", "t", "--format", "jsonl")
        lines = done.stdout.decode()
        self.assertIn('{"a":1.5,"i":"-inf","s":"x"}\n', lines)
        self.assertEqual([json.loads(line) for line in lines.splitlines()], [json.loads(line) for line in text.splitlines()])
        self.import_text(lines)
        self.assertEqual(self.run_tool(import_test.DUMP, "rows", "t", "--format", "jsonl").stdout.decode(), lines)
        self.import_text('{"a":"nan"}\n')
        self.assertEqual(self.records(), [{"a": "nan"}])
        for wrong, said in (('{"a":"nan"}\n{"a":"x"}\n{"a":1}\n', "integers here and strings in line 2"),
                            ('{"a":"nan"}\n{"a":true}\n', "true or false here and nan or inf in line 1"),
                            ('{"a":"nan"}\n{"a":9007199254740993}\n', "an integer above 2^53")):
            self.assertIn(said, self.import_text(wrong))

    def test_json_text(self):
        text = '{"a":1,"b":{"x":[1, 2]}}\n{"a":"t","b":7}\n{"a":[true],"b":[]}\n{"a":null}\n'
        self.import_text(text, "--type", "a=json", "--type", "b=json")
        self.assertEqual(self.records(), [{"a": "1", "b": '{"x":[1, 2]}'}, {"a": '"t"', "b": "7"}, {"a": "[true]", "b": "[]"}, {}])
        self.assertIn("a: strings here and integers in line 1, which no type holds", self.import_text(text, "--type", "b=json"))
        self.assertIn("; --type PATH=json keeps the text of the values", self.import_text(text, "--type", "a=json"))
        for wrong in ('[1,{"x":}]', '{"x" 1}', '"\\x"', "01", "[1}", "nul"):
            self.assertIn("r.json:1: invalid JSON", self.import_text('{"a":%s}\n' % wrong, "--type", "a=json"))

    def test_records_below_a_path(self):
        text = '{"meta":{"n":[1,{"results":3}],"s":"}:,]"},\n "data":{"x":":,}", "results":[\n{"a":1},\n{"a":%s}\n]},"z":1}'
        self.import_text(text % 2, "--at", "/data/results")
        self.assertEqual(self.records(), [{"a": 1}, {"a": 2}])
        self.assertIn("r.json:4: invalid JSON", self.import_text(text % "x", "--at", "/data/results"))
        for wrong, hint in (('{\n"a":[{"b":1}]}', "; --at PATH reads the array at this path of one JSON text"),
                            ('{"a":1}\n{"a":x}\n', "; --skip-bad-rows N skips such records"),
                            ('{"a":1}\n2\n', "found a number; --skip-bad-rows N skips such records")):
            self.assertTrue(self.import_text(wrong).endswith(hint), wrong)
        for path, message in (("/data/none", "r.json:5: there is no /data/none"), ("/z", "r.json:5: no array at /z"),
                              ("/meta", "r.json:1: no array at /meta"), ("/z/y", "r.json:5: no object at /z")):
            self.assertEqual(self.import_text(text % 2, "--at", path), message)

    def test_bad_records(self):
        text = '{"a":1}\n{"a":x}\n[1]\n{"a":"2"}\n{"a":"z"}\n{"a":300}\n'
        skipped = self.import_text(text, "--type", "a=int16", "--skip-bad-rows", "3")
        self.assertEqual((skipped["rows"], skipped["lines"]), (3, [2, 3, 5]))
        self.assertEqual(skipped["reasons"][1:], ["a record must be an object; found an array", 'a: "z" is not of type int16: expected an integer'])
        self.assertEqual(self.records(), [{"a": 1}, {"a": 2}, {"a": 300}])
        self.import_text(text, "--type", "a=int16", "--skip-bad-rows", "3", "--sorted-by", "a")
        self.assertIn("r.json:6: a: ", self.import_text(text, "--type", "a=int8", "--skip-bad-rows", "3"))
        self.assertIn("; more records are bad than --skip-bad-rows 3 allows",
                      self.import_text(text, "--type", "a=int8", "--skip-bad-rows", "3"))

    def test_columns(self):
        text = '{"a":1,"b":{"x":1},"c":[]}\n{"c":["y"],"b":null}\n'
        self.import_text(text, "--columns", "b", "--columns", "c")
        self.assertEqual(self.records(), [{"b": {"x": 1}, "c": []}, {"c": ["y"]}])
        self.assertEqual(self.import_text(text, "--columns", "b", "--columns", "z"), "--columns z: r.json has no column of that name")
        self.assertIn("invalid JSON", self.import_text('{"a":[1,x],"b":1}\n', "--columns", "b"))
        # The schema of a user or of a table has other columns, too.
        self.write("message m { optional int64 a; optional int64 d; optional group e { optional int64 f; } }", "s")
        self.import_text('{"e":{"f":3},"a":1,"d":2}\n', "--columns", "a,e", "--schema", "s")
        self.assertEqual(self.records(), [{"a": 1, "e": {"f": 3}}])
        self.write('{"a":4,"e":{"f":5}}\n', "r.json")
        done = self.run_tool(import_test.IMPORT, "r.json", "t", "--append", "--quiet", "--columns", "e")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(self.records(), [{"a": 1, "e": {"f": 3}}, {"e": {"f": 5}}])

    def test_null_texts_are_for_csv(self):
        for option in (["--null", "NA"], ["--delimiter", ";"], ["--no-header"], ["--header", "yes"], ["--names", "a"],
                       ["--quote", "none"], ["--escape", "|"], ["--comment", "#"], ["--skip-lines", "1"], ["--pad"], ["--decimal-comma"]):
            self.refuse([{"a": 1}], f"{option[0]} is for CSV; bad.jsonl is read as JSON", *option)


class FileOptions(JsonTest):
    """--bloom and --format-version."""

    def headers(self):
        """The header and the footer of each column of table t."""
        names = [column["name"] for column in json.loads(self.run_tool(import_test.DUMP, "t", "--json").stdout)["columns"]]
        return {name: [self.run_tool(import_test.DUMP, "hexdump", part, "t", "--column", name).stdout.decode() for part in ("--header", "--footer")]
                for name in names}

    def import_both(self, *options):
        """Imports the same rows from CSV and from JSON; yields after each import."""
        rows = [(i * 7919 % 10007, f"name {i}", None if i % 5 == 0 else i / 4) for i in range(2000)]
        yield self.import_csv("k,s,d\n" + "".join(f"{k},{s},{'' if d is None else d}\n" for k, s, d in rows), *options)
        yield self.import_json([{"k": k, "s": s, "d": d} for k, s, d in rows], *options)
        shutil.rmtree(self.folder / "t")

    def test_bloom(self):
        for options in ([], ["--sorted-by", "k"]):
            for _ in self.import_both("--bloom", "k", "--bloom", "s", *options):
                footers = {name: footer for name, (_, footer) in self.headers().items()}
                self.assertEqual({name: "bloom" in footer for name, footer in footers.items()}, {"k": True, "s": True, "d": False})
                self.assertEqual(self.run_tool(import_test.DUMP, "verify", "t").returncode, 0)
                found = self.run_tool(import_test.DUMP, "rows", "t", "--where", "s = 'name 1234'").stdout.decode()
                self.assertEqual(found.count("\n"), 2)
                found = self.run_tool(import_test.DUMP, "rows", "t", "--where", "s = 'name x'").stdout.decode()
                self.assertEqual(found.count("\n"), 1)
        for option, message in [(["--format-version", "1"], "files of version 1 have no Bloom filters"),
                                (["--oldest-reader", "kudu"], "Kudu does not read files with Bloom filters")]:
            self.refuse([{"a": 1}], f"--bloom a: {message}\nSee cfile-import --help", "--bloom", "a", *option)
        self.refuse([{"a": 1}], "--bloom x: bad.jsonl has no column of that name", "--bloom", "x")

    def test_format_version(self):
        magic = {version: [] for version in ("1", "2")}
        for version in magic:
            for _ in self.import_both("--format-version", version, "--pack-below", "0"):
                for path in sorted(self.folder.glob("t/part-*/*.cfile")):
                    data = path.read_bytes()
                    magic[version].append((data[:8], data[-8:]))
                self.assertEqual(self.run_tool(import_test.DUMP, "verify", "t").returncode, 0)
                self.assertEqual(len(self.values()), 2000)
        self.assertEqual({entry[0] for entry in magic["1"]}, {b"kuducfil"})
        self.assertEqual(len(magic["1"]), 6)
        self.assertTrue({entry[0] for entry in magic["2"]}.isdisjoint({entry[0] for entry in magic["1"]}))
        self.refuse([{"a": 1}], "--format-version: 3 not in {1,2}\nSee cfile-import --help", "--format-version", "3")


if __name__ == "__main__":
    import_test.IMPORT, import_test.DUMP = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
