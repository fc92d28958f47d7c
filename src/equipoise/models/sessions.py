"""How ONNX Runtime is started: on the CPU, one thread a call, quickly, and silent.

Import it from here alone: its telemetry, which keeps a device id in the user's cache and events to send, is off only
where the environment says so before its library is loaded.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from equipoise.core.types import Array

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from onnxruntime import InferenceSession as Session  # type: ignore[import-untyped]
from onnxruntime import OrtValue, SessionOptions

__all__ = ["Session", "session"]


def session(model: bytes | Path, weights: Mapping[str, Array] | None = None) -> Session:
    """A session for a model's bytes or file, which many threads may call at a time. `weights` are put in for those
    that the model names and does not hold.

    Which buffers are shared within a call is not planned ahead: for the cross-encoder the plan took more than half of
    the loading, and neither memory nor time was lower with it (benchmarks/LOG.md, "A command's start").
    """
    options = SessionOptions()
    options.intra_op_num_threads = 1  # calls beside each other are faster than parts of one
    options.enable_mem_reuse = False
    options.enable_mem_pattern = False  # a plan for each shape of input, and nearly every call has its own
    options.log_severity_level = 3  # errors only
    if weights:
        values = [OrtValue.ortvalue_from_numpy(np.asarray(values)) for values in weights.values()]
        options.add_external_initializers(list(weights), values)
    source = model if isinstance(model, bytes) else str(model)
    return Session(source, options, providers=["CPUExecutionProvider"])
