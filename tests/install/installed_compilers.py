"""Finds the compilers of this machine with which cfile must compile, beside GCC."""
import os
import pathlib
import re
import shutil
import subprocess


def installed_compilers():
    """{"clang", "newest-clang", "libc++": command, or None if it is not installed}. The newest clang is another one than clang++."""
    clang = shutil.which("clang++")
    versions = {int(path.name[len("clang++-"):]): path for folder in reversed(os.get_exec_path())
                for path in pathlib.Path(folder).glob("clang++-*") if re.fullmatch(r"clang\+\+-\d+", path.name)}
    newest = str(versions[max(versions)]) if versions else None
    if newest and clang and os.path.realpath(newest) == os.path.realpath(clang):
        newest = None
    found = {"clang": [clang] if clang else None, "newest-clang": [newest] if newest else None, "libc++": None}
    for compiler in filter(None, (clang, newest)):
        command = [compiler, "-stdlib=libc++"]
        if subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], input=b"#include <vector>\n", stderr=subprocess.DEVNULL,
                          check=False).returncode == 0:
            found["libc++"] = found["libc++"] or command
    return found
