"""Documents, an index and a pipeline in one object: the short way for programs and for the command line."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack

import platformdirs

from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.addresses import Place, StoreUrl, place
from equipoise.core.errors import InputError, StoreError
from equipoise.core.protocols import Observer, Pipeline
from equipoise.core.results import Answer, Refusal
from equipoise.core.settings import Settings
from equipoise.core.types import Candidates, Document, Query, Trust
from equipoise.corpus import catalogue, loaders
from equipoise.corpus.embedding_reuse import ReusingEncoder
from equipoise.corpus.indexing import Judge, Progress, document_id, index, prepare
from equipoise.corpus.records import Listed
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Author, Gone
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise.rag.components import Components, Objects
from equipoise.rag.gathering import checked
from equipoise.rag.impersonation import lookalikes
from equipoise.rag.journal import Journal
from equipoise.rag.retrieval import joined

Choice = TypeVar("Choice", Trust, Author, Gone)


@dataclass(frozen=True, slots=True)
class Library:
    """An index and the pipeline over it. Close it, or use it in a `with` block."""

    store: Store
    pipeline: Pipeline
    components: Components

    @classmethod
    def open(
        cls,
        path: str | Place | None = None,
        *,
        settings: Settings | None = None,
        pipeline: str = "hs",
        **objects: Unpack[Objects],
    ) -> Self:
        """The index at `path`, a file or an address (default: the settings'), to read.

        `objects` stand in for what the settings name.
        Raises StoreError, InputError or ModelUnavailable.
        """
        return cls._over(path, settings, pipeline, objects, create=False)

    @classmethod
    def create(
        cls,
        path: str | Place | None = None,
        *,
        settings: Settings | None = None,
        pipeline: str = "hs",
        **objects: Unpack[Objects],
    ) -> Self:
        """As `open`, to write too; it is made where there is none."""
        return cls._over(path, settings, pipeline, objects, create=True)

    @classmethod
    def _over(
        cls,
        path: str | Place | None,
        settings: Settings | None,
        pipeline: str,
        objects: Objects,
        *,
        create: bool,
    ) -> Self:
        chosen = settings or layers.load().settings
        chosen_place = chosen.store.path if path is None else one_place(path)
        store = Store.open(chosen_place, create=create, read_only=not create)
        try:
            components = build.components(chosen, store, **objects)
            return cls(store, build.pipeline(pipeline, components), components)
        except BaseException:
            store.close()
            raise

    def index(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        trust: Trust | str = Trust.TRUSTED,
        author: Author | str | None = None,
        gone: Gone | str = Gone.MIRROR,
        progress: Progress | None = None,
        judge: Judge | None = None,
    ) -> IndexReport:
        """Read files and folders into an index that was opened with `create`; see `corpus.indexing.index`, `Author` and
        `Gone`. `judge` scans nothing unless it is given (`redteam.scan.holding.Holding` holds documents back).

        Raises InputError, CorpusError where nothing at all could be read, StoreError where the file cannot be written.
        """
        chosen = _one(Trust, trust, "trust")
        by = None if author is None else _one(Author, author, "author")
        way = _one(Gone, gone, "way with files that are gone")
        every = [one_path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
        report = index(
            every,
            self.store,
            self.components.encoder,
            trust=chosen,
            author=by,
            gone=way,
            progress=progress,
            judge=judge,
        )
        return replace(report, alike=lookalikes(report.strangers, self.store))

    def add(self, documents: Iterable[Document]) -> int:
        """Put documents that are no files into an index that was opened with `create`; how many. `sentences` are found
        where a document has none.

        Raises StoreError where the file cannot be written, CorpusError where a `doc_id` is taken (`remove` it first) or
        a document cannot be kept, ModelError.
        """
        made = list(documents)
        self.store.bind_encoder(self.components.encoder)
        self.store.add_documents(prepare(made, self.components.encoder))
        return len(made)

    def ask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
    ) -> Answer | Refusal:
        """An answer with its highlights or a refusal with its reason; raises InputError.

        `before` are the questions that the same person asked earlier, oldest first, for follow-ups, and `observer` is
        told how far it is: see `Pipeline` and `Observer`, also for `others`.
        """
        return sync.run(self.aask(question, before=before, observer=observer, others=others))

    async def aask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
    ) -> Answer | Refusal:
        """As `ask`, for async callers."""
        earlier = (before,) if isinstance(before, str) else before
        more = {"others": True} if others else {}  # a pipeline of somebody else's may not know it
        return await self.pipeline.ask(question, before=earlier, observer=observer, **more)

    def search(self, words: str) -> Candidates:
        """The passages that a question of these words would read, best first, untrusted ones behind the trusted; raises
        InputError and ModelError."""
        return sync.run(self.asearch(words))

    async def asearch(self, words: str) -> Candidates:
        """As `search`, for async callers."""
        query, journal = Query(checked(words)), Journal()
        return joined([await search.find(query, journal) for search in build.searches(self.components)])

    def documents(self) -> tuple[Listed, ...]:
        """What the index holds, without the texts."""
        return self.store.listing()

    def remove(self, name: str) -> int:
        """Take out what is called `name` (an id, a source, or the end of its path), with all documents of the same
        file; how many went. Raises InputError where it means nothing, or several files, StoreError."""
        documents = self.store.listing()
        chosen = catalogue.with_siblings(catalogue.named(name, documents), documents)
        catalogue.remove(self.store, chosen)
        return len(chosen)

    def pending(self) -> tuple[int, int]:
        """(passages that have no vectors yet and are found by their words alone, all passages)."""
        counts = self.store.counts()
        return counts.pending, counts.passages

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


def ask(
    question: str, *, docs: str | Path | Iterable[str | Path], settings: Settings | None = None
) -> Answer | Refusal:
    """Index `docs` (only what has changed since the last time) and answer from them alone."""
    chosen = settings or layers.load().settings
    paths = [one_path(path) for path in ([docs] if isinstance(docs, str | Path) else docs)]
    path = private_index(paths, chosen.retrieval.encoder)
    update(path, paths, gone=Gone.DROP, encoder=chosen.retrieval.encoder)
    with Library.open(path, settings=chosen) as library:
        return library.ask(question)


def update(
    path: Place,
    docs: Iterable[Path],
    *,
    trust: Trust = Trust.TRUSTED,
    author: Author | None = None,
    gone: Gone = Gone.KEEP,
    progress: Progress | None = None,
    judge: Judge | None = None,
    encoder: str = build.AUTO,
) -> IndexReport:
    """Bring the index at `path` up to date with `docs`; see `corpus.indexing.index`, and `build.encoder` for the name
    of the encoder. What an index of `private_index` holds of the same files is not embedded again."""
    build.encoder(encoder)  # a name that cannot be used leaves no file behind
    with Store.open(path, create=True) as store:
        lenders = [private for private in private_indexes() if private != path]
        made = ReusingEncoder(build.encoder(encoder, store), store, lenders)
        report = index(
            docs, store, made, trust=trust, author=author, gone=gone, progress=progress, judge=judge
        )
        return replace(report, alike=lookalikes(report.strangers, store))


def one_place(given: object) -> Place:
    """`given` as the place of a store; raises InputError for what is none."""
    return (
        place(given) if isinstance(given, str) else given if isinstance(given, StoreUrl) else one_path(given)
    )


def one_path(given: object) -> Path:
    """`given` as a path; raises InputError for what is none."""
    if isinstance(given, str | Path):
        return Path(given)
    raise InputError(f"a path is a string or a pathlib.Path, not of type {type(given).__name__}")


def _one(kind: type[Choice], given: str, what: str) -> Choice:
    """`given` as one of `kind`; raises InputError for what is none."""
    try:
        return kind(given)
    except ValueError:
        raise InputError(f"there is no {what} {given!r}: write {' or '.join(kind)}") from None


def private_folder() -> Path:
    """Where the indexes of `private_index` are."""
    return Path(platformdirs.user_cache_dir("equipoise", appauthor=False)) / "docs"


def private_indexes() -> list[Path]:
    """The indexes that `private_index` names and that are there."""
    return sorted(path for path in private_folder().glob("*.db") if path.is_file())


def private_index(docs: Iterable[Path], encoder: str = build.AUTO) -> Path:
    """Where the index of just these paths is kept, in the user's cache folder, apart for each encoder and version of
    the loaders.

    Raises StoreError, and InputError for a name of an encoder that cannot be used.
    """
    name, usual = (build.encoder(choice).name for choice in (encoder, build.AUTO))
    said = [*sorted(_resolved(path) for path in docs), *([name] if name != usual else [])]
    key = "\n".join([*said, f"loaders {loaders.VERSION}"])
    folder = private_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be made ({error.strerror}): set XDG_CACHE_HOME"
        ) from error
    return folder / f"{document_id(key)}.db"


def _resolved(path: Path) -> str:
    """`path` without links, as UTF-8; as it is where that cannot be, and indexing says what is wrong with it."""
    try:
        resolved = os.path.realpath(path)
    except (OSError, ValueError):
        resolved = str(path)
    return resolved.encode("utf-8", "backslashreplace").decode()
