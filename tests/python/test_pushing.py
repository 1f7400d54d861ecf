"""Polars pushes projections, filters and limits down, and gets what it computes from its own frame."""
import datetime
import decimal
import math
import random

import polars
import pyarrow
import pytest
from conftest import parted
from polars.testing import assert_frame_equal

import cfile
from cfile import polars as cfile_polars, pushing

ROWS = 900
DAY = datetime.date(2024, 1, 1)
MOMENT = datetime.datetime(2024, 1, 1)

# name: (Arrow type, values)
COLUMNS = {
    "int8": ("int8", [-128, 0, 1, 2, 3, 127]),
    "int32": ("int32", [-5, 0, 1, 2, 3, 2**31 - 1]),
    "int64": ("int64", [-2**63, 2**53, 2**53 + 1, 2**63 - 1, 0, 3]),
    "uint64": ("uint64", [0, 1, 2, 2**64 - 1]),
    "float": ("float", [0.0, -0.0, 1.5, 2.0, math.nan, math.inf, -math.inf, 0.1]),
    "double": ("double", [0.0, -0.0, 1.5, 2.0, math.nan, math.inf, -math.inf, 0.1, 2.0**53]),
    "bool": ("bool", [True, False]),
    "string": ("string", ["", "a", "ab", "abc", "b", "é"]),
    "date": ("date32", [DAY + datetime.timedelta(days=n) for n in range(5)]),
    "moment": (pyarrow.timestamp("us"), [MOMENT + datetime.timedelta(seconds=n) for n in range(5)]),
    "nanos": (pyarrow.timestamp("ns"), [MOMENT + datetime.timedelta(seconds=n) for n in range(5)]),
    "zoned": (pyarrow.timestamp("ms", "UTC"),
        [MOMENT.replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=n) for n in range(5)]),
    "decimal": (pyarrow.decimal128(9, 2), [decimal.Decimal(n) / 100 for n in (-150, 0, 1, 150, 250)]),
    "time": (pyarrow.time64("us"), [datetime.time(n) for n in range(4)]),
    "binary": ("binary", [b"", b"a", b"\xff"]),
}
NUMBERS = [0, 1, 2, 3, -1, 127, 128, 300, 1.5, 2.0, 2.5, -0.0, 0.1, math.inf, -math.inf, math.nan, 2**53, 2**53 + 1, 2.0**53, 2**31]


def constants_of(name):
    """Constants that a user may compare with the column."""
    if name in ("int8", "int32", "int64", "uint64", "float", "double"):
        return NUMBERS
    return COLUMNS[name][1]


@pytest.fixture(scope="module")
def table():
    chance = random.Random(3)
    arrays = {name: pyarrow.array([chance.choice([None, *values]) for _ in range(ROWS)], kind) for name, (kind, values) in COLUMNS.items()}
    arrays["row"] = pyarrow.array(range(ROWS), "int32")
    return pyarrow.table(arrays)


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pushing") / "t"
    parted(folder, table, 3, block_size_bytes=256)
    return folder


def _polars_test(chance, name):
    column = polars.col(name)
    constant, other = (chance.choice(constants_of(name)) for _ in range(2))
    tests = [column == constant, column != constant, column < constant, column <= constant, column > constant, column >= constant,
             constant < column, constant >= column, column.is_null(), column.is_not_null(), column.is_in([constant, other]),
             column.is_between(constant, other, closed=chance.choice(["both", "left", "right", "none"])), column.eq_missing(constant)]
    if name == "bool":
        tests += [column, ~column]
    if name == "string":
        tests += [column.str.starts_with(constant), column.str.starts_with("a"), column.str.ends_with("b"), column.str.len_bytes() > 1]
    if name in ("float", "double"):
        tests += [column.is_nan(), column.is_finite(), column * 2 > constant]
    return chance.choice(tests)


def _polars_predicate(chance, depth):
    if depth == 0 or chance.random() < 0.4:
        return _polars_test(chance, chance.choice(list(COLUMNS)))
    left = _polars_predicate(chance, depth - 1)
    return chance.choice([lambda: ~left, lambda: left & _polars_predicate(chance, depth - 1),
                          lambda: left | _polars_predicate(chance, depth - 1)])()


