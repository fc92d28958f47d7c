"""Messages that ask nothing of documents: greetings, thanks, "who are you?", insults, "asdf".

A message is small talk where phrases of `small_talk.txt` cover all of it. A word that could be meant as a question
("joke", "abc", a hand on the keyboard) counts only where no document has it.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from equipoise.text.normal import without_accents
from equipoise.text.sentences import prose_spans
from equipoise.text.tokens import says_something, words

OutOfCorpus = Callable[[str], Collection[str]]
"""The words of a text, in lower case, that no document has."""
MOST_WORDS = 40
"""Most words of small talk; a longer message counts as a question."""
LONGEST = 30
"""Most letters of a word that may be mashed keys."""
_ANY = "_"
_CHOICE = re.compile(r"\(([^()]*)\)")
_KEYS = ["qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "qsdfghjklm", "zxcvbnm", "yxcvbnm", "wxcvbn"]
_ROWS = (*_KEYS, *(row[::-1] for row in _KEYS))
_RUN, _CLUSTER = 4, 6
"""From so many letters along a row of the keyboard, or consonants in a row, a word counts as mashed keys."""
_MANY = re.compile(r"(.)\1\1+")
_ONE_SOUND = re.compile("sch|ch|ck|ng|ph|st|th|tz")
_VOWELS = frozenset("aeiouy")
_CONSONANTS = re.compile("[bcdfghjklmnpqrstvwxz]+")


class _Phrase(NamedTuple):
    """A phrase of the list. Its words at the indices `strange` match only where no document has them; `alone`: it is
    small talk by itself, not only beside other phrases."""

    words: tuple[str, ...]
    strange: frozenset[int]
    alone: bool

    def covers(self, typed: list[str]) -> bool:
        """Whether these are its words."""
        return len(self.words) == len(typed) and all(
            word in (_ANY, said) for word, said in zip(self.words, typed, strict=True)
        )


def asked(message: str, out_of_corpus: OutOfCorpus) -> str:
    """What `message` asks: it without the sentences that are small talk, empty where all of it is and where
    it says nothing.

    >>> asked("Hi! How are you? When do you open?", lambda text: ())
    'When do you open?'
    >>> asked("Thanks a lot, bye", lambda text: ())
    ''
    """
    if not says_something(message) or is_small_talk(message, out_of_corpus):
        return ""
    sentences = [message[start:end] for start, end in prose_spans(message)]
    left = [sentence for sentence in sentences if not is_small_talk(sentence, out_of_corpus)]
    return message if len(left) == len(sentences) else " ".join(left)


def is_small_talk(text: str, out_of_corpus: OutOfCorpus) -> bool:
    """Whether all of `text` is small talk, or holds no word; `out_of_corpus` is asked only where that decides."""
    typed = words(text)
    if len(typed) > MOST_WORDS:
        return False
    absent: set[str] = set()

    def is_absent(word: str) -> bool:
        if not absent:
            absent.update(("", *out_of_corpus(text)))
        return word in absent

    plain = [_plain(word) for word in typed]
    covered = [{True} if not typed else {False}, *(set[bool]() for _ in typed)]
    """For each number of first words: empty unless phrases cover them, else whether one of these may stand alone."""
    for at, word in enumerate(plain):
        for phrase in _phrases().get(word, ()) if covered[at] else ():
            end = at + len(phrase.words)
            if phrase.covers(plain[at:end]) and all(is_absent(typed[at + n]) for n in phrase.strange):
                covered[end] |= {before or phrase.alone for before in covered[at]}
        if covered[at] and _is_mashed(typed[at]) and is_absent(typed[at]):
            covered[at + 1].add(True)
    return True in covered[-1]


@cache
def _phrases() -> Mapping[str, tuple[_Phrase, ...]]:
    """The phrases of the list by their first word."""
    by_first: dict[str, dict[_Phrase, None]] = {}
    for line in _plain(files(__package__).joinpath("small_talk.txt").read_text("utf-8")).splitlines():
        for text in _expanded(line.lstrip("~")) if line and not line.startswith("#") else ():
            parts = (
                text.split() if text.isascii() else [part for part in text.split() for part in _split(part)]
            )
            strange = frozenset(n for n, part in enumerate(parts) if part.startswith("*"))
            phrase = _Phrase(tuple(part.lstrip("*") for part in parts), strange, not line.startswith("~"))
            by_first.setdefault(phrase.words[0], {})[phrase] = None
    return {first: tuple(some) for first, some in by_first.items()}


def _split(part: str) -> list[str]:
    """The words of `part`, which are single characters in scripts without spaces; each keeps the mark "*"."""
    mark = "*" if part.startswith("*") else ""
    return [mark + word for word in words(part)]


def _expanded(line: str) -> Iterator[str]:
    """Every text that the line stands for, with one choice made in each "(a|b)"."""
    if choice := _CHOICE.search(line):
        for one in choice[1].split("|"):
            yield from _expanded(line[: choice.start()] + one + line[choice.end() :])
    else:
        yield line


def _plain(text: str) -> str:
    """In lower case, without accents and apostrophes, a letter that is typed three times and more once."""
    return _MANY.sub(r"\1", without_accents(text).casefold()).replace("'", "")


def _is_mashed(word: str) -> bool:
    """Whether a hand fell on the keyboard: one letter, the same ones again and again, a run along a row, no vowel in
    sight."""
    if len(word) > LONGEST or not word.isalnum() or not word.isascii():
        return False
    size = next(size for size in range(1, len(word) + 1) if word == (word[:size] * len(word))[: len(word)])
    block, times = word[:size], len(word) / size
    again = size > 1 and times >= 2 and len(word) >= _CLUSTER and (_is_run(block) or not _VOWELS & {*block})
    run = len(word) >= _RUN and _is_run(word) and (len(word) > _RUN or _begins_row(word))
    clusters = _CONSONANTS.findall(_ONE_SOUND.sub("c", word))
    return (size == 1 and times != 2) or again or run or max(map(len, clusters), default=0) >= _CLUSTER


def _is_run(word: str) -> bool:
    return any(word in row for row in _ROWS)


def _begins_row(word: str) -> bool:
    return any(row.startswith(word) for row in _ROWS)
