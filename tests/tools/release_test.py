#!/usr/bin/env python3
"""Tests tools/release in a small repository, whose programs write the golden files, the packages and the wheels at once."""
import contextlib
import hashlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("release", str(ROOT / "tools/release"))
release = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", LOADER))
sys.dont_write_bytecode = True
LOADER.exec_module(release)

MINT = '#!/bin/sh\nmkdir -p $1 && cp -r "$(dirname "$0")/../../../tests/golden/{0}-1.2/." $1 && {1}\n'
FILES = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
set(CFILE_VERSION 1.2.0) # the version
project(small LANGUAGES NONE)
foreach(name mint mint_tables)
  add_custom_target(cfile_${name} COMMAND cp ${CMAKE_SOURCE_DIR}/${name} tests/cfile_${name})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
""",
    "CMakePresets.json": """{"version": 6, "configurePresets": [{"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}],
"buildPresets": [{"name": "dev", "configurePreset": "dev"}]}""",
    ".gitignore": "build\n",
    "CHANGELOG.md": "# Changelog\n\nText.\n\n## 1.2.0 - 2026-01-02\n\n### Added\n\n- One thing.\n\n## 1.1.0 - 2025-01-01\n\n- Old.\n",
    "tools/build-jobs": "#!/bin/sh\necho 1\n",
    "mint": MINT.format("cfile", "rm -rf $1/table && mkdir $1/table && echo other >$1/table/table.cft"),
    "mint_tables": MINT.format("tables", "true"),
    "tests/golden/cfile-1.2/a.cfile": "values",
    "tests/golden/cfile-1.2/table/table.cft": "by cfile 1.2.0",
    "tests/golden/tables-1.2/keys.json": "{}",
    "tests/golden/tables-1.2/keys/table.cft": "by cfile 1.2.0",
    # Git finds no repository here.
    "tests/campaign/compilers": '#!/bin/sh\n! git log 2>/dev/null && [ "$1 $2" = "shared --packages" ] && echo lib >"$3/libcfile1.2_1.2.0-1_amd64.deb"\n',
    "tests/campaign/wheels": """#!/bin/sh
[ "$2" = --wheels ] && cd "$3" && touch cfile-1.2.0-cp311-cp311-manylinux_2_36_x86_64.whl cfile-1.2.0-cp312-abi3-manylinux_2_36_x86_64.whl
""",
}
MADE = ["NOTES.md", "SHA256SUMS", "cfile-1.2.0-cp311-cp311-manylinux_2_36_x86_64.whl", "cfile-1.2.0-cp312-abi3-manylinux_2_36_x86_64.whl",
        "cfile-1.2.0.tar.gz", "libcfile1.2_1.2.0-1_amd64.deb"]


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        release.ROOT = self.root = pathlib.Path(folder.name).resolve() / "root"
        self.made = pathlib.Path(folder.name).resolve() / "made"
        environment = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                       for what, value in (("NAME", "n"), ("EMAIL", "e"), ("DATE", "2026-01-02T12:00:00Z"))}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        for name, text in FILES.items():
            self.write(name, text)
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def change(self, name, before, after):
        """Changes a file and commits the change."""
        text = (self.root / name).read_text()
        self.assertIn(before, text)
        self.write(name, text.replace(before, after))
        self.commit()

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.root, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "-m", "m")

    def release(self, *arguments):
        """What tools/release prints."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            release.main(["1.2.0", *map(str, arguments)])
        return out.getvalue()

    def refused(self, pattern, *arguments):
        with self.assertRaisesRegex(SystemExit, pattern):
            self.release(*arguments)

    def test_notes(self):
        self.assertEqual(self.release(), "### Added\n\n- One thing.\n")
        self.assertFalse((self.root / "build").exists())

    def test_all_files(self):
        printed = self.release(self.made)
        self.assertEqual(sorted(path.name for path in self.made.iterdir()), MADE)
        self.assertEqual((self.made / "NOTES.md").read_text(), """# cfile 1.2.0

### Added

- One thing.

### Files

- cfile-1.2.0-cp311-cp311-manylinux_2_36_x86_64.whl: Python 3.11, manylinux_2_36_x86_64
- cfile-1.2.0-cp312-abi3-manylinux_2_36_x86_64.whl: Python 3.12 or later, manylinux_2_36_x86_64
- cfile-1.2.0.tar.gz
- libcfile1.2_1.2.0-1_amd64.deb
""")
        sums = {name: hashlib.sha256((self.made / name).read_bytes()).hexdigest() for name in MADE if name != "SHA256SUMS"}
        self.assertEqual((self.made / "SHA256SUMS").read_text(), "".join(f"{sums[name]}  {name}\n" for name in sums))
        with tarfile.open(self.made / "cfile-1.2.0.tar.gz") as tarball:
            names = {f"cfile-1.2.0/{name}" for name in FILES}
            self.assertEqual({member.name for member in tarball if member.isfile()}, names)
        self.assertIn(f"to tag this commit: git tag --annotate v1.2.0 --message 'cfile 1.2.0' {self.git('rev-parse', 'HEAD')}\n", printed)
        self.assertEqual(self.git("tag"), "")

        tarball = (self.made / "cfile-1.2.0.tar.gz").read_bytes()
        self.refused("made is not empty", self.made)
        shutil.rmtree(self.made)
        for _ in range(2):  # the second time, the tag exists
            self.release(self.made, "--tag")
            self.assertEqual((self.made / "cfile-1.2.0.tar.gz").read_bytes(), tarball)
            self.assertEqual(self.git("rev-parse", "v1.2.0^{commit}"), self.git("rev-parse", "HEAD"))
            shutil.rmtree(self.made)

    def test_uncommitted_changes(self):
        self.write("new.txt", "")
        self.refused(r"uncommitted changes:\n\?\? new.txt", self.made)

    def test_another_version(self):
        self.change("CMakeLists.txt", "1.2.0", "1.2.1")
        self.refused("CMakeLists.txt has the version 1.2.1")
        self.change("CMakeLists.txt", "1.2.1", "1.2.0-dev")
        self.refused("(?s)CMakeLists.txt has the version 1.2.0-dev.*not released yet:\nCMakeLists.txt")

    def test_changelog(self):
        for heading in ("1.2.0", "Unreleased", "1.2.0 - 2026-01-03"):
            self.change("CHANGELOG.md", "1.2.0 - 2026-01-02", heading)
            self.refused(f'is "{heading}", not "1.2.0 - 2026-01-02"')
            self.change("CHANGELOG.md", heading, "1.2.0 - 2026-01-02")

    def test_not_released_yet(self):
        for text in ("0.9; 1.2, not yet released", "until the release of 1.2.", "cfile 1.2.0-dev"):
            self.write("FORMAT.md", text)
            self.commit()
            self.refused("not released yet:\nFORMAT.md")
        self.write("FORMAT.md", "11.2, not yet released; until the release of 1.20; 1x2.0-dev")
        self.commit()
        self.release()

    def test_a_tag_of_another_commit(self):
        self.git("tag", "v1.2.0")
        self.release()
        self.change(".gitignore", "build", "build*")
        self.refused("the tag v1.2.0 is at another commit", self.made, "--tag")

    def test_golden_files(self):
        self.change("tests/golden/tables-1.2/keys/table.cft", "1.2.0", "1.1.0")
        self.refused("1 of 2 golden tables in tests/golden are of another version")
        self.change("tests/golden/tables-1.2/keys/table.cft", "1.1.0", "1.2.0")
        self.change("mint", "&& rm", "&& echo x >$1/a.cfile && echo y >$1/b.cfile && rm")
        self.refused("cfile_mint writes other files than those of tests/golden/cfile-1.2: 2 differ, a.cfile, b.cfile", self.made)
        self.change("mint", "echo x", "printf values")
        self.refused("cfile-1.2: 1 differ, b.cfile", self.made)
        self.change("mint", "echo y >$1/b.cfile", "true")
        self.change("mint_tables", "true", "rm $1/keys.json")
        self.refused("cfile_mint_tables writes other files than those of tests/golden/tables-1.2: 1 differ, keys.json", self.made)
        self.assertFalse(self.made.exists())

    def test_failed_and_missing_programs(self):
        self.change("tests/campaign/wheels", "cp312-abi3-", "cp312-cp312-")
        self.refused(r"there is no \*-abi3-\*.whl", self.made)
        self.change("tests/campaign/wheels", "cd", "echo no PyPI && false && cd")
        self.refused(r"(?s)no PyPI.*tests/campaign/wheels .* ends with 1", self.made)
        self.assertFalse(self.made.exists())

    def test_wrong_arguments(self):
        with self.assertRaisesRegex(SystemExit, "the form 1.2.3, not v1.2.0"):
            release.main(["v1.2.0"])
        self.refused("--tag needs a FOLDER", "--tag")


if __name__ == "__main__":
    unittest.main()
