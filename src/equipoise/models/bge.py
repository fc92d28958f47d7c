"""The encoder bge-small-en-v1.5 with 8-bit weights, on the CPU, without torch; pulled by `equipoise models pull`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from equipoise.core.types import Array
from equipoise.models import weights
from equipoise.models.control import encodable
from equipoise.models.encoder import DATA, DIMENSIONS, MAX_CHARACTERS, TOKENIZER, checked
from equipoise.models.sessions import AtFirstUse, Session, session

WEIGHTS = "bge-small"
MAX_TOKENS = 512
QUESTION = "Represent this sentence for searching relevant passages: "
"""What the model was trained to read before a question (Xiao and others 2023, "C-Pack")."""


class BgeEncoder(AtFirstUse):
    """Xiao and others 2023: 384 dimensions, English, texts are read up to 512 tokens; pools by the first token's state.

    A text's vector is a function of the text alone, bit for bit on one machine: the file has one scale of activations
    for a batch, so each text is a batch of its own. The vocabulary is that of the embedded encoder, whose tokenizer
    is used. Objects are thread safe and load the weights at the first use.
    """

    name = "bge-small-en-v1.5/int8-1"
    """The vector space: changes whenever vectors would."""
    dimensions = DIMENSIONS

    def __init__(self, *, folder: Path | None = None, threads: int | None = None) -> None:
        """`folder` holds the weights; by default EQUIPOISE_MODEL_FOLDER, else the user's cache. `threads` texts are
        read at a time; by default one for each processor, at most 8."""
        super().__init__(threads)
        self._folder = folder

    def encode(self, texts: Sequence[str]) -> Array:
        """(n, 384) float32 rows of length 1, in the order of `texts`; (0, 384) for none.

        An empty text has a vector too. Raises ModelUnavailable where the weights were not pulled, WeightsError where
        they are not the published ones, TypeError for a single string.
        """
        return self._rows("", texts)

    def encode_questions(self, questions: Sequence[str]) -> Array:
        """As `encode`, for questions."""
        return self._rows(QUESTION, questions)

    def _rows(self, prefix: str, texts: Sequence[str]) -> Array:
        if isinstance(texts, str):
            raise TypeError("encode() takes a sequence of texts: pass [text] for one")
        tokenizer, running, pool = self._load()

        def read(text: str) -> Array:
            ids = np.array([tokenizer.encode(prefix + encodable(text[:MAX_CHARACTERS])).ids], np.int64)
            feed = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            state: Array = running.run(["last_hidden_state"], feed)[0][0, 0]
            return state / np.float32(np.linalg.norm(state))

        return np.array(list(pool.map(read, texts)), np.float32).reshape(len(texts), DIMENSIONS)

    def _tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer.from_file(str(checked(DATA, TOKENIZER)))
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer

    def _session(self) -> Session:
        return session(weights.needed(WEIGHTS, folder=self._folder))
