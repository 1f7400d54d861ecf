"""Appends that change the columns of a table."""
from __future__ import annotations

import datetime
import os
import pathlib
import random
import tempfile

import pandas
import pyarrow
import pytest

import cfile

SIGNED = {pyarrow.int8(): 8, pyarrow.int16(): 16, pyarrow.int32(): 32, pyarrow.int64(): 64}
UNSIGNED = {pyarrow.uint8(): 8, pyarrow.uint16(): 16, pyarrow.uint32(): 32, pyarrow.uint64(): 64}
FLOATS = {pyarrow.float32(), pyarrow.float64()}
OTHERS = {pyarrow.string(): ["", "x", "7"], pyarrow.bool_(): [True, False], pyarrow.date32(): [datetime.date(2013, 1, 1)],
          pyarrow.timestamp("us"): [datetime.datetime(2013, 1, 1, 5, 15)]}
TYPES = [*SIGNED, *UNSIGNED, *FLOATS, *OTHERS]


def value(chosen: random.Random, type):
    if type in OTHERS:
        return chosen.choice(OTHERS[type])
    if type in FLOATS:
        return chosen.choice([0.0, -1.5, 2.0**60])
    bits = SIGNED.get(type, 0) - 1 if type in SIGNED else UNSIGNED[type]
    least = -2**bits if type in SIGNED else 0
    exact = chosen.random() < 0.8  # as a double
    return chosen.choice([least, 0, 1, min(2**bits - 1, 2**53)] if exact else [2**bits - 1])


def rows(chosen: random.Random, names, all_null) -> pyarrow.Table:
    """Random columns. `all_null`: whether a column may have only nulls."""
    count = chosen.randrange(1, 6)
    arrays, fields = [], []
    for name in names:
        type = chosen.choice(TYPES)
        nulls = chosen.choice([0, 0, 0.5, 1] if all_null else [0, 0, 0.5])
        values = [None if chosen.random() < nulls else value(chosen, type) for _ in range(count)]
        if nulls == 1 and chosen.random() < 0.5:
            type = pyarrow.null()
        arrays.append(pyarrow.array(values, type))
        fields.append(pyarrow.field(name, type, nullable=None in values or chosen.random() < 0.3))
    return pyarrow.table(arrays, schema=pyarrow.schema(fields))


def fits(old: pyarrow.ChunkedArray, new: pyarrow.ChunkedArray) -> bool:
    """Whether one column can have the values of both."""
    if new.null_count == len(new) or old.type == new.type:
        return True
    if old.type in OTHERS or new.type in OTHERS:
        return False
    if old.type in FLOATS or new.type in FLOATS:
        return all(v is None or int(float(v)) == int(v) for part in (old, new) if part.type not in FLOATS for v in part.to_pylist())
    if (old.type in SIGNED) == (new.type in SIGNED):
        return True
    return UNSIGNED[old.type if old.type in UNSIGNED else new.type] < 64


@pytest.fixture
def memory():
    """A folder in memory, because the test below makes many files durable."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield pathlib.Path(folder)


@pytest.mark.parametrize("seed", range(100))
def test_random_schemas(seed, memory):
    chosen = random.Random(seed)
    names = "abcdef"
    old = rows(chosen, chosen.sample(names, chosen.randrange(1, 5)), all_null=False)
    new = rows(chosen, chosen.sample(names, chosen.randrange(1, 5)), all_null=True)
    cfile.write(memory / "t", old)
    if chosen.random() < 0.5:
        cfile.append(memory / "t", old)
        old = pyarrow.concat_tables([old, old])
    before = cfile.open(memory / "t")
    schema, parts = pyarrow.schema(before), before.parts
    unfit = [name for name in old.column_names if name in new.column_names and not fits(old[name], new[name])]
    try:
        cfile.append(memory / "t", new, evolve=True)
    except cfile.ArgumentError as error:
        assert any(f"column {name}" in str(error) for name in unfit), (str(error), unfit)
        after = cfile.open(memory / "t")
        assert (pyarrow.schema(after), after.parts, after.to_pylist()) == (schema, parts, old.to_pylist())
        assert sorted(path.name for path in (memory / "t").glob("part-*")) == sorted(part["name"] for part in parts)
        return
    assert not unfit
    columns = old.column_names + [name for name in new.column_names if name not in old.column_names]
    expected = [{name: row.get(name) for name in columns} for row in old.to_pylist() + new.to_pylist()]
    after = cfile.open(memory / "t")
    assert after.to_pylist() == expected
    assert len(after.parts) == len(parts) + 1
    cfile.compact(memory / "t")
    assert cfile.open(memory / "t").to_pylist() == expected


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


def test_pandas_and_options(tmp):
    cfile.write(tmp / "t", pandas.DataFrame({"a": [1, 2]}))
    cfile.append(tmp / "t", pandas.DataFrame({"a": [1.5, None], "n": ["x", None]}), compression={"n": "zstd"}, evolve=True)
    frame = cfile.open(tmp / "t").to_pandas()
    assert frame["a"].tolist()[:3] == [1, 2, 1.5] and frame["n"].tolist()[2] == "x"
    with pytest.raises(KeyError, match="typo"):
        cfile.append(tmp / "t", pandas.DataFrame({"a": [1]}), compression={"typo": "zstd"}, evolve=True)
    with pytest.raises(cfile.ArgumentError, match="does not replace parts"):
        cfile.append(tmp / "t", pandas.DataFrame({"a": [1]}), replacing=[cfile.open(tmp / "t").parts[0]["name"]], evolve=True)
