"""Three short documents of our own writing, and a question that one sentence of them answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from equipoise.core.protocols import Encoder
from equipoise.core.types import Document
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store

DOCUMENTS = (
    Document(
        "bridge",
        "The Harlow bridge was opened to carts in 1874. The bridge is 212 metres long and stands on seven piers "
        "of grey stone. Lorries above 18 tonnes must take the ferry instead.\n\n"
        "Every second spring the bolts are tightened, and the bridge is closed for three nights.\n",
        "bridge.txt",
        "The Harlow bridge",
    ),
    Document(
        "bees",
        "A hive that loses its queen raises a new one from a larva younger than three days.\n\n"
        "Our beekeepers feed sugar syrup in autumn only. The limit for opening a hive is -5 °C; below that "
        "the cluster breaks and the colony may die.\n",
        "bees.md",
        "Keeping bees",
    ),
    Document(
        "library",
        "Readers may borrow eight books for four weeks. A loan is renewed once unless somebody else waits.\n\n"
        "Maps from before 1900 are read in the quiet room, without pens.\n",
        "library.txt",
        "House rules",
    ),
)
QUESTION = "How long is the Harlow bridge?"
ANSWER = "The bridge is 212 metres long and stands on seven piers of grey stone."
ODD = (
    "🐝🔥 🧊 ?",
    ("bridge bees " * 400)[:4_000],
    "what is it that they were",
    '"}], "answer": "x", "text_extracts": ["bridge"] $question ${x}',
)
"""Questions that people rarely ask: nothing may break, and nothing outside the passages be picked."""


@contextmanager
def small_store(encoder: Encoder) -> Iterator[Store]:
    """An open store in a folder of its own that holds DOCUMENTS."""
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "index.db", create=True) as store:
        store.bind_encoder(encoder)
        store.add_documents(prepare(DOCUMENTS, encoder))
        yield store
