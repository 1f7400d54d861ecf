"""Converts between values of Python and stored values (see _native.pyi), by the type of the column."""
from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # in a second


def base_of(type_text: str) -> str:
    """The type without its parameters: "decimal" for "decimal(10,2)"."""
    return type_text.partition("(")[0]


def _parameters(type_text: str) -> list[str]:
    return type_text.partition("(")[2].rstrip(")").split(",")


def _scale(type_text: str) -> int:
    """The digits after the point; 0 if the type does not say it."""
    parameters = _parameters(type_text)
    return int(parameters[1]) if len(parameters) > 1 else 0


def _unit(type_text: str) -> int:
    return _UNITS[_parameters(type_text)[0]]


def _zone(type_text: str) -> str:
    """The time zone of a timestamp type; "" if it has none."""
    parameters = _parameters(type_text)
    return parameters[1] if len(parameters) > 1 else ""


def _seconds(value: datetime.timedelta) -> Fraction:
    return Fraction(value.days * 86400 * 10**6 + value.seconds * 10**6 + value.microseconds, 10**6)


def _wrong(value: object, type_text: str) -> TypeError:
    return TypeError(f"{value!r} of type {type(value).__name__} cannot be compared with a column of type {type_text}")


def _datetime_seconds(value: Any, type_text: str) -> Fraction:
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    if isinstance(value, datetime.datetime):
        aware = value.tzinfo is not None
        if aware != bool(_zone(type_text)):
            raise TypeError(f"{value!r}: the column has the type {type_text}, so the time needs "
                            f"{'a time zone' if not aware else 'no time zone'}")
        if aware:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return _seconds(value - _EPOCH) + Fraction(getattr(value, "nanosecond", 0), 10**9)
    if isinstance(value, datetime.date):
        return Fraction((value.toordinal() - _EPOCH_DAY) * 86400)
    raise _wrong(value, type_text)


def _number(value: Any, type_text: str) -> Any:
    """The value in the units of the column: an int, a Fraction or a float."""
    base = base_of(type_text)
    if base.startswith("decimal"):
        if isinstance(value, str):
            value = Decimal(value)
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, Fraction)):
            raise _wrong(value, type_text)
        try:
            return Fraction(value) * 10**_scale(type_text)
        except (ValueError, OverflowError):
            raise ValueError(f"a decimal cannot be compared with {value}") from None
    if base == "date":
        if isinstance(value, str):
            value = datetime.date.fromisoformat(value)
        if isinstance(value, datetime.datetime):
            return _seconds(value.replace(tzinfo=None) - _EPOCH) / 86400
        if isinstance(value, datetime.date):
            return value.toordinal() - _EPOCH_DAY
    elif base == "timestamp":
        return _datetime_seconds(value, type_text) * _unit(type_text)
    elif base == "time":
        if isinstance(value, str):
            value = datetime.time.fromisoformat(value)
        if isinstance(value, datetime.time):
            if value.tzinfo is not None:
                raise _wrong(value, type_text)
            moment = datetime.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
            return _seconds(moment) * _unit(type_text)
    raise _wrong(value, type_text)


def _plain(value: Any) -> Any:
    """Numbers of NumPy become numbers of Python."""
    if type(value).__module__ == "numpy":
        if type(value).__name__ == "datetime64":
            micros = value.astype("datetime64[us]")
            if micros == value:
                return micros.item()
            raise ValueError(f"{value!r} has more digits than a datetime")
        return value.item()
    return value


def is_bytes(type_text: str) -> bool:
    """Whether the values of the column are strings or bytes."""
    return base_of(type_text) in ("string", "varchar", "binary", "fixed", "uuid", "int96")


def floor_of(value: Any, type_text: str) -> tuple[Any, bool]:
    """Returns a stored value, and whether it equals `value`. If not, it is the greatest stored value that is less than `value`.

    TypeError: a column of this type cannot be compared with such a value.
    """
    value = _plain(value)
    base = base_of(type_text)
    if value is None:
        raise TypeError("None equals nothing; use is_null() and is_not_null()")
    if base in ("bool", "is_deleted"):
        if not isinstance(value, bool):
            raise _wrong(value, type_text)
        return value, True
    if base == "uuid" and not isinstance(value, (str, bytes)):
        if not hasattr(value, "bytes"):
            raise _wrong(value, type_text)
        return value.bytes, True
    if base == "uuid" and isinstance(value, str):
        import uuid
        return uuid.UUID(value).bytes, True
    if is_bytes(type_text):
        if not isinstance(value, (str, bytes)):
            raise _wrong(value, type_text)
        return value, True
    if base in ("float", "double") or base.startswith(("int", "uint")):
        if isinstance(value, Decimal) and value.is_finite():
            if base in ("float", "double"):
                return float(value), True
            whole = Fraction(value)
            return whole.numerator // whole.denominator, whole.denominator == 1
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise _wrong(value, type_text)
        return value, True  # the library compares integers with floats exactly
    number = _number(value, type_text)
    floor = number.numerator // number.denominator
    return floor, floor == number


def key_of(value: Any, type_text: str) -> Any:
    """Returns the least stored value that is not less than `value`, to search for it."""
    floor, exact = floor_of(value, type_text)
    if isinstance(floor, float) and base_of(type_text).startswith(("int", "uint")):
        if floor != floor or floor in (float("inf"), float("-inf")):
            raise ValueError(f"{floor} is no key of a column of type {type_text}")
        return -int(-floor // 1)
    return floor if exact else floor + 1


def exact_of(value: Any, type_text: str) -> Any:
    """Returns the stored value that equals `value`. ValueError: the column cannot hold the value."""
    floor, exact = floor_of(value, type_text)
    if not exact:
        raise ValueError(f"{value!r} is not a value of type {type_text}")
    return floor


def python_of(stored: Any, type_text: str) -> Any:
    """Returns the value of Python for a stored value. A time that Python cannot express stays an int."""
    base = base_of(type_text)
    if stored is None:
        return None
    if base.startswith("decimal"):
        return Decimal((int(stored < 0), tuple(map(int, str(abs(stored)))), -_scale(type_text)))
    if base == "uuid":
        import uuid
        return uuid.UUID(bytes=stored)
    if base == "date":
        day = stored + _EPOCH_DAY
        return datetime.date.fromordinal(day) if 1 <= day <= datetime.date.max.toordinal() else stored
    if base not in ("timestamp", "time"):
        return stored
    unit = _unit(type_text)
    micros, rest = divmod(stored * 10**6, unit)
    if rest:
        return stored
    try:
        moment = _EPOCH + datetime.timedelta(microseconds=micros)
    except OverflowError:
        return stored
    if base == "time":
        return moment.time() if 0 <= micros < 86400 * 10**6 else stored
    zone = _zone(type_text)
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
