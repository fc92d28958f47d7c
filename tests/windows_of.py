"""The windows of a text as the reader has them, and those that are left for a question."""

from equipoise.core.types import Document, Trust
from equipoise.corpus.pieces import passage_at
from equipoise.rag.highlighters.naming import on_topic_windows
from equipoise.rag.highlighters.reading import Window
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.sentences import units

WARDS = "Visitors of ward 5 come after two. Dogs stay outside. In ward 3 nobody may visit. Flowers are welcome there."


def windows(text, source="a.md", title="", trust=Trust.TRUSTED):
    structure = outlined(blocks(text))
    document = Document("d", text, source, title, trust, sentences=units(text, structure), blocks=structure)
    passage = passage_at(0, 0, len(text), document)
    rows = enumerate(zip(passage.sentences, passage.readings, strict=True))
    return [Window(passage, start, end, n, n + 1, read_stretches=read) for n, ((start, end), read) in rows]


def left(question, *texts, **more):
    every = [window for text in texts for window in windows(text, **more)]
    kept = (window.passage.text[window.start : window.end] for window in on_topic_windows(question, every))
    return " / ".join(" ".join(text.split()) for text in kept)
