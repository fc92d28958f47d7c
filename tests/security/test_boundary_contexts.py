"""Fact 1, where the summarizer also reads the passages around the quotes."""

import json

from blind import (
    Spans,
    arbitrary_spans,
    ask,
    check,
    junk,
    questions,
    quotations,
    relaxed,
    same,
)
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.types import Highlights, Span
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.boundary import read_quotes, spans_of, with_context
from equipoise.rag.highlighters.structured import StructuredHighlighter


@relaxed()
@given(data=st.data(), first=questions, second=questions)
def test_contexts_too_are_a_function_of_corpus_and_spans(library, data, first, second):
    """Other questions, other numbers of passages read: what was shown differs, and equal spans have equal bytes."""
    spans = tuple(data.draw(arbitrary_spans(library)))
    result, sent = ask(library, Spans(spans), first, context=True)
    check(library, result, sent)
    assert result.highlights == recomputed(library, result.highlights)
    kept = spans_of(result.highlights)
    two, resent = ask(library, Spans(kept), second, context=True, k=data.draw(st.integers(1, 50)))
    check(library, two, resent)
    if spans_of(two.highlights) == kept:
        assert result.highlights == two.highlights
        assert same(sent, resent)


def recomputed(library, highlights):
    """The contexts once more, from nothing but the spans and the store."""
    store, _ = library
    documents = {item.doc_id: store.document(item.doc_id) for item in highlights.items}
    bare = Highlights(
        tuple(q for item in highlights.items for q in read_quotes(item.chosen, documents[item.doc_id]))
    )
    return with_context(bare, documents, [p for doc_id in documents for p in store.passages_of(doc_id)])


@relaxed()
@given(data=st.data(), question=st.sampled_from(["kale in bed 2", "fennel", "the gate on Sundays", "peas and onions"]),
       k=st.integers(1, 4))  # fmt: skip
def test_a_context_holds_nothing_that_was_not_shown(library, data, question, k):
    """So a passage that a filter took out does not come back around a quote."""
    store, _ = library
    (garden,) = [
        document for doc_id in store.doc_ids() if "kale" in (document := store.document(doc_id)).text
    ]
    sentences = [Span(garden.doc_id, *sentence) for sentence in garden.sentences]
    chosen = data.draw(st.lists(st.sampled_from(sentences), min_size=8, max_size=20))
    result, _ = ask(library, Spans(tuple(chosen)), question, context=True, k=k)
    shown = [scored.passage for scored in result.trace.passages if scored.passage.doc_id == garden.doc_id]
    readable = "\n\n".join(passage.text for passage in sorted(shown, key=lambda passage: passage.start))
    assert len(shown) < len(store.passages_of(garden.doc_id)) or k > 2
    for item in result.highlights.items:
        assert item.context in readable


@relaxed()
@given(data=st.data(), question=questions, reply=junk | questions)
def test_contexts_with_any_model_output(library, data, question, reply):
    quoted = json.dumps({"answer": question, "text_extracts": data.draw(quotations(library))})
    for said in (quoted, reply):
        highlighter = StructuredHighlighter(ScriptedChat(lambda _, said=said: said))
        check(library, *ask(library, highlighter, question, context=True))
