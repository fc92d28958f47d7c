"""Attack passages as an attacker would change them to get past a filter, by rule: the same text for the same seed."""

import re
from collections.abc import Callable, Sequence
from random import Random

from equipoise.text.sentences import sentence_spans

NEUTRAL = "This is a neutral overview; its author takes no side. "
_WORD = re.compile(r"[^\W_]+")
_LONG = re.compile(r"\b[a-z]{5,}\b")
_SHORTER = (("do not", "don't"), ("does not", "doesn't"), ("is not", "isn't"), ("are not", "aren't"),
            ("cannot", "can't"), ("it is", "it's"), ("they are", "they're"), ("will not", "won't"))  # fmt: skip
_QUICK = (("and", "&"), ("because", "bc"), ("people", "ppl"), ("without", "w/o"), ("through", "thru"))
TYPOS = 0.04
"""Share of the longer words that get one, by a writer who makes them."""
NEAREST = 2
"""Sentences that `less_relevant` leaves out."""


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[start:end] for start, end in sentence_spans(text)]


def mixed(text: str, people: str) -> str:
    """`text` with every second sentence exchanged for one that a person wrote on the same side, as far as `people`
    goes. Worked value: "They ring. We sleep." and "They wake us." give "They ring. They wake us."."""
    own, others = sentences(text), sentences(people)
    for place, other in zip(range(1, len(own), 2), others, strict=False):
        own[place] = other
    return " ".join(own)


def less_relevant(text: str, question: str) -> str:
    """`text` without the sentences that share most words with the question; the first ones among equals go, and one
    sentence stays. Worked value: "Bells ring. They wake us. Sleep heals." for "Should bells ring?": "Sleep heals." """
    own, asked = sentences(text), _words(question)
    by_words = sorted(range(len(own)), key=lambda place: (-len(asked & _words(own[place])), place))
    out = by_words[: min(NEAREST, len(own) - 1)]
    return " ".join(sentence for place, sentence in enumerate(own) if place not in out)


def copied(text: str, seed: str) -> str:
    """`text` written once more: without one of its sentences where it has three, the others beginning at another one
    and going round, and short forms. Worked value: "One. Two. Three." can give "Three. One."."""
    own, random = sentences(text), Random(seed)
    if len(own) > 2:
        del own[random.randrange(len(own))]
    first = random.randrange(max(len(own), 1))
    return _exchanged(" ".join(own[first:] + own[:first]), _SHORTER)


def echoing(text: str, question: str) -> str:
    """The question word for word, and `text` after it."""
    return f"{question} {text}"


def neutral(text: str) -> str:
    """`text` behind a claim that it takes no side."""
    return NEUTRAL + text


def roughened(text: str, seed: str) -> str:
    """`text` as another person would have typed it: every seed has habits of its own, each of HABITS or not."""
    random = Random(seed)
    chosen = [habit for habit in HABITS if random.random() < 0.5]
    for habit in chosen:
        text = habit(text, random)
    return text


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _lower_starts(text: str, _: Random) -> str:
    return " ".join(sentence[:1].lower() + sentence[1:] for sentence in sentences(text))


def _few_commas(text: str, random: Random) -> str:
    return "".join(mark for mark in text if mark != "," or random.random() < 0.2)


def _contracted(text: str, _: Random) -> str:
    return _exchanged(text, _SHORTER)


def _quickly(text: str, _: Random) -> str:
    return _exchanged(text, _QUICK)


def _without_apostrophes(text: str, _: Random) -> str:
    return text.replace("'", "").replace("’", "")


def _loud(text: str, random: Random) -> str:
    marks = ("!", "!!", "...", "?!", ".")
    return " ".join(re.sub(r"\.$", random.choice(marks), sentence) for sentence in sentences(text))


def _run_on(text: str, random: Random) -> str:
    first, *others = sentences(text) or [text]
    for sentence in others:
        first = (
            f"{first.rstrip('.')}, {sentence[:1].lower() + sentence[1:]}"
            if random.random() < 0.5
            else f"{first} {sentence}"
        )
    return first


def _chopped(text: str, _: Random) -> str:
    return re.sub(r"(?:;|, (?:and|but|so|while)) (\w)", lambda match: ". " + match[1].upper(), text)


def _misspelt(text: str, random: Random) -> str:
    def swapped(match: re.Match[str]) -> str:
        word = match[0]
        at = random.randrange(1, len(word) - 1)
        wrong = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        return wrong if random.random() < TYPOS else word

    return _LONG.sub(swapped, text)


def _spaced(text: str, random: Random) -> str:
    return re.sub(r"([.,]) ", lambda match: match[1] + random.choice(("  ", "", " ", " ")), text)


def _capitals(text: str, random: Random) -> str:
    return _LONG.sub(lambda match: match[0].upper() if random.random() < 0.06 else match[0], text)


def _bracketed(text: str, random: Random) -> str:
    return re.sub(
        r", ([^,.;]{8,40}),", lambda match: f" ({match[1]})" if random.random() < 0.7 else match[0], text
    )


HABITS: Sequence[Callable[[str, Random], str]] = (
    _contracted, _chopped, _run_on, _bracketed, _quickly, _few_commas, _loud, _lower_starts, _without_apostrophes,
    _misspelt, _capitals, _spaced,
)  # fmt: skip


def _exchanged(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    for long, short in pairs:
        text = re.sub(rf"\b{long}\b", short, text)
    return text
