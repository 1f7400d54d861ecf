"""Random filters, which pyarrow, Polars and DuckDB pass on to this package, and evaluate themselves.

Each operator × type of column × kind of constant × negation, on nulls, NaN, -0.0, values below the unit of another type, and constants
that the column cannot hold.
"""
import datetime
import decimal
import itertools
import math
import operator

import duckdb
import polars
import pyarrow
import pyarrow.compute
import pyarrow.dataset
from pyarrow.compute import field, scalar

import cfile

Decimal = decimal.Decimal
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1)
COUNTS = [-1001, -1000, -1, 0, 1, 999, 1000, 1001, 1999, 10**6, 10**9 + 1]  # of a unit; 1,000 are one of the next unit

# name: (type, values)
COLUMNS = {
    "int8": (pyarrow.int8(), [-128, -1, 0, 1, 2, 127]),
    "int64": (pyarrow.int64(), [-2**63, -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1]),
    "uint64": (pyarrow.uint64(), [0, 1, 2**53, 2**53 + 1, 2**63, 2**64 - 1]),
    "float": (pyarrow.float32(), [0.0, -0.0, 0.5, -1.5, math.nan, math.inf, -math.inf, 16777216.0]),
    "double": (pyarrow.float64(), [0.0, -0.0, 0.1, 0.5, math.nan, math.inf, -math.inf, 2.0**53, 5e-324]),
    "bool": (pyarrow.bool_(), [True, False]),
    "decimal9": (pyarrow.decimal128(9, 2), [Decimal(text) for text in ("-1.10", "0.00", "0.05", "1.10", "2.20", "9999999.99")]),
    "decimal38": (pyarrow.decimal128(38, 3), [Decimal(text) for text in ("0.050", "1.100", "2", "9007199254740993", f"{10**34}.125")]),
    "date": (pyarrow.date32(), [-719162, -1, 0, 1, 19723, 2932896]),
    "string": (pyarrow.string(), ["", "a", "a\0", "ab", "b", "é", "1970-01-01"]),
    "binary": (pyarrow.binary(), [b"", b"a", b"\0", b"\xff", b"\xff\xff"]),
    **{f"timestamp_{unit}_{zone}": (pyarrow.timestamp(unit, zone), COUNTS) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC")},
    **{f"time_{unit}": (pyarrow.time32(unit) if unit == "ms" else pyarrow.time64(unit), COUNTS[3:-1]) for unit in ("ms", "us", "ns")},
}


def array(kind, values):
    if pyarrow.types.is_temporal(kind):
        return pyarrow.array(values, pyarrow.int64() if kind.bit_width == 64 else pyarrow.int32()).cast(kind)
    return pyarrow.array(values, kind)


def table_of(values_of):
    """A table with the column "row", the number of a row, and COLUMNS. `values_of`: makes the values of a column of COLUMNS's values."""
    arrays = {name: array(kind, values_of(values)) for name, (kind, values) in COLUMNS.items()}
    return pyarrow.table({**arrays, "row": pyarrow.array(range(len(arrays["int8"])), "int32")})


def _kin(name):
    """The names of columns with which a column is often compared."""
    kind = COLUMNS[name][0]
    families = [pyarrow.types.is_timestamp, pyarrow.types.is_time, pyarrow.types.is_decimal, pyarrow.types.is_integer,
                pyarrow.types.is_floating]
    found = [other for other in COLUMNS if any(family(kind) and family(COLUMNS[other][0]) for family in families)] or [name]
    more = {"decimal9": ["double", "int64", "float"], "date": ["timestamp_us_None", "timestamp_s_None", "string"],
            "timestamp_ns_None": ["date", "string"], "int64": ["double", "decimal9"], "double": ["int64", "decimal9"], "float": ["int64"]}
    return found + more.get(name, [])


def _arrow_constant(chance, name):
    """A constant in a type of its own: of the column, of a relative, a plain value of Python, or one that no year has."""
    kind, values = COLUMNS[chance.choice([name, name, *_kin(name)])]
    value = chance.choice(values)
    if pyarrow.types.is_temporal(kind):
        far = [] if pyarrow.types.is_time(kind) else [2**31 - 1, -2**31] if kind.bit_width == 32 else [2**63 - 1, -2**63 + 1, -10**17]
        value = chance.choice([value, value, chance.choice([*far, value])])
        return array(kind, [value])[0]
    if pyarrow.types.is_decimal(kind) and chance.random() < 0.3:
        return pyarrow.scalar(Decimal("0.055"))
    return chance.choice([pyarrow.scalar(value, kind), pyarrow.scalar(value)]) if not isinstance(value, int) or abs(value) < 2**63 else \
        pyarrow.scalar(value, kind)


def _pyarrow_test(chance, name):
    column, constant = field(name), _arrow_constant(chance, name)
    kind = chance.choice(["compare"] * 4 + ["turned", "in", "in", "in", "null", "valid", "prefix"])
    if kind == "in":
        values = [constant, *(pyarrow.scalar(value, constant.type) for value in chance.choice([[], [None]]))]
        text = pyarrow.concat_arrays([pyarrow.array([value.as_py()] if not pyarrow.types.is_temporal(value.type) else
                                                    array(value.type, [value.value]), value.type) for value in values])
        return column.isin(chance.choice([text, text, text[:0], []]))
    if kind == "prefix":
        return pyarrow.compute.starts_with(column, "a")
    if kind in ("null", "valid"):
        return column.is_null() if kind == "null" else column.is_valid()
    compare = chance.choice([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
    return compare(scalar(constant), column) if kind == "turned" else compare(column, scalar(constant))


def _combined(chance, test):
    """A test, often negated, sometimes with another one."""
    made = test()
    if chance.random() < 0.5:
        made = ~made
    if chance.random() < 0.2:
        made = chance.choice([operator.and_, operator.or_])(made, test())
        made = ~made if chance.random() < 0.5 else made
    return made


def _rows(read):
    """The rows, or the exception of the library. What this package raises itself is an error."""
    try:
        return read()
    except (pyarrow.ArrowException, polars.exceptions.PolarsError, duckdb.Error) as error:
        return type(error)


def _agree(expected, found, what):
    # A library may refuse a comparison that meets no row, because the filter has left none.
    assert found == expected or isinstance(expected, type), f"{what}: expected {expected}, found {found}"
    return not isinstance(expected, type)


def compare_with_pyarrow(chance, opened, table, tests):
    """Filters `opened`, which has the rows of `table`, with random tests. Asserts that pyarrow finds the same rows in `table`. Returns the
    number of tests that pyarrow does not refuse. The next two functions do this with Polars and DuckDB."""
    mine, own = opened.to_dataset(), pyarrow.dataset.dataset(table)
    compared = 0
    for name in itertools.islice(itertools.cycle(COLUMNS), tests):
        filter = _combined(chance, lambda name=name: _pyarrow_test(chance, name))
        expected, found = (_rows(lambda source=source, filter=filter: source.to_table(["row"], filter=filter)["row"].to_pylist())
                           for source in (own, mine))
        compared += _agree(expected, found, filter)
    return compared


def _polars_constant(chance, name):
    kind, values = COLUMNS[chance.choice([name, name, *_kin(name)])]
    value = chance.choice(values)
    typed = polars.from_arrow(array(kind, [value]))
    if chance.random() < 0.4:
        return polars.lit(typed[0]), typed  # a value of Python
    return polars.lit(typed[0] if kind != pyarrow.time64("ns") else value, dtype=typed.dtype) if not pyarrow.types.is_timestamp(kind) else \
        polars.lit(value, dtype=typed.dtype), typed


def _polars_test(chance, name):
    column = polars.col(name)
    constant, series = _polars_constant(chance, name)
    other = _polars_constant(chance, name)[0]
    kind = chance.choice(["compare"] * 4 + ["turned", "in", "in", "typed", "between", "null", "valid", "prefix"])
    if kind == "in":
        return column.is_in(chance.choice([series.to_list(), series.to_list() + [None], []]))
    if kind == "typed":
        return column.is_in(polars.lit(series.implode()))
    if kind == "between":
        return column.is_between(constant, other, closed=chance.choice(["both", "left", "right", "none"]))
    if kind == "prefix":
        return column.str.starts_with("a")
    if kind in ("null", "valid"):
        return column.is_null() if kind == "null" else column.is_not_null()
    compare = chance.choice([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
    return compare(constant, column) if kind == "turned" else compare(column, constant)


def compare_with_polars(chance, opened, table, tests):
    frame, lazy = polars.DataFrame(table), cfile.scan_polars(opened._opened.name)
    compared = 0
    for name in itertools.islice(itertools.cycle(COLUMNS), tests):
        try:
            predicate = _combined(chance, lambda name=name: _polars_test(chance, name))
        except (polars.exceptions.PolarsError, TypeError, OverflowError):
            continue  # there is no such constant
        expected, found = (_rows(lambda source=source, predicate=predicate: source.filter(predicate).collect()["row"].to_list())
                           for source in (frame.lazy(), lazy))
        compared += _agree(expected, found, predicate)
    return compared


def _duckdb_test(chance, name):
    kind, values = COLUMNS[chance.choice([name, name, *_kin(name)])]

    def constant():
        value = chance.choice(values)
        if isinstance(value, (bool, Decimal)) or (isinstance(value, int) and not pyarrow.types.is_temporal(kind)):
            return str(value)
        if isinstance(value, float):
            return f"'{value!r}'::{'FLOAT' if kind == pyarrow.float32() else 'DOUBLE'}"
        if isinstance(value, bytes):
            return "'" + "".join(f"\\x{byte:02x}" for byte in value) + "'::BLOB"
        if isinstance(value, str):
            return "'" + value.replace("\0", "") + "'"
        unit = getattr(kind, "unit", "day")
        if unit == "day":
            return f"(DATE '1970-01-01' + {value})"
        nanos = value * {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
        if pyarrow.types.is_time(kind):
            return f"TIME '{(EPOCH + datetime.timedelta(microseconds=nanos // 1000)).time()}'"
        name = {"s": "TIMESTAMP_S", "ms": "TIMESTAMP_MS", "us": "TIMESTAMP", "ns": "TIMESTAMP_NS"}[unit]
        moment = EPOCH + datetime.timedelta(seconds=nanos // 10**9)
        return f"{'TIMESTAMPTZ' if kind.tz else name} '{moment}.{nanos % 10**9:09d}'"
    column = f'"{name}"'
    return chance.choice([*(f"{column} {sign} {constant()}" for sign in ("=", "<>", "<", "<=", ">", ">=")),
                          f"{constant()} < {column}", f"{column} IN ({constant()}, {constant()})", f"{column} IN ({constant()}, NULL)",
                          f"{column} NOT IN ({constant()}, {constant()})", f"{column} BETWEEN {constant()} AND {constant()}",
                          f"{column} IS DISTINCT FROM {constant()}", f"{column} IS NULL", f"{column} IS NOT NULL"])


def compare_with_duckdb(chance, opened, table, tests):
    compared = 0
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET threads = 1")
        mine, own = opened.to_dataset(), table
        for name in itertools.islice(itertools.cycle(COLUMNS), tests):
            test = _duckdb_test(chance, name)
            test = f"NOT ({test})" if chance.random() < 0.5 else test
            query = f"SELECT row FROM source WHERE {test} ORDER BY row"
            expected, found = (_rows(lambda source=source, query=query: connection.sql(query).fetchall()) for source in (own, mine))
            compared += _agree(expected, found, test)
    return compared
