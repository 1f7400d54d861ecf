#!/usr/bin/env python3
"""Tests tests/campaign/abi with a library of one function. Exits with 77 without abidiff."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
add_library(cfile SHARED cfile.cc)
set_target_properties(cfile PROPERTIES SOVERSION 0.2)
install(TARGETS cfile)
install(FILES options.h DESTINATION include)
""",
    ".gitignore": "build\n",
    "options.h": "struct Hidden;\nstruct Options { int size = 0; Hidden* hidden = nullptr; };\n",
    "hidden.h": "struct Hidden { int size = 0; };\n",
    "cfile.cc": '#include "options.h"\n#include "hidden.h"\nint Open(const Options& options) { return options.size + options.hidden->size; }\n',
}


class Abi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in FILES.items():
            (self.root / name).write_text(text)
        for name in ("tests/campaign/abi", "tools/build-jobs"):
            (self.root / name).parent.mkdir(parents=True)
            shutil.copy(ROOT / name, self.root / name)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "m")

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, *arguments], check=True, capture_output=True)

    def change(self, name, before, after):
        text = (self.root / name).read_text()
        self.assertIn(before, text)
        (self.root / name).write_text(text.replace(before, after))

    def expect(self, last_line, code, *parts):
        done = subprocess.run([self.root / "tests/campaign/abi"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual((done.stdout.splitlines()[-1], done.returncode), (last_line, code), done.stdout)
        for part in parts:
            self.assertIn(part, done.stdout)

    def test_no_release(self):
        self.expect("nothing compared, because no release is tagged, 0 findings", 0)

    def test_differences(self):
        self.git("tag", "v0.2.0")
        self.change("cfile.cc", "int Open", "int Close() { return 0; }\nint Open")
        self.change("hidden.h", "int size", "long size")
        self.expect("1 libraries of v0.2.0, 0 with a new name, 0 findings", 0)
        self.change("options.h", "int size", "long size")
        self.expect("1 libraries of v0.2.0, 0 with a new name, 1 findings", 1, "abi: libcfile.so.0.2 differs from v0.2.0",
                    "type of 'int size' changed")
        self.change("options.h", "long size", "int size")
        self.change("cfile.cc", "int Open", "static int Open")
        self.expect("1 libraries of v0.2.0, 0 with a new name, 1 findings", 1, "1 Removed function", "Open(const Options&)")
        self.change("CMakeLists.txt", "0.2", "0.3")
        self.expect("1 libraries of v0.2.0, 1 with a new name, 0 findings", 0)

    def test_a_tree_that_cannot_be_built(self):
        self.git("tag", "v0.2.0")
        self.change("cfile.cc", "return", "return no")
        self.expect("abi: . cannot be built", 1)


if __name__ == "__main__":
    if not shutil.which("abidiff") or not shutil.which("git"):
        print("SKIPPED: abidiff is not installed (Debian's package abigail-tools)")
        sys.exit(77)
    unittest.main()
