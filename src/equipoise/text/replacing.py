"""What a follow-up of a few words puts in the place of another in the question before it: "And in Kirkwall?"."""

import re
from collections.abc import Iterator
from itertools import pairwise

from equipoise.text.months import CALENDAR
from equipoise.text.tokens import STOP_WORDS, WORD, name_matches

_PREPOSITIONS = frozenset("in on at to into from for with without by of under over".split())  # noqa: SIM905
_FOLLOW_UP = re.compile(
    rf"(?:(?:and|but|or|so|then|what about|how about)\b,? ){{0,3}}(?:({'|'.join(sorted(_PREPOSITIONS))}) )?"
    r"([^?!.,;:]{2,60})\W*",
    re.IGNORECASE,
)
_ARTICLES = frozenset({"a", "an", "the", "my", "your", "our"})
_MOST = 4  # words that take the place of others
_LONGEST = 500  # characters of a question that is looked at
_ENDS = re.compile(r"\W*\Z|[,;.:]")
_TIMES = CALENDAR | frozenset(
    """
    morning afternoon evening night noon midnight day week weekday weekend month year today tomorrow yesterday christma
    easter spring summer autumn fall winter season holiday advance time
    """.split()  # noqa: SIM905
)

Words = list[re.Match[str]]


def replaced(question: str, follow_up: str) -> str:
    """`question` with what `follow_up` names in the place of what it names: a name in that of a name, of which further
    words may say what it is ("plan"), or one word in that of one word. Both stand behind the same preposition, if any,
    and both are times or neither. Else a name that stands behind a preposition, and is no time, comes at its end.

    >>> replaced("What are the opening hours in Lerwick?", "and in Kirkwall?")
    'What are the opening hours in Kirkwall?'
    >>> replaced("How much is the Standard plan?", "What about the Plus plan?")
    'How much is the Plus plan?'
    """
    line = " ".join(follow_up.split())
    found = _FOLLOW_UP.fullmatch(line) if max(len(line), len(question)) <= _LONGEST else None
    told = list(WORD.finditer(found[2])) if found else []
    if told and _lower(told[0]) in _ARTICLES:
        del told[0]
    if (
        not found
        or not found.start(2)
        or not 0 < len(told) <= _MOST
        or not STOP_WORDS.isdisjoint(map(_lower, told))
    ):
        return question
    named = next((n for n, word in enumerate(told) if not word.group()[0].isupper()), len(told))
    new, tail = told[: named or 1], told[named or 1 :]
    if not named and tail:
        return question
    there = list(WORD.finditer(question))
    places = [*_names(question, there)] if named else []
    places += _words(question, there) if found[1] and not tail else []
    for first, last in reversed(places):
        before = [_lower(word) for word in there[max(first - 2, 0) : first]]
        if before and before[-1] in _ARTICLES:
            before.pop()
        fits = not found[1] or before[-1:] == [found[1].casefold()]
        follows = [*map(_lower, there[last : last + len(tail)])] == [*map(_lower, tail)]
        if fits and follows and _is_time(there[first:last]) is _is_time(new):
            name = found[2][new[0].start() : new[-1].end()]
            return question[: there[first].start()] + name + question[there[last - 1].end() :]
    adds = found[1] and named and not _is_time(new)
    return f"{question.rstrip(' ?!.')} {found[1]} {found[2].strip()}?" if adds else question


def _lower(word: re.Match[str]) -> str:
    return word.group().casefold()


def _is_time(words: Words) -> bool:
    return any(_lower(word).removesuffix("s") in _TIMES or word.group()[0].isdigit() for word in words)


def _names(question: str, there: Words) -> Iterator[tuple[int, int]]:
    """The runs of words that are names, as (first, last) rows of `there`, last exclusive."""
    starts = {match.start() for match in name_matches(question)}
    rows = [row for row, word in enumerate(there) if word.start() in starts]
    begins = [row for row in rows if row - 1 not in rows or not _adjoin(question, *there[row - 1 : row + 1])]
    for first, following in pairwise([*begins, len(there)]):
        yield first, 1 + max(row for row in rows if first <= row < following)


def _adjoin(question: str, word: re.Match[str], following: re.Match[str]) -> bool:
    return question[word.end() : following.start()] in (" ", "-")


def _words(question: str, there: Words) -> Iterator[tuple[int, int]]:
    """The words between a preposition, with or without an article, and another one, a mark or the end."""
    for row, word in enumerate(there):
        following = there[row + 1] if row + 1 < len(there) else None
        ends = _ENDS.match(question, word.end()) or (following and _lower(following) in _PREPOSITIONS)
        if row and ends and _lower(there[row - 1]) in _PREPOSITIONS | _ARTICLES:
            yield row, row + 1
