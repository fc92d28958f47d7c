"""Takes page furniture out of a PDF: running headers, running footers, page numbers, and the raised numbers that refer
to footnotes.

Only a short line in the margin goes, and only if at least three pages have it at the same height or most pages have it;
or if the page's own number begins or ends it, as at this height on at least three pages, and no other line that goes
has that number. A page's own number is one that counts up from page to page on at least three of them; any other number
has to be the same for lines to be the same. So nothing else can be made to vanish. A line that says something of the
document with a number (edition, date, address) is added once at its end.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from equipoise.corpus.loaders.layout import ITEM, usual
from equipoise.corpus.loaders.lines import PageLine
from equipoise.corpus.loaders.numbering import numeral
from equipoise.corpus.loaders.structure import LARGER, NUMBERING

LEAST_PAGES = 3
_MARGIN, _WIDE = 0.12, 0.15  # of the page's height; the wide margin is that of lines that most pages have
_OUTERMOST, _OF_MOST = 2, 3  # lines at either end of the page, in these margins
_LONGEST = 120  # characters
_LEAST_WORDS, _MOST_TOLD = 4, 4
_APART = 3.0  # sizes from one line that is added at the end to the next
_PAGE_NUMBER = re.compile(
    r"(?:(?:page|seite)\s)?+\d{1,4}+(?:\s?+(?:of|von|/)\s?+\d{1,4}+)?+\Z", re.IGNORECASE
)
_COUNTED = re.compile(r"(?:(?:pg?|s)\.|page|seite)?+(\d{1,4}+)(?:/\d{1,4}+)?+", re.IGNORECASE)
_ROMAN = {numeral("i", number): number for number in range(1, 1000)}
_NUMBER = re.compile(r"\d++|\b[ivxlcdm]++\b", re.IGNORECASE)
_NOTE = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]++(?=\s)")
_MARK = re.compile(r"(?:(?<=[^\W\d_]{2})|(?<=[.,;:!?)”’\"'\]]))\s?+([⁰¹²³⁴⁵⁶⁷⁸⁹]++)")

_Key = tuple[str, int]
_Count = tuple[bool, int]  # of pages: in Roman numbers or not, and the number of the first page
_Rows = Sequence[set[int]]


def without_furniture(
    pages: Sequence[Sequence[PageLine]], heights: Sequence[float]
) -> tuple[list[list[PageLine]], int]:
    """The lines of every page without running headers and footers, and how many of these there were; `heights` are
    those of the pages, in points."""
    if len(pages) < LEAST_PAGES:
        return [list(lines) for lines in pages], 0
    both = list(zip(pages, heights, strict=True))
    outer = [set(_outer(*page, _OUTERMOST, _MARGIN)) for page in both]
    wide = [set(_outer(*page, _OF_MOST, _WIDE)) for page in both]
    counts = _counts(_lines_at(pages, _both(outer, wide)))
    common = _both(_at_a_height(pages, outer, counts), _on_most_pages(pages, wide, counts))
    going = _both(common, _numbered(pages, outer, common, counts))
    kept: list[list[PageLine]] = []
    gone: list[PageLine] = []
    for lines, away in zip(pages, going, strict=True):
        kept.append([line for row, line in enumerate(lines) if row not in away])
        gone += [lines[row] for row in sorted(away)]
    names = _names(pages, _both(outer, common))
    below = min((line.base for line in kept[-1]), default=0.0)
    for text, line in _told_once(gone, counts, names)[:_MOST_TOLD]:
        below -= _APART * line.size
        kept[-1].append(replace(line, text=text, base=below, page=len(pages) - 1, pieces=()))
    return kept, len(gone)


def _both(rows: Iterable[set[int]], others: Iterable[set[int]]) -> list[set[int]]:
    return [these | those for these, those in zip(rows, others, strict=True)]


def _lines_at(pages: Sequence[Sequence[PageLine]], rows: _Rows) -> Iterator[PageLine]:
    return (lines[row] for lines, these in zip(pages, rows, strict=True) for row in sorted(these))


def _counts(lines: Iterable[PageLine]) -> frozenset[_Count]:
    """How pages are counted by a number that is in one of these lines, on at least three pages."""
    pages: dict[_Count, set[int]] = defaultdict(set)
    for line in lines:
        for word in line.text.split():
            if count := _count(word, line.page):
                pages[count].add(line.page)
    return frozenset(count for count, known in pages.items() if len(known) >= LEAST_PAGES)


def _at_a_height(
    pages: Sequence[Sequence[PageLine]], outer: _Rows, counts: frozenset[_Count]
) -> Iterator[set[int]]:
    """For each page the rows in the margin that at least three pages have at the same height."""
    seen: dict[_Key, set[int]] = defaultdict(set)
    for line in _lines_at(pages, outer):
        seen[_key(line, counts)].add(line.page)
    for lines, rows in zip(pages, outer, strict=True):
        yield {row for row in rows if len(seen[_key(lines[row], counts)]) >= LEAST_PAGES}


def _numbered(
    pages: Sequence[Sequence[PageLine]], outer: _Rows, common: _Rows, counts: frozenset[_Count]
) -> Iterator[set[int]]:
    """For each page the rows in the margin that its own number begins or ends, at a height where at least three pages
    have it; no items, no large type, and none where a line that is `common` has the number."""
    largest = LARGER * usual([line for lines in pages for line in lines]).size
    seen: dict[tuple[_Count, int], set[int]] = defaultdict(set)
    for line in _lines_at(pages, outer):
        for count in _own(line, counts):
            seen[count, round(line.base)].add(line.page)
    at = {place for place, known in seen.items() if len(known) >= LEAST_PAGES}
    for lines, rows, away in zip(pages, outer, common, strict=True):
        has_one = any(_own(lines[row], counts) for row in away)
        yield {
            row
            for row in (set() if has_one else rows)
            if lines[row].size < largest
            and not ITEM.match(lines[row].text)
            and any((count, round(lines[row].base)) in at for count in _own(lines[row], counts))
        }


def _own(line: PageLine, counts: frozenset[_Count]) -> set[_Count]:
    """The counts by which a line begins or ends with the number of its page."""
    words = line.text.split()
    return {
        count for word in (words[:1] + words[-1:]) if (count := _count(word, line.page)) and count in counts
    }


def _on_most_pages(
    pages: Sequence[Sequence[PageLine]], wide: _Rows, counts: frozenset[_Count]
) -> Iterator[set[int]]:
    """For each page the rows of lines in the wide margin whose words most pages have there, at least three; rows of
    tables and mere numbers aside."""
    texts = [
        {row: _key(lines[row], counts)[0] for row in rows if not lines[row].row}
        for lines, rows in zip(pages, wide, strict=True)
    ]
    among = Counter(text for known in texts for text in set(known.values()))
    least = max(LEAST_PAGES, len(pages) // 2 + 1)
    for known in texts:
        yield {row for row, text in known.items() if among[text] >= least and any(map(str.isalpha, text))}


def _told_once(
    gone: Sequence[PageLine], counts: frozenset[_Count], names: set[str]
) -> list[tuple[str, PageLine]]:
    """The texts that at least three of the lines share, with a number that counts no pages; and their first lines."""
    alike: dict[_Key, list[PageLine]] = defaultdict(list)
    for line in gone:
        alike[_key(line, counts)].append(line)
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


def _key(line: PageLine, counts: frozenset[_Count]) -> _Key:
    """The words of a line, `#` for the number of its page, and its height."""
    words = line.text.split()
    own = next((row for row, word in enumerate(words) if _count(word, line.page) in counts), None)
    if own is not None:
        words[own] = _NUMBER.sub("#", words[own], 1)
    return " ".join(words), round(line.base)


def _count(word: str, page: int) -> _Count | None:
    """How pages are counted if this is the number of a page: 12, [12], 12/30, p.12, xii."""
    bare = word.strip("[]()-–—/.,:|")
    if match := _COUNTED.fullmatch(bare):
        return False, int(match[1]) - page
    number = _ROMAN.get(bare.lower()) if bare.islower() or bare.isupper() else None
    return None if number is None else (True, number - page)


def _names(pages: Sequence[Sequence[PageLine]], outer: _Rows) -> set[str]:
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
        while words and _count(words[-1], 0):
            words.pop()
        while words and (_count(words[0], 0) or words[0].replace(".", "").isdecimal()):
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
