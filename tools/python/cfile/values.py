"""Converts between values of Python and stored values (see _native.pyi), by the type of the column."""
from __future__ import annotations

import datetime
import functools
import math
import re
import struct
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_FLOATS = ("float", "double")
_MOST_FLOAT = (2 - 2**-23) * 2.0**127
_MOST = 2**127 - 1  # no column has a greater number
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # in a second


@functools.cache
def _parsed(type_text: str) -> tuple[str, int, str, int]:
    """The name, the units in a second, the time zone and the digits after the point; for example "timestamp", 1000, "UTC" and 0."""
    base, _, parameters = type_text.partition("(")
    first, _, second = parameters.rstrip(")").partition(",")
    return base, _UNITS.get(first, 0), second, int(second or 0) if base.startswith("decimal") else 0


def base_of(type_text: str) -> str:
    """The type without its parameters: "decimal" for "decimal(10,2)"."""
    return _parsed(type_text)[0]


def _seconds(value: datetime.timedelta) -> Fraction:
    return Fraction(value.days * 86400 * 10**6 + value.seconds * 10**6 + value.microseconds, 10**6)


def _wrong(value: object, type_text: str) -> TypeError:
    return TypeError(f"{value!r} of type {type(value).__name__} cannot be compared with a column of type {type_text}")


def _of_text(kind: Any, text: str) -> tuple[Any, Fraction]:
    """The datetime or time of a text in ISO form, and the seconds that it says below a microsecond, which Python would cut."""
    digits = re.search(r"[.,]\d{6}(\d+)", text)
    if digits is None:
        return kind.fromisoformat(text), Fraction(0)
    return kind.fromisoformat(text[:digits.start(1)] + text[digits.end():]), Fraction(int(digits[1]), 10**(6 + len(digits[1])))


def _datetime_seconds(value: Any, type_text: str) -> Fraction:
    """Seconds since 1970."""
    if isinstance(value, str):
        value, rest = _of_text(datetime.datetime, value)
        return _datetime_seconds(value, type_text) + rest
    aware = getattr(value, "tzinfo", None) is not None
    if type(value) is not datetime.date and aware != bool(_parsed(type_text)[2]):
        raise TypeError(f"{value!r}: the column has the type {type_text}, so the time needs "
                        f"{'a time zone' if not aware else 'no time zone'}")
    if isinstance(value, Fraction):
        return value  # of NumPy
    if isinstance(value, datetime.datetime):
        if aware:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return _seconds(value - _EPOCH) + Fraction(getattr(value, "nanosecond", 0), 10**9)  # pandas has nanoseconds
    if isinstance(value, datetime.date):
        return Fraction((value.toordinal() - _EPOCH_DAY) * 86400)
    raise _wrong(value, type_text)


def _number(value: Any, type_text: str) -> Fraction:
    """The value in the units of the column. OverflowError: it is infinite. ValueError: it is NaN."""
    base, unit, _, scale = _parsed(type_text)
    if base == "date":
        if isinstance(value, str):
            value = datetime.date.fromisoformat(value)
        return _datetime_seconds(value, type_text) / 86400
    if base == "timestamp":
        return _datetime_seconds(value, type_text) * unit
    if base == "time":
        rest = Fraction(0)
        if isinstance(value, str):
            value, rest = _of_text(datetime.time, value)
        if not isinstance(value, datetime.time) or value.tzinfo is not None:
            raise _wrong(value, type_text)
        moment = datetime.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
        return (_seconds(moment) + rest) * unit
    if isinstance(value, (str, float)) and base.startswith("decimal"):
        value = Decimal(str(value))  # 0.05 means 5/100, and not the nearest binary fraction
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, Fraction)):
        raise _wrong(value, type_text)
    return Fraction(value) * int(10**scale)


