"""Conditions give the rows that Python's own comparisons give."""
import datetime
import decimal
import functools
import math
import operator
import random
import uuid

import numpy
import pandas
import pyarrow
import pytest
from conftest import parted

import cfile
from cfile import col

Decimal = decimal.Decimal
UTC = datetime.timezone.utc
ROWS = 600


def _moment(seconds, zone=None):
    return datetime.datetime(2024, 1, 1, tzinfo=zone) + datetime.timedelta(seconds=seconds)


def _number_constants(low, high):
    return [low, high, low - 1, high + 1, low - 0.5, high + 0.5, 3, 3.0, 2.5, -0.0, math.inf, -math.inf, math.nan, 10**40, -10**40,
            Decimal("2.5"), Decimal("3"), Decimal("1e400"), numpy.int8(3), numpy.float32(2.5), 1e300, -1e300]


_FLOATS = [0.0, -0.0, 1.5, 2.5, math.inf, -math.inf, math.nan, 2.0**53, 3.0, 16777216.0]
_FLOAT_CONSTANTS = [*_FLOATS, 0.1, 2**53 + 1, 16777217, 1.7e38, Decimal("1.5"), Decimal("0.1"), Decimal("2.4999999999999999999"),
                    10**400, -10**400, 10**40, numpy.float32(2.5), 3]

# name: (Arrow type, values, constants)
COLUMNS = {
    **{f"int{bits}": (f"int{bits}", [-2**(bits - 1), 2**(bits - 1) - 1, -2, 2, 3, 4], _number_constants(-2**(bits - 1), 2**(bits - 1) - 1))
       for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (f"uint{bits}", [0, 2**bits - 1, 2, 3, 4], _number_constants(0, 2**bits - 1)) for bits in (8, 16, 32, 64)},
    "float": (pyarrow.float32(), _FLOATS, _FLOAT_CONSTANTS),
    "double": (pyarrow.float64(), [*_FLOATS, 0.1, 2.0**53 + 2], _FLOAT_CONSTANTS),
    "bool": ("bool", [True, False], [True, False, numpy.bool_(True)]),
    "decimal9": (pyarrow.decimal128(9, 2), [Decimal(n) / 100 for n in (-150, -1, 0, 1, 150, 999999999)],
                 [Decimal("1.5"), Decimal("0.005"), Decimal("-0.005"), 1.5, 0.1, 0, 2, 10**50, -10**50, math.inf, -math.inf]),
    "decimal38": (pyarrow.decimal128(38, 0), [Decimal(n) for n in (10**38 - 1, -10**38 + 1, 0, 5, 2**64, -2**64)],
                  [10**38 - 1, 10**38, -10**38 + 1, -10**39, 2**127, 2**64, Decimal("4.5"), 4.5, -1]),
    "date": (pyarrow.date32(), [datetime.date(1969, 12, 31) + datetime.timedelta(days=n) for n in range(5)],
             [datetime.date(1970, 1, 1), "1970-01-02", datetime.datetime(1970, 1, 1, 12), datetime.date(1, 1, 1), datetime.date.max]),
    "time_ms": (pyarrow.time32("ms"), [datetime.time(0, 0, 0, n * 1000) for n in range(4)],
                [datetime.time(0, 0, 0, 1500), datetime.time(0, 0, 0, 2000), datetime.time.max, datetime.time.min, "00:00:00.001"]),
    "time_ns": (pyarrow.time64("ns"), [datetime.time(0, 0, 0, n) for n in range(4)], [datetime.time(0, 0, 0, 2), datetime.time.max]),
    **{f"timestamp_{unit}_{zone}": (
        pyarrow.timestamp(unit, zone), [_moment(n, zone and UTC) for n in range(-2, 4)],
        [_moment(1, zone and UTC), _moment(1.5, zone and UTC), _moment(1e-6, zone and UTC),
         (datetime.datetime.max if unit != "ns" else datetime.datetime(2200, 1, 1)).replace(tzinfo=zone and UTC),
         pandas.Timestamp(_moment(1, zone and UTC)) + pandas.Timedelta(1, "ns"), _moment(1, zone and UTC).isoformat()])
       for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "America/New_York")},
    "string": ("string", ["", "a", "ab", "b", "é", "\U0001f600", "a\0"], ["", "a", "ab", "abc", "é", "\uffff", "c"]),
    "binary": ("binary", [b"", b"a", b"\xff", b"\xff\xff"], [b"", b"a", b"\xff", b"\xff\0", "a"]),
    "fixed": (pyarrow.binary(2), [b"aa", b"ab", b"\xff\xff"], [b"ab", b"", b"a", b"\xff\xff\xff"]),
    "uuid": (pyarrow.uuid(), [uuid.UUID(int=n).bytes for n in (0, 5, 2**127)], [uuid.UUID(int=5), str(uuid.UUID(int=6)), bytes(16)]),
}
COMPARISONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _comparable(constant, values):
    """The constant as an object that Python compares exactly with the values."""
    sample = next(value for value in values if value is not None)
    if isinstance(constant, str) and not isinstance(sample, (str, bytes)):
        return type(sample).fromisoformat(constant)
    if isinstance(sample, bytes):
        if isinstance(constant, uuid.UUID):
            return constant.bytes
        if isinstance(constant, str):
            return uuid.UUID(constant).bytes if len(sample) == 16 else constant.encode()
    return constant.item() if isinstance(constant, numpy.generic) else constant


