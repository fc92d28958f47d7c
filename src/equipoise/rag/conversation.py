"""Question after question of one person."""

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from equipoise.core import sync
from equipoise.core.protocols import Observer
from equipoise.core.results import Answer, Refusal
from equipoise.rag.calls import CallFields
from equipoise.text.questions import EARLIER

if TYPE_CHECKING:
    from equipoise.rag.library import Library


@dataclass(frozen=True, slots=True)
class Conversation:
    """Questions of one person, each read with those before it; `choice` holds for all of them."""

    library: "Library"
    choice: CallFields
    asked: deque[str] = field(default_factory=lambda: deque(maxlen=EARLIER))

    def ask(
        self, question: str, *, observer: Observer | None = None, others: bool = False
    ) -> Answer | Refusal:
        """As `Library.ask`."""
        return sync.run(self.aask(question, observer=observer, others=others))

    async def aask(
        self, question: str, *, observer: Observer | None = None, others: bool = False
    ) -> Answer | Refusal:
        """As `Library.aask`."""
        before = tuple(self.asked)
        result = await self.library.aask(
            question, before=before, observer=observer, others=others, **self.choice
        )
        self.asked.append(question)
        return result
