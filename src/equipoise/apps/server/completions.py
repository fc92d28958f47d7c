"""Answers in OpenAI's form: text with numbers, an annotation for each number, and Open WebUI's source events."""

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from equipoise.apps.render import where
from equipoise.apps.server.citing import cited
from equipoise.apps.server.markdown import as_name, as_text
from equipoise.apps.server.views import for_strangers, shown_source, untrusted_part
from equipoise.core.results import Answer, Others, Refusal
from equipoise.core.types import Highlight, Trust, Usage
from equipoise.rag import saying
from equipoise.rag.joining import in_order
from equipoise.rag.summarizers.layout import laid_out

TOGETHER = "(Read together with your earlier question.)\n\n"
REPLY = "chatcmpl-"
WEAK = "(Weak evidence: this may not be what was asked.)\n\n"


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote with its number, from 1."""

    number: int
    item: Highlight
    base: str

    @property
    def name(self) -> str:
        """Its place, and that it is untrusted if it is."""
        item = self.item
        mark = "" if item.trust is Trust.TRUSTED else f" ({item.trust})"
        return as_name(where(item).replace(item.source, shown_source(item.source), 1) + mark)

    @property
    def url(self) -> str:
        """A page that shows it in its document, every part of it marked; different for every quote."""
        parts = [pair for span in self.item.chosen for pair in (("start", span.start), ("end", span.end))]
        return f"{self.base}/?{urlencode([('doc', self.item.doc_id), *parts])}"

    def event(self) -> dict[str, Any]:
        """Open WebUI's source event. It shows the text of a source as Markdown."""
        about = {"source": self.url, "name": self.name, "source_url": self.url, "external": True}
        source = {"name": self.name, "url": self.url}
        return {
            "type": "source",
            "data": {"source": source, "document": [as_text(laid_out(self.item.text))], "metadata": [about]},
        }


@dataclass(slots=True)
class Written:
    """An answer as it is written: its text in pieces, and where the numbers of quotes stand."""

    quotes: Sequence[Quote]
    links: bool = False
    text: str = ""
    annotations: list[dict[str, Any]] = field(default_factory=list)

    def add(self, text: str) -> str:
        """Append text without numbers, escaped, since anybody may have written it; returns what was appended."""
        written = as_text(text)
        self.text += written
        return written

    def number(self, quote: Quote) -> str:
        """Append the number of a quote, with its annotation; returns what was appended."""
        mark = f"[{quote.number}]({quote.url})" if self.links else f"[{quote.number}]"
        lead = "" if self.text.endswith("]") or not self.text else " "
        start = len(self.text) + len(lead)
        self.text += lead + mark
        citation = {
            "url": quote.url,
            "title": quote.name,
            "start_index": start,
            "end_index": start + len(mark),
        }
        self.annotations.append({"type": "url_citation", "url_citation": citation})
        return lead + mark


def numbered(result: Answer | Refusal, base: str) -> list[Quote]:
    """The quotes in the order in which they are shown."""
    return [Quote(number, item, base) for number, item in enumerate(result.quotes, 1)]


def written(result: Answer | Refusal, into: Written) -> Iterator[str]:
    """Yield the reply piece by piece, numbers among them.

    Quotes are numbered behind the sentences that `citing.cited` gives them. Where untrusted documents are quoted apart,
    each line has the numbers of the quotes in it.
    """
    result = for_strangers(result)
    if result.trace.read_as:
        yield into.add(TOGETHER)
    if result.trace.notice:
        yield into.add(f"({result.trace.notice})\n\n")
    if isinstance(result, Refusal):
        yield into.add(result.detail)
        return
    if result.weak:
        yield into.add(WEAK)
    ended = in_order(part.result for part in result.sub_answers if isinstance(part.result, Answer))
    answers = list({answer.text: answer for answer in ended or [result]}.values())
    if not any(map(untrusted_part, answers)):
        yield from _sentences(result.text, into, into.quotes)
        return
    for row, answer in enumerate(answers):
        if row:
            yield into.add("\n\n")
        own = [quote for quote in into.quotes if quote.item.trust is answer.trust]
        if others := untrusted_part(answer):
            yield from _testimony(others, into, own)
        else:
            yield from _sentences(answer.text, into, own)
    if reasons := result.text.removeprefix("\n\n".join(answer.text for answer in answers)):
        yield into.add(reasons)


def _sentences(text: str, into: Written, quotes: Sequence[Quote]) -> Iterator[str]:
    for piece, rows in cited(text, [quote.item for quote in quotes]):
        sentence = piece.rstrip()
        yield into.add(sentence)
        for row in rows:
            yield into.number(quotes[row])
        if space := piece[len(sentence) :]:
            yield into.add(space)


def _testimony(others: Others, into: Written, quotes: Sequence[Quote]) -> Iterator[str]:
    """The text of `rag.saying`, line by line."""
    yield into.add(saying.intro_text(others))
    for claim in others.claims:
        for row, (line, statements) in enumerate(saying.lines(claim, shown_source)):
            yield into.add(("\n" if row else "\n\n") + line)
            spans = {item.span for statement in statements for item in statement.highlights}
            for quote in quotes:
                if quote.item.span in spans:
                    yield into.number(quote)


def usage(spent: Usage) -> dict[str, int]:
    """What an answer has cost."""
    return {
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "total_tokens": spent.prompt_tokens + spent.completion_tokens,
    }


def about(result: Answer | Refusal) -> dict[str, Any]:
    """Fields that OpenAI's form has no place for."""
    if isinstance(result, Refusal):
        return {"refused": True, "reason": result.reason.value}
    untrusted = {} if result.trust is Trust.TRUSTED else {"trust": result.trust.value}
    return {"refused": False, "reason": None} | untrusted


@dataclass(frozen=True, slots=True)
class Form:
    """The envelope of one reply."""

    model: str
    reply_id: str = field(default_factory=lambda: f"{REPLY}{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(
        self, text: str, annotations: list[dict[str, Any]], spent: Usage, said: dict[str, Any]
    ) -> dict[str, Any]:
        """The reply in one piece."""
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": annotations}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return self._head("chat.completion") | {"choices": [choice], "usage": usage(spent), "equipoise": said}

    def chunk(self, delta: dict[str, Any], finish: str | None = None, **extra: object) -> dict[str, Any]:
        """One piece of a stream."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return self._head("chat.completion.chunk") | {"choices": [choice]} | extra

    def last(self, spent: Usage) -> dict[str, Any]:
        """The piece with what the stream has cost."""
        return self._head("chat.completion.chunk") | {"choices": [], "usage": usage(spent)}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.reply_id, "object": kind, "created": self.created, "model": self.model}
