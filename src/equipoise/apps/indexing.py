"""`equipoise index` and `watch`: read documents into the index, and tell what somebody should know about it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from equipoise.apps import progress, render
from equipoise.apps.indexed import tell
from equipoise.apps.narrowing import IntoOption, MetaOption, told
from equipoise.apps.options import DocumentsArgument, PathArgument, StoreOption, group
from equipoise.apps.terminal import Terminal, complain, number_of
from equipoise.core import settings as layers
from equipoise.core.errors import EquipoiseError, InputError
from equipoise.core.settings import Settings
from equipoise.core.source_settings import SourceSettings
from equipoise.core.types import Trust
from equipoise.corpus.indexing import IndexOptions, SyncOptions
from equipoise.corpus.places import is_folder_of_store, is_of_store
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Author, Gone
from equipoise.corpus.sources.addresses import root
from equipoise.rag import updating

if TYPE_CHECKING:
    from equipoise.audit.scan.holding import Holding

app = group()

PARTLY_FAILED = 3
EncoderOption = Annotated[
    str | None,
    typer.Option(help="minilm, bge-small, mpnet, multilingual or hf/NAME; auto: that of the index."),
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST", help="A host on your own network that sites may be read from; repeatable."),
]
AuthorOption = Annotated[
    Author | None,
    typer.Option(
        help="What counts as one author of untrusted files: each PATH given, each folder, or each file."
    ),
]
UNTRUSTED = {
    "trusted-first": "anybody may write there: it is quoted, by name, only where trusted documents do not answer",
    "trusted-only": "trust.mode is trusted-only: it is indexed and never read",
    "equal": "trust.mode is equal: whoever writes there can change what your trusted documents answer",
}
"""What it means for documents that anybody may have written, by `trust.mode`."""


@app.command()
def index(
    places: DocumentsArgument,
    trust: Annotated[
        Trust | None,
        typer.Option(
            help="trusted (usual): only you write there; untrusted: anybody may. Default: as set before.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep documents whose files are gone from these folders.")
    ] = False,
    author: AuthorOption = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop also those of a folder that has lost all its files.")
    ] = False,
    meta: MetaOption = None,
    collection: IntoOption = None,
    allow: AllowOption = None,
    encoder: EncoderOption = None,
    store: StoreOption = None,
) -> None:
    """Read documents into the index. What has not changed is skipped; what is gone from a folder or site is removed."""
    if keep and prune:
        raise InputError("--keep and --prune contradict each other: give one of them")
    gone = Gone.KEEP if keep else Gone.DROP if prune else Gone.MIRROR
    chosen = layers.load({"store.path": store, "retrieval.encoder": encoder}).settings
    said = told(meta, collection)
    sites = [asked(one, trust, allow or (), chosen) for one in places if isinstance(one, str)]
    failed = [_said("pages", sync_into(site, chosen, gone=gone, metadata=said), chosen) for site in sites]
    if paths := [one for one in places if isinstance(one, Path)]:
        report = index_into(paths, chosen, trust=trust, author=author, metadata=said, gone=gone)
        failed.append(_said("files", report, chosen))
    if trust is Trust.UNTRUSTED:
        complain("untrusted:", UNTRUSTED[chosen.trust.mode])
    if any(failed):
        raise typer.Exit(PARTLY_FAILED)


def _said(what: str, report: IndexReport, chosen: Settings) -> bool:
    """Print what was done to files or pages; returns whether some failed."""
    Terminal().print(f"{held(report)} in {chosen.store.path} ({counted(report, what)})")
    return bool(report.failed)


@app.command()
def watch(
    paths: Annotated[list[Path], PathArgument(help="Files and folders.")],
    trust: Annotated[
        Trust | None,
        typer.Option(
            help="trusted (usual): only you write there; untrusted: anybody may.", show_default=False
        ),
    ] = None,
    encoder: EncoderOption = None,
    store: StoreOption = None,
) -> None:
    """Index files and folders, and again whenever something in them changes. Ctrl-C ends it."""
    from equipoise.apps.follow import changes  # noqa: PLC0415 - only this command needs the library

    chosen = layers.load({"store.path": store, "retrieval.encoder": encoder}).settings
    console = Terminal()
    console.print(f"Watching {', '.join(map(str, paths))}; Ctrl-C ends it.")
    said = False
    for _ in changes(paths, beside=chosen.store.path):
        try:
            report = index_into(paths, chosen, trust=trust, gone=Gone.MIRROR, skipped=not said)
        except EquipoiseError as error:
            complain("not indexed:", str(error))
            continue
        report = replace(report, unchanged=0, skipped=(), failed=())
        if (done := counted(report)) != "files: none":
            console.print(f"{held(report)} ({done})")
        said = True


def asked(address: str, trust: Trust | None, allow: Sequence[str], chosen: Settings) -> SourceSettings:
    """The source at an address: as the settings have it, if they do, with these options on top. Raises InputError."""
    known = [one for one in chosen.sources.listed if root(one.address) == root(address)]
    more = ({"trust": trust.value} if trust else {}) | ({"allow": tuple(allow)} if allow else {})
    if known:
        return known[0].model_copy(update=more)
    return SourceSettings.model_validate({"address": address} | more)


def sync_into(site: SourceSettings, chosen: Settings, **how: Unpack[SyncOptions]) -> IndexReport:
    """Bring the index up to date with a source, and tell what could not be read and what was left out."""
    return _told(chosen, partial(updating.update_source, chosen.store.path, site, **how))


def index_into(
    paths: list[Path], chosen: Settings, *, skipped: bool = True, **how: Unpack[IndexOptions]
) -> IndexReport:
    """Bring the index up to date with files, and tell what could not be read and, with `skipped`, what was skipped."""
    done = _told(chosen, partial(updating.update, chosen.store.path, paths, **how))
    own = chosen.store.path
    others = [
        file
        for file in done.skipped
        if not is_of_store(file.path, own) and not is_folder_of_store(file.path, own)
    ]
    for line in render.grouped(others) if skipped else ():
        complain("skipped:", line)
    return replace(done, skipped=tuple(others))


def _told(chosen: Settings, run: Callable[..., IndexReport]) -> IndexReport:
    """Do a run, tell what could not be read and what was left out, and return its report."""
    with _holding(chosen) as holding, progress.files() as report:
        done = run(progress=report, judge=holding, encoder=chosen.retrieval.encoder)
    tell(done, holding.held if holding else ())
    return done


@contextmanager
def _holding(chosen: Settings) -> "Iterator[Holding | None]":
    """What scans untrusted files and holds them back, if `trust.hold` is "always"; else None."""
    if chosen.trust.hold != "always":
        yield None
        return
    from equipoise.audit.scan.holding import Holding  # noqa: PLC0415 - its rules, which only this needs

    with Holding() as holding:
        yield holding


def held(report: IndexReport) -> str:
    """How many documents and passages the index holds, in words."""
    return f"{number_of(report.documents, 'document')}, {number_of(report.passages, 'passage')}"


def counted(report: IndexReport, what: str = "files") -> str:
    """How many files or pages were added, changed and so on, and how many comments of readers, which are documents of
    their own."""
    comments = dict(report.comments)
    done = ("added", "changed", "unchanged", "relabelled", "removed")
    counts = {name: getattr(report, name) - comments.get(name, 0) for name in done}
    counts |= {"skipped": len(report.skipped), "not read": len(report.failed)}
    said = [(what, counts)] + ([("comments", comments)] if comments else [])
    return "; ".join(
        f"{kind}: " + (", ".join(f"{count} {name}" for name, count in each.items() if count) or "none")
        for kind, each in said
    )
