"""Types: mypy and pyright accept the package and a program that uses it, and the stub of the native module is complete."""
import inspect
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import cfile
from cfile import _native
from conftest import python_path

PACKAGE = pathlib.Path(cfile.__file__).parent
PROGRAM = """
import pathlib
import cfile
from cfile import Column, Table, col

path = pathlib.Path("t")
cfile.write(path, cfile.open("f"), sorted_by="id", compression={"name": "zstd"}, overwrite=True)
table: Table = cfile.open(path)
rows = table.scan((col("id") > 3) & ~col("name").startswith("x"), columns=["id"], limit=5)
count: int = rows.count() + len(table) + table.seek(5)
found: int | None = table.find((1, "a"))
column: Column = table["id"]
names: list[str] = table.columns
first = rows[0:3]
for piece in cfile.fragments(path, 4, where=col("id").isin([1, 2])):
    print(piece.part, piece.count())
report: dict[str, int] = cfile.from_parquet("f.parquet", path, sorted_by="id", goal={"name": "size"}, overwrite=True)
cfile.to_parquet(table, path, page_version=1, columns=names)
try:
    cfile.append(path, table)
except cfile.DataError as error:
    print(error.file, error.offset)
"""
WRONG = 'import cfile\ncfile.write("t", 1, sorted_by=5)\ncount: str = cfile.fragments("t")[0].count()\n'


def _run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": python_path(PACKAGE.parent), **options},
                          cwd=options.get("PWD"))


@pytest.fixture
def checked(tmp):
    """A folder with the program and a copy of the package."""
    shutil.copytree(PACKAGE, tmp / "package" / "cfile", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp / "program.py").write_text(PROGRAM)
    (tmp / "wrong.py").write_text(WRONG)
    # pyarrow has no types.
    (tmp / "mypy.ini").write_text("[mypy]\nstrict = True\n[mypy-pyarrow.*]\nignore_missing_imports = True\n")
    (tmp / "pyrightconfig.json").write_text('{"extraPaths": ["package"], "typeCheckingMode": "standard"}')
    return tmp


def test_mypy(checked):
    pytest.importorskip("mypy")

    def mypy(*paths):
        return _run(sys.executable, "-m", "mypy", "--config-file", str(checked / "mypy.ini"), "--cache-dir", str(checked / "cache"),
                    *map(str, paths), MYPYPATH=str(checked / "package"))
    result = mypy(checked / "program.py", checked / "package" / "cfile")
    assert result.returncode == 0, result.stdout + result.stderr
    result = mypy(checked / "wrong.py")
    assert result.stdout.count("error:") == 2, result.stdout


def test_pyright(checked):
    pytest.importorskip("basedpyright")  # pyright with a package of its own of node
    result = _run(sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, PWD=str(checked))
    errors = [line for line in result.stdout.splitlines() if " error:" in line]
    assert len(errors) == 2 and all("wrong.py" in line for line in errors), result.stdout + result.stderr


def _names_of_stub():
    """(class or "", name, parameters) of each function of the stub. The parser of Python gives the parameters."""
    import ast
    tree = ast.parse((PACKAGE / "_native.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield "", node.name, node.args
        elif isinstance(node, ast.ClassDef) and not any(isinstance(base, ast.Name) and base.id in ("TypedDict",
            "Protocol") for base in node.bases):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield node.name, inner.name, inner.args
                elif isinstance(inner, ast.AnnAssign):
                    yield node.name, inner.target.id, None


def test_the_stub_has_the_names_of_the_module():
    stub = list(_names_of_stub())
    functions = {name for owner, name, _ in stub if not owner}
    types = {owner for owner, _, _ in stub if owner}
    assert functions | types == {name for name in dir(_native) if not name.startswith("_")}
    for owner in types:
        members = {name for of, name, _ in stub if of == owner and not name.startswith("_")}
        assert members == {name for name in dir(getattr(_native, owner)) if not name.startswith("_")}, owner
        for of, name, _ in stub:
            assert of != owner or hasattr(getattr(_native, owner), name), (owner, name)


def test_the_stub_has_the_parameters_of_the_module():
    """The native module says its parameters in the first line of each docstring."""
    compared = 0
    for owner, name, arguments in _names_of_stub():
        if arguments is None or name == "__init__":
            continue
        function = getattr(getattr(_native, owner) if owner else _native, name)
        line = inspect.getdoc(function).splitlines()[0]
        inside = line[line.index("(") + 1:line.rindex(")")] if "->" not in line else line[line.index("(") + 1:line.rindex(") ->")]
        depth, text = 0, ""
        for character in inside:  # drops what is inside of brackets
            depth += character in "[({"
            text += character if depth == 0 else ""
            depth -= character in "])}"
        native = [part.split(":")[0].split("=")[0].strip() for part in text.split(",") if part.strip()]
        optional = [part.split(":")[0].split("=")[0].strip() for part in text.split(",") if "=" in part]
        native = [part for part in native if part != "self"]
        only = [argument.arg for argument in arguments.posonlyargs if argument.arg != "self"]  # the module does not name them
        positional = [argument.arg for argument in arguments.args if argument.arg != "self"]
        with_default = positional[len(positional) - len(arguments.defaults):] if arguments.defaults else []
        keywords = [argument.arg for argument in arguments.kwonlyargs]
        expected = [*(f"arg{number}" if len(only) > 1 else "arg" for number in range(len(only))), *(["/"] if only else []), *positional,
                    *(["*"] if keywords else []), *keywords, *([f"**{arguments.kwarg.arg}"] if arguments.kwarg else [])]
        assert native == expected, line
        defaults = [*with_default, *(key for key, value in zip(keywords, arguments.kw_defaults) if value is not None)]
        assert optional == defaults, line
        compared += 1
    assert compared > 40
