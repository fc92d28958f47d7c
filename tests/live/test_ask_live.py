"""Real questions through the real pipelines with the real local model.

Asserted for every question: a highlight's text is what the store holds there, whole and inside a passage that was
read; an answer has highlights and is grounded, or else is its quotes and says why; a refusal has a reason that is
not a failure; tokens are counted. Asserted over all of them, well below what is usual: at least 1 of the 4 answers
of `indexed` rests on the annotated passage. Of questions put to another
document: what is quoted comes from that document, and the annotated passage is not in the answer.

Only printed: the answers, guesses, refusals, seconds and hits of each, and how many foreign questions were refused
(a 1.5B model takes some for answered).

About a minute and a half on two idle processors; the time-out leaves room for busy ones.
"""

import json
import time

import pytest

from equipoise.core import sync
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.settings import HighlightSettings, RetrievalSettings, Settings, SummarizeSettings
from equipoise.core.types import Document
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.summarizers.extractive import joined

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

ASKED = 4
FEWEST_HITS = 1


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def texts(shared_data):
    """The documents of repliqa_mini by id."""
    return {row["doc_id"]: row["text"] for row in rows(shared_data / "repliqa_mini" / "documents.jsonl")}


@pytest.fixture(scope="module")
def questions(shared_data, texts):
    """Sure ones, taken in turn from the documents: the first of each, then the second."""
    sure = [row for row in rows(shared_data / "repliqa_mini" / "questions.jsonl") if row["answerable"]]
    turns = {doc_id: [row for row in sure if row["doc_id"] == doc_id] for doc_id in texts}
    deepest = max(len(turn) for turn in turns.values())
    chosen = [turn[n] for n in range(deepest) for turn in turns.values() if n < len(turn)]
    for row in chosen:
        assert texts[row["doc_id"]][row["start"] : row["start"] + len(row["passage"])] == row["passage"]
    assert len(chosen) > ASKED
    return chosen


@pytest.fixture(scope="module")
def stores(tmp_path_factory, texts):
    """For each document a store with nothing else in it."""
    encoder, opened = EmbeddedEncoder(), {}
    for doc_id, text in texts.items():
        store = opened[doc_id] = Store.open(tmp_path_factory.mktemp("ask") / "index.db", create=True)
        store.bind_encoder(encoder)
        store.add_documents(prepare([Document(doc_id, text, f"{doc_id}.txt")], encoder))
    yield opened
    for store in opened.values():
        store.close()


@pytest.fixture(scope="module")
def ask(local_chat, stores):
    """A function: the result of a question put to one document, printed."""
    encoder = EmbeddedEncoder()

    def put(question, doc_id, *, name="hs", highlighter="indexed", summarizer="extractive"):
        settings = Settings(
            retrieval=RetrievalSettings(k=1),
            highlight=HighlightSettings(name=highlighter),
            summarize=SummarizeSettings(name=summarizer, guesses=3),
        )
        began = time.monotonic()
        components = Components(settings, stores[doc_id], encoder, local_chat)
        result = sync.run(build.pipeline(name, components).ask(question))
        said = result.text if isinstance(result, Answer) else f"[{result.reason}] {result.detail}"
        print(
            f"{name}/{highlighter}+{summarizer} {time.monotonic() - began:.1f} s\n  Q {question}\n  A {said}"
        )
        print(f"  grounded {getattr(result, 'grounded', None)}, guessed {result.trace.guessed_questions}")
        return result

    return put


def assert_lawful(result, store):
    assert result.trace.usage.calls >= 1
    assert result.trace.usage.prompt_tokens > 100
    read = [scored.passage for scored in result.trace.passages]
    for item in result.highlights.items:
        assert store.document(item.doc_id).text[item.start : item.end] == item.text
        assert any(p.doc_id == item.doc_id and p.start <= item.start and item.end <= p.end for p in read)
    if isinstance(result, Refusal):
        assert result.reason in (Reason.NOTHING_HIGHLIGHTED, Reason.MODEL_DECLINED), result.detail
    else:
        assert any(map(str.isalnum, result.text))


def assert_protected(result, store):
    """What Highlight & Summarize adds: no answer without quotes, none that says more than they do."""
    assert_lawful(result, store)
    if isinstance(result, Refusal):
        return
    assert result.highlights.items
    lost = (*result.trace.unsupported, *result.trace.missing, *filter(None, [result.trace.failure]))
    assert result.grounded == (not lost)
    if not result.grounded:
        assert result.text == joined(result.quotes)


def hit(result, row):
    """Whether a highlight overlaps the annotated passage."""
    first, last = row["start"], row["start"] + len(row["passage"])
    return any(item.start < last and first < item.end for item in result.highlights.items)


def test_indexed_and_llm(ask, questions, stores):
    hits, refused = 0, 0
    for row in questions[:ASKED]:
        result = ask(row["question"], row["doc_id"], summarizer="llm")
        assert_protected(result, stores[row["doc_id"]])
        hits += hit(result, row)
        refused += isinstance(result, Refusal)
        print(f"  wanted {row['annotated_answer']!r}, evidence hit {hit(result, row)}")
    print(f"indexed: {hits} evidence hits and {refused} refusals of {ASKED}")
    assert hits >= FEWEST_HITS


def test_questions_put_to_another_document(ask, questions, stores, texts):
    others, refused = [*list(texts)[1:], next(iter(texts))], 0
    following = dict(zip(texts, others, strict=True))
    for row in questions[:3]:
        foreign = following[row["doc_id"]]
        result = ask(row["question"], foreign)
        assert_protected(result, stores[foreign])
        assert {item.doc_id for item in result.highlights.items} <= {foreign}
        assert row["passage"] not in getattr(result, "text", "")
        refused += isinstance(result, Refusal)
    print(f"foreign questions: {refused} of 3 refused")


@pytest.mark.parametrize("highlighter", ["structured", "baseline"])
def test_the_papers_highlighters(ask, questions, stores, highlighter):
    row = questions[0]
    result = ask(row["question"], row["doc_id"], highlighter=highlighter)
    assert_protected(result, stores[row["doc_id"]])
    print(f"  evidence hit {hit(result, row)}, dropped {result.trace.dropped}")


def test_vanilla(ask, questions, stores):
    row = questions[0]
    result = ask(row["question"], row["doc_id"], name="vanilla")
    assert_lawful(result, stores[row["doc_id"]])
    assert result.highlights.items == ()
    assert result.trace.usage.calls == 1
