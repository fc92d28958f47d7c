"""Candidates with a geometry made by hand or from a seed, for tests of filters."""

import numpy as np

from equipoise.core.types import Candidates, Document, Passage, Trust


def unit(rows):
    rows = np.asarray(rows, dtype=np.float64)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def candidates(embeddings, *, question=None, texts=None, doc_ids=None, trust=None):
    """In the order given, ids from 100; the question is the first axis unless given. `trust` by document id (open)."""
    rows = np.asarray(embeddings, dtype=np.float32)
    if question is None:
        question = np.eye(rows.shape[1])[0]
    count = len(rows)
    texts = texts or [f"text {n}" for n in range(count)]
    doc_ids = doc_ids or [f"d{n}" for n in range(count)]
    passages = tuple(Passage(100 + n, doc_ids[n], 0, len(texts[n]), texts[n]) for n in range(count))
    vector = np.asarray(question, dtype=np.float32)
    with np.errstate(invalid="ignore"):
        scores = (rows @ vector).astype(np.float32)
    documents = {p.doc_id: Document(p.doc_id, p.text, p.doc_id, trust=(trust or {}).get(p.doc_id, Trust.UNTRUSTED))
                 for p in passages}  # fmt: skip
    return Candidates(passages, scores, rows, vector, documents)


def angles(*degrees):
    """Unit vectors in the plane; the question lies at 0 degrees."""
    turned = np.deg2rad(np.array(degrees, dtype=float))
    return np.stack([np.cos(turned), np.sin(turned)], axis=1)


def random_candidates(count, *, seed=0, dimensions=32, **more):
    """Spread around the question, most similar first."""
    rng = np.random.default_rng(seed)
    question = unit(rng.standard_normal(dimensions))
    rows = unit(question + rng.standard_normal((count, dimensions)) * 0.2)
    order = np.argsort(-(rows @ question))
    return candidates(rows[order], question=question, **more)


def planted(seed, *, planted=6, benign=14, dimensions=64, **more):
    """A tight cluster nearest to the question and to one side of it, then a wide spread further away."""
    rng = np.random.default_rng(seed)
    question, side = np.eye(dimensions)[0], np.eye(dimensions)[1]
    near = unit(question + side + rng.standard_normal((planted, dimensions)) * 0.01)
    wide = unit(question * 0.6 - side * 0.4 + rng.standard_normal((benign, dimensions)) * 0.12)
    rows = np.vstack([near, wide])
    order = np.argsort(-(rows @ question))
    doc_ids = [("planted" if n < planted else "benign") + str(n) for n in order]
    return candidates(rows[order], question=question, doc_ids=doc_ids, **more)
