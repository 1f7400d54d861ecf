"""The blocks of tools/python/spark.md run, and print what the document says."""
import contextlib
import io
import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[3] / "tools/python/spark.md"


def test_blocks(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(type(spark), "stop", lambda self: None)  # the session of all tests goes on
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names, printed, compared = {}, "", 0
    for language, text in blocks:
        if language == "python":
            # Spark resolves relative paths in other processes.
            text = re.sub(r'(save|load|open|compact|collect_garbage)\("(\w+)"', rf'\1("{tmp_path}/\2"', text)
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, str(DOCUMENT), "exec"), names)
            printed = output.getvalue()
        else:
            assert printed == text
            compared += 1
    assert compared == 5


def test_all_options_are_there():
    from cfile import spark as module
    text = DOCUMENT.read_text(encoding="utf-8")
    for option in (*module._READ_OPTIONS, *module._WRITE_OPTIONS):
        assert f"`{option}`" in text or f'"{option}"' in text, option
