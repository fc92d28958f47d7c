"""A question after another one that could be about the same, or about something else: the documents decide."""

from pathlib import Path

import pytest

from equipoise.core import sync
from equipoise.core.results import Answer
from equipoise.core.settings import Settings
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.text.questions import one_question, split_questions
from equipoise.text.references import could_stand_alone

PAGES = [
    Path(__file__).resolve().parents[2] / "examples" / "sqlite" / name for name in ("limits.docx", "wal.pdf")
]
WAL = "Can WAL mode be used over a network filesystem?"


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    encoder = EmbeddedEncoder()
    with Store.open(tmp_path_factory.mktemp("either") / "index.db", create=True) as store:
        index(PAGES, store, encoder)
        settings = Settings.model_validate({"model": {"llm": "none"}})
        yield build.highlight_summarize(build.components(settings, store, encoder=encoder, chat=None))


@pytest.mark.parametrize(
    ("before", "question", "found", "follows"),
    [
        (WAL, "and how many tables can be joined?", "join", False),
        (
            "How many databases can be attached?",
            "And can I use WAL over a network filesystem?",
            "network",
            False,
        ),
        (WAL, "and what are its advantages?", "faster", True),
        ("How big can a database be?", "And how long can a string be?", "string", True),
    ],
)
def test_what_the_documents_answer_is_the_way_it_is_read(pipeline, before, question, found, follows):
    result = sync.run(pipeline.ask(question, before=[before]))
    assert isinstance(result, Answer) and found in result.text
    assert bool(result.trace.read_as) is follows


def test_the_way_that_was_left_has_its_costs_in_the_trace(pipeline):
    alone = sync.run(pipeline.ask("How many tables can be joined?"))
    both = sync.run(pipeline.ask("and how many tables can be joined?", before=[WAL]))
    assert both.trace.timings.keys() == alone.trace.timings.keys()
    assert both.highlights == alone.highlights


@pytest.mark.parametrize(
    "question",
    ["And when did he die?", "And in May?", "What about columns?", "Why not?", "And which of them?"],
)
def test_what_cannot_stand_alone_is_read_one_way(question):
    assert not could_stand_alone(question)
    assert len(one_question(question, ["Who was the first king of Norway?"]).ways) == 1


def test_the_next_question_follows_the_one_that_could_stand_alone():
    before = ["Can WAL mode be used over a network?", "and how many databases can be attached?"]
    assert one_question("What about columns?", before).before == (before[1],)


def test_in_one_message_too():
    first, second = split_questions(
        "Does WAL mode work over a network? And how many databases can be attached?"
    )
    assert len(first.ways) == 1 and [way.whole for way in second.ways] == [second.whole, second.text]
