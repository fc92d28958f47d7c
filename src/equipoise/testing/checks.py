"""Checks your own object against what a protocol of `core.protocols` promises.

Each function raises AssertionError with the promise that is broken and what was seen. They run offline in seconds.
"""

from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np

from equipoise.core import sync
from equipoise.core.protocols import (
    ChatModel,
    Encoder,
    Highlighter,
    PassageFilter,
    Reranker,
    Retriever,
    Summarizer,
)
from equipoise.core.types import (
    Candidates,
    ChatOptions,
    Highlights,
    Message,
    Passage,
    Proposal,
    Query,
    Span,
    Tag,
    Trust,
)
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.boundary import read_quotes
from equipoise.rag.retrieval import HybridRetriever
from equipoise.testing.corpus import ANSWER, DOCUMENTS, ODD, QUESTION, small_store

TEXTS = (
    "A man is eating food.",
    "School uniforms lower the cost of clothing for families.",
    "",
    "A man is eating a piece of bread.",
)
UNIT = 1e-4
MOST = 20


def check_encoder(encoder: Encoder) -> None:
    """Unit rows of float32, each from its text alone."""
    _is(encoder, Encoder)
    rows = encoder.encode(list(TEXTS))
    _held(rows.shape == (len(TEXTS), encoder.dimensions), f"encode gives (n, dimensions), not {rows.shape}")
    _held(rows.dtype == np.float32, f"rows are float32, not {rows.dtype}")
    lengths = np.linalg.norm(rows, axis=1)
    _held(
        bool(np.allclose(lengths, 1, atol=UNIT)), f"every row has length 1, not {lengths.round(3).tolist()}"
    )
    _held(encoder.encode([]).shape == (0, encoder.dimensions), "no texts give (0, dimensions)")
    turned = encoder.encode(list(TEXTS[::-1]))[::-1]
    _held(bool(np.array_equal(rows, turned)), "a row depends on its text alone, not on its neighbours")


def check_reranker(reranker: Reranker) -> None:
    """A finite score for each text, of question and text alone, the answer's highest."""
    _is(reranker, Reranker)
    texts = [ANSWER, *(document.text for document in DOCUMENTS[1:])]
    scores = np.asarray(reranker.scores(QUESTION, texts))
    _held(scores.shape == (len(texts),), f"scores gives (n,), not {scores.shape}")
    _held(bool(np.isfinite(scores).all()), f"scores are finite, not {scores.tolist()}")
    _held(
        int(scores.argmax()) == 0,
        f"the text that answers has the highest score, not {scores.round(3).tolist()}",
    )
    turned = np.asarray(reranker.scores(QUESTION, texts[::-1]))[::-1]
    _held(bool(np.array_equal(scores, turned)), "a score depends on its text alone, not on its neighbours")
    _held(np.asarray(reranker.scores(QUESTION, [])).shape == (0,), "no texts give no scores")


def check_chat_model(chat: ChatModel) -> None:
    """Text, the same again at temperature 0, and a name and input that stay as they were."""
    _is(chat, ChatModel)
    messages = [Message("system", "Answer in one word."), Message("user", "Say hello.")]
    before, name = list(messages), chat.name
    first, again = (sync.run(chat.complete(messages, options=ChatOptions(max_tokens=20))) for _ in range(2))
    _held(isinstance(first.text, str), f"a reply has text, not {type(first.text).__name__}")
    _held(first.text == again.text, f"at temperature 0 a reply is the same again, not {again.text!r}")
    _held(messages == before, "the messages stay as they were")
    _held(chat.name == name, f"the name stays {name!r}, and is not {chat.name!r}")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    said = sync.run(chat.complete(messages, schema=schema))
    _held(isinstance(said.text, str), "a request with a schema has a reply, also of a model that ignores it")


def check_retriever(make: Callable[[Store, Encoder], Retriever], encoder: Encoder | None = None) -> None:
    """At most k passages of the store, best first, each once, with their documents and embeddings."""
    with small_store(encoder or EmbeddedEncoder()) as store:
        retriever = make(store, encoder or EmbeddedEncoder())
        _is(retriever, Retriever)
        for question in (QUESTION, *ODD):
            for k in (1, 5):
                _check_candidates(retriever.retrieve(Query(question), k=k), store, k)
        first = retriever.retrieve(Query(QUESTION), k=5)
        _held(
            first.passages[:1] != () and first.passages[0].doc_id == "bridge",
            f"{QUESTION!r} finds the bridge first",
        )
        again = retriever.retrieve(Query(QUESTION), k=5)
        _held(first.passages == again.passages, "the same question finds the same passages in the same order")


