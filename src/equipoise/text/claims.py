"""Whether two quotes claim the same in answer to a question, and whether they contradict each other. For English.

A check of words and numbers, not of meaning, made so that it says "the same" only where little speaks against it. It
depends on the question and the two quotes alone, as `maths.corroboration` needs it.
"""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from equipoise.core.types import Tag
from equipoise.text.facts import Clause, Number, clauses, root
from equipoise.text.polar import is_yes_no, verdict_in
from equipoise.text.tokens import words

SHARED = 0.5
"""Of the words of the quote with fewer, the least share (0 to 1) that the other quote must have, too."""
NEW = 0.45
"""The same for the words that are not in the question: these answer it."""
ABOUT = 0.5
"""The share of the question's words from which a clause answers a yes/no question."""
KEY = 0.8
"""The share of the question's words that a clause must hold for its name or number alone to be the answer."""
SAME_CLAUSE = 0.5
"""The Jaccard share of words from which two clauses are about the same."""
MAX_CHARACTERS, MAX_CLAUSES = 4_000, 24
"""Characters and clauses of a quote: a longer one claims nothing, for the work grows with their square."""
_WANTS_NUMBER = re.compile(
    r"\b(?:how (?:many|much|long|often|old|fast|far|high|low|large|big|small|soon|late|early|heavy|hot|cold)|when"
    r"|(?:what|which) (?:time|temperature|percentage|share|version|port|price|fee|cost|limit|year|date|number|size"
    r"|age))\b",
    re.IGNORECASE,
)
_WANTS_NAME = re.compile(r"\b(?:who|whom|whose|where|name)\b", re.IGNORECASE)
_OPPOSITES = frozenset(
    frozenset(map(root, pair.split(":")))
    for pair in """
        on:off increase:decrease raise:lower rise:fall higher:lower keep:lose open:close opened:closed
        enable:disable allow:forbid include:exclude always:never first:last above:below before:after more:less
        more:fewer maximum:minimum most:least safe:dangerous hot:cold warm:cold wet:dry free:paid public:private
        left:right up:down add:remove start:stop true:false legal:illegal valid:invalid optional:mandatory
        optional:required voluntary:compulsory easy:difficult early:late inside:outside faster:slower
        encrypted:unencrypted
    """.split()  # noqa: SIM905
)
_OF_OPPOSITES = frozenset().union(*_OPPOSITES)
_LIGHT = frozenset(
    map(
        root,
        """
        need require want get take use make give bring set put mean work happen go come cost fee price charge amount
        call find possible allow keep
        """.split(),  # noqa: SIM905
    )
)
"""Stems of light verbs and of words of asking: another wording of the same question lacks them."""
_CONDITION = re.compile(r"\b(?:if|only|unless|except|as long as|provided)\b", re.IGNORECASE)
_RATE = re.compile(
    r"\b(?:(?:per|each|every) ([^\W\d_]{1,30})|an? (minute|hour|day|night|week|month|year|person|head|piece))\b",
    re.IGNORECASE,
)
_Item = TypeVar("_Item")
_BY = re.compile(r"\bby\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question: its stems and numbers, and of which kind it is."""

    stems: frozenset[str]
    numbers: frozenset[Number]
    yes_no: bool
    wants_number: bool
    wants_name: bool
    denies: bool

    @classmethod
    def of(cls, question: str) -> "_Asked":
        found = clauses(question.replace("?", "."))
        return cls(
            _union(clause.stems for clause in found),
            _union(clause.numbers for clause in found),
            is_yes_no(question),
            _WANTS_NUMBER.search(question) is not None,
            _WANTS_NAME.search(question) is not None,
            any(clause.denies() for clause in found),
        )


@dataclass(frozen=True, slots=True)
class _Quote:
    """A quote: its clauses and all their stems (identifiers among them), and those of its stems (`new`), numbers, names
    and identifiers that are not in the question. `rates` are what its amounts are per ("day" of "4.50 a day")."""

    verdict: Tag | None
    conditional: bool
    clauses: tuple[Clause, ...]
    stems: frozenset[str]
    new: frozenset[str]
    numbers: frozenset[Number]
    names: frozenset[str]
    identifiers: frozenset[str]
    rates: frozenset[str]

    @classmethod
    def of(cls, text: str, asked: _Asked) -> "_Quote":
        if len(text) > MAX_CHARACTERS or len(found := clauses(text)) > MAX_CLAUSES:
            text, found = "", ()
        stems = _union((*clause.stems, *clause.identifiers) for clause in found)
        names = _union(clause.names for clause in found)
        identifiers = _union(clause.identifiers for clause in found)
        numbers = _union(clause.numbers for clause in found)
        fresh = frozenset(number for number in numbers if not _among(number, asked.numbers))
        return cls(
            verdict_in(text),
            _CONDITION.search(text) is not None,
            found,
            stems,
            stems - asked.stems,
            fresh,
            names - asked.stems,
            identifiers - asked.stems,
            frozenset(root(match.group(1) or match.group(2)) for match in _RATE.finditer(text)),
        )


@dataclass(frozen=True, slots=True)
class Compared:
    """Quotes that may answer one question, each taken apart once; methods take their indices."""

    asked: _Asked
    quotes: tuple[_Quote, ...]

    @classmethod
    def of(cls, question: str, quotes: Sequence[str]) -> "Compared":
        """The quotes in their order."""
        asked = _Asked.of(question)
        return cls(asked, tuple(_Quote.of(text, asked) for text in quotes))

    def agree(self, first: int, second: int) -> bool:
        """Whether two quotes claim the same in answer to the question; symmetric, and never where they `contradict`.

        Numbers and names that are not in the question must be the same, but for what one of them adds in passing;
        addresses, options and the like without exception. Where the question asks for a number, both must have it.
        Both deny or neither does; to a yes/no question both say yes or both say no. Of the words of the shorter quote,
        SHARED must stand in the other one, and NEW of those that are not in the question. Nothing that answers the
        question otherwise may stand beside it.

        >>> quotes = "You have 30 days to return it.", "Return it within thirty days."
        >>> Compared.of("How long can I return it?", quotes).agree(0, 1)
        True
        """
        asked, mine, others = self.asked, self.quotes[first], self.quotes[second]
        if _contradict(asked, mine, others) or not _facts_are_compatible(asked, mine, others):
            return False
        return _same_side(asked, mine, others) if asked.yes_no else _same_answer(asked, mine, others)

    def contradict(self, first: int, second: int) -> bool:
        """Whether two quotes speak of the same and cannot both be right in answer to the question; symmetric.

        Two clauses with mostly the same words differ in their numbers or names, or in one of a pair of opposites, or
        one denies and the other does not; or one says yes to a yes/no question and the other no.

        >>> quotes = "You have 30 days to return it.", "You have 90 days to return it."
        >>> Compared.of("How long can I return it?", quotes).contradict(0, 1)
        True
        """
        return _contradict(self.asked, self.quotes[first], self.quotes[second])


def _contradict(asked: _Asked, mine: _Quote, others: _Quote) -> bool:
    if asked.yes_no:
        sides = _side(asked, mine), _side(asked, others)
        if None not in sides:
            return sides[0] is not sides[1] or any(
                _numbers_differ(a, b) for a, b in _aligned(asked, mine, others)
            )
    return any(_differ(asked, a, b) for a, b in _aligned(asked, mine, others))


def _aligned(asked: _Asked, mine: _Quote, others: _Quote) -> list[tuple[Clause, Clause]]:
    """The pairs of clauses about the same: most of their words are common, and not both have others that are not in
    the question, as "adults" and "children"."""
    return [
        (a, b)
        for a, b in product(mine.clauses, others.clauses)
        if _about_the_same(asked, _topic(a), _topic(b))
    ]


def _topic(clause: Clause) -> frozenset[str]:
    return frozenset(clause.stems) - clause.names - clause.identifiers - _OF_OPPOSITES


def _about_the_same(asked: _Asked, mine: frozenset[str], others: frozenset[str]) -> bool:
    if not mine & others or len(mine & others) < SAME_CLAUSE * len(mine | others):
        return False
    return not _both_add(mine, others, asked)


def _both_add(mine: Set[str], others: Set[str], asked: _Asked) -> bool:
    """Whether each has words of its own that are not in the question, as "adults" and "children"."""
    return bool(mine - others - asked.stems) and bool(others - mine - asked.stems)


def _differ(asked: _Asked, mine: Clause, others: Clause) -> bool:
    numbers = _numbers_differ(mine, others)
    if _names_differ(mine, others):
        return not numbers  # "Saturday 9 to 11" and "Sunday 10 to 12" are both right
    if _both_add({*mine.stems} - _OF_OPPOSITES, {*others.stems} - _OF_OPPOSITES, asked):
        return False
    return numbers or mine.denies() is not others.denies() or _opposed(mine, others)


def _numbers_differ(mine: Clause, others: Clause) -> bool:
    """Whether each has a number that the other lacks, of the same unit, or their bounds are opposite."""
    left = [number for number in mine.numbers if not _among(number, others.numbers)]
    right = [number for number in others.numbers if not _among(number, mine.numbers)]
    if any(a.is_comparable(b) for a, b in product(left, right)):
        return True
    return (
        bool(mine.numbers and others.numbers)
        and {*mine.bounds, *others.bounds} == {"least", "most"}
        and (len(mine.bounds) == len(others.bounds) == 1)
    )


def _opposed(mine: Clause, others: Clause) -> bool:
    here, there = ({root(word) for word in words(clause.text)} for clause in (mine, others))
    return any(
        len(pair & here) == 1 and len(pair & there) == 1 and not pair & here & there for pair in _OPPOSITES
    )


def _names_differ(mine: "Clause | _Quote", others: "Clause | _Quote") -> bool:
    """Whether each has a name that the other lacks."""
    here, there = (quote.names | quote.identifiers for quote in (mine, others))
    return bool(here - there - set(others.stems)) and bool(there - here - set(mine.stems))


def _facts_are_compatible(asked: _Asked, mine: _Quote, others: _Quote) -> bool:
    """Whether the new numbers and names of the two can stand for one answer."""
    if _names_differ(mine, others) or mine.identifiers != others.identifiers:
        return False
    if mine.rates and others.rates and not mine.rates & others.rates:
        return False
    left = [number for number in mine.numbers if not _among(number, others.numbers)]
    right = [number for number in others.numbers if not _among(number, mine.numbers)]
    shared = (mine.numbers | others.numbers) - {*left, *right}
    if (left and right) or (asked.wants_number and not shared and (left or right)):
        return False
    extra = [number for number in (*left, *right) if not number.is_year()]
    return not any(a.unit == b.unit for a, b in product(extra, shared))


def _side(asked: _Asked, quote: _Quote) -> bool | None:
    """Whether a quote says yes to a yes/no question; None where it cannot be told."""
    telling = (
        clause
        for clause in quote.clauses
        if _covers(asked, clause) and not _replaces_question_word(asked, clause)
    )
    sides = {clause.denies() is asked.denies for clause in telling}
    if quote.verdict is not None:
        sides.add(quote.verdict is Tag.YES)
    return sides.pop() if len(sides) == 1 else None


def _replaces_question_word(asked: _Asked, clause: Clause) -> bool:
    """Whether a clause has something else in the place of a word of the question: "private" for "commercial"."""
    stems = frozenset(clause.stems)
    return bool(asked.stems - stems - _LIGHT) and bool(stems - asked.stems - _LIGHT)


def _covers(asked: _Asked, clause: Clause) -> bool:
    return len(asked.stems & set(clause.stems)) >= ABOUT * max(1, len(asked.stems))


def _same_side(asked: _Asked, mine: _Quote, others: _Quote) -> bool:
    """Whether both say yes or both no, and none of them only under a condition."""
    side = _side(asked, mine)
    if mine.conditional is not others.conditional:
        return False
    return side is not None and side is _side(asked, others)


def _same_answer(asked: _Asked, mine: _Quote, others: _Quote) -> bool:
    if not _nearest_agree(mine, others) or _substituted(asked, mine, others) or _reversed(mine, others):
        return False
    if _same_key(asked, mine, others):
        return True
    return _alike(mine, others) and not (
        _says_something_else(asked, mine, others) or _says_something_else(asked, others, mine)
    )


def _alike(mine: _Quote, others: _Quote) -> bool:
    """Whether most words of the quote with fewer are in the other one, and so of what is not in the question."""
    # "14" is like both "14 items" and "14 days"
    numbers = min(_count_shared_numbers(mine, others), _count_shared_numbers(others, mine))
    common, fresh = len(mine.stems & others.stems) + numbers, len(mine.new & others.new) + numbers
    least = min(len(quote.stems) + len(quote.numbers) for quote in (mine, others))
    least_new = min(len(quote.new) + len(quote.numbers) for quote in (mine, others))
    return fresh > 0 and common >= SHARED * least and fresh >= NEW * least_new


def _same_key(asked: _Asked, mine: _Quote, others: _Quote) -> bool:
    """Whether two clauses that hold nearly all words of the question have the same names, or, where it asks for a
    number, the same numbers, that are not in it."""
    return any(
        _covers_nearly_all(asked, a)
        and _covers_nearly_all(asked, b)
        and a.denies() is b.denies()
        and _key(asked, a)
        and _key(asked, a) == _key(asked, b)
        for a, b in product(mine.clauses, others.clauses)
    )


def _covers_nearly_all(asked: _Asked, clause: Clause) -> bool:
    telling = asked.stems - _LIGHT
    return len(telling) > 1 and len(telling & {*clause.stems}) >= KEY * len(telling)


def _key(asked: _Asked, clause: Clause) -> frozenset[object]:
    """The new numbers of a clause where the question asks for a number, its new names where it asks for a name."""
    if asked.wants_number:
        return frozenset(number for number in clause.numbers if not _among(number, asked.numbers))
    return (clause.names | clause.identifiers) - asked.stems if asked.wants_name else frozenset()


def _substituted(asked: _Asked, mine: _Quote, others: _Quote) -> bool:
    """Whether two clauses are the same but for a word that each has in the place of the other's."""
    return any(
        len({*a.stems} & {*b.stems}) >= SAME_CLAUSE * len({*a.stems} | {*b.stems})
        and _both_add({*a.stems} - others.stems, {*b.stems} - mine.stems, asked)
        for a, b in product(mine.clauses, others.clauses)
    )


def _nearest_agree(mine: _Quote, others: _Quote) -> bool:
    """Whether, of the pairs of clauses with the most words in common, one agrees on whether it denies."""
    pairs = list(product(mine.clauses, others.clauses))
    most = max((len({*a.stems} & {*b.stems}) for a, b in pairs), default=0)
    return any(a.denies() is b.denies() for a, b in pairs if len({*a.stems} & {*b.stems}) == most)


def _says_something_else(asked: _Asked, mine: _Quote, others: _Quote) -> bool:
    """Whether `mine` speaks of something else than `others`: it lacks a word of the question that the other one has,
    and has words of its own instead; or one of its clauses gives the question an answer of which the other has
    nothing."""
    lacking, own = asked.stems & others.stems - mine.stems, mine.new - others.new
    if lacking - _LIGHT and own - _LIGHT:
        return True
    return any(
        _covers(asked, clause)
        and not {*clause.stems, *clause.identifiers} & others.new
        and not any(_among(number, others.numbers) for number in clause.numbers)
        for clause in mine.clauses
    )


def _reversed(mine: _Quote, others: _Quote) -> bool:
    """Whether three words in a row stand the other way round, and both or neither are in the passive with "by"."""
    here, there = (
        {run for clause in quote.clauses for run in _runs(clause.stems)} for quote in (mine, others)
    )
    passive = {any(_BY.search(clause.text) for clause in quote.clauses) for quote in (mine, others)}
    return len(passive) == 1 and any(run[::-1] in there and run[0] != run[2] for run in here)


def _runs(stems: Sequence[str]) -> Iterable[tuple[str, str, str]]:
    return zip(stems, stems[1:], stems[2:], strict=False)


def _count_shared_numbers(mine: _Quote, others: _Quote) -> int:
    return sum(_among(number, others.numbers) for number in mine.numbers)


def _among(number: Number, numbers: Iterable[Number]) -> bool:
    return any(number.is_like(other) for other in numbers)


def _union(sets: Iterable[Iterable[_Item]]) -> frozenset[_Item]:
    return frozenset(item for items in sets for item in items)
