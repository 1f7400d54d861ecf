"""Each type goes from Spark to a table and back, and from a table to Spark."""
import datetime
import decimal

import pyarrow
import pytest
from pyspark.sql import functions as F
from pyspark.sql import types as T

import cfile

UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2013, 7, 4, 12, 30, 15, 123456)
# The name and type of a column, and two values.
FLAT = {
    "bool": (T.BooleanType(), True, False),
    "byte": (T.ByteType(), -128, 127),
    "short": (T.ShortType(), -2**15, 2**15 - 1),
    "int": (T.IntegerType(), -2**31, 2**31 - 1),
    "long": (T.LongType(), -2**63, 2**63 - 1),
    "float": (T.FloatType(), 1.5, float("-inf")),
    "double": (T.DoubleType(), 1e300, -0.0),
    "small": (T.DecimalType(5, 2), decimal.Decimal("-999.99"), decimal.Decimal("0.01")),
    "large": (T.DecimalType(38, 10), decimal.Decimal("1234567890123456789012345678.0123456789"), decimal.Decimal("-1E-10")),
    "string": (T.StringType(), "", "Zürich"),
    "binary": (T.BinaryType(), bytearray(b"\0\xff"), bytearray()),
    "date": (T.DateType(), datetime.date(1582, 10, 15), datetime.date(9999, 12, 31)),
    "moment": (T.TimestampType(), MOMENT, datetime.datetime(1955, 1, 1)),
    "local": (T.TimestampNTZType(), MOMENT, datetime.datetime(1, 1, 1)),
}
if hasattr(T, "TimeType"):
    FLAT["time"] = (T.TimeType(), datetime.time(23, 59, 59, 999999), datetime.time(0))


def nested(name):
    data_type, first, second = FLAT[name]
    point = T.StructType([T.StructField("x", data_type), T.StructField("y", data_type, False)])
    yield T.ArrayType(data_type), [first, None, second], []
    yield T.ArrayType(data_type, False), [second], [first, first]
    yield T.ArrayType(T.ArrayType(data_type)), [[first], None, []], [[None, second]]
    yield T.MapType(T.StringType(), data_type), {"a": first, "b": None}, {}
    yield point, (None, first), (second, second)
    yield T.ArrayType(point), [(first, second), None], []
    yield T.StructType([T.StructField("in", point), T.StructField("list", T.ArrayType(data_type))]), ((first, second), [None]), (None, None)


def compare(found, expected):
    assert found.schema == expected.schema
    assert sorted(map(repr, found.collect())) == sorted(map(repr, expected.collect()))


@pytest.mark.parametrize("nullable", [True, False])
def test_flat(spark, read, save, tmp_path, nullable):
    schema = T.StructType([T.StructField("n", T.IntegerType(), False)] + [T.StructField(name, column[0], nullable)
                                                                          for name, column in FLAT.items()])
    rows = [[i, *(column[1 + i % 2] for column in FLAT.values())] for i in range(5)]
    if nullable:
        rows += [[9, *[None] * len(FLAT)]]
    frame = spark.createDataFrame(rows, schema, verifySchema=False)
    save(frame, tmp_path / "t", sorted_by="n")
    compare(read(tmp_path / "t"), frame)
    save(frame, tmp_path / "t")  # into a table that exists
    compare(read(tmp_path / "t"), frame.union(frame))
    assert cfile.open(tmp_path / "t").verify()["damages"] == []


@pytest.mark.parametrize("name", list(FLAT))
def test_nested(spark, read, save, tmp_path, name):
    columns = list(nested(name))
    schema = T.StructType([T.StructField(f"c{i}", column[0]) for i, column in enumerate(columns)])
    rows = [[column[1] for column in columns], [column[2] for column in columns], [None] * len(columns)]
    frame = spark.createDataFrame(rows, schema)
    save(frame, tmp_path / "t")
    compare(read(tmp_path / "t"), frame)
    assert read(tmp_path / "t", columns="c1,c4").columns == ["c1", "c4"]


@pytest.mark.parametrize("column", [name for name in FLAT if name != "time"])  # Spark does not compare times
def test_filters(spark, read, save, tmp_path, column):
    """Spark finds the same rows with and without the filter in cfile."""
    data_type, first, second = FLAT[column]
    frame = spark.createDataFrame([[i, value] for i, value in enumerate([first, second, None] * 3)],
                                  T.StructType([T.StructField("i", T.IntegerType()), T.StructField("v", data_type)]))
    save(frame.repartition(3), tmp_path / "t")
    v = F.col("v")
    for test in (v == F.lit(first), v != F.lit(first), v > F.lit(second), v >= F.lit(second), v < F.lit(first), v <= F.lit(first),
                 v.isin([first, second]), ~v.isin([first]), v.isNull(), v.isNotNull(), v.eqNullSafe(F.lit(first)),
                 ~v.eqNullSafe(F.lit(second)), (v == F.lit(first)) & (F.col("i") > 2), (v == F.lit(first)) | (F.col("i") > 2)):
        compare(read(tmp_path / "t", push_filters="true").filter(test), frame.filter(test))


