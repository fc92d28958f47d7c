"""The embedded sentence reader and the highlighter on it."""

import shutil

import numpy as np
import pytest

from equipoise.core import sync
from equipoise.core.errors import WeightsError
from equipoise.core.types import Passage, Query
from equipoise.models.encoder import DATA
from equipoise.models.reader import MODEL, UNREAD, SentenceReader
from equipoise.rag.highlighters.trained import TrainedHighlighter, choose
from equipoise.text.sentences import sentence_spans

TEXT = (
    "The lighthouse of Kerrin was finished in 1874. Its lamp burned rape-seed oil. The keeper, Ada Moss, lived "
    "there with her two sons. Today it belongs to a foundation."
)


@pytest.fixture(scope="module")
def reader():
    return SentenceReader()


def margins(reader, question, text=TEXT):
    return reader.margins(question, text, sentence_spans(text))


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("When was the lighthouse finished?", 0),
        ("Which fuel did the lamp burn?", 1),
        ("Who was the keeper of the lighthouse?", 2),
        ("Who owns the lighthouse today?", 3),
    ],
)
def test_the_sentence_that_answers_has_the_highest_margin(reader, question, row):
    assert int(np.argmax(margins(reader, question))) == row


def test_what_is_about_something_else_stays_below_the_threshold(reader):
    highest = margins(reader, "Which enzyme unwinds the double helix of DNA?").max()
    assert highest < margins(reader, "When was the lighthouse finished?").max() - 2
    passage = Passage(1, "d", 0, len(TEXT), TEXT)
    asked = Query("Which enzyme unwinds the double helix of DNA?")
    assert sync.run(TrainedHighlighter(reader).highlight(asked, [passage])).spans == ()


def test_a_margin_does_not_depend_on_other_passages(reader):
    passages = [
        Passage(1, "d", 10, 10 + len(TEXT), TEXT),
        Passage(2, "e", 0, 27, "It was finished in 1990, they say."),
    ]
    question = Query("When was the lighthouse of Kerrin finished?")
    highlighter = TrainedHighlighter(reader, threshold=0.0)
    alone, beside = (sync.run(highlighter.highlight(question, p)).spans for p in (passages[:1], passages))
    assert alone[0] in beside
    assert TEXT[alone[0].start - 10 : alone[0].end - 10] == "The lighthouse of Kerrin was finished in 1874."


def test_long_texts_are_read_in_windows(reader):
    text = "Nothing of note happened in that year. " * 100 + "The lighthouse was finished in 1874."
    found = margins(reader, "When was the lighthouse finished?", text)
    assert len(found) == 101
    assert int(np.argmax(found)) == 100


def test_odd_texts(reader):
    assert margins(reader, "?", "").shape == (0,)
    assert margins(reader, "\ud800", "Half a pair \udfff of surrogates.").shape == (1,)
    assert reader.margins("What?", "   ", [(0, 3)]).tolist() == [UNREAD]


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ([], []),
        ([-0.41, -3.0], []),  # 1 / (1 + exp(0.41)) = 0.399
        ([-0.40, -3.0], [0]),
        ([1.0, 2.0, 0.5, 0.4], [1, 0, 2]),  # log 0.2 = -1.609: 0.4 is within reach, 0.39 is not
        ([2.0, 0.39, 1.9], [0, 2]),
        ([1.0, 1.0, 1.0, 1.0], [0, 1, 2]),
    ],
)
def test_what_is_chosen(values, rows):
    assert choose(np.array(values), 0.4) == rows


def test_a_damaged_file_is_refused(tmp_path):
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / MODEL).write_bytes(b"something else")
    with pytest.raises(WeightsError, match=r"damaged or was replaced.*build_highlighter\.py"):
        SentenceReader(folder=tmp_path).margins("q", TEXT, sentence_spans(TEXT))
