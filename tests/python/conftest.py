"""What the tests share."""
from __future__ import annotations

import doctest
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import cfile

doctest.ELLIPSIS_MARKER = "..."


@pytest.fixture
def tmp(tmp_path: pathlib.Path) -> pathlib.Path:
    """A fresh folder."""
    return tmp_path


@pytest.fixture
def stored(tmp):
    """Writes data and opens the result: stored(data, **options)."""
    def write_and_open(data, name="data", **options):
        cfile.write(tmp / name, data, **options)
        return cfile.open(tmp / name)
    return write_and_open


def python_path(folder):
    """PYTHONPATH for another interpreter, which finds `folder` first, and then what this one finds."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


@pytest.fixture
def run(tmp):
    """Runs a program in another interpreter, with `tmp` as its folder. Returns what it prints."""
    def run_program(program: str) -> str:
        path = tmp / "program.py"
        path.write_text(textwrap.dedent(program))
        package = os.path.dirname(os.path.dirname(cfile.__file__))
        result = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120, cwd=tmp,
                                env={**os.environ, "PYTHONPATH": python_path(package)})
        assert result.returncode == 0, f"exit {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result.stdout
    return run_program


def parted(folder, table, parts, **options):
    """Writes a pyarrow.Table in several parts, and opens the table."""
    rows = -(-table.num_rows // parts)
    cfile.write(folder, table[:rows], **options)
    options.pop("sorted_by", None)
    for begin in range(rows, table.num_rows, rows):
        cfile.append(folder, table[begin:begin + rows], **options)
    return cfile.open(folder)