def test_polars_gets_the_rows_of_its_own_frame(path, table):
    chance = random.Random(4)
    frame = polars.DataFrame(table)
    lazy = cfile.scan_polars(path)
    exact = 0
    types = pushing.flat_types(cfile.open(path)._opened)
    for _ in range(300):
        try:
            predicate = _polars_predicate(chance, 2)
            expected = frame.filter(predicate)
        except (polars.exceptions.PolarsError, TypeError):
            continue  # Polars refuses the comparison
        condition, is_exact = cfile_polars.pushed(predicate, types)
        exact += is_exact
        assert lazy.filter(predicate).collect()["row"].to_list() == expected["row"].to_list(), predicate
        assert_frame_equal(lazy.filter(predicate).select("row", "string").head(7).collect(), expected.select("row", "string").head(7))
        if condition is not None:
            found = set(cfile.open(path).scan(condition, columns=["row"]).to_polars()["row"])
            assert found >= set(expected["row"]) and (not is_exact or found == set(expected["row"])), predicate
    assert exact > 60  # otherwise the test says little


EXPECTED_OF_POLARS = [
    (polars.col("int32") > 1, "(int32 > 1)", True),
    (1 < polars.col("int32"), "(int32 > 1)", True),
    (polars.col("int32").is_between(1, 3), "((int32 >= 1) & (int32 <= 3))", True),
    (polars.col("int32").is_in([1, 3]), "int32.isin([1, 3])", True),
    (~polars.col("int32").is_null(), "~int32.is_null()", True),
    (polars.col("int32").is_not_null(), "int32.is_not_null()", True),
    (polars.col("bool"), "(bool == True)", True),
    (polars.col("string").str.starts_with("a"), "string.startswith('a')", True),
    (polars.col("string") == "a", "(string == 'a')", True),
    (polars.col("double") > 1.5, "~(double <= 1.5)", True),  # NaN is the greatest number of Polars
    (polars.col("double") == math.nan, "None", False),
    (polars.col("int32") > 1.5, "None", False),
    (polars.col("date") >= DAY, f"(date >= {DAY!r})", True),
    (polars.col("moment") == MOMENT, f"(moment == {MOMENT!r})", True),
    ((polars.col("int32") > 1) & (polars.col("double").is_nan()), "(int32 > 1)", False),
    ((polars.col("int32") > 1) | (polars.col("double").is_nan()), "None", False),
    (~((polars.col("int32") > 1) & polars.col("double").is_nan()), "None", False),
]


@pytest.mark.parametrize("predicate, text, exact", EXPECTED_OF_POLARS, ids=[str(n) for n in range(len(EXPECTED_OF_POLARS))])
def test_what_polars_pushes(path, predicate, text, exact):
    condition, is_exact = cfile_polars.pushed(predicate, pushing.flat_types(cfile.open(path)._opened))
    assert (repr(condition), is_exact) == (text, exact)


def _spark(name, *, of=None, child=None, **value):
    """A filter of pyspark.sql.datasource."""
    return type(name, (), {**value, **({"attribute": tuple(of.split("."))} if of else {}), **({"child": child} if child else {})})()


EXPECTED_OF_SPARK = [
    (_spark("EqualTo", of="int32", value=1), "(int32 == 1)", True),
    (_spark("LessThanOrEqual", of="int32", value=1), "(int32 <= 1)", True),
    (_spark("GreaterThan", of="double", value=1.5), "~(double <= 1.5)", True),  # NaN is the greatest number of Spark
    (_spark("EqualTo", of="int32", value=None), "None", False),
    (_spark("EqualTo", of="a.b", value=1), "None", False),
    (_spark("EqualNullSafe", of="int32", value=None), "int32.is_null()", True),
    (_spark("EqualNullSafe", of="int32", value=1), "(int32 == 1)", False),
    (_spark("In", of="int32", value=(1, 3)), "int32.isin([1, 3])", True),
    (_spark("In", of="int32", value=(1, None)), "int32.isin([1])", False),
    (_spark("Not", child=_spark("IsNull", of="int32")), "~int32.is_null()", True),
    (_spark("Not", child=_spark("EqualNullSafe", of="int32", value=1)), "None", False),
    (_spark("IsNotNull", of="int32"), "int32.is_not_null()", True),
    (_spark("StringStartsWith", of="string", value="a"), "string.startswith('a')", True),
    (_spark("StringContains", of="string", value="a"), "None", False),
    (_spark("LessThan", of="decimal", value=decimal.Decimal("0." + "0" * 27 + "1" * 28)), "None", False),
]


