"""Reranking, reading and the highlighter on them."""

from dataclasses import replace

import numpy as np
import pytest

from blocks_of import passage_of
from equipoise.core import sync
from equipoise.core.types import Candidates, Document, Passage, Query
from equipoise.corpus.pieces import search_text
from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag.filters import NoFilter
from equipoise.rag.highlighters.evidence import FEATURES, Calibration, features
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.highlighters.reading import (
    COST,
    SEEDS,
    Window,
    below_heading,
    cells,
    distinct,
    read,
    windows_of,
)
from equipoise.rag.journal import Journal
from equipoise.rag.search import RERANKED, Search, reader_of, reranked

TEXTS = (
    "The lighthouse of Kerrin stands on a rock. It was finished in 1874. Its lamp burned rape-seed oil.",
    "The mill of Tasel ground rye. It was sold in 1812 to a baker, who pulled it down. Nothing is left of it.",
    "Bees live in hives. A hive has one queen, and she may live for five years. Drones die in autumn.",
)
QUESTION = "When was the mill of Tasel sold?"


@pytest.fixture(scope="module")
def reranker():
    return CrossEncoder(threads=2)


def passages(*texts):
    return tuple(Passage(n, f"d{n}", 0, len(text), text) for n, text in enumerate(texts or TEXTS))


def candidates(*texts):
    given = passages(*texts)
    documents = {passage.doc_id: Document(passage.doc_id, passage.text, passage.doc_id) for passage in given}
    scores = np.linspace(1, 0.5, len(given)).astype(np.float32)
    return Candidates(
        given, scores, np.eye(len(given), 4, dtype=np.float32), np.ones(4, np.float32), documents
    )


def values_of(query, reading):
    return dict(zip(FEATURES, features(query, reading, 0.0).tolist(), strict=True))


class Found:
    """A retriever that has found already."""

    def __init__(self, retrieved):
        self.retrieved = retrieved

    def retrieve(self, query, *, k):
        return self.retrieved.take(list(range(min(k, len(self.retrieved)))))


def test_the_best_passage_comes_first_and_keeps_its_own_score(reranker):
    ranked, asked = reranked(reranker, Query(QUESTION), candidates())
    assert ranked.passages[0].doc_id == "d1"
    assert ranked.scores[0] == pytest.approx(0.75)
    assert len(asked.read) == len(candidates())


def test_what_is_not_read_follows_as_it_came(reranker):
    texts = ["Bees live in hives."] * RERANKED + [TEXTS[1], TEXTS[0]]
    ranked, _ = reranked(reranker, Query(QUESTION), candidates(*texts))
    assert [passage.passage_id for passage in ranked.passages] == list(range(RERANKED + 2))
    assert len(reranked(reranker, Query(QUESTION), candidates().take([]))[0]) == 0


def test_a_search_keeps_the_k_best(reranker):
    journal = Journal()
    search = Search(Found(candidates()), NoFilter(), k=1, candidates=3, reranker=reranker)
    assert [passage.doc_id for passage in sync.run(search.find(Query(QUESTION), journal)).passages] == ["d1"]
    assert set(journal.trace.timings) == {"retrieve", "rerank", "filter"}
    plain = Search(Found(candidates()), NoFilter(), k=1, candidates=3)
    assert [passage.doc_id for passage in sync.run(plain.find(Query(QUESTION), Journal())).passages] == ["d0"]


def test_what_was_reranked_is_not_read_again_for_the_same_question_and_is_for_the_next():
    kept, given = Kept(), candidates()
    whole = [search_text(passage) for passage in given.passages]
    for _ in range(2):
        kept.texts.clear()
        ranked, query = reranked(kept, Query(QUESTION), given)
        assert kept.texts == whole
        read(query, ranked.passages, kept, kept)
        assert len(kept.texts) > len(whole)
        assert not set(whole) & set(kept.texts[len(whole) :])


def test_reading_ranks_passages_and_windows(reranker):
    reading = read(Query(QUESTION), passages(), reranker, reranker)
    assert reading.passages[0].doc_id == "d1"
    assert reading.scores[0] == max(reading.scores)
    assert "sold in 1812" in reading.windows[0].text
    assert not any(a.reads(b) for a in reading.windows for b in reading.windows if a is not b)


