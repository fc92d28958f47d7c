"""Three short documents of our own writing, and a question that one sentence of them answers."""

from equipoise.core.types import Document

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
