"""Brings back what Arrow and pandas know about columns, and files do not store: index, categories, extension types.

`cfile.write` keeps it as metadata of a table: "pandas" is the text that pyarrow writes for pandas, "ARROW:schema" the schema of the data
in base64, and "categories" the categories of categorical columns as JSON.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def metadata_of(schema: Any, categories: Mapping[str, Any]) -> dict[str, str]:
    """Returns what a table keeps for a pyarrow.Schema."""
    import base64
    metadata = {"ARROW:schema": base64.b64encode(schema.remove_metadata().serialize()).decode()}
    pandas = (schema.metadata or {}).get(b"pandas")
    if pandas is not None:
        metadata["pandas"] = pandas.decode()
    if categories:
        import json
        metadata["categories"] = json.dumps(dict(categories))
    return metadata


def storable(data_type: Any) -> Any:
    """Returns the type as which a file can store the values of a pyarrow.DataType."""
    import pyarrow as pa
    if isinstance(data_type, pa.BaseExtensionType) and data_type.extension_name != "arrow.uuid":
        return storable(data_type.storage_type)
    if pa.types.is_duration(data_type):
        return pa.int64()
    if pa.types.is_float16(data_type):
        return pa.float32()
    return data_type


def stored(column: Any, data_type: Any) -> Any:
    """Casts an array or a chunked array to the result of `storable`."""
    import pyarrow as pa
    if column.type == data_type:
        return column
    if isinstance(column.type, pa.BaseExtensionType):
        if isinstance(column, pa.ChunkedArray):
            storage = [chunk.storage for chunk in column.chunks]
            return stored(pa.chunked_array(storage, column.type.storage_type), data_type)
        return stored(column.storage, data_type)
    return column.cast(data_type)


def _restored(column: Any, data_type: Any, categories: Any) -> Any:
    import pyarrow as pa
    if column.type == data_type:
        return column
    if isinstance(data_type, pa.BaseExtensionType):
        storage = _restored(column, data_type.storage_type, None)
        return pa.chunked_array([pa.ExtensionArray.from_storage(data_type, chunk) for chunk in storage.chunks], data_type)
    if pa.types.is_dictionary(data_type):
        values = column.cast(data_type.value_type)
        if categories is None:
            return values.dictionary_encode().cast(data_type)
        known = pa.array(categories, data_type.value_type)
        import pyarrow.compute as pc
        if pc.index_in(values, known).null_count > values.null_count:
            return values.dictionary_encode().cast(data_type)  # rows that were appended later have more categories
        chunks = [pa.DictionaryArray.from_arrays(pc.index_in(chunk, known).cast(data_type.index_type), known, ordered=data_type.ordered)
                  for chunk in values.chunks or [known[:0]]]
        return pa.chunked_array(chunks, data_type)
    return column.cast(data_type)


def _restored_table(table: Any, metadata: Mapping[str, str]) -> Any:
    import base64
    import json
    import pyarrow as pa
    if "ARROW:schema" not in metadata:
        return table
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(metadata["ARROW:schema"])))
    categories = json.loads(metadata.get("categories", "{}"))
    for position, name in enumerate(table.column_names):
        field = schema.get_field_index(name)
        if field < 0:
            continue  # the column was added or renamed later
        try:
            column = _restored(table.column(position), schema.field(field).type, categories.get(name))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            continue  # the column was replaced by one of another type later
        table = table.set_column(position, pa.field(name, column.type), column)
    return table


def to_pandas(data: Any, metadata: Mapping[str, str], options: Mapping[str, Any]) -> Any:
    """Returns the DataFrame or Series of a pyarrow.Table or ChunkedArray."""
    import pyarrow as pa
    if not isinstance(data, pa.Table):
        return data.to_pandas(**options)
    data = _restored_table(data, metadata)
    if "pandas" in metadata:
        data = data.replace_schema_metadata({"pandas": metadata["pandas"]})
    return data.to_pandas(**options)
