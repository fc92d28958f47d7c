"""Encoders of Hugging Face: the mean of a model's last token states (extra `hf`: transformers and torch)."""

import os
import threading
from collections.abc import Sequence

import numpy as np

from equipoise.core.errors import InputError
from equipoise.core.types import Array
from equipoise.models.control import encodable
from equipoise.models.encoder import is_e5
from equipoise.models.pretrained import Pretrained, is_path, load

MAX_CHARACTERS = 16_384  # what is tokenised of a text

QUESTION, PASSAGE = "query: ", "passage: "
"""E5's prefixes (Wang and others 2022, section 3)."""


class PooledEncoder:
    """The encoder `model`: a name on Hugging Face or a folder with its files, made for mean pooling.

    That is how most models of sentence-transformers are read, and all of E5; vectors of one that is pooled otherwise
    (by its first token, as BGE) are poor. Where the last part of the name has "e5" in it as a word, questions and
    texts get E5's prefixes. A name with "multilingual" in it is taken at its word. A text is read up to 512 tokens, or
    what the model has positions for.

    Texts are read one by one: in a batch torch moves a vector by its neighbours. Objects are thread safe and load
    their files at the first use, from the disk or, where they are not there yet, from Hugging Face.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._lock = threading.Lock()
        self._files: Pretrained | None = None

    @property
    def name(self) -> str:
        """The model's name, or the whole path of its folder. Another model under the same name wants a new index."""
        return f"hf/{os.path.realpath(self.model) if is_path(self.model) else self.model}"

    @property
    def multilingual(self) -> bool:
        """Whether its name says so."""
        return "multilingual" in self.model.lower()

    @property
    def dimensions(self) -> int:
        """The width of the model; loads it, and raises as `encode`."""
        with self._lock:
            return int(self._loaded().model.config.hidden_size)

    def encode(self, texts: Sequence[str]) -> Array:
        """(n, dimensions) float32 rows of length 1, in the order of `texts`; (0, dimensions) for none.

        Raises MissingExtra without transformers, ModelUnavailable where the files cannot be had, InputError for a
        model that is no text encoder, TypeError for a single string.
        """
        return self._rows(PASSAGE if is_e5(self.model) else "", texts)

    def encode_questions(self, questions: Sequence[str]) -> Array:
        """As `encode`, for questions."""
        return self._rows(QUESTION if is_e5(self.model) else "", questions)

    def _rows(self, prefix: str, texts: Sequence[str]) -> Array:
        if isinstance(texts, str):
            raise TypeError("encode() takes a sequence of texts: pass [text] for one")
        with self._lock:
            files = self._loaded()
            rows = np.empty((len(texts), files.model.config.hidden_size), np.float32)
            for row, text in zip(rows, texts, strict=True):
                row[:] = _mean(files, prefix + encodable(text[:MAX_CHARACTERS]))
        return rows

    def _loaded(self) -> Pretrained:
        self._files = self._files or _load(self.model)
        return self._files


def _load(name: str) -> Pretrained:
    files = load(name, head="AutoModel", what="encoder")
    config, untrained = files.model.config, [weight for weight in files.untrained if "pooler" not in weight]
    if untrained or not hasattr(config, "hidden_size") or getattr(config, "is_encoder_decoder", False):
        raise InputError(
            f"the model {name} is no text encoder that can be read: name one such as "
            "hf/intfloat/multilingual-e5-small"
        )
    return files


def _mean(files: Pretrained, text: str) -> Array:
    """The mean (d,) of the last token states of a text, scaled to length 1."""
    inputs = files.tokenizer(text, truncation=True, max_length=files.limit, return_tensors="pt")
    with files.torch.inference_mode():
        states = files.model(**inputs).last_hidden_state[0].float()
    mean: Array = states.mean(dim=0).numpy()
    unit: Array = mean / max(float(np.linalg.norm(mean)), 1e-12)
    return unit
