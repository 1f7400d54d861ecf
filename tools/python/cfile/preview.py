"""Text and HTML that show a table or a column: names, types and the first rows."""
from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .optional import Lazy

if TYPE_CHECKING:
    from .column import Column
    from .table import Table
values = Lazy("cfile.values")
_MOST_ROWS = 5
_MOST_COLUMNS = 12
_MOST_CHARACTERS = 24


def with_bounds(described: dict[str, Any], type_text: str) -> dict[str, Any]:
    """Converts the bounds of statistics or of a block to values of Python."""
    bounds: dict[str, Any] = {name: values.python_of(described[name], type_text) for name in ("min", "max") if name in described}
    return {**described, **bounds}


def _size_text(size_bytes: int) -> str:
    """A size for people: "1.4 MiB"."""
    if size_bytes < 1024:
        return f"{size_bytes} B"
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def _short(value: Any) -> str:
    text = "null" if value is None else repr(value) if isinstance(value, bytes) else str(value)
    text = "".join(character if character.isprintable() else "·" for character in text)
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS - 1] + "…"


def _count(column: Column | Table) -> str:
    """Does not count the rows of a table with a merge rule, which may take long."""
    return f"{column._opened.num_rows:,} {'stored rows with a merge rule' if column._opened.applies_rule else 'rows'}"


def _first(column: Column) -> list[str]:
    count = min(column._opened.num_rows, _MOST_ROWS)
    if column.is_nested or column._opened.applies_rule:
        return ["…"] * count
    return [_short(value) for value in column._values(range(count))]


def _cells(columns: Iterable[Column]) -> list[Sequence[str]]:
    """The lines of the text for columns: names, types and rows."""
    return list(zip(*([column.name, column.type, *_first(column)] for column in columns)))


def _head(table: Table) -> str:
    parts = table.parts
    of_parts = f", {len(parts)} parts" if len(parts) != 1 else ""
    key = f", key: {', '.join(table.key)}" if table.key else ""
    return f"{_count(table)}, {len(table._leaves)} columns, {_size_text(sum(part['size_bytes'] for part in parts))}{of_parts}{key}"


def _path(name: str) -> str:
    """A path below the working directory begins there."""
    return name.removeprefix(os.getcwd() + os.sep)


def table_text(table: Table, name: str) -> str:
    """The text of repr."""
    cells = _cells(table._leaves[:_MOST_COLUMNS])
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = [f"Table {_path(name)}: {_head(table)}"]
    lines += ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    if table._opened.num_rows > _MOST_ROWS:
        lines.append("…")
    if len(table._leaves) > _MOST_COLUMNS:
        lines.append(f"and {len(table._leaves) - _MOST_COLUMNS} more columns")
    return "\n".join(lines)


def column_text(column: Column, name: str) -> str:
    """The text of repr."""
    where = name if column.name == "value" else f"{column.name} of {_path(name)}"
    rest = ["…"] if column._opened.num_rows > _MOST_ROWS else []
    return f"Column {where}: {column.type}, {_count(column)}\n[{', '.join(_first(column) + rest)}]"


def _html(caption: str, columns: Iterable[Column]) -> str:
    from html import escape
    cells = _cells(columns)

    def lines(tag: str, cells: Iterable[Sequence[str]]) -> str:
        return "".join("<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in line) + "</tr>" for line in cells)
    return (f"<table><caption>{escape(caption)}</caption><thead>{lines('th', cells[:2])}</thead>"
            f"<tbody>{lines('td', cells[2:])}</tbody></table>")


def table_html(table: Table) -> str:
    """The HTML of _repr_html_."""
    more = len(table._leaves) - _MOST_COLUMNS
    return _html(_head(table) + (f" ({more} columns are not shown)" if more > 0 else ""), table._leaves[:_MOST_COLUMNS])


def column_html(column: Column) -> str:
    """The HTML of _repr_html_."""
    return _html(_count(column), [column])
