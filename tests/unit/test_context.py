"""Quotes with the passage around them: what an incomplete highlight leaves out reaches the summarizer all the same.

The first document is after Figure 8 of the H&S paper, in words of our own.
"""

import json
from io import StringIO

import pytest

from equipoise.apps import render
from equipoise.apps.terminal import Terminal
from equipoise.core import sync
from equipoise.core.results import Answer
from equipoise.core.settings import HighlightSettings, Settings, SummarizeSettings
from equipoise.core.types import Document, Highlights, Passage, Span
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import build
from equipoise.rag.boundary import MAX_CONTEXT, read_quotes, with_context
from equipoise.rag.components import Components
from equipoise.rag.summarizers.llm import evidence, request, room
from equipoise.text.sentences import sentence_spans
from hashed_words import HashedWords

LEAVE = Document(
    "leave",
    "Staff may take study leave if:\n\n"
    "- they have worked here for at least two years in one post;\n\n"
    "Besides, the head of their department has signed the blue form.\n\n"
    "Study leave is refused unless both of these are met.\n",
    "leave.md",
    "Study leave",
)
BREAD = Document(
    "bread", "The bakery sells rye bread on Tuesdays and white bread every day.\n", "bread.md", "Bakery"
)
LEAD = "Staff may take study leave if:"
FIRST = "they have worked here for at least two years in one post;"
SECOND = "the head of their department has signed the blue form"
QUESTION = "When may staff take study leave?"
WHOLE = "Staff may take study leave if they have worked here two years and the head of department signed the blue form."


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    encoder = HashedWords()
    with Store.open(tmp_path_factory.mktemp("leave") / "index.db", create=True) as opened:
        opened.bind_encoder(encoder)
        opened.add_documents(prepare([LEAVE, BREAD], encoder))
        yield opened


def ask(store, context, answer=WHOLE):
    """The result and the summarizer's request, where the highlighter was talked into the first condition alone."""
    chat = ScriptedChat(
        {
            "text_extracts": json.dumps({"answer": "After two years.", "text_extracts": [FIRST]}),
            "guessed_questions": json.dumps({"guessed_questions": [QUESTION], "answer": answer}),
        }
    )
    settings = Settings(
        highlight=HighlightSettings(name="structured"),
        summarize=SummarizeSettings(name="llm", when="always", guesses=1, context=context),
    )
    result = sync.run(build.pipeline("hs", Components(settings, store, HashedWords(), chat)).ask(QUESTION))
    return result, "\n".join(message.content for message in chat.requests[-1].messages)


class TestIncompleteHighlighting:
    def test_without_context_the_second_condition_is_lost(self, store):
        result, sent = ask(store, "none")
        assert SECOND not in sent
        assert "both of these" not in sent
        assert (result.grounded, result.highlights.items[0].context) == (False, "")
        assert "blue" in result.trace.unsupported

    def test_with_context_it_reaches_the_summarizer_apart_from_the_quotes(self, store):
        result, sent = ask(store, "passage")
        quotes, surroundings = sent.split("\nSurrounding text:\n")[-2:]
        assert FIRST in quotes.split("\nQuotes:\n")[-1]
        assert SECOND not in quotes
        assert SECOND in surroundings
        assert "refused unless both of these are met" in surroundings
        assert isinstance(result, Answer)
        assert (result.text, result.grounded) == (WHOLE, True)
        assert [item.text for item in result.highlights.items] == [f"{LEAD}\n\n- {FIRST}"]

    def test_other_documents_stay_out(self, store):
        assert "rye" not in ask(store, "passage")[1]

    def test_words_of_neither_quotes_nor_context_are_still_refused(self, store):
        result, _ = ask(store, "passage", "Staff may take study leave after two years and a farewell party.")
        assert not result.grounded
        assert "farewell" in result.trace.unsupported


