"""Documents that were handed in, read and indexed in the background, one at a time.

A job is a row in the book and a file on the disk before anybody is told that it was accepted. Of several processes the
one that holds the lock works; when it dies another takes over, and what was in work is begun again.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from threading import Event

from equipoise.apps.server import scanning
from equipoise.apps.server.alone import POLL_S, alone, to_its_end
from equipoise.apps.server.book import Book
from equipoise.apps.server.errors import FAILED, LOG, ApiError, busy
from equipoise.apps.server.uploads import keep_folder
from equipoise.apps.server.views import UPLOADS
from equipoise.audit.scan.holding import Holding
from equipoise.core.addresses import Place
from equipoise.core.errors import CorpusError, EquipoiseError, StoreError
from equipoise.core.metadata import COLLECTION
from equipoise.core.protocols import Encoder
from equipoise.core.sections import ScanMode
from equipoise.core.types import Document, Trust
from equipoise.corpus.files import Original
from equipoise.corpus.indexing import IndexProgress, index
from equipoise.corpus.limits import PASSAGES
from equipoise.corpus.places import Places
from equipoise.corpus.record_types import ListedDocument
from equipoise.corpus.roots import Gone
from equipoise.corpus.store import Store

PAUSE_S = 1.0
"""Seconds before a job is tried again whose index could not be written."""
MOST_TRIES = 50
"""A file is given up when the server has died so many times while it was read. Each time, others come before it."""
MOST_WAITING = 1_000
TAKEN = (
    "a trusted document has this name, and only a trusted one may take its place: delete the old one first, or use "
    "another name"
)
DISTRUSTED = "the scan found something of high severity in it, so it is not trusted"
_COLUMNS = "job_id, name, trust, state, error, done, total, documents, created, ended, author, collection"


class State(StrEnum):
    """How far a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """A document on its way into the index: `done` of `total` passages, then `documents` by id, or `error`. `trust` is
    what was asked for and, at the end, what the documents have; `author` is whoever handed it in."""

    job_id: str
    name: str
    trust: Trust
    state: State
    error: str
    done: int
    total: int
    documents: tuple[str, ...]
    created: str
    ended: str
    author: str = ""
    collection: str = ""


class _Stopped(Exception):
    """The server ends: the job goes on when it starts again."""


