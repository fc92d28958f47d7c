"""Opens a source by its settings, which say its kind and the hosts that may be asked, and remembers its runs."""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Unpack

from equipoise.core.errors import CorpusError, EquipoiseError, InputError
from equipoise.core.metadata import COLLECTION
from equipoise.core.protocols import Encoder
from equipoise.core.source_settings import SITES, WIKIS, SourceSettings, scheme_of
from equipoise.core.types import Trust
from equipoise.corpus import loaders
from equipoise.corpus.indexing import SyncOptions
from equipoise.corpus.report import IndexReport
from equipoise.corpus.sources.addresses import SiteScope, given, root
from equipoise.corpus.sources.fetching import Fetcher
from equipoise.corpus.sources.guard import Allowed, Resolver, system_resolver
from equipoise.corpus.sources.memory import Memory, Run
from equipoise.corpus.sources.remote import remote_files
from equipoise.corpus.sources.site import Site
from equipoise.corpus.sources.source import DocumentSource, Unanswered
from equipoise.corpus.sources.syncing import Taken, sync
from equipoise.corpus.sources.wiki import api_of, wiki_of
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers

if TYPE_CHECKING:
    from equipoise.corpus.sources.browser import Browser


def sync_source(
    chosen: SourceSettings,
    store: Store,
    encoder: Encoder,
    *,
    resolve: Resolver = system_resolver,
    **said: Unpack[SyncOptions],
) -> IndexReport:
    """Bring `store` up to date with a source, and remember how that went; see `syncing.sync`."""
    if said.get("metadata") is None and chosen.collection:
        said["metadata"] = {COLLECTION: chosen.collection}
    began, how, address = time.time(), _how(chosen), root(chosen.address)
    with Memory(store.path) as memory:
        before = memory.run(address) or Run()
        try:
            with Readers() as readers, _opened(chosen, store, memory, readers, resolve) as source:
                report = sync(source, address, store, encoder, readers, trust=_trust(chosen), **said)
        except Taken:
            raise
        except EquipoiseError as error:
            memory.ran(address, Run(began, str(error), before.met, before.how, chosen.model_dump_json()))
            if isinstance(error, Unanswered) and address not in str(error):
                raise Unanswered(f"{address}: {error}") from error
            raise
        named = str(report.failed[0]) if report.failed else ""
        met = report.added + report.changed + report.unchanged + report.relabelled
        memory.ran(address, Run(began, named, met, how, chosen.model_dump_json()))
        return report


@contextmanager
def _opened(
    chosen: SourceSettings, store: Store, memory: Memory, readers: Readers, resolve: Resolver
) -> Iterator[DocumentSource]:
    address, kind = root(chosen.address), scheme_of(chosen.address)
    allowed = Allowed(tuple(name.lower() for name in chosen.allow))
    if kind in WIKIS:
        with Fetcher(api_of(address), allowed, chosen.secret(), resolve, delay=chosen.delay) as fetcher:
            yield wiki_of(chosen, address, fetcher, readers)
        return
    if kind not in SITES:
        with remote_files(chosen, address, resolve) as files:
            yield files
        return
    scope = SiteScope(given(chosen.address), chosen.include, chosen.exclude)
    is_known_anew = (memory.run(address) or Run()).how != _how(chosen)
    with (
        Fetcher(scope.start, allowed, chosen.secret(), resolve, delay=chosen.delay) as fetcher,
        _browser(fetcher) if chosen.browser else nullcontext() as browser,
    ):
        how = (chosen.comments, is_known_anew, browser)
        site = Site(str(scope.start), scope, fetcher, readers, memory, *how, most=chosen.pages)
        yield site
        site.tidy(store)


def _browser(fetcher: Fetcher) -> "AbstractContextManager[Browser]":
    try:
        from equipoise.corpus.sources.browser import Browser  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InputError(
            "pages that scripts write need more packages: pip install 'equipoise[browser]'"
        ) from error
    return Browser(fetcher)


def _trust(chosen: SourceSettings) -> Trust:
    """The trust of items that are not `is_anybodys`: where a wiki's settings name who may edit, these are trusted."""
    is_parted = scheme_of(chosen.address) in WIKIS and "protected" in chosen.options
    return Trust.TRUSTED if is_parted else Trust(chosen.trust)


def _how(chosen: SourceSettings) -> str:
    """A hash of how pages are read; if it differs from last time, pages that have not changed are read again."""
    told = json.dumps([loaders.VERSION, *chosen.comments, *(["browser"] if chosen.browser else [])])
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def remembered(memory: Memory) -> list[tuple[str, Run, SourceSettings | None]]:
    """The sources that were read before, with their last run and the settings it had."""
    found: list[tuple[str, Run, SourceSettings | None]] = []
    for address, run in memory.runs():
        try:
            chosen = SourceSettings.model_validate_json(run.settings) if run.settings else None
        except ValueError as error:
            raise CorpusError(f"what is remembered of {address} cannot be used: {error}") from error
        found.append((address, run, chosen))
    return found
