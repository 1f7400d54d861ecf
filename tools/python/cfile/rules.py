"""Tables with a merge rule, as readers see them: a key has at most one row, its newest, and rows have no numbers."""
from __future__ import annotations

from . import _native
from .errors import ArgumentError


def num_rows_of(opened: _native.Opened) -> int:
    """The number of rows that a scan returns. Under a merge rule, the first call counts them."""
    if not opened.applies_rule:
        return opened.num_rows
    if opened.counted is None:
        opened.counted = opened.count()
    return opened.counted


def check_numbers(opened: _native.Opened, what: str) -> None:
    """ArgumentError: rows have no numbers. `what`: what needs the numbers."""
    if opened.applies_rule:
        raise ArgumentError(f"{opened.name}: {what} needs the numbers of rows, but the table has a merge rule. Use scan, get, key_range or "
                            "head, or open the table with stored_rows=True")


def stored_of(opened: _native.Opened) -> _native.Opened:
    """The same table with all stored rows. Their numbers are those that searches by the merge rule return."""
    if opened.stored is None:
        stored = opened.stored_rows()
        *origin, options = opened.origin
        stored.origin = (*origin, {**options, "stored_rows": True})
        if opened.snapshot is not None:
            stored.snapshot = opened.snapshot
        opened.stored = stored
    return opened.stored
