"""What a message that asks nothing gets, and the way on behind a refusal."""

import pytest

from equipoise import Library, Settings, Trust
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.types import Document, Proposal
from hashed_words import HashedWords
from serving import CATS, WAL, FirstSentence

QUESTION = "Does logging work over a network?"


class Broken:
    """A retriever that must not be asked."""

    def retrieve(self, query, *, k):
        raise AssertionError(f"{query.text} was searched for")


def library(tmp_path, *documents, settings=None, **objects):
    made = Library.create(
        tmp_path / f"{len(list(tmp_path.iterdir()))}.db",
        encoder=HashedWords(),
        chat=None,
        reranker=None,
        settings=Settings.model_validate(settings or {}),
        **{"highlighter": FirstSentence()} | objects,
    )
    made.add(documents or [Document("wal", WAL, "wal.txt", "Logging"), stranger("Cats")])
    return made


def stranger(name):
    return Document("cats", CATS, "cats.txt", name, Trust.UNTRUSTED)


@pytest.mark.parametrize(
    "message", ["Hi", "Thanks a lot!", "?", "asdf", "Who are you?", "Guten Tag", "You idiot"]
)
def test_small_talk_gets_a_reply_and_no_search(tmp_path, message):
    with library(tmp_path, retriever=Broken()) as made:
        result = made.ask(message)
        assert isinstance(result, Refusal) and result.reason is Reason.NO_QUESTION
        assert result.detail == "Ask a question about the documents, for example about “Logging”."
        assert result.trace.passages == result.nearest == () and not result.trace.timings
        with pytest.raises(AssertionError):
            made.ask(QUESTION)


def test_the_reply_is_a_function_of_message_trusted_documents_and_settings(tmp_path):
    own = Document("wal", WAL, "wal.txt", "Logging")
    with library(tmp_path, own) as alone, library(tmp_path, own, stranger("Obey me, asdf joke")) as beside:
        for message in ("Hi", "asdf", "tell me a joke", "Hello! How are you?", "joke"):
            assert alone.ask(message).to_dict() == beside.ask(message).to_dict()
    with library(tmp_path, stranger("Obey")) as strangers:
        assert strangers.ask("Hi").detail == "Ask a question about the documents."


def test_what_a_document_names_is_asked_about(tmp_path):
    with library(tmp_path, Document("a", "A joke is told at the gate.", "a.txt", "Jokes")) as made:
        assert made.ask("joke").reason is not Reason.NO_QUESTION
        assert made.ask("joke, thanks").reason is not Reason.NO_QUESTION
        assert made.ask("hello").reason is Reason.NO_QUESTION


def test_several_titles_are_named_and_long_ones_are_cut(tmp_path):
    titles = ["Fees", "Hours", "R" * 300, "Nets"]
    with library(tmp_path, *(Document(name, WAL, f"{name[:9]}.txt", name) for name in titles)) as made:
        said = made.ask("hi").detail
        assert len(said) < 300 and said.count("“") == 3 and " or “" in said


def test_a_question_behind_a_greeting_is_answered_as_without(tmp_path):
    with library(tmp_path) as made:
        plain = made.ask(QUESTION)
        assert isinstance(plain, Answer)
        for message in (f"Hi! {QUESTION}", f"Good morning. How are you? {QUESTION} Thank you!"):
            assert made.ask(message).highlights == plain.highlights
            assert made.ask(message).sub_answers == ()


def test_small_talk_is_no_earlier_question(tmp_path):
    with library(tmp_path) as made:
        reception = made.pipeline.reception
        assert reception.asked("And then?", ["hi", QUESTION, "thanks"]) == ["And then?", QUESTION]


def test_reply_and_contact_are_the_operators(tmp_path):
    question = {"reply": "Ask about ships.", "contact": "Or write to desk@example.org."}
    with library(tmp_path, settings={"question": question}) as made:
        assert made.ask("Hi").detail == "Ask about ships."
        refused = made.ask("Which colour has Tuesday?")
        assert refused.detail.startswith("The documents do not seem to answer this question.")
        assert refused.detail.endswith(" Or write to desk@example.org.")
        several = made.ask(f"{QUESTION} Which colour has the whole of Tuesday morning?")
        assert isinstance(several, Answer) and several.text.endswith("Or write to desk@example.org.")
        assert "desk@" not in made.ask(QUESTION).text


def test_the_contact_stands_in_what_is_shown_before_the_answer_too(tmp_path):
    with library(tmp_path, settings={"question": {"contact": "Call 112."}}) as made:
        seen = []

        class Observing:
            def stage(self, name):
                pass

            def quotes(self, answers):
                seen.extend(answers)

        made.ask("Which colour has Tuesday?", observer=Observing())
        assert [part.result.detail.endswith(" Call 112.") for part in seen] == [True]


def test_only_near_passages_are_shown_as_nearest(tmp_path):
    class Declines:
        async def highlight(self, query, passages):
            return Proposal(())

    with library(tmp_path, highlighter=Declines()) as made:
        assert made.ask("Which colour has Tuesday?").nearest == ()
        assert [one.doc_id for one in made.ask("Does logging share memory over a network?").nearest] == [
            "wal"
        ]
