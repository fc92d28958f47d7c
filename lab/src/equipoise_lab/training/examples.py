"""What a highlighter learns from: questions, texts, and the gold passages in them.

A file is JSON Lines. A row has `question`, `text`, and

- `passages`: [[start, end], ...], character offsets of the gold passages in `text`;
- `answers`: the same for short answers, where they are known;
- `document`: an id. Held-out rows are drawn by document, so rows of one document share it. Default: the text.

A row with neither passages nor answers is a question that its text does not answer. Any other field is an error,
so that a misspelt name makes no such row.

Rows of RepliQA as published (`document_id`, `document_extracted`, `question_id`, `question`, `answer`,
`long_answer` and more) are read too. `equipoise_lab.text.repliqa` says which of them their document answers; the gold
passage is `long_answer`, looked up in the document. A row whose labels contradict each other, or whose passage
does not stand in its document, is left out, with a warning that names it and one that counts. Where there is no
such file, the names `repliqa_0` to `repliqa_4` stand for the published splits (extra `datasets`).
"""

import hashlib
import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Literal

from equipoise.core.errors import InputError
from equipoise.text.align import Method, align
from equipoise.text.sentences import sentence_spans
from equipoise_lab.text import repliqa
from equipoise_lab.text.whole_words import cuts_a_word, place
from equipoise_lab.training.extras import library

Offsets = tuple[int, int]
Target = Literal["passage", "answer"]

LOG = logging.getLogger("equipoise")

REPLIQA = "ServiceNow/repliqa"

FIELDS = ("question", "text", "document", "passages", "answers")
"""Of a row that is not RepliQA's."""


@dataclass(frozen=True, slots=True)
class Example:
    """One question about one text; without passages and answers the text does not answer it."""

    question: str
    text: str
    document: str
    passages: tuple[Offsets, ...] = ()
    answers: tuple[Offsets, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the text answers it."""
        return bool(self.passages or self.answers)

    def targets(self, target: Target) -> tuple[Offsets, ...]:
        """What is to be found: the passages (else the sentences of the answers), or the answers (else the
        passages)."""
        if target == "answer":
            return self.answers or self.passages
        if self.passages:
            return self.passages
        return tuple(
            (start, end)
            for start, end in sentence_spans(self.text)
            if any(start < b and a < end for a, b in self.answers)
        )


def read_examples(paths: Sequence[Path]) -> list[Example]:
    """All rows of the files but those that the log says are left out. Raises InputError that names file and line."""
    return [
        example
        for path in paths
        for example in _kept(str(path), _split(path.name) if _is_split(path) else _read(path))
    ]


def fingerprint(path: Path) -> str:
    """What tells the content of a file of examples from another: its sha256, or the name of a RepliQA split."""
    return path.name if _is_split(path) else hashlib.sha256(path.read_bytes()).hexdigest()


def held_out(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """(train, held out): documents are drawn until they hold `share` of the examples.

    Raises InputError where all examples are of one document.
    """
    documents = sorted({example.document for example in examples})
    if len(documents) < 2:
        raise InputError("all examples are of one document, so none can be held out: name a --held-out file")
    Random(seed).shuffle(documents)
    kept: set[str] = set()
    for document in documents[:-1]:
        if sum(example.document in kept for example in examples) >= share * len(examples) and kept:
            break
        kept.add(document)
    return [e for e in examples if e.document not in kept], [e for e in examples if e.document in kept]


def foreign(examples: Sequence[Example], share: float, seed: int) -> list[Example]:
    """So large a share of the answerable examples, each with a text of another document: not answerable."""
    asked = [example for example in examples if example.answerable]
    random = Random(seed)
    made = []
    for example in random.sample(asked, round(share * len(asked))):
        others = [other for other in examples if other.document != example.document]
        if others:
            made.append(replace(example, text=random.choice(others).text, passages=(), answers=()))
    return made


def _kept(name: str, outcomes: Iterable[tuple[str, Example | str]]) -> Iterator[Example]:
    """The examples of (row, example or why there is none); the log names what is left out, and counts it."""
    reasons: Counter[str] = Counter()
    total = 0
    for row, example in outcomes:
        total += 1
        if isinstance(example, Example):
            yield example
        else:
            LOG.warning("%s, %s: left out: %s", name, row, example)
            reasons[example] += 1
    if reasons:
        counts = ", ".join(f"{number} because {reason}" for reason, number in reasons.most_common())
        LOG.warning("%s: %d of %d rows are left out: %s", name, reasons.total(), total, counts)


def _read(path: Path) -> Iterator[tuple[str, Example | str]]:
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error}): name a file of JSON Lines") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield f"line {number}", _example(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise InputError(
                    f"{path}, line {number}: no training example ({type(error).__name__}: {error}); a row needs "
                    "question, text, and passages or answers as [[start, end], ...]"
                ) from None


def _is_split(path: Path) -> bool:
    return re.fullmatch(r"repliqa_[0-4]", str(path)) is not None and not path.exists()


def _split(name: str) -> Iterator[tuple[str, Example | str]]:
    """A published split of RepliQA."""
    datasets = library("datasets", "datasets")
    try:
        rows = datasets.load_dataset(REPLIQA, split=name)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the split {name} of {REPLIQA} cannot be fetched ({error}): name a file of it"
        ) from None
    for row in rows:
        try:
            yield f"question {row.get('question_id')}", _repliqa(row)
        except KeyError as error:
            raise InputError(
                f"the split {name} of {REPLIQA} has another schema: {error} is missing; name a file of it"
            ) from None


def _example(row: Mapping[str, Any]) -> Example | str:
    if "document_extracted" in row:
        return _repliqa(row)
    if unknown := [name for name in row if name not in FIELDS]:
        raise ValueError(f"unknown field {unknown[0]!r}")
    text = str(row["text"])
    document = row.get("document") or hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    passages, answers = (_spans(row.get(kind, []), text) for kind in ("passages", "answers"))
    return Example(str(row["question"]), text, str(document), passages, answers)


def _spans(pairs: Sequence[Sequence[int]], text: str) -> tuple[Offsets, ...]:
    spans = tuple((int(start), int(end)) for start, end in pairs)
    for start, end in spans:
        if not 0 <= start < end <= len(text):
            raise ValueError(f"[{start}, {end}] is not inside the text of {len(text)} characters")
    return spans


def _repliqa(row: Mapping[str, Any]) -> Example | str:
    """The example of a published row, or why there is none."""
    text, answer, long_answer = (
        str(row[name] or "") for name in ("document_extracted", "answer", "long_answer")
    )
    example = Example(str(row["question"]), text, str(row["document_id"]))
    answerable = repliqa.label(answer, long_answer, text)
    if answerable is None:
        return "its labels contradict each other"
    if not answerable:
        return example
    passage = _place(repliqa.passage(long_answer), text, (0, len(text)))
    if passage is None:
        return "its long_answer does not stand in its document"
    short = _place(answer, text, passage)
    return replace(example, passages=(passage,), answers=(short,) if short else ())


def _place(words: str, text: str, within: Offsets) -> Offsets | None:
    """Where `words` stand within those offsets, as whole words; None where nowhere."""
    start, end = within
    exact = place(words.strip(), text[start:end])
    if exact is not None:
        return start + exact, start + exact + len(words.strip())
    match = align(words, text, start, end)
    if match is None or (match.method != Method.FUZZY and cuts_a_word(text, match.start, match.end)):
        return None
    return match.start, match.end
