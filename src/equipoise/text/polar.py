"""Yes and no: yes/no questions, sentences that deny, and answers that reverse what their quotes say."""

import re
from collections.abc import Iterator, Sequence, Set

from equipoise.core.types import Tag
from equipoise.text.support import stem
from equipoise.text.tokens import content_words

_AUXILIARY = (
    r"am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
    r"|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|hasn't|haven't|hadn't|can't|couldn't|won't|wouldn't|shouldn't"
)
_OPENING = re.compile(rf"(?:\A|[:;,.]\s+)(?:{_AUXILIARY})\b", re.IGNORECASE)
_NORM = re.compile(r"\b(?:should|ought)\b", re.IGNORECASE)
_ASKS_WHAT = re.compile(
    r"\W*(?:\w+\W+){0,3}(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE
)
_CHOICE = re.compile(r"\bor\b(?!\s+not\b)", re.IGNORECASE)
# "Can you tell me when", "Do you know who", "May I ask how": a request to be told something.
_REQUEST = re.compile(
    rf"\A(?:[^?]*[:;,.]\s+)?(?:{_AUXILIARY})\s+(?:you|i|we|one|anyone|anybody|someone|somebody)\s+(?:please\s+|kindly\s+)?"
    r"(?:explain|describe|list|summari[sz]e|outline|define|clarify|compare|translate"
    r"|\w+\s+(?:me|us)\b|\w+\s+(?:\w+\s+)?(?:what|when|where|who|whom|whose|which|why|how))\b",
    re.IGNORECASE,
)
_WHETHER = re.compile(r"\b(?:if|whether|that)\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|nowhere|neither|nor|without|cannot|unable|impossible|forbidden|forbids?"
    r"|prohibit(?:s|ed)?|refus(?:es?|ed)|reject(?:s|ed)?|den(?:y|ies|ied)|lacks?|fail(?:s|ed)?|excluded|disallowed"
    r"|unsupported|invalid|false|untrue|incorrect)\b|n't\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(r"\A[\s\"'“‘*_(]{0,9}(yes|no)\b(?=[\s\"'”’*_)]{0,9}(?:[,.:;!–—-]|\Z))", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[.;:,!?\n–—]\s|\b(?:but|however|and|because|although|while|so|whereas)\b", re.IGNORECASE
)
_CONTRAST = re.compile(
    r"[.!?\n]\s|\b(?:but|however|although|though|while|whereas|except|unless)\b", re.IGNORECASE
)
ALIKE = 0.7
"""Jaccard share (0 to 1) of words from which two clauses count as being about the same thing."""
LEAST = 3
"""Least number of words of a clause that is compared."""


def is_yes_no(question: str) -> bool:
    """Whether `question` is of the form that "yes" or "no" answers: it, or its last clause, begins with an
    auxiliary verb, it offers no choice ("red or blue?"), and it is no request to be told something.

    >>> is_yes_no("Can I return it after 30 days?"), is_yes_no("Can you tell me when I can return it?")
    (True, False)
    """
    last = _last_clause(question)
    return _OPENING.search(last) is not None and not _CHOICE.search(question) and not _is_request(last)


def has_sides(question: str) -> bool:
    """Whether a text can argue for the yes or the no of `question`: it, or its last clause, begins with an auxiliary
    verb, or says what should be; it is no request to be told something. English only.

    >>> has_sides("Should tea be free?"), has_sides("Tea should be free"), has_sides("Why should tea be free?")
    (True, True, False)
    """
    last = _last_clause(question)
    opens = _OPENING.search(last) or (_NORM.search(last) and not _ASKS_WHAT.match(last))
    return bool(opens) and not _is_request(last)


def _last_clause(question: str) -> str:
    """What stands between the last two question marks, or behind the only one, in straight apostrophes."""
    asked = " ".join(question.replace("\u2019", "'").split()).rstrip("?")
    return asked[asked.rfind("?") + 1 :].strip()


def _is_request(clause: str) -> bool:
    request = _REQUEST.match(clause)
    return request is not None and _WHETHER.search(clause, request.end()) is None


def denials(text: str) -> int:
    """How many words of `text` deny: two of them in one clause ("not forbidden") cancel each other out."""
    return sum(1 for _ in _DENIAL.finditer(text.replace("\u2019", "'")))


def denies(text: str) -> bool:
    """Whether a word of `text` denies: "not", "nothing", "cannot", "forbidden" and their like."""
    return _DENIAL.search(text.replace("\u2019", "'")) is not None


def supported(tags: Set[Tag], quotes: Sequence[str]) -> frozenset[Tag]:
    """The tags that may stand before `quotes`: "yes" where nothing in them denies, "no" where every sentence of theirs
    does, also before and after a "but".

    Both tags at once count as neither. A function of tags and quotes alone, so that nobody who flips a tag through the
    question can put "Yes." before "Nothing is refunded." It is strict: where it cannot tell, no tag goes out.
    """
    if len(tags) != 1 or not quotes:
        return frozenset()
    (tag,) = tags
    parts = [part for quote in quotes for part in _CONTRAST.split(quote) if len(content_words(part)) > 1]
    denials = [denies(part) for part in parts] or [False]
    return frozenset(tags) if (all(denials) if tag is Tag.NO else not any(denials)) else frozenset()


def verdict_in(answer: str) -> Tag | None:
    """The yes or no that `answer` begins with.

    >>> verdict_in("No, it is closed."), verdict_in("No dogs are let in.")
    (<Tag.NO: 'no'>, None)
    """
    match = _VERDICT.match(answer)
    return Tag(match.group(1).lower()) if match else None


def reversed_claims(answer: str, quotes: Sequence[str], tags: Set[Tag] = frozenset()) -> tuple[str, ...]:
    """What `answer` reverses: the yes or no it begins with if `tags` do not say the same, and each clause that denies
    what a quote affirms in mostly the same words, or affirms what a quote denies.

    Clauses of fewer than LEAST words are not compared, nor clauses that share less than ALIKE of their words.
    """
    verdict = verdict_in(answer)
    contradictions = [verdict.value.capitalize()] if verdict and tags != {verdict} else []
    said = [(clause, words) for quote in quotes for clause, words in _clauses(quote)]
    for clause, words in _clauses(answer):
        alike = [other for other, theirs in said if len(words & theirs) >= ALIKE * len(words | theirs)]
        if alike and all(denies(other) is not denies(clause) for other in alike):
            contradictions.append(clause)
    return tuple(dict.fromkeys(contradictions))


def _clauses(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The clauses of `text`, and its sentences where they have several, each with the stems of its words."""
    for piece in dict.fromkeys([*_CLAUSE.split(text), *re.split(r"[.!?\n]\s", text)]):
        words = frozenset(
            stem(word) for word in content_words(_DENIAL.sub(" ", piece.replace("\u2019", "'")))
        )
        if len(words) >= LEAST:
            yield piece.strip(" .!?"), words
