"""Frames of all types: what is written comes back equal from every container, or is refused by name. Never is it changed.

CFILE_CASES: the number of random cases; 100 cases that are always the same without it.
"""
import decimal
import os
import tempfile

import polars
import polars.testing
import pyarrow as pa
import pytest

import cfile

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

_CASES = os.environ.get("CFILE_CASES")
_FLAT = [pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(),
         pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary(3),
         pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("s"),
         pa.timestamp("us", "UTC"), pa.timestamp("ns", "Asia/Tokyo"), pa.duration("s"), pa.duration("ns"), pa.null(),
         pa.decimal128(9, 2), pa.decimal128(38, 5), pa.decimal256(20, 1), pa.decimal256(60, 1), pa.uuid(), pa.json_(), pa.bool8(),
         pa.fixed_shape_tensor(pa.float32(), (2,)), pa.opaque(pa.int32(), "type", "vendor"), pa.month_day_nano_interval()]


def _types():
    flat = st.sampled_from(_FLAT)
    encoded = st.builds(pa.dictionary, st.sampled_from([pa.int8(), pa.int32()]),
                        st.sampled_from([pa.string(), pa.int64(), pa.duration("ms"), pa.float32(), pa.null()]))

    def around(inner):
        return st.one_of(st.builds(pa.list_, inner), st.builds(pa.large_list, inner), st.builds(pa.list_, inner, st.integers(1, 2)),
                         st.builds(lambda kinds: pa.struct(list(zip("xyz", kinds))), st.lists(inner, max_size=2)),
                         st.builds(pa.map_, st.sampled_from([pa.string(), pa.int32()]), inner))
    return st.one_of(flat, encoded, st.recursive(st.sampled_from(_FLAT[:33]), around, max_leaves=3))