def test_windows_are_every_sentence_and_neighbours_of_the_best(reranker):
    text = " ".join(f"The mill number {n} was sold in the year {1800 + n} or so." for n in range(12))
    (passage,) = passages(text)
    spans = windows_of(QUESTION, {passage: 1.5}, reranker)
    sizes = [window.last - window.first for window in spans]
    assert sizes.count(1) == 12
    assert max(sizes) == 2
    assert len(spans) <= 12 + SEEDS * 2
    assert all(window.text == text[window.start : window.end] for window in spans)
    assert len(set(spans)) == len(spans)
    assert {window.passage_score for window in spans} == {1.5}


SETTINGS = """# gate_width

Type: number. Default: 30.

# gate_colour

Type: text. It may be any colour with a name.
"""


class Kept:
    """A reranker that keeps what it was given."""

    name = "kept"

    def __init__(self):
        self.texts = []

    def scores(self, question, texts):
        self.texts += texts
        return np.zeros(len(texts))


def settings_passage():
    return passage_of(SETTINGS)


def test_what_says_nothing_alone_is_read_once_with_all_that_is_shown_with_it():
    text = "# Setup\n\nTo oil the gate:\n\n- the can\n- a rag\n\nIt takes a while.\n"
    kept = Kept()
    windows = windows_of("How do I oil it?", {passage_of(text): 0.0}, kept)
    whole = text[text.index("To oil") : text.index("\n\nIt takes")]
    assert [text[w.start : w.end] for w in windows if w.text == whole] == ["To oil the gate:"]
    assert kept.texts.count(f"Setup\n{whole}") == 1
    assert {w.text for w in windows} == {whole, "It takes a while."} | {
        w.text for w in windows if w.last - w.first > 1
    }


def test_a_row_of_words_alone_is_read_and_column_names_are_not():
    rows = ["Plan: Basic; Backups: weekly", "Plan: Plus; Backups: daily"]
    (passage,), kept = passages("\n\n".join([*rows, "Plan; Backups"])), Kept()
    windows_of("How often are they made?", {passage: 0.0}, kept)
    assert kept.texts == rows


def test_a_sentence_is_read_below_the_heading_it_stands_under():
    passage, kept = settings_passage(), Kept()
    assert passage.headings == ("gate_width",)
    assert [path[-1] for _, path in passage.sections] == ["gate_colour"]
    windows_of("What is the default width?", {passage: 0.0}, kept)
    read_as = dict(text.split("\n")[::-1] for text in kept.texts if text.count("\n") == 1)
    assert read_as["Default: 30."] == "gate_width"
    assert read_as["It may be any colour with a name."] == "gate_colour"


def test_below_a_heading_that_all_pages_have_the_title_is_read_too():
    text = "The pilot is told."
    passage = Passage(1, "d", 0, len(text), text, title="ferry(1)", headings=("OPTIONS",))
    window = Window(passage, 0, len(text), 0, 1)
    assert below_heading(window) == "ferry(1) > OPTIONS\nThe pilot is told."
    other = replace(window, passage=replace(passage, headings=("OPTIONS", "Of the pilot")))
    assert below_heading(other) == "Of the pilot\nThe pilot is told."


def test_no_window_goes_on_below_the_next_heading():
    wider = [
        w for w in windows_of("Which default?", {settings_passage(): 0.0}, Kept()) if w.last - w.first > 1
    ]
    assert wider
    assert not any("# gate_colour" in window.text for window in wider)


def test_a_place_above_all_headings_stands_under_the_title():
    passage = Passage(0, "d", 0, 30, "a" * 30, "Gates", sections=((10, ("Width",)),))
    assert [passage.path_at(offset)[-1] for offset in (0, 9, 10, 29)] == ["Gates", "Gates", "Width", "Width"]


def test_of_overlapping_windows_the_better_one_stays():
    first, second = passages("a", "b")[:2]
    windows = distinct(
        [Window(first, 0, 1, 0, 2, 1.0), Window(first, 0, 1, 1, 3, 2.0), Window(second, 0, 1, 0, 2, 0.5)]
    )
    assert [window.score for window in windows] == [2.0, 0.5]


