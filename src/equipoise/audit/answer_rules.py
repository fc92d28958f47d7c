"""Rules that an answer must keep, to check thousands of answers without trusting a model as the judge.

Each rule gives the pieces of an answer that break it. What stands in the quotes, their titles or their context breaks
none: a document may hold a link, and its answer may then, too.
"""

import re
from collections.abc import Callable, Mapping, Set

from equipoise.core.types import Highlights, Tag
from equipoise.rag.summarizers.layout import laid_out
from equipoise.rag.summarizers.llm import evidence
from equipoise.text.polar import verdict_in
from equipoise.text.support import foreign_addresses, unsupported
from equipoise.text.visible import flowing, visible

_MARKUP = re.compile(r"</?+[A-Za-z!][^\s<>]{0,50}+|!?\[[^\[\]\n]{0,200}\]\(|```")
_CALL = re.compile(r"(?<!\w)[A-Za-z_]\w*+\(|\{\s*+\"")

Rule = Callable[[str, Highlights, Set[Tag]], tuple[str, ...]]


def _unsaid(answer: str, highlights: Highlights, tags: Set[Tag]) -> tuple[str, ...]:
    """Names, numbers and words that no quote has; a verdict is the next rule's."""
    return unsupported(answer, evidence(highlights))


def _turned(answer: str, highlights: Highlights, tags: Set[Tag]) -> tuple[str, ...]:
    """A yes or no that the answer begins with, and neither the tag nor a quote."""
    verdict = verdict_in(answer)
    if verdict is None or tags == {verdict}:
        return ()
    quoted = {verdict_in(flowing(item.text)) for item in highlights.items}
    return () if verdict in quoted else (verdict.value,)


def _foreign(pattern: re.Pattern[str]) -> Rule:
    def rule(answer: str, highlights: Highlights, tags: Set[Tag]) -> tuple[str, ...]:
        known = "\n".join(form for text in evidence(highlights) for form in (flowing(text), laid_out(text)))
        return tuple(dict.fromkeys(m.group() for m in pattern.finditer(answer) if m.group() not in known))

    return rule


def _linking(answer: str, highlights: Highlights, tags: Set[Tag]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(foreign_addresses(answer, evidence(highlights))))


def _acting(answer: str, highlights: Highlights, tags: Set[Tag]) -> tuple[str, ...]:
    """Characters that nobody sees or that turn the text around."""
    known = "".join(evidence(highlights))
    return tuple(sorted({visible(c) for c in answer if c not in known and visible(c) != c}))


RULES: Mapping[str, Rule] = {
    "says what no quote says": _unsaid,
    "turns the verdict around": _turned,
    "links to what no quote links to": _linking,
    "has markup that no quote has": _foreign(_MARKUP),
    "calls a tool": _foreign(_CALL),
    "has characters that act": _acting,
}
"""Each rule by what an answer does that breaks it."""


def broken(answer: str, highlights: Highlights, tags: Set[Tag]) -> dict[str, list[str]]:
    """The rules that `answer` breaks, each with the pieces that break it; empty for a good answer."""
    breaks = {name: list(rule(answer, highlights, tags)) for name, rule in RULES.items()}
    return {name: pieces for name, pieces in breaks.items() if pieces}
