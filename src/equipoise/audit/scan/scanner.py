"""`scan`: documents in, findings out. Nothing here reads a file or asks a model.

A text is looked at as a whole, so that what stands across the border of two sentences is found as well: every
admissible highlight is a run of whole sentences, and a finding lies in the highlights that hold its sentences.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import PurePosixPath

from equipoise.audit.scan import characters, data_rules, encoded, markup, personal, secrets
from equipoise.audit.scan.copies import Paragraph, Paragraphs, is_same
from equipoise.audit.scan.findings import (
    Finding,
    Hit,
    NotRun,
    Reach,
    Report,
    with_fingerprints,
    worst_first,
)
from equipoise.audit.scan.rules import Rules, only
from equipoise.audit.scan.words import Words, read_words
from equipoise.core.errors import MissingExtra
from equipoise.core.types import Document
from equipoise.corpus.whole import WholeText
from equipoise.text.outline import headings_at, paragraph_at
from equipoise.text.visible import flowing

EXCERPT = 200
"""Characters of an excerpt."""
MOST_OTHERS = 20
COPIES_NEAR, COPIES_SAME = "copies/near", "copies/same"
FOLLOWING, NEXT = 100, 4
"""Characters behind a hit that are looked at, and words of them that count."""
LEFT_OUT, TEXT_LAYER = "hidden/left-out", "hidden/text-layer"


@dataclass(frozen=True, slots=True)
class Scanned:
    """A document to look at. `whole` is the text of its file with what a loader left out, empty where that is not at
    hand; of several documents of a file one has it. `hidden` and `invisible` count characters, as `LoadedDocument`."""

    document: Document
    whole: Sequence[WholeText] = ()
    hidden: int = 0
    invisible: int = 0


Progress = Callable[[int, str], None]
"""(documents done, source of the next)."""
Detector = Callable[[str], Iterator[Hit]]


def scan(
    documents: Iterable[Scanned],
    rules: Rules,
    *,
    progress: Progress | None = None,
) -> Report:
    """All findings of `rules` in `documents`, a function of both.

    Detectors whose extra is not installed are named in `Report.not_run`.
    """
    work = Scan(rules)
    for number, scanned in enumerate(documents):
        if progress:
            progress(number, scanned.document.source)
        work.take(scanned)
    return work.report()


@dataclass(slots=True)
class Scan:
    """A running scan: documents are taken one after the other and need not be kept."""

    rules: Rules
    findings: list[Finding] = field(default_factory=list)
    sentences: int = 0
    _instructions: Rules = field(init=False)
    _paragraphs: Paragraphs = field(default_factory=Paragraphs)
    _sources: list[tuple[str, str]] = field(default_factory=list)
    _not_run: dict[str, NotRun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._instructions = only(self.rules, encoded.GROUPS)

    def take(self, scanned: Scanned) -> None:
        """Look at a document."""
        document = scanned.document
        words = read_words(document.text)
        hits = list(self._in_text(document.text, words))
        self.findings += [self._finding(document, hit) for hit in hits if hit.rule in self.rules]
        self.findings += self._in_title(document)
        self.findings += self._hidden(scanned, hits)
        if COPIES_NEAR in self.rules or COPIES_SAME in self.rules:
            self._paragraphs.add(len(self._sources), document, words)
        self._sources.append((document.doc_id, document.source))
        self.sentences += len(document.sentences)

    def report(self) -> Report:
        """What was found, the worst first."""
        findings = [*self.findings, *self._copies()]
        return Report(
            worst_first(with_fingerprints(findings)),
            len(self._sources),
            self.sentences,
            tuple(self._not_run.values()),
        )

    def _in_text(self, text: str, words: Words) -> Iterator[Hit]:
        yield from self._everywhere(text, words)
        yield from markup.find(text)
        yield from personal.emails(text)
        for name, find in (("secrets", secrets.find), ("personal data", personal.find)):
            yield from self._with_extra(name, find, text)

    def _everywhere(self, text: str, words: Words) -> Iterator[Hit]:
        """What is looked for in hidden text too."""
        yield from data_rules.find(text, words, self.rules)
        yield from encoded.of_tags(characters.find(text), text, self._instructions)
        yield from encoded.find(text, words, self._instructions)

    def _with_extra(self, name: str, find: Detector, text: str) -> Iterator[Hit]:
        if name in self._not_run:
            return
        try:
            yield from find(text)
        except MissingExtra as error:
            self._not_run[name] = NotRun(name, str(error))

    def _in_title(self, document: Document) -> Iterator[Finding]:
        for text in dict.fromkeys((document.title, PurePosixPath(document.source).name)):
            for hit in data_rules.find(text, read_words(text), self.rules):
                yield replace(
                    self._finding(document, Hit(hit.rule, 0, 0, hit.detail)),
                    reach=Reach.TITLE,
                    excerpt=_excerpt(text, 0, len(text)),
                    fingerprint=_key(text, hit),
                )

    def _hidden(self, scanned: Scanned, seen: Iterable[Hit]) -> Iterator[Finding]:
        """What stands in the file and not in what is indexed."""
        for rule, count in ((LEFT_OUT, scanned.hidden), (TEXT_LAYER, scanned.invisible)):
            if count and rule in self.rules:
                finding = self._finding(scanned.document, Hit(rule, 0, 0, f"{count:,} characters."))
                yield replace(finding, reach=Reach.HIDDEN, excerpt="", line=None, headings=(), paragraph=None)
        text = scanned.document.text
        known = Counter((hit.rule, _key(text, hit), _following(text, hit)) for hit in seen)
        unknown = []
        for whole in scanned.whole:
            for hit in self._everywhere(whole.text, read_words(whole.text)):
                known[key := (hit.rule, _key(whole.text, hit), _following(whole.text, hit))] -= 1
                unknown += [(key[:2], whole, hit)] if known[key] < 0 else []
        left = Counter(
            key[:2] for key in (+known).elements()
        )  # matched without the words that follow: a tag may come between
        for where, whole, hit in unknown:
            left[where] -= 1
            if left[where] < 0 and hit.rule in self.rules:
                yield self._unseen(scanned.document, whole, hit)

    def _finding(self, document: Document, hit: Hit) -> Finding:
        rule = self.rules.by_id[hit.rule]
        return Finding(
            hit.rule,
            rule.severity,
            _reach(document, hit.start, hit.end),
            document.doc_id,
            document.source,
            hit.start,
            hit.end,
            _excerpt(document.text, hit.start, hit.end),
            f"{rule.why} {hit.detail}".strip(),
            document.page_at(hit.start),
            document.line_at(hit.start),
            headings_at(document, hit.start),
            paragraph_at(document, hit.start),
            hit.others,
            _key(document.text, hit),
        )

    def _unseen(self, document: Document, whole: WholeText, hit: Hit) -> Finding:
        finding = self._finding(document, Hit(hit.rule, 0, 0, hit.detail))
        return replace(
            finding,
            severity=finding.severity.raised,
            reach=Reach.HIDDEN,
            start=hit.start,
            end=hit.end,
            excerpt=_excerpt(whole.text, hit.start, hit.end),
            why=f"{finding.why} A reader would not see it.",
            page=whole.page,
            line=whole.text.count("\n", 0, hit.start) + 1 if whole.has_lines else None,
            headings=(),
            paragraph=None,
            fingerprint=_key(whole.text, hit),
        )

    def _copies(self) -> Iterator[Finding]:
        for members in self._paragraphs.groups():
            rule = COPIES_SAME if is_same(members) else COPIES_NEAR
            if rule in self.rules:
                yield self._copied(rule, members)

    def _copied(self, rule: str, members: Sequence[Paragraph]) -> Finding:
        first = members[0]
        doc_id, source = self._sources[first.document]
        others = dict.fromkeys(
            self._sources[member.document][1] for member in members if member.document != first.document
        )
        return Finding(
            rule,
            self.rules.by_id[rule].severity,
            Reach.CORPUS,
            doc_id,
            source,
            first.start,
            first.end,
            first.begins,
            f"{self.rules.by_id[rule].why} {len(others) + 1} documents have it, {len(members)} times in all.",
            others=tuple(others)[:MOST_OTHERS],
            fingerprint=first.begins,
        )


def _reach(document: Document, start: int, end: int) -> Reach:
    """QUOTED where a quotable unit holds a character of it."""
    sentences = document.sentences
    low = bisect_right(sentences, start, key=itemgetter(1))
    touches = low < len(sentences) and sentences[low][0] < max(end, start + 1)
    return Reach.QUOTED if touches else Reach.SHOWN


def _excerpt(text: str, start: int, end: int) -> str:
    """text[start:end] on one line with some words around it, at most EXCERPT characters."""
    room = max(0, EXCERPT - (end - start)) // 2
    low, high = max(0, start - room), min(len(text), end + room)
    low = low if low == 0 else _to_word(text, low, start)
    line = flowing(text[low : min(high, low + EXCERPT)])
    return f"{'…' if low else ''}{line}{'…' if min(high, low + EXCERPT) < len(text) else ''}"


def _to_word(text: str, low: int, most: int) -> int:
    space = text.find(" ", low, most)
    return low if space < 0 else space + 1


def _following(text: str, hit: Hit) -> tuple[str, ...]:
    """The next words behind a hit, by which two of the same words are told apart."""
    return tuple(read_words(text[hit.end : hit.end + FOLLOWING]).words[:NEXT])


def _key(text: str, hit: Hit) -> str:
    """The words of a hit, by which it is known again in another rendering of the same text."""
    return " ".join(read_words(text[hit.start : hit.end]).words) or text[hit.start : hit.end]
