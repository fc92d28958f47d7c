"""What a run may spend: tokens and minutes. Replies from the cache are free."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from equipoise.core.protocols import ChatModel
from equipoise.core.types import Usage
from equipoise.models.listening import ListeningChat

PATIENCE = 20
"""Questions or ratings that fail one after the other until a run stops: then it is not the questions."""


@dataclass(slots=True)
class RunBudget:
    """Filled while a run goes on. None: no limit."""

    max_tokens: int | None = None
    max_minutes: float | None = None
    clock: Callable[[], float] = time.monotonic
    usage: Usage = Usage()
    failures: int = 0
    _begin: float = field(init=False)

    def __post_init__(self) -> None:
        self._begin = self.clock()

    def spend(self, usage: Usage) -> None:
        """Count what a model was really asked for."""
        self.usage += usage

    def saw(self, *, failed: bool) -> None:
        """Count failures in a row."""
        self.failures = self.failures + 1 if failed else 0

    def stop(self) -> str:
        """Why nothing new should begin; "" to go on."""
        used = self.usage.prompt_tokens + self.usage.completion_tokens
        if self.max_tokens is not None and used >= self.max_tokens:
            return f"{used:,} tokens are used, --max-tokens is {self.max_tokens:,}"
        minutes = (self.clock() - self._begin) / 60
        if self.max_minutes is not None and minutes >= self.max_minutes:
            return f"{minutes:.1f} minutes are over, --max-minutes is {self.max_minutes:g}"
        if self.failures >= PATIENCE:
            return f"{self.failures} failed one after the other; their rows say why"
        return ""


def metered(chat: ChatModel, budget: RunBudget) -> ChatModel:
    """`chat`, with every call booked on `budget`. Stands inside the replay cache, so replays cost nothing."""
    return ListeningChat(chat, heard=lambda reply: budget.spend(reply.usage))
