"""Brings back what keeping.py has kept of columns."""
from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from . import polars_types
from .keeping import CATEGORIES, LABELS, POLARS, SERIES, arrow
from .optional import Lazy, need

base64, json = Lazy("base64"), Lazy("json")
compute, pandas = Lazy("pyarrow.compute", "to_pandas"), Lazy("pandas", "to_pandas")


def _name_in(metadata: Mapping[str, str], unnamed: Any) -> Any:
    with suppress(TypeError, ValueError):
        described = json.loads(metadata.get(SERIES, "{}"))
        return described.get("name", unnamed) if isinstance(described, dict) else unnamed
    return unnamed


def _stored_type(data_type: Any) -> Any:
    """Returns the type as which a file can store the values of a pyarrow.DataType."""
    if isinstance(data_type, arrow.BaseExtensionType) and data_type.extension_name != "arrow.uuid":
        return _stored_type(data_type.storage_type)
    if arrow.types.is_duration(data_type):
        return arrow.int64()
    if arrow.types.is_float16(data_type):
        return arrow.float32()
    return arrow.string() if arrow.types.is_null(data_type) else data_type


def _kind(data_type: Any) -> str:
    """What the types of a column in a file and of the data that was written have in common."""
    types = arrow.types
    if types.is_dictionary(data_type) or types.is_run_end_encoded(data_type):
        return _kind(data_type.value_type)
    data_type = _stored_type(data_type)
    if types.is_nested(data_type):
        return "nested"
    return str(data_type).replace("large_", "").replace("_view", "").replace("date64[ms]", "date32[day]").partition("(")[0]


def _read_values(text: str) -> Any:
    return _read_table(text).column(0).combine_chunks()


def _read_table(text: str) -> Any:
    return arrow.ipc.open_stream(base64.b64decode(text)).read_all()


def _restored(column: Any, data_type: Any, categories: Any) -> Any:
    if column.type == data_type:
        return column
    if isinstance(data_type, arrow.BaseExtensionType):
        storage = _restored(column, data_type.storage_type, None)
        return arrow.chunked_array([arrow.ExtensionArray.from_storage(data_type, chunk) for chunk in storage.chunks], data_type)
    if arrow.types.is_null(data_type) and column.null_count == len(column):
        return arrow.chunked_array([arrow.nulls(len(column))])
    if not arrow.types.is_dictionary(data_type):
        return column.cast(data_type)
    values = column.cast(data_type.value_type)
    known = None
    if isinstance(categories, list):
        known = arrow.array(categories, data_type.value_type)
    elif categories is not None:
        known = _read_values(categories)
    if known is None or compute.index_in(values, known).null_count > values.null_count:
        # The categories are not known, or rows that were appended later have others. The categories of the rows have no known order.
        return values.dictionary_encode().cast(arrow.dictionary(data_type.index_type, data_type.value_type))
    chunks = [arrow.DictionaryArray.from_arrays(compute.index_in(chunk, known).cast(data_type.index_type), known, ordered=data_type.ordered)
              for chunk in values.chunks or [known[:0]]]
    return arrow.chunked_array(chunks, data_type)


def _restored_table(table: Any, metadata: Mapping[str, str]) -> Any:
    """Restores the types of columns, and the text for pandas about the columns that still have these types."""
    schema = arrow.ipc.read_schema(arrow.py_buffer(base64.b64decode(metadata["ARROW:schema"])))
    categories = json.loads(metadata.get(CATEGORIES, "{}"))
    changed = set()
    for position, name in enumerate(table.column_names):
        field = schema.get_field_index(name)
        if field < 0:
            continue  # the column was added or renamed later
        if _kind(table.column(position).type) != _kind(schema.field(field).type):
            changed.add(name)  # the column was replaced by one of another type later
            continue
        try:
            column = _restored(table.column(position), schema.field(field).type, categories.get(name))
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError, arrow.ArrowTypeError):
            changed.add(name)
            continue
        if isinstance(categories.get(name), dict) or column.type != schema.field(field).type and not arrow.types.is_dictionary(column.type):
            changed.add(name)
        table = table.set_column(position, arrow.field(name, column.type), column)
    if "pandas" not in metadata:
        return table
    described = json.loads(metadata["pandas"])
    described["columns"] = [column for column in described["columns"]
                            if column["field_name"] not in changed or column["field_name"] in described["index_columns"]]
    return table.replace_schema_metadata({"pandas": json.dumps(described)})


