"""Imports modules when they are needed, so that `import cfile` is quick."""
from __future__ import annotations

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

    def __init__(self, name: str, purpose: str = "") -> None:
        self._name, self._purpose = name, purpose

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute != "__version__":
            raise AttributeError(attribute)  # tools such as inspect look for these; no import for them
        value = getattr(need(self._name, self._purpose), attribute)
        setattr(self, attribute, value)  # the next use finds it without this function
        return value