def test_of_like_windows_the_one_in_the_better_passage_comes_first():
    first, second = passages("a", "b")[:2]
    better, other = (
        Window(second, 0, 1, 0, 1, 1.0, passage_score=4.0),
        Window(first, 0, 1, 0, 1, 2.0, passage_score=-1.0),
    )
    assert distinct([other, better]) == (better, other)


def test_a_sentence_is_read_below_its_heading(reranker):
    """What "it" is stands in the heading alone."""
    text = "It was sold in 1812 to a baker, who pulled it down."
    (passage,) = passages(text)
    below = replace(passage, headings=("The village", "The mill of Tasel"))
    plain, headed = (windows_of(QUESTION, {passage_: 0.0}, reranker)[0] for passage_ in (passage, below))
    assert headed.score > plain.score
    assert headed.text == plain.text == text
    assert plain.score == reranker.scores(QUESTION, [text])[0]
    assert headed.score == reranker.scores(QUESTION, [f"The mill of Tasel\n{text}"])[0]


def test_a_follow_up_is_read_with_and_without_the_question_before_it(reranker):
    asked = Query("When was the mill of Tasel built? And who bought it?", "And who bought it?")
    both = reader_of(reranker, asked)
    whole, last = (reranker.scores(text, TEXTS) for text in (asked.text, asked.last))
    assert np.array_equal(both.scores(asked.text, TEXTS), (whole + last) / 2)
    assert both.name == reranker.name
    assert reader_of(reranker, Query(QUESTION)) is reranker


def test_a_longer_window_must_be_worth_its_length():
    (single,) = passages("a")
    short, long = Window(single, 0, 1, 0, 1, 3.0), Window(single, 0, 1, 0, 2, 3.0 + COST / 2)
    assert distinct([long, short]) == (short,)


def test_a_probability_does_not_depend_on_passages_that_are_worse(reranker):
    """Only through the margin to the next one: planted text cannot move the scores themselves."""
    alone, beside = (
        read(Query(QUESTION), some, reranker, reranker) for some in (passages()[1:2], passages())
    )
    assert alone.windows[0].score == beside.windows[0].score
    assert alone.scores[0] == beside.scores[0]


@pytest.mark.parametrize(
    ("question", "text", "absent"),
    [
        ("What is new since version 2.0?", "Since 2.0.1 it is faster.", 0.0),
        ("What is new since version 2.0?", "Since 12.0 it is faster.", 1.0),
        ("What is new since version 2.0?", "Since 2.01 it is faster.", 1.0),
    ],
)
def test_numbers_that_are_not_there(reranker, question, text, absent):
    values = values_of(Query(question), read(Query(question), passages(text), reranker, reranker))
    assert values["missing_numbers"] == absent


def test_a_month_may_be_written_as_a_number(reranker):
    question = "What did the mill of Tasel earn in July?"
    reading = read(
        Query(question), passages("mill: Tasel; date: 1812-07-01; earned: 20 crowns"), reranker, reranker
    )
    assert values_of(Query(question), reading)["missing_names"] == 0.0


def test_features_have_their_names_order(reranker):
    values = values_of(Query(QUESTION), read(Query(QUESTION), passages(), reranker, reranker))
    assert values["missing_names"] == values["missing_numbers"] == 0.0
    assert values["window"] * 10 == pytest.approx(
        read(Query(QUESTION), passages(), reranker, reranker).windows[0].score
    )


class TestHighlighter:
    def highlight(self, reranker, question, given, **more):
        fitted = Calibration(
            "r", np.eye(1, len(FEATURES), FEATURES.index("window"))[0] * 10, 0.0, 0.5, 3.0, 3
        )
        made = ReaderHighlighter(fitted, reranker=reranker, reader=reranker, **more)
        return sync.run(made.highlight(Query(question), given))

    def test_the_answer_is_highlighted_with_its_probability(self, reranker):
        proposal = self.highlight(reranker, QUESTION, passages())
        assert proposal.spans[0].doc_id == "d1"
        assert proposal.probability > 0.9
        assert proposal.threshold == 0.5

    def test_nothing_is_where_nothing_answers(self, reranker):
        proposal = self.highlight(reranker, "Which moons does Neptune have?", passages())
        assert (proposal.spans, proposal.probability < 0.1) == ((), True)

    def test_the_setting_moves_the_threshold(self, reranker):
        proposal = self.highlight(reranker, "Which moons does Neptune have?", passages(), threshold=0.0)
        assert proposal.spans
        assert proposal.threshold == 0.0

    def test_headings_alone_are_no_answer(self, reranker):
        assert self.highlight(reranker, QUESTION, passages("The mill of Tasel")).probability is None


