"""What a question names must be what a window is about: ward 3 is not answered by the rule of ward 5.

A window is about the last thing of a kind that is named in it, before it in its section, in the headings above it, in
the title or in the file name of its document, in this order. A kind counts only if the documents name things of it:
other wards, where the question names ward 3. The title, rows and years of an untrusted document rule out nothing in
documents by others: else a stranger's title could silence them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from equipoise.core.types import Passage, Span, Trust
from equipoise.rag.highlighters.amounts import dates, is_within_bounds
from equipoise.rag.highlighters.forms import Opposite, forms
from equipoise.rag.highlighters.kinds import Kind, Mention, holds, labels
from equipoise.rag.highlighters.reading import Window, above
from equipoise.text.corrections import DAY, with_days
from equipoise.text.facts import YEARS
from equipoise.text.lines import BETWEEN_CELLS, is_loaded_row
from equipoise.text.mails import says_who
from equipoise.text.months import CALENDAR
from equipoise.text.quotes import MAX_QUOTE_WORDS
from equipoise.text.support import content_stems, stem
from equipoise.text.tokens import names, numbers, words

_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*+")
_EVERY = re.compile(r"\b(?:which|all|list|every|each|how many|most|least|\w{2,}est)\b", re.IGNORECASE)
"""Words that ask for every row of a table."""

_VERDICTS = dict.fromkeys(("yes", "x", "true", "ja", "oui", "sí"), True) | dict.fromkeys(
    ("no", "none", "false", "nein", "non"), False
)
"""Values in yes/no columns."""
_WHEN = re.compile(
    r"\b(?:when|(?:what|which)\s(?:day|date)|wann|an\swelchem\stag|zu\swelchem\sdatum|quand|quel\sjour)\b",
    re.IGNORECASE,
)
"""Words that ask for a day."""
_NOT = frozenset("not no without don't doesn't isn't aren't can't cannot neither nor".split())  # noqa: SIM905

_END = re.compile(r"(?<=[.!?])\s|\n")
"""Where a first sentence ends."""

CLEAR = 1.0
"""A row whose score (log-odds) is higher by so much is clearly better; chosen on 30 questions of our own (LOG.md)."""

Path = tuple[str, ...]
"""File name, title and headings."""


def on_topic_windows(question: str, windows: Sequence[Window]) -> list[Window]:
    """The windows, in order, but for those about another thing of a kind than the question names (ward 5, not 3)."""
    paths = dict.fromkeys(window.above for window in windows)
    passages = dict.fromkeys(window.passage.text for window in windows)
    fitting = list(windows)
    for kind, asked in labels(question, "\n".join([*passages, *map("\n".join, paths)])).items():
        fitting = [window for window in fitting if _fits(kind, asked, window)]
    years = frozenset(filter(_is_year, words(question)))
    if years:
        dated = {
            writer_of(one.passage) for one in windows for mention in _years(one) if holds(mention, years)
        }
        fitting = [
            one
            for one in fitting
            if dated.isdisjoint(_excluding_writers(one.passage))
            or all(holds(mention, years) for mention in _years(one))
        ]
    apart = _stems_of_other_paths(question, [(window.passage, window.above) for window in windows])
    fitting = [one for one in fitting if _has_all(one.text, apart[writer_of(one.passage), one.above])]
    fitting = _with_named_options(question, fitting)
    shapes = forms(question)
    opposite = Opposite.of(question)
    fitting = [
        one
        for one in fitting
        if all(shape.search(one.text) for shape in shapes) and not opposite.is_said(one.text, one.above)
    ]
    fitting = _without_outdated_days(question, fitting)
    return _not_outdone(question, fitting)


def off_topic_passages(question: str, passages: Sequence[Passage]) -> frozenset[Passage]:
    """The passages that need not be read: of documents and sections beside one that the question names (the manual of
    zip, where it asks about tar), and those that begin with other numbers or codes and never name the one asked for
    (jobs 4052 to 4059, where it asks why job 4061 failed)."""
    apart = _stems_of_other_paths(question, [(passage, above(passage)) for passage in passages])
    whole = {passage: "\n".join((*above(passage), passage.text)) for passage in passages}
    asked = labels(question, "\n".join(whole.values()))

    def is_of_others(passage: Passage) -> bool:
        begins = "\n".join((*above(passage), _END.split(passage.text, 1)[0]))
        named = ((kind(whole[passage]), values) for kind, values in asked.items() if kind(begins))
        return any(not any(holds(mention, values) for mention in own) for own, values in named)

    return frozenset(
        one for one in whole if is_of_others(one) or not _has_all(one.text, apart[writer_of(one), above(one)])
    )


def writer_of(passage: Passage) -> str:
    """The writer that a passage counts for: "" for all trusted documents, else its source (or its document's id)."""
    return "" if passage.trust is Trust.TRUSTED else passage.source or passage.doc_id


def _excluding_writers(passage: Passage) -> tuple[str, str]:
    """The writers whose text may rule the passage out: the trusted one and its own."""
    return "", writer_of(passage)


def _stems_of_other_paths(
    question: str, places: Iterable[tuple[Passage, Path]]
) -> dict[tuple[str, Path], list[frozenset[str]]]:
    """For each writer and path the stems by which the question names other paths instead: one set for each of these."""
    named = frozenset(stem(word) for name in names(question) for word in words(name) if word not in CALENDAR)
    said = frozenset(map(stem, words(question)))
    found = dict.fromkeys((writer_of(passage), path) for passage, path in places)
    made = {
        (writer, own): [
            _distinguishing_stems(own, path, said, named) for by, path in found if by in ("", writer)
        ]
        for writer, own in found
    }
    return {place: [wanted for wanted in some if wanted] for place, some in made.items()}


def _has_all(text: str, wanted: Sequence[frozenset[str]]) -> bool:
    return all(others <= content_stems(text) for others in wanted)


def _with_named_options(question: str, windows: Sequence[Window]) -> list[Window]:
    """The windows that have the options which the question names ("What is --fuzzy?") in their text or above it, and
    those that no such window may rule out; all if it names none."""
    options = frozenset(_OPTION.findall(question))
    if not options:
        return [*windows]
    having = [one for one in windows if options <= {*_OPTION.findall("\n".join((one.text, *one.above)))}]
    writers = {writer_of(window.passage) for window in having}
    return [one for one in windows if one in having or writers.isdisjoint(_excluding_writers(one.passage))]


def _fits(kind: Kind, asked: frozenset[str], window: Window) -> bool:
    """Whether the window is about one of the things `asked` for, or about nothing of their kind."""
    if own := kind(window.text):
        return any(holds(mention, asked) for mention in own)
    starts = [start for start, _ in window.passage.sections if start <= window.start]
    before = kind(window.passage.text[max(starts, default=0) : window.start])
    mentions = before or next(filter(None, map(kind, reversed(window.above))), [])
    return not mentions or holds(mentions[-1], asked)


def _is_year(word: str) -> bool:
    return word.isdecimal() and len(word) == 4 and int(word) in YEARS


def _years(window: Window) -> list[Mention]:
    """The years of the window, else of the nearest thing above it that has any; none or one mention."""
    places = (window.text, *reversed(window.above))
    years = (tuple(filter(_is_year, words(place))) for place in places)
    return list(filter(None, years))[:1]


def _distinguishing_stems(
    own: Path, path: Path, said: frozenset[str], named: frozenset[str]
) -> frozenset[str]:
    """The stems that set `path` apart from `own`, if the question has all of them and not all those of `own`; else
    empty. They must be names in the question, unless both headings are of a series: "Lyon depot", "Turin depot"."""
    pairs = zip(path[1:], own[1:], strict=False)
    theirs, ours = next(
        ((content_stems(a), content_stems(b)) for a, b in pairs if a != b),
        (content_stems(""), content_stems("")),
    )
    differs = theirs - ours
    series = bool(theirs & ours) and len(theirs) == len(ours)
    wanted = differs <= said and (series or differs <= named) and not ours - theirs <= said
    return differs if wanted else _stems_of_section(own, path, said)


def _stems_of_section(own: Path, path: Path, said: frozenset[str]) -> frozenset[str]:
    """The stems of a heading of `path`, all of which the question has with one of the heading above it ("the httpd
    plugin" for httpd below "Output plugins"), if `own` lacks one; else empty, and where it names `own` just so."""
    ours, theirs = ([*_named_sections(one, said)] for one in (own, path))
    held = content_stems("\n".join(own))
    missing = (stems for stems in theirs if not stems <= held)
    return next(missing, frozenset()) if all(stems in theirs for stems in ours) else frozenset()


def _named_sections(path: Path, said: frozenset[str]) -> Iterator[frozenset[str]]:
    """The stems of each heading that the question has together with a word of the heading above it."""
    for kind, heading in pairwise(map(content_stems, path[1:])):
        if heading and heading <= said and (kind - heading) & said:
            yield heading


def equally_matching_rows(question: str, best: Window, windows: Sequence[Window]) -> list[Window]:
    """The rows of the best one's table that hold all the words of the question that it holds ("who takes cats"). All
    rows only if all are asked for ("which is the dearest"); none if they have more than MAX_QUOTE_WORDS words."""
    held = _question_words_by_window(
        question, (window for window in windows if window.passage == best.passage)
    )
    if best not in held or not is_loaded_row(best.own):
        return []
    same = [window for window, has in held.items() if held[best] <= has]
    every = len(same) == len(held)
    long = sum(len(window.own.split()) for window in same) > MAX_QUOTE_WORDS
    return [] if long or (every and not _EVERY.search(question)) else same


def rows_to_compare(question: str, best: Window, windows: Sequence[Window]) -> list[Window]:
    """The best row, and the rows of the same name for what it is compared with: for "which is quieter, the Corvo or the
    Gavia" the noise of both. Empty if it is no `name: value`, or there are no such rows."""
    name, colon, _ = best.own.partition(": ")
    said, ours = frozenset(map(stem, words(question))), content_stems("\n".join(best.above))

    def is_other_side(window: Window) -> bool:
        theirs = content_stems("\n".join(window.above))
        sides = (ours - theirs, theirs - ours)
        return writer_of(window.passage) == writer_of(best.passage) and all(
            side and side <= said for side in sides
        )

    others = [one for one in windows if one.own.startswith(name + colon) and is_other_side(one)]
    return [best, *others] if colon and others else []


def rows_that_say_yes(question: str, best: Window, windows: Sequence[Window]) -> list[Window]:
    """The rows of the best one's table that say yes to what is asked: for "which rooms have a balcony" those that have
    one. Empty unless rows are asked for, and some say yes and some say no."""
    if not is_loaded_row(best.own) or not _EVERY.search(question) or not _NOT.isdisjoint(words(question)):
        return []
    asked, kind = content_stems(question), _kind(best)
    rows = (window for window in windows if is_loaded_row(window.own) and _kind(window) == kind)
    said = {row: _verdicts(asked, row.own) for row in rows}
    yes = [row for row, verdicts in said.items() if verdicts == {True}]
    return yes if any(False in verdicts for verdicts in said.values()) else []


def _verdicts(asked: frozenset[str], row: str) -> set[bool]:
    """The yes (True) and no (False) of those cells of a row whose column name has only `asked` words."""
    cells = (cell.partition(": ") for cell in row.split(BETWEEN_CELLS))
    values = [words(value)[:1] for name, _, value in cells if (told := content_stems(name)) and told <= asked]
    return {_VERDICTS[word] for first in values for word in first if word in _VERDICTS}


def is_ambiguous(question: str, windows: Sequence[Window]) -> bool:
    """Whether the best window is a row of a table, and another row below the same heading holds the same words of the
    question and scores less than CLEAR below it. If the question has a word that no document has ("the fee for
    kayaks"), either row may be meant, or none."""
    best, *others = windows
    held = _question_words_by_window(question, windows)
    if not is_loaded_row(best.own) or best not in held or _EVERY.search(question):
        return False
    said = _question_words_in(question, best.own)
    rows = (one for one in others if one in held and _kind(one) == _kind(best))
    return any(
        best.worth - one.worth < CLEAR and _question_words_in(question, one.own) == said for one in rows
    )


def _not_outdone(question: str, windows: Sequence[Window]) -> list[Window]:
    """Drops the rows and items that hold only some of the question's words that another one of their kind holds: of
    "Harbour: masks 18" and "North: masks 30" the one stays that is asked for. Below the same heading only their own
    words and terms count, since a title may name them all. A list with its label also drops lists, rows and items with
    fewer of the words that rank below it, and is dropped by those that rank above it."""
    held = _question_words_by_window(question, windows)
    labelled = frozenset(window for window in windows if window.is_label)
    told = {one: _question_words_in(question, one.text) for one in windows if one in labelled or one in held}
    ranks = {window: rank for rank, window in enumerate(told)}
    own = {window: has & _question_words_in(question, window.named) for window, has in held.items()}
    most: dict[tuple[str, str], set[frozenset[str]]] = {}
    nearby: dict[tuple[str, ...], set[frozenset[str]]] = {}
    for window, has in held.items():
        most.setdefault((writer_of(window.passage), _column(window)), set()).add(has)
        nearby.setdefault(_kind(window), set()).add(own[window])

    def is_outdone(window: Window) -> bool:
        lists = (
            one for one in (told if window in labelled else labelled) if ranks[one] < ranks.get(window, 0)
        )
        if any(told[window] < told[one] and _kind(window) == _kind(one) for one in lists):
            return True
        if window not in held:
            return False
        rivals = (most.get((writer, _column(window)), set()) for writer in _excluding_writers(window.passage))
        by_all = any(held[window] < has for some in rivals for has in some)
        return by_all or any(own[window] < has for has in nearby[_kind(window)])

    return [window for window in windows if not is_outdone(window)]


def _without_outdated_days(question: str, windows: Sequence[Window]) -> list[Window]:
    """If a day is asked for, drops windows in a mail quoted below another one: those with another day than a better
    ranked window above them, which also has all their words of the question."""
    if not _WHEN.search(question):
        return [*windows]
    days = {window: frozenset(DAY.findall(with_days(window.text))) for window in windows}
    told = {
        window: _question_words_in(question, "\n".join((*window.above, window.text))) for window in windows
    }

    def is_past(window: Window, better: Window) -> bool:
        above = better.span.doc_id == window.span.doc_id and better.span.start < window.span.start
        moved = days[better] and days[window].isdisjoint(days[better]) and told[window] <= told[better]
        return above and better.above != window.above and bool(days[window] and moved)

    return [
        window
        for rank, window in enumerate(windows)
        if not (says_who(window.above[-1]) and any(is_past(window, better) for better in windows[:rank]))
    ]


def span_to_quote(window: Window, windows: Sequence[Window]) -> Span:
    """The span of a window; for the only label left of its kind, up to the end of the first item of its list."""
    span, told = window.span, _kind(window)
    alone = window.is_label and not any(
        one.is_label and _kind(one) == told for one in windows if one != window
    )
    ends = (end for start, end in window.passage.sentences or () if alone and start >= window.end)
    return replace(span, end=window.passage.start + next(ends, window.end))


def _kind(window: Window) -> tuple[str, ...]:
    """What windows of one kind have in common: document, headings and first column."""
    return (window.passage.doc_id, *window.above, _column(window))


def _column(window: Window) -> str:
    """The name of a row's first column, that of the second where the first has none ("Storage; Basic: 10 GB"), a bar
    where there are no names; empty for items."""
    if not is_loaded_row(window.own):
        return ""
    if " | " in window.own:
        return "|"
    first, *others = window.own.split(BETWEEN_CELLS)
    return (first if ": " in first else f"; {others[0]}").partition(": ")[0]


def _question_words_by_window(question: str, windows: Iterable[Window]) -> dict[Window, frozenset[str]]:
    """The words and days of the question that each row and item holds, with headings and lead-ins."""
    return {
        window: _question_words_in(question, "\n".join((*window.above, window.text)))
        for window in windows
        if window.is_led or (is_loaded_row(window.own) and not window.leads)
    }


def _question_words_in(question: str, text: str) -> frozenset[str]:
    """The words and days of the question that the text has, and the numbers that lie between its bounds."""
    days = dates(question) & dates(text)
    amounts = {number for number in numbers(question) if is_within_bounds(number, text)}
    return content_stems(question) & content_stems(text) | {f"{month}-{day}" for month, day in days} | amounts
