"""Imports modules when they are needed, so that `import cfile` is quick."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def need(name: str, purpose: str) -> Any:
    """Imports a module. ImportError: it is not installed; the text says what needs it."""
    import importlib
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{purpose} needs {package}: pip install {package}") from error


class Lazy:
    """A module that is imported when one of its attributes is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        import importlib
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)  # the next use finds it without this function
        return value
