"""cfile stores one typed column per file, and answers by position and by key.

>>> cfile.write(tmp / "towns", pyarrow.table({"id": [7, 3], "town": ["Oslo", "Bergen"]}), sorted_by="id")
>>> towns = cfile.open(tmp / "towns")
>>> towns[towns.find(7)]
{'id': 7, 'town': 'Oslo'}
>>> towns.to_arrow().num_rows
2
"""
from __future__ import annotations

from ._native import __version__, codecs, encodings
from .appending import append, upsert
from .column import Column
from .condition import ColumnName, Condition, col
from .errors import (AccessError, ArgumentError, ConflictError, DataError, Error, ExistsError, LimitError, NotFoundError,
                     SystemFailure, UnsupportedError)
from .maintenance import (add_column, add_columns, collect_garbage, compact, drop_columns, drop_parts, drop_rows_below,
                          raise_oldest_reader, raise_time_bound, rename_column, reorder_columns, repair, replace_columns,
                          widen_column)
from .opening import Fragment, fragments, open
from .parquet import from_parquet, to_parquet
from .polars import scan_polars
from .preparing import commit, write_part
from .rows import Rows
from .selection import Selection
from .table import Table
from .writing import write

__all__ = [
    "AccessError", "ArgumentError", "Column", "ColumnName", "Condition", "ConflictError", "DataError", "Error", "ExistsError", "Fragment",
    "LimitError", "NotFoundError", "Rows", "Selection", "SystemFailure", "Table", "UnsupportedError", "__version__", "add_column",
    "add_columns", "append", "codecs", "col", "collect_garbage", "commit", "compact", "drop_columns", "drop_parts", "drop_rows_below",
    "encodings", "fragments", "from_parquet", "open", "raise_oldest_reader", "raise_time_bound", "rename_column", "reorder_columns",
    "repair", "replace_columns", "scan_polars", "to_parquet", "upsert", "widen_column", "write", "write_part",
]
