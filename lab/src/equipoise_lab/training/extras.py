"""The heavy libraries, imported when training begins."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from equipoise.core.errors import MissingExtra
from equipoise.core.plugins import LAB


def library(name: str, extra: str = "hf") -> Any:  # noqa: ANN401
    """The module `name`; raises MissingExtra."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(f"{name}, which training needs,", extra, LAB) from None


def require() -> None:
    """Raises MissingExtra before any work is done where a library is not here."""
    for name, extra in (("torch", "hf"), ("transformers", "hf"), ("matplotlib", "bench")):
        if not find_spec(name):
            raise MissingExtra(f"{name}, which training needs,", extra, LAB)
