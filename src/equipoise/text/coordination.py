"""Two questions in one sentence ("How long may I stay, and who pays?"), cut at the "and" between them.

For English; anything in doubt stays together. What comes after the "and" must ask by itself, as word order shows:
"and how is it paid?" does, "and how it is paid" goes with what stands before it ("Who knows when it ends and ...").
"""

import re

from equipoise.text.references import ASKING, AUXILIARY, JOINING
from equipoise.text.tokens import content_words, words

MOST = 3
"""Questions of one sentence; more are left in the last."""
LONGEST = 500  # characters of a sentence that is looked at
_LEAST = 3  # words of the first question: "Where and when was it found?" is one

_PREPOSITIONS = frozenset(
    "in on at to into from for with by of after before under since until within".split()  # noqa: SIM905
)
_PREPOSITION = rf"(?:(?:{'|'.join(sorted(_PREPOSITIONS))}) )?"
_ASKING = "(?:what|which|who|whom|whose|where|when|why|how)"
_AND = re.compile(rf"(?P<comma>,)? and (?:also )?(?={_PREPOSITION}{_ASKING} )", re.IGNORECASE)
_LEADING = re.compile(rf"\A{_PREPOSITION}", re.IGNORECASE)
_OPENING = re.compile(rf"(?:(?:{'|'.join(sorted(JOINING))})\b,? )?{_PREPOSITION}(\w+)", re.IGNORECASE)
_AND_IS = re.compile(
    rf", and (?:also )?(?=(?:{'|'.join(sorted(AUXILIARY))}) (?:an?|the|it|i|you|we|they|there|my|this|any|one)\b)",
    re.IGNORECASE,
)
_BEGINS_SUBJECT = frozenset(
    "a an the it i you we they he she this that these those there my your our their his her its one".split()  # noqa: SIM905
)
_PHRASE = 6  # words from the question word to the auxiliary: "how soon before the end does"


def coordinated(question: str) -> tuple[str, ...]:
    """The questions of a sentence that asks two or more, each with a question mark; else the question alone.

    >>> coordinated("How long may I stay, and who pays?")
    ('How long may I stay?', 'who pays?')
    """
    line = " ".join(question.split())
    cut = _cut(line)
    questions: list[str] = []
    while cut and len(questions) < MOST - 1:
        questions.append(f"{line[: cut.start()].rstrip(' ,;')}?")
        line = line[cut.end() :]
        cut = _cut(line)
    return (*questions, line) if questions else (question,)


def _cut(line: str) -> re.Match[str] | None:
    """The first "and" between two questions."""
    if len(line) > LONGEST or not _opens(line):
        return None
    places = sorted([*_AND.finditer(line), *_AND_IS.finditer(line)], key=re.Match.start)
    return next(
        (place for place in places if _is_whole(line[: place.start()]) and _is_asked(line, place)), None
    )


def _opens(text: str) -> bool:
    """Whether it begins as a question does."""
    opening = _OPENING.match(text)
    return opening is not None and opening[1].casefold() in ASKING | AUXILIARY


def _is_whole(first: str) -> bool:
    tokens = words(first)
    return len(tokens) >= _LEAST and bool(content_words(first))


def _is_asked(line: str, cut: re.Match[str]) -> bool:
    """Whether what comes after the cut is in the order of a question: question word, its noun, auxiliary; or "who" or
    "what" and a verb, where a comma stands before it and nothing but the first word asked so far."""
    tokens = words(_LEADING.sub("", line[cut.end() :]))
    if cut.re is _AND_IS or len(tokens) < 2:
        return cut.re is _AND_IS
    verb = next((n for n, word in enumerate(tokens[1 : _PHRASE + 1], 1) if word in AUXILIARY), 0)
    if verb and len(tokens) > verb + 1 and not _has_subject(tokens[1:verb]):
        return True
    asked = ASKING & set(words(line[: cut.start()])[2:])
    return bool(cut["comma"]) and tokens[0] in ("who", "what") and tokens[1].endswith("s") and not asked


def _has_subject(phrase: list[str]) -> bool:
    """Whether a subject stands between question word and verb, as in "how it is paid": what follows a preposition
    ("how soon before the end is") is none."""
    pairs = zip(["", *phrase], phrase, strict=False)
    return any(word in _BEGINS_SUBJECT and before not in _PREPOSITIONS for before, word in pairs)
