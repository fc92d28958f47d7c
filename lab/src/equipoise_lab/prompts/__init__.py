"""The prompts of the laboratory, as `equipoise.prompts` has those of the product."""

from equipoise import prompts
from equipoise.core.types import Message


def load(name: str, /, **variables: str) -> tuple[Message, ...]:
    """See `equipoise.prompts.load`; `name` is one of this package."""
    return prompts.load(name, __package__, **variables)
