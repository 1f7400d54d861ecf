"""Keeps what Arrow, pandas and Polars know about columns, and files do not store: index, categories, extension types.

`cfile.write` keeps it as metadata of a table: "pandas" is the text that pyarrow writes for pandas, "ARROW:schema" the schema of the data
in base64, "ARROW:categories" the categories of categorical columns in their order: JSON with a list of strings for each column, or an Arrow
stream in base64 if the categories are no strings, "python_strings" the names of columns of pandas whose strings are objects of Python,
"ARROW:polars" the types of Polars that columns do not have (polars_types.py), "series" the name of a Series, which is a file, and
"pandas_index" the labels of one of pandas: an Arrow stream in base64.
The labels of a RangeIndex are a column, unless they only count the rows from 0: metadata cannot follow rows that are sorted or chosen.
A table that was made from a Parquet file has the same metadata. A column gets ordered categories only if its categories are known.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from . import _native
from .errors import ConflictError
from .locations import Location
from .optional import Lazy, need

base64, json = Lazy("base64"), Lazy("json")
arrow = Lazy("pyarrow", "writing and reading columns of pyarrow and pandas")
CATEGORIES = "ARROW:categories"
LABELS, SERIES = "pandas_index", "series"
_LONG_TEXT = 1 << 12
_MOST_LABEL_BYTES = 1 << 20  # all metadata of a file may have 16 MiB
_MOST_ELEMENTS = 1 << 17  # of a list that is stored as bytes
POLARS = "ARROW:polars"


def _text_of(buffer: Any) -> str:
    return str(base64.b64encode(buffer), "ascii")


def storable(table: Any, fields: Collection[str] | None) -> tuple[Any, dict[str, str]]:
    """Makes the rows of a pyarrow.Table fit for a table. Returns them, and what to keep of their schema.

    fields: the names of the columns of the table to which the rows go; None if it is new.
    """
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
                    categories[field.name] = {"ordered": field.type.ordered, "values": _stream_of(values)}
                    continue
                categories[field.name] = values.to_pylist() if is_text else _stream_of(values)
    if categories:
        metadata[CATEGORIES] = json.dumps(categories)
    return table, {**metadata, "ARROW:schema": _text_of(described.serialize())} if is_changed else {}


def as_column(data: Any, fields: Collection[str] | None) -> Any:
    """Puts an array, or a Series of Polars, with null structs into the column "value" of a table, which has no null rows."""
    is_series = hasattr(data, "to_frame")
    if not str(getattr(data, "dtype" if is_series else "type", "")).lower().startswith("struct"):
        return data
    if not (data.null_count() if is_series else data.null_count) and list(fields or ()) != ["value"]:  # rows for such a table
        return data
    return data.to_frame("value") if is_series else arrow.Table.from_arrays([data], ["value"])


def _labelled(table: Any, fields: Collection[str] | None) -> Any:
    """Makes a column of the labels of a RangeIndex. In a new table, labels that only count the rows from 0 need none."""
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
            numbers = need("numpy", "labels of pandas").arange(labels.start, labels.stop, labels.step, "int64")
            table = table.append_column(field, arrow.array(numbers))
            described["columns"].append({"name": name, "field_name": field, "pandas_type": "int64", "numpy_type": "int64",
                                         "metadata": None})
            indexes.append(field)
    described["index_columns"] = indexes
    return table.replace_schema_metadata({**table.schema.metadata, b"pandas": json.dumps(described)})


def byte_lists(data: Any) -> list[str]:
    """The columns of lists of numbers of a fixed length that a new table stores as bytes: no element is null. "": of one array."""
    if hasattr(data, "_opened"):
        names = fixed_columns(data._opened)
        return names if not data._column_only else [""] if {"", *data._all()._columns} & {*names} else []
    package = type(data).__module__.partition(".")[0]
    if package not in ("polars", "pyarrow"):
        return []
    fields = getattr(data, "schema", None)
    if package == "polars":
        columns = {"": data} if fields is None else {name: data.get_column(name) for name in fields}
        return [name for name, column in columns.items() if len(column) and hasattr(column.dtype, "shape")
                and column.dtype.inner.is_numeric() and column.dtype.size <= _MOST_ELEMENTS
                and column.drop_nulls().explode().null_count() == 0]
    names = []
    for position, (name, kind) in enumerate([("", data.type)] if fields is None else zip(fields.names, fields.types)):
        kind = kind.storage_type if isinstance(kind, arrow.BaseExtensionType) else kind
        if not arrow.types.is_fixed_size_list(kind) or not 0 < kind.list_size <= _MOST_ELEMENTS:
            continue
        if kind.value_field.nullable:  # then the elements say whether there are nulls
            chunks = data.chunks if fields is None else data.column(position).chunks if hasattr(data, "column") else []
            if not sum(map(len, chunks)) or any(getattr(chunk, "storage", chunk).flatten().null_count for chunk in chunks):
                continue
        names.append(name)
    return names


def fixed_columns(opened: _native.Opened) -> list[str]:
    """The columns that may have lists as bytes."""
    return [info["name"] if opened.is_table else "" for info in opened.columns if info["type"].startswith("fixed")]


def has_byte_lists(rows: Any) -> bool:
    """Whether lists of the rows are stored as bytes."""
    columns = fixed_columns(rows._opened) if rows._opened.arrow_schema else []
    if not columns:
        return False
    kinds = [arrow.field(rows).type] if "" in columns else [field.type for field in arrow.schema(rows) if field.name in columns]
    return any(arrow.types.is_fixed_size_list(getattr(kind, "storage_type", kind)) for kind in kinds)


def described_by(opened: _native.Opened) -> tuple[str, list[str]] | None:
    """ARROW:schema and columns of a table that gets rows; None if an earlier version wrote it, whose rows have the stored types."""
    text = opened.arrow_schema
    return None if not text and opened.metadata.get("ARROW:schema") else (text, opened.fields)


def renamed(metadata: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """The metadata of a table whose columns have got other names; "" removes a column."""
    after = dict(metadata)

    def new(name: str) -> str:
        return names.get(name, name)
    with suppress(AttributeError, KeyError, TypeError, ValueError):  # other programs may write what they like
        if "ARROW:schema" in after:
            after["ARROW:schema"] = _native.change_arrow_schema(after["ARROW:schema"], dict(names))
        for key in {CATEGORIES, POLARS} & after.keys():
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
    for key in (CATEGORIES, POLARS):
        with suppress(AttributeError, TypeError, ValueError):  # other programs may write what they like
            found = {name: of for name, of in json.loads(of_data.get(key, "{}")).items() if name in names}
            if found:
                after[key] = json.dumps({**json.loads(metadata.get(key, "{}")), **found})
    return after


def of_further_part(metadata: Mapping[str, str], oldest_reader: str) -> Mapping[str, str]:
    """The metadata for a further part of a table. Long texts, for example of categories, are only in the first part.

    A table for older readers has metadata only in its parts, so each part has all of them.
    """
    if oldest_reader in ("kudu", "0.1"):
        return metadata
    return {key: text for key, text in metadata.items() if len(text) <= _LONG_TEXT}


def before_dropping(target: Location) -> None:
    """Copies the metadata into the table's own file, if other parts do not have them. (The first part may be dropped.)"""
    opened = _native.open_table(target)
    metadata = kept(opened.metadata)
    if metadata != of_further_part(metadata, opened.oldest_reader):
        _native.replace_metadata(target, {}, {})


