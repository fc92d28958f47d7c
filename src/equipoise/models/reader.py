"""The embedded sentence reader: question and text together through a small trained encoder, without torch."""

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray
from tokenizers import Tokenizer

from equipoise.models.control import encodable
from equipoise.models.encoder import DATA, MAX_CHARACTERS, MAX_THREADS, MAX_TOKENS, TOKENIZER, checked
from equipoise.models.windows import Offsets, Window, windows

MODEL, MANIFEST = "sentence-reader-int8.onnx", "sentence-reader.toml"
UNREAD = -100.0
"""The margin of a sentence without a token: nothing there could answer."""


class SentenceReader:
    """Scores the sentences of a text for a question; MiniLM fine-tuned by `benchmarks/training`, English.

    It reads windows of up to 256 tokens, one at a time: a margin is a function of the question and the window
    alone, so that whoever plants a passage cannot move the margins in another. Weights are int8 in the file and
    float32 from load on. Objects are thread safe and load their files at the first use (0.3 s, 150 MB).
    """

    def __init__(self, *, folder: Path = DATA, threads: int | None = None) -> None:
        """`threads` for one window; by default one for each processor, at most 8."""
        self._folder = folder
        self._threads = threads or min(os.cpu_count() or 1, MAX_THREADS)
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, ort.InferenceSession] | None = None

    def margins(self, question: str, text: str, sentences: Sequence[Offsets]) -> NDArray[np.float64]:
        """(n,) for the n sentences of `text`, (start, end) each: the log odds that it answers the question
        against that no sentence of its window does. The higher of two windows counts.

        Raises WeightsError when a file is missing or is not the one this version was made with.
        """
        tokenizer, session = self._load()
        best = np.full(len(sentences), UNREAD)
        asked = encodable(question[:MAX_CHARACTERS])
        for window in windows(tokenizer, asked, encodable(text), sentences, max_tokens=MAX_TOKENS):
            if window.sentences:
                rows = list(window.sentences)
                best[rows] = np.maximum(best[rows], session.run(["margins"], _feed(window))[0])
        return best

    def _load(self) -> tuple[Tokenizer, ort.InferenceSession]:
        with self._lock:
            if self._loaded is None:
                options = ort.SessionOptions()
                options.intra_op_num_threads = self._threads
                options.log_severity_level = 3  # errors only
                weights = checked(self._folder, MODEL, MANIFEST, "build_highlighter.py")
                session = ort.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
                self._loaded = Tokenizer.from_buffer(checked(self._folder, TOKENIZER)), session
            return self._loaded


def _feed(window: Window) -> dict[str, NDArray[np.int64] | NDArray[np.float32]]:
    pool = np.zeros((1 + len(window.sentences), len(window.ids)), np.float32)
    for row, (first, last) in zip(pool, (window.question, *window.sentences.values()), strict=True):
        row[first:last] = 1.0 / (last - first)
    return {
        "input_ids": np.array([window.ids], np.int64),
        "token_type_ids": np.array([window.types], np.int64),
        "question": pool[:1],
        "pool": pool[1:],
    }
