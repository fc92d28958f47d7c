"""An ask reads one snapshot: re-indexing at any moment of it changes nothing that is answered or shown.

Another process does it, a real one, and each test goes on only when that process has ended.
"""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from io import StringIO

import pytest

from equipoise.apps import render
from equipoise.apps.terminal import Terminal
from equipoise.core import sync
from equipoise.core.results import Answer
from equipoise.core.settings import FilterSettings, HighlightSettings, Settings, SummarizeSettings
from equipoise.core.types import Document, Filtered, Flag
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.text.questions import Question
from hashed_words import HashedWords
from library_texts import TEXTS
from processes import ENVIRONMENT

QUESTION = "When does the office open, and who may park there?"
SECOND = "Who picks kale in the garden?"
REINDEX = """
import sys
from pathlib import Path
from equipoise.core.types import Document
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from hashed_words import HashedWords
encoder = HashedWords(64)
with Store.open(Path(sys.argv[1])) as store:
    store.remove_documents(store.doc_ids())
    texts = {"notes.md": "The office is shut for good.", "new.md": "Nobody parks, opens or picks anything."}
    store.add_documents(prepare([Document(n, t, f"changed-{n}", f"Changed {n}") for n, t in texts.items()], encoder))
"""


@pytest.fixture
def store(tmp_path):
    encoder = HashedWords(64)
    documents = [Document(name, text, name, f"About {name}") for name, text in TEXTS.items()]
    with Store.open(tmp_path / "index.db", create=True) as made:
        made.bind_encoder(encoder)
        made.add_documents(prepare(documents, encoder))
    with Store.open(tmp_path / "index.db", read_only=True) as opened:
        yield opened


def reindex(store):
    """By another process, to its end; the store here sees it as soon as it reads again."""
    subprocess.run([sys.executable, "-c", REINDEX, str(store.path)], check=True, env=ENVIRONMENT, timeout=120)
    assert set(store.doc_ids()) == {"notes.md", "new.md"}


@dataclass
class Once:
    """Calls `work` the first time."""

    work: object
    done: bool = False

    def __call__(self):
        if not self.done:
            self.done = True
            self.work()


@dataclass
class Then:
    """A stage of the pipeline, and `work` after it."""

    inner: object
    work: object

    def retrieve(self, query, *, k):
        candidates = self.inner.retrieve(query, k=k)
        self.work()
        return candidates

    async def filter(self, query, candidates, *, k):
        filtered = await self.inner.filter(query, candidates, k=k)
        self.work()
        return filtered

    async def highlight(self, query, passages):
        proposal = await self.inner.highlight(query, passages)
        self.work()
        return proposal

    async def summarize(self, highlights, *, tags=frozenset()):
        summary = await self.inner.summarize(highlights, tags=tags)
        self.work()
        return summary


class TakesTheLastOut:
    async def filter(self, query, candidates, *, k):
        last = candidates.passages[k - 1]
        return Filtered(candidates.take([*range(k - 1), k]), (Flag(last, "last", 0.5),))


def pipeline(store):
    """Structured highlighter, contexts, and a filter that flags: all that once went back to the store."""
    quotes = {
        "office": ["The office opens at 8:30 on weekdays; on Fridays it closes at 15:00."],
        "kale": ["Visitors may pick kale there in autumn."],
    }

    def say(messages):
        text = messages[-1].content
        if "Surrounding text:" in text:
            return json.dumps({"guessed_questions": ["What?"], "answer": "It is so."})
        asked = text.split("Question:")[1]
        return json.dumps(
            {"answer": "Yes.", "text_extracts": next(q for k, q in quotes.items() if k in asked)}
        )

    settings = Settings(
        highlight=HighlightSettings(name="structured"),
        summarize=SummarizeSettings(name="llm", guesses=1, context="passage"),
        filter=FilterSettings(name="none"),
    )
    chat = ScriptedChat(say)
    made = build.highlight_summarize(Components(settings, store, HashedWords(64), chat))
    return replace(made, filter=TakesTheLastOut()), chat


def shown(result):
    """All that people and programs see, times aside."""
    console = Terminal()
    console.file = StringIO()
    render.show(result, console)
    return console.file.getvalue(), result.to_dict() | {
        "timings": None,
        "trace": result.trace.to_dict(),
    }


def wrapped(made, stage, work):
    return {
        "retrieve": lambda: replace(made, retriever=Then(made.retriever, work)),
        "filter": lambda: replace(made, filter=Then(made.filter, work)),
        "highlight": lambda: replace(made, highlighter=Then(made.highlighter, work)),
        "summarize": lambda: replace(made, summarizer=Then(made.summarizer, work)),
    }[stage]()


@pytest.mark.parametrize("stage", ["retrieve", "filter", "highlight", "summarize"])
def test_reindexing_after_any_stage_changes_nothing(store, stage):
    made, chat = pipeline(store)
    before = sync.run(made.ask(QUESTION))
    assert isinstance(before, Answer)
    assert before.trace.flagged
    assert before.highlights.items[0].context
    calm, asked = shown(before), list(chat.requests)
    chat.requests.clear()
    after = sync.run(wrapped(made, stage, Once(lambda: reindex(store))).ask(QUESTION))
    assert shown(after) == calm
    assert chat.requests == asked
    assert after.trace.flagged == before.trace.flagged


def test_the_questions_of_one_message_share_a_snapshot(store):
    made, chat = pipeline(store)
    before = sync.run(made.ask_all([Question(QUESTION), Question(SECOND)]))
    asked = list(chat.requests)
    chat.requests.clear()
    seen = set(store.doc_ids())

    def another_process():
        command = [sys.executable, "-c", REINDEX, str(store.path)]
        subprocess.run(command, check=True, env=ENVIRONMENT, timeout=120)
        assert set(store.doc_ids()) == seen  # read inside the snapshot: still what it was

    torn = sync.run(
        wrapped(made, "retrieve", Once(another_process)).ask_all([Question(QUESTION), Question(SECOND)])
    )
    assert [shown(result) for result in torn.results] == [shown(result) for result in before.results]
    assert torn.highlights == before.highlights
    assert chat.requests == asked
    assert set(store.doc_ids()) != seen


def test_a_filtered_passage_does_not_come_back_around_a_quote(store):
    """Not even where the store has been cut into other passages since."""
    made, _ = pipeline(store)
    result = sync.run(made.ask(SECOND))
    readable = [scored.passage.text for scored in result.trace.passages]
    assert result.highlights.items
    for item in result.highlights.items:
        assert any(item.context in text for text in readable)
