"""Which places of a document say that they correct something: an erratum, an amendment, "Berichtigung vom 21. Juli".

A title, a file's name, a heading, or the beginning of a paragraph says so, a sentence that replaces a section, or one
that owns to a mistake ("sorry, we got the date wrong"). Texts about corrections ("Corrections policy", "Error
correction codes", "Correction of errors") do not. A notice that sets one amount against another ("please note: the fee
in section 2 is 80, not 60") may be one: what has the wrong amount tells.
"""

import re
from datetime import date
from itertools import takewhile
from pathlib import PurePosixPath

from equipoise.core.types import Document
from equipoise.text.mails import says_who
from equipoise.text.months import NUMBERS
from equipoise.text.outline import headings_at

HEAD = 600
"""Characters in which a document says what it is."""
_LOOK = 300  # characters of a block that say what it is
_INTROS = 5
NOTE = 1_200
"""Most characters of a document that may be a note about the documents beside it."""
_TARGET = 80  # characters behind "this corrects" that say what
_KIND = (
    r"(?:corrections?|corrected|corrigend(?:um|a)|errat(?:um|a)|amendments?|addend(?:um|a)|berichtigung(?:en)?|berichtigt"
    r"|korrektur(?:en)?|korrigiert|korrigend(?:um|a)|richtigstellung|nachtrag|änderungssatzung|rectificatif|erratas?)"
)
_SURE = r"(?:corrigend(?:um|a)|errat(?:um|a)|berichtigung|korrigend(?:um|a)|richtigstellung|rectificatif)"
_NAMED = "|".join(NUMBERS)
_WHAT = (
    rf"(?=\W*\Z|\s*[:–—(\[,]|\s-\s|\s+(?:\d|no\b|nr\b|to\b|of\s+(?:the|our|my|this|\d|{_NAMED})|from\b|dated\b|on\b|in\b|vom\b"
    r"|am\b|im?\b|zu[mr]?\b|de[rs]\b|du\b))"
)
_ORDER = r"(?:(?:first|second|third|erste|zweite|dritte|\d{1,2}(?:st|nd|rd|th|\.)?)\s+)?"
_REPLY = r"(?:(?:re|aw|wg|fwd?)\s*:\s*)"
_REPLIES = re.compile(rf"\W*{_REPLY}+", re.IGNORECASE)
_TITLE = re.compile(rf"\W*{_REPLY}*{_ORDER}{_KIND}{_WHAT}", re.IGNORECASE)
_LEAD = re.compile(rf"\W*{_KIND}{_WHAT}[^:\n]{{0,60}}:(?=\s)", re.IGNORECASE)
_PART = (
    r"(?:section|clause|article|rule|paragraph|point|item|chapter|table|§|abschnitt|ziffer|artikel|absatz|punkt"
    r"|regel)"
)
_DOES = r"(?:replaces?|corrects?|amends?|supersedes?|ersetzt|berichtigt|korrigiert)"
_DONE = (
    r"(?:(?:is|are|was|were|be|been|wird|wurde)\s(?:[^.!?\n]{0,30}\s)?(?:replaced|corrected|amended|superseded|ersetzt"
    r"|berichtigt|korrigiert)|(?:shall|should|must)\sread|lautet\s(?:nun|richtig|neu|künftig))"
)
_REPLACED = re.compile(
    rf"\b{_DOES}\s++(?:the\s++|den\s++|die\s++|das\s++)?+{_PART}\s*+\d"
    rf"|(?<!\w){_PART}\s*+\d[\w.]{{0,9}}[^.!?\n]{{0,60}}?\s{_DONE}\b",
    re.IGNORECASE,
)
_SAYS = re.compile(rf"\b{_KIND}\b", re.IGNORECASE)
_THIS = re.compile(
    r"\b(?:this|the following|dies\w{0,2}|folgend\w{0,2})\s+(?:\w+\s+){0,2}(?:corrects|amends|berichtigt|korrigiert)\b"
    rf"|\bthis is an?\s+{_KIND}\b|\bdies ist eine?\s+{_KIND}\b",
    re.IGNORECASE,
)
_SORRY = re.compile(
    r"\b(?:sorry|apologi[sz]e|apologies|my mistake|our mistake|entschuldigung|entschuldigen|verzeihung)\b[^\n]{0,80}?"
    r"\b(?:wrong|wrongly|mistakes?|errors?|misprints?|falsche?[nrs]?|fehler|irrtum|irrtümlich|versehentlich)\b",
    re.IGNORECASE,
)
_NOTICE = re.compile(
    rf"(?<!\w){_PART}\s*\d|\b(?:note|notice|n\.b\.|correct|wrong|wrongly|incorrect|incorrectly|mistakes?|errors?"
    r"|misprints?|typos?|sorry|should (?:be|read|say)|must (?:be|read)|ought to|replace|read|beachten|beachtet|hinweis"
    r"|falsch|falsche?[nrs]?|fehler|druckfehler|tippfehler|irrtümlich|versehentlich|richtig|muss|soll|ersetzt|ersetzen)\b",
    re.IGNORECASE,
)
_AMOUNT = r"(\d+(?:[.,:]\d+)*)"
AMOUNT = re.compile(_AMOUNT)
"""An amount, or a date as `with_days` writes it."""
_OF = r"\s++((?:[^\W\d]++\s++|[€$£]\s?){0,2})"
_AGAINST = (
    rf"\b(?:not|instead of|rather than|in place of|statt|anstatt|anstelle von|nicht){_OF}{_AMOUNT}"
    rf"|\bread\s+[€$£]?\d[\d.,:]*+(?:\s[^\W\d]+)?\s+for{_OF}{_AMOUNT}"
    rf"|\b(?:replace|zahl|wert|betrag)\s+(){_AMOUNT}(?:\s[^\W\d]+)?\s+(?:by|with|durch)\s"
)
_SET_AGAINST = re.compile(_AGAINST, re.IGNORECASE)
_WRONG = re.compile(rf"{_AGAINST}|\b(?:wrongly|from|von|fälschlich){_OF}{_AMOUNT}", re.IGNORECASE)
_FILE = re.compile(rf"(?:{_KIND}(?![^\W\d])|(?:.*[\W_])?{_SURE})(?:[\W\d_]|\Z)", re.IGNORECASE)
_SECTION = re.compile(
    rf"(?<!\w)(?:{_PART}|no\.|nr\.|nummer|kapitel)\s*(\d{{1,3}}(?:\.\d{{1,3}})*)", re.IGNORECASE
)
_NUMBERED = re.compile(rf"\W*(?:{_PART}\s*)?(\d{{1,3}}(?:\.\d{{1,3}})*)(?=[.)\s:]|\Z)", re.IGNORECASE)
_YEAR = r"(?:,?\s+(?P<y>\d{4}))?"
_DATES = (
    re.compile(r"(?<!\d)(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?!\d)"),
    re.compile(r"(?<!\d)(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})(?!\d)"),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?P<m>{_NAMED})\b,?(?:\s+(?P<y>\d{{4}}))?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<m>{_NAMED})\s+(?P<d>\d{{1,2}})\b(?:st|nd|rd|th)?,?(?:\s+(?P<y>\d{{4}}))?", re.IGNORECASE
    ),
)
_NO_YEAR = 1
DAY = re.compile(r"(?<![\d:])\d+:\d+:0:0(?![\d:])")
"""A date as `with_days` writes it."""