class TestShown:
    """Who reads an answer sees what it was made from: the context too, and no trace of one where there is none."""

    def shown(self, result):
        console = Terminal()
        console.file = StringIO()
        render.show(result, console)
        return console.file.getvalue()

    def test_the_context_stands_under_its_quote(self, store):
        result, _ = ask(store, "passage")
        assert SECOND in self.shown(result)
        (item,) = result.to_dict()["highlights"]
        assert item["context"] == result.highlights.items[0].context

    def test_no_context_leaves_no_trace(self, store):
        result, _ = ask(store, "none")
        assert "read within" not in self.shown(result)
        assert "context" not in result.to_dict()["highlights"][0]

    def test_extractive_reads_none(self, store):
        settings = Settings(summarize=SummarizeSettings(name="extractive", context="passage"))
        assert not build.highlight_summarize(Components(settings, store, HashedWords())).context
        written = Settings(summarize=SummarizeSettings(name="llm", guesses=1, context="passage"))
        assert build.highlight_summarize(Components(written, store, HashedWords(), ScriptedChat([]))).context


def document(*sentences, doc_id="d"):
    text = " ".join(sentences)
    return Document(doc_id, text, "d.txt", "Report", sentences=sentence_spans(text))


def contexts(source, passages, *quotes):
    spans = [Span("d", source.text.index(q), source.text.index(q) + len(q)) for q in quotes]
    highlights = Highlights(tuple(read_quotes([span], source)[0] for span in spans))
    return [item.context for item in with_context(highlights, {"d": source}, passages).items]


class TestWithContext:
    letters = document("A is one.", "B is two.", "C is three.", "D is four.")

    def passages(self, *cuts):
        text = self.letters.text
        return [Passage(n, "d", a, b, text[a:b], "Report") for n, (a, b) in enumerate(cuts)]

    def test_the_passages_a_highlight_lies_in_and_no_others(self):
        halves = self.passages((0, 19), (20, 42))
        assert contexts(self.letters, halves, "B is two.", "C is three.") == [
            "A is one. B is two.",
            "C is three. D is four.",
        ]
        assert contexts(self.letters, halves, "B is two. C is three.") == [self.letters.text]

    def test_nothing_around_is_no_context(self):
        assert contexts(self.letters, self.passages((0, 9), (10, 42)), "A is one.") == [""]
        assert contexts(self.letters, [], "A is one.") == [""]

    def test_it_is_cut_to_whole_sentences_around_the_quote(self):
        """60 sentences of 100 characters: 1,500 leave 700 on either side, which hold six with their spaces."""
        rows = [f"Row {n:02d} " + "x" * 92 + "." for n in range(60)]
        assert {len(row) for row in rows} == {100}
        source = document(*rows)
        whole = [Passage(1, "d", 0, len(source.text), source.text, "Report")]
        (context,) = contexts(source, whole, rows[30])
        assert context == " ".join(rows[24:37])
        assert len(context) <= MAX_CONTEXT
        assert contexts(source, whole, rows[0]) == [" ".join(rows[:7])]

    def test_a_quote_longer_than_the_limit_has_no_context(self):
        rows = [f"Row {n:02d} " + "x" * 92 + "." for n in range(60)]
        source = document(*rows)
        whole = [Passage(1, "d", 0, len(source.text), source.text, "Report")]
        assert contexts(source, whole, " ".join(rows[:20])) == [""]


class TestRequest:
    def test_a_context_that_two_quotes_share_is_said_once(self, store):
        (passage,) = store.passages_of("leave")
        lines = [sentence_spans(passage.text)[n] for n in (1, 2)]
        documents = {"leave": store.document("leave")}
        items = tuple(
            read_quotes([Span("leave", passage.start + a, passage.start + b)], documents["leave"])[0]
            for a, b in lines
        )
        plain = Highlights(items)
        around = with_context(plain, documents, [passage])
        (_, user) = request(around, frozenset(), guesses=3)
        assert user.content.count("both of these") == 1
        assert user.content.count("From Study leave:") == 2
        assert room(around, 3) == room(plain, 3) + len(around.items[0].context) // 8
        assert around.items[0].context in evidence(around)

    def test_without_contexts_the_request_is_what_it_was(self, store):
        (passage,) = store.passages_of("bread")
        source = store.document("bread")
        alone = with_context(
            Highlights(tuple(read_quotes([Span("bread", passage.start, passage.end)], source))),
            {"bread": source},
            [passage],
        )
        (system, user) = request(alone, frozenset(), guesses=3)
        assert "surrounding" not in (system.content + user.content).casefold()
