"""`equipoise documents`: what the index holds, and taking it out again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from equipoise.apps.options import PathOption, group
from equipoise.apps.terminal import Terminal, one_line, print_json
from equipoise.core import settings as layers
from equipoise.core.types import Trust
from equipoise.corpus import catalogue
from equipoise.corpus.records import Listed
from equipoise.corpus.store import Store

app = group("What the index holds: list, show, remove, trust.")

StoreOption = Annotated[Path | None, PathOption("--store", help="The index file.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A document's id, its path, or the end of its path.")
]


@app.command("list")
def listing(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Every document: its source, title, trust and number of passages."""
    with _opened(store, read_only=True) as opened:
        documents = opened.listing()
    if as_json:
        print_json({"documents": [as_dict(document) for document in documents]})
    elif documents:
        rows = [
            (document.source, document.title, document.trust, str(document.passages), document.doc_id)
            for document in documents
        ]
        Terminal().table(("source", "title", "trust", "passages", "id"), rows)
    else:
        Terminal().print("The index is empty.")


@app.command("show")
def show(name: NameArgument, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """The text of a document as it is searched and quoted."""
    with _opened(store, read_only=True) as opened:
        found = catalogue.named(name, opened.listing())
        texts = [opened.document(one.doc_id).text for one in found]
    if as_json:
        print_json(
            {"documents": [as_dict(one) | {"text": text} for one, text in zip(found, texts, strict=True)]}
        )
        return
    console = Terminal()
    for one, text in zip(found, texts, strict=True):
        console.print(f"{one_line(one.source)} ({one.trust}, {one.passages} passages)")
        console.print(text)


@app.command("remove")
def remove(names: Annotated[list[str], typer.Argument(metavar="NAME...")], store: StoreOption = None) -> None:
    """Take documents out of the index; a file that is still in an indexed folder comes back with the next `index`."""
    with _opened(store, read_only=False) as opened:
        chosen = _all_named(names, opened)
        catalogue.remove(opened, chosen)
    Terminal().print(f"{len(chosen)} documents removed")


@app.command("trust")
def trust(
    level: Annotated[Trust, typer.Argument(help="trusted: only you write there; untrusted: anybody may.")],
    names: Annotated[list[str], typer.Argument(metavar="NAME...")],
    store: StoreOption = None,
) -> None:
    """Say who may have written documents; `index` with another --trust says it anew."""
    with _opened(store, read_only=False) as opened:
        chosen = _all_named(names, opened)
        catalogue.set_trust(opened, chosen, level)
    Terminal().print(f"{len(chosen)} documents are {level} now")


def as_dict(one: Listed) -> dict[str, object]:
    """A document as JSON."""
    return {
        "doc_id": one.doc_id,
        "source": one.source,
        "title": one.title,
        "trust": one.trust.value,
        "passages": one.passages,
    }


def _all_named(names: list[str], store: Store) -> tuple[Listed, ...]:
    """What the names mean, with the other documents of the same files. Raises InputError before anything is done."""
    documents = store.listing()
    chosen = [one for name in names for one in catalogue.named(name, documents)]
    return catalogue.with_siblings(chosen, documents)


@contextmanager
def _opened(path: Path | None, *, read_only: bool) -> Iterator[Store]:
    chosen = layers.load({"store.path": path}).settings
    with Store.open(chosen.store.path, read_only=read_only) as opened:
        yield opened
