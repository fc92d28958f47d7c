"""Every error a caller can meet, in one tree.

    EquipoiseError                 exit code 3
    |-- InputError                 exit code 2: what the caller typed or passed
    |   |-- QuestionError          a question cannot be used: the one error that the person who asks is shown
    |   |-- SettingsError          a setting is unknown or has a bad value
    |   `-- MissingExtra           an optional part is not installed
    |-- CorpusError                documents and the store
    |   |-- UnreadableFile         one file could not be read; the rest goes on
    |   `-- StoreError             the store is locked, corrupt or of another version
    |       `-- StoreLost          the database went away in the middle: ask again
    |-- ModelError                 encoders and language models
    |   |-- ModelUnavailable       no key, no endpoint, no weights, time-out
    |   |-- ModelReplyError        the model answered something that cannot be used
    |   `-- WeightsError           a weights file does not match the hash in its manifest
    `-- ServerError                an equipoise server cannot be reached, is busy, or failed

A message is one sentence or two: what happened, to which file or field, and what to do next.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from equipoise.core.usage import Usage


class EquipoiseError(Exception):
    """Root of the tree. `exit_code` is what the command line returns for it."""

    exit_code: ClassVar[int] = 3


class InputError(EquipoiseError):
    """The caller's own input cannot be used."""

    exit_code: ClassVar[int] = 2


class QuestionError(InputError):
    """A question cannot be asked as it was typed. Says nothing but what is wrong with it."""


class SettingsError(InputError):
    """A setting is unknown or has a value outside its range."""


class MissingExtra(InputError):
    """An optional part is not installed; the message names the `pip install` line."""

    def __init__(self, what: str, extra: str, package: str = "equipoise") -> None:
        super().__init__(f"{what} is not installed: run  pip install '{package}[{extra}]'")


class CorpusError(EquipoiseError):
    """Something about documents or the store."""


class UnreadableFile(CorpusError):
    """One file could not be read. `path` and `reason` are kept apart for listings."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class StoreError(CorpusError):
    """The store file is locked, corrupt, or written by another version."""


class StoreLost(StoreError):
    """The database went away in the middle of a question or change; nothing of it was kept, so try again."""


class ModelError(EquipoiseError):
    """Something about an encoder or a language model. `usage` is what the failed work had cost, where known."""

    def __init__(self, message: str, *, usage: Usage = Usage()) -> None:
        super().__init__(message)
        self.usage = usage


class ModelUnavailable(ModelError):
    """The model cannot be reached: no key, no endpoint, no weights, time-out."""


class ModelReplyError(ModelError):
    """The model answered, and the answer cannot be used (after one repair request)."""


class WeightsError(ModelError):
    """A weights file is missing or its sha256 is not the manifest's."""


class ServerError(EquipoiseError):
    """A running server that was asked cannot be reached, or did not answer."""


@contextmanager
def after_spending(usage: Usage) -> Iterator[None]:
    """Adds `usage`, the cost of the work before, to any ModelError raised inside."""
    try:
        yield
    except ModelError as error:
        error.usage += usage
        raise
