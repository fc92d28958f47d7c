"""Whether what was read answers the question: features of a Reading, and a logistic model over them.

The model stands in `reader.json`, made by `benchmarks/calibration/reader.py`, which says on what.
"""

import json
import re
from calendar import day_name, month_name
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import ratio

from equipoise.rag.highlighters.reading import Reading, Window
from equipoise.text.tokens import content_words, names, numbers

FEATURES = (
    "passage",
    "window",
    "missing_names",
    "missing_terms",
    "missing_numbers",
)
"""The highest logit of a passage or window, the highest of a window, and what the question names and no passage has.
More of them, such as margins to the next best, words missing in passage or window, or the cosine of question and
passage, did not help."""
SCALE = 10.0
"""Logits are divided by it, so that all features are of like size."""
ALIKE = 80.0
"""From this share of equal letters (0 to 100) on, a word of the text is taken for the question's, misspelt."""
STEM = 5
CALENDAR = frozenset(name.casefold() for name in (*month_name, *day_name) if name)
"""Names that a text may write as numbers."""
MOST_WORDS = 40
"""Words of a question that are looked for."""

Floats = NDArray[np.float64]
_TERM = re.compile(r"(?<![\w-])--?[A-Za-z]\w*+(?:-\w++)*+|\w++(?:[._:]\w++)*+")


@dataclass(frozen=True, slots=True)
class Calibration:
    """`weights` (features,) and `bias` are a logistic model of "the best windows answer the question", which must reach
    `threshold`. At most `most` windows are highlighted, worth at most `keep` less than the best one.
    """

    reranker: str
    weights: Floats
    bias: float
    threshold: float
    keep: float
    most: int

    def probability(self, values: Floats) -> float:
        """0 to 1, from values (features,)."""
        return float(1.0 / (1.0 + np.exp(-(values @ self.weights + self.bias))))

    def choose(self, windows: Sequence[Window]) -> list[Window]:
        """The windows to highlight, best first."""
        return [window for window in windows[: self.most] if window.worth >= windows[0].worth - self.keep]


@cache
def calibration() -> Calibration:
    """The fitted values that ship with the package."""
    fitted = json.loads(files(__package__).joinpath("reader.json").read_text("utf-8"))
    weights = np.array([fitted["weights"][name] for name in FEATURES])
    return Calibration(
        fitted["reranker"], weights, *(fitted[name] for name in ("bias", "threshold", "keep", "most"))
    )


def features(question: str, found: Reading) -> Floats:
    """(features,) of a reading with at least one window."""
    every = "\n".join(f"{one.title}\n{one.text}" for one in found.passages)
    named = [name for each in names(question)[:MOST_WORDS] if (name := each.casefold()) not in CALENDAR]
    window = max(one.score for one in found.windows)
    values = {
        "passage": max(float(found.scores[0]), window) / SCALE,
        "window": window / SCALE,
        "missing_names": missing(named, every),
        "missing_terms": terms_missing(question, every),
        "missing_numbers": _absent(numbers(question), numbers(every)),
    }
    return np.array([values[name] for name in FEATURES])


def terms_missing(question: str, text: str) -> float:
    """The share (0 to 1) of the question's terms, such as onRedirect, smtp_delay, --dry-run, MT940 or 4.2.1, that the
    text does not hold; case aside."""
    terms = [one for one in _TERM.findall(question) if _is_term(one)]
    there = text.casefold()
    return sum(term.casefold() not in there for term in terms) / len(terms) if terms else 0.0


def _is_term(word: str) -> bool:
    inner = any(map(str.isupper, word[1:])) and not word.isupper()
    mixed = any(map(str.isdigit, word)) and not word.isdigit()
    return inner or mixed or word.startswith("-") or any(mark in word for mark in "_.")


def missing(wanted: Sequence[str], text: str) -> float:
    """The share (0 to 1) of the words that the text has in no like form; long words weigh more."""
    there = set(content_words(text))
    stems = {word[:STEM] for word in there if len(word) >= STEM}
    weights = {word: min(len(word), 2 * STEM) for word in wanted}
    absent = [word for word in weights if not _has(word, there, stems)]
    return sum(weights[word] for word in absent) / sum(weights.values()) if weights else 0.0


def _has(word: str, there: set[str], stems: set[str]) -> bool:
    if word in there or (len(word) >= STEM and word[:STEM] in stems):
        return True
    near = (one for one in there if abs(len(one) - len(word)) <= 2)
    return len(word) >= STEM - 1 and not word.isdigit() and any(ratio(word, one) >= ALIKE for one in near)


def _absent(wanted: Sequence[str], there: Sequence[str]) -> float:
    """The share of the numbers that are not there; 2.0 is, where 2.0.1 is."""
    found = set(there)
    absent = [
        n for n in set(wanted) if n not in found and not any(each.startswith(f"{n}.") for each in found)
    ]
    return len(absent) / len(set(wanted)) if wanted else 0.0
