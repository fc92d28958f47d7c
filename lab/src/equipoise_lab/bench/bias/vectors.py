"""Vectors of a benchmark's texts, computed once and kept beside its results."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from equipoise.core.protocols import Encoder
from equipoise.core.types import Array
from equipoise.evaluation.results import fingerprint, write_atomically
from equipoise.evaluation.run import Progress
from equipoise.models.encoder import encode_questions

CHUNK = 256


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where a run works: its encoder, its output folder, whom it tells how far it is, requests at a time."""

    encoder: Encoder
    out: Path
    progress: Progress
    concurrency: int = 1


def encode(texts: Sequence[str], workspace: Workspace, what: str, *, asked: bool = False) -> Array:
    """(n, d) unit vectors of `texts`, from the output folder where these texts were encoded before, or some of them.

    With `asked` the texts are questions. The file is named after the encoder and every text, so another encoder or
    corpus never meets it; while it grows it has another ending.
    """
    encoder, folder = workspace.encoder, workspace.out
    kind = ["questions"] if asked else []
    path = folder / f"vectors-{fingerprint([encoder.name, *kind, *texts])[:16]}.npy"
    kept = _kept(path, encoder.dimensions)
    if kept is not None and len(kept) == len(texts):
        return kept
    growing = path.with_suffix(".some")
    before = _kept(growing, encoder.dimensions)
    rows = np.empty((0, encoder.dimensions), np.float32) if before is None else before
    folder.mkdir(parents=True, exist_ok=True)
    while len(rows) < len(texts):
        workspace.progress(len(rows), len(texts), f"encoding {what}")
        some = list(texts[len(rows) : len(rows) + CHUNK])
        more = encode_questions(encoder, some) if asked else encoder.encode(some)
        rows = np.concatenate((rows, more))
        _keep(growing, rows)
    _keep(path, rows)
    growing.unlink(missing_ok=True)
    return rows


def borrow(folder: Path, out: Path) -> None:
    """Copy the vectors that a run left in `folder` to the output folder `out`."""
    for path in folder.glob("vectors-*.npy"):
        if not (out / path.name).exists():
            write_atomically(out / path.name, path.read_bytes())


def _kept(path: Path, dimensions: int) -> Array | None:
    if not path.exists():
        return None
    rows: Array = np.load(path, allow_pickle=False)
    return rows if rows.shape[1:] == (dimensions,) else None


def _keep(path: Path, rows: Array) -> None:
    content = BytesIO()
    np.save(content, rows, allow_pickle=False)
    write_atomically(path, content.getvalue())
