"""Brings back what Arrow and pandas know about columns, and files do not store: index, categories, extension types.

`cfile.write` keeps it as metadata of a table: "pandas" is the text that pyarrow writes for pandas, "ARROW:schema" the schema of the data
in base64, "ARROW:categories" the categories of categorical columns in their order: JSON with a list of strings for each column, or an Arrow
stream in base64 if the categories are no strings, "python_strings" the names of columns of pandas whose strings are objects of Python,
"ARROW:polars" the types Array, Categorical and Enum of columns of Polars, "series" the name of a Series, which is a file, and
"pandas_index" the labels of one of pandas: an Arrow stream in base64.
The labels of a RangeIndex are a column, unless they only count the rows from 0: metadata cannot follow rows that are sorted or chosen.
A table that was made from a Parquet file has the same metadata. A column gets ordered categories only if its categories are known.
"""
from __future__ import annotations

from contextlib import suppress

from . import _native
from .errors import ConflictError, UnsupportedError
from .optional import Lazy, need

TYPE_CHECKING = False
if TYPE_CHECKING:
    import base64
    import json
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from .locations import Location
else:
    base64, json = Lazy("base64"), Lazy("json")

_CATEGORIES = "ARROW:categories"
_LABELS, _SERIES = "pandas_index", "series"
_MOST_ELEMENTS = 1 << 17  # of a list that is stored as bytes
_POLARS = "ARROW:polars"
_PURPOSE = "writing and reading columns of pyarrow and pandas"


def _text_of(buffer: Any) -> str:
    return base64.b64encode(buffer).decode()


def storable(table: Any, fields: Collection[str] | None) -> tuple[Any, dict[str, str]]:
    """Makes the rows of a pyarrow.Table fit for a table. Returns them, and what to keep of their schema.

    fields: the names of the columns of the table to which the rows go; None if it is new.
    """
    arrow = need("pyarrow", _PURPOSE)
    if b"pandas" in (table.schema.metadata or {}):
        table = _labelled(table, fields)
    schema = described = table.schema
    metadata = {}
    pandas = (schema.metadata or {}).get(b"pandas")
    if pandas is not None:
        metadata["pandas"] = pandas.decode()
    categories: dict[str, Any] = {}
    is_changed = pandas is not None
    for position, field in enumerate(schema):
        column = table.column(position)
        if arrow.types.is_dictionary(field.type):
            is_changed = True
            if column.num_chunks and not arrow.types.is_null(field.type.value_type):
                values = column.unify_dictionaries().chunk(0).dictionary.drop_null()
                is_text = arrow.types.is_string(values.type) or arrow.types.is_large_string(values.type)
                if isinstance(values.type, arrow.BaseExtensionType):  # pyarrow cannot read the schema of such a dictionary
                    described = described.set(position, field.with_type(values.type))
                    categories[field.name] = {"ordered": field.type.ordered, "values": _text_of(_stream_of(values))}
                    continue
                categories[field.name] = values.to_pylist() if is_text and not values.null_count else _text_of(_stream_of(values))
    if categories:
        metadata[_CATEGORIES] = json.dumps(categories)
    return table, {**metadata, "ARROW:schema": _text_of(described.serialize())} if is_changed else {}


def _labelled(table: Any, fields: Collection[str] | None) -> Any:
    """Makes a column of the labels of a RangeIndex. In a new table, labels that only count the rows from 0 need none."""
    arrow = need("pyarrow", _PURPOSE)
    described = json.loads(table.schema.metadata[b"pandas"])
    indexes: list[Any] = []
    for level, index in enumerate(described["index_columns"]):
        if not isinstance(index, dict):
            indexes.append(index)
            continue
        name, labels = index["name"], range(index["start"], index["stop"], index["step"])
        field = f"__index_level_{level}__" if name is None or name in table.column_names else name
        counts = name is None and index["start"] == 0 and index["step"] == 1
        if len(labels) == table.num_rows and (not counts if fields is None else field in fields):
            numbers = need("numpy", _PURPOSE).arange(labels.start, labels.stop, labels.step, "int64")
            table = table.append_column(field, arrow.array(numbers))
            described["columns"].append({"name": name, "field_name": field, "pandas_type": "int64", "numpy_type": "int64",
                                         "metadata": None})
            indexes.append(field)
    described["index_columns"] = indexes
    return table.replace_schema_metadata({**table.schema.metadata, b"pandas": json.dumps(described)})