def check_filter(passage_filter: PassageFilter) -> None:
    """Keeps at most k of what it was given, in its order, and gives a reason for each of the first k it does not."""
    _is(passage_filter, PassageFilter)
    encoder = EmbeddedEncoder()
    with small_store(encoder) as store:
        candidates = HybridRetriever(store.partition(Trust.TRUSTED), encoder).retrieve(
            Query(QUESTION), k=MOST
        )
    for given, k in (
        (candidates, 2),
        (candidates, MOST),
        (candidates.take([0]), 5),
        (candidates.take([]), 5),
    ):
        result = sync.run(passage_filter.filter(Query(QUESTION), given, k=k))
        came = [passage.passage_id for passage in given.passages]
        kept = [passage.passage_id for passage in result.kept.passages]
        flagged = {flag.passage.passage_id for flag in result.flagged}
        _held(len(kept) <= k, f"at most k = {k} passages are kept, not {len(kept)}")
        _held(
            kept == [passage_id for passage_id in came if passage_id in kept],
            f"passages are kept in the order they came: {kept} of {came}",
        )
        _held(flagged <= set(came), "only passages that came are flagged")
        _held(not flagged & set(kept), "a passage is kept or flagged, not both")
        _held(
            set(came[:k]) <= flagged | set(kept),
            "each of the first k passages is kept or flagged with a reason",
        )
        _held(
            all(flag.reason.strip() and isfinite(flag.score) for flag in result.flagged),
            "a flag has a reason and a finite score",
        )


def check_highlighter(highlighter: Highlighter, *, finds: bool = True) -> None:
    """Spans inside the passages, the same again, none without passages; with `finds` the sentence that answers."""
    _is(highlighter, Highlighter)
    with small_store(EmbeddedEncoder()) as store:
        passages = tuple(p for doc_id in store.doc_ids() for p in store.passages_of(doc_id))
    texts = {document.doc_id: document.text for document in DOCUMENTS}

    def highlight(question: str, among: Sequence[Passage]) -> Proposal:
        proposal = sync.run(highlighter.highlight(Query(question), among))
        for span in proposal.spans:
            inside = any(p.doc_id == span.doc_id and p.start <= span.start < span.end <= p.end for p in among)
            _held(inside, f"spans lie inside the passages: {span} does not ({question[:40]!r})")
        chance = proposal.probability
        _held(chance is None or 0 <= chance <= 1, f"a probability is between 0 and 1, not {chance}")
        return proposal

    first = highlight(QUESTION, passages)
    _held(first == highlight(QUESTION, passages), "the same question and passages give the same proposal")
    if finds:
        quotes = [texts[span.doc_id][span.start : span.end] for span in first.spans]
        _held(
            any(ANSWER in quote for quote in quotes),
            f"{QUESTION!r} is answered by {ANSWER!r}, not by {quotes}",
        )
    _held(highlight(QUESTION, ()).spans == (), "no passages give no spans")
    for question in ODD:
        highlight(question, passages)


def check_summarizer(summarizer: Summarizer) -> None:
    """An answer for quotes, the same again, also for yes and no; without ever being given a question."""
    _is(summarizer, Summarizer)
    document = DOCUMENTS[0]
    start = document.text.index(ANSWER)
    highlights = Highlights(tuple(read_quotes([Span(document.doc_id, start, start + len(ANSWER))], document)))
    for tags in (frozenset[Tag](), frozenset({Tag.YES}), frozenset({Tag.NO})):
        first, again = (sync.run(summarizer.summarize(highlights, tags=tags)) for _ in range(2))
        _held(any(map(str.isalnum, first.answer)), f"an answer has words, not {first.answer!r}")
        _held(first.answer == again.answer, "the same quotes give the same answer")


def _check_candidates(candidates: Candidates, store: Store, k: int) -> None:
    ids = [passage.passage_id for passage in candidates.passages]
    _held(len(ids) <= k, f"at most k = {k} passages are found, not {len(ids)}")
    _held(len(set(ids)) == len(ids), f"each passage is found once: {ids}")
    _held(candidates.scores.shape == (len(ids),), f"scores are (n,), not {candidates.scores.shape}")
    _held(
        bool((np.diff(candidates.scores) <= 0).all()), f"the best comes first: {candidates.scores.tolist()}"
    )
    lengths = np.linalg.norm(candidates.embeddings, axis=1)
    _held(bool(np.allclose(lengths, 1, atol=UNIT)), "embeddings are rows of length 1")
    for passage in candidates.passages:
        document = candidates.documents.get(passage.doc_id)
        _held(document is not None, f"the document {passage.doc_id!r} of a passage is among `documents`")
        text = document.text[passage.start : passage.end] if document else ""
        _held(text == passage.text, f"passage {passage.passage_id} stands in its document")
    _held(set(ids) <= set(_ids(store)), "passages are those of the store")


def _ids(store: Store) -> list[int]:
    return [passage.passage_id for doc_id in store.doc_ids() for passage in store.passages_of(doc_id)]


def _is(backend: object, protocol: type) -> None:
    _held(
        isinstance(backend, protocol),
        f"a {type(backend).__name__} has the methods of {protocol.__name__}: see docs/extensions.md",
    )


def _held(promise: bool, said: str) -> None:
    if not promise:
        raise AssertionError(f"broken promise: {said}")
