"""Finds what rules list as data: phrases, literal texts and names of tools that are called."""

import re
from collections.abc import Iterator

from equipoise.audit.scan.findings import Hit
from equipoise.audit.scan.rules import Rules
from equipoise.audit.scan.words import Words

LONGEST_NAME = 60
_CALL = re.compile(r"(?<![\w.])[A-Za-z_][\w.\\]{1,60}+[`*]{0,2}+\s{0,2}+\(")


def find(text: str, words: Words, rules: Rules) -> Iterator[Hit]:
    """What the data of `rules` finds in `text`, whose words are `words`."""
    yield from phrases(words, rules)
    yield from _literals(text, rules)
    yield from _calls(text, rules)


def phrases(words: Words, rules: Rules) -> Iterator[Hit]:
    """Matches of phrases alone."""
    for rule, first, behind in rules.phrases.find(words):
        yield Hit(rule, words.starts[first], words.ends[behind - 1])


def _literals(text: str, rules: Rules) -> Iterator[Hit]:
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two: offsets count more than their case
        lowered = "".join(c.lower() if c.isascii() else c for c in text)
    for rule, literal in rules.literals:
        at = lowered.find(literal)
        while at >= 0:
            yield Hit(rule, at, at + len(literal))
            at = lowered.find(literal, at + len(literal))


def _calls(text: str, rules: Rules) -> Iterator[Hit]:
    if not rules.calls:
        return
    for match in _CALL.finditer(text):
        name = match.group().rstrip("( \t\n\r`*").replace("\\", "").lower()
        if rule := rules.calls.get(name):
            yield Hit(rule, match.start(), match.end(), f"It calls {name}.")
