"""Tests which rows cfile-dump prints and what it reads for them: dump_rows_test.py CFILE_DUMP CFILE_IMPORT."""

import collections
import csv
import json
import pathlib
import re
import shlex
import struct
import sys
import unittest

from dump_case import DumpCase

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"

NUM_ROWS = 20_000
# The columns of table t. The ids have gaps, and each id comes twice.
IDS = [i // 2 * 3 for i in range(NUM_ROWS)]
NAMES = [None if i % 10 == 3 else f"name {i % 1000:03}, \"{i}\"" for i in range(NUM_ROWS)]
NUMBERS = [i / 4 - 100 for i in range(NUM_ROWS)]


class RowsTest(DumpCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Table t has small blocks, table parts the same rows in two parts, table keys compound keys.
        cls.write_csv("t.csv", 0, NUM_ROWS)
        options = ["--sorted-by", "id", "--block-size", "4KiB", "--encoding", "plain", "--compression", "none",
                   "--type", "x=double", "--bloom", "name"]
        cls.make("t.csv", "t", *options, loose=True)
        cls.write_csv("a.csv", 0, 12_000)
        cls.write_csv("b.csv", 12_000, NUM_ROWS)
        cls.make("a.csv", "parts", *options)
        cls.make("b.csv", "parts", "--append")
        cls.write_keys("k1.csv", range(0, 300))
        cls.write_keys("k2.csv", range(100, 400))  # these parts overlap
        cls.make("k1.csv", "keys", "--sorted-by", "town", "--sorted-by", "number")
        cls.make("k2.csv", "keys", "--append")
        cls.file = str(next(cls.folder.glob("t/part-*/0000-id.cfile")).relative_to(cls.folder))

    @classmethod
    def write_csv(cls, name, begin, end):
        with open(cls.folder / name, "w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["id", "name", "x"])
            rows.writerows(zip(IDS[begin:end], NAMES[begin:end], NUMBERS[begin:end]))

    @classmethod
    def write_keys(cls, name, numbers):
        rows = sorted((f"town {number % 3}", number) for number in numbers)
        (cls.folder / name).write_text("town,number\n" + "".join(f"{town},{number}\n" for town, number in rows))

    def ordinals(self, *arguments):
        """The ordinals of the rows that `values` prints; checks the values of id."""
        rows = [json.loads(line) for line in self.dump("rows", "--json", "--columns", "id", *arguments).splitlines()]
        for row in rows:
            self.assertEqual(row["values"]["id"], IDS[row["ordinal"]])
        return [row["ordinal"] for row in rows]


class Ranges(RowsTest):
    def test_head_and_tail(self):
        everything = list(range(NUM_ROWS))
        for table in ("t", "parts"):
            self.assertEqual(self.ordinals(table, "--head", 5), everything[:5])
            self.assertEqual(self.ordinals(table, "--tail", 5), everything[-5:])
            self.assertEqual(self.ordinals(table, "--ordinal", 11_990, "--head", 20), everything[11_990:12_010])
            self.assertEqual(self.ordinals(table, "--ordinal", 19_998, "--tail", 5), everything[19_998:])
            self.assertEqual(self.ordinals(table, "--head", 0), [])
            self.assertEqual(self.ordinals(table, "--tail", 0), [])
            where = ("--where", "name is null and x < 0")
            matches = [i for i in everything if NAMES[i] is None and NUMBERS[i] < 0]
            self.assertEqual(self.ordinals(table, *where), matches)
            self.assertEqual(self.ordinals(table, *where, "--head", 3), matches[:3])
            self.assertEqual(self.ordinals(table, *where, "--tail", 3), matches[-3:])
            self.assertEqual(self.ordinals(table, *where, "--tail", 0), [])
            self.assertEqual(self.ordinals(table, *where, "--tail", 10_000), matches)
            self.assertEqual(self.ordinals(table, *where, "--ordinal", 100, "--tail", 10_000),
                             [i for i in matches if i >= 100])
        self.assertEqual(self.dump("rows", self.file, "--tail", 2).split(), [str(i) for i in IDS[-2:]])

    def test_keys(self):
        for table in ("t", "parts"):
            for low, high in ((0, 9), (17_000, 19_001), (17_999, 18_000), (18_000, 18_001), (29_997, 40_000), (-5, 0), (9, 3)):
                rows = [i for i, key in enumerate(IDS) if low <= key < high]
                self.assertEqual(self.ordinals(table, "--from", low, "--to", high), rows, (low, high))
            rows = [i for i, key in enumerate(IDS) if key >= 100]
            self.assertEqual(self.ordinals(table, "--from", 100), rows)
            self.assertEqual(self.ordinals(table, "--from", 100, "--head", 3), rows[:3])
            self.assertEqual(self.ordinals(table, "--from", 100, "--where", "name is null", "--tail", 2),
                             [i for i in rows if NAMES[i] is None][-2:])
            self.assertEqual(self.ordinals(table, "--to", 100, "--tail", 2), [i for i, key in enumerate(IDS) if key < 100][-2:])
        self.assertEqual(self.dump("rows", self.file, "--from", 7, "--to", 13).split(), ["9", "9", "12", "12"])
        code, out, error = self.run_dump("rows", "t", "--from", "x")
        self.assertEqual((code, out), (1, ""))
        self.assertIn('"x" is not of type int32', error)
        code, out, error = self.run_dump("rows", "t", "--column", "x", "--from", "1")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no value index", error)

    def test_compound_keys(self):
        rows = [tuple(line.split("\t")) for line in self.dump("rows", "keys").splitlines()[1:]]
        rows = [(town, int(number)) for town, number in rows]
        self.assertEqual(len(rows), 600)

        def found(*arguments):
            lines = self.dump("rows", "keys", *arguments).splitlines()[1:]
            return [(line.split("\t")[0], int(line.split("\t")[1])) for line in lines]

        self.assertEqual(found("--from", "town 1"), [row for row in rows if row[0] >= "town 1"])
        self.assertEqual(found("--from", "town 1", "--from", "150", "--to", "town 2"),
                         [row for row in rows if ("town 1", 150) <= row < ("town 2",)])
        self.assertEqual(found("--to", "town 0", "--to", "8"), [row for row in rows if row < ("town 0", 8)])
        self.assertEqual(self.run_dump("rows", "keys", "--from", "a", "--from", "1", "--from", "2")[0], 1)

    def test_sample(self):
        for options in ((), ("--where", "name is null"), ("--from", "3000", "--to", "6000")):
            candidates = [i for i in range(NUM_ROWS) if
                          (not options or (options[0] == "--where" and NAMES[i] is None) or
                           (options[0] == "--from" and 3000 <= IDS[i] < 6000))]
            for table in ("t", "parts"):
                sample = self.ordinals(table, "--sample", 50, "--seed", 7, *options)
                self.assertEqual(len(sample), 50)
                self.assertEqual(sample, sorted(set(sample)))
                self.assertLessEqual(set(sample), set(candidates))
                self.assertEqual(sample, self.ordinals("t", "--sample", 50, "--seed", 7, *options))
                self.assertNotEqual(sample, self.ordinals("t", "--sample", 50, "--seed", 8, *options))
            self.assertEqual(self.ordinals("t", "--sample", 1_000_000, *options), candidates)
        self.assertEqual(self.ordinals("t", "--sample", 0), [])

    def test_sample_is_uniform(self):
        for options in ((), ("--where", "value < 1000000")):
            counts = collections.Counter()
            for seed in range(60):
                lines = self.dump("rows", self.file, "--json", "--sample", 5, "--seed", seed, *options)
                counts.update(json.loads(line)["ordinal"] * 10 // NUM_ROWS for line in lines.splitlines())
            self.assertEqual(counts.total(), 300)
            # Each tenth of the rows has 30 of 300 rows on average; the seeds are fixed.
            for tenth in range(10):
                self.assertIn(counts[tenth], range(12, 55), counts)

    def test_records(self):
        everything = self.dump("rows", "--format", "jsonl", "t").splitlines()
        self.assertEqual(len(everything), NUM_ROWS)
        self.assertEqual(self.dump("rows", "--format", "jsonl", "t", "--head", 3).splitlines(), everything[:3])
        self.assertEqual(self.dump("rows", "--format", "jsonl", "t", "--tail", 3).splitlines(), everything[-3:])
        self.assertEqual(self.dump("rows", "--format", "jsonl", "t", "--ordinal", 7, "--count", 2).splitlines(), everything[7:9])
        matches = [i for i in range(NUM_ROWS) if NAMES[i] is None]
        self.assertEqual(self.dump("rows", "--format", "jsonl", "t", "--where", "name is null").splitlines(), [everything[i] for i in matches])
        self.assertEqual(self.dump("rows", "--format", "jsonl", "parts", "--where", "name is null", "--tail", 2).splitlines(),
                         [everything[i] for i in matches[-2:]])
        self.assertEqual(self.dump("rows", "--format", "jsonl", "t", "--from", 9, "--to", 12).splitlines(),
                         [everything[i] for i, key in enumerate(IDS) if 9 <= key < 12])
        self.assertEqual(self.dump("rows", "--format", "jsonl", "t", "--sample", 9, "--seed", 3).splitlines(),
                         [everything[i] for i in self.ordinals("t", "--sample", 9, "--seed", 3)])
        code, out, error = self.run_dump("rows", "--format", "jsonl", "t", "--ordinal", NUM_ROWS + 1)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("ordinal 20001 is beyond the end", error)

    def test_nested_records(self):
        lines = [json.dumps({"n": i, "list": list(range(i % 3))}, separators=(",", ":")).replace(',"list":[]', "")
                 for i in range(300)]
        (self.folder / "n.jsonl").write_text("\n".join(lines))
        self.make("n.jsonl", "nested")
        self.assertEqual([json.loads(line)["n"] for line in self.dump("rows", "--format", "jsonl", "nested", "--where", "n in (7, 250)").splitlines()],
                         [7, 250])
        sample = [json.loads(line)["n"] for line in self.dump("rows", "--format", "jsonl", "nested", "--sample", 20).splitlines()]
        self.assertEqual(sample, sorted(set(sample)))
        self.assertEqual(len(sample), 20)
        code, _, error = self.run_dump("rows", "--format", "jsonl", "nested", "--where", "list.list.element = 1")
        self.assertEqual(code, 1)
        self.assertIn("any number of values in a row", error)

    def test_nested_tables(self):
        (self.folder / "nest.jsonl").write_text("".join(f'{{"id":{i},"tags":["a","b"]}}\n' for i in range(9)))
        self.make("nest.jsonl", "my nest")
        for command, expected in ((["rows", "my nest", "--row", 3], [3]), (["rows", "my nest"], range(9)),
                                  (["rows", "my nest", "--ordinal", 7], [7, 8]), (["rows", "--json", "my nest", "--head", 2], [0, 1])):
            rows = [json.loads(line) for line in self.dump(*command).splitlines()]
            self.assertEqual([row["values"]["id"] if "--json" in command else row["id"] for row in rows], [*expected])
        for options, fields in ((["--column", "tags.list.element"], {"tags"}), (["--columns", "id,tags.list.element"], {"id", "tags"})):
            lines = self.dump("rows", "my nest", *options).splitlines()
            self.assertEqual((len(lines), set(json.loads(lines[0]))), (9, fields))
        self.assertEqual(self.dump("rows", "my nest", "--columns", "id", "--head", 2), "id\n0\n1\n")

    def test_records_that_end_where_text_is_passed_on(self):
        """One thread passes on the text of a record in pieces of 1 MiB."""
        (self.folder / "short.jsonl").write_text('{"id":0,"tags":["a"]}\n')
        self.make("short.jsonl", "short")
        rest = len(self.dump("rows", "short", "--json", "--threads", 1)) - 2  # without the text and the end of the line
        sizes = [2**20 - rest + i for i in range(-3, 5)]
        (self.folder / "long.jsonl").write_text("".join(f'{{"id":{i},"tags":["{"a" * size}"]}}\n' for i, size in enumerate(sizes)))
        self.make("long.jsonl", "long")
        for options in ([], ["--json"]):
            rows = [json.loads(line) for line in self.dump("rows", "long", "--threads", 1, *options).splitlines()]
            self.assertEqual([len((row["values"] if options else row)["tags"][0]) for row in rows], sizes)

    def test_misuse(self):
        for options in (("--limit", "1", "--tail", "1"), ("--limit", "1", "--count", "1"), ("--row", "1", "--limit", "1"), ("--sample", "1", "--tail", "1"),
                        ("--seed", "1"), ("--format", "xml"), ("--format", "csv", "--json"), ("--sample", "99999999999")):
            code, out, error = self.run_dump("rows", "t", *options)
            self.assertEqual((code, out), (1, ""), options)
            self.assertIn(options[0], error)


class Formats(RowsTest):
    def test_csv_is_read_again(self):
        for options in ((), ("--where", "x > 0", "--tail", "1000"), ("--sample", "300", "--where", "name is null")):
            text = self.dump("rows", "t", "--format", "csv", *options)
            (self.folder / "again.csv").write_text(text, newline="")
            table = f"again{len(options)}{options[0] if options else ''}"
            types = shlex.split(self.dump("rows", "t", "--print-import-options"))
            self.make("again.csv", table, "--sorted-by", "id", *types)
            self.assertEqual(self.dump("rows", table), self.dump("rows", "t", *options))
            if not options:
                self.assertEqual(text, self.dump("rows", "--format", "csv", "t"))
                self.assertEqual(self.dump("summary", "--schema", table).splitlines()[1:],
                                 self.dump("summary", "--schema", "t").splitlines()[1:])
        self.assertEqual(self.dump("rows", "t", "--format", "csv", "--column", "x", "--head", "2"), "x\n-100.0\n-99.75\n")
        self.assertEqual(self.dump("rows", self.file, "--format", "csv", "--head", "1"), "value\n0\n")

    def test_records_in_the_formats_of_values(self):
        text = self.dump("rows", "t", "--format", "csv")
        self.assertEqual(text, self.dump("rows", "--format", "csv", "t"))
        (self.folder / "records.csv").write_text(text)
        self.make("records.csv", "records", *shlex.split(self.dump("rows", "t", "--print-import-options")))
        self.assertIn("the values are the same\n", self.dump("diff", "t", "records"))
        choice = ["--where", "id between 30 and 90", "--tail", "7"]
        lines = self.dump("rows", "t", "--format", "tsv", "--columns", "x,name", *choice).splitlines()
        swapped = ["\t".join(reversed(line.split("\t"))) for line in lines]
        self.assertEqual(self.dump("rows", "t", "--format", "tsv", "--columns", "name,x", *choice).splitlines(), swapped)
        # CSV cannot express nested columns. The other columns of the table can be chosen.
        (self.folder / "flat.jsonl").write_text('{"a":1,"l":[1,2],"g":{"b":"x"}}\n{"a":2,"l":[],"g":{"b":"y,z"}}\n')
        self.make("flat.jsonl", "nested_flat")
        for columns in ([], ["--columns", "l"], ["--columns", "a,l.list.element"]):
            code, out, error = self.run_dump("rows", "nested_flat", "--format", "csv", *columns)
            self.assertEqual((code, out), (1, ""))
            self.assertRegex(error, "^cfile-dump: column l.list.element is nested, so a field of csv cannot hold it: use --format jsonl")
        self.assertEqual(self.dump("rows", "nested_flat", "--format", "csv", "--columns", "a"), "a\n1\n2\n")
        self.assertEqual(self.dump("rows", "nested_flat", "--format", "csv", "--columns", "g,a"), 'a,g.b\n1,x\n2,"y,z"\n')

    def test_tsv_and_json_lines(self):
        self.assertEqual(self.dump("rows", "t", "--format", "tsv"), self.dump("rows", "t", "--format", "tsv"))
        self.assertEqual(self.dump("rows", "t", "--format", "jsonl"), self.dump("rows", "t", "--format", "jsonl"))
        (self.folder / "f.csv").write_text("x,n\n1,1\n-0,\n1e300,2\n")
        self.make("f.csv", "floats", "--type", "x=double")
        self.assertEqual(self.dump("rows", "floats", "--format", "jsonl"), '{"x":1.0,"n":1}\n{"x":-0.0}\n{"x":1e+300,"n":2}\n')
        self.assertEqual(self.dump("rows", "floats", "--format", "csv"), "x,n\n1.0,1\n-0.0,\n1e+300,2\n")

    def test_quoted_names(self):
        (self.folder / "q.csv").write_text('"a,b",c\n1,x\n')
        self.make("q.csv", "quoted")
        self.assertEqual(self.dump("rows", "quoted", "--format", "csv", "--columns", 'c,"a,b"'), 'c,"a,b"\nx,1\n')

    def test_hex(self):
        (self.folder / "h.csv").write_text('i,d,s,b\n-2,1.5,"é",true\n,,"",\n')
        self.make("h.csv", "hex", "--type", "i=int64", "--type", "d=double", "--type", "s=string", "--type", "b=bool")
        self.assertEqual(self.dump("rows", "hex", "--format", "hex").splitlines(),
                         ["i\td\ts\tb", "\t".join([struct.pack("<q", -2).hex(), struct.pack("<d", 1.5).hex(),
                                                     "é".encode().hex(), "01"]), 'null\tnull\t""\tnull'])


class Explain(RowsTest):
    def reads(self, *arguments):
        """What a command with --explain read."""
        lines = self.dump(*arguments, "--explain", "--json").splitlines()
        return json.loads(lines[-1])["explain"]

    def counted(self, *arguments):
        """The numbers of data blocks that `values --explain` read."""
        code, _, error = self.run_dump("rows", *arguments, "--explain")
        self.assertEqual(code, 0, error)
        return int(re.search(r"(\d+) data blocks? read", error)[1])

    def test_few_blocks_are_read(self):
        blocks = json.loads(self.dump("blocks", "--json", self.file))["blocks"]
        self.assertGreater(len(blocks), 15)
        self.assertEqual(self.counted(self.file), len(blocks))
        self.assertEqual(self.counted(self.file, "--head", 10), 1)
        self.assertEqual(self.counted(self.file, "--tail", 10), 1)
        self.assertEqual(self.counted(self.file, "--ordinal", 10_000, "--count", 3), 1)
        self.assertEqual(self.counted("t", "--head", 10), 3)  # one block of each column
        self.assertEqual(self.counted("t", "--head", 10, "--columns", "name"), 1)
        starts = [block["first_ordinal"] for block in blocks]
        rows = [json.loads(line)["ordinal"] for line in self.dump("rows", "--json", self.file, "--sample", 12).splitlines()]
        needed = {max(start for start in starts if start <= row) for row in rows}
        self.assertLess(len(needed), len(blocks))
        self.assertEqual(self.counted(self.file, "--sample", 12), len(needed))
        self.assertEqual(self.counted(self.file, "--sample", 5000), len(blocks))  # each block once

    def check(self, explained, file, kind, index_nodes):
        """Checks the explanation of a search in one file. `index_nodes`: from cfile-dump index."""
        self.assertEqual([touched["what"] for touched in explained["touched"] if "index" in touched["what"]],
                         [f"{kind} index, depth {i}" for i in range(explained["index_nodes_read"])])
        data = [touched for touched in explained["touched"] if touched["what"].startswith("data block")]
        self.assertEqual(len(data), explained["blocks_read"] + explained["blocks_cached"])
        blocks = json.loads(self.dump("blocks", "--json", file))["blocks"]
        for touched in data:
            block = blocks[int(touched["what"].split()[-1])]
            self.assertEqual((touched["offset"], touched["size"]), (block["offset"], block["size"]))
        for touched in explained["touched"]:
            if "index" in touched["what"]:
                node = next(node for node in index_nodes if node["offset"] == touched["offset"])
                self.assertEqual((touched["size"], touched["keys"]), (node["size"], len(node["entries"])))
        return data, blocks

    def test_at(self):
        index = json.loads(self.dump("index", "--json", "--positional", self.file))["nodes"]
        for ordinal in (0, 4321, NUM_ROWS - 1):
            reads = self.reads("rows", self.file, "--row", ordinal)
            (explained,) = reads["files"]
            (touched,), blocks = self.check(explained, self.file, "positional", index)
            block = blocks[int(touched["what"].split()[-1])]
            self.assertIn(ordinal, range(block["first_ordinal"], block["first_ordinal"] + block["rows"]))
            self.assertEqual(sum(read["size"] for read in explained["reads"]), reads["source_bytes"])
            self.assertEqual(len(explained["reads"]), reads["source_requests"])
            size = (self.folder / self.file).stat().st_size
            self.assertEqual(explained["size"], size)
            near_end = touched["offset"] >= size - 60 * 1024
            self.assertEqual(touched["bytes_read"], 0 if near_end or touched["offset"] + touched["size"] <= 4096 else touched["size"])
        reads = self.reads("rows", "parts", "--row", 15_000)
        self.assertEqual([file["column"] for file in reads["files"]], ["id", "name", "x"])
        self.assertEqual(reads["blocks_read"], 3)
        self.assertEqual({touched["what"].split(",")[0].rstrip("0123456789 ") for file in reads["files"] for touched in file["touched"]},
                         {"positional index", "data block"})

    def test_find(self):
        index = json.loads(self.dump("index", "--json", "--value", self.file))["nodes"]
        for key in (-1, 0, 1, 14_998, 15_000, IDS[-1], IDS[-1] + 1):
            code, out, _ = self.run_dump("find", self.file, key, "--explain", "--json")
            self.assertEqual(code, int(key not in IDS))
            lines = out.splitlines()
            found, (explained,) = json.loads(lines[0]), json.loads(lines[1])["explain"]["files"]
            data, blocks = self.check(explained, self.file, "value", index)
            self.assertGreater(len(data), 0)
            if not found["end"]:
                last = blocks[int(data[-1]["what"].split()[-1])]
                self.assertIn(found["ordinal"], range(last["first_ordinal"], last["first_ordinal"] + last["rows"]))
        columns = [file["column"] for file in self.reads("find", "keys", "town 1", "7")["files"]]
        self.assertIn("key index", columns)
        self.assertIn("town", columns)

    def test_golden_files(self):
        """Every golden file: what is listed is what the reader counted, also in trees with several levels."""
        deepest = 0
        for path in sorted(GOLDEN.glob("cfile-0.2/int*")) + sorted(GOLDEN.glob("cfile-0.2/binary*sorted*")):
            code, out, _ = self.run_dump("--json", path)
            summary = json.loads(out) if code == 0 else {"rows": 0}
            if summary["rows"] == 0 or summary.get("levels") or not summary["positional_index"]:
                continue
            done = self.run_dump("rows", path, "--row", summary["rows"] // 2, "--explain", "--json")
            if done[0] != 0:
                continue  # nested
            (explained,) = json.loads(done[1].splitlines()[1])["explain"]["files"]
            index = json.loads(self.dump("index", "--json", "--positional", path))["nodes"]
            self.check(explained, path, "positional", index)
            deepest = max(deepest, explained["index_nodes_read"])
        self.assertGreater(deepest, 1)

    def test_text(self):
        text = self.run_dump("find", self.file, 4000, "--explain")[1]
        self.assertRegex(text, r"(?s)^ordinal  \d+\nexact    no\nvalue    4002\n\n.*"
                               r"\nend of the file .*\nfront of the file +0 +4096 .*\nvalue index, depth 0 .*\ndata block \d+ .*"
                               r"\nread [\d,]+ bytes in 3 requests, with read-ahead\n"
                               r"1 index node, 1 data block read; 0 data blocks from the cache; [\d.]+ [mu]s\n$")

    def explain(self, table, where, *options):
        report = json.loads(self.dump("explain", table, "--where", where, "--json", *options))
        rows = self.dump("rows", table, "--where", where, "--json").splitlines()
        self.assertEqual(report["matches"], len(rows))
        self.assertEqual(report["rows"], NUM_ROWS)
        return report

    def test_conditions(self):
        report = self.explain("parts", "id >= 18000")
        self.assertEqual(report["parts_skipped"], 1)
        self.assertEqual([part["skipped"] for part in report["parts"]], [True, False])
        (condition,) = report["conditions"]
        self.assertEqual((condition["condition"], condition["rows_excluded_by_bounds"]), ("id >= 18000", 12_000))
        self.assertEqual(report["matches"], 8_000)
        # The value index shows where the keys are.
        report = self.explain("t", "id between 3000 and 3030", "--columns", "name")
        (condition,) = report["conditions"]
        self.assertGreater(condition["rows_excluded_by_value_index"], NUM_ROWS // 2)
        self.assertLess(condition["blocks_read"], 3)
        self.assertGreater(condition["blocks"], 15)
        (column,) = report["columns"]
        self.assertEqual(column["name"], "name")
        self.assertIn(column["blocks_read"], (1, 2))
        self.assertGreater(column["blocks"], 50)
        self.assertLess(report["source_bytes"], report["size"])
        # Statistics of blocks; then the Bloom filter. In all cases each row is counted once.
        report = self.explain("t", "x > 4800")
        self.assertGreater(report["conditions"][0]["rows_excluded_by_statistics"], NUM_ROWS // 2)
        report = self.explain("t", "name = 'name 5005'")
        self.assertEqual(report["conditions"][0]["rows_excluded_by_bloom_filter"], NUM_ROWS)
        self.assertEqual(report["columns"][0]["blocks_read"], 0)
        for where in ("x > 4800", "id < 77 and name is null", "name is null or x > 4800", "not (x > 4800)"):
            report = self.explain("parts", where)
            for condition in report["conditions"]:
                self.assertLessEqual(sum(value for name, value in condition.items() if name.startswith("rows_")), NUM_ROWS)
            for total, parts in zip(report["conditions"], zip(*(part["conditions"] for part in report["parts"]), strict=True), strict=True):
                for name in total:
                    if name.startswith("rows_") or name == "blocks_read":
                        self.assertEqual(total[name], sum(part[name] for part in parts))

    def test_explain_text(self):
        text = self.dump("explain", "parts", "--where", "id >= 18000 and name is null")
        self.assertRegex(text, r"^800 of 20,000 rows match\nparts skipped by their bounds in table.cft: 1 of 2\n")
        self.assertRegex(text, r"\nid >= 18000 +12,000 ")
        self.assertRegex(text, r"\nname is null ")
        self.assertRegex(text, r"\nread [\d,]+ bytes in \d+ requests?, with footers, indexes and read-ahead\n"
                               r"the files have [\d,]+ bytes; the scan took [\d.]+ ms\n$")
        text = self.dump("explain", self.file, "--where", "value > 5")
        self.assertNotIn("part", text)
        self.assertRegex(text, r"\nvalue > 5 ")
        where = "id in (1, 2) or not (name like 'it''s%') or id between 3 and 4 or name = 'a b'"
        conditions = [each["condition"] for each in self.explain("t", where)["conditions"]]
        self.assertEqual(conditions, ["id in (1, 2)", "not name like 'it''s%'", "id between 3 and 4", "name = 'a b'"])
        conditions = [each["condition"] for each in self.explain("t", "not (not (id > 3) or x > 4800)")["conditions"]]
        self.assertEqual(conditions, ["id > 3", "not x > 4800"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
