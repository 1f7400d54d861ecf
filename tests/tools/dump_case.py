"""Shared by tests of cfile-dump, which are started as SCRIPT CFILE_DUMP CFILE_IMPORT."""

import os
import pathlib
import sys
import tempfile
import unittest

import tool_runner

DUMP, IMPORT = (os.path.abspath(path) for path in sys.argv[1:3])  # paths of the binaries


class DumpCase(unittest.TestCase):
    """All tests of a class share one temporary folder, `folder`, in which the tools run."""

    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    @classmethod
    def make(cls, text, table, *options, loose=False):
        """Imports the file `text` into `table`. loose: the part is not packed, so each of its columns has a file."""
        if loose:
            options = (*options, "--pack-below", "0")
        done = tool_runner.run(IMPORT, text, table, "--quiet", *options, cwd=cls.folder)
        assert done.returncode == 0, done.stderr.decode()

    def run_tool(self, tool, *arguments):
        """Returns the exit code, the output and the errors."""
        done = tool_runner.run(tool, *arguments, cwd=self.folder)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def run_dump(self, *arguments):
        return self.run_tool(DUMP, *arguments)

    def dump(self, *arguments):
        """Returns the output. Fails if there are errors."""
        code, out, error = self.run_dump(*arguments)
        self.assertEqual((code, error), (0, ""), arguments)
        return out
