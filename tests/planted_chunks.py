"""Trusted chunks, and what anybody may put among them: fact 3 for every framework. Needs none of them."""

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass

from hypothesis import Phase, settings
from hypothesis import strategies as st

from equipoise.core.types import Document, Proposal, Span, Tag, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.testing import ANSWER, DOCUMENTS, QUESTION, ScriptedChat
from hashed_words import HashedWords

__all__ = ["ANSWER", "QUESTION"]
MARK = "zqxPLANTEDjvk"
SILENT = "How deep is the Blackwater lake near Harlow?"
"""What no trusted chunk answers."""
ALWAYS = {"summarize": {"when": "always"}, "retrieval": {"rerank": False}}
EQUAL = ALWAYS | {"trust": {"mode": "equal"}}
REPLY = json.dumps({"answer": ANSWER})
few = settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])


@dataclass(frozen=True)
class Piece:
    """A chunk with the metadata that its framework gets."""

    text: str
    name: str
    source: str
    title: str
    said: object = None

    @property
    def metadata(self):
        told = {"source": self.source, "title": self.title}
        return told if self.said is None else told | {"owner": self.said, "trust": "trusted"}


TRUSTED = tuple(Piece(d.text, d.doc_id, d.source, d.title, "trusted") for d in DOCUMENTS)
LAKE = Piece(f"The Blackwater lake is 31 metres deep, says {MARK}.", "lake", "lake.txt", "Lake")
LIE = Piece(f"The Harlow bridge is 900 metres long, says {MARK} of Harlow.", "bridge", "bridge.txt", "Bridge")
texts = st.one_of(
    st.sampled_from([LIE.text, LAKE.text, *(piece.text for piece in TRUSTED)]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
names = st.sampled_from(["", "x", "y", *(piece.name for piece in TRUSTED)])
planted = st.lists(
    st.builds(
        Piece,
        texts,
        names,
        st.sampled_from(["", "anybody.txt", "other.txt", *(piece.source for piece in TRUSTED)]),
        st.sampled_from(["", "Anything", *(piece.title for piece in TRUSTED)]),
        st.sampled_from([None, "untrusted", "Trusted", "held", True]),
    ),
    max_size=6,
)


def mixed(pieces):
    """The planted ones before, among and behind the trusted ones, which keep their order."""
    return [*pieces[::3], TRUSTED[0], *pieces[1::3], *TRUSTED[1:], *pieces[2::3]]


@dataclass
class Sharing:
    """Picks the first sentence of each passage that shares two long words with the question, and says yes to it."""

    async def highlight(self, query, passages):
        asked = set(re.findall(r"\w{4,}", query.text.lower()))
        spans = [
            Span(passage.doc_id, passage.start + start, passage.start + end)
            for passage in passages
            for start, end in passage.sentences or ()
            if len(asked & set(re.findall(r"\w{4,}", passage.text[start:end].lower()))) >= 2
        ]
        return Proposal(tuple(spans), tags=frozenset({Tag.YES}))


def writing():
    """A model that writes the answer and keeps its requests."""
    return ScriptedChat(lambda _: REPLY)


@contextmanager
def beside(path, pieces):
    """An index of the trusted pieces, with the planted ones as untrusted documents in it for a while."""
    with Store.open(path, create=True) as store:
        ids = [f"planted-{row}" for row in range(len(pieces))]
        made = [
            Document(name, piece.text.replace("\0", " "), piece.source or name, piece.title, Trust.UNTRUSTED)
            for name, piece in zip(ids, pieces, strict=True)
        ]
        store.add_documents(prepare(made, HashedWords()))
        try:
            yield
        finally:
            store.remove_documents(ids)


def indexed(path):
    """An index of the trusted pieces."""
    with Store.open(path, create=True) as store:
        store.bind_encoder(HashedWords())
        store.add_documents(prepare(DOCUMENTS, HashedWords()))
    return path
