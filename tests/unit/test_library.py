"""The Python API: documents in, answers out, and objects of one's own in place of what the settings name."""

import asyncio
import json

import pytest

import equipoise
from equipoise import Answer, Library, Refusal
from equipoise.core.errors import CorpusError, InputError, QuestionError, StoreError
from equipoise.core.results import passage_dict
from equipoise.core.settings import HighlightSettings, Settings
from equipoise.core.types import Proposal, Span, Trust
from equipoise.models.scripted import ScriptedChat
from hashed_words import HashedWords

FERRY = "The ferry to Orkney leaves at nine. A ticket costs twelve pounds."
QUESTION = "When does the ferry to Orkney leave?"


class First:
    """Highlights the first sentence of the best passage."""

    async def highlight(self, query, passages):
        start, end = passages[0].sentences[0]
        return Proposal((Span(passages[0].doc_id, passages[0].start + start, passages[0].start + end),))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("CACHE", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "ferry.txt").write_text(FERRY, "utf-8")


def library(**objects):
    return Library.create(
        "index.db", **{"encoder": HashedWords(), "highlighter": First(), "chat": None} | objects
    )


def test_documents_in_answers_out():
    with library() as made:
        assert made.index("docs").added == 1
        result = made.ask(QUESTION)
        assert isinstance(result, Answer)
        assert result.text == FERRY
        assert asyncio.run(made.aask(QUESTION)).text == result.text
        (passage,) = made.search("ticket").passages
        assert passage.text == FERRY
    with Library.open("index.db", encoder=HashedWords(), highlighter=First(), chat=None) as opened:
        assert opened.ask(QUESTION).text == result.text
        assert opened.pipeline.models["highlighter"] == "First"


def test_paths_may_be_strings_and_many():
    with library() as made:
        assert made.index(["docs", "docs/ferry.txt"], trust="untrusted").added == 1
        (doc_id,) = made.store.doc_ids()
        assert made.store.document(doc_id).trust is Trust.UNTRUSTED


def test_what_is_gone_is_taken_out_and_documents_can_be(tmp_path):
    (tmp_path / "docs" / "tea.txt").write_text("Tea is hot.", "utf-8")
    with library() as made:
        made.index("docs")
        (tmp_path / "docs" / "tea.txt").unlink()
        assert made.index("docs", gone="keep").removed == 0
        assert made.index("docs").removed == 1
        (document,) = made.documents()
        assert (document.passages, document.source.endswith("ferry.txt")) == (1, True)
        assert made.remove("ferry.txt") == 1
        assert made.documents() == ()
        with pytest.raises(InputError, match="no document is called"):
            made.remove("ferry.txt")


def test_a_chat_model_of_ones_own_writes(tmp_path):
    chat = ScriptedChat(lambda _: json.dumps({"guessed_questions": [], "answer": "It leaves at nine."}))
    settings = Settings.model_validate({"summarize": {"when": "always"}})
    with library(chat=chat, settings=settings) as made:
        made.index("docs")
        assert made.ask(QUESTION).text == "It leaves at nine."
    assert chat.requests
    assert QUESTION not in str(chat.requests), "the summarizer never sees the question"


def test_a_result_as_a_dictionary_is_json_and_names_text_and_source():
    with library() as made:
        made.index("docs")
        fields = json.loads(json.dumps(made.ask(QUESTION).to_dict()))
        assert fields["answer"] == FERRY
        (passage,) = fields["passages"]
        assert (passage["text"], passage["source"].endswith("ferry.txt")) == (FERRY, True)
        (result,) = made.search("ticket").passages
        assert passage == passage_dict(result) | {"score": passage["score"]}
        refused = Refusal(equipoise.Reason.NOTHING_HIGHLIGHTED, "No.").to_dict()
        assert set(refused) == set(fields)


def test_an_index_that_was_opened_to_read_is_not_written():
    library().close()
    with Library.open("index.db", encoder=HashedWords()) as opened, pytest.raises(StoreError, match="read"):
        opened.index("docs")


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: Library.create(3), InputError, "a path is a string or a pathlib.Path, not of type int"),
        (lambda: library(highlighter=First), InputError, "highlighter is the class First: give an object"),
        (lambda: library(highlighter=object()), InputError, "of type object, which lacks async highlight"),
        (lambda: library(highligter=First()), InputError, "there is no part 'highligter' to give"),
        (lambda: library(encoder=None), InputError, "encoder is of type NoneType, which lacks"),
        (lambda: library(pipeline="rag"), InputError, "there is no pipeline 'rag'"),
        (
            lambda: library().index("docs", trust="all"),
            InputError,
            "there is no trust 'all': write trusted or untrusted",
        ),
        (
            lambda: library().index("docs", gone="lose"),
            InputError,
            "there is no way with files that are gone 'lose'",
        ),
        (lambda: library().index([7]), InputError, "a path is a string"),
        (lambda: library().index("nowhere"), CorpusError, "nowhere"),
        (lambda: library().ask(7), QuestionError, "a question is a string, not of type int"),
        (lambda: library().search(None), QuestionError, "a question is a string, not of type NoneType"),
        (lambda: Library.open("none.db"), StoreError, "none.db"),
    ],
)
def test_a_wrong_argument_gets_one_sentence(call, error, said):
    with pytest.raises(error) as raised:
        call()
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda made, **wrong: made.ask(QUESTION, **wrong),
        lambda made, **wrong: asyncio.run(made.aask(QUESTION, **wrong)),
        lambda made, **wrong: asyncio.run(anext(made.astream(QUESTION, **wrong))),
        lambda made, **wrong: made.search("ticket", **wrong),
        lambda made, **wrong: asyncio.run(made.asearch("ticket", **wrong)),
        lambda made, **wrong: made.conversation(**wrong),
    ],
)
def test_a_misspelt_filter_is_not_lost(call):
    with library() as made:
        made.index("docs", metadata={"team": "hr"})
        with pytest.raises(TypeError, match="no 'filter' to choose: it may choose where, k, trust, pipeline"):
            call(made, filter="team = it")


def test_all_names_are_there():
    for name in equipoise.__all__:
        assert getattr(equipoise, name) is not None
    with pytest.raises(AttributeError):
        equipoise.nothing  # noqa: B018


def test_a_pipeline_of_the_settings_needs_no_objects():
    settings = Settings(highlight=HighlightSettings(name="sentence"))
    with Library.create("own.db", settings=settings) as made:
        made.index("docs")
        assert "nine" in made.ask(QUESTION).text
    answer = equipoise.ask(QUESTION, docs="docs", settings=settings)
    assert "nine" in answer.text
