"""Appends that change the columns of a table."""
from __future__ import annotations

import os
import pathlib
import random
import tempfile

import pandas
import pyarrow
import pytest
from random_schemas import append_other_columns

import cfile


@pytest.fixture
def memory():
    """A folder in memory, because the test below makes many files durable."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield pathlib.Path(folder)


@pytest.mark.parametrize("seed", range(100))
def test_random_schemas(seed, memory):
    append_other_columns(random.Random(seed), memory)


@pytest.mark.parametrize("data", [
    {"a": [None], "b": ["x"]},
    {"a": [1.5], "b": ["x"]},
    {"a": [1]},
    {"a": [1], "b": ["x"], "c": [1]}])
def test_errors_name_the_option(data, tmp):
    schema = pyarrow.schema([pyarrow.field("a", pyarrow.int64(), nullable=False), ("b", pyarrow.string())])
    cfile.write(tmp / "t", pyarrow.table({"a": [1], "b": ["x"]}, schema=schema))
    with pytest.raises(cfile.ArgumentError, match="evolve=True changes"):
        cfile.append(tmp / "t", pyarrow.table(data))
    cfile.append(tmp / "t", pyarrow.table(data), evolve=True)
    assert cfile.open(tmp / "t").to_pylist()[1] == {name: values[0] for name, values in {"b": [None], **data}.items()}


def test_only_nulls_fit_each_type(tmp):
    cfile.write(tmp / "t", pyarrow.table({"a": [1], "b": ["x"]}))
    for type in (pyarrow.string(), pyarrow.float32(), pyarrow.null()):
        cfile.append(tmp / "t", pyarrow.table({"a": pyarrow.array([None], type), "b": pyarrow.array([None], pyarrow.int8())}))
    assert cfile.open(tmp / "t").to_pylist() == [{"a": 1, "b": "x"}] + 3 * [{"a": None, "b": None}]
    with pytest.raises(cfile.ArgumentError, match="its values are string, but the column holds int64"):
        cfile.append(tmp / "t", pyarrow.table({"a": [None, "x"], "b": [None, None]}))
    # Groups and lists.
    rows = [{"s": {"x": 1, "y": ["b"]}, "l": [1, None]}]
    cfile.write(tmp / "n", pyarrow.Table.from_pylist(rows))
    for type in (pyarrow.string(), pyarrow.null(), pyarrow.int32()):
        cfile.append(tmp / "n", pyarrow.table({"s": pyarrow.array([None, None], type), "l": pyarrow.array([None, None], type)}))
    cfile.append(tmp / "n", pandas.DataFrame({"s": [None], "l": [None]}))
    assert cfile.open(tmp / "n").to_pylist() == rows + 7 * [{"s": None, "l": None}]
    for name, text in (("s", "needs a struct"), ("l", "needs a list")):
        with pytest.raises(cfile.ArgumentError, match=text):
            cfile.append(tmp / "n", pyarrow.table({"s": [None], "l": pyarrow.nulls(1)} | {name: ["x"]}))


def test_sorted_tables(tmp):
    cfile.write(tmp / "t", pyarrow.table({"k": pyarrow.array([1, 3], pyarrow.int8()), "v": [1, 2]}), sorted_by="k")
    cfile.append(tmp / "t", pyarrow.table({"k": [2, 2**40], "v": [0.5, None], "w": ["x", "y"]}), evolve=True)
    table = cfile.open(tmp / "t")
    assert table.to_pylist()[table.find(2**40)]["w"] == "y"
    assert sorted(row["k"] for row in table.to_pylist()) == [1, 2, 3, 2**40]
    for wrong, text in (({"k": [None], "v": [1]}, "column k cannot get nulls"), ({"v": [1]}, "column k cannot get nulls"),
                        ({"k": [5, 4], "v": [1, 1]}, "must ascend")):
        with pytest.raises(cfile.ArgumentError, match=text):
            cfile.append(tmp / "t", pyarrow.table(wrong), evolve=True)
    assert len(cfile.open(tmp / "t")) == 4


@pytest.mark.parametrize("key", ["ARROW:categories", "ARROW:polars"])
@pytest.mark.parametrize("text", ["no JSON", "[1]", "5"])
def test_metadata_of_other_programs(tmp, key, text):
    cfile.write(tmp / "t", pyarrow.table({"a": [1]}))
    cfile.append(tmp / "t", pyarrow.table({"a": [2], "b": [3]}, metadata={key: text}), evolve=True)
    assert cfile.open(tmp / "t").to_pylist() == [{"a": 1, "b": None}, {"a": 2, "b": 3}]


def test_pandas_and_options(tmp):
    cfile.write(tmp / "t", pandas.DataFrame({"a": [1, 2]}))
    cfile.append(tmp / "t", pandas.DataFrame({"a": [1.5, None], "n": ["x", None]}), compression={"n": "zstd"}, evolve=True)
    frame = cfile.open(tmp / "t").to_pandas()
    assert frame["a"].tolist()[:3] == [1, 2, 1.5] and frame["n"].tolist()[2] == "x"
    with pytest.raises(KeyError, match="typo"):
        cfile.append(tmp / "t", pandas.DataFrame({"a": [1]}), compression={"typo": "zstd"}, evolve=True)
    with pytest.raises(cfile.ArgumentError, match="does not replace parts"):
        cfile.append(tmp / "t", pandas.DataFrame({"a": [1]}), replacing=[cfile.open(tmp / "t").parts[0]["name"]], evolve=True)
