"""Measures of answers, highlights and guesses. Pure functions; None means "nothing to measure", never 0.

Token measures follow Adlakha and others, "Evaluating correctness and faithfulness of instruction-following models
for question answering" (2023), with SQuAD's normalisation; shared tokens are counted with repeats.
"""

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from equipoise.core.types import Span
from equipoise_lab.maths.rates import Estimate, scipy_stats
from equipoise_lab.maths.statistics import percentile_intervals

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


class Relation(StrEnum):
    """How a highlighted text and the gold passage contain each other (Figure 6), of the highlighted text."""

    EQUAL = "both"
    SUBSTRING = "substring"
    SUPERSTRING = "superstring"
    NEITHER = "neither"


def normal(text: str) -> str:
    """SQuAD's normalisation: lower case, without punctuation, articles and repeated space."""
    return " ".join(tokens(text))


def tokens(text: str) -> list[str]:
    """The words of `normal`. Worked value: "The cat, a cat." gives ["cat", "cat"]."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def recall(reference: str, prediction: str) -> float | None:
    """The share (0 to 1) of the reference's tokens that the prediction has; None for an empty reference.

    Worked value: "red old barn" in "an old red car" gives 2/3.
    """
    wanted, given = Counter(tokens(reference)), Counter(tokens(prediction))
    return (wanted & given).total() / wanted.total() if wanted else None


def k_precision(prediction: str, knowledge: str) -> float | None:
    """The share (0 to 1) of the prediction's tokens that the knowledge has; None for an empty prediction."""
    return recall(prediction, knowledge)


def best_recall(references: Sequence[str], prediction: str) -> float | None:
    """The recall of the reference that is met best; None without references."""
    recalls = [value for reference in references if (value := recall(reference, prediction)) is not None]
    return max(recalls, default=None)


def answer_hit(references: Sequence[str], answer: str) -> bool | None:
    """Whether the normalised answer contains a normalised reference (as words); None without references."""
    worded = [reference for reference in map(normal, references) if reference]
    given = f" {normal(answer)} "
    return any(f" {reference} " in given for reference in worded) if worded else None


def evidence_hit(highlights: Iterable[Span], gold: Sequence[Span]) -> bool | None:
    """Whether a highlight and a gold span share a character; None without gold spans."""
    if not gold:
        return None
    return any(
        highlight.doc_id == other.doc_id and highlight.start < other.end and other.start < highlight.end
        for highlight in highlights
        for other in gold
    )


def relation(highlighted: str, gold: str) -> Relation:
    """How the two texts contain each other, white space and case aside."""
    inner, outer = (" ".join(text.lower().split()) for text in (highlighted, gold))
    if inner == outer:
        return Relation.EQUAL
    if inner in outer:
        return Relation.SUBSTRING
    return Relation.SUPERSTRING if outer in inner else Relation.NEITHER


def guess(question: str, guessed: str) -> tuple[float, float]:
    """(K-precision, recall) of a guessed question against the real one (Table 6); 0 where it says nothing."""
    return k_precision(guessed, question) or 0.0, recall(question, guessed) or 0.0


def best_guess(question: str, guesses: Sequence[str]) -> tuple[float, float] | None:
    """`guess` of the guess with the highest F1 of the two, the first of equals; None without guesses."""
    return max((guess(question, guessed) for guessed in guesses), key=_harmonic, default=None)


def decided(answer: str, tags: Iterable[str] = ()) -> str | None:
    """What an answer decides: yes, no or maybe, by its tag or else its first word; None for none of them."""
    for tag in tags:
        if tag in ("yes", "no"):
            return tag
    first = next(iter(tokens(answer)), "")
    return first if first in ("yes", "no", "maybe") else None


