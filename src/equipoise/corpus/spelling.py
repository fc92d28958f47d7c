"""Words that a question has and nobody knows, and the word of the corpus or of English that was probably meant."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from rapidfuzz.distance import OSA, Levenshtein
from rapidfuzz.process import cdist

from equipoise.text.numerals import quantities
from equipoise.text.tokens import WORD

SHORTEST = 4
"""Letters of a word that is looked up; shorter ones are near to everything."""
LONG = 7
"""Letters from which on two slips count as one word, not one."""
MOST = 8
"""Words of one question that are looked up."""
NEAREST = 8
"""Stems whose words are looked at."""
ACRONYM = 5
"""Letters up to which a word in capitals is a name of its own."""
PLAIN = 6
"""Letters from which on any likely slip makes a word of English: among shorter ones too many that few know (wifi,
toner) are near to a common one."""
_LONGEST = 30
_ENDINGS = ("ed", "er", "est", "ing")
_VOWELS = frozenset("aeiouy")

Correction = tuple[str, str]
"""A word as it was typed, and the word that was probably meant."""


def unknown(text: str, known: Container[str]) -> list[str]:
    """The different words of `text`, at most MOST, that could be misspelt: letters only, long enough, not `known`,
    and neither numbers nor names such as XRGA or onRedirect."""
    words = dict.fromkeys(match.group() for match in WORD.finditer(text))
    fitting = (word for word in words if word.isalpha() and SHORTEST <= len(word) <= _LONGEST)
    plain = (word for word in fitting if not _is_name(word))
    return [word for word in plain if not is_known(word, known) and not quantities(word)][:MOST]


def strange(words: Iterable[str], known: Container[str]) -> tuple[str, ...]:
    """Those of the words that are not `known` in any form."""
    return tuple(word for word in words if not is_known(word, known))


def is_known(word: str, known: Container[str]) -> bool:
    """Whether one of the word's forms is among the words in lower case; what is a number is."""
    return word.isdigit() or any(form in known for form in _forms(word))


def _is_name(word: str) -> bool:
    return len(word) <= ACRONYM if word.isupper() else not word[1:].islower()


def _forms(word: str) -> Iterator[str]:
    """The word in lower case, and with other endings of English: lists of common words often lack the plain form."""
    plain = word.casefold()
    yield plain
    for ending in ("e", "s", *_ENDINGS):
        stem = plain.removesuffix(ending)
        if stem != plain and (ending == "e" or len(stem) >= SHORTEST):
            yield from (stem, f"{stem}e", *(f"{stem}{other}" for other in _ENDINGS))
    yield from (f"{plain}{other}" for other in ("s", *_ENDINGS) if not plain.endswith("s"))


def near(typed: str, words: Iterable[str]) -> list[str]:
    """The words that a slip or two turn into `typed`, in lower case: a letter too many, too few, another one, or two
    that changed places (optimal string alignment). The first letter is right, or has changed places with the second.
    """
    most = _slips(typed)
    like = [word for word in words if abs(len(word) - len(typed)) <= most and begins_like(typed, word)]
    slips = cdist([typed], like, scorer=OSA.distance, score_cutoff=most)[0].tolist() if like else []
    return [word for word, count in zip(like, slips, strict=True) if count <= most]


def near_stems(typed: str, stems: Iterable[str]) -> list[str]:
    """The stems, at most NEAREST, that are `near` to what `typed` begins with, the longest of the nearest first."""
    most = _slips(typed)
    by_length: dict[int, list[str]] = {}
    for stem in stems:
        if len(typed) <= 2 * len(stem) <= 2 * (len(typed) + most) and begins_like(typed, stem):
            by_length.setdefault(len(stem), []).append(stem)
    distances: dict[str, int] = {}
    for length, some in by_length.items():
        for begins in {typed[:size] for size in range(length - 1, length + 2)}:
            slips = cdist([begins], some, scorer=OSA.distance, score_cutoff=most)[0].tolist()
            distances |= {
                s: min(n, distances.get(s, n)) for s, n in zip(some, slips, strict=True) if n <= most
            }
    return sorted(distances, key=lambda stem: (distances[stem], -len(stem), stem))[:NEAREST]


def meant(typed: str, words: Iterable[str], commonness: Callable[[str], float]) -> str:
    """The word of `words` that was probably meant: the fewest slips, the fewest unlikely ones, then the commonest; ""
    where none is near."""
    lower = typed.lower()
    rated = [
        (OSA.distance(lower, word), _unlikely(lower, word), -commonness(word), word)
        for word in near(lower, words)
    ]
    return min(rated)[-1] if rated else ""


def chosen(typed: str, words: Iterable[str], times: Callable[[str], float], ranks: Mapping[str, int]) -> str:
    """The word that was probably meant: one of `words`, which the corpus has so many `times`, or else of English; ""
    for none. Nothing is read as a number: a slip would make another question of it."""
    here, there = meant(typed, set(words), times), english(typed, ranks)
    right = meant(typed, filter(None, (here, there)), lambda word: float(word == here)) or there
    return "" if quantities(right) else right


def english(typed: str, ranks: Mapping[str, int]) -> str:
    """The word of English that was probably meant, the commonest of those that are one likely slip away, where "f" for
    "ph" is none; "" for none and for names. Of a short word only a double letter is a likely one: a word that only few
    know is no slip ("modem", "wifi")."""
    lower = typed.lower() if typed[:1].islower() else ""
    for spelt in dict.fromkeys((lower, lower.replace("f", "ph"))):
        words = [word for word in near(spelt, ranks) if OSA.distance(spelt, word) <= 1]
        if right := meant(spelt, words, lambda word: -ranks[word]):
            likely = len(spelt) >= PLAIN and not _unlikely(spelt, right)
            return right if likely or _single(spelt) == _single(right) else ""
    return ""


def _single(word: str) -> str:
    """The word with every double letter once."""
    return "".join(letter for letter, _ in groupby(word))


def begins_like(typed: str, word: str) -> bool:
    """Whether both begin with the same letter, or with the same two that changed places."""
    return word[:1] in typed[:2] and typed[:1] in word[:2]


def _slips(word: str) -> int:
    return 2 if len(word) >= LONG else 1


def _unlikely(typed: str, word: str) -> int:
    """Slips that a hand or an ear rarely makes: a consonant for another letter, and a letter too many that is not the
    one beside it. Left-out letters are the commonest of all."""
    count = 0
    if sorted(typed) == sorted(word):
        return int(typed[0] != word[0])
    for edit in Levenshtein.editops(typed, word):
        letter = typed[edit.src_pos : edit.src_pos + 1]
        if edit.tag == "delete":
            count += letter not in (
                typed[edit.src_pos - 1 : edit.src_pos],
                typed[edit.src_pos + 1 : edit.src_pos + 2],
            )
        elif edit.tag == "replace":
            count += not {letter, word[edit.dest_pos]} <= _VOWELS
    return count


def corrected(text: str, corrections: Sequence[Correction]) -> str:
    """`text` with each word as it was probably meant."""
    meant = dict(corrections)
    return WORD.sub(lambda match: meant.get(match.group(), match.group()), text)
