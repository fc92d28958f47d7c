"""What corrects what among the passages that were found: a sentence of a part that calls itself a correction corrects
the sentence that it is most like, in its own document or in one beside it. A notice that sets one amount against
another ("please note: the fee in section 2 is 80, not 60") corrects only what has the wrong one.

As with versions, nobody corrects another's document: only one of the same trust and author (`have_same_author`). A
correction that names another document corrects no third one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import PurePosixPath

from equipoise.core.documents import Corrected
from equipoise.core.metadata import DATE, day
from equipoise.core.types import Candidates, Document, Passage, Trust
from equipoise.text import corrections
from equipoise.text.function_words import FUNCTION_WORDS
from equipoise.text.outline import headings_at
from equipoise.text.tokens import STOP_WORDS, words

LIKE = 0.5
"""The least share (0 to 1) of a correction's words that the corrected sentence or its headings must have, too."""
LEAST = 2
"""Least number of words and wrong values that both must have in common."""
_PREFIX = 5  # letters by which two words of a name are one ("Preise", "Preisliste")
_SAYING = frozenset(
    "correct corrects correctly replace replaced replaces following amended read reads instead wrong wrongly error "  # noqa: SIM905
    "mistake previous section rule rules clause article paragraph item point notice document mail please note sorry "
    "richtig ersetzt lautet lauten heißen muss fehler abschnitt ziffer artikel absatz punkt regel falsch bitte "
    "beachten hinweis zahl wert betrag eur dr prof mr mrs herr frau".split()
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence among the candidates: its words and amounts, the words above it, and whether it corrects others."""

    document: Document
    start: int
    end: int
    correction_words: str  # the words that make it part of a correction, empty for others
    is_notice: bool  # whether it only sets an amount against another, in a notice
    day: date | None
    words: frozenset[str]
    context_words: frozenset[str]
    amounts: frozenset[str]
    days: frozenset[str]
    wrong_amounts: frozenset[str]  # amounts that it says to be wrong
    amount_words: frozenset[str]  # words that say what these are amounts of
    sections: frozenset[str]  # numbers of the sections that it stands in or, as a correction, names

    def share(self, other: "_Sentence") -> float:
        """The share of its words that the other has with its headings; 0 for too few."""
        both = len(self.words & (other.words | other.context_words)) + (
            not self.is_notice and self.contradicts(other)
        )
        return both / max(1, len(self.words)) if both >= LEAST and self.words & other.words else 0.0

    def contradicts(self, other: "_Sentence") -> bool:
        """Whether the other has an amount that this one says to be wrong."""
        return (
            bool(self.wrong_amounts & ((other.amounts | other.days) - other.wrong_amounts))
            and self.amount_words <= other.words | other.context_words
        )

    def denies(self, other: "_Sentence") -> bool:
        """Whether the other has all its words, and an amount that this one says to be wrong."""
        return self.contradicts(other) and self.words <= other.words | other.context_words

    def agrees_with(self, other: "_Sentence") -> bool:
        """Whether the other has the right values already."""
        values = other.amounts | (other.days if self.days else frozenset())
        right = (self.amounts | self.days) - self.wrong_amounts
        return values <= right and (bool(values) or other.words >= self.words)

    def restates(self, other: "_Sentence") -> bool:
        """Whether it says all that the other says, amounts aside."""
        has_values = other.amounts or (self.days and other.days)
        return bool(has_values) and other.words <= self.words


def find_corrections(candidates: Candidates) -> dict[str, tuple[Corrected, ...]]:
    """The corrected sentences of each document, by its id. A correction is matched within its own document and, where
    this has nothing like it, with those beside it."""
    classified = dict(_classified_sentences(candidates))
    if not any(map(any, classified.values())):
        return {}
    sentences = [
        _sentence(candidates.documents[key], start, end, *kind)
        for (key, start, end), kind in classified.items()
    ]
    correctable = {
        key: _correctable_ids(document, candidates.documents)
        for key, document in candidates.documents.items()
    }
    found: dict[str, set[Corrected]] = {}
    for one in sentences:
        if not one.correction_words and not one.is_notice:
            continue
        mine = one.document
        known = correctable[mine.doc_id] | {mine.doc_id}
        pool = [
            other for other in sentences if _may_concern_document(one, other, known) and _corrects(one, other)
        ]
        for other in _sentences_corrected_by(one, pool):
            if one.agrees_with(other):
                continue
            mark = Corrected(
                other.start, other.end, mine.doc_id, mine.source, one.start, one.end, one.restates(other)
            )
            found.setdefault(other.document.doc_id, set()).add(mark)
    return {key: tuple(sorted(marks)) for key, marks in found.items()}


def without_copies(candidates: Candidates, marks: Mapping[str, Sequence[Corrected]]) -> Candidates:
    """The candidates without the sentences that a correcting mail quotes of the one it corrects: the original is read,
    not the copy."""
    said: dict[str, str] = {}
    for passage in candidates.passages:
        for by in {mark.doc_id for mark in marks.get(passage.doc_id, ())} - {passage.doc_id}:
            said[by] = f"{said.get(by, '')} {' '.join(passage.text.split())}"
    passages = tuple(
        _without_quoted_copies(passage, candidates.documents[passage.doc_id], said[passage.doc_id])
        if passage.doc_id in said
        else passage
        for passage in candidates.passages
    )
    return replace(candidates, passages=passages)


def _without_quoted_copies(passage: Passage, document: Document, said: str) -> Passage:
    """A passage of a mail without the sentences that it quotes of earlier mails and that `said` has, too."""
    own = corrections.own_text_end(document) - passage.start
    units = passage.sentences or ()
    rows = [
        row
        for row, (low, high) in enumerate(units)
        if low < own or " ".join(passage.text[low:high].split()) not in said
    ]
    if len(rows) == len(units):
        return passage
    readings = tuple(passage.readings[row] for row in rows) if passage.readings else ()
    return replace(passage, sentences=tuple(units[row] for row in rows), readings=readings)


def _classified_sentences(candidates: Candidates) -> Iterator[tuple[tuple[str, int, int], tuple[str, bool]]]:
    """Every sentence of the candidates as (document id, start, end), with the words that make it part of a correction
    (empty for none) and whether it may be one without them, as a notice."""
    places: dict[tuple[str, int], str] = {}
    for passage in candidates.passages:
        document = candidates.documents[passage.doc_id]
        for low, high in passage.sentences or ():
            start, end = passage.start + low, passage.start + high
            block = (passage.doc_id, document.block_row(start))
            if block not in places:
                places[block] = corrections.correction_words_at(document, start)
            correction_words = places[block]
            yield (
                (passage.doc_id, start, end),
                (correction_words, not correction_words and corrections.is_notice(document, start, end)),
            )


def _sentence(document: Document, start: int, end: int, correction_words: str, is_notice: bool) -> _Sentence:
    text = document.text[start:end]
    headings = headings_at(document, start)
    row = document.block_row(start)
    numbered = [*headings, document.text[document.blocks[row].start : end]] if row >= 0 else headings
    told = corrections.with_days(corrections.without_correction_label(text) if correction_words else text)
    days = frozenset(corrections.DAY.findall(told))
    wrong = corrections.wrong_in(told, surely=bool(correction_words)) if correction_words or is_notice else ()
    return _Sentence(
        document,
        start,
        end,
        correction_words,
        is_notice,
        corrections.day_in(correction_words) or day(document.metadata, DATE) if correction_words else None,
        _content_words(told),
        _content_words(" ".join((document.title, *headings))),
        frozenset(corrections.AMOUNT.findall(told)) - days,
        days,
        frozenset(amount for _, amount in wrong),
        _content_words(" ".join(of for of, _ in wrong)),
        corrections.sections_named(f"{correction_words} {text}")
        if correction_words or is_notice
        else frozenset(map(corrections.number_of, numbered)),
    )


def _content_words(text: str) -> frozenset[str]:
    found = frozenset(word for word in words(text) if not word[-1].isdigit())
    return found - STOP_WORDS - FUNCTION_WORDS - _SAYING


def _may_concern_document(one: _Sentence, other: _Sentence, known: Collection[str]) -> bool:
    """Whether a correction may speak of the document of another sentence: one of `known` or, if it is a short reply,
    one beside it where the sentence has all its words and a value that it says to be wrong."""
    mine = one.document
    if other.document.doc_id in known or not (one.denies(other) and corrections.replied_to(mine.title)):
        return other.document.doc_id in known
    is_note = not corrections.correction_words_of(mine) and corrections.own_text_end(mine) <= corrections.NOTE
    return is_note and _may_correct(mine, other.document)


def _sentences_corrected_by(one: _Sentence, pool: Sequence[_Sentence]) -> Iterator[_Sentence]:
    """The sentences of `pool` that one of a correction corrects: in the earlier mails that its document quotes, and in
    the rest of its document or, where this has nothing like it, in others."""
    mine = one.document
    end = 0 if corrections.replied_to(mine.title) else corrections.own_text_end(mine)
    own = [other for other in pool if other.document is mine and other.start < end]
    quoted = [other for other in pool if other.document is mine and other.start >= end]
    yield from _closest_sentences(one, quoted)
    yield from tuple(_closest_sentences(one, own)) or _closest_sentences(
        one, [other for other in pool if other.document is not mine]
    )


def _corrects(one: _Sentence, other: _Sentence) -> bool:
    """Whether a correction may speak of another sentence: not of one in the same part of its document, of another
    correction only if that is earlier, and as a notice only of one with the value that it says to be wrong, or right.
    A mere lead-in ("sorry, I got two things wrong:") speaks of none."""
    leads = not one.wrong_amounts and one.document.text[one.start : one.end].rstrip().endswith(":")
    if leads or (
        one.document is other.document
        and (one.correction_words, one.is_notice) == (other.correction_words, other.is_notice)
    ):
        return False
    return (not other.correction_words or _is_later(one, other)) and (
        not one.is_notice or one.contradicts(other) or one.agrees_with(other)
    )


def _correctable_ids(document: Document, documents: Mapping[str, Document]) -> frozenset[str]:
    """The ids of the documents that one may correct. Others than itself only if it calls itself a correction or is
    short: those beside it or, if its words or the subject that it replies to say which, those that they name best, and
    always other corrections and its own attachments."""
    says = corrections.correction_words_of(document)
    if not says and corrections.own_text_end(document) > corrections.NOTE:
        return frozenset({document.doc_id})
    beside = [other for other in documents.values() if _may_correct(document, other)]
    wanted = _content_words(corrections.without_places(says or corrections.replied_to(document.title)))
    if not wanted:
        return frozenset(other.doc_id for other in beside)
    shares = {other.doc_id: _share_in_name(wanted, other) for other in beside if other is not document}
    best = max(shares.values(), default=0.0)
    others = (
        frozenset(key for key, share in shares.items() if share == best) if best >= LIKE else frozenset[str]()
    )
    return others | {
        other.doc_id
        for other in beside
        if corrections.correction_words_of(other) or other.source.startswith(f"{document.source}#")
    }


def _share_in_name(wanted: frozenset[str], document: Document) -> float:
    """The share of the words that stand in a document's name or beginning."""
    has = _content_words(" ".join((document.title, _stem(document), document.text[: corrections.HEAD])))
    starts = {word[:_PREFIX] for word in has}
    return sum(word[:_PREFIX] in starts for word in wanted) / len(wanted)


def _may_correct(first: Document, second: Document) -> bool:
    """Whether one document may correct the other: by whom, and where."""
    return have_same_author(first, second) and folder(first) == folder(second)


def have_same_author(first: Document, second: Document) -> bool:
    """Whether one of two documents may speak against the other: same trust and author, known if they are untrusted."""
    alike = (first.trust, first.author) == (second.trust, second.author)
    return alike and (first.trust is Trust.TRUSTED or bool(first.author))


def folder(document: Document) -> PurePosixPath:
    """The folder that a document lies in; for an attachment, that of its mail."""
    return PurePosixPath(document.source).parent


def _is_later(one: _Sentence, other: _Sentence) -> bool:
    if one.day and other.day and (one.day.year > 1) == (other.day.year > 1) and one.day != other.day:
        return one.day > other.day
    return one.document.doc_id == other.document.doc_id and one.start > other.start


def _closest_sentences(one: _Sentence, pool: Sequence[_Sentence]) -> Iterator[_Sentence]:
    """The sentences of `pool` that one of a correction corrects: those most like it, within the sections and documents
    that it names, and with the values that it says to be wrong and the day that it names, each as far as there are any;
    all of a section that it names, if none is like it."""
    inside = [other for other in pool if one.sections & other.sections]
    pool = inside or pool
    pool = [
        other for other in pool if other.context_words and _content_words(other.document.title) <= one.words
    ] or pool
    wrong = [other for other in pool if one.contradicts(other)]
    pool = [other for other in wrong if other.days & (one.days - one.wrong_amounts)] or wrong or pool
    best = max(map(one.share, pool), default=0.0)
    if best < LIKE and not (inside and (wrong or not one.wrong_amounts)):
        return
    yield from (other for other in pool if best < LIKE or one.share(other) == best)


def _stem(document: Document) -> str:
    return PurePosixPath(document.source.rpartition("#")[2]).stem