def _plain(kind):
    """A strategy of values for pyarrow.array, without nulls."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(kind.storage_type)
    if types.is_dictionary(kind):
        return _plain(kind.value_type)
    if types.is_null(kind):
        return st.none()
    if types.is_boolean(kind):
        return st.booleans()
    if types.is_integer(kind):
        bits = kind.bit_width
        return st.integers(-2**(bits - 1), 2**(bits - 1) - 1) if types.is_signed_integer(kind) else st.integers(0, 2**bits - 1)
    if types.is_floating(kind):
        return st.floats(width=kind.bit_width)
    if types.is_decimal(kind):
        most = 10**kind.precision - 1
        exact = decimal.Context(prec=76)  # the default rounds to 28 digits, and may round up to a digit too many
        return st.integers(-most, most).map(lambda number: decimal.Decimal(number).scaleb(-kind.scale, exact))
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return st.text(st.characters(codec="utf-8"), max_size=20)
    if types.is_fixed_size_binary(kind):
        return st.binary(min_size=kind.byte_width, max_size=kind.byte_width)
    if types.is_binary(kind) or types.is_large_binary(kind):
        return st.binary(max_size=20)
    if types.is_interval(kind):
        return st.just((1, 2, 3))
    if types.is_date(kind):
        return st.integers(-2**31, 2**31 - 1).map(lambda day: day * (86_400_000 if types.is_date64(kind) else 1))
    if types.is_time(kind):
        return st.integers(0, 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit] - 1)
    if types.is_temporal(kind):
        most = 2**31 if kind.unit == "s" else 2**63  # seconds fit into milliseconds, which Parquet and Polars have
        return st.integers(-most, most - 1)
    if types.is_map(kind):
        return st.lists(st.tuples(_plain(kind.key_type), _values(kind.item_type)), max_size=2)
    if types.is_fixed_size_list(kind):
        return st.lists(_values(kind.value_type), min_size=kind.list_size, max_size=kind.list_size)
    if types.is_list(kind) or types.is_large_list(kind):
        return st.lists(_values(kind.value_type), max_size=3)
    return st.fixed_dictionaries({field.name: _values(field.type) for field in kind})


def _values(kind):
    return st.one_of(st.none(), _plain(kind))


def _array(kind, values):
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _array(kind.storage_type, values))
    if pa.types.is_dictionary(kind):
        encoded = _array(kind.value_type, values).dictionary_encode()
        return pa.DictionaryArray.from_arrays(encoded.indices.cast(kind.index_type), encoded.dictionary)
    return pa.array(values, kind)


@st.composite
def _tables(draw):
    """Tables of one to three columns in slices of several chunks."""
    names = draw(st.lists(st.sampled_from(["a", "b.c", "ü", "b", "x y"]), min_size=1, max_size=3, unique=True))
    rows = draw(st.integers(0, 5))
    cut, begin = draw(st.integers(0, 5)), draw(st.integers(0, 2))
    columns = []
    for _ in names:
        kind = draw(_types())
        array = _array(kind, draw(st.lists(_values(kind), min_size=rows, max_size=rows)))
        columns.append(pa.chunked_array([array[:cut], array[cut:]], kind))
    fields = [pa.field(name, column.type, metadata=draw(st.sampled_from([None, {"k": "v"}]))) for name, column in zip(names, columns)]
    return pa.table(columns, pa.schema(fields, metadata=draw(st.sampled_from([None, {"owner": "me"}]))))[begin:]


def _stored_type(kind, top=False):
    """What Arrow calls the type of the column."""
    types = pa.types
    if top and types.is_fixed_size_list(kind) and _is_number(kind.value_type):
        return kind
    if isinstance(kind, pa.BaseExtensionType):
        return kind
    if types.is_dictionary(kind):
        return _stored_type(kind.value_type)
    if types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    if types.is_large_binary(kind):
        return pa.binary()
    if types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale)
    if types.is_date64(kind):
        return pa.date32()
    if types.is_map(kind):
        return pa.map_(_stored_type(kind.key_type), _stored_type(kind.item_type))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return pa.list_(_stored_type(kind.value_type))
    if types.is_struct(kind):
        return pa.struct([(field.name, _stored_type(field.type)) for field in kind])
    return kind


def _is_number(kind):
    return pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)


def _in_parquet(kind):
    """Parquet has no seconds."""
    types = pa.types
    if kind in (pa.time32("s"), pa.timestamp("s")):
        return pa.time32("ms") if types.is_time(kind) else pa.timestamp("ms")
    if types.is_map(kind):
        return pa.map_(kind.key_type, _in_parquet(kind.item_type))
    if types.is_fixed_size_list(kind):
        return pa.list_(_in_parquet(kind.value_type), kind.list_size)
    if types.is_list(kind) or types.is_large_list(kind):
        return (pa.list_ if types.is_list(kind) else pa.large_list)(_in_parquet(kind.value_type))
    return pa.struct([(field.name, _in_parquet(field.type)) for field in kind]) if types.is_struct(kind) else kind


def _rows(table):
    """The values as text: -0 is not 0, and NaN is NaN."""
    return [repr([_value(scalar) for scalar in column]) for column in table.columns]


def _value(scalar):
    """Times are numbers, because Python has no nanoseconds and no year 0; seconds are milliseconds, because Parquet has no seconds."""
    if not scalar.is_valid:
        return None
    if isinstance(scalar, (pa.DictionaryScalar, pa.ExtensionScalar)):
        return _value(scalar.value)
    if isinstance(scalar, pa.ListScalar):  # a map is one, too
        return [_value(value) for value in scalar.values]
    if isinstance(scalar, pa.StructScalar):
        return [_value(scalar[index]) for index in range(len(scalar))]
    if isinstance(scalar, pa.Date64Scalar):
        return scalar.value // 86_400_000
    if pa.types.is_temporal(scalar.type):
        return scalar.value * (1000 if getattr(scalar.type, "unit", None) == "s" else 1)
    return scalar.as_py()


def _check(found, table, parquet=False):
    found.validate(full=True)
    assert found.column_names == table.column_names
    for kind, written in zip(found.schema.types, table.schema.types):
        assert kind.equals(_stored_type(_in_parquet(written) if parquet else written, top=True)), (kind, written)
    assert _rows(found) == _rows(table)
    for field in table.schema:
        assert (field.metadata or {}).items() <= (found.schema.field(field.name).metadata or {}).items()
    assert (table.schema.metadata or {}).items() <= (found.schema.metadata or {}).items()


def _written(path, data, names):
    """Writes, and returns True; or False if a column is refused by its name."""
    try:
        cfile.write(path, data)
        return True
    except cfile.UnsupportedError as error:
        assert any(name in str(error) for name in names), error
        return False


@hypothesis.settings(max_examples=int(_CASES or 100), deadline=None, derandomize=_CASES is None, database=None,
                     suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(table=_tables(), container=st.sampled_from(["table", "reader", "batches", "polars"]))
def test_frames(table, container):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t")
        source = {"table": lambda: table, "reader": lambda: pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
                  "batches": lambda: iter(table.to_batches()) if table.to_batches() else table, "polars": lambda: _polars(table)}
        data = source[container]()
        if data is None or not _written(path, data, table.column_names):
            return
        if container == "polars":
            for found in (cfile.open(path).to_polars(), cfile.scan_polars(path).collect()):
                polars.testing.assert_frame_equal(found, data)
            return
        _check(cfile.open(path).to_arrow(), table)
        cfile.append(path, table)
        twice = cfile.open(path)
        _check(twice.to_arrow(), pa.concat_tables([table, table]))
        _check(twice[len(table):].to_arrow(), table)
        _check(twice.take(range(len(table))).to_arrow(), table)
        cfile.to_parquet(path, os.path.join(folder, "f.parquet"))
        cfile.from_parquet(os.path.join(folder, "f.parquet"), os.path.join(folder, "back"))
        _check(cfile.open(os.path.join(folder, "back")).to_arrow(), pa.concat_tables([table, table]), parquet=True)


def _polars(table):
    """None: Polars has no such type, or not the same values."""
    try:
        frame = polars.DataFrame(table)
        frame.__arrow_c_stream__()  # no decimals of 60 digits
        return frame
    except BaseException:  # noqa: BLE001 (Polars panics for types that it does not know)
        return None
