"""`equipoise sources`: the sites, buckets, repositories and mailboxes that the index follows."""

from collections.abc import Sequence
from typing import Annotated

import typer

from equipoise.apps.indexing import PARTLY_FAILED, counted, held, sync_into
from equipoise.apps.known_sources import Known, known
from equipoise.apps.options import StoreOption, group
from equipoise.apps.terminal import Terminal, complain, number_of, one_line, print_json
from equipoise.core import settings as layers
from equipoise.core.errors import EquipoiseError, InputError
from equipoise.core.settings import Settings
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.roots import Gone
from equipoise.corpus.sources.addresses import root
from equipoise.corpus.sources.memory import Memory
from equipoise.corpus.sources.source import of_source
from equipoise.corpus.store import Store

app = group("Sites, buckets, repositories and mailboxes that the index follows: list, sync, remove.")


@app.command("list")
def listing(
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Every source of the settings and of the index: its trust, documents, last run and what went wrong."""
    chosen = layers.load({"store.path": store}).settings
    every = known(chosen)
    there = _files(every, chosen) if every else {}
    rows = [one.row(of_source(there, one.address)) for one in every]
    if as_json:
        print_json({"sources": rows})
    elif rows:
        heads = ("address", "trust", "every", "pages", "with comments", "read", "state", "progress", "error")
        Terminal().table(
            heads, [tuple(one_line(str(row[head.split()[-1]])) for head in heads) for row in rows]
        )
    else:
        Terminal().print("There is no source: equipoise index https://..., or [[sources]] in the settings.")


@app.command("sync")
def sync(
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="[ADDRESS]...", help="Default: all sources.")
    ] = None,
    due: Annotated[
        bool, typer.Option("--due", help="Only sources whose interval, `every`, has passed.")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Drop missing pages even if a site seems to have lost nearly all."),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Bring the index up to date with its sources; one that fails does not stop the others."""
    chosen = layers.load({"store.path": store}).settings
    wanted = _named(addresses or (), known(chosen))
    is_failed = False
    for one in wanted:
        if due and not one.is_due:
            continue
        try:
            report = sync_into(one.chosen, chosen, gone=Gone.DROP if prune else Gone.MIRROR)
        except EquipoiseError as error:
            complain("not read:", f"{one.address}: {error}")
            is_failed = True
            continue
        is_failed = is_failed or bool(report.failed)
        Terminal().print(f"{one.address}: {held(report)} ({counted(report, 'pages')})")
    if is_failed:
        raise typer.Exit(PARTLY_FAILED)


@app.command("remove")
def remove(address: Annotated[str, typer.Argument(metavar="ADDRESS")], store: StoreOption = None) -> None:
    """Take all documents of a source out of the index, and forget it; the settings are left as they are."""
    chosen = layers.load({"store.path": store}).settings
    whole = root(address)
    with Store.open(chosen.store.path) as opened:
        keys = of_source(opened.files(), whole)
        for key in keys:
            opened.drop_file(key)
    with Memory(chosen.store.path) as memory:
        memory.drop(whole)
    Terminal().print(f"{number_of(len(keys), 'document')} removed")


def _named(addresses: Sequence[str], every: Sequence[Known]) -> list[Known]:
    roots = [root(one) for one in addresses]
    if unknown := [one for one in roots if one not in {source.address for source in every}]:
        raise InputError(f"{unknown[0]} is no source here: equipoise index {unknown[0]}")
    return [one for one in every if not roots or one.address in roots]


def _files(every: Sequence[Known], chosen: Settings) -> dict[str, FileRecord]:
    """The files of the index; none if it cannot be read, with a warning if a source was read into it before."""
    try:
        with Store.open(chosen.store.path, read_only=True) as opened:
            return opened.files()
    except EquipoiseError as error:  # there is none yet
        if any(one.run is not None and not one.run.error for one in every):
            complain("the index cannot be read:", str(error))
        return {}
