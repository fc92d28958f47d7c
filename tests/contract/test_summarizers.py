"""What every Summarizer promises, over every summarizer there is: with a scripted model, and `live`.

A new row of SUMMARIZERS that asks a language model needs a line in SCRIPTS.
"""

import json
from dataclasses import replace

import pytest

from equipoise.core import sync
from equipoise.core.errors import ModelUnavailable
from equipoise.core.protocols import Summarizer
from equipoise.core.settings import Settings, SummarizeSettings
from equipoise.core.types import Highlights, Span, Tag, Usage
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.boundary import read_quotes
from equipoise.rag.build import SUMMARIZERS, make
from equipoise.rag.components import Components
from equipoise.rag.summarizers.extractive import joined
from equipoise.testing.corpus import ANSWER

LIMIT = "The limit for opening a hive is -5 °C; below that the cluster breaks and the colony may die."
ALSO = ("Readers may borrow eight books for four weeks.", "Our beekeepers feed sugar syrup in autumn only.")
TAGS = [frozenset({tag}) for tag in Tag]


def reply(answer, guesses=("How long is the bridge?",)):
    return json.dumps({"guessed_questions": list(guesses), "answer": answer})


SCRIPTS = {"llm": reply("The Harlow bridge is 212 metres long and stands on seven piers of grey stone.")}
MODEL_FREE = {"extractive"}
ASKING = [name for name in SUMMARIZERS if name not in MODEL_FREE]


@pytest.fixture
def built(store, encoder):
    """A function: the summarizer `name` on a chat model; it writes about short quotes, too, unless told otherwise."""

    def build(name, chat, **wanted):
        settings = Settings(summarize=SummarizeSettings(**{"when": "always", "guesses": 1} | wanted))
        return make("summarizer", SUMMARIZERS, name, Components(settings, store, encoder, chat))

    return build


@pytest.fixture
def highlights(store):
    """A function: the sentences given, as highlights read from the store."""

    def find(*sentences):
        items = []
        for doc_id in sorted(store.doc_ids()):
            document = replace(store.document(doc_id), blocks=())  # so that nothing is shown around them
            places = sorted(document.text.index(s) for s in sentences if s in document.text)
            by_start = {document.text.index(s): s for s in sentences if s in document.text}
            items += [read_quotes([Span(doc_id, at, at + len(by_start[at]))], document)[0] for at in places]
        assert len(items) == len(sentences)
        return Highlights(tuple(items))

    return find


def scripted(name, say=None):
    if name in MODEL_FREE:
        return None
    if name not in SCRIPTS:
        pytest.fail(f"SUMMARIZERS has a new row {name!r}: add it to SCRIPTS, or to MODEL_FREE")
    return ScriptedChat(lambda _: SCRIPTS[name] if say is None else say)


def summarize(summarizer, highlights, tags=frozenset()):
    return sync.run(summarizer.summarize(highlights, tags=tags))


def assert_lawful(summary, highlights, tags=frozenset()):
    """Never empty; grounded means nothing invented and nothing lost; otherwise the answer is the quotes."""
    assert any(map(str.isalnum, summary.answer))
    assert summary.grounded == (not (summary.unsupported or summary.missing or summary.failure))
    if not summary.grounded:
        assert summary.answer == joined(highlights.items, tags)
    assert len(set(summary.guessed_questions)) == len(summary.guessed_questions)
    assert all(guess.strip() for guess in summary.guessed_questions)


def test_no_script_is_left_over():
    assert set(SCRIPTS) | MODEL_FREE == set(SUMMARIZERS)


@pytest.mark.parametrize("name", SUMMARIZERS)
class TestEverySummarizer:
    def test_is_a_summarizer(self, built, name):
        assert isinstance(built(name, scripted(name)), Summarizer)

    def test_answers_from_the_quotes(self, built, name, highlights):
        quotes = highlights(ANSWER)
        summary = summarize(built(name, scripted(name)), quotes)
        assert_lawful(summary, quotes)
        assert summary.grounded
        assert "212 metres" in summary.answer

    def test_several_documents(self, built, name, highlights):
        quotes = highlights(ANSWER, LIMIT)
        summary = summarize(built(name, scripted(name)), quotes)
        assert_lawful(summary, quotes)
        assert "-5 °C" in summary.answer, "a number of short quotes was lost"

    def test_equal_highlights_give_equal_requests_and_equal_summaries(self, built, name, highlights):
        chats = [scripted(name), scripted(name)]
        first, again = (summarize(built(name, chat), highlights(ANSWER, LIMIT)) for chat in chats)
        assert first == again
        sent = [repr(chat.requests).encode() if chat else b"" for chat in chats]
        assert sent[0] == sent[1]

    @pytest.mark.parametrize("tags", TAGS, ids=[next(iter(t)).value for t in TAGS])
    def test_a_tag_is_heard_and_nothing_else_changes(self, built, name, highlights, tags):
        quotes, chats = highlights(ANSWER), [scripted(name), scripted(name)]
        plain = summarize(built(name, chats[0]), quotes)
        tagged = summarize(built(name, chats[1]), quotes, tags)
        assert_lawful(tagged, quotes, tags)
        if chats[0] is None:
            assert tagged.answer == f"{next(iter(tags)).value.capitalize()}. {plain.answer}"
        else:
            before, after = (
                "".join(m.content for m in sent.messages) for chat in chats for sent in chat.requests
            )
            assert (
                after.replace(f"\n\nThe answer to the question is: {next(iter(tags)).value}.", "") == before
            )
            assert after != before


