"""The C++ part of the package. Only the modules of this package call it: it does not check the types of its arguments as carefully as
they do, and may change in each version.

Values of columns are plain Python values, "stored values" from here on:

    bool, is_deleted                      bool
    integers, date, time, timestamp       int (for dates and times: the stored number, for example days or milliseconds)
    decimals                              int, the unscaled number
    float, double                         float
    string, varchar                       str, or bytes if the bytes are not UTF-8
    binary, fixed(n), uuid, int96         bytes (int96: the 12 bytes as stored)

A null is None. Columns with levels (nested records) have no stored values: they are read as Arrow data only.
"""
from collections.abc import Sequence
from typing import Any, TypedDict

from .ranges import RangedFile, TableFiles

__version__: str

# A filter: ("and", [filters]), ("or", [filters]), ("not", filter) or ("test", column, kind, [stored values]).
# The kinds: == != < <= > >= between in prefix is_null is_not_null. [] in "and" is true for all rows.
Filter = tuple[Any, ...]

class ColumnInfo(TypedDict):
    name: str  # "value" for a file
    type: str  # ColumnType::ToString: "int32", "decimal(10,2)", "timestamp(us,UTC)", ...
    nullable: bool
    levels: bool  # true: a leaf column of nested records, or a file with levels
    key: int | None  # the position in the table's key

class Stream:
    """Record batches, or arrays. An ArrowArrayStream behind it; can be consumed once."""
    metadata: list[tuple[str, str]]  # what a table must keep, see StoreArrowTypes
    def __init__(self, data: object, table: tuple[str, list[str]] | None = None, byte_lists: Sequence[str] = ()) -> None:
        """Takes the stream of an object with __arrow_c_stream__, in types that columns have. table, byte_lists: see StoreArrowTypes."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns a capsule "arrow_array_stream". ValueError if this was called before."""
    def raise_error(self) -> None:
        """If the stream has failed, raises the exception that belongs to its error (also KeyboardInterrupt, or what an object
        of Python has raised); else returns. Consumers turn errors of streams into exceptions of their own, so call this when one
        of them raises."""

class Location:
    """A path, or an s3:// or https:// URL and how to reach it. A path may be passed as a str instead."""
    def __init__(self, url: str, options: dict[str, Any] = ...) -> None:
        """options: those of cfile.open. KeyError: there is no such option. Needs has_http()."""
    def __str__(self) -> str: ...

def has_http() -> bool:
    """Whether this build can read and write URLs."""

class Opened:
    """An open file or table. Thread-safe. All calls release the interpreter lock while they work."""
    is_table: bool
    name: str  # the path, or the name of the object
    num_rows: int
    num_parts: int  # 1 for a file
    columns: list[ColumnInfo]
    metadata: dict[str, str]  # of a table, or of header and footer of a file
    oldest_reader: str  # of a table
    arrow_schema: str  # ARROW:schema of the metadata, or ""; no read if there is none
    fields: list[str]  # the top-level fields of the rows: names of columns, or of groups of a table of nested records
    snapshot: bytes | None  # the bytes of table.cft, for open_table; None for a file, and for a table in a file system of Python
    threads: int  # of a scan of all rows
    applies_rule: bool  # a merge rule hides some of the num_rows stored rows: then stream(), count() and newest() obey it, and all that
    # needs numbers of rows raises ArgumentError, and statistics() do. begin and end of stream() still count stored rows.
    merge_rule: dict[str, Any] | None  # deleted_column, time_column (names or None), time_bound (stored value or None); None: no rule
    stored: Opened | None  # rules.py sets both
    counted: int | None
    types: dict[str, str] | None  # selection.py sets it
    def stored_rows(self) -> Opened:
        """The same table, without its merge rule."""
    origin: tuple[Any, ...]  # how to open it again; opening.py sets it
    def close(self) -> None:
        """Closes the files when calls and streams that use them have ended. All other methods then raise ValueError."""
    def stream(self, *, columns: Sequence[str] | None = None, where: Filter | None = None, begin: int = 0, end: int | None = None,
               limit: int | None = None, reverse: bool = False, dictionaries: bool = True, dictionary_views: bool = False,
               column_only: bool = False) -> Stream:
        """Scans. column_only: the stream has arrays, not structs; only with one column."""
    def count(self, *, where: Filter | None = None, begin: int = 0, end: int | None = None, limit: int | None = None) -> int:
        """The number of rows that stream() would return."""
    def take(self, ordinals: object, *, columns: Sequence[str] | None = None, column_only: bool = False) -> Stream:
        """The rows at `ordinals`: a buffer of uint64 (array.array("Q"), NumPy) or a sequence of int. IndexError."""
    def values(self, column: str, ordinals: Sequence[int], /) -> list[Any]:
        """The stored values of these rows. IndexError. TypeError: the column has levels."""

    # Searches. The column "" stands for the key columns of a table: then a key is a sequence of stored values of the first of them.
    def seek(self, column: str, key: Any, /) -> tuple[int, bool]:
        """(ordinal, exact) of the first row whose value is not less than the stored value `key`; (num_rows, False) if there is none.
        A number outside of the column's range is allowed. Errors: those of Cursor::SeekToKey."""
    def has_prefix(self, key: Sequence[Any], /) -> bool:
        """Whether a row has these values of the first key columns."""
    def in_key_order(self, column: str, /) -> bool:
        """Whether the rows of all parts follow each other in the order of the column."""
    def newest(self, column: str, key: Any, /) -> int | None:
        """The ordinal of the newest row whose value equals the stored value `key`. TypeError: TableLookup searches another column."""
    def key_range(self, column: str, low: Any | None, high: Any | None) -> tuple[int, int] | bytes:
        """The rows with low <= value < high: (begin, end), or, if parts overlap, their ordinals in key order, 8 bytes each."""
    def has_index(self, column: str, /) -> bool:
        """Whether seek() works for this column."""
    def split(self, max_ranges: int, columns: Sequence[str] | None = None, where: Filter | None = None) -> list[tuple[int, int]]:
        """(begin, end) of ranges that begin at blocks or parts."""
    def parts(self) -> list[dict[str, Any]]:
        """name, first_ordinal, num_rows, size_bytes, commit of each part of a table; [] for a file."""
    def info(self) -> dict[str, Any]:
        """A file: type, encoding, compression, nullable, num_rows, file_size_bytes, version, created_by, has_positional_index,
        has_value_index, has_levels, metadata."""
    def statistics(self, column: str, /) -> dict[str, Any] | None:
        """present_count, null_count, nan_count, min, max (stored values or None), min_exact, max_exact. A table: summed over its parts
        from table.cft. None: there are no statistics."""
    def blocks(self, column: str, /) -> list[dict[str, Any]]:
        """Each data block: part (name, or None in a file), index, first_ordinal (in the table), num_rows, null_count, encoding,
        compressed, offset, stored_size_bytes, encoded_size_bytes, and min, max if the file has statistics of blocks.
        Reads every block of the column."""
    def verify(self) -> dict[str, Any]:
        """rows, blocks, bytes (checked) and damages, limits: lists of dicts: message, file (path), offset (bytes, or None), code."""

