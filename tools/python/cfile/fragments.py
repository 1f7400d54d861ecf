"""Pieces of a table or a file, to be read by several threads, processes or machines."""
from __future__ import annotations

from .condition import Condition, of_text
from .errors import ConflictError
from .opening import opened
from .rows import Rows
from .selection import Selection, types_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any



class Fragment(Rows):
    """Consecutive rows of one part. It can be pickled, and opens the table when it is read.

    ConflictError: since `fragments` was called, the part was dropped or replaced.
    """

    __slots__ = ("path", "part", "begin", "end", "_columns", "_where", "_options")

    def __init__(self, path: Any, part: str | None, begin: int, end: int, columns: Sequence[str] | None, where: Condition | None,
                 options: Mapping[str, Any]) -> None:
        self.path = path
        self.part = part  # its name; None in a file
        self.begin = begin  # the first row in the part
        self.end = end
        self._columns = columns
        self._where = where
        self._options = dict(options)

    def __reduce__(self) -> tuple[type[Fragment], tuple[Any, ...]]:
        return Fragment, (self.path, self.part, self.begin, self.end, self._columns, self._where, self._options)

    def _all(self) -> Selection:
        table = opened(self.path, **self._options)
        begin = 0
        if self.part is not None:
            parts = {part["name"]: part["first_ordinal"] for part in table.parts()}
            if self.part not in parts:
                raise ConflictError(f"{self.path}: the part {self.part} was dropped or replaced; call fragments again")
            begin = parts[self.part]
        return Selection(table, self._columns, where=self._where, begin=begin + self.begin, end=begin + self.end,
                         column_only=not table.is_table)

    @property
    def _column_only(self) -> bool:  # type: ignore[override]
        return self.part is None

    def count(self) -> int:
        """Returns the number of rows. With a condition, this reads the columns of the condition."""
        return self._all().count()

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        return True  # not whether there are rows: this could read a whole column

    def __repr__(self) -> str:
        part = "" if self.part is None else f" of {self.part}"
        return f"<rows {self.begin:,} to {self.end:,}{part} in {self.path}>"


def fragments(path: Any, count: int | None = None, *, columns: Sequence[str] | None = None, where: Condition | str | None = None,
              filesystem: Any = None, storage_options: Mapping[str, Any] | None = None) -> list[Fragment]:
    """Divides a table or a file into pieces of similar size that begin at parts or blocks.

    count: about so many pieces; without it, one for each million rows. columns, where: as for Table.scan. Parts whose bounds exclude
    `where` are left out. path, filesystem, storage_options: as for cfile.open. A pickled fragment has the path and the storage options,
    and no keys or passwords: these come from the environment of the program that reads the fragment.

    >>> cfile.write(tmp / "n", pyarrow.table({"n": range(300_000)}))
    >>> sum(piece.to_arrow().num_rows for piece in cfile.fragments(tmp / "n", 4))
    300000
    """
    given = (("filesystem", filesystem), ("storage_options", storage_options))
    options: dict[str, Any] = {name: value for name, value in given if value is not None}
    table = opened(path, **options)
    native = None
    if where is not None:
        where = of_text(where) if isinstance(where, str) else where
        native = where.native(types_of(table))
    ranges = table.split(count or max(1, -(-table.num_rows // 1_000_000)), columns, native)
    if not table.is_table:
        return [Fragment(path, None, begin, end, columns, where, options) for begin, end in ranges]
    pieces = []
    parts = iter(table.parts())
    part = next(parts, None)
    for begin, end in ranges:
        while part is not None and begin < end:
            first, rows = part["first_ordinal"], part["num_rows"]
            if begin >= first + rows:
                part = next(parts, None)
                continue
            last = min(end, first + rows)
            pieces.append(Fragment(path, part["name"], begin - first, last - first, columns, where, options))
            begin = last
    return pieces
