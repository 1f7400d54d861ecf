"""Tests what the tools say about files and folders that are forbidden to them, and their exit codes: permissions_test.py CFILE_DUMP
CFILE_IMPORT CFILE_TABLE. Nothing is forbidden to root, so the tools then run as another user."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

IS_ROOT = os.geteuid() == 0
OTHER = 65534
AS_OTHER = {"user": OTHER, "group": OTHER, "extra_groups": []} if IS_ROOT else {}
TOOLS = {}  # {name: open file of the binary}, because the other user may not be allowed to enter the folders above the binary
UNREADABLE, UNWRITABLE = 0, 0o500


class Permissions(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        if IS_ROOT:
            os.chown(self.folder, OTHER, OTHER)
        source = self.folder / "in.csv"
        source.write_text("id,name\n1,a\n2,b\n")
        source.chmod(0o644)
        self.succeed("import", "in.csv", "t", "--quiet", "--sorted-by", "id", "--pack-below", "0")
        self.succeed("import", "in.csv", "t", "--quiet", "--append", "--pack-below", "0")
        self.succeed("import", "in.csv", "p", "--quiet", "--sorted-by", "id")
        self.part, self.column = next((path.parts[1], str(path)) for path in sorted(self.state()) if path.match("t/*/*-name.cfile"))

    def state(self):
        """{path: bytes} of all files."""
        return {path.relative_to(self.folder): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    def run_tool(self, tool, *arguments):
        file = TOOLS[tool]
        return subprocess.run([f"cfile-{tool}", *arguments], executable=f"/proc/self/fd/{file}", pass_fds=[file], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, **AS_OTHER)

    def succeed(self, *command):
        done = self.run_tool(*command)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def run_forbidden(self, name, mode, *command):
        """Runs the command while the file or folder `name`, or each folder in it that would be UNWRITABLE, has the mode."""
        top = self.folder / name
        paths = {path: path.stat().st_mode for path in (top, *top.rglob("*")) if path == top or mode == UNWRITABLE and path.is_dir()}
        for path in paths:
            path.chmod(mode)
        try:
            return self.run_tool(*command)
        finally:
            for path, before in paths.items():
                path.chmod(before)

    def refuse(self, name, mode, *command):
        """The command fails because of the mode of the file or folder `name`, says so in one line, and changes no file."""
        before = self.state()
        done = self.run_forbidden(name, mode, *command)
        self.assertEqual(done.returncode, 3, (command, done))  # kIoError in tools/command_line.h
        self.assertRegex(done.stderr, r"\Acfile-\w+: [^\n]*Permission denied[^\n]*\n\Z", command)
        self.assertIn(name if name != "." else "u", done.stderr, command)
        self.assertEqual(self.state(), before, command)

    def test_files_that_cannot_be_read(self):
        for command in ([], ["rows"], ["verify"], ["blocks"]):
            self.refuse(self.column, UNREADABLE, "dump", *command, self.column)
        for command in ([], ["rows"], ["verify"]):
            self.refuse("t/table.cft", UNREADABLE, "dump", *command, "t")
            self.refuse("t", UNREADABLE, "dump", *command, "t")
        self.refuse(self.column, UNREADABLE, "dump", "rows", "t")
        self.refuse(self.column, UNREADABLE, "table", "compact", "t")
        packed, = (str(path) for path in self.state() if path.match("p/*/columns.packed"))
        column = f"{packed}/0001-name.cfile"
        for command in (["summary", column], ["rows", column], ["verify", column], ["rows", "p"]):
            self.refuse(packed, UNREADABLE, "dump", *command)
        self.refuse(packed, UNREADABLE, "table", "drop-below", "p", "2")
        for forbidden, table, path in ((self.column, "t", self.column), (packed, "p", column)):
            done = self.run_forbidden(forbidden, UNREADABLE, "dump", "verify", table)
            self.assertEqual((done.returncode, done.stderr), (3, ""))
            self.assertIn(f"{path}: not checked in full\n  open {forbidden}: Permission denied\n", done.stdout)
        self.refuse("t/table.cft", UNREADABLE, "table", "parts", "t")
        self.refuse("t/table.cft", UNREADABLE, "import", "in.csv", "t", "--append")
        self.refuse("in.csv", UNREADABLE, "import", "in.csv", "u")

    def test_folders_that_cannot_be_written(self):
        self.refuse(".", UNWRITABLE, "import", "in.csv", "u")
        self.refuse(".", UNWRITABLE, "dump", "rewrite", self.column, "u")
        self.refuse(".", UNWRITABLE, "dump", "rewrite", "t", "u")
        self.refuse("t", UNWRITABLE, "import", "in.csv", "t", "--append")
        self.refuse("t", UNWRITABLE, "table", "compact", "t")
        self.refuse("t", UNWRITABLE, "table", "drop", "t", self.part)
        self.succeed("table", "compact", "t")
        self.refuse("t", UNWRITABLE, "table", "gc", "--older-than", "0", "t")
        self.assertIn("removed ", self.succeed("table", "gc", "--older-than", "0", "t"))
        self.assertFalse((self.folder / "t" / self.part).exists())

    def test_a_table_that_cannot_be_written_can_be_read(self):
        values = self.succeed("dump", "rows", "t")
        done = self.run_forbidden("t", UNWRITABLE, "dump", "rows", "t")
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", values))
        self.assertEqual(self.run_forbidden("t", UNWRITABLE, "dump", "verify", "t").returncode, 0)


if __name__ == "__main__":
    TOOLS.update((name, os.open(sys.argv.pop(1), os.O_RDONLY)) for name in ("dump", "import", "table"))
    unittest.main()
