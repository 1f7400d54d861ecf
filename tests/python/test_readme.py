"""The blocks of the documents in tools/python run, and print what the documents say. The block of README.md runs."""
import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _without_times(text):
    return re.sub(r"[\d,]+\.\d (µs|ms)", "a time", text)


@pytest.mark.parametrize("document, outputs", [("README.md", 5), ("TUTORIAL.md", 12)])
def test_blocks(tmp_path, monkeypatch, document, outputs):
    monkeypatch.chdir(tmp_path)
    path = ROOT / "tools/python" / document
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names = {}
    printed = ""
    compared = 0
    for language, text in blocks:
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, str(path), "exec"), names)  # names are variables that DuckDB finds
            printed = output.getvalue()
        else:
            assert _without_times(printed) == _without_times(text)
            compared += 1
    assert compared == outputs


def test_block_of_the_project(tmp_path, monkeypatch, capsys):
    """The comments in the block say what it prints."""
    monkeypatch.chdir(tmp_path)
    block, = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(block, {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == re.findall(r"# (.*)", block)
    assert [line.split() for line in printed[2:]] == [["fruit", "kilos"], ["0", "apple", "12.5"], ["1", "fig", "8.0"]]
