"""Filters of pyarrow, Polars and DuckDB give the rows of their own data, whatever is compared with what."""
import decimal
import functools
import math
import operator
import random

import polars
import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pytest
from pyarrow.compute import field
from random_filters import COLUMNS, COUNTS, array, compare_with_duckdb, compare_with_polars, compare_with_pyarrow, table_of

import cfile

Decimal = decimal.Decimal
ROWS = max(len(values) for _, values in COLUMNS.values()) + 2
TABLE = table_of(lambda values: (values + [None] * ROWS)[:ROWS])


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constants") / "t"
    cfile.write(folder, TABLE)
    return cfile.open(folder)


@pytest.mark.parametrize("compare, least", [(compare_with_pyarrow, 100), (compare_with_polars, 67), (compare_with_duckdb, 100)])
def test_random_filters(opened, compare, least):
    assert compare(random.Random(46), opened, TABLE, 200) > least


@pytest.mark.parametrize("count", [201, 1000])
def test_many_alternatives(opened, count):
    values = list(range(-count // 2, count // 2))
    expected = [row for row, value in enumerate(TABLE["int64"].to_pylist()) if value in values]
    tests = [field("int64") == value for value in values[:900]]  # pyarrow itself cannot pass more of them
    for chain in (functools.reduce(operator.or_, tests[:201]), functools.reduce(lambda left, right: right | left, tests[:201]),
                  functools.reduce(lambda left, right: ~(right | left), tests[:201])):
        found = opened.to_dataset().to_table(filter=chain)["row"].to_pylist()
        assert found == pyarrow.dataset.dataset(TABLE).to_table(filter=chain)["row"].to_pylist()
    lazy = cfile.scan_polars(opened._opened.name)
    chain = functools.reduce(operator.or_, [polars.col("int64") == value for value in values[-201:]])
    assert lazy.filter(chain).collect()["row"].to_list() == polars.DataFrame(TABLE).filter(chain)["row"].to_list()
    chain = functools.reduce(lambda left, right: right | left, [cfile.col("int64") == value for value in values])
    for rows in (opened.scan(chain), opened.scan(cfile.col("int64").isin(values)), lazy.filter(polars.col("int64").is_in(values)).collect(),
                 opened.to_dataset().to_table(filter=field("int64").isin(values))):
        found = rows["row"] if not hasattr(rows, "to_arrow") or isinstance(rows, polars.DataFrame) else rows.to_arrow()["row"]
        assert list(found.to_list() if hasattr(found, "to_list") else found.to_pylist()) == expected


def test_columns_by_number(opened):
    """pyarrow cannot pass such an expression on: it evaluates it itself."""
    found = opened.to_dataset().to_table(["row"], filter=field("int8") == 1)
    try:
        by_number = opened.to_dataset().to_table(["row"], filter=pyarrow.compute.field(0) == 1)
    except (TypeError, pyarrow.ArrowException):
        return
    assert by_number == found


TEXTS = {
    "timestamp_ns_None": ("1970-01-01T00:00:00.", ""),
    "timestamp_ns_UTC": ("1970-01-01T01:00:00.", "+01:00"),
    "time_ns": ("00:00:00.", ""),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 1500])
@pytest.mark.parametrize("more", ["", "000", "5"])  # digits below a nanosecond
def test_texts_with_nanoseconds(opened, stored, name, count, more):
    before, after = TEXTS[name]
    text = f"{before}{count:09d}{more}{after}"
    exact = count + (0.5 if more == "5" else 0)
    values = COLUMNS[name][1]
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        expected = [row for row, value in enumerate(values) if compare(value, exact)]
        assert opened.scan(compare(cfile.col(name), text)).to_arrow()["row"].to_pylist() == expected
    column = stored(array(COLUMNS[name][0], values), sorted_by=True)
    assert column.find(text) == (values.index(exact) if exact in values else None)
    assert column.seek(text) == next((row for row, value in enumerate(values) if value >= exact), len(values))


def test_numpy_below_a_nanosecond(opened):
    numpy = pytest.importorskip("numpy")
    for count, unit in ((1, "ps"), (-1, "fs"), (1000, "ps"), (1, "as"), (10**9, "as")):
        exact = count / {"ps": 10**3, "fs": 10**6, "as": 10**9}[unit]
        for compare in (operator.eq, operator.lt, operator.ge):
            found = opened.scan(compare(cfile.col("timestamp_ns_None"), numpy.datetime64(count, unit))).to_arrow()["row"].to_pylist()
            assert found == [row for row, value in enumerate(COUNTS) if compare(value, exact)]


def test_floats_as_decimals(opened, stored):
    numpy = pytest.importorskip("numpy")
    for name in ("decimal9", "decimal38"):
        for number in (0.05, numpy.float64(0.05), numpy.float32(0.05), "0.05", Decimal("0.05")):
            expected = [row for row, value in enumerate(COLUMNS[name][1]) if value == Decimal("0.05")]
            assert opened.scan(cfile.col(name) == number).to_arrow()["row"].to_pylist() == expected
            assert opened.scan(cfile.col(name).isin([number, 7.25])).to_arrow()["row"].to_pylist() == expected
            assert stored(TABLE[name].drop_null(), name=f"{name}{type(number).__name__}", sorted_by=True).find(number) == expected[0]
    assert opened.scan(cfile.col("decimal9") == 0.1 + 0.2).count() == 0 and opened.scan(cfile.col("decimal9") < 0.1 + 0.2).count() == 3
    assert opened.scan(cfile.col("decimal9") < math.inf).count() == 6 and opened.scan(cfile.col("decimal9") <= -math.inf).count() == 0
