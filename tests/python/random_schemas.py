"""Random rows, and tables to which rows with other columns are appended (evolve=True)."""
from __future__ import annotations

import datetime
import random

import pyarrow

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


def append_other_columns(chosen: random.Random, folder) -> None:
    """Writes a table into `folder`, and appends rows with other columns. Asserts that this gives the rows of both, or that the error names
    a column that cannot have the values of both, and nothing has changed."""
    names = "abcdef"
    old = rows(chosen, chosen.sample(names, chosen.randrange(1, 5)), all_null=False)
    new = rows(chosen, chosen.sample(names, chosen.randrange(1, 5)), all_null=True)
    cfile.write(folder / "t", old)
    if chosen.random() < 0.5:
        cfile.append(folder / "t", old)
        old = pyarrow.concat_tables([old, old])
    before = cfile.open(folder / "t")
    schema, parts = pyarrow.schema(before), before.parts
    unfit = [name for name in old.column_names if name in new.column_names and not fits(old[name], new[name])]
    try:
        cfile.append(folder / "t", new, evolve=True)
    except cfile.ArgumentError as error:
        assert any(f"column {name}" in str(error) for name in unfit), (str(error), unfit)
        after = cfile.open(folder / "t")
        assert (pyarrow.schema(after), after.parts, after.to_pylist()) == (schema, parts, old.to_pylist())
        assert sorted(path.name for path in (folder / "t").glob("part-*")) == sorted(part["name"] for part in parts)
        return
    assert not unfit
    columns = old.column_names + [name for name in new.column_names if name not in old.column_names]
    expected = [{name: row.get(name) for name in columns} for row in old.to_pylist() + new.to_pylist()]
    after = cfile.open(folder / "t")
    assert after.to_pylist() == expected
    assert len(after.parts) == len(parts) + 1
    cfile.compact(folder / "t")
    assert cfile.open(folder / "t").to_pylist() == expected
