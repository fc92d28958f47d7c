"""`equipoise doctor`: whether everything that a question needs is there, and what to do where it is not."""

import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Literal

import typer

from equipoise.apps.options import StoreOption, group
from equipoise.apps.status import settings_files
from equipoise.apps.terminal import Terminal, number_of, one_line, print_json
from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.errors import EquipoiseError
from equipoise.core.types import ChatOptions, Message
from equipoise.corpus.store import Store
from equipoise.models.adapted import DECISION, RANKING
from equipoise.models.crossencoder import READER
from equipoise.rag import build

app = group()
FAILED = 3
LITTLE = 500_000_000
"""Bytes of a disk below which an index run may fill it."""
PING = [Message("user", "Reply with the word yes.")]
"""A constant message, without any document or question."""
State = Literal["ok", "look", "failed"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was looked at, how it is, and what to do where it is not ok."""

    what: str
    state: State
    said: str


class NeedsAttention(Exception):
    """Works, but somebody should look at it; the text says what to do."""


@app.command()
def doctor(
    store: StoreOption = None,
    offline: Annotated[bool, typer.Option("--offline", help="Send nothing to a language model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check index, models, endpoint, disk and settings, and say what to do.

    An endpoint is sent one constant message. Exit codes: 0 nothing fails, 3 something does.
    """
    found = list(findings(store, offline=offline))
    if as_json:
        print_json({"findings": [{"what": f.what, "state": f.state, "said": f.said} for f in found]})
    else:
        Terminal().table(("what", "state", ""), [(f.what, f.state, one_line(f.said)) for f in found])
    if any(finding.state == "failed" for finding in found):
        raise typer.Exit(FAILED)


def findings(store: Path | None, *, offline: bool) -> Iterator[CheckResult]:
    """The results of all checks, one after the other; of the settings alone if these cannot be read."""
    try:
        layered = layers.load({"store.path": store})
    except EquipoiseError as error:
        yield CheckResult("settings", "failed", str(error))
        return
    chosen = layered.settings
    checks: dict[str, Callable[[], str]] = {
        "versions": _versions,
        "settings": lambda: _settings(layered),
        "index": lambda: _index(chosen),
        "files": lambda: _files(chosen),
        "disk": lambda: _disk(chosen),
        "reader": _reader,
        "language model": lambda: _model(chosen, offline=offline),
    }
    for what, check in checks.items():
        try:
            yield CheckResult(what, "ok", check())
        except NeedsAttention as look:
            yield CheckResult(what, "look", str(look))
        except EquipoiseError as error:
            yield CheckResult(what, "failed", str(error))


def _versions() -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    return f"equipoise {metadata.version('equipoise')}, Python {python}, SQLite {sqlite3.sqlite_version}"


def _settings(layered: layers.Layered) -> str:
    return ", ".join(settings_files(layered)) or "no file sets anything"


def _index(chosen: layers.Settings) -> str:
    with Store.open(chosen.store.path, read_only=True) as opened:
        counts = opened.counts()
        encoder = build.encoder(chosen.retrieval.encoder, opened)
        encoder.encode(["one text"])
    if not counts.documents:
        raise NeedsAttention(f"{chosen.store.path} is empty: run  equipoise index FOLDER")
    if counts.pending:
        raise NeedsAttention(
            f"{number_of(counts.pending, 'passage')} have no vectors yet: run  equipoise index FOLDER  again"
        )
    if counts.held:
        raise NeedsAttention(f"{number_of(counts.held, 'document')} held back: see  equipoise documents list")
    return (
        f"{number_of(counts.documents, 'document')}, {number_of(counts.passages, 'passage')}, {encoder.name}"
    )


def _files(chosen: layers.Settings) -> str:
    path = chosen.store.path
    if not isinstance(path, Path) or not path.exists():
        return "no file of an index"
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise NeedsAttention(f"others on this machine may read {path}: run  chmod 600 {path}")
    return f"{path}: its owner's alone"


def _disk(chosen: layers.Settings) -> str:
    place = chosen.store.path if isinstance(chosen.store.path, Path) else Path.cwd()
    place = next(folder for folder in (place, *place.absolute().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if free < LITTLE:
        raise NeedsAttention(f"{free / 1e6:,.0f} MB are free at {place}: make room before you index")
    return f"{free / 1e9:,.1f} GB free at {place}"


def _reader() -> str:
    for model in (RANKING, READER, DECISION):
        model.scores("question", ["text"])
    return READER.name


def _model(chosen: layers.Settings, *, offline: bool) -> str:
    name = build.detected_model(chosen.model)
    chat = build.chat_model(chosen.model)
    if chat is None:
        return "none: answers are quotes"
    if offline:
        return f"{name}, not asked"
    reply = sync.run(chat.complete(PING, options=ChatOptions(max_tokens=16)))
    return f"{name} answers ({reply.usage.prompt_tokens + reply.usage.completion_tokens} tokens)"