def to_pandas(data: Any, metadata: Mapping[str, str], options: Mapping[str, Any]) -> Any:
    """Returns the DataFrame or Series of a pyarrow.Table or ChunkedArray."""
    if not hasattr(data, "schema"):
        return _series(data, metadata, options) if "pandas" in metadata else data.to_pandas(**options)
    if "ARROW:schema" in metadata:
        data = _restored_table(data, metadata)
    unnamed = _unnamed_types(data)
    if unnamed:
        described = json.loads(data.schema.metadata[b"pandas"])
        described["columns"] = [column for column in described["columns"] if column["field_name"] not in unnamed]
        data = data.replace_schema_metadata({"pandas": json.dumps(described)})
    frame = data.to_pandas(**options)
    if "types_mapper" not in options:
        for name in unnamed:
            frame[name] = pandas.arrays.ArrowExtensionArray(data.column(name))
        for name in json.loads(metadata.get("python_strings", "[]")):
            if name in frame and str(frame[name].dtype) == "string":
                frame[name] = frame[name].astype("string[python]")
        for name, of in json.loads(metadata.get(CATEGORIES, "{}")).items():
            if isinstance(of, dict) and name in frame:
                dtype = pandas.CategoricalDtype(_read_values(of["values"]).to_pandas(), of["ordered"])
                categorical = frame[name].astype(dtype)
                if categorical.isna().sum() == data.column(name).null_count:  # rows that were appended later may have others
                    frame[name] = categorical
    return frame


def _unnamed_types(data: Any) -> list[str]:
    """The columns of types of Arrow whose names pandas writes and cannot read, for example "list<item: int64>[pyarrow]"."""
    described = json.loads((data.schema.metadata or {}).get(b"pandas", b'{"columns": []}'))
    dtype = pandas.api.types.pandas_dtype
    names = []
    for column in described["columns"]:
        try:
            dtype(column["numpy_type"])
        except (NotImplementedError, TypeError):
            if column["numpy_type"].endswith("[pyarrow]") and column["field_name"] in data.column_names:
                names.append(column["field_name"])
    return [name for name in names if name not in described["index_columns"]]


def _series(data: Any, metadata: Mapping[str, str], options: Mapping[str, Any]) -> Any:
    table = arrow.table({"value": data})
    if LABELS in metadata:
        labels = _read_table(metadata[LABELS])
        for name, column in zip(labels.column_names, labels.columns):
            table = table.append_column(name, column)
    return to_pandas(table, metadata, options)["value"].rename(_name_in(metadata, None))


def to_polars(data: Any, metadata: Mapping[str, str]) -> Any:
    """Gives data of Polars the types that polars_types.kept has kept, if the values have them."""
    polars = need("polars", "to_polars")
    types: Any = {}
    with suppress(ValueError):  # other programs may write what they like
        types = json.loads(metadata.get(POLARS, "{}"))
    if not isinstance(types, dict):
        return data
    for name, kept_type in types.items():
        column = data if isinstance(data, polars.Series) else data.get_column(name) if name in data.columns else None
        if column is None or (column is data and name != column.name):
            continue
        with suppress(polars.exceptions.PolarsError, AttributeError, LookupError, TypeError, ValueError):
            dtype = column.dtype
            for lists in (True, False):  # Polars casts no keys of maps
                column = column.cast(polars_types.restored(dtype, kept_type, lists))
        data = column if isinstance(data, polars.Series) else data.with_columns(column)
    return data.rename(str(_name_in(metadata, data.name))) if isinstance(data, polars.Series) else data
