"""Documents, an index and a pipeline in one object: the short way for programs and for the command line."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import platformdirs

from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.errors import StoreError
from equipoise.core.protocols import Observer, Pipeline
from equipoise.core.results import Answer, Refusal
from equipoise.core.settings import Settings
from equipoise.core.types import Candidates, Trust
from equipoise.corpus.indexing import IndexReport, Progress, document_id, index
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise.rag.journal import Journal
from equipoise.rag.parts import Parts
from equipoise.rag.pipeline import checked


@dataclass(frozen=True, slots=True)
class Library:
    """An open index and the pipeline over it. `async` callers use `pipeline.ask`."""

    store: Store
    pipeline: Pipeline
    parts: Parts

    @classmethod
    def open(
        cls, path: Path | None = None, *, settings: Settings | None = None, pipeline: str = "hs"
    ) -> Self:
        """The index at `path` (default: the settings'). Raises StoreError, InputError or ModelUnavailable."""
        chosen = settings or layers.load().settings
        store = Store.open(path or chosen.store.path, read_only=True)
        try:
            parts = build.parts(chosen, store)
            return cls(store, build.pipeline(pipeline, parts), parts)
        except BaseException:
            store.close()
            raise

    def ask(
        self, question: str, *, before: Sequence[str] = (), observer: Observer | None = None
    ) -> Answer | Refusal:
        """An answer with its highlights or a refusal with its reason; raises InputError.

        `before` are the questions that the same person asked earlier, oldest first, for follow-ups, and `observer` is
        told how far it is: see `Pipeline` and `Observer`.
        """
        return sync.run(self.pipeline.ask(question, before=before, observer=observer))

    def search(self, words: str) -> Candidates:
        """The passages that a question of these words would read, best first; raises InputError and ModelError."""
        return sync.run(build.search(self.parts).find(checked(words), Journal()))

    def subjects(self, most: int = 5) -> tuple[str, ...]:
        """What the documents are about: the titles of the longest ones that only the operator writes, longest first."""
        return self.store.subjects(most)

    def close(self) -> None:
        """Close the index."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def ask(question: str, *, docs: Iterable[Path], settings: Settings | None = None) -> Answer | Refusal:
    """Index `docs` (only what has changed since the last time) and answer from them alone."""
    chosen = settings or layers.load().settings
    paths = list(docs)
    path = private_index(paths, chosen.retrieval.encoder)
    update(path, paths, prune=True, encoder=chosen.retrieval.encoder)
    with Library.open(path, settings=chosen) as library:
        return library.ask(question)


def update(
    path: Path,
    docs: Iterable[Path],
    *,
    trust: Trust = Trust.TRUSTED,
    prune: bool = False,
    progress: Progress | None = None,
    encoder: str = build.AUTO,
) -> IndexReport:
    """Bring the index at `path` up to date with `docs`; see `corpus.indexing.index`, and `build.encoder` for the name
    of the encoder."""
    build.encoder(encoder)  # a name that cannot be used leaves no file behind
    with Store.open(path, create=True) as store:
        made = build.encoder(encoder, store)
        return index(docs, store, made, trust=trust, prune=prune, progress=progress)


def private_index(docs: Iterable[Path], encoder: str = build.AUTO) -> Path:
    """Where the index of just these paths is kept, in the user's cache folder, apart for each encoder.

    Raises StoreError, and InputError for a name of an encoder that cannot be used.
    """
    name, usual = (build.encoder(one).name for one in (encoder, build.AUTO))
    key = "\n".join([*sorted(_resolved(path) for path in docs), *([name] if name != usual else [])])
    folder = Path(platformdirs.user_cache_dir("equipoise", appauthor=False)) / "docs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be made ({error.strerror}): set XDG_CACHE_HOME"
        ) from error
    return folder / f"{document_id(key)}.db"


def _resolved(path: Path) -> str:
    """`path` without links, as UTF-8; as it is where that cannot be, and indexing says what is wrong with it."""
    try:
        found = os.path.realpath(path)
    except (OSError, ValueError):
        found = str(path)
    return found.encode("utf-8", "backslashreplace").decode()