def correction_words_in_name(source: str, title: str) -> str:
    """The title or file name where that says that a document is a correction; empty for others."""
    if _TITLE.match(title[:_LOOK]):
        return title[:_LOOK]
    stem = PurePosixPath(source.rpartition("#")[2]).stem
    return stem if _FILE.match(stem) else ""


def correction_words_of(document: Document) -> str:
    """The words with which a whole document says that it is a correction; empty for others."""
    if said := correction_words_in_name(document.source, document.title):
        return said
    found = _THIS.search(document.text, 0, HEAD)
    return (
        document.text[found.start() : found.end() + _TARGET].partition("\n")[0].partition(". ")[0]
        if found
        else ""
    )


def replied_to(title: str) -> str:
    """What a mail that replies to another, or hands it on, has as its subject; empty for others."""
    found = _REPLIES.match(title[:_LOOK])
    return title[found.end() : _LOOK] if found else ""


def own_text_end(document: Document) -> int:
    """The offset at which a mail begins to quote earlier ones, if within its first NOTE characters; else its end."""
    near = takewhile(lambda block: block.start <= NOTE, document.blocks)
    below = (block.start for block in near if says_who(document.text[block.start : block.end]))
    return next(below, len(document.text))


def correction_words_at(document: Document, offset: int) -> str:
    """The words with which the place at `offset` of a document says that it is part of a correction: the document's,
    those of a heading above it, or of the paragraph that it stands in or is introduced by; empty for others."""
    if said := correction_words_of(document):
        return said
    if heading := next(filter(_TITLE.match, headings_at(document, offset)), ""):
        return heading
    row = document.block_row(offset)
    for _ in range(_INTROS):
        if row < 0:
            break
        block = document.blocks[row]
        text = document.text[block.start : min(block.end, block.start + _LOOK)].strip()
        if found := _LEAD.match(text) or _REPLACED.search(text) or _SORRY.search(text):
            return found[0]
        row = block.intro
    return ""


