"""The blocks that a loader finds, in a form that a test can write down; their rules are checked on the way."""

from pathlib import Path

from equipoise.core.types import Document
from equipoise.corpus.loaders import load
from equipoise.corpus.pieces import passage_at
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.sentences import units


def passage_of(text, title="Gates"):
    """A document that is one passage, with the blocks and sentences of plain text."""
    structure = outlined(blocks(text))
    document = Document("d", text, "d", title, sentences=units(text, structure), blocks=structure)
    return passage_at(0, 0, len(text), document)


def document_of(name, data):
    """The one document in a file."""
    (document,) = load(Path(name), data.encode() if isinstance(data, str) else data)
    return document


def check(document):
    """The rules of every document's blocks: in order, not overlapping, covering, read with earlier ones only."""
    place = 0
    for row, block in enumerate(document.blocks):
        assert place <= block.start < block.end <= len(document.text)
        assert not document.text[place : block.start].strip()
        assert document.text[block.start : block.end].strip()
        assert -1 <= block.intro < row
        place = block.end
    assert document.blocks
    assert not document.text[place:].strip()


def outline(name, data):
    """(kind, level, text of the lead, text) of every block of the one document in a file."""
    document = document_of(name, data)
    check(document)
    texts = [document.text[block.start : block.end] for block in document.blocks]
    return [
        (str(block.kind), block.level, texts[block.intro] if block.intro >= 0 else "", text)
        for block, text in zip(document.blocks, texts, strict=True)
    ]
