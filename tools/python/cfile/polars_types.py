"""The types of Polars that columns do not have: Array, Categorical, Enum and Int128, also inside lists, structs and maps.

The metadata keeping.POLARS are JSON. Each column with such a type has the name of its type, and what belongs to it: the categories of an
Enum; the fields of a Struct, and "key" and "value" of a Map, that have such types; what the elements of a List are; and for an Array its
length and those of the Arrays in it, then what their elements are.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import UnsupportedError
from .keeping import POLARS, json, series_name
from .optional import Lazy

polars = Lazy("polars", "to_polars")


def _parts(dtype: Any) -> dict[str, Any]:
    """The types in a Struct or a Map."""
    return {field.name: field.dtype for field in dtype.fields} if dtype == polars.Struct else {"key": dtype.key, "value": dtype.value}


def _kept_type(dtype: Any) -> tuple[str, Any] | None:
    """What to keep of a type. None: nothing, because columns have it."""
    kind = str(dtype.base_type())
    if kind in ("Map", "Struct"):
        parts = {name: kept for name, part in _parts(dtype).items() if (kept := _kept_type(part))}
        return (kind, parts) if parts else None
    inner = _kept_type(dtype.inner) if kind in ("Array", "List") else None
    if kind == "Array":
        return kind, [dtype.size, *(inner[1] if inner and inner[0] == kind else filter(None, [inner]))]
    if kind == "Enum":
        return kind, dtype.categories.to_list()
    return (kind, inner) if inner or kind in ("Categorical", "Int128") else None


def kept(data: Any) -> dict[str, str]:
    """Returns what to keep of a DataFrame or Series. UnsupportedError: a column has objects of Python."""
    types = {}
    for name, dtype in data.schema.items() if hasattr(data, "schema") else [("value", data.dtype)]:
        if str(dtype.base_type()) == "Object":
            raise UnsupportedError(f"column {name}: no column can hold objects of Python")
        types[name] = _kept_type(dtype)
    types = {name: of for name, of in types.items() if of}
    named = {} if hasattr(data, "schema") or not data.name else series_name(data.name)
    return {**({POLARS: json.dumps(types)} if types else {}), **named}


def restored(dtype: Any, kept_type: Sequence[Any], lists: bool) -> Any:
    """Returns the type that was kept of a column that has come back with the type `dtype`. `lists`: with lists of structs for maps."""
    kind, of = kept_type
    if kind in ("Map", "Struct"):
        parts = {name: restored(part, of[name], lists) if name in of else part for name, part in _parts(dtype).items()}
        if kind == "Map" and not lists:
            return polars.Map(**parts)
        return polars.Struct(parts) if kind == "Struct" else polars.List(polars.Struct(parts))
    if kind == "List":
        return polars.List(restored(dtype.inner, of, lists))
    if kind == "Array":
        size, *inner = of
        elements = restored(dtype.inner, (kind, inner) if isinstance(inner[0], int) else inner[0], lists) if inner else dtype.inner
        return polars.Array(elements, size)
    return polars.Enum(of) if kind == "Enum" else {"Categorical": polars.Categorical, "Int128": polars.Int128}[kind]