def _plain(value: Any, type_text: str) -> Any:
    """Numbers of NumPy become numbers of Python; times become seconds since 1970."""
    if type(value).__module__ != "numpy":
        return value
    if type(value).__name__ in ("float16", "float32") and base_of(type_text).startswith("decimal"):
        return Decimal(str(value))  # item() would add digits
    if type(value).__name__ != "datetime64":
        return value.item()
    if value != value:
        raise ValueError("NaT equals nothing; use is_null() and is_not_null()")
    import numpy
    unit = numpy.datetime_data(value.dtype)[0]
    digits = {"ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}.get(unit, 0)
    return Fraction(int(value.astype(f"datetime64[{unit if digits else 's'}]").astype("int64")), 10**digits)


def floor_of(value: Any, type_text: str) -> tuple[Any, bool]:
    """Returns a stored value, and whether it equals `value`. If not, it is the greatest stored value that is less than `value`.

    A constant for a column of floats is rounded to a float.

    TypeError: a column of this type cannot be compared with such a value.
    """
    value = _plain(value, type_text)
    base = base_of(type_text)
    if value is None:
        raise TypeError("None equals nothing; use is_null() and is_not_null()")
    if base in ("bool", "is_deleted"):
        if not isinstance(value, bool):
            raise _wrong(value, type_text)
        return value, True
    if base == "uuid":
        import uuid
        value = getattr(uuid.UUID(value) if isinstance(value, str) else value, "bytes", value)
    if base in ("string", "varchar", "binary", "fixed", "uuid", "int96"):
        if not isinstance(value, (str, bytes)):
            raise _wrong(value, type_text)
        return value, True
    if isinstance(value, (float, Decimal)) and value != value:
        if base in _FLOATS or base.startswith(("int", "uint")):
            return math.nan, True
        raise ValueError(f"a column of type {type_text} cannot be compared with {value}")
    if base in _FLOATS and isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return _rounded(value, base)
    if type(value) is int and base.startswith(("int", "uint")) and abs(value) <= _MOST:
        return value, True  # much faster than fractions
    try:
        number = _number(value, type_text)
    except OverflowError:
        return (-_MOST if value == -math.inf else _MOST), False
    floor = number.numerator // number.denominator
    if abs(floor) > _MOST:
        return (_MOST if floor > 0 else -_MOST), False
    return floor, floor == number


def _rounded(value: Any, base: str) -> tuple[float, bool]:
    """The nearest value of a column of floats; for a number outside of their range, the result of floor_of."""
    try:
        number = float(value)
        if math.isinf(number) and value != number:  # a Decimal
            raise OverflowError
    except OverflowError:
        return (sys.float_info.max if value > 0 else -math.inf), False
    if base == "float" and abs(number) <= _MOST_FLOAT:
        number, = struct.unpack("f", struct.pack("f", number))
    return number, True


def key_of(value: Any, type_text: str) -> Any:
    """Returns the least stored value that is not less than `value`, to search for it."""
    floor, exact = floor_of(value, type_text)
    if floor != floor:
        raise ValueError(f"{floor} is no key of a column of type {type_text}")
    if exact:
        return floor
    return math.nextafter(floor, math.inf) if isinstance(floor, float) else floor + 1


def exact_of(value: Any, type_text: str) -> Any:
    """Returns the stored value that equals `value`. ValueError: the column cannot hold the value."""
    floor, exact = floor_of(value, type_text)
    if not exact:
        raise ValueError(f"{value!r} is not a value of type {type_text}")
    return floor


@functools.cache
def _pandas_timestamp() -> Any:
    """pandas.Timestamp; None without pandas."""
    from .optional import need
    try:
        return need("pandas", "nanoseconds").Timestamp
    except ImportError:
        return None


def _timestamp(nanoseconds: int, zone: str) -> Any:
    kind = _pandas_timestamp()
    if kind is None or nanoseconds == -2**63:  # which is NaT for pandas
        return nanoseconds
    try:
        moment = kind(nanoseconds, tz="UTC" if zone else None)
        return moment.tz_convert(zone) if zone else moment
    except (KeyError, ValueError):
        return nanoseconds


def python_of(stored: Any, type_text: str) -> Any:
    """Returns the value of Python for a stored value.

    A datetime with nanoseconds is a pandas.Timestamp. A time that Python cannot express stays an int.
    """
    base, unit, zone, scale = _parsed(type_text)
    if stored is None:
        return None
    if base.startswith("decimal"):
        return Decimal((int(stored < 0), tuple(map(int, str(abs(stored)))), -scale))
    if base == "uuid":
        import uuid
        return uuid.UUID(bytes=stored)
    if base == "date":
        day = stored + _EPOCH_DAY
        return datetime.date.fromordinal(day) if 1 <= day <= datetime.date.max.toordinal() else stored
    if base not in ("timestamp", "time"):
        return stored
    micros, rest = divmod(stored * 10**6, unit)
    if rest:
        return _timestamp(stored, zone) if base == "timestamp" else stored
    try:
        moment = _EPOCH + datetime.timedelta(microseconds=micros)
    except OverflowError:
        return stored
    if base == "time":
        return moment.time() if 0 <= micros < 86400 * 10**6 else stored
    if not zone:
        return moment
    moment = moment.replace(tzinfo=datetime.timezone.utc)
    if zone == "UTC":
        return moment
    import zoneinfo
    try:
        return moment.astimezone(zoneinfo.ZoneInfo(zone))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return moment
