"""Questions with a canary, a highlighter that writes them wherever it may, and what two of them show to get through."""

from hypothesis import strategies as st

from equipoise.core.types import Dropped, Proposal, Span, Tag
from equipoise.testing import DOCUMENTS

CANARY = "zqxCANARYjvk"
QUIET, LOUD = f"A {CANARY}", f"What is it that they say? {CANARY}"
SENTENCES = [Span(document.doc_id, *place) for document in DOCUMENTS for place in ((0, 46), (47, 120))]

questions = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(
    lambda text: f"{text} {CANARY}"
)
picked = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4, unique=True)


class Picking:
    """A highlighter with fixed spans, in an order that the question chooses, and with the question for words."""

    def __init__(self, spans):
        self.spans = spans

    async def highlight(self, query, passages):
        return Proposal(
            tuple(self.spans if query.text[0] < "m" else self.spans[::-1]),
            dropped=(Dropped("not found", quotation=query.text),),
            probability=len(query.text) / 100,
            tags=frozenset({Tag.YES}),
        )


def leak(first, second):
    """What gets through, of what was seen for two questions with equal spans: the first entry is what the model saw."""
    if not first[0]:
        return "the model was not asked"
    if any(CANARY in repr(seen) for seen in (first, second)):
        return "a question stands in what the model sees"
    return "" if first == second else "other words, other requests"
