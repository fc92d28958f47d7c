"""What one server process holds open: one library, its pipelines, the queue, the book and the log."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from equipoise.apps.server.answers import Answers
from equipoise.apps.server.appearance import Appearance
from equipoise.apps.server.audit import Audit
from equipoise.apps.server.book import Book, folder_of
from equipoise.apps.server.errors import ApiError
from equipoise.apps.server.fair_queue import FairQueue
from equipoise.apps.server.jobs import Jobs
from equipoise.apps.server.keys import Key, Keys
from equipoise.apps.server.metrics import Metrics
from equipoise.apps.server.outgoing import Webhook
from equipoise.apps.server.pages import Pages
from equipoise.apps.server.recorder import RequestRecorder
from equipoise.apps.server.sharing import share
from equipoise.core.addresses import Place, StoreUrl
from equipoise.core.errors import EquipoiseError, SettingsError, StoreError
from equipoise.core.settings import Settings
from equipoise.core.types import ChatOptions, Message
from equipoise.corpus.store import Store
from equipoise.models.adapted import DECISION
from equipoise.models.crossencoder import READER
from equipoise.rag import build
from equipoise.rag.calls import Call, Calls
from equipoise.rag.components import Objects
from equipoise.rag.library import Library

LOG = logging.getLogger("equipoise")
MODELS = {"equipoise": "hs", "equipoise-vanilla": "vanilla"}
"""The pipeline behind each model name of the API."""


@dataclass(slots=True, kw_only=True)
class Service:
    """Made by `open_service`; `close` ends it.

    `is_ready` once everything is warm, `is_draining` before the end, `is_recording` unless the last
    record of a question could not be written; `active` are the questions being answered.
    """

    settings: Settings
    folder: Path
    book: Book
    keys: Keys
    queue: FairQueue
    audit: Audit
    answers: Answers
    webhook: Webhook
    metrics: Metrics
    recorder: RequestRecorder
    library: Library
    models: tuple[str, ...]
    jobs: Jobs
    pages: Pages
    appearance: Appearance
    opened: Callable[[], Library]
    file: tuple[int, int] | None
    is_ready: bool = False
    is_draining: bool = False
    is_recording: bool = True
    active: "set[asyncio.Task[Any]]" = field(default_factory=set)

    @property
    def store(self) -> Store:
        """The index, to read."""
        return self.library.store

    def view(self, key: Key) -> Store:
        """The index as the key sees it: what its filter leaves out is not there."""
        return self.library.calls.view(key.where).store

    @property
    def is_unlocked(self) -> bool:
        """Whether there is no key yet, so that whoever is on this machine may do everything."""
        return not self.settings.public.ask and not self.keys.exist()

    def reads(self, key: Key) -> bool:
        """Whether the key opens the documents that quotes come from."""
        if key.is_visitor:
            return self.settings.public.documents
        return self.settings.serve.documents or key.is_admin

    def explains(self, key: Key) -> bool:
        """Whether the page shows what is for experts."""
        wanted = self.settings.page.expert
        return wanted == "everybody" or (wanted == "admins" and key.is_admin)

    @contextmanager
    def recording(self, *, needed: bool = False) -> Iterator[None]:
        """Wraps writes about a question. Answering needs no disk, so a failed write is only logged, unless the operator
        demands a record (`serve.record`) or it is `needed`: then raises ApiError 503."""
        try:
            yield
        except (OSError, StoreError) as error:
            if self.is_recording:
                LOG.warning("questions cannot be recorded: %s", error)
            self.is_recording = False
            if needed or self.settings.serve.record:
                said = "Questions cannot be recorded here, and none is answered without a record."
                raise ApiError(503, said, code="no_record", headers={"Retry-After": "60"}) from error
        else:
            self.is_recording = True

    async def warm(self) -> None:
        """Load all weights and read the vectors; then the server is ready."""
        try:
            await asyncio.to_thread(self._warm)
            chat = self.library.components.chat
            if chat is not None and self.settings.model.llm.startswith("local"):
                await chat.complete([Message("user", "Hello")], options=ChatOptions(max_tokens=1))
        except EquipoiseError:
            LOG.exception("the server cannot get ready")
            return
        self.is_ready = True

    async def renew(self) -> None:
        """Reopen the index if another file has taken its place; until that one can be read, the old one answers."""
        there = _file_at(self.settings.store.path)
        if there is None or there == self.file:
            return
        before, self.file = self.file, there
        try:
            self.library = await asyncio.to_thread(self.opened)
        except EquipoiseError as error:
            self.file = before
            LOG.warning("the index was replaced and cannot be read: %s", error)
            return
        self.pages, self.jobs.reader = Pages(self.store), self.store

    def close(self) -> None:
        """Close what is open."""
        self.library.close()
        self.book.close()

    def _warm(self) -> None:
        components = self.library.components
        (vector,) = components.encoder.encode(["Is anybody there?"])
        if components.reranker is not None:
            components.reranker.scores("Is anybody there?", ["Somebody is there."])
        if components.resolved.reads == "reader":
            READER.load()
            DECISION.load()
        for trust in build.READ:
            self.store.partition(trust).nearest(vector, 1)


def open_service(settings: Settings, **objects: Unpack[Objects]) -> Service:
    """Everything that a server needs, the index made where there is none. Raises what opening a library raises."""
    if settings.model.replay:
        raise SettingsError(
            "model.replay answers faster what has been asked before, which tells one key what another asked: take it "
            "out of the settings of a server"
        )
    appearance = Appearance.of(settings.page)
    path, wanted, recorder = settings.store.path, settings.serve, RequestRecorder()
    if isinstance(path, StoreUrl) or not path.exists():
        Store.open(path, create=True).close()
    if "chat" not in objects:
        objects["chat"] = build.chat_model(settings.model)
    objects["chat"] = recorder.of_chat(objects["chat"])
    folder, handed_in = folder_of(path), (wanted.scan, settings.trust.hold != "never", wanted.passages)
    book = Book(folder)
    if wanted.group:
        share(wanted.group, folder, path)

    names = tuple(name for name in MODELS if wanted.vanilla or name == "equipoise")
    opened = partial(_opened, settings, names, recorder, objects)
    file = _file_at(path)
    library = opened()
    return Service(
        settings=settings,
        folder=folder,
        book=book,
        keys=Keys(book),
        queue=FairQueue(wanted.answers, wanted.queue, wanted.wait),
        audit=Audit(folder, book.secret("audit"), wanted.trace),
        answers=Answers(book),
        webhook=Webhook(wanted.webhook.get_secret_value() if wanted.webhook else None),
        metrics=Metrics(),
        recorder=recorder,
        library=library,
        models=names,
        jobs=Jobs(book, folder, path, library.components.encoder, *handed_in, library.store),
        pages=Pages(library.store),
        appearance=appearance,
        opened=opened,
        file=file,
    )


def _opened(settings: Settings, names: Iterable[str], recorder: RequestRecorder, objects: Objects) -> Library:
    """The index with the pipelines of these models; what cannot be made is told here, before anybody asks."""
    library = Library.open(settings.store.path, settings=settings, **objects)
    calls = Calls(library.components, made=recorder.of_pipeline)
    for name in names:
        calls.pipeline(Call(pipeline=MODELS[name]))
    return replace(library, calls=calls)


def _file_at(place: Place) -> tuple[int, int] | None:
    """Device and inode of the file; None for a database, and if there is no file."""
    try:
        found = place.stat() if isinstance(place, Path) else None
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found else None
