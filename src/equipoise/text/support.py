"""Does an answer say only what its quotes say? A check of words, not of meaning.

A summarizer that does not see the question is tempted to invent a subject. Every name, number and telling
word of its answer must occur in the quotes or titles; what does not is returned.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from equipoise.text.numerals import quantities
from equipoise.text.tokens import STOP_WORDS, WORD, content_words, name_matches, words

# Numbering and reference marks a model adds: "1. ", "(2) ", "- " at line starts, "[1]" and "[2, 3]" anywhere.
_MARKS = re.compile(r"(?m)^[ \t]*(?:\(?\d{1,2}[.)]|[-*•])[ \t]+(?=\S)|\[\d{1,2}(?:, ?\d{1,2})*\]")
_ADDRESS = re.compile(
    r"(?:\b[a-z][a-z0-9+.-]{1,30}:)?+//[^\s<>\"')\]]++|\b(?:data|javascript|mailto):[^\s<>\"')\]]++"
    r"|\b(?:www\.|(?:[\w-]{1,60}\.){1,9}+[a-z]{2,20}/)[^\s<>\"')\]]*+",
    re.IGNORECASE,
)
_NAMES_TOO = frozenset({"may", "will", "us"})  # stop words that are names with a capital
_PLAIN_NUMBERS = frozenset({"zero", "one", "first", "second"})  # "one of them", "first, ..."
_LONGEST_ACRONYM = 20  # letters
_ENDINGS = ("ingly", "edly", "ing", "ied", "ily", "ed", "ly")
_VOWELS = frozenset("aeiouy")
_IRREGULAR = dict(
    pair.split(":")
    for pair in """
        men:man women:woman children:child feet:foot teeth:tooth mice:mouse geese:goose lives:life
        wives:wife wolves:wolf leaves:leaf halves:half analyses:analysis crises:crisis theses:thesis
        criteria:criterion phenomena:phenomenon bought:buy sold:sell fought:fight flew:fly flown:fly
        dying:die lying:lie won:win lost:lose fed:feed slept:sleep sang:sing sung:sing taught:teach
        built:build sank:sink sunk:sink hid:hide wrote:write written:write grew:grow grown:grow
    """.split()  # noqa: SIM905
)


def stem(word: str) -> str:
    """A case-folded word without 's, plural, -ed, -ing, -ly, a last e and doubled consonants, and
    with American for British spelling. Not a word of the language, but equal for inflections of one: planned,
    planning, plans -> "plan"; colour, colors -> "color"; realise, realized -> "realis".
    """
    word = word.removesuffix("'s").removesuffix("'")
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isalpha():
        return word
    word = _singular(word)
    if word.endswith("eed"):
        word = word[:-1]
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and not _VOWELS.isdisjoint(rest):
            word = rest + ("y" if ending in ("ied", "ily") else "")
            break
    if word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    if word.endswith("y"):
        word = word[:-1] + "i"
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 2 and word.endswith("z"):
        word = word[:-1] + "s"
    return word[:-2] + "r" if word.endswith("our") else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and word[-2] not in "siu" else word


@cache
def common_words() -> frozenset[str]:
    """About 2,000 English words without a topic, from `common_words.txt`; an answer may add them freely."""
    lines = files(__package__).joinpath("common_words.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def content_stems(text: str) -> frozenset[str]:
    """The stems of the words of `text` that are no STOP_WORDS."""
    return frozenset(map(stem, content_words(text)))


@lru_cache(maxsize=4)
def stems_of(common: frozenset[str]) -> frozenset[str]:
    """The stems of the words `common`, such as `common_words()`."""
    return frozenset(map(stem, common))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What an answer may use: stems (of joined neighbours too), values of numbers, acronyms of names."""

    stems: frozenset[str]
    values: frozenset[str]
    acronyms: frozenset[str]

    @classmethod
    def of(cls, texts: Sequence[str], acronyms: Set[str]) -> "_Evidence":
        """The evidence in `texts`, and which of `acronyms` its initials spell."""
        stems: set[str] = set()
        values: set[str] = set()
        for text in texts:
            tokens = [word.removesuffix("'s") for word in words(text)]
            stems.update(map(stem, tokens))
            stems.update(stem(a + b) for a, b in pairwise(tokens))
            values.update(quantity.value for quantity in quantities(text))
        return cls(frozenset(stems), frozenset(values), _spelled(acronyms, " ".join(map(_initials, texts))))


