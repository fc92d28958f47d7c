"""What models cost; `core.types` has it too."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What the models of one question cost. Adds up."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    replayed: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.replayed + other.replayed,
        )
