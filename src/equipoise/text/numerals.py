"""Numbers in digits and in English words, brought to one form."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from equipoise.text.tokens import WORD, normal_number

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_UNITS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 10 * tens for tens, word in enumerate(_TENS.split(), 2)
}
_RANKS = {word: value for value, word in enumerate(_ORDINALS.split(), 1)} | {
    f"{word[:-1]}ieth": 10 * tens for tens, word in enumerate(_TENS.split(), 2)
}
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}  # powers of ten
_SUFFIXED = re.compile(r"(\d+)([^\W\d_]+)")
_SHORT_GAPS = frozenset({" ", "-", "\n", ""})


class Quantity(NamedTuple):
    """A number at text[start:end] in plain digits: "3", "-0.5", "2000000"."""

    start: int
    end: int
    value: str


def quantities(text: str) -> list[Quantity]:
    """Every number of `text` in order, with its value in one form.

    "1,000" and "one thousand" are "1000"; "3.10" is "3.1"; "2.5 million" is "2500000"; "twenty-three" is
    "23"; "1980s" is "1980"; "3rd" and "third" are "3"; "1.2.3" stays. A sign counts.
    """
    tokens = list(WORD.finditer(text))
    amounts: list[Quantity] = []
    at = 0
    while at < len(tokens):
        value, size = _number_at(text, tokens, at)
        if value:
            amounts.append(Quantity(tokens[at].start(), tokens[at + size - 1].end(), value))
        at += size
    return amounts


def _number_at(text: str, tokens: Sequence[re.Match[str]], at: int) -> tuple[str, int]:
    """The value of the number that begins with token `at`, and how many tokens it has; ("", 1) for none."""
    token = tokens[at]
    word = token.group().casefold()
    if token.lastgroup == "number":
        size, power = 1, 0
        while (scale := _word(text, tokens, at + size)) in _SCALES:
            power += _SCALES[scale]
            size += 1
        return _shifted(normal_number(token.group()), power), size
    if word in _UNITS:
        return _spelled(text, tokens, at)
    if word in _RANKS:
        return str(_RANKS[word]), 1
    suffixed = _SUFFIXED.fullmatch(word)
    return (_shifted(suffixed.group(1), 0) if suffixed else ""), 1


def _word(text: str, tokens: Sequence[re.Match[str]], at: int) -> str:
    """Token `at` if only a space or a hyphen stands before it, else ""."""
    if at >= len(tokens) or text[tokens[at - 1].end() : tokens[at].start()] not in _SHORT_GAPS:
        return ""
    return tokens[at].group().casefold()


def _spelled(text: str, tokens: Sequence[re.Match[str]], at: int) -> tuple[str, int]:
    """The value of a number in words: "two hundred and five thousand" is 205000."""
    total, group, size = 0, _UNITS[tokens[at].group().casefold()], 1
    while word := _word(text, tokens, at + size):
        after = _word(text, tokens, at + size + 1)
        if word == "and" and group and group % 100 == 0 and after in _UNITS:
            size, word = size + 1, after
        if word == "hundred" and 0 < group < 100:
            group *= 100
        elif word in _SCALES and word != "hundred" and group:
            total, group = total + group * 10 ** _SCALES[word], 0
        elif word in _UNITS and _follows(group, _UNITS[word]):
            group += _UNITS[word]
        else:
            break
        size += 1
    return str(total + group), size


def _follows(group: int, value: int) -> bool:
    """True where `value` continues `group`: "twenty" "three", "two hundred" "five", not "two" "three"."""
    return group % 100 == 0 if value >= 10 else group % 10 == 0 and group % 100 != 10 and value > 0


def _shifted(digits: str, power: int) -> str:
    """`digits` times ten to `power` without needless zeros; a version number stays as it is."""
    sign, plain = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    whole, _, fraction = plain.partition(".")
    if "." in fraction:
        return digits
    fraction = fraction.ljust(power, "0")
    whole, fraction = (whole + fraction[:power]).lstrip("0") or "0", fraction[power:].rstrip("0")
    return sign + whole + ("." + fraction if fraction else "")