def _initials(text: str) -> str:
    """First letters of capitalised words; other words leave a gap, stop words nothing."""
    tokens = (match.group() for match in WORD.finditer(text))
    return "".join(
        token[0] if token[0].isupper() else " " for token in tokens if token.casefold() not in STOP_WORDS
    )


def _acronym(token: str) -> str:
    """`token` without its points where it has several capitals, else empty."""
    return token.replace(".", "") if sum(map(str.isupper, token)) > 1 else ""


def _spelled(acronyms: Set[str], initials: str) -> frozenset[str]:
    """Those of `acronyms` that stand in `initials`; one longer than _LONGEST_ACRONYM does not count."""
    sizes = {len(acronym) for acronym in acronyms if len(acronym) <= _LONGEST_ACRONYM}
    pieces = (initials[at : at + size] for size in sizes for at in range(len(initials) - size + 1))
    return frozenset(piece for piece in pieces if piece in acronyms)


def unsupported(
    answer: str, evidence: Sequence[str], *, common: frozenset[str] | None = None
) -> tuple[str, ...]:
    """Addresses, names, numbers and words of `answer` that do not occur in `evidence`, as written, each once.

    Not reported: stop words, `common` words (default `common_words()`), inflections of words that occur,
    other ways to write a number ("three", "3", "3.0", "2 million") or a compound ("e-mail", "email"),
    initials of a name that occurs, list numbers and reference marks. A capitalised word within a sentence
    must occur even where it is common ("May", "Will"); an address must occur as a whole, so that none is assembled
    from words that occur to leak what was read. It cannot see a changed relation between words that all occur.
    """
    answer = _MARKS.sub(" ", answer)
    names = list(name_matches(answer))
    known = _Evidence.of(evidence, {acronym for name in names if (acronym := _acronym(name.group()))})
    allowed = stems_of(common_words() if common is None else common)
    counted = {quantity.start: quantity for quantity in quantities(answer)}
    named = {match.start() for match in names}
    missing = {address.casefold(): address for address in foreign_addresses(answer, evidence)}
    skip_until = 0
    for group in _compounds(answer):
        joined_known = _joined_known(group, known)
        for match in group:
            if match.start() < skip_until:
                continue
            token = match.group()
            if quantity := counted.get(match.start()):
                skip_until = quantity.end
                token = answer[quantity.start : quantity.end]
                fine = quantity.value in known.values or token.casefold() in _PLAIN_NUMBERS
            else:
                fine = _is_known(token, known, allowed, name=match.start() in named)
            if not fine and not joined_known:
                missing.setdefault(token.casefold(), token)
    return tuple(missing.values())


def foreign_addresses(answer: str, evidence: Sequence[str]) -> list[str]:
    """The links and mail addresses of `answer`, with a scheme, `www.` or a path, that do not occur in `evidence`.

    >>> foreign_addresses("See https://a.example/form.", ["The form is at https://a.example/form"])
    []
    >>> foreign_addresses("See https://a.example/form?seen=7", ["The form is at https://a.example/form"])
    ['https://a.example/form?seen=7']
    """
    found = list(_ADDRESS.finditer(answer))
    known = {_bare(match) for text in evidence for match in _ADDRESS.finditer(text)} if found else ()
    return [match.group() for match in found if _bare(match) not in known]


def _bare(match: re.Match[str]) -> str:
    return match.group().rstrip(".,;:!?*_`").casefold()


def _compounds(text: str) -> Iterator[list[re.Match[str]]]:
    """The words of `text`, those joined by a hyphen together."""
    group: list[re.Match[str]] = []
    for match in WORD.finditer(text):
        if group and text[group[-1].end() : match.start()] not in ("-", "‑", "‐"):
            yield group
            group = []
        group.append(match)
    if group:
        yield group


def _joined_known(group: Sequence[re.Match[str]], known: _Evidence) -> bool:
    return len(group) > 1 and stem("".join(match.group().casefold() for match in group)) in known.stems


def _is_known(token: str, known: _Evidence, allowed: frozenset[str], *, name: bool) -> bool:
    """True where a word of the answer occurs in the evidence or needs no support."""
    word = words(token)[0]
    root = stem(word)
    if root in known.stems:
        return True
    if name and _acronym(token) in known.acronyms:
        return True
    if name:
        return word in STOP_WORDS and word not in _NAMES_TOO
    return word in STOP_WORDS or root in allowed