def _rounded(constant, column):
    """Constants for floats are rounded to the type of the column."""
    type_of = {"float": numpy.float32, "double": numpy.float64}.get(column)
    if type_of is None or constant == constant and abs(constant) > Decimal(float(numpy.finfo(type_of).max)):
        return constant
    return float(type_of(float(constant)))


def _compare(kind, value, column, constants):
    if kind in ("is_null", "is_not_null"):
        return (value is None) == (kind == "is_null")
    if value is None:
        return None
    constants = [_rounded(_comparable(constant, COLUMNS[column][1]), column) for constant in constants]
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
        constants = [constant if isinstance(constant, datetime.datetime) else datetime.datetime.combine(constant, datetime.time())
                     for constant in constants]
    if isinstance(value, str):
        value, constants = value.encode(), [constant.encode() for constant in constants]  # bytes are compared
    if kind == "in":
        return any(value == constant for constant in constants)
    if kind == "between":
        return constants[0] <= value <= constants[1]
    if kind == "prefix":
        return value.startswith(constants[0])
    return COMPARISONS[kind](value, constants[0])


def _evaluate(node, row, known):
    """Three-valued logic: True, False or None. `known` has the results of comparisons: a column consists of few objects of COLUMNS."""
    kind, *parts = node
    if kind == "not":
        inner = _evaluate(parts[0], row, known)
        return None if inner is None else not inner
    if kind in ("and", "or"):
        results = [_evaluate(part, row, known) for part in parts]
        decisive = kind == "or"
        return decisive if decisive in results else None if None in results else not decisive
    column, *constants = parts
    key = id(node), id(row[column])
    if key not in known:
        known[key] = _compare(kind, row[column], column, constants)
    return known[key]


def _condition(node):
    kind, *parts = node
    if kind == "not":
        return ~_condition(parts[0])
    if kind in ("and", "or"):
        return functools.reduce(operator.and_ if kind == "and" else operator.or_, map(_condition, parts))
    name, *constants = parts
    if kind in COMPARISONS:
        return COMPARISONS[kind](col(name), constants[0])
    return {"in": lambda: col(name).isin(constants), "between": lambda: col(name).between(*constants),
            "prefix": lambda: col(name).startswith(constants[0]), "is_null": col(name).is_null,
            "is_not_null": col(name).is_not_null}[kind]()


def _random_test(chance, name):
    constants = COLUMNS[name][2]
    kinds = [*COMPARISONS, *COMPARISONS, "in", "between", "is_null", "is_not_null"]
    if name in ("string", "binary"):
        kinds.append("prefix")
    kind = chance.choice(kinds)
    count = {"in": chance.randrange(4), "between": 2, "is_null": 0, "is_not_null": 0}.get(kind, 1)
    return kind, name, *(chance.choice(constants) for _ in range(count))


