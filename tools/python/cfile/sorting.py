"""Sorts rows before they are written, in bounded memory."""
from __future__ import annotations

import os

from . import _native
from .optional import need

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any


def _runs(stream: Any, names: Sequence[str], memory_limit_bytes: int) -> Iterator[Any]:
    """Sorted pyarrow tables of about a third of the limit: the rows, their copy in the new order, and the order itself."""
    import pyarrow as pa
    import pyarrow.compute as pc
    reader = pa.RecordBatchReader.from_stream(stream)
    # Nulls come first. How to say so has changed with version 25 of pyarrow.
    is_new = int(pa.__version__.partition(".")[0]) >= 25
    keys = [(name, "ascending", "at_start") if is_new else (name, "ascending") for name in names]
    options = {} if is_new else {"null_placement": "at_start"}

    def run(batches: list[Any]) -> Any:
        table = pa.Table.from_batches(batches, reader.schema)
        order = pc.sort_indices(table.select(names), sort_keys=keys, **options)
        return table.take(order)
    batches: list[Any] = []
    size = 0
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        if size >= memory_limit_bytes // 3:
            yield run(batches)
            batches, size = [], 0
    if batches:
        yield run(batches)


def write_sorted(target: str, stream: Any, names: list[str], settings: dict[str, Any], memory_limit_bytes: int) -> None:
    """Writes the rows of a stream into a new table, sorted by the columns `names`."""
    arrow = need("pyarrow", "sorted_by")
    schema = arrow.schema(stream)
    for name in names:
        if name not in schema.names:
            from .errors import ArgumentError
            raise ArgumentError(f"sorted_by: there is no column {name}; there are {', '.join(schema.names)}")
    runs = _runs(stream, names, memory_limit_bytes)
    first = next(runs, schema.empty_table())
    second = next(runs, None)
    tables = [first] if second is None else [first, second]
    # One column without nulls gets a value index. Otherwise the table gets an index of compound keys.
    single = len(names) == 1 and (second is None and first.column(names[0]).null_count == 0 or not schema.field(names[0]).nullable)
    if single:
        settings = {**settings, names[0]: {**settings.get(names[0], settings[""]), "value_index": True}}
    keys: list[str] = [] if single else names
    writer = _native.TableWriter.create(target, schema, settings, keys)
    try:
        if second is None:
            writer.write(first)
        else:
            _merge(target, writer, schema, settings, keys, tables, runs)
        writer.finish()
    finally:
        writer.close()


def _merge(target: str, writer: _native.TableWriter, schema: Any, settings: dict[str, Any], keys: list[str], tables: list[Any],
           runs: Iterator[Any]) -> None:
    """Writes runs as parts of a temporary table beside `target`, and merges them."""
    import shutil
    import tempfile
    folder = os.path.dirname(os.path.abspath(target))
    temporary = tempfile.mkdtemp(prefix=f".{os.path.basename(target)}-sorting-", dir=folder)
    try:
        path = os.path.join(temporary, "runs")
        quick = {"": {"goal": "speed"}}
        if not keys:
            quick.update({name: {**setting, "metadata": {}} for name, setting in settings.items() if setting.get("value_index")})
        create = True
        while tables:
            run = tables.pop(0)
            part = _native.TableWriter.create(path, schema, quick, keys) if create else _native.TableWriter.append(path, quick)
            create = False
            try:
                part.write(run)
                part.finish()
            finally:
                part.close()
            del run
            if not tables:
                tables.extend(next(runs, None) for _ in range(1))
                if tables[-1] is None:
                    tables.clear()
        writer.merge(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
