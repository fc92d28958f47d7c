"""What a message that asks nothing gets: a fixed reply, a function of (message, trusted documents, settings)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.protocols import Observer, Pipeline
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.types import Trust
from equipoise.corpus.store import Store
from equipoise.rag.gathering import checked
from equipoise.text.small_talk import asked
from equipoise.text.visible import title

NAMED = 3
"""Titles that the reply names."""
TITLE = 60
"""Characters of each."""


@dataclass(frozen=True, slots=True)
class Reception:
    """The pipeline `inner`, which small talk does not reach: only what is asked beside it, and whole messages without
    any unchanged. `reply` is said to a message that asks nothing; empty: which documents there are to ask about."""

    inner: Pipeline
    store: Store
    reply: str = ""

    async def ask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
    ) -> Answer | Refusal:
        """As `inner`; a Refusal of NO_QUESTION where the message is small talk."""
        left, *earlier = await asyncio.to_thread(self._asked, checked(question).text, before)
        if not left:
            return Refusal(Reason.NO_QUESTION, self.reply or await asyncio.to_thread(self._subjects))
        more = {"others": True} if others else {}
        return await self.inner.ask(left, before=earlier, observer=observer, **more)

    def _asked(self, question: str, before: Sequence[str]) -> list[str]:
        """What is asked, then the earlier messages that ask anything."""
        unheard = self.store.partition(Trust.TRUSTED).unheard
        return [asked(question, unheard), *(said for said in before if asked(said, unheard))]

    def _subjects(self) -> str:
        titles = [f"“{title(one, TITLE)}”" for one in self.store.subjects(NAMED)]
        listed = " or ".join(filter(None, (", ".join(titles[:-1]), *titles[-1:])))
        return f"Ask a question about the documents{f', for example about {listed}' if listed else ''}."
