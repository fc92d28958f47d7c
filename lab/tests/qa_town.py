"""Two documents about a town, four questions, and a model that knows them: what tests of `bench qa` run on."""

import json
import re
import sys

import pytest

from equipoise.core import sync
from equipoise.core.settings import Settings, SummarizeSettings
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.bench.qa import bench
from equipoise_lab.bench.qa.bench import Options
from equipoise_lab.bench.qa.runner import Harness
from equipoise_lab.evaluation.budget import RunBudget, metered
from hashed_words import HashedWords

PIPELINES = ("vanilla", "baseline", "structured", "indexed", "sentence+extractive")

BELLS = "The bells ring at six in the morning. They were cast in Ghent in 1650 by Peter Hall. Some like them."
FERRY = "The ferry crosses the river every ten minutes. It carries forty cars. A ticket costs two crowns."

WRITING = Settings(summarize=SummarizeSettings(when="always", guesses=1))
"""As in the paper: each answer is written, after a guess."""


def questions(folder):
    """Four questions about two documents, one of them not answerable."""
    bells = {"documents": [{"doc_id": "bells", "title": "Bells", "text": BELLS}]}
    ferry = {"documents": [{"doc_id": "ferry", "title": "Ferry", "text": FERRY}]}
    cast = BELLS.index("They were")
    rows = [
        bells | {"item_id": "b1", "question": "Where were the bells cast?", "references": ["Ghent"],
                 "gold": [["bells", cast, BELLS.index(" Some")]], "answerable": True},
        bells | {"item_id": "b2", "question": "Who sold the bells?", "answerable": False},
        ferry | {"item_id": "f1", "question": "What does a ferry ticket cost?", "references": ["two crowns"],
                 "answerable": True},
        ferry | {"item_id": "f2", "question": "Does the ferry carry cars?", "references": ["yes"],
                 "answerable": True, "decision": "yes"},
    ]  # fmt: skip
    path = folder / "town.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def say(messages):
    """A model that knows the town: replies by the form of the request and by its question."""
    asked, system = messages[1].content, messages[0].content
    question, _, task = asked.rpartition("Question:")[2].partition("Task:")
    if "numbered sentences" in system:
        known = {"cast": [2], "ticket": [3], "cars": [2]}
        picked = next((numbers for word, numbers in known.items() if word in question), [])
        return json.dumps({"sentences": picked}) if "JSON" in task else "yes" if picked else "no"
    if "guessed_questions" in system or "guess" in system:
        text = re.findall(r"(?m)^- (.*)", asked)
        return json.dumps({"guessed_questions": ["Where were they cast?", "What costs?"], "answer": text[0]})
    if "sold" in question:
        return "UNANSWERABLE" if "UNANSWERABLE" in task else "NONE"
    quote = (
        "They were cast in Ghent in 1650 by Peter Hall." if "cast" in question else "It carries forty cars."
    )
    if "text_extracts" in task:
        return json.dumps({"answer": "It is said.", "text_extracts": [quote]})
    return quote


class Counting:
    """ScriptedChat that writes each request it gets into a file, to be counted across processes."""

    def __init__(self, file, inside=None):
        self.file, self.inside = file, inside or ScriptedChat(say, name="town-crier")
        self.name = self.inside.name

    async def complete(self, messages, *, schema=None, options=None):
        with self.file.open("a") as out:
            out.write(json.dumps([m.content for m in messages] + [options.seed]) + "\n")
        return await self.inside.complete(messages, schema=schema, options=options)


def silent(done, total, what):
    pass


def run(file, out, *, chat=None, pipelines=PIPELINES, judges=(), budget=None, concurrency=1, **options):
    """The benchmark as the command runs it, with a model of ours.

    It ends as where the extra `bench` is not installed: with all its rows and no pages, which would take most of
    the time. Tests of `bench.qa.reporting` write them from the rows.
    """
    budget = budget or RunBudget()
    out.mkdir(parents=True, exist_ok=True)
    model = chat or Counting(out / "asked.jsonl")
    kept = Replayed(metered(model, budget), ReplayCache(out / "replies.db"))
    chosen = Options(str(file), pipelines, **options)
    plan = bench.plan(chosen, with_llm=True)
    harness = Harness(WRITING, HashedWords(64), kept, out, budget, silent, concurrency)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib", None)
        return sync.run(bench.bench(plan, chosen, harness, judges))


def rows_of(out, name="results.jsonl"):
    return [json.loads(line) for line in (out / name).read_text().splitlines()]


def by_key(out):
    return {(row["item_id"], row["pipeline"]): row for row in rows_of(out)}