def _random_node(chance, depth):
    if depth == 0 or chance.random() < 0.4:
        return _random_test(chance, chance.choice(list(COLUMNS)))
    kind = chance.choice(["and", "or", "not"])
    return kind, *(_random_node(chance, depth - 1) for _ in range(1 if kind == "not" else chance.randint(2, 3)))


@pytest.fixture(scope="module")
def data():
    chance = random.Random(1)
    values = {name: [chance.choice([None, *choices]) for _ in range(ROWS)] for name, (_, choices, _) in COLUMNS.items()}
    arrays = {}
    for name, (type_name, _, _) in COLUMNS.items():
        values[name][:100] = sorted(value for value in values[name] if value is not None and value == value)[:100]  # small blocks differ
        is_uuid = name == "uuid"
        array = pyarrow.array(values[name], pyarrow.binary(16) if is_uuid else type_name)
        arrays[name] = pyarrow.ExtensionArray.from_storage(type_name, array) if is_uuid else array
    return values, pyarrow.table(arrays)


@pytest.fixture(scope="module")
def opened(data, tmp_path_factory):
    return parted(tmp_path_factory.mktemp("conditions") / "t", data[1], 3, block_size_bytes=256)


def _check(opened, values, node):
    condition = _condition(node)
    columns, known = condition.columns(), {}
    expected = [index for index in range(ROWS) if _evaluate(node, {name: values[name][index] for name in columns}, known)]
    numbered = opened.scan(condition, columns=["row"]).to_arrow().column("row").to_pylist()
    assert numbered == expected, node
    assert opened.scan(condition).count() == len(expected)


@pytest.fixture(scope="module")
def numbered(data, tmp_path_factory):
    table = data[1].append_column("row", pyarrow.array(range(ROWS), "int32"))
    return parted(tmp_path_factory.mktemp("numbered") / "t", table, 3, block_size_bytes=256)


@pytest.mark.parametrize("name", COLUMNS)
def test_each_comparison_with_each_constant(numbered, data, name):
    for constant in COLUMNS[name][2]:
        for kind in COMPARISONS:
            _check(numbered, data[0], (kind, name, constant))
            _check(numbered, data[0], ("not", (kind, name, constant)))
        _check(numbered, data[0], ("in", name, constant))


def test_random_conditions(numbered, data):
    chance = random.Random(2)
    for _ in range(250):
        _check(numbered, data[0], _random_node(chance, 3))


def test_a_file_is_scanned_like_a_column(stored, data):
    column = stored(data[1].column("int32"), block_size_bytes=256)
    for bound in (-3, 2.5, 10**30):
        expected = [value for value in data[0]["int32"] if value is not None and value > bound]
        assert column.scan(col("value") > bound).to_pylist() == expected


def test_numpy_times_keep_their_digits(stored):
    nanoseconds = [0, 1, 999, 1000, 10**18 + 1]
    table = stored(pyarrow.table({"t": pyarrow.array(nanoseconds, pyarrow.timestamp("ns"))}))
    for number in nanoseconds:
        found = table.scan(col("t") == numpy.datetime64(number, "ns")).to_arrow().column("t").cast("int64").to_pylist()
        assert found == [number]
    assert table.scan(col("t") < numpy.datetime64("30000-01-01", "s")).count() == 5
    with pytest.raises(ValueError, match="NaT"):
        table.scan(col("t") == numpy.datetime64("NaT"))


def test_long_chains(stored):
    table = stored(pyarrow.table({"n": range(3000)}))
    chain = functools.reduce(operator.or_, [col("n") == number for number in range(0, 3000, 2)])
    assert table.scan(chain).count() == 1500
    assert table.scan(col("n").isin(range(0, 3000, 2))).count() == 1500


