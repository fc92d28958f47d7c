"""Events that tell whoever waits how far a question is answered: sent by the server and by `Library.astream`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equipoise.core.results import Answer, Refusal, SubAnswer
from equipoise.text.sentences import sentence_spans

AFTER = {"rerank": "retrieved", "filter": "retrieved", "highlight": "filtered", "canonicalize": "highlighted"}
"""For each stage the event that is told when it begins: what comes before it is done."""
_OF_PART = (
    "refused", "reason", "detail", "weak", "trust", "others", "read_as", "spelling", "notice", "unheard",
    "highlights", "best_first", "nearest",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """`name` is retrieved, filtered, highlighted, quotes, answer, done or error. `data` is its JSON: of `quotes` the
    parts of the message with their quotes, of `answer` the next checked sentence, of `done` the whole result."""

    name: str
    data: dict[str, Any]
    answers: tuple[SubAnswer, ...] = ()
    result: Answer | Refusal | None = None


def as_dict(result: Answer | Refusal) -> dict[str, Any]:
    """The result as `equipoise ask --json` prints it."""
    return result.to_dict()


@dataclass(slots=True)
class Teller:
    """An Observer that makes events of what it is told, each of which goes to `tell`; `view` is a result as JSON."""

    tell: Callable[[Event], None]
    view: Callable[[Answer | Refusal], Mapping[str, Any]] = as_dict
    _said: set[str] = field(default_factory=set)

    def stage(self, name: str) -> None:
        if (done := AFTER.get(name)) and done not in self._said:
            self._said.add(done)
            self.tell(Event(done, {}))

    def quotes(self, answers: Sequence[SubAnswer]) -> None:
        self.tell(Event("quotes", {"parts": [self._part(answer) for answer in answers]}, tuple(answers)))

    def ended(self, result: Answer | Refusal, text: str) -> None:
        """The checked answer sentence by sentence, and the whole result; `text` is what of the answer is shown."""
        for piece in in_sentences(text):
            self.tell(Event("answer", {"text": piece}))
        self.tell(Event("done", dict(self.view(result)), result=result))

    def _part(self, answer: SubAnswer) -> dict[str, Any]:
        view = self.view(answer.result)
        return {"question": answer.question} | {name: view[name] for name in _OF_PART}


def in_sentences(text: str) -> list[str]:
    """The text cut at the ends of its sentences; joined, the pieces are the text."""
    ends = [*[end for _, end in sentence_spans(text)][:-1], len(text)]
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]
