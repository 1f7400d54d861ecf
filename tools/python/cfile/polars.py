"""Scans files and tables with Polars."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .condition import Condition
from .optional import Lazy, need

pushing = Lazy("cfile.pushing")
_UNITS = ("s", "ms", "us", "ns")
_RANGE_ROWS = 1 << 20  # of one DataFrame that Polars gets


class _Converter:
    """Converts Polars' JSON of an expression."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self._types = types

    def _constants(self, node: Any, column: Any) -> list[Any]:
        """The constant, or the elements of a list. LookupError: Polars may compare them with the column in another type than its own."""
        import io
        import json

        import polars
        expression = polars.Expr.deserialize(io.StringIO(json.dumps(node)), format="json")
        series = polars.select(expression).to_series()
        if series.dtype == polars.List:
            series = series.explode()
        constants = series.to_list()
        column_type = self._types.get(column, "")
        base, _, parameters = column_type.partition("(")
        dtype = series.dtype
        if dtype.is_temporal():
            # Polars converts to the coarser unit, and Python's values have no nanoseconds.
            unit = getattr(dtype, "time_unit", "us")
            is_fine = base != "timestamp" or _UNITS.index(unit) >= _UNITS.index(parameters.rstrip(")").partition(",")[0])
            if not is_fine or polars.Series(constants, dtype=dtype).to_physical().to_list() != series.to_physical().to_list():
                raise LookupError
        is_plain = "Dyn" in node.get("Literal", ())
        if dtype.is_integer() and not is_plain and (base == "uint64" or dtype in (polars.UInt64, polars.UInt128)) and \
                base != str(dtype).lower():
            raise LookupError  # Polars converts both to floats
        return constants

    def _test(self, kind: str, column: Any, *constants: Any) -> Any:
        return pushing.test(self._types, kind, column, *constants, nan_is_greatest=True)

    def convert(self, node: Any) -> Any:
        """Returns what can be converted."""
        import polars
        try:
            (kind, contents), = node.items()
            if kind == "Column":
                return self._test("==", contents, True)  # a column of bool
            if kind == "BinaryExpr":
                return self._binary(contents["op"], contents["left"], contents["right"])
            if kind == "Function":
                return self._function(contents["function"], contents["input"])
        except (AttributeError, LookupError, TypeError, ValueError, polars.exceptions.PolarsError):
            pass  # unknown JSON, or a constant that JSON cannot express: NaN
        return pushing.NOTHING

    def _binary(self, operator: str, left: Any, right: Any) -> Any:
        if operator in ("And", "Or", "LogicalAnd", "LogicalOr"):
            return pushing.both("and" if operator.endswith("And") else "or", self.convert(left), self.convert(right))
        comparison = pushing.KINDS[operator]
        if "Literal" in left:
            left, right, comparison = right, left, pushing.TURNED[comparison]
        if "Column" not in left or "Literal" not in right:
            return pushing.NOTHING
        return self._test(comparison, left["Column"], *self._constants(right, left["Column"]))

    def _function(self, function: Any, inputs: Any) -> Any:
        name = function.get("Boolean", function.get("StringExpr")) if isinstance(function, dict) else None
        options: dict[str, Any] = {}
        if isinstance(name, dict):
            (name, options), = name.items()
        if name == "Not":
            return pushing.negated(self.convert(inputs[0]))
        if "Column" not in inputs[0] or any("Literal" not in node for node in inputs[1:]):
            return pushing.NOTHING
        column = inputs[0]["Column"]
        constants = [self._constants(node, column) for node in inputs[1:]]
        kind = pushing.KINDS.get(name or "")
        if kind in ("is_null", "is_not_null"):
            return self._test(kind, column)
        if kind == "prefix" or (kind == "in" and constants[0] and options.get("nulls_equal") is not True):
            return self._test(kind, column, *constants[0])
        if name == "IsBetween":
            closed = options.get("closed")
            low = self._test(">=" if closed in ("Both", "Left") else ">", column, *constants[0])
            high = self._test("<=" if closed in ("Both", "Right") else "<", column, *constants[1])
            return pushing.both("and", low, high)
        return pushing.NOTHING


def pushed(predicate: Any, types: Mapping[str, str]) -> tuple[Condition | None, bool]:
    """Returns the condition for a predicate of Polars, and whether it is exact. `types`: the types of the columns."""
    import json
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Polars says that its JSON may change. What is not understood is not pushed down.
        text = predicate.meta.serialize(format="json")
    try:
        condition, is_exact = _Converter(types).convert(json.loads(text))
        return condition, is_exact
    except RecursionError:
        return None, False


def scan_polars(source: Any, *, filesystem: Any = None, storage_options: Mapping[str, Any] | None = None) -> Any:
    """Returns a polars.LazyFrame of a table or a file. Arguments: as for cfile.open; or an open Table, a Column or a slice of them.

    Projections, row limits and predicates are pushed down: comparisons of a column with constants, is_null, is_in, is_between and
    str.starts_with, combined with &, | and ~. Polars evaluates the rest. A file has one column, "value".

    >>> cfile.write(tmp / "t", pyarrow.table({"id": [1, 2, 3], "name": ["a", "b", "c"]}))
    >>> cfile.scan_polars(tmp / "t").filter(polars.col("id") > 2).select("name").collect().to_dicts()
    [{'name': 'c'}]
    """
    polars = need("polars", "scan_polars")
    plugins = need("polars.io.plugins", "scan_polars")
    from .opening import open
    from .rows import OpenRows
    if not isinstance(source, OpenRows):
        source = open(source, filesystem=filesystem, storage_options=storage_options)
    opened = source._opened
    rows = source._all()._changed(column_only=False)
    if not rows._is_range:
        raise TypeError("scan_polars needs a table, a column or a slice; a scan has its own to_polars")
    schema = rows._part(0, 0).to_polars().schema
    # The values of an Enum have another order than their text.
    types = {name: kind for name, kind in pushing.flat_types(opened).items() if schema.get(name) not in (polars.Enum, polars.Categorical)}

    def read(with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None) -> Iterator[Any]:
        condition, exact = (None, True) if predicate is None else pushed(predicate, types)
        columns = with_columns
        if columns is not None and predicate is not None:
            columns = list(dict.fromkeys([*columns, *predicate.meta.root_names()]))
        left = rows._end - rows._begin if n_rows is None else n_rows
        for begin in range(rows._begin, rows._end, _RANGE_ROWS):
            selected = rows._part(begin, begin + _RANGE_ROWS).scan(condition, columns=columns, limit=left if exact else None)
            frame = selected.to_polars()
            if predicate is not None:
                frame = frame.filter(predicate)
            if with_columns is not None:
                frame = frame.select(with_columns)
            frame = frame.head(left)
            left -= frame.height
            yield frame
            if left == 0:
                return
    return plugins.register_io_source(read, schema=schema, explain_name="CFILE", explain_detail=opened.name)
