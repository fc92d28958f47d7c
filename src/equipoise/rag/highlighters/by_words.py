"""Questions in a script that the reader models do not know: the sentences that together have most of their words.

Words are pairs of letters in scripts without spaces. The words of titles and headings tell no sentence from another,
and count only where the question has no others.
"""

from collections.abc import Sequence

from equipoise.core.types import Passage, Proposal, Span
from equipoise.corpus.keywords import terms
from equipoise.rag.highlighters.sentences import sentences_of

_LEAST = 0.34  # of the words of a question, in one sentence
_MOST = 3  # sentences
_ASKING = frozenset("吗呢么哪谁几多少何怎")  # letters of words that ask and that no answer has


def by_words(question: str, passages: Sequence[Passage]) -> Proposal:
    """The sentence with most of the question's words, then those with most of the rest; none if it has too few."""
    asked = {word for word in terms(question) if _ASKING.isdisjoint(word)}
    above = {word for p in passages for word in terms(" ".join((p.title, *p.headings)))}
    wanted = asked - above or asked
    sentences = sentences_of(passages)
    if not wanted or not sentences:
        return Proposal(())
    held = [wanted.intersection(terms(sentence.text)) for sentence in sentences]
    if max(map(len, held)) < _LEAST * len(wanted):
        return Proposal(())
    spans: list[Span] = []
    missing = wanted
    while len(spans) < _MOST:
        best = max(range(len(sentences)), key=lambda row: len(held[row] & missing))
        if not held[best] & missing:
            break
        spans.append(sentences[best].span)
        missing = missing - held[best]
    return Proposal(tuple(spans), ranked=True)
