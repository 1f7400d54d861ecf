"""What tables, columns and selections of rows have in common: they leave as Arrow streams."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

from . import _native, restoring
from .optional import need

if TYPE_CHECKING:
    from .selection import Selection


def _read_all(stream: Any) -> Any:
    # pyarrow.table(stream) would import pandas, which takes half a second.
    return need("pyarrow", "to_arrow").RecordBatchReader.from_stream(stream).read_all()


class Rows:
    """Rows that can be read any number of times. Nothing is read before a method asks for it.

    Libraries that know Arrow's PyCapsule interface take the object as it is: pyarrow.table(rows), polars.DataFrame(rows), and DuckDB's
    "FROM rows". Each of them gets a new stream.
    """

    __slots__ = ()
    _column_only = False  # True: one column, whose arrays leave without a struct around them

    def _all(self) -> Selection:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._all()._stream().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        no_rows = self._all()._changed(where=None, begin=0, end=0, limit=None, reverse=False, ordinals=None)
        return no_rows._stream().__arrow_c_schema__()

    def _consumed(self, consume: Callable[[Any], Any], **options: Any) -> Any:
        stream = self._all()._stream(**options)
        try:
            return consume(stream)
        except BaseException:
            stream.raise_error()  # consumers turn the errors of streams into exceptions of their own
            raise

    def to_batches(self, *, dictionaries: bool = False) -> Any:
        """Returns a pyarrow.RecordBatchReader. Its batches are read when they are asked for.

        dictionaries: if True, columns whose file has a dictionary become dictionary arrays, which is faster.
        """
        arrow = need("pyarrow", "to_batches")
        if self._column_only:
            raise TypeError("a RecordBatchReader has batches of structs; use to_arrow, or select the column from its table with scan")
        stream = self._all()._stream(dictionaries=dictionaries)
        reader = arrow.RecordBatchReader.from_stream(stream)

        def batches() -> Iterator[Any]:
            try:
                yield from reader
            except BaseException:
                stream.raise_error()
                raise
        return arrow.RecordBatchReader.from_batches(reader.schema, batches())

    def to_arrow(self, *, dictionaries: bool = False) -> Any:
        """Reads all rows. Returns a pyarrow.Table; for a column, a pyarrow.ChunkedArray.

        dictionaries: if True, columns whose file has a dictionary become dictionary arrays, which is faster.
        """
        arrow = need("pyarrow", "to_arrow")
        return self._consumed(arrow.chunked_array if self._column_only else _read_all, dictionaries=dictionaries)

    def to_pandas(self, **options: Any) -> Any:
        """Reads all rows. Returns a pandas.DataFrame; for a column, a pandas.Series.

        A table that `cfile.write` has made from a DataFrame comes back with its index, categories and extension types. `options` go to
        pyarrow.Table.to_pandas, for example types_mapper=pandas.ArrowDtype.
        """
        need("pandas", "to_pandas")
        need("pyarrow", "to_pandas")
        return restoring.to_pandas(self.to_arrow(), self._all()._metadata(), options)

    def to_polars(self) -> Any:
        """Reads all rows. Returns a polars.DataFrame; for a column, a polars.Series."""
        polars = need("polars", "to_polars")
        # Polars stores strings as views. Only for strings of a dictionary, making them here is faster than Polars's own conversion.
        data = self._consumed(polars.Series if self._column_only else polars.DataFrame, dictionary_views=True)
        return restoring.to_polars(data, self._all()._kept())

    def to_numpy(self) -> Any:
        """Reads all rows. Returns a numpy.ndarray for a column, else a dict of arrays by the names of the columns.

        Nulls become NaN or NaT, or None in arrays of objects, as in pyarrow's to_numpy.
        """
        need("numpy", "to_numpy")
        data = self.to_arrow()
        if self._column_only:
            return data.to_numpy()
        return {name: column.to_numpy() for name, column in zip(data.column_names, data.columns)}

    def to_pylist(self) -> list[Any]:
        """Reads all rows. Returns a list of values for a column, else a list of dicts."""
        rows: list[Any] = self.to_arrow().to_pylist()
        return rows


class OpenRows(Rows):
    """Rows of a file or a table that is open."""

    __slots__ = ()
    _opened: _native.Opened

    def close(self) -> None:
        """Closes the files, for everything that was made from the same call of `cfile.open`. Later calls raise ValueError.

        Streams that were begun go on, and close the files at their end.
        """
        self._opened.close()
        if self._opened.stored is not None:
            self._opened.stored.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def head(self, count: int = 5) -> Selection:
        """The first rows, at most `count`."""
        return self._all()._head(count)
