"""The control budget counts what the boundary lets through: compared, case by case, with the real canonicalisation.

Small corpora are made at random: sentences that repeat, passages, blocks that are shown with earlier ones. For each,
all proposals are put through `read_highlights` for every set of passages that may be shown, and the different results
are counted. A proposal is a set of spans; since canonicalisation only sees which sentences a span reaches, one span for
each such stretch is enough, and that too is checked: for every pair of offsets.
"""

from collections import defaultdict
from itertools import chain, combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import InputError
from equipoise.core.types import Block, BlockKind, Document, Passage, Span
from equipoise.maths.choices import bits, choices
from equipoise.maths.marks import Unit
from equipoise.maths.steps import SetLimits
from equipoise.rag.boundary import read_highlights, spans_of, within_one_policy
from equipoise.rag.budget import Deployment, free_extracts, free_prompt
from equipoise.rag.budget import counted as message_counted
from equipoise.rag.inputs import inputs
from equipoise.rag.quotable import Texts, joined_units, quotable
from equipoise.text.spans import SpanPolicy, canonicalize

WORDS = ["Aa bb.", "Cc.", "Not dd ee.", "No."]


@st.composite
def corpora(draw, most=4, documents=2, repeats=True):
    """(document, its passages) of one or two documents with `most` sentences together."""
    total = draw(st.integers(1, most))
    first = draw(st.integers(1, total)) if documents > 1 else total
    made, number = [], 0
    for name, size in zip("ab", (first, total - first), strict=True):
        if not size:
            continue
        texts = [draw(st.sampled_from(WORDS)) if repeats else f"N{number + n}." for n in range(size)]
        made.append(document(name, texts, draw(st.lists(st.booleans(), min_size=size, max_size=size)), draw))
        number += size
    return made


def document(name, texts, breaks, draw):
    """A document of these sentences; `breaks` say where a passage begins. Each sentence is an item, some with leads."""
    starts = [sum(len(text) + 1 for text in texts[:row]) for row in range(len(texts))]
    sentences = tuple((start, start + len(text)) for start, text in zip(starts, texts, strict=True))
    blocks = tuple(
        Block(BlockKind.ITEM, *sentence, intro=draw(st.integers(-1, row - 1)) if row else -1)
        for row, sentence in enumerate(sentences)
    )
    whole = Document(name, " ".join(texts), name, name, sentences=sentences, blocks=blocks)
    first = [row for row, begins in enumerate(breaks) if begins or not row]
    ends = [*[row - 1 for row in first[1:]], len(texts) - 1]
    passages = [
        Passage(number, name, sentences[a][0], sentences[b][1], whole.text[sentences[a][0] : sentences[b][1]])
        for number, (a, b) in enumerate(zip(first, ends, strict=True))
    ]
    return whole, passages


policies = st.builds(
    SpanPolicy,
    min_words=st.integers(1, 3),
    max_spans=st.integers(1, 4),
    max_sentences_per_span=st.integers(1, 3),
    max_sentences=st.integers(1, 5),
    max_pieces=st.integers(1, 4),
)


def counted(corpus, k, policy, **more):
    texts = Texts()
    units = joined_units(quotable(*entry, texts) for entry in corpus)
    longest = policy.max_sentences_per_span
    limits = SetLimits(
        k, policy.max_spans, policy.max_sentences, longest, policy.max_pieces, policy.min_words
    )
    return choices(units, limits, **more)


def subsets(items, most=None):
    sizes = range((len(items) if most is None else min(most, len(items))) + 1)
    return chain.from_iterable(combinations(items, size) for size in sizes)


def outcomes(corpus, k, policy, proposed):
    """Every different canonical set, by brute force over the passages shown and the subsets of `proposed`."""
    documents = {whole.doc_id: whole for whole, _ in corpus}
    passages = [passage for _, some in corpus for passage in some]
    reached = set()
    for shown in subsets(passages, k):
        for spans in subsets(proposed):
            highlights, _ = read_highlights(spans, shown, documents, policy)
            reached.add(spans_of(highlights))
    return reached - {()}


def stretches(corpus, min_words):
    """One span for each stretch of sentences that any span reaches: every pair of offsets is tried."""
    documents = {whole.doc_id: whole for whole, _ in corpus}
    spans = {}
    for doc_id, whole in documents.items():
        for start, end in combinations(range(len(whole.text) + 1), 2):
            span = Span(doc_id, start, end)
            reach, _ = canonicalize([span], documents, SpanPolicy(min_words, 1000, 1000, 1000, 1000))
            inside = tuple(
                p for p in next(s for w, s in corpus if w is whole) if p.start <= start and end <= p.end
            )
            if reach and inside:
                spans.setdefault((reach, inside), span)
    return list(spans.values())


def agrees(counts, number):
    """Exact, or an upper bound that says so."""
    assert counts.total >= number if counts.relaxed else counts.total == number


@settings(max_examples=60)
@given(corpus=corpora(most=4), k=st.integers(1, 3), policy=policies)
def test_every_proposal_is_counted_and_nothing_else(corpus, k, policy):
    counts = counted(corpus, k, policy)
    agrees(counts, len(outcomes(corpus, k, policy, stretches(corpus, policy.min_words))))


