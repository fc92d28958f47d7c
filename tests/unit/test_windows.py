"""Windows of whole sentences, with a tokenizer in which a word is a token."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import timing
from equipoise.models.crossencoder import CrossEncoder
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.windows import MAX_QUESTION, windows
from equipoise.text.sentences import sentence_spans


@pytest.fixture(scope="module")
def tokenizer():
    made = Tokenizer(models.WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, "[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return made


TEXT = "One two three. Four five six. Seven eight nine."  # three sentences of four tokens
SENTENCES = ((0, 14), (15, 29), (30, 47))


def cut(tokenizer, max_tokens, text=TEXT, question="Who?"):
    return windows(tokenizer, question, text, sentence_spans(text), max_tokens=max_tokens)


def test_the_sentences_of_the_example():
    assert sentence_spans(TEXT) == SENTENCES


def test_everything_in_one_window(tokenizer):
    (window,) = cut(tokenizer, 17)  # [CLS] Who ? [SEP] + 12 + [SEP]
    assert len(window.ids) == 17
    assert window.question == (1, 3)
    assert window.sentences == {0: (4, 8), 1: (8, 12), 2: (12, 16)}
    assert window.offsets[:5] == (None, None, None, None, (0, 3))
    assert window.types == (0,) * 4 + (1,) * 13


def test_the_next_window_begins_with_the_last_sentence(tokenizer):
    first, second = cut(tokenizer, 16)
    assert (list(first.sentences), list(second.sentences)) == ([0, 1], [1, 2])
    assert second.offsets[4] == (15, 19)


def test_no_overlap_where_there_is_no_room_for_it(tokenizer):
    assert [list(window.sentences) for window in cut(tokenizer, 9)] == [[0], [1], [2]]


def test_a_sentence_that_is_too_long_is_cut_at_its_end(tokenizer):
    (window,) = cut(tokenizer, 10, text="one two three four five six seven eight nine ten")
    assert len(window.ids) == 10
    assert window.sentences == {0: (4, 9)}
    assert window.offsets[8] == (19, 23)


def test_a_long_question_is_cut(tokenizer):
    (window,) = cut(tokenizer, 256, question="why " * 500)
    assert window.question == (1, 1 + MAX_QUESTION)


def test_a_question_without_a_token(tokenizer):
    (window,) = cut(tokenizer, 32, question=" ")
    assert window.sentences == {0: (2, 6), 1: (6, 10), 2: (10, 14)}


def test_a_text_without_sentences_has_no_window(tokenizer):
    assert cut(tokenizer, 32, text=" \n ") == []


def test_a_token_that_reaches_into_two_sentences_belongs_to_both(tokenizer):
    (window,) = cut(tokenizer, 32, text="?\x08.A")  # three sentences in two tokens
    assert window.sentences == {0: (4, 5), 1: (4, 5), 2: (5, 6)}


@given(st.text(max_size=300), st.text(max_size=40), st.integers(80, 120))
def test_every_sentence_with_a_token_is_in_a_window_and_no_window_is_too_long(
    tokenizer, text, question, max_tokens
):
    sentences = sentence_spans(text)
    pieces = windows(tokenizer, question, text, sentences, max_tokens=max_tokens)
    assert all(len(window.ids) <= max_tokens for window in pieces)
    assert {row for window in pieces for row in window.sentences} == set(range(len(sentences)))
    for window in pieces:
        for row, (first, last) in window.sentences.items():
            start, end = sentences[row]
            assert window.offsets[first][0] < end and start < window.offsets[first][1]
            assert all(start <= window.offsets[n][0] < end for n in range(first + 1, last))


class Counted(tuple):
    """Counts the sentences that are looked at."""

    looks = 0

    def __iter__(self):
        for batch in super().__iter__():
            Counted.looks += 1
            yield batch


@pytest.mark.parametrize("number", [300, 600])
def test_every_sentence_is_looked_at_a_few_times_however_many_there_are(tokenizer, number):
    text = TEXT * number
    sentences = Counted(sentence_spans(text))
    Counted.looks = 0
    assert len(windows(tokenizer, "Who?", text, sentences, max_tokens=17)) >= number
    assert Counted.looks <= 2 * len(sentences)


def test_of_an_endless_sentence_only_the_beginning_is_cut_into_tokens(tokenizer):
    words = "word " * 400_000
    (window,) = windows(tokenizer, "Who?", words, [(0, len(words))], max_tokens=17)
    assert window.offsets[-2][1] < 100
    assert timing.seconds(
        lambda: windows(tokenizer, "Who?", words, [(0, len(words))], max_tokens=17)
    ) < 20 * (
        timing.seconds(lambda: windows(tokenizer, "Who?", words[:20_000], [(0, 20_000)], max_tokens=17))
    )


HOSTILE = {
    "no spaces": "a" * 1_000_000,
    "lone surrogates": "\ud800" * 1_000_000,
    "NUL": "\0" * 1_000_000,
    "marks": "!" * 1_000_000,
    "combining": "e" + "\u0301" * 1_000_000,
    "no alphabet": "漢" * 1_000_000,
    "empty": "",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_the_embedded_models_read_anything(text):
    """As a text and as a question."""
    assert np.isfinite(EmbeddedEncoder().encode([text])).all()
    model = CrossEncoder()
    for question, read in ((text, "Some text."), ("What is it?", text)):
        scores = model.scores(question, [read])
        assert scores.shape == (1,)
        assert np.isfinite(scores).all()
