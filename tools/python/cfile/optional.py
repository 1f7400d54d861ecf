"""Imports libraries that only some functions need."""
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
