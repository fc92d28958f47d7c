"""Vectors of a benchmark's texts, computed once and kept beside its results."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from equipoise.bench.results import fingerprint, write_atomically
from equipoise.bench.run import Progress
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array
from equipoise.models.abilities import encode_questions

CHUNK = 256


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where a run works: its encoder, its output folder, whom it tells how far it is, requests at a time."""

    encoder: Encoder
    out: Path
    progress: Progress
    concurrency: int = 1


def encode(texts: Sequence[str], workspace: Workspace, what: str, *, asked: bool = False) -> Array:
    """(n, d) unit vectors of `texts`, from the output folder where these texts were encoded before.

    With `asked` the texts are questions. The file is named after the encoder and every text, so another encoder or
    corpus never meets it.
    """
    encoder, folder = workspace.encoder, workspace.out
    kind = ["questions"] if asked else []
    path = folder / f"vectors-{fingerprint([encoder.name, *kind, *texts])[:16]}.npy"
    if path.exists():
        kept: Array = np.load(path, allow_pickle=False)
        if kept.shape == (len(texts), encoder.dimensions):
            return kept
    rows = np.empty((len(texts), encoder.dimensions), np.float32)
    for first in range(0, len(texts), CHUNK):
        workspace.progress(first, len(texts), f"encoding {what}")
        some = list(texts[first : first + CHUNK])
        rows[first : first + CHUNK] = encode_questions(encoder, some) if asked else encoder.encode(some)
    content = BytesIO()
    np.save(content, rows, allow_pickle=False)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content.getvalue())
    return rows