# Options: verify_checksums, cache_size_bytes, stored_rows, snapshot. With Opened.snapshot of an earlier call, open_table opens the table as
# it was then. Reads of its rows raise ConflictError if collect_garbage has removed files of that time.
def open_file(source: str | Location | RangedFile, **options: Any) -> Opened: ...
def open_table(source: str | Location | TableFiles, **options: Any) -> Opened: ...

class WriterSettings(TypedDict, total=False):
    """Options of one column's file; missing keys have the library's defaults."""
    encoding: str  # "auto", "plain", ...
    compression: str  # "auto", "none", "zstd", ...
    goal: str  # "balanced", "size", "speed"
    nullable: bool  # a single file only
    value_index: bool
    block_size_bytes: int
    bloom_filter: int  # bits for each distinct value
    max_metadata_size_bytes: int
    pack_below_bytes: int  # of the first column
    oldest_reader: str  # "kudu", "0.1", "0.2", "0.3"
    metadata: dict[str, str]

class MergeSettings(TypedDict, total=False):
    """A merge rule."""
    deleted_column: str | None
    time_column: str | None

class Writer:
    """Writes a part of a table, or a file. Not thread-safe. Without finish() nothing becomes visible."""
    @staticmethod
    def create(path: str | Location, schema: object, settings: dict[str, WriterSettings], keys: Sequence[str] = (),
               merge: MergeSettings | None = None) -> Writer:
        """`schema`: an object with __arrow_c_schema__ (a struct type). settings: {"": settings of all columns not named, column:
        settings}. A column with value_index is not nullable. FileExistsError: the path is not empty. UnsupportedError: a field
        has no column type."""
    @staticmethod
    def create_like(path: str | Location, table: str | Location, settings: dict[str, WriterSettings]) -> Writer:
        """Creates a table with the schema of the table at the path `table`."""
    @staticmethod
    def append(path: str | Location, settings: dict[str, WriterSettings], replaced: Sequence[str] = (),
               stored_rows: bool = False) -> Writer: ...
    @staticmethod
    def prepare(path: str | Location, schema: object, settings: dict[str, WriterSettings], keys: Sequence[str] = (),
                merge: MergeSettings | None = None) -> Writer:
        """Arguments as for create. Begins a part for finish_prepared. ArgumentError: the table exists and has another schema."""
    @staticmethod
    def create_file(path: str | Location, schema: object, settings: WriterSettings, overwrite: bool) -> Writer:
        """`schema`: the type of the column, or a struct with one field. overwrite: whether the file replaces another one. If not, finish
        raises ExistsError if something is at `path` then."""
    def write(self, data: object, /) -> None:
        """Appends an object with __arrow_c_stream__. Checks for KeyboardInterrupt between batches."""
    def merge(self, table: str | Location, /) -> None:
        """Appends the rows of all parts of the table at this path in key order (AppendMerged). ArgumentError: by the merge rule, rows must
        have different keys, and two have not."""
    def finish(self) -> None: ...
    def finish_prepared(self) -> bytes:
        """Completes the part without publishing it. Returns a description for commit_parts. The writer comes from prepare or append."""
    def close(self) -> None:
        """Discards what finish() has not published."""

