"""The examples in docstrings run, and every public object has a docstring."""
import doctest
import importlib
import inspect
import pathlib
import pkgutil

import polars
import pyarrow
import pytest

import cfile

MODULES = ["cfile", *(f"cfile.{module.name}" for module in pkgutil.iter_modules(cfile.__path__)
                      if module.name != "_native" and not module.name.startswith("spark"))]  # spark*: PySpark may not be installed


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, tmp):
    module = importlib.import_module(name)
    for number, test in enumerate(doctest.DocTestFinder().find(module, name)):
        folder = tmp / str(number)
        folder.mkdir()
        test.globs = {"cfile": cfile, "pyarrow": pyarrow, "polars": polars, "tmp": folder}
        result = doctest.DocTestRunner().run(test)
        assert result.failed == 0, test.name


def test_there_are_examples():
    found = [test for name in MODULES for test in doctest.DocTestFinder().find(importlib.import_module(name), name) if test.examples]
    assert len(found) >= 10


@pytest.mark.parametrize("name", cfile.__all__)
def test_public_objects_are_documented(name):
    public = getattr(cfile, name)
    if name == "__version__":
        return
    assert inspect.getdoc(public) or not inspect.isroutine(public)
    if inspect.isclass(public):
        for member, value in vars(public).items():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__ or any(getattr(getattr(base, member, None), "__doc__",
                    None) for base in public.__mro__), f"{name}.{member}"


def test_sources_are_short():
    for path in pathlib.Path(cfile.__file__).parent.glob("*.py*"):
        lines = path.read_text().splitlines()
        assert len(lines) <= 300 and all(len(line) <= 140 for line in lines), path