WRONG = [("int32", "x", TypeError), ("int32", True, TypeError), ("int32", None, TypeError), ("string", 1, TypeError), ("bool", 1,
    TypeError),
         ("date", 5, TypeError), ("timestamp_us_None", datetime.datetime(2024, 1, 1, tzinfo=UTC), TypeError),
         ("timestamp_us_UTC", datetime.datetime(2024, 1, 1), TypeError), ("decimal9", "x", ValueError), ("decimal9", math.nan, ValueError),
         ("time_ms", datetime.time(1, tzinfo=UTC), TypeError), ("time_ms", datetime.datetime(2024, 1, 1), TypeError),
         ("uuid", "x", ValueError), ("date", "x", ValueError), ("date", datetime.datetime(2024, 1, 1, tzinfo=UTC), TypeError)]


@pytest.mark.parametrize("name, constant, error", WRONG)
def test_wrong_constants_are_found_when_the_scan_is_made(opened, name, constant, error):
    with pytest.raises((error, decimal.InvalidOperation) if error is ValueError else error):
        opened.scan(col(name) == constant)


def test_mistakes_are_explained(opened):
    with pytest.raises(KeyError, match="no column 'x'"):
        opened.scan(col("x") == 1)
    with pytest.raises(TypeError, match="&, | and ~"):
        opened.scan(1 < col("int8") < 3)
    with pytest.raises(TypeError, match="parentheses"):
        (col("int8") == 1) & 1
    with pytest.raises(TypeError, match="expected a condition"):
        opened.scan(True)
    with pytest.raises(TypeError):
        hash(col("int8"))


def test_patterns_and_columns(tmp_path):
    cfile.write(tmp_path / "t", pyarrow.table({"name": ["abc", "a_c", "ABC", "é"], "a": [1, 2, 3, 4], "b": [4, 3, 2, 1], "c": [1.0, 2.0, 3.0, 4.0]}))
    opened = cfile.open(tmp_path / "t")

    def rows(where):
        return opened.scan(where, columns=["a"]).to_arrow()["a"].to_pylist()
    assert rows(col("name").like("a%")) == [1, 2]
    assert rows(~col("name").like("a!_%", "!")) == [1, 3, 4]
    assert rows(col("name").ilike("A_c")) == [1, 2, 3]
    assert rows(col("name").contains("_") | col("name").like("_")) == [2, 4]
    assert rows(col("name").matches("^[aé]")) == [1, 2, 4]
    assert rows(col("a") > col("b")) == [3, 4]
    assert rows(~(col("a") > col("b"))) == [1, 2]
    with pytest.raises(TypeError, match="cannot compare 'a'"):
        opened.scan(col("a") == col("c"))
    with pytest.raises(KeyError, match="no column 'd'"):
        opened.scan(col("a") == col("d"))
    with pytest.raises(ValueError, match="column name: the pattern ends with the escape character"):
        opened.scan(col("name").like("!", "!")).to_arrow()


def test_repr_is_code():
    condition = ~((col("a") < 1) & (col("b").isin([1, 2]) | col("c").between(1, 2) | col("d").startswith("x") | col("e").is_null()
                                    | col("b").like("x%", "!") | (col("a") < col("c"))))
    again = eval(repr(condition), {"col": col, **{name: col(name) for name in "abcde"}})
    assert repr(again) == repr(condition)
    assert condition.columns() == set("abcde")


@pytest.mark.parametrize("text, error", [("", "expected a condition such as"), ("d = 1", "there is no column d; there are a, b"),
                                         ("a > 1 && b = 'x'", "write AND instead of &&"), ("a == 1", "write = instead of =="),
                                         ("a = b", "only columns of one type"), ("a = x", "expected an integer .character 5: .x.")])
def test_texts_that_are_no_conditions(tmp_path, text, error):
    cfile.write(tmp_path / "t", pyarrow.table({"a": [1, 2], "b": ["x", "y"]}))
    opened = cfile.open(tmp_path / "t")
    with pytest.raises(ValueError, match=error):
        opened.scan(text).to_arrow()
    with pytest.raises(ValueError, match=error):
        opened.scan(text).scan(col("a") > 0).count()