def declining(
    pairs: Sequence[tuple[bool, bool]], *, seed: int, level: float = 0.95
) -> dict[str, Estimate | None]:
    """Precision, recall and F1 of declining, seen as finding what cannot be answered, from (declined, unanswerable) of
    each question (Table 3).

    A draw of the bootstrap is a draw of the four counts, which is the same as drawing questions. A measure
    that rests on nothing (nothing declined, nothing unanswerable) is None, and draws in which it does are left out.
    """
    cells = Counter((bool(declined), bool(unanswerable)) for declined, unanswerable in pairs)
    order = ((True, True), (True, False), (False, True), (False, False))
    counts = np.array([cells[cell] for cell in order], dtype=np.float64)
    drawn = _draws(counts, seed)
    hit, false, missed, _ = np.column_stack([counts, drawn.T])
    n = len(pairs)
    return {
        "precision": _ratio(hit, hit + false, n, level),
        "recall": _ratio(hit, hit + missed, n, level),
        "f1": _ratio(2 * hit, 2 * hit + false + missed, n, level),
    }


def decisions(pairs: Sequence[tuple[str, str | None]], *, seed: int, level: float = 0.95) -> dict[str, Any]:
    """Accuracy and macro-F1 (the mean of the F1 of yes and of no) from (right, decided) of each yes/no question;
    decided None where it was declined. An answer that says neither is wrong. `maybe` counts questions whose right
    answer is maybe, `maybe_open` those of them that were declined or answered with maybe."""
    maybe = [given for right, given in pairs if right == "maybe"]
    judged = [(right, given) for right, given in pairs if right in ("yes", "no")]
    sides, given_as = ("yes", "no"), ("yes", "no", None)
    cells = Counter((right, given if given in sides else None) for right, given in judged)
    counts = np.array([cells[right, given] for right in sides for given in given_as], dtype=np.float64)
    table = np.column_stack([counts, _draws(counts, seed).T]).reshape(2, 3, -1)
    hits = table[[0, 1], [0, 1]]
    total = np.asarray(table.sum(axis=(0, 1)))
    f1 = _shares(2 * hits, table.sum(axis=1) + table[:, :2].sum(axis=0))
    n = len(judged)
    return {
        "accuracy": _ratio(hits.sum(axis=0), total, n, level),
        "macro_f1": _interval(np.nanmean(np.nan_to_num(f1), axis=0), n, level),
        "maybe": len(maybe),
        "maybe_open": sum(given in ("maybe", None) for given in maybe),
    }


def pearson(first: Sequence[float], second: Sequence[float], *, level: float = 0.95) -> Estimate | None:
    """Pearson's correlation (-1 to 1) with Fisher's (1921) interval (Figure 9); None for fewer than four pairs
    or where one side does not vary. Worked value: (1, 2, 3, 4) with (1, 3, 2, 4) gives 0.8."""
    if len(first) < 4 or np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return None
    result = scipy_stats().pearsonr(first, second)
    low, high = result.confidence_interval(level)
    return Estimate.of(result.statistic, low, high, len(first))


def _harmonic(pair: tuple[float, float]) -> float:
    return 2 * pair[0] * pair[1] / sum(pair) if sum(pair) else 0.0


DRAWS = 4_000


def _draws(counts: np.ndarray, seed: int) -> np.ndarray:
    """(DRAWS, cells) of bootstrapped counts."""
    total = counts.sum()
    if total == 0:
        return np.zeros((DRAWS, len(counts)))
    return np.random.default_rng(seed).multinomial(int(total), counts / total, size=DRAWS)


def _shares(tops: np.ndarray, bottoms: np.ndarray) -> np.ndarray:
    """tops / bottoms, NaN where there is nothing below."""
    return np.asarray(np.divide(tops, bottoms, out=np.full(np.shape(tops), np.nan), where=bottoms > 0))


def _ratio(tops: np.ndarray, bottoms: np.ndarray, n: int, level: float) -> Estimate | None:
    return _interval(_shares(tops, bottoms), n, level)


def _interval(values: np.ndarray, n: int, level: float) -> Estimate | None:
    """The first value as estimate, within the quantiles of the others; None for a first one without value."""
    return percentile_intervals(values[:1], values[1:, None], n=n, level=level)[0] if n else None
