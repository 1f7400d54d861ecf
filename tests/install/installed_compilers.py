"""Finds the compilers of this machine with which cfile must compile, beside GCC."""
import os
import pathlib
import re
import shutil
import subprocess


def installed_compilers():
    """{"clang", "newest-clang", "libc++": command, or None if it is not installed}. The newest clang is another one than clang++.

    libc++ is taken with the newest clang that has one. Versions below 16 lack parts of C++20 that cfile needs.
    """
    clang = shutil.which("clang++")
    versions = {int(path.name[len("clang++-"):]): path for folder in reversed(os.get_exec_path())
                for path in pathlib.Path(folder).glob("clang++-*") if re.fullmatch(r"clang\+\+-\d+", path.name)}
    newest = str(versions[max(versions)]) if versions else None
    if newest and clang and os.path.realpath(newest) == os.path.realpath(clang):
        newest = None
    found = {"clang": [clang] if clang else None, "newest-clang": [newest] if newest else None, "libc++": None}
    source = b"#include <memory>\nauto array = std::make_unique_for_overwrite<int[]>(1);\n"
    for compiler in filter(None, (newest, clang)):
        command = [compiler, "-stdlib=libc++"]
        if subprocess.run([*command, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input=source, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0:
            found["libc++"] = found["libc++"] or command
    return found
