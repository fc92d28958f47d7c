"""Rows of published data files, read with the `datasets` library (extra `datasets`)."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.plugins import LAB

HUB = "hf://datasets"
Rows = Iterable[Mapping[str, Any]]


def rows(form: str, file: str, **options: str) -> Rows:
    """The rows of one file, or of those that match a pattern; `form` is json, csv or parquet.

    Raises MissingExtra without `datasets`, InputError for what cannot be read.
    """
    try:
        datasets = import_module("datasets")
    except ImportError as error:
        raise MissingExtra("the datasets library", "datasets", LAB) from error
    try:
        loaded: Rows = datasets.load_dataset(form, data_files=file, split="train", **options)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{file} cannot be read ({reason}): check the address and the network") from None
    return loaded