ROW = (
    "river: Elbe; source: Giant Mountains; length: 1094 km; basin: 148268 km2; mouth: North Sea; cities: Prague, "
    "Dresden, Magdeburg, Hamburg; discharge: 870 m3/s; tributaries: Vltava, Mulde, Saale, Havel; crossings: 163"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("river: Elbe; length: 1094 km; mouth: North Sea", []),  # three columns are read as they are
        ("He came; he saw; he won; he left; he was seen no more.", []),
        ("", []),
    ],
)
def test_what_is_no_long_row_has_no_cells(text, expected):
    assert cells(text) == expected


def test_a_long_row_is_read_cell_by_cell_and_quoted_whole(reranker):
    question = "How many crossings does the Elbe have?"
    assert cells(ROW)[-1] == "The crossings of Elbe is 163."
    (passage,) = passages(ROW)
    (window,) = windows_of(question, {passage: 0.0}, reranker)
    alone = reranker.scores(question, [ROW, *cells(ROW)])
    assert window.text == ROW
    assert window.score == pytest.approx(max(alone))
    assert max(alone[1:]) > alone[0]


def test_words_that_no_document_has_are_features(reranker):
    query = Query(QUESTION, out_of_corpus=("zigbee", "murphy", "swallow"), unknown=("zigbee",))
    values = values_of(query, read(Query(QUESTION), passages(), reranker, reranker))
    assert values["out_of_corpus_unknown"] == 1.0
    assert values["out_of_corpus_names"] == 0.0


def features_of(question, text, **more):
    reading = read(Query(question), passages(text), Kept(), Kept())
    return values_of(Query(question, **more), reading)


def test_words_that_ask_and_amounts_are_not_missed():
    text = "A trunk may weigh up to 30 kg. Nobody pays more."
    told = features_of("How much may a trunk of 45 kg cost?", text, out_of_corpus=("45", "cost", "much"))
    assert told["anything_absent"] == 0.0
    told = features_of("What does the cello cost?", text, out_of_corpus=("cello", "cost"), unknown=("cello",))
    assert told["out_of_corpus_unknown"] == told["anything_absent"] == 1.0


def test_a_name_that_no_document_has_counts_whole():
    text = "The ferry Viola sails at nine."
    assert (
        features_of("When does the ferry Avola sail?", text, out_of_corpus=("avola",))["missing_names"] == 1.0
    )
    assert features_of("When does the ferry Viola sail?", text)["missing_names"] == 0.0


def test_capitals_alone_make_no_names():
    text = "The guarantee on frames is ten years."
    assert (
        features_of("HOW LONG IS THE GUARANTEE ON FRAMES", text, out_of_corpus=("long",))["anything_absent"]
        == 0.0
    )
    german = "Der Jahresbeitrag liegt bei 84 Euro."
    told = features_of(
        "Wie hoch ist der Beitrag im Jahr?", german, out_of_corpus=("wie", "hoch", "beitrag", "im")
    )
    assert (told["missing_names"], told["out_of_corpus_names"]) == (0.0, 0.0)
    assert told["anything_absent"] == 0.0


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("Wer ist Projektleiter im Verein?", 0.5),
        ("Wie füge ich der Seite Musik hinzu?", 1.0),
        ("Wann öffnet das Bad am Samstag?", 0.0),
        ("Wann sind die Offnungszeiten des Bades?", 0.0),
    ],
)
def test_nouns_of_german_that_nothing_read_has(question, share):
    text = "Der Verein öffnet das Schwimmbad. Die Öffnungszeiten: Sa 10 bis 18 Uhr."
    assert features_of(question, text)["missing_names"] == share
