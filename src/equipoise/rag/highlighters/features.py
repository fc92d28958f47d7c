"""What speaks for a sentence: similarity to the question, shared words, and the kind of answer wanted."""

import re
from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from equipoise.core.protocols import Encoder
from equipoise.core.types import Array
from equipoise.models.encoder import encode_questions
from equipoise.rag.highlighters.sentences import Sentence
from equipoise.text.function_words import FUNCTION_WORDS
from equipoise.text.labels import AMOUNT
from equipoise.text.tokens import content_words, names, numbers

FEATURES = (
    "similarity",
    "window_similarity",
    "passage_similarity",
    "below_best",
    "words",
    "window_words",
    "passage_words",
    "missing_names",
    "wanted_kind",
    "unwanted_kind",
    "is_question",
    "short",
)

_NUMBER = re.compile(r"\b(?:how (?:many|much|long|old|far|large|big|tall|often|fast)|what (?:year|percent\w*|number"
                     r"|amount|age)|when|in which year)\b", re.IGNORECASE)  # fmt: skip
_NAME = re.compile(r"\b(?:who|whom|whose|where|which (?:country|city|person|company))\b", re.IGNORECASE)


def features(question: str, sentences: Sequence[Sentence], encoder: Encoder) -> NDArray[np.float64]:
    """(n, len(FEATURES)) for n sentences; a window is a sentence with its neighbours in the passage."""
    (asked,) = encode_questions(encoder, [question])
    single = encoder.encode([sentence.text for sentence in sentences])
    passages = [list(rows) for _, rows in groupby(range(len(sentences)), lambda n: id(sentences[n].passage))]
    neighbours = [rows[max(0, n - 1) : n + 2] for rows in passages for n in range(len(rows))]
    similarity = single @ asked
    columns = {
        "similarity": similarity,
        "window_similarity": np.array([_mean(single, rows) @ asked for rows in neighbours]),
        "passage_similarity": np.concatenate(
            [[_mean(single, rows) @ asked] * len(rows) for rows in passages]
        ),
        "below_best": similarity - similarity.max(),
        **_lexical(question, sentences, neighbours, passages),
    }
    return np.column_stack([np.asarray(columns[name], dtype=np.float64) for name in FEATURES])


def _lexical(
    question: str,
    sentences: Sequence[Sentence],
    neighbours: Sequence[Sequence[int]],
    passages: Sequence[Sequence[int]],
) -> dict[str, list[float]]:
    asked = set(content_words(question)) - FUNCTION_WORDS
    named = {word.casefold() for word in (*names(question), *numbers(question))}
    word_sets = [set(content_words(sentence.text)) for sentence in sentences]
    titles = {rows[0]: set(content_words(sentences[rows[0]].passage.title)) for rows in passages}
    first = {row: rows[0] for rows in passages for row in rows}
    windows = [titles[first[n]].union(*(word_sets[row] for row in rows)) for n, rows in enumerate(neighbours)]
    wholes = {
        rows[0]: _share(asked, titles[rows[0]].union(*(word_sets[row] for row in rows))) for rows in passages
    }
    kinds = _kinds(question, sentences, asked)
    return {
        "words": [_share(asked, words) for words in word_sets],
        "window_words": [_share(asked, words) for words in windows],
        "passage_words": [wholes[first[n]] for n in range(len(sentences))],
        "missing_names": [1.0 - _share(named, words) if named else 0.0 for words in windows],
        "wanted_kind": [float(kind is True) for kind in kinds],
        "unwanted_kind": [float(kind is False) for kind in kinds],
        "is_question": [float(sentence.text.rstrip().endswith("?")) for sentence in sentences],
        "short": [float(len(sentence.text.split()) < 6) for sentence in sentences],
    }


def _kinds(question: str, sentences: Sequence[Sentence], asked: set[str]) -> Sequence[bool | None]:
    """Whether each sentence holds a number or a name where the question wants one; None: wants neither."""
    if _NUMBER.search(question):
        return [bool(AMOUNT.search(sentence.text)) for sentence in sentences]
    if _NAME.search(question):
        return [any(name.casefold() not in asked for name in names(sentence.text)) for sentence in sentences]
    return [None] * len(sentences)


def _share(wanted: set[str], present: set[str]) -> float:
    return len(wanted & present) / len(wanted) if wanted else 0.0


def _mean(vectors: Array, rows: Sequence[int]) -> Array:
    total = vectors[list(rows)].sum(axis=0)
    unit: Array = total / max(float(np.linalg.norm(total)), 1e-12)
    return unit
