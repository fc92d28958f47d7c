"""Takes page furniture out of a PDF: running headers, running footers, page numbers, and the raised numbers that refer
to footnotes.

Only a short line in the margin goes, and only if at least three pages have it, numbers aside, at the same height or on
most pages; or if it stands at such a height and has the words of a heading that stays in the text. So nothing else can
be made to vanish. A line that says something of the document with a number (edition, date, address) is added once at
its end.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from equipoise.corpus.loaders.lines import PageLine
from equipoise.corpus.loaders.structure import NUMBERING

LEAST_PAGES = 3
_MARGIN, _WIDE = 0.12, 0.15  # of the page's height; the wide margin is that of lines that most pages have
_OUTERMOST, _OF_MOST = 2, 3  # lines at either end of the page, in these margins
_LONGEST = 120  # characters
_LEAST_WORDS, _MOST_TOLD = 4, 4
_APART = 3.0  # sizes from one line that is added at the end to the next
_PAGE_NUMBER = re.compile(
    r"(?:(?:page|seite)\s)?+\d{1,4}+(?:\s?+(?:of|von|/)\s?+\d{1,4}+)?+\Z", re.IGNORECASE
)
_COUNTED = re.compile(r"(?:(?:pg?|s)\.|page|seite)?+\d{1,4}+(?:/\d{1,4}+)?+", re.IGNORECASE)
_ROMAN = frozenset("ivxlcdm")
_NOTE = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]++(?=\s)")
_MARK = re.compile(r"(?:(?<=[^\W\d_]{2})|(?<=[.,;:!?)”’\"'\]]))\s?+([⁰¹²³⁴⁵⁶⁷⁸⁹]++)")

_Key = tuple[str, int]


def without_furniture(
    pages: Sequence[Sequence[PageLine]], heights: Sequence[float]
) -> tuple[list[list[PageLine]], int]:
    """The lines of every page without running headers and footers, and how many of these there were; `heights` are
    those of the pages, in points."""
    if len(pages) < LEAST_PAGES:
        return [list(lines) for lines in pages], 0
    outer = [set(_outer(*page, _OUTERMOST, _MARGIN)) for page in zip(pages, heights, strict=True)]
    common = list(_on_most_pages(pages, heights))
    seen: dict[_Key, set[int]] = defaultdict(set)
    places: dict[int, set[int]] = defaultdict(set)
    for number, (lines, rows) in enumerate(zip(pages, outer, strict=True)):
        for row in rows:
            seen[_key(lines[row])].add(number)
            places[round(lines[row].base)].add(number)
    names = _names(pages, [narrow | wide for narrow, wide in zip(outer, common, strict=True)])

    def is_furniture(line: PageLine) -> bool:
        if len(seen[_key(line)]) >= LEAST_PAGES:
            return True
        return len(places[round(line.base)]) >= LEAST_PAGES and any(
            name in names for name in _titles(line.text)
        )

    kept: list[list[PageLine]] = []
    gone: list[PageLine] = []
    for lines, rows, shared in zip(pages, outer, common, strict=True):
        away = shared | {row for row in rows if is_furniture(lines[row])}
        kept.append([line for row, line in enumerate(lines) if row not in away])
        gone += [lines[row] for row in sorted(away)]
    below = min((line.base for line in kept[-1]), default=0.0)
    for text, line in _told_once(gone, names)[:_MOST_TOLD]:
        below -= _APART * line.size
        kept[-1].append(replace(line, text=text, base=below, page=len(pages) - 1, pieces=()))
    return kept, len(gone)


def _on_most_pages(pages: Sequence[Sequence[PageLine]], heights: Sequence[float]) -> Iterator[set[int]]:
    """For each page the rows of lines in the wide margin whose words most pages have there, at least three; rows of
    tables and mere numbers aside."""
    texts = []
    for lines, height in zip(pages, heights, strict=True):
        rows = (row for row in _outer(lines, height, _OF_MOST, _WIDE) if not lines[row].row)
        texts.append({row: _key(lines[row])[0] for row in rows})
    counts = Counter(text for known in texts for text in set(known.values()))
    least = max(LEAST_PAGES, len(pages) // 2 + 1)
    for known in texts:
        yield {row for row, text in known.items() if counts[text] >= least and any(map(str.isalpha, text))}


def _told_once(gone: Sequence[PageLine], names: set[str]) -> list[tuple[str, PageLine]]:
    """The texts that at least three of the lines share, with a number that counts no pages; and their first lines."""
    alike: dict[_Key, list[PageLine]] = defaultdict(list)
    for line in gone:
        alike[_key(line)].append(line)
    told = []
    for lines in alike.values():
        texts = {line.text for line in lines}
        texts = texts if len(texts) == 1 else {_PAGE_NUMBER.sub("", text) for text in texts}
        text = min(texts).strip()
        says = any(letter.isdigit() for letter in text) and len(text.split()) >= _LEAST_WORDS
        if says and len(texts) == 1 and len(lines) >= LEAST_PAGES and names.isdisjoint(_titles(text)):
            told.append((text, lines[0]))
    return told


def _outer(lines: Sequence[PageLine], height: float, most: int, margin: float) -> Iterator[int]:
    """The rows of short lines in the margins, at most so many at either end of the page."""
    rows = sorted(range(len(lines)), key=lambda row: lines[row].base)
    for row in rows[:most]:
        if lines[row].base < margin * height and len(lines[row].text) <= _LONGEST:
            yield row
    for row in rows[-most:]:
        if lines[row].base > (1 - margin) * height and len(lines[row].text) <= _LONGEST:
            yield row


def _key(line: PageLine) -> _Key:
    return " ".join("#" if _is_number(word) else word for word in line.text.split()), round(line.base)


def _is_number(word: str) -> bool:
    """True for a page number as it is written: 12, [12], 12/30, p.12, xii."""
    bare = word.strip("[]()-–—/.,:|")
    if bare.isdecimal() or _COUNTED.fullmatch(bare):
        return True
    return bool(bare) and set(bare.lower()) <= _ROMAN and (bare.islower() or bare.isupper())


def _names(pages: Sequence[Sequence[PageLine]], outer: Sequence[set[int]]) -> set[str]:
    """What the lines outside the margins may be titles of (`_titles`)."""
    return {
        name
        for lines, rows in zip(pages, outer, strict=True)
        for row, line in enumerate(lines)
        if row not in rows and len(line.text) <= _LONGEST
        for name in _titles(line.text)
    }


def _titles(text: str) -> Iterable[str]:
    """The titles that a line may hold, without numbers at the ends: all of it, or what follows a colon or numbering."""
    numbering = NUMBERING.match(text)
    for part in (text, text.partition(": ")[2], text[numbering.end() :] if numbering else ""):
        words = part.split()
        while words and _is_number(words[-1]):
            words.pop()
        while words and (_is_number(words[0]) or words[0].replace(".", "").isdecimal()):
            words = words[1:]
        if words:
            yield " ".join(words).lower()


def without_note_marks(lines: Sequence[PageLine]) -> list[PageLine]:
    """The lines of one page without raised numbers behind words, if a note on the page begins with the same number."""
    marks = {match.group() for line in lines if (match := _NOTE.match(line.text))}
    if not marks:
        return list(lines)

    def unmarked(match: re.Match[str]) -> str:
        return "" if match.group(1) in marks else match.group()

    return [
        line if _NOTE.match(line.text) else replace(line, text=_MARK.sub(unmarked, line.text))
        for line in lines
    ]
