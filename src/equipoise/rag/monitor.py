"""The monitor (H&S, section 9): does the summarizer's guess lie near the question that was asked?"""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.protocols import Encoder
from equipoise.models.encoder import encode_questions


@dataclass(frozen=True, slots=True)
class Monitor:
    """`min_similarity` (-1 to 1) is the least cosine between the question and the nearest guess that lets an answer
    out."""

    encoder: Encoder
    min_similarity: float

    def nearest(self, question: str, guesses: Sequence[str]) -> float:
        """The highest cosine between the question and a guess, -1 where there are no guesses. Raises ModelError."""
        if not guesses:
            return -1.0
        asked, *guessed = encode_questions(self.encoder, [question, *guesses])
        return max(float(asked @ guess) for guess in guessed)
