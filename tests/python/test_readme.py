"""The blocks of tools/python/README.md run, and print what it says. The block of README.md runs."""
import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "tools/python/README.md"


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


def test_block_of_the_project(tmp_path, monkeypatch):
    import pandas
    monkeypatch.chdir(tmp_path)
    block, = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names = {"frame": pandas.DataFrame({"time_hour": [2, 1, 3], "carrier": ["UA", "AA", "DL"], "dep_delay": [61.0, 60.0, 99.0]})}
    exec(block, names)
    assert names["late"].to_dict("list") == {"carrier": ["UA", "DL"], "dep_delay": [61.0, 99.0]}