@pytest.mark.parametrize("name", ASKING)
class TestEverySummarizerThatAsksAModel:
    def test_without_a_model_it_says_how_to_get_one(self, built, name):
        with pytest.raises(ModelUnavailable, match=rf"'{name}' needs a language model: run "):
            built(name, None)

    def test_its_cost_is_counted(self, built, name, highlights):
        usage = summarize(built(name, scripted(name)), highlights(ANSWER)).usage
        assert usage.calls == 1
        assert usage.prompt_tokens > 100

    def test_invented_facts_are_replaced_by_the_quotes(self, built, name, highlights):
        quotes = highlights(ANSWER)
        summary = summarize(built(name, scripted(name, reply("It was built by Queen Victoria."))), quotes)
        assert_lawful(summary, quotes)
        assert "Victoria" in summary.unsupported

    def test_lost_facts_are_replaced_by_the_quotes(self, built, name, highlights):
        quotes = highlights(LIMIT)
        summary = summarize(
            built(name, scripted(name, reply("There is a limit for opening a hive."))), quotes
        )
        assert_lawful(summary, quotes)
        assert not summary.grounded
        assert "-5" in summary.missing

    @pytest.mark.parametrize("answer", ["", " \n", "...", "-", "\u200b", "**"])
    def test_an_answer_without_a_word_is_repaired_or_the_quotes(self, built, name, highlights, answer):
        quotes = highlights("A loan is renewed once unless somebody else waits.")
        kept = summarize(built(name, scripted(name, reply(answer))), quotes)
        assert_lawful(kept, quotes)
        assert (kept.answer, kept.grounded) == ("A loan is renewed once unless somebody else waits.", False)
        assert "twice sent no valid SummaryReply" in kept.failure
        assert kept.usage.calls == 2
        repaired = ScriptedChat([reply(answer), reply("A loan is renewed once unless somebody else waits.")])
        summary = summarize(built(name, repaired), quotes)
        assert_lawful(summary, quotes)
        assert summary.usage.calls == 2

    def test_guesses_that_say_nothing_are_no_guesses(self, built, name, highlights):
        """They would slip past the monitor."""
        summary = summarize(built(name, scripted(name, reply(ANSWER, ["", " ", "?"]))), highlights(ANSWER))
        assert (summary.grounded, summary.guessed_questions) == (False, ())
        assert "guessed_questions" in summary.failure

    def test_a_model_that_fails_is_its_callers_business(self, built, name, highlights):
        chat = ScriptedChat(lambda _: ModelUnavailable("the endpoint is down: start it"))
        with pytest.raises(ModelUnavailable, match="the endpoint is down"):
            summarize(built(name, chat), highlights(ANSWER))

    def test_short_quotes_are_the_answer_as_they_are(self, built, name, highlights):
        chat = scripted(name, reply("It was built by Queen Victoria."))
        summary = summarize(built(name, chat, when="long", guesses=None), highlights(ANSWER), TAGS[0])
        assert chat.requests == []
        assert (summary.answer, summary.grounded) == (joined(highlights(ANSWER).items, TAGS[0]), True)

    def test_long_quotes_are_summarized_without_a_guess(self, built, name, highlights):
        chat = scripted(
            name, json.dumps({"answer": "The bridge is 212 metres long; below -5 °C no hive is opened."})
        )
        quotes = highlights(ANSWER, LIMIT, *ALSO)
        summary = summarize(built(name, chat, when="long", guesses=None), quotes)
        assert_lawful(summary, quotes)
        assert summary.guessed_questions == ()
        (sent,) = chat.requests
        assert "guess" not in repr(sent).lower()

    def test_what_is_watched_is_always_asked(self, built, name, highlights):
        chat = scripted(name)
        summarize(built(name, chat, when="long", guesses=1), highlights(ANSWER))
        summarize(built(name, chat, when="long", guesses=None, context="passage"), highlights(ANSWER))
        assert len(chat.requests) >= 2


@pytest.mark.live
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ASKING)
def test_with_the_local_model(built, name, local_chat, highlights):
    quotes = highlights(ANSWER, LIMIT)
    summary = summarize(built(name, local_chat), quotes)
    assert_lawful(summary, quotes)
    assert summary.usage != Usage()
    print(name, summary)