def change(target: Location, changed: Callable[[Mapping[str, str]], dict[str, str]]) -> None:
    """Gives a table the metadata changed(its metadata)."""
    while True:
        before = {key: text for key, text in _native.open_table(target).metadata.items() if isinstance(text, str)}
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
    metadata = {key: text for key, text in metadata.items() if key != LABELS}
    if '"range"' not in metadata.get("pandas", ""):
        return metadata
    described = json.loads(metadata["pandas"])
    described["index_columns"] = [index for index in described["index_columns"] if isinstance(index, str)]
    return {**metadata, "pandas": json.dumps(described)}


def _stream_of(array: Any) -> str:
    return _stream_of_table(arrow.table([array], ["categories"]))


def _stream_of_table(table: Any) -> str:
    """The rows as an Arrow stream in base64."""
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    return _text_of(sink.getvalue())


def of_series(series: Any) -> tuple[Any, dict[str, str]]:
    """The values of a Series of pandas, and what to keep of it."""
    table, metadata = storable(arrow.Table.from_pandas(series.to_frame("value")), None)
    values, labels = table.column("value"), table.drop_columns("value")
    if as_column(values, None) is not values:
        return table, metadata
    if labels.num_columns and labels.get_total_buffer_size() <= _MOST_LABEL_BYTES:
        metadata[LABELS] = _stream_of_table(labels)
    return values, {**metadata, **series_name(series.name)}


def series_name(name: Any) -> dict[str, str]:
    """What to keep of the name of a Series."""
    return {SERIES: json.dumps({"name": name})} if isinstance(name, (str, int, float)) else {}


def python_strings(frame: Any) -> dict[str, str]:
    """Returns what to keep of a DataFrame in addition to what pyarrow keeps of it."""
    names = [name for name, dtype in frame.dtypes.items() if str(dtype) == "string" and dtype.storage == "python"]
    return {"python_strings": json.dumps(names)} if names else {}


def kept(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Returns the metadata that another part of a table, or another table with its rows, gets: all texts."""
    return {key: text for key, text in without_ranges(metadata).items()
            if isinstance(key, str) and isinstance(text, str) and not key.startswith("cfile.")}


def indexed_column(opened: _native.Opened) -> str | None:
    """The first column that has a value index, in a table without key columns."""
    if any(info["key"] is not None for info in opened.columns):
        return None
    return next((info["name"] for info in opened.columns
                 if not info["levels"] and not info["nullable"] and opened.has_index(info["name"])), None)


def keep_index(opened: _native.Opened, settings: dict[str, Any]) -> str | None:
    """Lets a new part have the value index that the other parts have. Returns its column."""
    name = indexed_column(opened)
    if name is not None:
        settings[name] = {**settings.get(name, settings[""]), "value_index": True}
    return name
