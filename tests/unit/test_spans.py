"""Canonical spans: hand-made cases, then the properties the boundary rests on."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import timing
from equipoise.core.errors import InputError
from equipoise.core.types import Document, Dropped, Span
from equipoise.text.sentences import sentence_spans
from equipoise.text.spans import DropReason, SpanPolicy, best_within, canonicalize, overlap
from equipoise.text.tokens import words


def document(text, doc_id="d"):
    return Document(doc_id, text, source="test", sentences=sentence_spans(text))


TEXT = (
    "Gold was found near the old river in spring. Yes. "  # 9 and 1 words
    "The miners came by train from the coast. Then the town grew fast and rich. "  # 8 and 7
    "It burned down twice before the war ended. Nobody has ever built it up again."  # 8 and 7
)
DOC = document(TEXT)
DOCS = {"d": DOC}
S = DOC.sentences


def find(piece, doc=DOC):
    start = doc.text.index(piece)
    return Span(doc.doc_id, start, start + len(piece))


def canonical(*spans, docs=DOCS, **limits):
    return canonicalize(spans, docs, SpanPolicy(**limits))


def test_the_fixture_has_six_sentences():
    assert len(S) == 6


def test_a_span_grows_to_its_sentences():
    spans, dropped = canonical(find("came by train from the coast. Then the town"))
    assert spans == (Span("d", S[2][0], S[3][1]),)
    assert dropped == ()


def test_an_edge_sentence_without_a_whole_word_is_not_touched():
    grazing = find("ch. It burned down twice before the war ended. Nobo")
    assert canonical(grazing)[0] == (Span("d", *S[4]),)


def test_five_words_are_too_few_and_six_are_enough():
    five, six = find("found near the old river"), find("found near the old river in")
    assert canonical(five) == ((), (Dropped(DropReason.TOO_SHORT, five),))
    assert canonical(six)[0] == (Span("d", *S[0]),)


def test_half_words_do_not_count():
    assert canonical(find("ound near the old river in"))[1][0].reason == "too few words"


def test_a_short_sentence_counts_when_the_span_covers_it():
    assert canonical(find("Yes."))[0] == (Span("d", *S[1]),)
    assert canonical(find("Yes"))[0] == (Span("d", *S[1]),)
    assert (
        canonical(find("spring. Yes."))[0] == (Span("d", *S[1]),) or canonical(find("spring. Yes."))[0] == ()
    )


def test_touching_sentences_become_one_span_and_a_gap_two():
    assert canonical(find("Yes."), Span("d", *S[0]))[0] == (Span("d", S[0][0], S[1][1]),)
    assert canonical(Span("d", *S[0]), Span("d", *S[2]))[0] == (Span("d", *S[0]), Span("d", *S[2]))


def test_a_long_run_is_split():
    spans, _ = canonical(Span("d", 0, len(TEXT)), max_sentences_per_span=4)
    assert spans == (Span("d", S[0][0], S[3][1]), Span("d", S[4][0], S[5][1]))


def test_the_first_sentences_survive_the_limit_and_the_rest_is_reported():
    spans, dropped = canonical(
        Span("d", *S[5]), Span("d", S[2][0], S[3][1]), Span("d", *S[0]), max_sentences=2
    )
    assert spans == (Span("d", *S[0]), Span("d", *S[2]))
    assert dropped == (
        Dropped(DropReason.TOO_MANY_SENTENCES, Span("d", *S[3])),
        Dropped(DropReason.TOO_MANY_SENTENCES, Span("d", *S[5])),
    )


def test_the_first_spans_survive_the_limit_and_the_rest_is_reported():
    spans, dropped = canonical(Span("d", *S[4]), Span("d", *S[2]), Span("d", *S[0]), max_spans=2)
    assert spans == (Span("d", *S[0]), Span("d", *S[2]))
    assert dropped == (Dropped(DropReason.TOO_MANY_SPANS, Span("d", *S[4])),)


def test_documents_come_in_the_order_of_their_ids():
    docs = {
        "b": document("The second document says a thing.", "b"),
        "a": document("The first one says another.", "a"),
    }
    spans, _ = canonical(Span("b", 0, 33), Span("a", 0, 27), docs=docs)
    assert spans == (Span("a", 0, 27), Span("b", 0, 33))


def test_a_repeated_sentence_is_kept_once_across_documents():
    docs = {
        "a": document("Buy gold now or never.", "a"),
        "b": document("Well. Buy  gold\nnow or never.", "b"),
    }
    spans, dropped = canonical(Span("a", 0, 22), Span("b", 0, 29), docs=docs)
    assert spans == (Span("a", 0, 22), Span("b", 0, 5))
    assert dropped == (Dropped(DropReason.REPEATED, Span("b", 6, 29)),)


NESTED: list = []
for _ in range(100_000):
    NESTED = [NESTED]  # its repr is a RecursionError


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        (Span("d", 5, 5), DropReason.EMPTY),
        (Span("d", 9, 5), DropReason.EMPTY),
        (Span("d", -1, 5), DropReason.OUT_OF_RANGE),
        (Span("d", 0, len(TEXT) + 1), DropReason.OUT_OF_RANGE),
        (Span("d", 10**30, 10**31), DropReason.OUT_OF_RANGE),
        (Span("x", 0, 50), DropReason.UNKNOWN_DOCUMENT),
        (Span(["d"], 0, 50), DropReason.UNKNOWN_DOCUMENT),
        (Span("d", "0", 50), DropReason.NOT_INTEGERS),
        (Span("d", 0.0, 50), DropReason.NOT_INTEGERS),
        (Span("d", False, 50), DropReason.NOT_INTEGERS),
        (Span("d", 0, None), DropReason.NOT_INTEGERS),
        (Span("d", S[0][1], S[1][0]), DropReason.NO_SENTENCE),
        (Span("d", 10**5_000, 10**5_001), DropReason.OUT_OF_RANGE),
        (Span("d", -(10**5_000), None), DropReason.NOT_INTEGERS),
        (Span("d" * 100_000, 0, 5), DropReason.UNKNOWN_DOCUMENT),
        (Span(NESTED, 0, 50), DropReason.UNKNOWN_DOCUMENT),
    ],
)
def test_malformed_spans_are_dropped_with_a_reason(span, reason):
    assert canonical(span, span) == ((), (Dropped(reason, span),))


def test_words_are_counted_where_the_span_is_however_long_its_sentence_is():
    text = "The word " * 5_000
    doc = Document("d", text, "test", sentences=((0, len(text)),))
    kept, _ = canonicalize([Span("d", 27_001, 27_060)], {"d": doc})
    assert kept == (Span("d", 0, len(text)),)
    assert canonicalize([Span("d", 27_001, 27_020)], {"d": doc})[0] == ()


def test_what_is_no_span_is_dropped():
    assert canonical("gold", None, ("d", 0, 9)) == ((), (Dropped(DropReason.NOT_A_SPAN),))


@pytest.mark.parametrize(
    "name", ["min_words", "max_spans", "max_sentences_per_span", "max_sentences", "max_pieces"]
)
@pytest.mark.parametrize("value", [0, -1, 2.5, "3", True, None])
def test_an_impossible_limit_is_refused(name, value):
    with pytest.raises(InputError, match=f"{name} is"):
        SpanPolicy(**{name: value})


def test_the_cut_up_attack_gets_nothing_through():
    """H&S section 8.2: a highlighter that spells its own text with one word per extract."""
    one_word_each = []
    for start, end in (s for s in S if s != S[1]):
        at = start
        for word in TEXT[start:end].rstrip(".").split():
            at = TEXT.index(word, at)
            one_word_each.append(Span("d", at, at + len(word)))
    assert len(one_word_each) == 39
    spans, dropped = canonicalize(one_word_each, DOCS, SpanPolicy())
    assert spans == ()
    assert len(dropped) == 39


WORD_LIST = (
    "The words of the game are these:\n\n- cat\n- have\n- lost\n- prize\n- the\n- won\n- you\n- zebra\n"
)


def picked(text, *pieces, **limits):
    """What the summarizer would read of sentences picked by their words, and why the others are missing."""
    doc = document(text)
    chosen = [
        Span("d", *sentence) for sentence in doc.sentences if text[slice(*sentence)].strip("- .:") in pieces
    ]
    spans, dropped = canonical(*chosen, docs={"d": doc}, **limits)
    return [text[s.start : s.end] for s in spans], [drop.reason for drop in dropped]


def test_whole_short_sentences_spell_no_text_either():
    texts, reasons = picked(WORD_LIST, "have", "prize", "won", "you")
    assert texts == ["- have", "- prize"]
    assert reasons == [DropReason.TOO_MANY_PIECES]  # "won" and "you" stand side by side
    assert picked(WORD_LIST, "have", "prize", "won", "you", max_pieces=9)[0] == [
        "- have",
        "- prize",
        "- won\n- you",
    ]


def test_short_sentences_side_by_side_are_one_piece():
    assert picked(WORD_LIST, "cat", "have", "lost", "prize")[0] == ["- cat\n- have\n- lost\n- prize"]


def test_the_tail_of_a_long_run_is_no_piece():
    text = (
        "No. It rains on the hill today. Yes. It rains on the roof today. It snows on the hill today. Fine."
    )
    spans, dropped = canonical(Span("d", 0, 3), Span("d", 32, 36), Span("d", 37, len(text)),
                               docs={"d": document(text)}, max_sentences_per_span=3, max_pieces=1)  # fmt: skip
    assert [text[s.start : s.end] for s in spans][-1] == "Fine."
    assert not dropped


def test_of_spans_that_have_scores_the_best_ones_stay():
    one, three, five = (Span("d", *S[row]) for row in (0, 2, 4))
    policy = SpanPolicy(max_spans=1)
    assert best_within([five, one, three], DOCS, policy) == (
        (five,),
        (Dropped(DropReason.TOO_MANY_SPANS, one), Dropped(DropReason.TOO_MANY_SPANS, three)),
    )
    kept, dropped = best_within([five, Span("d", *S[5]), one, five], DOCS, policy)
    assert kept == (five, Span("d", *S[5]), five) and len(dropped) == 1  # neighbours are one span
    assert best_within([five, one], DOCS, SpanPolicy()) == ((five, one), ())
    all_of_it = Span("d", S[0][0], S[-1][1])
    assert (
        best_within([all_of_it, one], DOCS, SpanPolicy(max_sentences_per_span=2, max_spans=1))[0][0]
        == all_of_it
    )


def test_overlap_counts_shared_characters():
    assert overlap(Span("a", 0, 5), Span("a", 3, 9)) == 2
    assert overlap(Span("a", 0, 5), Span("a", 5, 9)) == 0
    assert overlap(Span("a", 0, 9), Span("a", 2, 4)) == 2
    assert overlap(Span("a", 0, 9), Span("b", 2, 4)) == 0


WORDS = st.sampled_from(["gold", "river", "the", "miner", "came", "by", "x", "3.5", "-5", "Yes"])
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(lambda w: " ".join(w).capitalize() + ".")
DOCUMENTS = st.lists(SENTENCES, max_size=12).map(" ".join)
POLICIES = st.builds(
    SpanPolicy,
    min_words=st.integers(1, 8),
    max_spans=st.integers(1, 5),
    max_sentences_per_span=st.integers(1, 4),
    max_sentences=st.integers(1, 9),
    max_pieces=st.integers(1, 4),
)


@st.composite
def situations(draw):
    docs = {doc_id: document(draw(DOCUMENTS), doc_id) for doc_id in "ab"}
    ids = st.sampled_from(["a", "b", "b", "a", "nowhere"])
    offsets = st.integers(-2, max(len(d.text) for d in docs.values()) + 2)
    whole = [Span(d.doc_id, *s) for d in docs.values() for s in d.sentences]
    span = st.builds(Span, ids, offsets, offsets)
    return (
        docs,
        draw(st.lists(st.one_of(span, st.sampled_from(whole)) if whole else span, max_size=15)),
        draw(POLICIES),
    )


@given(situations(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_only_the_set_of_spans_matters(situation, chance):
    docs, spans, policy = situation
    shuffled = spans + [chance.choice(spans) for _ in range(3) if spans]
    chance.shuffle(shuffled)
    assert canonicalize(spans, docs, policy) == canonicalize(shuffled, docs, policy)


@given(situations())
@settings(max_examples=150, deadline=None)
def test_the_best_span_is_shown_however_many_there_are(situation):
    docs, spans, policy = situation
    kept, dropped = best_within(spans, docs, policy)
    assert len(kept) + len(dropped) == len(spans) and kept[:1] == tuple(spans[:1])
    alone, shown = (canonicalize(some, docs, policy) for some in (spans[:1], kept))
    if not alone[1]:
        texts = [docs[one.doc_id].text[one.start : one.end] for one in shown[0]]
        assert all(
            any(docs[one.doc_id].text[one.start : one.end] in text for text in texts) for one in alone[0]
        )


@given(situations())
@settings(max_examples=150, deadline=None)
def test_canonical_spans_come_back_unchanged(situation):
    docs, spans, policy = situation
    once, _ = canonicalize(spans, docs, policy)
    assert canonicalize(once, docs, policy) == (once, ())


@given(situations())
@settings(max_examples=150, deadline=None)
def test_results_are_whole_sentences_in_order_within_the_limits(situation):
    docs, spans, policy = situation
    result, _ = canonicalize(spans, docs, policy)
    inside = [[s for s in docs[r.doc_id].sentences if overlap(r, Span(r.doc_id, *s))] for r in result]
    for span, sentences in zip(result, inside, strict=True):
        assert (span.start, span.end) == (sentences[0][0], sentences[-1][1])
        assert len(sentences) <= policy.max_sentences_per_span
    assert len(result) <= policy.max_spans
    assert sum(map(len, inside)) <= policy.max_sentences
    assert all(a < b and not overlap(a, b) for a, b in pairwise(result))
    texts = [docs[r.doc_id].text[s:e] for r, places in zip(result, inside, strict=True) for s, e in places]
    assert len(texts) == len(set(texts))


@given(situations())
@settings(max_examples=150, deadline=None)
def test_every_kept_or_lost_sentence_was_touched_and_nothing_vanishes(situation):
    docs, spans, policy = situation
    result, dropped = canonicalize(spans, docs, policy)
    good = [s for s in spans if s not in [d.span for d in dropped]]
    for r in result:
        assert any(overlap(r, s) for s in spans)
    reported = [*result, *(d.span for d in dropped)]
    for span in good:
        assert any(overlap(span, r) for r in reported)


@given(situations())
@settings(max_examples=150, deadline=None)
def test_spans_below_the_minimum_reach_only_sentences_they_cover(situation):
    docs, spans, policy = situation
    few = [
        s
        for s in spans
        if s.doc_id in docs
        and s.start >= 0
        and len(words(docs[s.doc_id].text[s.start : s.end])) < policy.min_words
    ]
    for r in canonicalize(few, docs, policy)[0]:
        for start, end in docs[r.doc_id].sentences:
            if overlap(r, Span(r.doc_id, start, end)):
                covered = max(overlap(s, Span(r.doc_id, start, end)) for s in few)
                assert covered >= end - start - 1  # all but the full stop


def test_the_length_of_a_document_costs_a_few_spans_next_to_nothing():
    """Sentences are found by bisection: 64 times the document takes no more than a few times as long."""

    def work(sentences):
        unit = "The town of number {} grew fast and rich before the great war. "
        doc = document("".join(unit.format(i) for i in range(sentences)))
        chance = random.Random(1)
        starts = [chance.randrange(len(doc.text) - 300) for _ in range(20)]
        spans = [Span("d", at, at + 120) for at in starts]
        assert canonicalize(spans, {"d": doc}, SpanPolicy())[0]
        return lambda: [canonicalize(spans, {"d": doc}, SpanPolicy()) for _ in range(20)]

    assert timing.seconds(work(6_400)) < 16 * timing.seconds(work(100))