@dataclass(slots=True)
class Jobs:
    """The jobs of `book`, whose files are in `folder`: indexed into `path`, and scanned as `scan` says; with `hold`
    untrusted ones before they are in the index. A file with more than `most` passages is refused."""

    book: Book
    folder: Path
    path: Place
    encoder: Encoder
    scan: ScanMode = "off"
    hold: bool = False
    most: int = PASSAGES
    reader: Store | None = None
    """The store that answers are read from; told what a job wrote, since a replica of a database may be behind."""
    _new: asyncio.Event = field(default_factory=asyncio.Event)
    _stopping: Event = field(default_factory=Event)

    def room(self) -> tuple[str, Path]:
        """A new job's id, and the path to write its file to. Raises ApiError where too many jobs wait."""
        [(waiting,)] = self.book.rows("SELECT count(*) FROM jobs WHERE state = ?", (State.WAITING,))
        if waiting >= MOST_WAITING:
            raise busy()
        incoming = self.folder / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        job_id = secrets.token_hex(8)
        return job_id, incoming / job_id

    def check_trust(self, store: Store, name: str, trust: Trust, collection: str) -> None:
        """Raises ApiError 409 where a file of this trust may not take the place of the one with its name."""
        if self._is_taken(store, self._place(name, collection), trust):
            raise ApiError(409, f"{TAKEN[0].upper()}{TAKEN[1:]}.", code="name_taken", param="name")

    def accept(self, job_id: str, name: str, trust: Trust, author: str = "", collection: str = "") -> Job:
        """Queue a job for a file that has been received; from now on the job survives a crash."""
        now = _now()
        self.book.rows(
            "INSERT INTO jobs (job_id, name, trust, state, created, author, collection) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (job_id, name, trust.value, State.WAITING, now, author, collection),
        )
        self.book.keep()
        self._new.set()
        return Job(job_id, name, trust, State.WAITING, "", 0, 0, (), now, "", author, collection)

    def find(self, job_id: str) -> Job | None:
        """The job, None for an unknown one."""
        rows = self.book.rows(f"SELECT {_COLUMNS} FROM jobs WHERE job_id = ?", (job_id,))
        return _read(rows[0]) if rows else None

    def latest(self, most: int) -> tuple[Job, ...]:
        """The newest first."""
        ask = f"SELECT {_COLUMNS} FROM jobs ORDER BY number DESC LIMIT ?"
        return tuple(map(_read, self.book.rows(ask, (most,))))

    async def run(self) -> None:
        """Work until cancelled."""
        async with alone(self.folder / "jobs.lock"):
            self._begin_again()
            while True:
                job = self._next()
                if job is None:
                    self._new.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(POLL_S):
                            await self._new.wait()
                else:
                    await to_its_end(partial(self._do, job), self._stopping.set)

    def forget_file(self, path: Path) -> None:
        """Delete the file of a document that was taken out, if it was handed in here."""
        if path.is_relative_to(self.folder.resolve() / UPLOADS):
            path.unlink(missing_ok=True)

    def _begin_again(self) -> None:
        """Queue again the jobs that ran when a server died; fail those that were begun too often."""
        for job_id, tries in self.book.rows(
            "SELECT job_id, tries FROM jobs WHERE state = ?", (State.RUNNING,)
        ):
            job = self.find(job_id)
            if job is not None and tries >= MOST_TRIES:
                self._put_back(*self._put(job))
                self._end(job, State.FAILED, error="Reading it has ended the server again and again.")
            else:
                self._set(job_id, State.WAITING)

    def _set(self, job_id: str, state: State) -> None:
        self.book.rows("UPDATE jobs SET state = ? WHERE job_id = ?", (state, job_id))

    def _next(self) -> Job | None:
        """The next job, marked as running: by fewest tries, then the key served longest ago, then the oldest."""
        rows = self.book.rows(
            "SELECT job_id FROM jobs WHERE state = ? ORDER BY tries,"
            " (SELECT max(ended) FROM jobs AS done WHERE done.author = jobs.author), number LIMIT 1",
            (State.WAITING,),
        )
        if not rows:
            return None
        self.book.rows(
            "UPDATE jobs SET state = ?, tries = tries + 1 WHERE job_id = ?", (State.RUNNING, rows[0][0])
        )
        return self.find(str(rows[0][0]))

    def _do(self, job: Job) -> None:
        """Do one job, in a thread, and record how it ended."""
        try:
            documents = self._indexed(job)
        except _Stopped:
            return
        except StoreError as error:
            LOG.warning("job %s waits: %s", job.job_id, error)
            time.sleep(PAUSE_S)
            self._set(job.job_id, State.WAITING)
        except EquipoiseError as error:
            LOG.warning("job %s failed: %s", job.job_id, error)
            self._end(job, State.FAILED, error=_reason(error, job.name))
        except Exception:  # noqa: BLE001 - one file must not end the work on all others
            LOG.exception("job %s failed", job.job_id)
            self._end(job, State.FAILED, error=FAILED)
        else:
            self._end(job, State.DONE, documents=documents)

    def _indexed(self, job: Job) -> list[ListedDocument]:
        place, before = self._put(job)
        every, distrust = self.scan != "off", self.scan == "distrust"
        try:
            with (
                Store.open(self.path, create=True) as store,
                Holding(hold=self.hold, every=every, distrust=distrust) as holding,
            ):
                if self._is_taken(store, place, job.trust):  # by a file that was waiting when this one came
                    raise CorpusError(f"{job.name}: {TAKEN}")

                def judge(original: Original, documents: Sequence[Document], trust: Trust) -> Trust:
                    given = holding(original, documents, trust)
                    if self._is_taken(store, place, given):
                        raise CorpusError(f"{job.name}: {DISTRUSTED}; {TAKEN}")
                    return given

                report = index(
                    [place],
                    store,
                    self.encoder,
                    trust=job.trust,
                    writer=job.author,
                    metadata={COLLECTION: job.collection} if job.collection else {},
                    gone=Gone.KEEP,
                    progress=partial(self._tell, job),
                    judge=judge,
                    most=self.most,
                )
                if report.failed:
                    raise report.failed[0]
                key = Places(store.folder).key(place)
                documents = [document for document in store.listing() if document.path == key]
                if self.reader is not None:
                    self.reader.read_after(store.written())
                scanning.keep(self.book, store, place, documents, holding)
        except StoreError:  # somebody else writes, or the disk is full: it is tried again
            raise
        except EquipoiseError:
            self._put_back(place, before)
            raise
        before.unlink(missing_ok=True)
        return documents

    def _put(self, job: Job) -> tuple[Path, Path]:
        """Move the file to its place; returns its path, and where a file that it replaced is kept. May be repeated."""
        incoming = self.folder / "incoming" / job.job_id
        place, before = self._place(job.name, job.collection), incoming.with_name(f"{job.job_id}.before")
        place.parent.mkdir(exist_ok=True, parents=True)
        if incoming.exists():
            if place.exists() and not before.exists():
                place.rename(before)
            incoming.rename(place)
            keep_folder(place.parent)
        return place, before

    def _place(self, name: str, collection: str) -> Path:
        """Where a file that is handed in comes to lie."""
        uploads = self.folder.resolve() / UPLOADS
        # No uploaded file is called "collections": it has no type.
        return (uploads / "collections" / collection if collection else uploads) / name

    @staticmethod
    def _is_taken(store: Store, place: Path, trust: Trust) -> bool:
        """Whether the file at `place` is trusted and one of `trust` is not."""
        old = store.file(Places(store.folder).key(place)) if trust is not Trust.TRUSTED else None
        return old is not None and old.trust is Trust.TRUSTED

    def _put_back(self, place: Path, before: Path) -> None:
        if before.exists():
            before.rename(place)
        else:
            place.unlink(missing_ok=True)

    def _tell(self, job: Job, step: IndexProgress) -> None:
        """Write down how far a job is."""
        if self._stopping.is_set():
            raise _Stopped
        self.book.rows(
            "UPDATE jobs SET done = ?, total = ? WHERE job_id = ?", (step.embedded, step.passages, job.job_id)
        )

    def _end(
        self, job: Job, state: State, *, error: str = "", documents: Sequence[ListedDocument] = ()
    ) -> None:
        ids = json.dumps([document.doc_id for document in documents])
        trust = documents[0].trust if documents else job.trust
        self.book.rows(
            "UPDATE jobs SET state = ?, error = ?, documents = ?, trust = ?, ended = ? WHERE job_id = ?",
            (state, error, ids, trust.value, _now(), job.job_id),
        )


def _reason(error: EquipoiseError, name: str) -> str:
    """What is wrong with the file, without its path."""
    said = str(error)
    _, mark, reason = said.partition(f"{name}: ")
    text = reason if mark else FAILED
    return f"{text[:1].upper()}{text[1:]}."


def _read(row: tuple[object, ...]) -> Job:
    job_id, name, trust, state, error, done, total, documents, *more = map(str, row)
    ids = tuple(json.loads(documents))
    return Job(job_id, name, Trust(trust), State(state), error, int(done), int(total), ids, *more)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
