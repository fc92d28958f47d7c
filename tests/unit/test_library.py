"""The Python API: documents in, answers out, and objects of one's own in place of what the settings name."""

import asyncio
import json
from dataclasses import replace

import pytest

import equipoise
from equipoise import Answer, Document, Library, Refusal
from equipoise.core.errors import (
    CorpusError,
    EquipoiseError,
    InputError,
    QuestionError,
    SettingsError,
    StoreError,
)
from equipoise.core.results import passage_dict
from equipoise.core.settings import HighlightSettings, Settings
from equipoise.core.source_settings import SourceSettings
from equipoise.core.types import Proposal, Span, Trust
from equipoise.models.scripted import ScriptedChat
from hashed_words import HashedWords

FERRY = "The ferry to Orkney leaves at nine. A ticket costs twelve pounds."
TEA = Document("tea", "Tea is served hot in the saloon of the ferry.", "tea.txt")
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


def closed():
    made = library()
    made.close()
    return made


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
    with Library.open("index.db", encoder=HashedWords()) as opened:
        for change in (lambda: opened.index("docs"), lambda: opened.add([TEA]), lambda: opened.remove("tea")):
            with pytest.raises(StoreError, match=r"only reads index\.db: use Library\.create"):
                change()


def test_the_repr_of_a_library_is_its_place_and_how_many_documents_it_has():
    with library() as made:
        made.add([TEA])
        assert repr(made) == "Library('index.db', documents=1)"
    assert repr(made) == "Library('index.db', closed)"


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
        (lambda: library().index(5), InputError, "a path is a string or a pathlib.Path, not of type int"),
        (
            lambda: library().add("abc"),
            InputError,
            "documents are a list of Document objects, not of type str",
        ),
        (
            lambda: library().add(TEA),
            InputError,
            "documents are a list of Document objects, not of type Document",
        ),
        (
            lambda: library().add(["abc"]),
            InputError,
            "documents are a list of Document objects, not one of str",
        ),
        (lambda: library().upsert([replace(TEA, trust="all")]), InputError, "there is no trust 'all'"),
        (lambda: library().add([replace(TEA, text=5)]), InputError, "the text of a document is a string"),
        (
            lambda: library().remove(["x"]),
            InputError,
            "a document is called by a string, not by one of type list",
        ),
        (lambda: library(settings={"retrieval": {"top": 2}}), SettingsError, "retrieval.top: Extra inputs"),
        (lambda: Library.open("index.db", settings=5), SettingsError, "settings: write them as {"),
        (
            lambda: equipoise.ask(QUESTION, docs="docs", settings={"nosuch": {}}),
            SettingsError,
            "nosuch: Extra",
        ),
        (lambda: equipoise.ask(QUESTION, docs=7), InputError, "a path is a string or a pathlib.Path"),
        (lambda: Library.from_texts("abc"), InputError, "texts are a list of strings"),
        (lambda: Library.from_texts([FERRY, 5]), InputError, "texts are a list of strings"),
        (lambda: Library.from_texts({5: FERRY}), InputError, "texts and their names are a list of strings"),
        (lambda: library().ask(QUESTION, before=5), InputError, "earlier questions are a list of strings"),
        (lambda: library().ask(QUESTION, before=[5]), InputError, "earlier questions are a list of strings"),
        (lambda: closed().ask(QUESTION), StoreError, "the store index.db is closed: open it again"),
        (lambda: closed().add([TEA]), StoreError, "the store index.db is closed: open it again"),
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


def test_a_result_is_printed_as_its_text_and_its_sources():
    with library() as made:
        made.index("docs")
        made.add([replace(TEA, trust="untrusted")])
        assert str(made.ask(QUESTION)) == f"{FERRY}\n[1] docs/ferry.txt, line 1"
        both = str(made.ask("Where is tea served?", trust="equal"))
        assert "\n[1] tea.txt" in both and both.endswith(" (untrusted)")
    assert str(Refusal(equipoise.Reason.NOTHING_HIGHLIGHTED, "No.")) == "No."


def test_settings_may_be_a_mapping_and_a_trust_its_name():
    with library(settings={"retrieval": {"k": 1}}) as made:
        made.add([replace(TEA, trust="untrusted"), replace(TEA, doc_id="again")])
        assert {document.trust for document in made.documents()} == set(Trust) - {Trust.HELD}
        assert made.components.settings.retrieval.k == 1


@pytest.mark.parametrize(
    "fails",
    [
        lambda made: made.index("nowhere"),
        lambda made: made.index("docs", trust="all"),
        lambda made: made.sync("notasite"),
        lambda made: made.add([replace(TEA, text=5)]),
        lambda made: made.add([replace(TEA, metadata="x")]),
    ],
)
def test_no_empty_index_is_left_where_nothing_could_be_indexed(tmp_path, fails):
    place = tmp_path / "new" / "index.db"
    with pytest.raises(EquipoiseError), Library.create(place, encoder=HashedWords(), chat=None) as made:
        fails(made)
    assert not place.parent.exists()
    with Library.create(place, encoder=HashedWords(), chat=None) as made:
        with pytest.raises(EquipoiseError):
            fails(made)
        made.index("docs")  # what failed can be tried again
    with Library.create(place, encoder=HashedWords(), chat=None) as made:
        made.remove("ferry.txt")
        with pytest.raises(EquipoiseError):
            fails(made)
    assert place.exists(), "it was there before"


def test_no_empty_index_is_left_by_a_library_that_cannot_be_made(tmp_path):
    for wrong in ({"pipeline": "rag"}, {"highlighter": object()}):
        with pytest.raises(InputError):
            Library.create(tmp_path / "new" / "index.db", **wrong)
    with pytest.raises(EquipoiseError):
        Library.from_texts([FERRY], metadata=["x"], path=tmp_path / "new" / "index.db", encoder=HashedWords())
    assert not (tmp_path / "new").exists()


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


def test_a_site_that_does_not_answer_is_named():
    nobody = SourceSettings(address="http://127.0.0.1:9/docs/", allow=("127.0.0.1",))
    with (
        library() as made,
        pytest.raises(CorpusError, match=r"http://127\.0\.0\.1:9/docs/: it does not answer"),
    ):
        made.sync(nobody)
