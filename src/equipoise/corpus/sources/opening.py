"""A source as settings name it, opened: which address, which hosts may be asked, what was remembered."""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from equipoise.core.errors import CorpusError, EquipoiseError
from equipoise.core.metadata import COLLECTION, Scalar
from equipoise.core.protocols import Encoder
from equipoise.core.source_settings import SourceSettings
from equipoise.core.types import Trust
from equipoise.corpus import loaders
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Gone
from equipoise.corpus.sources.addresses import SiteScope, given
from equipoise.corpus.sources.fetching import Fetcher
from equipoise.corpus.sources.guard import Allowed, Resolver, system_resolver
from equipoise.corpus.sources.memory import Memory, Run
from equipoise.corpus.sources.site import Site
from equipoise.corpus.sources.syncing import sync
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers
from equipoise.corpus.writing import Judge, Progress


def address_of(chosen: SourceSettings) -> str:
    """The root of a source's documents in an index. Raises InputError."""
    return str(given(chosen.address))


def sync_site(
    chosen: SourceSettings,
    store: Store,
    encoder: Encoder,
    *,
    metadata: Mapping[str, Scalar] | None = None,
    gone: Gone = Gone.MIRROR,
    progress: Progress | None = None,
    judge: Judge | None = None,
    resolve: Resolver = system_resolver,
) -> IndexReport:
    """Bring `store` up to date with a site, and remember how that went; see `syncing.sync`."""
    said = metadata if metadata is not None or not chosen.collection else {COLLECTION: chosen.collection}
    began, how = time.time(), _how(chosen)
    with Memory(store.path) as memory:
        address = address_of(chosen)
        before = memory.run(address) or Run()
        try:
            with _site(chosen, memory, resolve, is_known_anew=before.how != how) as site:
                report = sync(
                    site,
                    address,
                    store,
                    encoder,
                    site.readers,
                    trust=Trust(chosen.trust),
                    metadata=said,
                    gone=gone,
                    progress=progress,
                    judge=judge,
                )
                site.tidy(store)
        except EquipoiseError as error:
            memory.ran(address, Run(began, str(error), before.met, before.how, chosen.model_dump_json()))
            raise
        named = str(report.failed[0]) if report.failed else ""
        memory.ran(address, Run(began, named, site.met, how, chosen.model_dump_json()))
        return report


@contextmanager
def _site(
    chosen: SourceSettings, memory: Memory, resolve: Resolver, *, is_known_anew: bool
) -> Iterator[Site]:
    scope = SiteScope(given(chosen.address), chosen.include, chosen.exclude)
    allowed = Allowed(tuple(name.lower() for name in chosen.allow))
    with (
        Fetcher(scope.start, allowed, chosen.secret(), resolve, delay=chosen.delay) as fetcher,
        Readers(1) as readers,
    ):
        yield Site(scope, fetcher, readers, memory, chosen.comments, chosen.pages, is_known_anew)


def _how(chosen: SourceSettings) -> str:
    """By what pages are read: where it is another, a page that has not changed is read again."""
    told = json.dumps([loaders.VERSION, *chosen.comments])
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
