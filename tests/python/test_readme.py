"""The blocks of tools/python/README.md run, and print what the README says."""
import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[2] / "tools/python/README.md"


def test_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names = {}
    printed = ""
    compared = 0
    for language, text in blocks:
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, str(README), "exec"), names)  # names are variables that DuckDB finds
            printed = output.getvalue()
        else:
            assert printed == text
            compared += 1
    assert compared == 3