def byte_lists(data: Any) -> list[str]:
    """The columns of lists of numbers of a fixed length that a new table stores as bytes: no element is null. "": of one array."""
    if hasattr(data, "_opened"):
        return fixed_columns(data._opened)
    package = type(data).__module__.partition(".")[0]
    if package not in ("polars", "pyarrow"):
        return []
    fields = getattr(data, "schema", None)
    if package == "polars":
        columns = {"": data} if fields is None else {name: data.get_column(name) for name, dtype in fields.items() if hasattr(dtype, "shape")}
        return [name for name, column in columns.items() if len(column) and hasattr(column.dtype, "shape")
                and column.drop_nulls().explode().null_count() == 0]
    arrow = need("pyarrow", _PURPOSE)
    names = []
    for position, (name, kind) in enumerate([("", data.type)] if fields is None else zip(fields.names, fields.types)):
        kind = kind.storage_type if isinstance(kind, arrow.BaseExtensionType) else kind
        if not arrow.types.is_fixed_size_list(kind) or not 0 < kind.list_size <= _MOST_ELEMENTS:
            continue
        if kind.value_field.nullable:  # then the elements say whether there are nulls
            column = data if fields is None else data.column(position) if hasattr(data, "column") else ()
            if not len(column) or any(_storage(chunk).flatten().null_count for chunk in column.chunks):
                continue
        names.append(name)
    return names


def _storage(array: Any) -> Any:
    return getattr(array, "storage", array)


def fixed_columns(opened: _native.Opened) -> list[str]:
    """The columns that may have lists as bytes."""
    return [info["name"] if opened.is_table else "" for info in opened.columns if info["type"].startswith("fixed")]


def has_byte_lists(rows: Any) -> bool:
    """Whether lists of the rows are stored as bytes."""
    columns = fixed_columns(rows._opened) if rows._opened.arrow_schema else []
    if not columns:
        return False
    arrow = need("pyarrow", _PURPOSE)
    kinds = [arrow.field(rows).type] if "" in columns else [field.type for field in arrow.schema(rows) if field.name in columns]
    return any(arrow.types.is_fixed_size_list(getattr(kind, "storage_type", kind)) for kind in kinds)


def described_by(opened: _native.Opened) -> tuple[str, list[str]] | None:
    """ARROW:schema and columns of a table that gets rows; None if an earlier version wrote it, whose rows have the stored types."""
    text = opened.info()["metadata"].get("ARROW:schema", "")
    return None if text and not opened.arrow_schema else (text, opened.fields)


