"""Sorts rows before they are written, in bounded memory."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Any

from . import _native
from .locations import Location
from .optional import Lazy
from .writing import Data, check_names

arrow, compute = Lazy("pyarrow", "sorted_by"), Lazy("pyarrow.compute", "sorted_by")
Create = Callable[..., _native.Writer]  # the arguments: a path, and settings=
# Rows are sorted in pieces that fit into the cache of a processor, and then all together: the second time, rows that follow each other
# are near each other in memory. This takes half as long as sorting all rows at once.
_PIECE_ROWS = 1 << 16


def sorted_array(stream: Any) -> Any:
    """Sorts one array in memory."""
    return _sorted(arrow.table({"value": arrow.chunked_array(stream)}), ["value"]).column("value")


def _sorted(table: Any, names: Sequence[str]) -> Any:
    table = _cast(table, _takeable)
    return table if _is_sorted(_keys_of(table, names)) else _reordered(table, names)


def _reordered(table: Any, names: Sequence[str]) -> Any:
    return table.combine_chunks().take(_order(_keys_of(table, names)))  # taking rows of many small chunks takes twice as long


def _keys_of(table: Any, names: Sequence[str]) -> Any:
    return _zeros_apart(_cast(table.select(names).combine_chunks(), _sortable))


def _order(keys: Any) -> Any:
    """The positions of the rows in order: the first column first, and nulls before values."""
    # How to say where nulls are has changed with version 25 of pyarrow.
    is_new = int(arrow.__version__.partition(".")[0]) >= 25
    names = [(name, "ascending", "at_start") if is_new else (name, "ascending") for name in keys.schema.names]
    options = {} if is_new else {"null_placement": "at_start"}
    return compute.sort_indices(keys, sort_keys=names, **options)


def _is_sorted(keys: Any) -> bool:
    """Whether the rows are in the order of _order already. False if pyarrow cannot compare the values."""
    before, after = keys.slice(0, max(0, keys.num_rows - 1)), keys.slice(1)
    in_order: Any = None  # whether each row may stand before the next one, by the columns that were compared; None: all may
    try:
        for name in reversed(keys.schema.names):
            one, other = before.column(name), after.column(name)
            if in_order is None and not keys.column(name).null_count:
                in_order = compute.less_equal(one, other)
                continue
            less = compute.or_(compute.fill_null(compute.less(one, other), False), compute.and_(one.is_null(), other.is_valid()))
            equal = compute.or_(compute.fill_null(compute.equal(one, other), False), compute.and_(one.is_null(), other.is_null()))
            in_order = compute.or_(less, equal if in_order is None else compute.and_(equal, in_order))
    except arrow.ArrowNotImplementedError:
        return False
    return bool(compute.all(in_order, min_count=0).as_py())


def _runs(stream: Any, names: Sequence[str], memory_limit_bytes: int) -> Iterator[Any]:
    """Sorted pyarrow tables of about a third of the limit: the rows, their copy in the new order, and the order itself."""
    batches: list[Any] = []
    pieces: list[Any] = []  # sorted tables
    num_rows = size = 0  # of `batches`; of both

    def sort_batches() -> None:
        pieces.append(_sorted(arrow.Table.from_batches(batches), names))
        batches.clear()
    for whole in arrow.RecordBatchReader.from_stream(stream):
        for begin in range(0, whole.num_rows, _PIECE_ROWS):
            batches.append(whole.slice(begin, _PIECE_ROWS))
            num_rows += batches[-1].num_rows
            size += batches[-1].nbytes
            is_full = size >= memory_limit_bytes // 3
            if is_full or num_rows >= _PIECE_ROWS:
                sort_batches()
                num_rows = 0
            if is_full:
                yield _joined(pieces, names)
                size = 0
    if batches:
        sort_batches()
    if pieces:
        yield _joined(pieces, names)


def _joined(pieces: list[Any], names: Sequence[str]) -> Any:
    """The rows of sorted tables in one sorted table. `pieces` becomes empty."""
    if len(pieces) == 1:
        return pieces.pop()
    ends = arrow.concat_tables([end for piece in pieces for end in (piece[:1], piece[-1:])])
    table = arrow.concat_tables(pieces)
    pieces.clear()
    return table if _is_sorted(_keys_of(ends, names)) else _reordered(table, names)


def _sorted_keys(source: Data, schema: Any, names: Sequence[str], memory_limit_bytes: int) -> Any:
    """The columns `names` if all rows are in memory and in order, and the stream has the types of the rows; otherwise None."""
    keys = source.columns(names)
    if keys is None or keys.nbytes > memory_limit_bytes // 3:
        return None
    keys = _cast(keys, _takeable)
    if keys.schema.types != [_takeable(schema.field(name).type) for name in names]:
        return None
    return keys if _is_sorted(_keys_of(keys, names)) else None


def write_sorted(target: Location, source: Data, names: list[str], settings: dict[str, Any], memory_limit_bytes: int,
                 rule: _native.MergeSettings | None) -> None:
    """Writes rows into a new table, sorted by the columns `names`."""
    schema = arrow.schema(source.type)
    check_names(names, schema.names)
    keys_in_order = _sorted_keys(source, schema, names, memory_limit_bytes)
    runs: Iterator[Any] = iter([source.stream]) if keys_in_order is not None else _runs(source.stream, names, memory_limit_bytes)
    first = list(islice(runs, 2))
    # One column without nulls gets a value index. Otherwise, or with a merge rule, the table gets an index of compound keys.
    known = [keys_in_order] if keys_in_order is not None else first
    single = not rule and len(names) == 1 and (len(first) < 2 and all(run.column(names[0]).null_count == 0 for run in known)
                                  or not schema.field(names[0]).nullable)
    keys = [] if single else names
    if single:
        schema = with_index(schema, names[0], settings)
    create = partial(_native.Writer.create, schema=schema, keys=keys, merge=rule)
    with closing(create(target, settings=settings)) as writer:
        _fill(writer, first, runs, create, names[0] if single else None, target)
        writer.finish()


def with_index(schema: Any, name: str, settings: dict[str, Any]) -> Any:
    """Gives a column a value index: changes `settings`. Returns the schema, in which the column has no nulls then."""
    settings[name] = {**settings.get(name, settings[""]), "value_index": True}
    position = schema.get_field_index(name)
    return schema.set(position, schema.field(position).with_nullable(False))


def fill_sorted(writer: _native.Writer, stream: Any, names: list[str], memory_limit_bytes: int, create: Create,
                indexed: str | None) -> None:
    """Writes the rows of a stream into a part, sorted by the columns `names`. create, indexed: see _fill."""
    runs = _runs(stream, names, memory_limit_bytes)
    _fill(writer, list(islice(runs, 2)), runs, create, indexed, None)


def _fill(writer: _native.Writer, first: list[Any], runs: Iterator[Any], create: Create, indexed: str | None,
          target: Location | None) -> None:
    """Writes sorted runs into a part: `first`, which becomes empty, and `runs`. Several are parts of a temporary table, which are merged:
    beside `target` if this is a path, else where temporary files are.

    create: creates a table like that of `writer` at a path. indexed: the column with a value index; None: the table has key columns.
    """
    if len(first) < 2:
        for run in first:
            writer.write(run)
        return
    import tempfile
    folder = os.path.dirname(os.path.abspath(target)) if isinstance(target, str) else None
    settings: dict[str, _native.WriterSettings] = {"": {"goal": "speed"}}
    if indexed is not None:
        settings[indexed] = {"goal": "speed", "value_index": True}
    prefix = f".{os.path.basename(str(target or 'cfile'))}-sorting-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=folder, ignore_cleanup_errors=True) as temporary:
        path = os.path.join(temporary, "runs")
        begin = create
        while (run := first.pop(0) if first else next(runs, None)) is not None:
            with closing(begin(path, settings=settings)) as part:
                part.write(run)
                part.finish()
            del run  # before the next one is made
            begin = _native.Writer.append
        writer.merge(path)


def _takeable(data_type: Any) -> Any:
    """Returns a similar type whose values pyarrow can reorder."""
    types = arrow.types
    if types.is_string_view(data_type):
        return arrow.large_string()
    if types.is_binary_view(data_type):
        return arrow.large_binary()
    if types.is_run_end_encoded(data_type):
        return _takeable(data_type.value_type)
    if types.is_struct(data_type):
        return arrow.struct([field.with_type(_takeable(field.type)) for field in data_type.fields])
    if types.is_map(data_type):
        return arrow.map_(_takeable(data_type.key_type), _takeable(data_type.item_type))
    for is_list, made in ((types.is_list, arrow.list_), (types.is_large_list, arrow.large_list)):
        if is_list(data_type):
            return made(data_type.value_field.with_type(_takeable(data_type.value_type)))
    return data_type


def _sortable(data_type: Any) -> Any:
    """Returns a similar type whose values pyarrow can sort."""
    if isinstance(data_type, arrow.BaseExtensionType):
        return _sortable(data_type.storage_type)
    if arrow.types.is_dictionary(data_type):
        return _sortable(_takeable(data_type.value_type))
    if arrow.types.is_decimal32(data_type) or arrow.types.is_decimal64(data_type):
        return arrow.decimal128(data_type.precision, data_type.scale)
    return data_type


def _cast(table: Any, type_of: Callable[[Any], Any]) -> Any:
    """Casts the columns whose types differ from type_of(type)."""
    for position, field in enumerate(table.schema):
        cast = type_of(field.type)
        if cast != field.type:
            column = table.column(position)
            if arrow.types.is_run_end_encoded(column.type):
                column = compute.run_end_decode(column)
            table = table.set_column(position, field.with_type(cast), column.cast(cast))
    return table


def _zeros_apart(keys: Any) -> Any:
    """Replaces floats by integers in the same order. -0 comes before 0, as in the keys of tables; for pyarrow they are equal."""
    for position, field in enumerate(keys.schema):
        if arrow.types.is_floating(field.type):
            number = arrow.int64() if field.type.bit_width == 64 else arrow.int32()
            most = arrow.scalar(2**(field.type.bit_width - 1) - 1, number)
            bits = arrow.chunked_array([chunk.view(number) for chunk in keys.column(position).chunks], number)
            ordered = compute.if_else(compute.less(bits, 0), compute.bit_wise_xor(bits, most), bits)
            keys = keys.set_column(position, field.name, ordered)
    return keys
