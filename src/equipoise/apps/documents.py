"""`equipoise documents`: lists, shows and removes the documents of an index, and sets their trust."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from equipoise.apps.narrowing import CollectionOption, WhereOption, meant
from equipoise.apps.options import StoreOption, group
from equipoise.apps.terminal import Terminal, number_of, one_line, print_json
from equipoise.core import settings as layers
from equipoise.core.metadata import as_json as as_json_value
from equipoise.core.types import Block, BlockKind, Document, Trust
from equipoise.corpus import catalogue
from equipoise.corpus.record_types import ListedDocument
from equipoise.corpus.store import Store

app = group("The documents of an index: list, show, remove, trust.")

_SIGNS = {
    BlockKind.HEADING: "# ", BlockKind.PARAGRAPH: "", BlockKind.ITEM: "", BlockKind.CODE: "code: ", BlockKind.ROW: "| ",
    BlockKind.ASIDE: "(never quoted) ",
}  # fmt: skip
"""What stands before a block of each kind."""

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A document's id, its path, or the end of its path.")
]


@app.command("list")
def listing(
    where: WhereOption = None,
    collection: CollectionOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Every document: its source, title, trust, number of passages and metadata."""
    chosen = meant(where, collection)
    with _opened(store, read_only=True) as opened:
        documents = [one for one in opened.listing() if chosen is None or chosen.matches(one.metadata)]
    if as_json:
        print_json({"documents": [as_dict(document) for document in documents]})
    elif documents:
        rows = [
            (
                document.source,
                document.title,
                document.trust,
                str(document.passages),
                " ".join(f"{name}={as_json_value(value)}" for name, value in document.metadata.items()),
                document.doc_id,
            )
            for document in documents
        ]
        Terminal().table(("source", "title", "trust", "passages", "metadata", "id"), rows)
    else:
        Terminal().print("No document matches the filter." if chosen else "The index is empty.")


@app.command("show")
def show(name: NameArgument, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show a document as it was read: a tree of headings, paragraphs, items, rows, code and notes, each below its
    heading or lead-in."""
    with _opened(store, read_only=True) as opened:
        chosen = catalogue.named(name, opened.listing())
        documents = [opened.document(document.doc_id) for document in chosen]
    if as_json:
        rows = [
            as_dict(listed) | {"text": document.text, "blocks": [_block(block) for block in document.blocks]}
            for listed, document in zip(chosen, documents, strict=True)
        ]
        print_json({"documents": rows})
        return
    console = Terminal()
    for listed, document in zip(chosen, documents, strict=True):
        console.print(f"{one_line(listed.source)} ({listed.trust}, passages: {listed.passages})")
        for line in tree(document) if document.blocks else [document.text]:
            console.print(line)


def tree(document: Document) -> Iterator[str]:
    """The blocks of a document as lines, indented by what they stand under."""
    depths: list[int] = []
    headings: list[int] = []  # the levels of those that are open
    for block in document.blocks:
        if block.kind is BlockKind.HEADING:
            headings = [level for level in headings if level < block.level]
        depth = len(headings) if block.intro < 0 else depths[block.intro] + 1
        depths.append(depth)
        if block.kind is BlockKind.HEADING:
            headings.append(block.level)
        margin = "  " * depth
        text = document.text[block.start : block.end].replace("\n", f"\n{margin}  ")
        yield f"{margin}{_SIGNS[block.kind]}{text}"


def _block(block: Block) -> dict[str, object]:
    return {
        "kind": block.kind.value,
        "start": block.start,
        "end": block.end,
        "level": block.level,
        "intro": block.intro,
        "lead": block.intro,  # what `intro` was called, for one more version
    }


@app.command("remove")
def remove(names: Annotated[list[str], typer.Argument(metavar="NAME...")], store: StoreOption = None) -> None:
    """Take documents out of the index; a file that is still in an indexed folder comes back with the next `index`."""
    with _opened(store, read_only=False) as opened:
        chosen = _all_named(names, opened)
        catalogue.remove(opened, chosen)
    Terminal().print(f"{number_of(len(chosen), 'document')} removed")


@app.command("trust")
def trust(
    level: Annotated[Trust, typer.Argument(help="trusted: only you write there; untrusted: anybody may.")],
    names: Annotated[list[str], typer.Argument(metavar="NAME...")],
    store: StoreOption = None,
) -> None:
    """Say whether documents are trusted or not; `index` with another --trust changes it again."""
    with _opened(store, read_only=False) as opened:
        chosen = _all_named(names, opened)
        opened.set_trust([document.doc_id for document in chosen], level)
    Terminal().print(f"{number_of(len(chosen), 'document')} marked {level}")


def as_dict(listed: ListedDocument) -> dict[str, object]:
    """A document as JSON."""
    return {
        "doc_id": listed.doc_id,
        "source": listed.source,
        "title": listed.title,
        "trust": listed.trust.value,
        "passages": listed.passages,
        "metadata": {name: as_json_value(value) for name, value in listed.metadata.items()},
    }


def _all_named(names: list[str], store: Store) -> tuple[ListedDocument, ...]:
    """The documents that the names fit, with others of the same files. Raises InputError before anything is changed."""
    documents = store.listing()
    chosen = [document for name in names for document in catalogue.named(name, documents)]
    return catalogue.with_siblings(chosen, documents)


@contextmanager
def _opened(path: Path | None, *, read_only: bool) -> Iterator[Store]:
    chosen = layers.load({"store.path": path}).settings
    with Store.open(chosen.store.path, read_only=read_only) as opened:
        yield opened