def _random_where(chance):
    """A condition in SQL that cfile and DuckDB read alike."""
    def word():
        return "".join(chance.choice("abcAB_%é1") for _ in range(chance.randrange(4)))
    tests = [lambda: f"name {chance.choice(['LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE'])} '{word()}{chance.choice(['', '%'])}'",
             lambda: "name LIKE '%!%%' ESCAPE '!'", lambda: "name LIKE 'a!_%' ESCAPE '!'",
             lambda: f"{chance.choice(['a', 'b'])} {chance.choice(['=', '!=', '<', '<=', '>', '>='])} {chance.choice(['a', 'b'])}",
             lambda: f"a {chance.choice(['=', '<>', '<', '>='])} {chance.choice([-200, -129, 0, 3, 3.5, 127, 128, 4.009])}",
             lambda: f"price {chance.choice(['=', '!=', '<=', '>'])} {chance.choice(['4.009', '4.00', '-0.001', '123456789.5'])}",
             lambda: f"a BETWEEN {chance.choice([-500, -2.5, 0])} AND {chance.choice([1, 4.5, 500])}",
             lambda: "a IN (1, 3, 200, 2.5)", lambda: "flag", lambda: "NOT flag", lambda: "name < other", lambda: "name = other",
             lambda: "flag IS NULL", lambda: "name IS NOT NULL", lambda: "NOT name IN ('a', 'abc')"]
    made = chance.choice(tests)()
    for _ in range(chance.randrange(3)):
        made = f"({made}) {chance.choice(['AND', 'OR'])} ({chance.choice(tests)()})"
        made = f"NOT ({made})" if chance.random() < 0.4 else made
    return made


def test_texts_agree_with_duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    chance = random.Random(11)
    words = ["", "a", "ab", "abc", "AbC", "b%a", "é1", "É1", "a_b", "1ab", None]
    rows = pyarrow.table({
        "row": pyarrow.array(range(ROWS), "int32"),
        "name": pyarrow.array([chance.choice(words) for _ in range(ROWS)]), "other": pyarrow.array([chance.choice(words) for _ in range(ROWS)]),
        "a": pyarrow.array([chance.choice([-128, -2, 0, 1, 3, 127, None]) for _ in range(ROWS)], "int8"),
        "b": pyarrow.array([chance.choice([-128, 0, 2, 3, 127, None]) for _ in range(ROWS)], "int8"),
        "flag": pyarrow.array([chance.choice([True, False, None]) for _ in range(ROWS)]),
        "price": pyarrow.array([chance.choice([Decimal("4.00"), Decimal("4.01"), Decimal("-0.01"), Decimal("0"), None]) for _ in range(ROWS)],
                               pyarrow.decimal128(9, 2))})
    cfile.write(tmp_path / "t", rows)
    opened = cfile.open(tmp_path / "t")
    for _ in range(200):
        where = _random_where(chance)
        expected = [row for row, in duckdb.sql(f"SELECT row FROM rows WHERE {where} ORDER BY row").fetchall()]
        assert opened.scan(where).to_arrow()["row"].to_pylist() == expected, where


def test_columns_of_bools_are_conditions(stored):
    table = stored(pyarrow.table({"ok": [True, False, None, True], "n": [1, 2, 3, 4]}))
    for where, expected in ((col("ok"), [1, 4]), (~col("ok"), [2]), (col("ok") & (col("n") > 1), [4]), ((col("n") > 1) & col("ok"), [4]),
                            (col("ok") | (col("n") == 3), [1, 3, 4]), (col("ok") & col("ok"), [1, 4])):
        assert [row["n"] for row in table.scan(where).to_pylist()] == expected
    assert table["ok"].scan(col("ok") & (col("n") > 1)).to_pylist() == [True]
    with pytest.raises(TypeError, match="type int64"):
        table.scan(col("n"))
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(col("ok"))
    with pytest.raises(TypeError, match="expected a condition"):
        col("ok") & 5
