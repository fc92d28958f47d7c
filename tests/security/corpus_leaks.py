"""Mutants: the real code changed on purpose, so that untrusted documents reach what trusted ones answer.

Each one is a way in which fact 3 could be lost by a careless change. `test_corpus_noninterference.py` keeps that its
property catches every one of them: those of FILES need files, the others documents that are added.
"""

from dataclasses import replace

import numpy as np

from equipoise.core.results import Answer
from equipoise.core.types import Trust
from equipoise.corpus import embedding, fulltext, naming, nearest, rows, sqlite
from equipoise.corpus.fulltext import FullText
from equipoise.corpus.keywords import Keywords
from equipoise.corpus.scope import DocumentScope, first, trust_of
from equipoise.corpus.spelling import NEAREST
from equipoise.corpus.sqlite import SqlitePartition, SqliteStore
from equipoise.corpus.store import Store
from equipoise.rag import build, pipeline
from equipoise.rag.library import Library
from equipoise.rag.pipeline import HighlightSummarize
from equipoise.rag.retrieval import Among, Interleaved, joined
from equipoise.rag.summarizers.llm import LlmSummarizer

LEAKS, FILES = {}, {}
READ = build.READ


def mutant(name, kind=LEAKS):
    """Registers a mutant; it gets `patch(owner, name, new)`."""

    def register(change):
        kind[name] = lambda monkeypatch: change(monkeypatch.setattr)
        return change

    return register


def around(owner, name, patch, change):
    """Puts `change(old, *args, **more)` in the place of a function or method."""
    old = getattr(owner, name)
    patch(owner, name, lambda *args, **more: change(old, *args, **more))


def own(partition, found):
    """The hits that are of the partition."""
    return [hit for hit in found if trust_of(hit[0]) is partition.trust]


def merged(found, k):
    """The best of several rankings."""
    return sorted((hit for some in found for hit in some), key=lambda hit: (-hit[1], hit[0]))[:k]


@mutant("frequencies of words over both")
def _(patch):
    for module in (fulltext, rows, sqlite):
        patch(module, "words_of", lambda trust: "words_trusted")

    def bm25(old, self, query, k):
        return own(self, old(self, query, 1_000))[:k]

    def holding(old, self, words):
        return [ids[[trust_of(number) is self.trust for number in ids]] for ids in old(self, words)]

    around(SqlitePartition, "bm25", patch, bm25)
    around(SqlitePartition, "holding", patch, holding)


@mutant("one vocabulary of spelling")
def _(patch):
    around(build, "speller", patch, lambda old, components, *trusts: old(components, *READ))


@mutant("misspelt words are looked for in both")
def _(patch):
    def vocabulary(old, self):
        return [term for other in READ for term in old(FullText(self._connection, DocumentScope(other)))]

    def some_with(old, self, stem):
        return old(self, stem) or old(self._store.partition(Trust.UNTRUSTED), stem)

    around(FullText, "vocabulary", patch, vocabulary)
    around(Keywords, "_first_known", patch, lambda old, self, stems: stems[:NEAREST])
    around(SqlitePartition, "_some_with", patch, some_with)


@mutant("words that no document at all has")
def _(patch):
    around(build, "listener", patch, lambda old, components, *trusts: old(components, *READ))


@mutant("the best of both, and then those of the trusted")
def _(patch):
    def retriever(old, components, *trusts):
        return Among(old(components, *READ), trusts[:1]) if len(trusts) == 1 else old(components, *trusts)

    around(build, "retriever", patch, retriever)


@mutant("one counter of passages")
def _(patch):
    def following(old, self, trust):
        own_number, own_passage = old(self, trust)
        counted = [old(self, other) for other in READ if other is not trust]
        begin = [first(other) for other in READ if other is not trust]
        number = sum(one - start for (one, _), start in zip(counted, begin, strict=True))
        passage = sum(one - start for (_, one), start in zip(counted, begin, strict=True))
        return own_number + number, own_passage + passage

    around(Store, "_following", patch, following)


@mutant("one matrix of vectors")
def _(patch):
    def search(old, self, vector, k, *, exact=False):
        every = [self._store.partition(trust) for trust in READ]
        return own(self, merged([old(part, vector, k, exact=exact) for part in every], k))

    around(SqlitePartition, "nearest", patch, search)


@mutant("passages of both decide where search is approximate")
def _(patch):
    def holds_at_most(self, passages):
        return sum(rows.passages_in(self._connection, DocumentScope(trust)) for trust in READ) <= passages

    patch(nearest, "EXACT_UP_TO", 10)
    patch(nearest, "LEAST", 0)  # so that so few are approximated badly, as many are a little
    patch(nearest.Nearest, "_holds_at_most", holds_at_most)


@mutant("one retriever over both")
def _(patch):
    patch(build, "_answering", lambda settings: READ)


@mutant("a reranker that reads both")
def _(patch):
    class Trusted:
        def __init__(self, inner):
            self.inner = inner

        async def filter(self, query, candidates, *, k):
            kept = [row for row, passage in enumerate(candidates.passages) if passage.trust is Trust.TRUSTED]
            return await self.inner.filter(query, candidates.take(kept), k=k)

    def searching(old, components, *trusts):
        parts = old(components, *trusts)
        if trusts != (Trust.TRUSTED,):
            return parts
        both = Interleaved(tuple(build.retriever(components, trust) for trust in READ))
        return parts | {"retriever": both, "filter": Trusted(parts["filter"])}

    around(build, "_searching", patch, searching)


