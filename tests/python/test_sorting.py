"""Tables are sorted as Python sorts, also with so little memory that the rows are sorted in runs."""
import datetime
import decimal
import itertools
import math
import os
import random

import polars
import pyarrow
import pytest
import test_types
from cfile import sorting


def _key(*columns):
    """Python's key for rows with nulls, which come first."""
    return lambda row: tuple((row[column] is not None, 0 if row[column] is None else row[column]) for column in columns)


@pytest.mark.parametrize("memory_limit_bytes", [1 << 30, 3000, 1])
@pytest.mark.parametrize("names", [["unique"], ["few"], ["nullable"], ["few", "text"], ["text", "nullable", "few"]])
def test_sorting_is_pythons_stable_sort(stored, names, memory_limit_bytes, tmp):
    chance = random.Random(7)
    rows = [{"row": row, "unique": unique, "few": chance.randrange(5), "nullable": chance.choice([None, -1.5, 0.0, 2.5]),
             "text": chance.choice(["", "a", "é", "\U0001f600", "ab"])} for row, unique in enumerate(chance.sample(range(10**9), 500))]
    schema = pyarrow.schema([("row", "int32"), pyarrow.field("unique", pyarrow.int64(), nullable=False), ("few", "int8"),
                             ("nullable", "double"), ("text", "string")])
    batches = pyarrow.Table.from_pylist(rows, schema).to_batches(max_chunksize=60)
    table = stored(pyarrow.RecordBatchReader.from_batches(schema, batches), sorted_by=names, memory_limit_bytes=memory_limit_bytes)
    expected = sorted(rows, key=_key(*names))
    assert table.to_pylist() == expected
    assert os.listdir(tmp) == ["data"]
    key = tuple(expected[250][name] for name in names)
    first = next(row for row in range(500) if tuple(expected[row][name] for name in names) == key)
    assert table.find(key if len(names) > 1 or key[0] is None or table.key else key[0]) == first


@pytest.mark.parametrize("name", test_types.FLAT)
def test_columns_of_every_type_are_sorted(stored, name):
    values = [value for value in test_types.ARRAYS[name].to_pylist() if value == value or value is None]
    chance = random.Random(8)
    array = test_types.ARRAYS[name]
    rows = [row for row in range(len(array)) if array[row].as_py() in values or array[row].as_py() is None]
    rows = [chance.choice(rows) for _ in range(30)]
    table = pyarrow.table({"k": pyarrow.concat_arrays([array[row:row + 1] for row in rows]), "row": range(30)})
    keys = [array[row].as_py() for row in rows]
    expected = sorted(range(30), key=lambda row: (keys[row] is not None, 0 if keys[row] is None else _bytes(keys[row])))
    for number, limit in enumerate([1 << 30, 1]):
        source = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
        opened = stored(source, name=f"t{number}", sorted_by="k", memory_limit_bytes=limit)
        assert opened.to_arrow().column("row").to_pylist() == expected
        assert opened.verify()["damages"] == []


def _bytes(key):
    """The key as the library orders it: strings by their bytes, and -0 before 0."""
    if isinstance(key, float):
        return key, math.copysign(1, key)
    return key.encode() if isinstance(key, str) else key


def test_polars_frames_with_nested_columns_are_sorted(stored):
    frame = polars.DataFrame({"k": ["b", "a", "c"], "l": [["x"], [], None], "s": [{"y": "z"}, None, {"y": None}]})
    assert stored(frame, sorted_by="k").to_polars().equals(frame.sort("k"))


@pytest.mark.parametrize("values", [[None, 1, 2], [False, True, None], [-0.0, 0.0, math.nan, None], ["", "a", "b\0", None],
                                    [b"", b"x", None], [datetime.date(2013, 1, 1), None],
                                    [decimal.Decimal("-1.5"), decimal.Decimal("2.5"), None]])
def test_rows_that_are_sorted_already_are_known(values):
    """For all orders of few rows: _is_sorted says what sorting shows."""
    column = pyarrow.array(values)
    number_of_sorted = 0
    for rows in itertools.product(range(len(values)), repeat=3):
        for ties in itertools.product((0, 1), repeat=3):
            keys = sorting._zeros_apart(pyarrow.table({"tie": pyarrow.array(ties), "key": column.take(pyarrow.array(rows))}))
            assert sorting._is_sorted(keys) == (sorting._order(keys).to_pylist() == [0, 1, 2]), keys
            number_of_sorted += sorting._is_sorted(keys)
    assert number_of_sorted > 0
    for count in (0, 1):
        assert sorting._is_sorted(keys.slice(0, count))


@pytest.mark.parametrize("make", [pyarrow.table, polars.DataFrame, dict])
@pytest.mark.parametrize("names", [["key"], ["key", "text"]])
def test_rows_in_memory_that_are_in_order_are_written_as_they_come(stored, monkeypatch, make, names):
    monkeypatch.setattr(sorting, "_runs", lambda *_: pytest.fail("the rows are sorted again"))
    columns = {"key": [-1, 1, 2], "text": ["b", None, "a"]}
    table = stored(make(columns), sorted_by=names)
    assert table.to_pylist() == pyarrow.table(columns).to_pylist() and table.find(2 if len(names) == 1 else (2, "a")) == 2