def test_strings_and_nan(spark, read, save, tmp_path):
    nan = float("nan")
    frame = spark.createDataFrame([[text, value] for text in ("", "ab", "abc", "b", None) for value in (nan, 0.0, -0.0, 5.0, None)],
                                  "s string, d double")
    save(frame, tmp_path / "t")
    for test in ("s like 'ab%'", "s like '%c'", "s like '%b%'", "s not like 'ab%'", "d > 4", "d >= 5", "d < 5", "d = 0",
                 "d = double('nan')", "d <> 0", "not (d > 4)", "d in (5, double('nan'))", "not (d < 5)", "s in ('b', null)",
                 "s > 'a' and d > 0"):
        compare(read(tmp_path / "t", push_filters="true").filter(test), frame.filter(test))


def test_other_types_of_tables(read, tmp_path):
    """Types that Spark does not have become similar ones."""
    zone = pyarrow.timestamp("ns", "Europe/Zurich")
    data = pyarrow.table({
        "u8": pyarrow.array([255, None], pyarrow.uint8()), "u16": pyarrow.array([65535, 1], pyarrow.uint16()),
        "u32": pyarrow.array([2**32 - 1, 1], pyarrow.uint32()), "u64": pyarrow.array([2**64 - 1, 1], pyarrow.uint64()),
        "s": pyarrow.array([MOMENT.replace(microsecond=0), None], pyarrow.timestamp("s")),
        "ns": pyarrow.array([1373000000123456789, -1], zone), "fixed": pyarrow.array([b"ab", None], pyarrow.binary(2)),
        "large": pyarrow.array(["a", None], pyarrow.large_string()),
        "lists": pyarrow.array([[1, None], None], pyarrow.large_list(pyarrow.uint16()))})
    cfile.write(tmp_path / "t", data)
    table = read(tmp_path / "t")
    assert [field.dataType.simpleString() for field in table.schema] == [
        "smallint", "int", "bigint", "decimal(20,0)", "timestamp_ntz", "timestamp", "binary", "string", "array<int>"]
    first, second = table.collect()
    assert first[:4] == (255, 65535, 2**32 - 1, 2**64 - 1)
    assert first["s"] == MOMENT.replace(microsecond=0)
    assert table.select(F.unix_micros("ns")).collect()[0][0] == 1373000000123456
    assert (first["fixed"], first["large"], first["lists"]) == (b"ab", "a", [1, None])
    assert second[2:5] == (1, 1, None)
    table = read(tmp_path / "t", push_filters="true")
    assert table.filter("u64 = 18446744073709551615").count() == 1
    assert table.filter("ns < timestamp'2013-07-05 05:00:00'").count() == 2


def test_conditions(spark, read, save, tmp_path):
    time = "timestamp'2013-01-01 12:00:00Z' + make_interval(0, 0, 0, 0, id)"
    frame = spark.sql(f"select id, if(id % 3 = 0, null, {time}) as t from range(100)")
    save(frame, tmp_path / "t")
    table = read(tmp_path / "t", where="t >= '2013-01-03T00:00:00+00:00' or id < 5", columns="t,id")
    compare(table, frame.filter("t >= timestamp'2013-01-03 00:00:00Z' or id < 5").select("t", "id"))
    assert table.filter("id < 5").count() == 5
    assert read(tmp_path / "t", where="t is null and id not in (3)").count() == 33
    for wrong in ("id <", "id", "x = 1", "id == 1"):
        with pytest.raises(Exception, match="expected a value|a comparison must follow|no column|write ="):
            read(tmp_path / "t", where=wrong).collect()


def test_a_frame_is_used_again(spark, read, save, tmp_path):
    """Spark would give the second query the rows of the first one, if the first one had pushed its filter."""
    save(spark.range(100), tmp_path / "t")
    table = read(tmp_path / "t")
    assert table.filter("id < 10").count() == 10
    assert table.count() == 100
    assert table.filter("id < 10").union(table.filter("id >= 95")).count() == 15


def test_types_without_a_column(spark, save, tmp_path):
    for expression in ("interval 3 days", "interval 2 months", "parse_json('1')", "null"):
        with pytest.raises(Exception, match="(?i)column|type|support"):
            save(spark.sql(f"select {expression} as strange"), tmp_path / "t")
    assert not (tmp_path / "t").exists() or not list((tmp_path / "t").iterdir())
