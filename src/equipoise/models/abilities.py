"""What an encoder may be able to do beyond `core.protocols.Encoder`. One that has nothing of this stays as it is."""

import re
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from equipoise.core.protocols import Encoder
from equipoise.core.types import Array

_E5 = re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])")


@runtime_checkable
class EncodesQuestions(Protocol):
    """An Encoder that reads a question otherwise than a text that may answer it, as E5 does."""

    def encode_questions(self, questions: Sequence[str]) -> Array:
        """(n, d) float32, every row of length 1, to be held against rows of `encode`; (0, d) for none."""
        ...


def encode_questions(encoder: Encoder, questions: Sequence[str]) -> Array:
    """(n, d) unit vectors of what is asked; those of any text where the encoder makes no difference."""
    return (
        encoder.encode_questions(questions)
        if isinstance(encoder, EncodesQuestions)
        else encoder.encode(questions)
    )


def is_multilingual(encoder: Encoder) -> bool:
    """Whether the encoder says of itself that it reads other languages than English (`multilingual = True`)."""
    return bool(getattr(encoder, "multilingual", False))


def is_e5(name: str) -> bool:
    """Whether a model is one of the E5 family by the last part of its name: "e5" stands in it as a word.

    >>> is_e5("intfloat/multilingual-e5-small"), is_e5("e5/other"), is_e5("some/me5")
    (True, False, False)
    """
    return bool(_E5.search(name.rstrip("/").rpartition("/")[2].lower()))
