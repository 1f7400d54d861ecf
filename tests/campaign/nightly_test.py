#!/usr/bin/env python3
"""Tests how tests/campaign/nightly chooses campaigns and keeps their rows, with campaigns that do nothing and a repository of three
commits."""
import contextlib
import datetime
import importlib.machinery
import importlib.util
import io
import pathlib
import shutil
import subprocess
import tempfile
import unittest

LOADER = importlib.machinery.SourceFileLoader("nightly", str(pathlib.Path(__file__).resolve().parent / "nightly"))
nightly = importlib.util.module_from_spec(importlib.util.spec_from_loader("nightly", LOADER))
LOADER.exec_module(nightly)
TABLE = """Written by hand.

| campaign | done | findings open | seconds | commit | date |
| --- | --- | --- | --- | --- | --- |
| fuzz | 12 inputs | 0 | 1,234 | {0} | 2026-11-22 |
| model | 3 files | 0 | 5 | {1}+ | 2026-11-22 |
| damage | 9 files | 0 | 7 | abcdef0 | 2026-11-22 |
| **all** | 3 campaigns | 0 | 1,246 |  |  |
"""


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Nightly(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        nightly.ROOT = self.folder = pathlib.Path(folder.name)
        self.git("init", "-q")
        self.commits = []
        for _ in range(3):
            self.commits.append(self.make_commit())
        self.results = self.folder / "tests" / "campaign" / "RESULTS.md"
        self.results.parent.mkdir(parents=True)
        self.results.write_text(TABLE.format(*self.commits))
        self.began = []
        self.outcomes = {}  # of campaigns that end otherwise than without findings
        names = ["model", "fuzz", "damage", "spark", "wheels"]
        nightly.campaigns = lambda _: {name: lambda name=name: self.campaign(name) for name in names}

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.folder, *arguments], check=True, capture_output=True, text=True).stdout

    def make_commit(self):
        self.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "m")
        return self.git("rev-parse", "--short", "HEAD").strip()

    def campaign(self, name):
        self.began.append(name)
        outcome = self.outcomes.get(name, 0)
        if isinstance(outcome, BaseException):
            raise outcome
        return nightly.Row(name, "all of it", outcome, 1)

    def run_nightly(self, *arguments):
        """The exit code, and the lines of the standard output."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = nightly.main([str(argument) for argument in arguments])
        return code, out.getvalue().splitlines()

    def test_the_oldest_row_is_first(self):
        self.assertEqual(self.run_nightly()[0], 0)
        # Never run; of one date, an unknown commit and then the oldest one.
        self.assertEqual(self.began, ["spark", "wheels", "damage", "fuzz", "model"])
        rows = nightly.results_in(self.results)
        self.assertEqual(list(rows), ["fuzz", "model", "damage", "spark", "wheels"])
        self.assertEqual({row.commit for row in rows.values()}, {self.commits[2]})
        self.assertEqual({row.date for row in rows.values()}, {datetime.date.today().isoformat()})
        text = self.results.read_text()
        self.assertTrue(text.startswith("Written by hand.\n\n| campaign |"), text)
        self.assertEqual(text.splitlines()[-1], "| **all** | 5 campaigns | 0 | 5 |  |  |")

    def test_an_earlier_date_is_older(self):
        self.results.write_text(TABLE.format(*self.commits).replace(f"{self.commits[1]}+ | 2026-11-22", f"{self.commits[1]}+ | 2026-11-21"))
        self.run_nightly("--only", "fuzz", "model")
        self.assertEqual(self.began, ["model", "fuzz"])

    def test_a_stopped_run_goes_on(self):
        self.outcomes["damage"] = KeyboardInterrupt()
        with self.assertRaises(KeyboardInterrupt):
            self.run_nightly()
        self.assertEqual(self.began, ["spark", "wheels", "damage"])
        self.began, self.outcomes = [], {}
        self.run_nightly()
        self.assertEqual(self.began, ["damage", "fuzz", "model", "spark", "wheels"])

    def test_the_commit_is_the_one_at_the_beginning(self):
        nightly.campaigns = lambda _: {"slow": lambda: (self.make_commit(), nightly.Row("slow", "all of it", 0, 1))[1]}
        self.run_nightly()
        self.assertEqual(nightly.results_in(self.results)["slow"].commit, self.commits[2])

    def test_other_rows_are_kept(self):
        self.run_nightly("--only", "model")
        before, after = TABLE.format(*self.commits).splitlines(), self.results.read_text().splitlines()
        self.assertEqual([line for line in before if line not in after], [before[5], before[7]])
        self.assertEqual(after[7], "| **all** | 3 campaigns | 0 | 1,242 |  |  |")

    def test_findings(self):
        self.outcomes = {"fuzz": 2, "spark": SystemExit("no java")}
        code, lines = self.run_nightly("--only", "fuzz", "spark", "model")
        self.assertEqual(code, 1)
        self.assertEqual(self.began, ["spark", "fuzz", "model"])
        rows = nightly.results_in(self.results)
        self.assertEqual([rows[name].findings for name in ("fuzz", "spark", "model")], [2, 1, 0])
        self.assertEqual(rows["spark"].done, "could not be built")
        self.assertTrue(lines[-1].startswith("| **all** | 3 campaigns | 3 | "), lines[-1])

    def test_no_campaign_starts_after_the_last_minute(self):
        self.assertEqual(self.run_nightly("--minutes", "0")[0], 0)
        self.assertEqual(self.began, [])
        self.assertEqual(self.results.read_text(), TABLE.format(*self.commits))

    def test_stale_rows(self):
        missing = ["RESULTS.md: spark: never run", "RESULTS.md: wheels: never run",
                   "RESULTS.md: damage: of a commit that this clone does not have"]
        fuzz, model = "RESULTS.md: fuzz: 2 commits old", "RESULTS.md: model: 1 commits old"
        self.assertEqual(self.run_nightly("--stale", "2"), (0, missing))
        self.assertEqual(self.run_nightly("--stale", "1"), (0, [*missing, fuzz]))
        self.assertEqual(self.run_nightly("--stale", "0"), (0, [*missing, fuzz, model]))
        self.assertEqual(self.began, [])

    def test_stale_rows_of_a_shallow_clone_and_without_git(self):
        clone = self.folder / "clone"
        self.git("clone", "-q", "--depth", "1", f"file://{self.folder}", clone)
        for nightly.ROOT in (clone, pathlib.Path("/")):
            code, lines = self.run_nightly("--stale", "2", "--results", self.results)
            self.assertEqual((code, len(lines)), (0, 5))
            self.assertEqual(lines[-1].split(": ")[2], "of a commit that this clone does not have")

    def test_list(self):
        code, lines = self.run_nightly("--list")
        self.assertEqual(code, 0)
        self.assertEqual(lines, ["spark: never run", "wheels: never run",
                                 "damage: of a commit that this clone does not have, 2026-11-22: 9 files, 0 findings",
                                 "fuzz: 2 commits old, 2026-11-22: 12 inputs, 0 findings",
                                 "model: 1 commits old, 2026-11-22: 3 files, 0 findings"])

    def test_an_unknown_name(self):
        with self.assertRaisesRegex(SystemExit, "no campaign nothing; there are model, fuzz, damage, spark, wheels"):
            self.run_nightly("--only", "nothing")


if __name__ == "__main__":
    unittest.main()
