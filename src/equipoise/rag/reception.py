"""What a message that asks nothing gets: a fixed reply, a function of (message, trusted documents, settings)."""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.types import Trust
from equipoise.corpus.store import Store
from equipoise.text import small_talk
from equipoise.text.visible import title

NAMED = 3
"""Titles that the reply names."""
TITLE = 60
"""Characters of each."""


@dataclass(frozen=True, slots=True)
class Reception:
    """Small talk. `reply` is said to a message that asks nothing; empty: which documents there are to ask about."""

    store: Store
    reply: str = ""

    def asked(self, question: str, before: Sequence[str]) -> list[str]:
        """What is asked, empty where that is nothing, then the earlier messages that ask anything."""
        out_of_corpus = self.store.partition(Trust.TRUSTED).out_of_corpus
        earlier = [said for said in before if small_talk.asked(said, out_of_corpus)]
        return [small_talk.asked(question, out_of_corpus).strip(), *earlier]

    def said(self) -> str:
        """The reply."""
        if self.reply:
            return self.reply
        titles = [f"“{title(one, TITLE)}”" for one in self.store.subjects(NAMED)]
        listed = " or ".join(filter(None, (", ".join(titles[:-1]), *titles[-1:])))
        return f"Ask a question about the documents{f', for example about {listed}' if listed else ''}."