@pytest.mark.parametrize("condition, text, exact", EXPECTED_OF_SPARK, ids=[str(n) for n in range(len(EXPECTED_OF_SPARK))])
def test_what_spark_pushes(path, condition, text, exact):
    converted, is_exact = pushing.of_spark(condition, pushing.flat_types(cfile.open(path)._opened))
    assert (repr(converted), is_exact) == (text, exact)


class Recorder:
    """Records the arguments of Selection.scan."""

    def __init__(self, monkeypatch):
        from cfile.selection import Selection
        self.calls = []
        scan = Selection.scan

        def recorded(selection, where=None, **options):
            self.calls.append((repr(where), options.get("columns"), options.get("limit")))
            return scan(selection, where, **options)
        monkeypatch.setattr(Selection, "scan", recorded)


def test_polars_pushes_columns_rows_and_limits(path, monkeypatch):
    recorder = Recorder(monkeypatch)
    lazy = cfile.scan_polars(path)
    lazy.filter(polars.col("int32") > 1).select("string").collect()
    lazy.select("row").head(5).collect()
    lazy.filter(polars.col("double").is_nan()).select("row").collect()
    (first, *_), (second, *_), (third, *_) = ([call] for call in recorder.calls)
    assert first[0] == "(int32 > 1)" and sorted(first[1]) == ["int32", "string"]
    assert second == ("None", ["row"], 5)
    assert third[0] == "None" and sorted(third[1]) == ["double", "row"]


def test_polars_streams_in_ranges(path, table, monkeypatch):
    monkeypatch.setattr(cfile_polars, "_RANGE_ROWS", 100)
    lazy = cfile.scan_polars(path)
    recorder = Recorder(monkeypatch)
    assert_frame_equal(lazy.collect(), polars.DataFrame(table))
    assert len(recorder.calls) == ROWS / 100
    recorder.calls.clear()
    assert lazy.head(250).collect()["row"].to_list() == list(range(250))
    assert [limit for _, _, limit in recorder.calls] == [250, 150, 50]
    predicate = polars.col("double").is_nan() | (polars.col("int8") == 127)
    assert_frame_equal(lazy.filter(predicate).head(10).collect(), polars.DataFrame(table).filter(predicate).head(10))
    assert lazy.select(polars.len()).collect().item() == ROWS
    assert lazy.group_by("int8").agg(polars.len()).collect(engine="streaming").height == 7


def test_polars_reads_several_times_and_knows_the_schema(path, table):
    lazy = cfile.scan_polars(path)
    assert lazy.collect_schema() == polars.DataFrame(table).schema
    joined = lazy.join(lazy, on="row").select("row").collect()
    assert joined.height == ROWS
    assert "CFILE" in lazy.explain()


def test_polars_scans_files_and_empty_tables(tmp):
    cfile.write(tmp / "f", pyarrow.array([1, 2, 3]))
    assert cfile.scan_polars(tmp / "f").filter(polars.col("value") > 1).collect()["value"].to_list() == [2, 3]
    cfile.write(tmp / "t", pyarrow.table({"n": pyarrow.array([], "int32")}))
    empty = cfile.scan_polars(tmp / "t")
    assert empty.collect().schema == {"n": polars.Int32} and empty.filter(polars.col("n") > 1).select("n").collect().height == 0
    with pytest.raises(cfile.NotFoundError):
        cfile.scan_polars(tmp / "absent")


def test_polars_reads_nested_columns(tmp):
    table = pyarrow.table({"n": [1, 2, 3], "s": [{"x": 1}, None, {"x": 3}], "l": [[1, None], [], None]})
    cfile.write(tmp / "t", table)
    frame = polars.DataFrame(table)
    for predicate in (polars.col("s").struct.field("x") > 1, polars.col("n") > 1, polars.col("l").is_null(), polars.col("s").is_null()):
        assert_frame_equal(cfile.scan_polars(tmp / "t").filter(predicate).collect(), frame.filter(predicate))
