"""Scripts without spaces: documents and questions in them are found by pairs of letters."""

import asyncio

import pytest

from equipoise.core.types import Passage, Query
from equipoise.corpus.keywords import terms
from equipoise.rag.highlighters.by_words import by_words
from equipoise.text.tokens import script_of, with_cjk_bigrams


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("船票多少钱?", "Chinese"),
        ("渡し船は何時に出ますか", "Japanese"),
        ("나룻배는 언제 떠납니까?", "Korean"),
        ("Когда отходит паром?", "Cyrillic"),
        ("When does the Паром leave today?", ""),
        ("Wann fährt die Fähre?", ""),
        ("12:30 – 14:00", ""),
    ],
)
def test_the_script_of_a_text(text, script):
    assert script_of(text) == script


def test_pairs():
    assert with_cjk_bigrams("ab 船票价c").split() == ["ab", "船票", "票价", "c"]
    assert terms("船票多少钱?") == ["船票", "票多", "多少", "少钱"]


def passage(text, title="码头"):
    ends = [at + 1 for at, letter in enumerate(text) if letter == "。"]
    return Passage(
        1, "d", 0, len(text), text, title, sentences=tuple(zip([0, *ends[:-1]], ends, strict=True))
    )


FERRY = passage("码头每天七点开门。学生票价十二元。冬季停航两个月。")


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("学生票价多少?", ["学生票价十二元。"]),
        ("冬季几点停航?", ["冬季停航两个月。"]),
        ("码头有停车场吗?", []),
        ("狗可以上船吗?", []),
    ],
)
def test_sentences_are_chosen_by_their_words(question, quotes):
    spans = by_words(question, [FERRY]).spans
    assert [FERRY.text[span.start : span.end] for span in spans] == quotes


def test_the_reader_leaves_such_questions_to_their_words():
    from equipoise.rag.highlighters.reader import ReaderHighlighter

    highlighter = ReaderHighlighter(reranker=None)
    proposal = asyncio.run(highlighter.highlight(Query("学生票价多少?"), [FERRY]))
    assert len(proposal.spans) == 1
