"""How ONNX Runtime is started: on the CPU, one thread a call, quickly, and silent.

Import it from here alone: its telemetry, which keeps a device id in the user's cache and events to send, is off only
where the environment says so before its library is loaded.
"""

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from equipoise.core.types import Array

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from onnxruntime import InferenceSession as Session  # type: ignore[import-untyped]
from onnxruntime import OrtValue, SessionOptions

__all__ = ["MAX_THREADS", "AtFirstUse", "Session", "session"]

MAX_THREADS = 8
Running = tuple[Tokenizer, Session, ThreadPoolExecutor]


class AtFirstUse(ABC):
    """A model that loads its files at the first use; several threads may share it."""

    def __init__(self, threads: int | None) -> None:
        """`threads` texts or batches are read at a time; by default one for each processor, at most 8."""
        self._threads = threads or min(os.cpu_count() or 1, MAX_THREADS)
        self._lock = threading.Lock()
        self._loaded: Running | None = None

    @abstractmethod
    def _tokenizer(self) -> Tokenizer: ...

    @abstractmethod
    def _session(self) -> Session: ...

    def _load(self) -> Running:
        with self._lock:
            if self._loaded is None:
                pool = ThreadPoolExecutor(self._threads, thread_name_prefix=type(self).__name__)
                self._loaded = self._tokenizer(), self._session(), pool
            return self._loaded


def session(model: bytes | Path, weights: Mapping[str, Array] | None = None) -> Session:
    """A session for a model's bytes or file, which many threads may call at a time. `weights` supply those that the
    model names and does not hold.

    Which buffers are shared within a call is not planned ahead: for the cross-encoder the plan took more than half of
    the loading, and neither memory nor time was lower with it (benchmarks/LOG.md, "A command's start").
    """
    options = SessionOptions()
    options.intra_op_num_threads = 1  # calls beside each other are faster than parts of one
    options.enable_mem_reuse = False
    options.enable_mem_pattern = False  # it plans for each shape of input, and nearly every call has its own
    options.log_severity_level = 3  # errors only
    if weights:
        values = [OrtValue.ortvalue_from_numpy(np.asarray(values)) for values in weights.values()]
        options.add_external_initializers(list(weights), values)
    source = model if isinstance(model, bytes) else str(model)
    return Session(source, options, providers=["CPUExecutionProvider"])