def wrong_in(text: str, *, surely: bool) -> tuple[tuple[str, str], ...]:
    """(words, amount) for each amount that a sentence says is wrong; the words say what it is an amount of. In a text
    that is `surely` a correction, amounts after "from" or "wrongly" count, too."""
    found = (_WRONG if surely else _SET_AGAINST).finditer(text)
    return tuple(
        (of, amount) for of, amount in ([part for part in one.groups() if part is not None] for one in found)
    )


def is_notice(document: Document, start: int, end: int) -> bool:
    """Whether a sentence sets one amount against another where its paragraph speaks of what is wrong or to be noted, or
    names a section: it may be a correction."""
    if not wrong_in(document.text[start:end], surely=False):
        return False
    row = document.block_row(start)
    begin = document.blocks[row].start if row >= 0 else start
    return _NOTICE.search(document.text, max(begin, end - _LOOK), end) is not None


def contrasted_amounts(text: str) -> frozenset[str]:
    """The amounts that a short text sets another against where it speaks of what is wrong or to be noted."""
    if not (_SET_AGAINST.search(text) and _NOTICE.search(text)):
        return frozenset()
    return frozenset(amount for _, amount in wrong_in(with_days(text), surely=False))


def amounts_in(text: str) -> frozenset[str]:
    """The amounts of a text, its dates among them as `DAY`."""
    return frozenset(AMOUNT.findall(with_days(text)))


def without_correction_label(sentence: str) -> str:
    """A sentence of a correction without what it begins with ("Correction of 21 July: ")."""
    found = _LEAD.match(sentence)
    return sentence[found.end() :] if found else sentence


def sections_named(text: str) -> frozenset[str]:
    """The numbers of sections that a text names."""
    return frozenset(_SECTION.findall(text))


def without_places(text: str) -> str:
    """A text without what says that it corrects, and without numbers that are dates or places in a document."""
    return DAY.sub(" ", with_days(text))


def with_days(text: str) -> str:
    """As `without_places`, with each date as one amount, whatever its form and year (`DAY`)."""
    for pattern in (_SAYS, _SECTION):
        text = pattern.sub(" ", text)
    for pattern in _DATES:
        text = pattern.sub(_coded, text)
    return text


def _coded(found: re.Match[str]) -> str:
    return f" {int(found['d'])}:{_month(found['m'])}:0:0 "


def _month(name: str) -> int:
    return int(name) if name.isdigit() else NUMBERS[name.lower()]


def number_of(text: str) -> str:
    """The number that a heading or an item begins with; empty for none."""
    found = _NUMBERED.match(text[:_LOOK])
    return found[1] if found else ""


def day_in(text: str) -> date | None:
    """The first day that a text names, in the year 1 where it names none."""
    for pattern in _DATES:
        if found := pattern.search(text[:_LOOK]):
            try:
                return date(int(found["y"] or _NO_YEAR), _month(found["m"]), int(found["d"]))
            except ValueError:
                continue
    return None
