"""The embedded cross-encoder: question and text read together by ms-marco-MiniLM-L-12-v2, on the CPU, without torch."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from equipoise.models.control import encodable
from equipoise.models.encoder import DATA, MAX_CHARACTERS, batches, checked, tokenizer_of
from equipoise.models.sessions import AtFirstUse, Session, session
from equipoise.models.windows import MAX_QUESTION

MODEL, MANIFEST = "crossencoder-l12-int8.onnx", "crossencoder.toml"
MAX_TOKENS = 256  # of question and text together; the model has 512 positions
BATCH_TOKENS = 512  # more do not fit into a core's cache: 1,024 take a tenth longer a token

Floats = NDArray[np.float64]


class CrossEncoder(AtFirstUse):
    """Reranker of the package: English, question and text are read together up to `max_tokens` (512 at most).

    A score is a function of the question and the text alone, bit for bit on one machine: whoever can put passages
    beside a text cannot move its score. Activations are 7-bit whole numbers with one scale for each token, so that
    products are sums of integers; and only pairs with equally many tokens share a batch, so nothing is ever padded.

    Objects are thread safe and load their files at the first use (about 0.3 s and 150 MB). Nothing is kept from one
    call to the next: how long a call takes says nothing about the calls before it.
    """

    def __init__(
        self, *, folder: Path = DATA, threads: int | None = None, max_tokens: int = MAX_TOKENS
    ) -> None:
        """`threads` batches are read at a time; by default one for each processor, at most 8."""
        self._folder = folder
        self._max_tokens = max_tokens
        super().__init__(threads)

    @property
    def name(self) -> str:
        """The scale of the scores: changes whenever they would."""
        return f"ms-marco-MiniLM-L-12-v2/manuals-2/{self._max_tokens}"

    def load(self) -> None:
        """Load the files now, which is otherwise done at the first use; raises WeightsError as `scores`."""
        self._load()

    def scores(self, question: str, texts: Sequence[str]) -> Floats:
        """(n,) logits that each text answers the question, about -12 to 11; (0,) for none.

        Of the question 64 tokens are read. Raises WeightsError when a file is missing or is not the one this
        version was made with, TypeError for a single string.
        """
        if isinstance(texts, str):
            raise TypeError("scores() takes a sequence of texts: pass [text] for one")
        different = list(dict.fromkeys(texts))
        if not different:
            return np.empty(0, np.float64)
        scores = dict(zip(different, self._read(question, different), strict=True))
        return np.array([scores[text] for text in texts], np.float64)

    def _read(self, question: str, texts: Sequence[str]) -> Floats:
        tokenizer, running, pool = self._load()
        asked = _cut(tokenizer, encodable(question[:MAX_CHARACTERS]))
        pairs = tokenizer.encode_batch([(asked, encodable(text[:MAX_CHARACTERS])) for text in texts])
        groups = list(batches([len(pair.ids) for pair in pairs], BATCH_TOKENS))
        rows = np.empty(len(texts), np.float64)

        def read(group: list[int]) -> None:
            rows[group] = running.run(["logits"], _feed([pairs[row] for row in group]))[0]

        list(pool.map(read, groups))
        return rows

    def _tokenizer(self) -> Tokenizer:
        return tokenizer_of(self._folder, self._max_tokens)  # cuts the longer of the two, which is the text

    def _session(self) -> Session:
        return session(weights_of(self._folder))


def weights_of(folder: Path) -> Path:
    """The path of the file, which models made from it read, too. Raises WeightsError unless it is the one this version
    was made with."""
    return checked(folder, MODEL, MANIFEST, "build_crossencoder.py")


READER = CrossEncoder()
"""The package's own, shared by everybody in this process: its files are loaded once, at the first use."""


def _feed(pairs: Sequence[Encoding]) -> dict[str, NDArray[np.int64]]:
    return {
        "input_ids": np.array([pair.ids for pair in pairs], np.int64),
        "token_type_ids": np.array([pair.type_ids for pair in pairs], np.int64),
    }


def _cut(tokenizer: Tokenizer, question: str) -> str:
    """The question up to its 64th token."""
    places = tokenizer.encode(question, add_special_tokens=False).offsets
    return question if len(places) <= MAX_QUESTION else question[: places[MAX_QUESTION - 1][1]]