# Maintenance of the table at `path` (cfile/table_maintenance.h, cfile/table_columns.h, cfile/table_repair.h).
def append_table(path: str | Location, rows: str | Location, settings: dict[str, WriterSettings]) -> list[str]:
    """Appends the rows of the table `rows`, and changes the columns so that they fit. Returns a sentence for each change."""
def is_table_path(path: str, /) -> bool:
    """Whether tables give this name to a file, relative to the directory of the table."""
def compact(path: str | Location, parts: Sequence[str], settings: dict[str, WriterSettings], newest: bool = False) -> dict[str, int]:
    """rows, copied_blocks, recoded_blocks, copied_bytes."""
def part_origin(path: str | Location, part: str, /) -> tuple[int, list[str]] | None:
    """The commit of a part and the names of the parts that it replaced; None if nothing says it, see ReadPartOrigin."""

def raise_oldest_reader(path: str | Location, reader: str, /) -> str: ...
def drop_parts(path: str | Location, parts: Sequence[str], stored_rows: bool, /) -> None: ...
def raise_time_bound(path: str | Location, bound: int, /) -> None: ...
def commit_parts(path: str | Location, parts: Sequence[bytes], id: str, replaced: Sequence[str], schema: object | None,
                 keys: Sequence[str], stored_rows: bool) -> bool:
    """Publishes the parts that Writer.finish_prepared has described (cfile/prepared_parts.h). schema, keys: as for Writer.create,
    if the table may have to be created without parts. False: the parts, or a commit with this id, were published before."""
def drop_rows_below(path: str | Location, column: str, key: Any, settings: WriterSettings) -> None:
    """column, key: as for Opened.seek. settings: for all columns."""
def collect_garbage(path: str | Location, older_than_seconds: float) -> list[tuple[str, int]]:
    """(name, size in bytes) of what was removed."""
def add_column(path: str | Location, name: str, type: str, nullable: bool, default: Any | None) -> None: ...
def write_columns(path: str | Location, data: object, settings: dict[str, WriterSettings], replace: bool) -> None:
    """`data`: an object with __arrow_c_schema__ and __arrow_c_stream__ (a struct type), with all rows of the table. replace: gives new
    values to the columns of these names; else adds columns. UnsupportedError: a field has no column type."""
def drop_columns(path: str | Location, names: Sequence[str], /) -> None: ...
def rename_column(path: str | Location, old: str, new: str, /) -> None: ...
def replace_metadata(path: str | Location, before: dict[str, str], after: dict[str, str], /) -> None:
    """Replaces pairs of the table's metadata. ConflictError: there are other pairs with these keys."""
def change_arrow_schema(arrow_schema: str, renamed: dict[str, str], other: str = "", added: Sequence[str] = ()) -> str:
    """See ChangeArrowSchema."""
def reorder_columns(path: str | Location, names: Sequence[str], /) -> None: ...
def widen_column(path: str | Location, name: str, type: str, /) -> None: ...

def repair(path: str | Location, options: dict[str, bool]) -> list[dict[str, Any]]:
    """Each part: name, state, num_rows, lost_rows, lost_values, reason. options: fields of RepairOptions, and stored_rows."""

# Parquet (cfile/parquet.h). Both return rows, row_groups, copied_pages, recompressed_pages, recoded_pages, bytes_in, bytes_out.
def import_parquet(source: str | Location | RangedFile, target: str | Location, settings: dict[str, WriterSettings],
                   options: dict[str, Any]) -> dict[str, int]:
    """source: a path, also of a directory, or an object. target: the path of a table. options: columns ([] for all), sorted_by, types,
    append, part_per_row_group, copy_pages, max_page_size_bytes."""
def export_parquet(source: Opened, target: Any, options: dict[str, Any]) -> dict[str, int]:
    """target: a location, or an object with write(bytes). options: columns, max_row_group_rows, compression, page_version, page_index,
    page_checksums, check_values, metadata (pairs)."""

def fields_of(schema: object, /) -> list[str] | None:
    """The names of the fields of a struct type; None if `schema` (an object with __arrow_c_schema__) is another type."""
def leaves_of(schema: object, /) -> list[str]:
    """The names of the columns of a table with this type."""
def codecs() -> list[str]:
    """Names of the codecs that are built in."""
def encodings() -> list[str]:
    """Names of all encodings, "auto" first."""
