"""Types of Spark and of Arrow, for cfile.spark."""
from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from typing import Any

from .errors import ArgumentError, UnsupportedError
from .optional import Lazy, need

_PURPOSE = "cfile.spark"
arrow, compute = Lazy("pyarrow", _PURPOSE), Lazy("pyarrow.compute", _PURPOSE)
_types = Lazy("pyspark.sql.pandas.types", _PURPOSE)


def flag(options: Mapping[str, str], name: str) -> bool:
    """An option of Spark that is true or false; false without it."""
    text = options.get(name, "false").lower()
    if text not in ("true", "false"):
        raise ArgumentError(f"the option {name}: expected true or false, found {text!r}")
    return text == "true"


_settled = False


def settle() -> None:
    """Excludes all objects that exist now from later collections of garbage. Spark collects garbage after each call of one of its Python
    processes, and the next call waits until this has ended. The imported modules alone took 30 ms each time. Only the first call in a
    process of Spark has an effect.
    """
    global _settled
    if not _settled and "SPARK_REUSE_WORKER" in os.environ:
        _settled = True
        gc.collect()
        gc.freeze()


def spark_schema(schema: Any) -> Any:
    """Returns the StructType that Spark has for the columns of a pyarrow.Schema. UnsupportedError: Spark has no such type."""
    return _types.from_arrow_schema(arrow.schema([_field(field) for field in schema]), prefer_timestamp_ntz=True)


def arrow_schema(schema: Any) -> Any:
    """Returns the pyarrow.Schema with which Spark exchanges rows of this StructType."""
    convert = _types.to_arrow_schema
    try:
        return convert(schema, timezone="UTC")
    except TypeError:  # before version 4.2
        return convert(schema)


def check_storable(data_type: Any, name: str) -> None:
    """UnsupportedError: a column of a table cannot have this type of Spark, or a type within it."""
    kind = type(data_type).__name__
    if kind in ("VariantType", "NullType", "GeometryType", "GeographyType") or "Interval" in kind:
        raise UnsupportedError(f"column {name}: a table cannot hold the type {data_type.simpleString()}")
    for field in getattr(data_type, "fields", ()):
        check_storable(field.dataType, f"{name}.{field.name}" if name else field.name)
    for part in ("elementType", "keyType", "valueType"):
        if hasattr(data_type, part):
            check_storable(getattr(data_type, part), name)


def _readable(field: Any) -> Any:
    """Returns the Arrow type that Spark has and that is most like the type of the field."""
    types = arrow.types
    data_type = field.type
    if isinstance(data_type, arrow.BaseExtensionType):
        data_type = data_type.storage_type
    if types.is_dictionary(data_type):
        data_type = data_type.value_type
    if types.is_unsigned_integer(data_type):
        return {8: arrow.int16(), 16: arrow.int32(), 32: arrow.int64(), 64: arrow.decimal128(20, 0)}[data_type.bit_width]
    if types.is_float16(data_type):
        return arrow.float32()
    if types.is_decimal(data_type):
        if data_type.precision > 38:
            raise UnsupportedError(f"column {field.name}: Spark has decimals of at most 38 digits, not {data_type}")
        return arrow.decimal128(data_type.precision, data_type.scale)
    if types.is_date(data_type):
        return arrow.date32()
    if types.is_time(data_type):
        return arrow.time64("ns") if hasattr(need("pyspark.sql.types", _PURPOSE), "TimeType") else arrow.int64()
    if types.is_timestamp(data_type):
        return arrow.timestamp("us", None if data_type.tz is None else "UTC")
    if types.is_large_string(data_type) or types.is_string_view(data_type):
        return arrow.string()
    if types.is_large_binary(data_type) or types.is_binary_view(data_type) or types.is_fixed_size_binary(data_type):
        return arrow.binary()
    if types.is_map(data_type):
        return arrow.map_(_field(data_type.key_field), _field(data_type.item_field))
    if types.is_list(data_type) or types.is_large_list(data_type) or types.is_fixed_size_list(data_type):
        return arrow.list_(_field(data_type.value_field))
    if types.is_struct(data_type):
        return arrow.struct([_field(child) for child in data_type])
    return data_type


def _field(field: Any) -> Any:
    return field.with_type(_readable(field))


def converted(batch: Any, schema: Any, *, cuts: bool = True) -> Any:
    """Returns a pyarrow.RecordBatch with the columns of `schema`.

    cuts: times are cut to the units of `schema`, nested ones too. Otherwise, digits that are lost are an error.
    """
    columns = []
    for field in schema:
        column = batch.column(field.name)
        if isinstance(column, arrow.ExtensionArray):
            column = column.storage
        if column.type != field.type:
            column = column.cast(options=compute.CastOptions(target_type=field.type, allow_time_truncate=cuts))
        columns.append(column)
    return arrow.RecordBatch.from_arrays(columns, schema=schema)


def comparable(table_type: Any, spark_type: Any) -> bool:
    """Whether comparisons of the column's own values and of what Spark gets of them have the same results. Both are types of Arrow."""
    types = arrow.types
    if types.is_timestamp(table_type) and types.is_timestamp(spark_type):
        return table_type.unit != "ns" and (table_type.tz is None) == (spark_type.tz is None)
    if types.is_time(table_type) or types.is_time(spark_type):
        return False
    for kind in (types.is_signed_integer, types.is_boolean, types.is_date, types.is_float32, types.is_float64,
                 lambda data_type: types.is_string(data_type) or types.is_large_string(data_type) or types.is_string_view(data_type),
                 lambda data_type: types.is_binary(data_type) or types.is_large_binary(data_type) or types.is_binary_view(data_type)):
        if kind(table_type):
            return bool(kind(spark_type))
    return bool(types.is_decimal(table_type) and types.is_decimal(spark_type) and table_type.scale == spark_type.scale)