@mutant("others merged into the quotes of an answer")
def _(patch):
    async def heard(old, self, question, evidence, others):
        return await old(self, question, evidence, True)

    def with_untrusted(old, result, heard):
        made = old(result, heard)
        if heard is None or not isinstance(result, Answer) or not heard.others.claims:
            return made
        more = [item for claim in heard.others.claims for one in claim.statements for item in one.highlights]
        items = {item.span: item for item in (*result.highlights.items, *more)}
        return replace(
            made, highlights=replace(made.highlights, items=tuple(items[s] for s in sorted(items)))
        )

    around(HighlightSummarize, "_heard", patch, heard)
    around(pipeline, "with_untrusted", patch, with_untrusted)


@mutant("one limit of quotes for both")
def _(patch):
    def with_untrusted(old, result, heard):
        made = old(result, heard)
        if heard is None or not isinstance(result, Answer):
            return made
        spent = sum(len(claim.statements) for claim in heard.others.claims)
        items = result.highlights.items
        left = replace(made.highlights, items=items[: max(1, len(items) - spent)])
        return replace(made, highlights=left, best_first=())

    around(pipeline, "with_untrusted", patch, with_untrusted)


@mutant("one limit of quotes for a message")
def _(patch):
    async def ask_all(old, self, *args, **more):
        asked = await old(self, *args, **more)
        if len(asked.results) == 1:
            return asked
        items = asked.highlights.items[: self.policy.max_spans]
        return replace(asked, highlights=replace(asked.highlights, items=items))

    around(HighlightSummarize, "ask_all", patch, ask_all)


@mutant("passages of others beside a refusal")
def _(patch):
    def with_untrusted(old, result, heard):
        made = old(result, heard)
        if heard is None or isinstance(made, Answer) or heard.candidates is None:
            return made
        return replace(made, nearest=(*heard.candidates.passages, *made.nearest)[:3])

    around(pipeline, "with_untrusted", patch, with_untrusted)


@mutant("an answer is weak where others contest it")
def _(patch):
    def with_untrusted(old, result, heard):
        made = old(result, heard)
        return replace(made, weak=bool(heard.others.claims)) if heard and isinstance(made, Answer) else made

    around(pipeline, "with_untrusted", patch, with_untrusted)


@mutant("titles of others for the summarizer")
def _(patch):
    titles = []

    async def ask_all(old, self, questions, *args, **more):
        if self.witnesses:
            titles[:] = [title for _, title in self.witnesses.search.keywords["partition"].sources()][-1:]
        return await old(self, questions, *args, **more)

    async def summarize(old, self, highlights, **more):
        named = tuple(replace(item, title=title) for title in titles[:1] for item in highlights.items)
        return await old(self, replace(highlights, items=named or highlights.items), **more)

    around(HighlightSummarize, "ask_all", patch, ask_all)
    around(LlmSummarizer, "summarize", patch, summarize)


@mutant("what was read of others for the highlighter")
def _(patch):
    def retriever(old, components, *trusts):
        found = old(components, *trusts)
        return With(found, old(components, Trust.UNTRUSTED)) if trusts == (Trust.TRUSTED,) else found

    class With:
        def __init__(self, inner, other):
            self.inner, self.other = inner, other

        def retrieve(self, query, *, k):
            found, more = self.inner.retrieve(query, k=k), self.other.retrieve(query, k=1)
            return joined([more, found]) if len(more) else found

    around(build, "retriever", patch, retriever)


@mutant("subjects of all documents")
def _(patch):
    def subjects(self, most, where=None):
        asked = "SELECT title FROM documents JOIN vectors ON document = number WHERE title <> ''"
        found = self._rows(f"{asked} GROUP BY title ORDER BY sum(count) DESC, title LIMIT ?", most)
        return tuple(row[0] for row in found)

    patch(SqliteStore, "subjects", subjects)


@mutant("a cache by the question alone")
def _(patch):
    kept = {}

    async def aask(old, self, question, *, before=(), **more):
        key = (str(self.store.path), question, tuple(before))
        if key not in kept:
            kept[key] = await old(self, question, before=before, **more)
        return kept[key]

    around(Library, "aask", patch, aask)


@mutant("vectors of what is embedded together")
def _(patch):
    def encoded(old, batch, encoder):
        made = old(batch, encoder)
        moved = made + made.mean(axis=0)
        return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), np.float32)

    around(embedding, "_encoded", patch, encoded)


@mutant("a source that an untrusted file has", FILES)
def _(patch):
    def is_taken(source, record, store):
        owner = store.file_of(naming.document_id(source))
        return owner is not None and owner != record.path

    patch(naming, "_is_taken", is_taken)


@mutant("an id that an untrusted document has", FILES)
def _(patch):
    def is_taken(old, source, record, store):
        return store.file_of(naming.document_id(source)) is not None and old(source, record, store)

    around(naming, "_is_taken", patch, is_taken)


@mutant("vectors of files that are embedded together", FILES)
def _(patch):
    LEAKS["vectors of what is embedded together"](Patching(patch))


class Patching:
    """A `monkeypatch` of a function that sets."""

    def __init__(self, patch):
        self.setattr = patch