def renamed(metadata: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """The metadata of a table whose columns have got other names; "" removes a column."""
    after = dict(metadata)

    def new(name: str) -> str:
        return names.get(name, name)
    with suppress(AttributeError, KeyError, TypeError, ValueError):  # other programs may write what they like
        if "ARROW:schema" in after:
            after["ARROW:schema"] = _native.change_arrow_schema(after["ARROW:schema"], dict(names))
        for key in {_CATEGORIES, _POLARS} & after.keys():
            after[key] = json.dumps({new(name): of for name, of in json.loads(after[key]).items() if new(name)})
        if "python_strings" in after:
            after["python_strings"] = json.dumps(list(filter(None, map(new, json.loads(after["python_strings"])))))
        if "pandas" in after:
            described = json.loads(after["pandas"])
            described["columns"] = [column for column in described["columns"] if new(column["field_name"])]
            for column in described["columns"]:
                if column["name"] == column["field_name"]:
                    column["name"] = new(column["name"])
                column["field_name"] = new(column["field_name"])
            described["index_columns"] = [new(index) if isinstance(index, str) else index for index in described["index_columns"]
                                          if not isinstance(index, str) or new(index)]
            after["pandas"] = json.dumps(described)
    return after


def extended(metadata: Mapping[str, str], of_data: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The metadata of a table that has got columns of data with the metadata `of_data`."""
    after = dict(metadata)
    if names and "ARROW:schema" in of_data:
        text = metadata.get("ARROW:schema", "")
        after["ARROW:schema"] = _native.change_arrow_schema(text, {}, of_data["ARROW:schema"], list(names))
    for key in (_CATEGORIES, _POLARS):
        found = {name: of for name, of in json.loads(of_data.get(key, "{}")).items() if name in names}
        with suppress(TypeError, ValueError):
            if found:
                after[key] = json.dumps({**json.loads(metadata.get(key, "{}")), **found})
    return after


def change(target: Location, changed: Callable[[Mapping[str, str]], dict[str, str]]) -> None:
    """Gives a table the metadata changed(its metadata)."""
    while True:
        before = {key: text for key, text in _native.open_table(target).info()["metadata"].items() if isinstance(text, str)}
        after = changed(before)
        keys = {key for key in {**before, **after} if before.get(key) != after.get(key)}
        try:
            if keys:
                _native.replace_metadata(target, {key: before[key] for key in keys & before.keys()},
                                         {key: after[key] for key in keys & after.keys()})
            return
        except ConflictError:
            pass  # another program has changed them meanwhile


def without_ranges(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Removes labels of a Series and descriptions of a RangeIndex, which are those of all rows in the order in which they were written."""
    metadata = {key: text for key, text in metadata.items() if key != _LABELS}
    if '"range"' not in metadata.get("pandas", ""):
        return metadata
    described = json.loads(metadata["pandas"])
    described["index_columns"] = [index for index in described["index_columns"] if isinstance(index, str)]
    return {**metadata, "pandas": json.dumps(described)}


def _stream_of(array: Any) -> Any:
    return _stream_of_table(need("pyarrow", _PURPOSE).table([array], ["categories"]))


def _stream_of_table(table: Any) -> Any:
    arrow = need("pyarrow", _PURPOSE)
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    return sink.getvalue()


def of_series(series: Any) -> tuple[Any, dict[str, str]]:
    """The values of a Series of pandas, and what to keep of it."""
    table, metadata = storable(need("pyarrow", _PURPOSE).Table.from_pandas(series.to_frame("value")), None)
    labels = table.drop_columns("value")
    if labels.num_columns:
        metadata[_LABELS] = _text_of(_stream_of_table(labels))
    return table.column("value"), {**metadata, **series_name(series.name)}


def series_name(name: Any) -> dict[str, str]:
    """What to keep of the name of a Series."""
    return {_SERIES: json.dumps({"name": name})} if isinstance(name, (str, int, float)) else {}


def _name_in(metadata: Mapping[str, str], unnamed: Any) -> Any:
    with suppress(TypeError, ValueError):
        described = json.loads(metadata.get(_SERIES, "{}"))
        return described.get("name", unnamed) if isinstance(described, dict) else unnamed
    return unnamed


def _stored_type(data_type: Any) -> Any:
    """Returns the type as which a file can store the values of a pyarrow.DataType."""
    arrow = need("pyarrow", _PURPOSE)
    if isinstance(data_type, arrow.BaseExtensionType) and data_type.extension_name != "arrow.uuid":
        return _stored_type(data_type.storage_type)
    if arrow.types.is_duration(data_type):
        return arrow.int64()
    if arrow.types.is_float16(data_type):
        return arrow.float32()
    return arrow.string() if arrow.types.is_null(data_type) else data_type


def stored(column: Any, data_type: Any) -> Any:
    """Casts an array or a chunked array. Extension types become their storage."""
    arrow = need("pyarrow", _PURPOSE)
    if column.type == data_type:
        return column
    if isinstance(column.type, arrow.BaseExtensionType):
        if isinstance(column, arrow.ChunkedArray):
            storage = [chunk.storage for chunk in column.chunks]
            return stored(arrow.chunked_array(storage, column.type.storage_type), data_type)
        return stored(column.storage, data_type)
    return column.cast(data_type)


def _kind(data_type: Any) -> str:
    """What the types of a column in a file and of the data that was written have in common."""
    types = need("pyarrow", _PURPOSE).types
    if types.is_dictionary(data_type) or types.is_run_end_encoded(data_type):
        return _kind(data_type.value_type)
    data_type = _stored_type(data_type)
    if types.is_nested(data_type):
        return "nested"
    return str(data_type).replace("large_", "").replace("_view", "").replace("date64[ms]", "date32[day]").partition("(")[0]


def _read_values(text: str) -> Any:
    return _read_table(text).column(0).combine_chunks()


def _read_table(text: str) -> Any:
    return need("pyarrow", _PURPOSE).ipc.open_stream(base64.b64decode(text)).read_all()


def _restored(column: Any, data_type: Any, categories: Any) -> Any:
    arrow = need("pyarrow", _PURPOSE)
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
    index_in = need("pyarrow.compute", _PURPOSE).index_in
    known = None
    if isinstance(categories, list):
        known = arrow.array(categories, data_type.value_type)
    elif categories is not None:
        known = _read_values(categories)
    if known is None or index_in(values, known).null_count > values.null_count:
        # The categories are not known, or rows that were appended later have others. The categories of the rows have no known order.
        return values.dictionary_encode().cast(arrow.dictionary(data_type.index_type, data_type.value_type))
    chunks = [arrow.DictionaryArray.from_arrays(index_in(chunk, known).cast(data_type.index_type), known, ordered=data_type.ordered)
              for chunk in values.chunks or [known[:0]]]
    return arrow.chunked_array(chunks, data_type)


def _restored_table(table: Any, metadata: Mapping[str, str]) -> Any:
    """Restores the types of columns, and the text for pandas about the columns that still have these types."""
    arrow = need("pyarrow", _PURPOSE)
    schema = arrow.ipc.read_schema(arrow.py_buffer(base64.b64decode(metadata["ARROW:schema"])))
    categories = json.loads(metadata.get(_CATEGORIES, "{}"))
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
    described["columns"] = [column for column in described["columns"] if column["field_name"] not in changed]
    return table.replace_schema_metadata({"pandas": json.dumps(described)})


def to_pandas(data: Any, metadata: Mapping[str, str], options: Mapping[str, Any]) -> Any:
    """Returns the DataFrame or Series of a pyarrow.Table or ChunkedArray."""
    if not hasattr(data, "schema"):
        return _series(data, metadata, options) if "pandas" in metadata else data.to_pandas(**options)
    if "ARROW:schema" in metadata:
        data = _restored_table(data, metadata)
    frame = data.to_pandas(**options)
    if "types_mapper" not in options:
        for name in json.loads(metadata.get("python_strings", "[]")):
            if name in frame and str(frame[name].dtype) == "string":
                frame[name] = frame[name].astype("string[python]")
        for name, of in json.loads(metadata.get(_CATEGORIES, "{}")).items():
            if isinstance(of, dict) and name in frame:
                dtype = need("pandas", _PURPOSE).CategoricalDtype(_read_values(of["values"]).to_pandas(), of["ordered"])
                categorical = frame[name].astype(dtype)
                if categorical.isna().sum() == data.column(name).null_count:  # rows that were appended later may have others
                    frame[name] = categorical
    return frame


def _series(data: Any, metadata: Mapping[str, str], options: Mapping[str, Any]) -> Any:
    arrow = need("pyarrow", _PURPOSE)
    table = arrow.table({"value": data})
    if _LABELS in metadata:
        labels = _read_table(metadata[_LABELS])
        for name, column in zip(labels.column_names, labels.columns):
            table = table.append_column(name, column)
    return to_pandas(table, metadata, options)["value"].rename(_name_in(metadata, None))


def polars_types(data: Any) -> dict[str, str]:
    """Returns what to keep of data of Polars. UnsupportedError: a column has objects of Python."""
    types: dict[str, Any] = {}
    for name, dtype in data.schema.items() if hasattr(data, "schema") else [("value", data.dtype)]:
        kind = str(dtype.base_type())
        if kind == "Object":
            raise UnsupportedError(f"column {name}: no column can hold objects of Python")
        if kind in ("Array", "Categorical", "Enum", "Int128"):
            types[name] = kind, dtype.categories.to_list() if kind == "Enum" else getattr(dtype, "shape", None)
    named = {} if hasattr(data, "schema") or not data.name else series_name(data.name)
    return {**({_POLARS: json.dumps(types)} if types else {}), **named}


def to_polars(data: Any, metadata: Mapping[str, str]) -> Any:
    """Gives data of Polars the types that polars_types has kept, if the values have them."""
    polars = need("polars", "to_polars")
    types: Any = {}
    with suppress(ValueError):  # other programs may write what they like
        types = json.loads(metadata.get(_POLARS, "{}"))
    if not isinstance(types, dict):
        return data
    for name, kept_type in types.items():
        column = data if isinstance(data, polars.Series) else data.get_column(name) if name in data.columns else None
        if column is None or (column is data and name != column.name):
            continue
        with suppress(polars.exceptions.PolarsError, AttributeError, LookupError, TypeError, ValueError):
            kind, of = kept_type
            if kind != "Array":
                column = column.cast(polars.Enum(of) if kind == "Enum" else {"Categorical": polars.Categorical, "Int128": polars.Int128}[kind])
            for depth in range(len(of) if kind == "Array" else 0, 0, -1):  # the innermost lists first
                dtype = column.dtype
                for _ in range(depth):
                    dtype = dtype.inner
                dtype = polars.Array(dtype, of[depth - 1])
                for _ in range(depth - 1):
                    dtype = polars.List(dtype)
                column = column.cast(dtype)
        data = column if isinstance(data, polars.Series) else data.with_columns(column)
    return data.rename(str(_name_in(metadata, data.name))) if isinstance(data, polars.Series) else data


def python_strings(frame: Any) -> dict[str, str]:
    """Returns what to keep of a DataFrame in addition to what pyarrow keeps of it."""
    names = [name for name, dtype in frame.dtypes.items() if str(dtype) == "string" and dtype.storage == "python"]
    return {"python_strings": json.dumps(names)} if names else {}


def kept(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Returns the metadata that another part of a table, or another table with its rows, gets: all texts."""
    return {key: text for key, text in without_ranges(metadata).items() if isinstance(key, str) and isinstance(text, str)}
