"""run_test.py DIRECTORY: tests that tests/benchmarks/run, with the programs in DIRECTORY, measures and judges all rows of its table."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import comparison_results
import comparison_table

KEYS = {"work", "data", "unit", "ours", "tuned", "peer", "peer_name", "limit", "ratio", "tuned_ratio", "reach", "met", "tuned_met"}
OPTIONAL_PEERS = ("LevelDB", "RocksDB", "LMDB")


class RunTest(unittest.TestCase):
    programs = None

    def test_prints_all_rows_as_json(self):
        command = [Path(__file__).with_name("run"), "--smoke", "--json", "--programs", self.programs]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows = [json.loads(line) for line in printed.splitlines()]
        works = {(row["work"], row["data"]) for row in rows}
        self.assertIn(("scan, delta", "sequence"), works)
        self.assertIn(("seek by 1,000 keys", "keys"), works)
        for row in rows:
            with self.subTest(row=row):
                self.assertEqual(row.keys(), KEYS)
                self.assertGreater(row["ours"], 0)
                if not any(peer in row["peer_name"] for peer in OPTIONAL_PEERS):
                    self.assertGreater(row["peer"], 0)
                    self.assertGreater(row["limit"], 0)

    def test_scale_prints_each_size(self):
        with tempfile.TemporaryDirectory() as directory:
            command = [Path(self.programs) / "file_comparison", "--scale", directory, "100000"]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        lines = [json.loads(line) for line in printed.splitlines()]
        self.assertEqual({line["rows"] for line in lines}, {10_000, 100_000})
        measured, model = comparison_results.scale_tables(lines)
        self.assertEqual(len(measured), 2 + len(lines))
        self.assertEqual(len(model), 2 + 4 * 3)


class SummaryTest(unittest.TestCase):
    def test_a_line_has_the_range_of_all_data(self):
        row = {"work": "seek by key", "unit": "µs", "peer_name": "LMDB", "peer": 2.0}
        lines = comparison_results.summary([{**row, "data": "keys", "ours": 1.0, "ratio": 0.5}, {**row, "data": "urls", "ours": 3.0, "ratio": 1.5}])
        self.assertEqual(lines[2:], ["| seek by key | keys, urls | µs | 1 to 3 | LMDB | 2 | 0.5 to 1.5 |"])


class JudgeTest(unittest.TestCase):
    def judged(self, work, data, figures):
        rows = comparison_table.judge({(data, kind, who): figure for kind, who, figure in figures}, native_only=False)
        return [row for row in rows if (row["work"], row["data"]) == (work, data)]

    def test_rates_have_to_be_above_the_reach(self):
        row = self.judged("scan, sorted strings", "keys",
                          [("scan", "cfile default", 90), ("scan", "cfile prefix", 110), ("scan", "LMDB", 50)])[0]
        self.assertEqual((row["peer_name"], row["ratio"], row["met"], row["tuned_met"]), ("LMDB", 1.8, False, True))

    def test_times_have_to_be_below_it(self):
        row = self.judged("seek by key", "keys",
                          [("seek", "cfile default", 0.6), ("seek", "cfile prefix", 0.8), ("seek", "sorted array", 1.0)])[0]
        self.assertEqual((row["ratio"], row["met"], row["tuned_met"], row["limit"]), (0.6, True, False, 1.0))

    def test_absolute_ones_need_no_peer(self):
        row = self.judged("one row, plain", "sequence", [("one row", "cfile default", 0.31), ("one row", "cfile plain", 0.29)])[0]
        self.assertEqual((row["met"], row["tuned_met"], row["ratio"]), (False, True, None))

    def test_a_peer_that_is_missing_is_told(self):
        row = self.judged("scan, sorted strings", "keys", [("scan", "cfile default", 90)])[0]
        self.assertEqual((row["peer_name"], row["met"]), ("LMDB: not installed", None))


if __name__ == "__main__":
    RunTest.programs = sys.argv.pop()
    unittest.main()
