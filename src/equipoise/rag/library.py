"""Documents, an index and a pipeline in one object: the short way for programs and for the command line."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self, Unpack, cast

from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.addresses import Place
from equipoise.core.closing import Closing
from equipoise.core.errors import EquipoiseError, InputError, StoreError
from equipoise.core.metadata import Scalar
from equipoise.core.protocols import Observer, Pipeline
from equipoise.core.results import Answer, Refusal
from equipoise.core.settings import Settings
from equipoise.core.source_settings import SourceSettings
from equipoise.core.types import Candidates, Document, Flag, Query, Trust
from equipoise.core.where import Given, as_where
from equipoise.corpus import catalogue
from equipoise.corpus.indexing import Judge, Progress, index, prepare
from equipoise.corpus.naming import document_id
from equipoise.corpus.record_types import ListedDocument
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Author, Gone
from equipoise.corpus.sources.addresses import root
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise.rag.calls import Call, CallFields, Calls, Conversation
from equipoise.rag.components import Components, Objects
from equipoise.rag.events import Event, Teller
from equipoise.rag.gathering import checked
from equipoise.rag.given import all_documents, all_paths, all_texts, one_of, one_place
from equipoise.rag.impersonation import lookalikes
from equipoise.rag.journal import Journal
from equipoise.rag.retrieval import joined
from equipoise.rag.updating import private_index, unmaking, update


@dataclass(frozen=True, slots=True, repr=False)
class Library(Closing):
    """An index and the pipeline over it. Close it, or use it in a `with` block.

    `Choice` has what a call may choose: `where` says which documents there are for it (`core.where`), `k` how many
    passages are read, `pipeline` which one answers, `trust` a `trust.mode`. Anything else raises TypeError: a filter
    that is misspelt must not be lost.
    """

    store: Store
    pipeline: Pipeline
    components: Components
    calls: Calls = field(default=cast("Calls", None))
    _unmake: Callable[[], None] | None = None
    _ends: list[Callable[[], None]] = field(default_factory=list)
    _reads_only: bool = False

    def __repr__(self) -> str:
        """Its place, and how many documents it has."""
        place = repr(str(self.store.path))
        with suppress(EquipoiseError):
            return f"Library({place}, documents={self.store.counts().documents})"
        return f"Library({place}, closed)"

    @classmethod
    def open(
        cls,
        path: str | Place | None = None,
        *,
        settings: layers.Given = None,
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
        settings: layers.Given = None,
        pipeline: str = "hs",
        **objects: Unpack[Objects],
    ) -> Self:
        """As `open`, to write too; it is made where there is none."""
        return cls._over(path, settings, pipeline, objects, create=True)

    @classmethod
    def _over(
        cls,
        path: str | Place | None,
        settings: layers.Given,
        pipeline: str,
        objects: Objects,
        *,
        create: bool,
    ) -> Self:
        chosen = _settings(settings)
        chosen_place = chosen.store.path if path is None else one_place(path)
        unmake = unmaking(chosen_place)
        store = Store.open(chosen_place, create=create, read_only=not create)
        try:
            components = build.components(chosen, store, **objects)
            made = build.pipeline(pipeline, components)
        except BaseException:
            store.close()
            if unmake:
                unmake()
            raise
        return cls(store, made, components, Calls(components, pipeline), unmake, _reads_only=not create)

    @classmethod
    def from_texts(
        cls,
        texts: Mapping[str, str] | Iterable[str],
        *,
        metadata: Sequence[Mapping[str, Scalar]] = (),
        path: str | Place | None = None,
        settings: layers.Given = None,
        **objects: Unpack[Objects],
    ) -> Self:
        """A library of texts by name, else named "text 1" and so on; `metadata` has one mapping for each, in the same
        order. Without a `path` the index is deleted on close. Raises as `create` and `add` do, and InputError if there
        are not as many metadata as texts."""
        named = (
            dict(texts)
            if isinstance(texts, Mapping)
            else {f"text {n}": one for n, one in enumerate(all_texts(texts, "texts"), 1)}
        )
        all_texts([*named, *named.values()], "texts and their names")
        if metadata and len(metadata) != len(named):
            said = f"there are {len(named)} texts and metadata of {len(metadata)}: give one for each text"
            raise InputError(said)
        folder = TemporaryDirectory(prefix="equipoise-") if path is None else None
        place = Path(folder.name) / "index.db" if folder else path
        with ExitStack() as failed:
            if folder:
                failed.callback(folder.cleanup)
            made = cls.create(place, settings=settings, **objects)
            failed.callback(made.close)
            known = metadata or [{}] * len(named)
            made.upsert(
                Document(document_id(name), text, name, metadata=one)
                for (name, text), one in zip(named.items(), known, strict=True)
            )
            failed.pop_all()
        if folder:
            made._ends.append(folder.cleanup)
        return made

    def index(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        trust: Trust | str | None = None,
        author: Author | str | None = None,
        metadata: Mapping[str, Scalar] | None = None,
        gone: Gone | str = Gone.MIRROR,
        progress: Progress | None = None,
        judge: Judge | None = None,
    ) -> IndexReport:
        """Read files and folders into an index that was opened with `create`; see `corpus.indexing.index`, `Author` and
        `Gone`. `trust` and `metadata` hold for all of them (`corpus.telling`); None leaves what was said before, and
        new ones are trusted. Nothing is scanned without a `judge` (`audit.scan.holding.Holding` holds documents back).

        Raises InputError, CorpusError where nothing at all could be read, StoreError where the file cannot be written.
        """
        with self._filling():
            chosen = None if trust is None else one_of(Trust, trust, "trust")
            by = None if author is None else one_of(Author, author, "author")
            way = one_of(Gone, gone, "way with files that are gone")
            report = index(
                all_paths(paths),
                self.store,
                self.components.encoder,
                trust=chosen,
                author=by,
                metadata=metadata,
                gone=way,
                progress=progress,
                judge=judge,
            )
        return replace(report, alike=lookalikes(report.strangers, self.store))

    def sync(
        self,
        source: str | SourceSettings,
        *,
        metadata: Mapping[str, Scalar] | None = None,
        gone: Gone | str = Gone.MIRROR,
        progress: Progress | None = None,
        judge: Judge | None = None,
    ) -> IndexReport:
        """Bring an index that was opened with `create` up to date with a source: its address, or with more to say of
        it (`core.source_settings`). Raises InputError, CorpusError where it does not answer, StoreError, ModelError.
        """
        from equipoise.corpus.sources.opening import sync_source  # noqa: PLC0415 - its HTTP client, for sites alone

        with self._filling():
            chosen = source if isinstance(source, SourceSettings) else SourceSettings(address=root(source))
            way = one_of(Gone, gone, "way with pages that are gone")
            report = sync_source(
                chosen,
                self.store,
                self.components.encoder,
                metadata=metadata,
                gone=way,
                progress=progress,
                judge=judge,
            )
        return replace(report, alike=lookalikes(report.strangers, self.store))

    def add(self, documents: Iterable[Document]) -> int:
        """Put documents that are no files into an index that was opened with `create`; returns how many. `sentences`
        are found where a document has none.

        Raises StoreError where the file cannot be written, CorpusError where a `doc_id` is taken (`remove` it first) or
        a document cannot be kept, ModelError.
        """
        return self._put(documents, again=False)

    def upsert(self, documents: Iterable[Document]) -> int:
        """As `add`, in the place of documents that were added with the same ids; all or nothing.

        Raises as `add` does; CorpusError where the document with an id came from a file.
        """
        return self._put(documents, again=True)

    def _put(self, documents: Iterable[Document], *, again: bool) -> int:
        with self._filling():
            made = all_documents(documents)
            self.store.bind_encoder(self.components.encoder)
            self.store.add_documents(prepare(made, self.components.encoder), again=again)
        return len(made)

    @contextmanager
    def _filling(self) -> Iterator[None]:
        """Wraps what fills the index: if it fails, an index that this library made and that is still empty is deleted
        on close; until then it can be filled."""
        self._check_writable()
        try:
            yield
        except EquipoiseError:
            if self._unmake and self._unmake not in self._ends:
                self._ends.append(self._unmake)
            raise

    def _check_writable(self) -> None:
        if self._reads_only:
            raise StoreError(f"Library.open only reads {self.store.path}: use Library.create to change it")

    async def aadd(self, documents: Iterable[Document]) -> int:
        """As `add`, for async callers."""
        return await asyncio.to_thread(self.add, documents)

    async def aupsert(self, documents: Iterable[Document]) -> int:
        """As `upsert`, for async callers."""
        return await asyncio.to_thread(self.upsert, documents)

    def ask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
        **choice: Unpack[CallFields],
    ) -> Answer | Refusal:
        """An answer with its highlights or a refusal with its reason; raises InputError.

        `before` are the questions that the same person asked earlier, oldest first, for follow-ups, and `observer` is
        told how far it is: see `Pipeline` and `Observer`, also for `others`, and `Library` for the choice.
        """
        return sync.run(self.aask(question, before=before, observer=observer, others=others, **choice))

    async def aask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
        **choice: Unpack[CallFields],
    ) -> Answer | Refusal:
        """As `ask`, for async callers."""
        earlier = tuple(all_texts([before] if isinstance(before, str) else before, "earlier questions"))
        more = {"others": True} if others else {}  # a pipeline of somebody else's may not know it
        call = Call.of(**choice)
        pipeline = self.pipeline if call == Call() else self.calls.pipeline(call)
        return await pipeline.ask(question, before=earlier, observer=observer, **more)

    async def astream(
        self, question: str, *, before: Sequence[str] = (), others: bool = False, **choice: Unpack[CallFields]
    ) -> AsyncIterator[Event]:
        """What happens while the question is answered, with the names and data of the server's events; the last is
        `done`, whose `result` is that of `aask`. Raises as `ask` does. To stop iterating cancels the work."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(event: Event | None) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)

        teller = Teller(tell)

        async def work() -> None:
            try:
                result = await self.aask(question, before=before, observer=teller, others=others, **choice)
                teller.ended(result, result.text if isinstance(result, Answer) else "")
            finally:
                tell(None)

        task = asyncio.create_task(work())
        try:
            while (event := await events.get()) is not None:
                yield event
            await task
        finally:
            task.cancel()

    def conversation(self, **choice: Unpack[CallFields]) -> Conversation:
        """A conversation: questions of one person, each read with those before it."""
        Call.of(**choice)  # what is wrong is said at once
        return Conversation(self, choice)

    def search(self, words: str, **choice: Unpack[CallFields]) -> Candidates:
        """The passages that a question of these words would read, best first, untrusted ones behind the trusted; raises
        InputError and ModelError."""
        return sync.run(self.asearch(words, **choice))

    async def asearch(self, words: str, **choice: Unpack[CallFields]) -> Candidates:
        """As `search`, for async callers."""
        return joined([kept for kept, _ in await self.asearch_all(words, **choice)])

    async def asearch_all(
        self, words: str, **choice: Unpack[CallFields]
    ) -> list[tuple[Candidates, tuple[Flag, ...]]]:
        """As `search`, apart for trusted and untrusted documents unless these are searched together, each with what
        the filter took out."""
        query, found = Query(checked(words)), []
        for search in build.searches(self.calls.parts(Call.of(**choice))):
            journal = Journal()
            found.append((await search.find(query, journal), journal.trace.flagged))
        return found

    def documents(self, where: Given | None = None) -> tuple[ListedDocument, ...]:
        """The documents of the index, or those that a filter matches, without their texts."""
        chosen = as_where(where)
        return tuple(one for one in self.store.listing() if chosen is None or chosen.matches(one.metadata))

    def remove(self, name: str) -> int:
        """Take out what is called `name` (an id, a source, or the end of its path), with all documents of the same
        file; returns how many. Raises InputError if the name fits nothing, or several files; StoreError."""
        self._check_writable()
        documents = self.store.listing()
        chosen = catalogue.with_siblings(catalogue.named(name, documents), documents)
        catalogue.remove(self.store, chosen)
        return len(chosen)

    async def aremove(self, name: str) -> int:
        """As `remove`, for async callers."""
        return await asyncio.to_thread(self.remove, name)

    def pending(self) -> tuple[int, int]:
        """(passages that have no vectors yet and are found by their words alone, all passages)."""
        counts = self.store.counts()
        return counts.pending, counts.passages

    def subjects(self, most: int = 5, where: Given | None = None) -> tuple[str, ...]:
        """What the documents are about: the titles of the longest ones that only the operator writes, longest first."""
        return self.store.subjects(most, as_where(where))

    def close(self) -> None:
        """Close the index."""
        self.store.close()
        while self._ends:
            self._ends.pop()()


def ask(
    question: str, *, docs: str | Path | Iterable[str | Path], settings: layers.Given = None
) -> Answer | Refusal:
    """Index `docs` (only what has changed since the last time) and answer from them alone."""
    chosen = _settings(settings)
    paths = all_paths(docs)
    path = private_index(paths, chosen.retrieval.encoder)
    update(path, paths, gone=Gone.DROP, encoder=chosen.retrieval.encoder)
    with Library.open(path, settings=chosen) as library:
        return library.ask(question)


def _settings(given: layers.Given) -> Settings:
    """The settings given, else those loaded from files and environment."""
    return layers.load().settings if given is None else layers.settings_of(given)
