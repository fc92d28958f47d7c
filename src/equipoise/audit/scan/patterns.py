"""Patterns of words, for rules that anybody may write: they cannot hang, whatever the pattern and the text.

    ignore [all|any|the] ..3 (previous|prior|earlier) instruct*

A word stands for itself, `a|b` in round brackets for one of several, square brackets for what may be missing, `word*`
for every word that begins so, `..3` for up to three words of any kind, `@name` for the list of words of that name.
All states of a pattern are the bits of one number (the Shift-And of Baeza-Yates and Gonnet, with gaps): the time is
the length of the text times a constant, never more.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from equipoise.audit.scan.words import Words, read_words
from equipoise.core.errors import InputError

LONGEST = 400
"""Characters of a pattern."""
MOST_STEPS = 60
MOST_GAP = 12
_PARTS = re.compile(r"\([^()\[\]]*+\)|\[[^()\[\]]*+\]|[^\s()\[\]]++|[()\[\]]")


@dataclass(frozen=True, slots=True)
class PatternStep:
    """One place of a pattern: any of `words`, or a word that begins with one of `prefixes`; without both, any word."""

    words: frozenset[str]
    prefixes: tuple[str, ...] = ()
    optional: bool = False

    @property
    def is_gap(self) -> bool:
        """True for any word at all."""
        return not self.words and not self.prefixes


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern: which steps a word fits, as bits, and which may be left out."""

    first: frozenset[str]
    masks: Mapping[str, int]
    prefixes: tuple[tuple[str, int], ...]
    gaps: int
    optional: int
    last: int

    def end(self, words: Sequence[str], at: int) -> int:
        """Where the shortest match that begins with word `at` ends (a row of `words`), 0 where there is none."""
        states = self._with_skips(1)
        for row in range(at, len(words)):
            word = words[row]
            fits = self.masks.get(word, 0) | self.gaps
            for prefix, mask in self.prefixes:
                if word.startswith(prefix):
                    fits |= mask
            states = self._with_skips((states & fits) << 1)
            if states & self.last:
                return row + 1
            if not states:
                return 0
        return 0

    def _with_skips(self, states: int) -> int:
        while (more := states | (states & self.optional) << 1) != states:
            states = more
        return states


def compiled(text: str, lists: Mapping[str, Sequence[str]]) -> Pattern:
    """The pattern that `text` writes. Raises InputError, saying what is wrong with it, for one that cannot be used."""
    steps = list(_steps(text, lists))
    if not steps or steps[0].is_gap or steps[0].optional or steps[0].prefixes:
        raise InputError(f"the phrase {text[:80]!r} must begin with a word that is whole and not optional")
    if len(steps) > MOST_STEPS:
        raise InputError(f"the phrase {text[:80]!r} has {len(steps)} steps: {MOST_STEPS} is the most")
    while steps[-1].optional:
        steps.pop()
    masks: dict[str, int] = defaultdict(int)
    prefixes: list[tuple[str, int]] = []
    gaps = optional = 0
    for row, step in enumerate(steps):
        for word in step.words:
            masks[word] |= 1 << row
        prefixes += [(prefix, 1 << row) for prefix in step.prefixes]
        gaps |= step.is_gap << row
        optional |= step.optional << row
    return Pattern(steps[0].words, dict(masks), tuple(prefixes), gaps, optional, 1 << len(steps))


def _steps(text: str, lists: Mapping[str, Sequence[str]]) -> Iterator[PatternStep]:
    if len(text) > LONGEST:
        raise InputError(f"the phrase {text[:80]!r}… is longer than {LONGEST} characters: split it")
    for part in _PARTS.findall(text):
        if part in "()[]":
            raise InputError(
                f"the phrase {text[:80]!r} has a bracket without its partner, or one inside another"
            )
        if part.startswith(".."):
            yield from _gap(part, text)
        elif part[0] in "([":
            yield _choice(part[1:-1], text, lists, optional=part[0] == "[")
        elif part.startswith("@") or part.endswith("*"):
            yield _choice(part, text, lists, optional=False)
        else:
            for word in read_words(part).words:
                yield PatternStep(frozenset([word]))


def _gap(part: str, text: str) -> Iterator[PatternStep]:
    size = part[2:]
    if not (size.isdecimal() and len(size) < 4 and 1 <= int(size) <= MOST_GAP):
        raise InputError(f"the phrase {text[:80]!r} has the gap {part!r}: write ..1 to ..{MOST_GAP}")
    for _ in range(int(size)):
        yield PatternStep(frozenset(), optional=True)


def _choice(inside: str, text: str, lists: Mapping[str, Sequence[str]], *, optional: bool) -> PatternStep:
    words: set[str] = set()
    prefixes: list[str] = []
    for choice in _expanded(inside, text, lists):
        bare = choice.strip().removesuffix("*")
        read = read_words(bare).words
        if len(read) != 1:
            raise InputError(
                f"the phrase {text[:80]!r} has the choice {choice!r}: each choice is one word; write the others as "
                "phrases of their own"
            )
        if choice.strip().endswith("*"):
            prefixes.append(read[0])
        else:
            words.add(read[0])
    return PatternStep(frozenset(words), tuple(prefixes), optional)


def _expanded(inside: str, text: str, lists: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for choice in inside.split("|"):
        name = choice.strip()
        if not name.startswith("@"):
            yield choice
        elif name[1:] in lists:
            yield from lists[name[1:]]
        else:
            raise InputError(f"the phrase {text[:80]!r} names the list {name!r}, which is not among [words]")


@dataclass(frozen=True, slots=True)
class Matcher:
    """Many patterns at once, by the words they begin with; each belongs to a rule."""

    by_word: Mapping[str, Sequence[tuple[str, Pattern]]] = field(default_factory=dict)

    @classmethod
    def of(cls, patterns: Sequence[tuple[str, Pattern]]) -> "Matcher":
        """For (rule, pattern) pairs."""
        by_word: dict[str, list[tuple[str, Pattern]]] = defaultdict(list)
        for rule, pattern in patterns:
            for word in pattern.first:
                by_word[word].append((rule, pattern))
        return cls(dict(by_word))

    def find(self, words: Words) -> Iterator[tuple[str, int, int]]:
        """(rule, first word, word behind the last) of matches, in order of their first words. Of matches of a rule
        that overlap, only the first."""
        behind: dict[str, int] = {}
        for at, word in enumerate(words.words):
            for rule, pattern in self.by_word.get(word, ()):
                if at >= behind.get(rule, 0) and (end := pattern.end(words.words, at)):
                    behind[rule] = end
                    yield rule, at, end
