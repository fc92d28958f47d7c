"""The monitor (H&S, section 9): does the summarizer's guess lie near the question that was asked?"""

from collections.abc import Sequence

from equipoise.core.protocols import Encoder
from equipoise.models.abilities import encode_questions


def nearest_guess(question: str, guesses: Sequence[str], encoder: Encoder) -> float:
    """The highest cosine between the question and a guess, -1 where there are no guesses."""
    if not guesses:
        return -1.0
    asked, *guessed = encode_questions(encoder, [question, *guesses])
    return max(float(asked @ guess) for guess in guessed)
