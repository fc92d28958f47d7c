"""Documents beside each other, as search finds them, and what is corrected of them."""

import numpy as np

from equipoise.core.types import Candidates, Document, Passage
from equipoise.rag.corrections import find_corrections
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.sentences import units


def document(source, text, **more):
    structure = outlined(blocks(text))
    title = text.splitlines()[0].lstrip("# ")
    return Document(source, text, source, title, sentences=units(text, structure), blocks=structure, **more)


def candidates(*documents):
    passages = tuple(
        Passage(
            row, one.doc_id, 0, len(one.text), one.text, one.title, one.source, sentences=tuple(one.sentences)
        )
        for row, one in enumerate(documents)
    )
    vectors = np.zeros((len(passages), 2), np.float32)
    texts = {one.doc_id: one for one in documents}
    return Candidates(passages, np.ones(len(passages), np.float32), vectors, vectors[0], texts)


def corrected(*documents):
    """(what is corrected, by what)."""
    texts = {one.doc_id: one.text for one in documents}
    return {
        (texts[key][mark.start : mark.end], texts[mark.doc_id][mark.low : mark.high])
        for key, marks in find_corrections(candidates(*documents)).items()
        for mark in marks
    }
