"""What model calls cost; `core.types` re-exports it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens of one question's models; `+` adds them up. `replayed` counts replies from the replay cache."""

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