@settings(max_examples=60)
@given(corpus=corpora(most=8), k=st.integers(1, 4), policy=policies)
def test_longer_corpora_with_whole_sentences(corpus, k, policy):
    sentences = [Span(whole.doc_id, *sentence) for whole, _ in corpus for sentence in whole.sentences]
    counts = counted(corpus, k, policy)
    reached = outcomes(corpus, k, policy, sentences)
    agrees(counts, len(reached))
    by_spans = defaultdict(int)
    for spans in reached:
        by_spans[len(spans)] += 1
    if not counts.relaxed and counts.counts and max(spans for _, spans, _ in counts.counts):
        assert by_spans == {
            n: sum(c for (_, s, _), c in counts.counts.items() if s == n)
            for n in {s for _, s, _ in counts.counts}
        }


def messages(corpus, k, policy, tags, most):
    """Every different set of (spans, tags) that the summarizer is asked about for one message, by brute force."""
    documents = {whole.doc_id: whole for whole, _ in corpus}
    passages = [passage for _, some in corpus for passage in some]
    sentences = [Span(whole.doc_id, *sentence) for whole, _ in corpus for sentence in whole.sentences]
    reached = {
        highlights
        for shown in subsets(passages, k)
        for spans in subsets(sentences)
        if (highlights := read_highlights(spans, shown, documents, policy)[0])
    }
    groups = set()
    for size in range(1, most + 1):
        for sets in combinations(sorted(reached, key=spans_of), size):
            left = [kept for kept, _ in within_one_policy(sets, documents, policy)]
            for chosen in product(tags, repeat=size):
                pairs = zip(left, chosen, strict=True)
                groups.add(frozenset((spans_of(quotes), tag) for quotes, tag in pairs if quotes))
        for quotes in reached:  # the same quotes with several tags are different groups
            for chosen in combinations(tags, size):
                groups.add(frozenset((spans_of(quotes), tag) for tag in chosen))
    return groups - {frozenset()}


def bounded(corpus, k, policy, tags, most):
    texts = Texts()
    units = joined_units(quotable(*entry, texts) for entry in corpus)
    deployment = Deployment(k, policy, tags > 1, most, context=False, writes=True, only_long=False)
    return message_counted(units, deployment).message


@settings(max_examples=40)
@given(corpus=corpora(most=4), k=st.integers(1, 3), policy=policies, tags=st.integers(1, 2))
def test_no_message_is_left_out(corpus, k, policy, tags):
    groups = messages(corpus, k, policy, range(tags), 2)
    assert bounded(corpus, k, policy, tags, 2) >= len(groups)


@settings(max_examples=30)
@given(size=st.integers(1, 4), sentences=st.integers(1, 4), tags=st.integers(1, 2), most=st.integers(1, 2))
def test_messages_are_counted_exactly_where_only_their_own_limits_bind(size, sentences, tags, most):
    """No repeated texts, every passage shown, as many spans as sentences."""
    texts = [f"N{n}." for n in range(size)]
    starts = [sum(len(text) + 1 for text in texts[:row]) for row in range(size)]
    spans = tuple((start, start + len(text)) for start, text in zip(starts, texts, strict=True))
    whole = Document("a", " ".join(texts), "a", "a", sentences=spans)
    corpus = [(whole, [Passage(0, "a", 0, len(whole.text), whole.text)])]
    policy = SpanPolicy(1, max_spans=4, max_sentences_per_span=4, max_sentences=sentences)
    groups = messages(corpus, 1, policy, range(tags), most)
    assert bounded(corpus, 1, policy, tags, most) == len(groups)


@settings(max_examples=60)
@given(corpus=corpora(most=6), k=st.integers(1, 3), policy=policies, context=st.booleans())
def test_inputs_are_listed_as_many_as_are_counted(corpus, k, policy, context):
    """Each with at most one yes or no that it bears out: WORDS has sentences that deny and sentences that do not."""
    texts = Texts()
    documents = [quotable(*entry, texts) for entry in corpus]
    deployment = Deployment(k, policy, True, 1, context=context, writes=True, only_long=False)
    count = message_counted(joined_units(documents), deployment)
    pairs = [(choice.highlights, choice.tags) for choice in inputs(documents, deployment)]
    assert len(set(pairs)) == len(pairs)
    assert len(pairs) <= count.question == 2 * count.sets
    sets = {highlights for highlights, _ in pairs}
    assert len(sets) <= count.sets if count.relaxed else len(sets) == count.sets
    for highlights in sets:
        tags = [tags for other, tags in pairs if other == highlights]
        assert frozenset() in tags
        assert len(tags) <= 2
    sentences = [Span(whole.doc_id, *sentence) for whole, _ in corpus for sentence in whole.sentences]
    reached = {spans_of(highlights) for highlights, _ in pairs}
    assert reached <= outcomes(corpus, k, policy, sentences)


def test_the_worked_values():
    row = [Unit(0, n > 0, n) for n in range(40)]
    assert choices(row, SetLimits(5, 1, 20, 5)).total == 190
    assert round(bits(190), 1) == 7.6
    assert round(free_extracts(6_000)) == 193
    assert round(free_prompt(), -2) == 3300


def test_what_cannot_be_followed_is_an_upper_bound_and_says_so():
    """Twenty texts, each of them again twenty sentences later: more than states can follow."""
    units = [Unit(n // 5, n > 0, n % 20) for n in range(40)]
    twice = choices(units, SetLimits(3, 2, 4, 2))
    assert twice.relaxed
    assert twice.total > choices([Unit(n // 5, n > 0, n % 4) for n in range(8)], SetLimits(3, 2, 4, 2)).total


def test_limits_that_are_too_wide_are_refused_in_a_sentence():
    units = [Unit(n, False, n) for n in range(5_000)]
    with pytest.raises(InputError, match=r"lower highlight\.max_sentences"):
        choices(units, SetLimits(100, 900, 1000, 5))
