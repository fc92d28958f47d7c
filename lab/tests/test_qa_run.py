"""The question answering benchmark end to end on a few questions: rows, resuming after SIGKILL, budgets."""

import json
import re
from collections import Counter

import pytest

from equipoise.core import sync
from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.core.types import Usage
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.bench import systems
from equipoise_lab.bench.qa import bench, runner
from equipoise_lab.bench.qa.bench import Options
from equipoise_lab.bench.qa.runner import Harness
from equipoise_lab.evaluation import run as core
from equipoise_lab.evaluation.budget import PATIENCE, RunBudget, metered
from hashed_words import HashedWords
from processes import killed_after
from qa_town import BELLS, FERRY, PIPELINES, WRITING, by_key, questions, rows_of, run, say, silent

FIELDS = [
    *("dataset", "item_id", "pipeline", "model", "question", "answerable", "decision", "outcome", "reason"),
    *(
        "answer",
        "references",
        "grounded",
        "probability",
        "tags",
        "highlights",
        "highlighted",
        "dropped",
        "gold",
        "gold_text",
    ),
    *("guesses", "usage", "scores"),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return questions(tmp_path_factory.mktemp("town"))


@pytest.fixture(scope="module")
def done(file, tmp_path_factory):
    out = tmp_path_factory.mktemp("done")
    return out, run(file, out)


def test_there_is_one_row_for_each_question_and_pipeline(done):
    rows = rows_of(done[0])
    assert len(rows) == 4 * len(PIPELINES)
    keys = [tuple(row[name] for name in ("dataset", "item_id", "pipeline", "model")) for row in rows]
    assert keys == sorted(set(keys))
    assert {tuple(row) for row in rows} == {tuple(FIELDS)}
    assert {row["model"] for row in rows if row["pipeline"] != "sentence+extractive"} == {"town-crier"}
    assert {row["model"] for row in rows if row["pipeline"] == "sentence+extractive"} == {"none"}
    assert done[1].answers == 20
    assert (done[1].failed, done[1].missing, done[1].stopped) == (1, 0, "")


def test_a_row_says_what_came_out(done):
    row = by_key(done[0])["b1", "structured"]
    sentence = "They were cast in Ghent in 1650 by Peter Hall."
    start = BELLS.index(sentence)
    assert (row["outcome"], row["reason"], row["answerable"]) == ("answered", None, True)
    assert row["highlights"] == [["bells", start, start + len(sentence)]]
    assert row["highlighted"] == row["gold_text"] == sentence
    assert row["answer"] == f"The bells ring at six in the morning. {sentence} Some like them."
    assert row["guesses"] == ["Where were they cast?"]
    assert row["usage"]["calls"] == 2
    assert row["scores"] == {
        "answer_recall": 1.0,
        "answer_hit": 1.0,
        "answer_k_precision": 0.52632,  # 10 of 19 words: the quote shows its whole short paragraph
        "answer_k_precision_documents": 1.0,
        "evidence_hit": 1.0,
        "highlight_k_precision": 1.0,
        "highlight_recall": 1.0,
        "highlight_in_gold": 1.0,
        "gold_in_highlight": 1.0,
        "guess_k_precision": 0.75,
        "guess_recall": 0.75,
        "guess_first_k_precision": 0.75,
        "guess_first_recall": 0.75,
        "decision_correct": None,
    }


def test_declined_and_failed_rows_are_told_apart(done):
    rows = by_key(done[0])
    declined = rows["b2", "indexed"]
    assert (declined["outcome"], declined["reason"]) == ("declined", "nothing highlighted")
    assert rows["b2", "vanilla"]["reason"] == "model declined"
    assert set(declined["scores"].values()) == {None}
    failed = rows["b2", "structured"]  # the model says NONE where JSON is wanted
    assert failed["outcome"] == "failed"
    assert failed["reason"].startswith("model failed: town-crier twice sent no valid StructuredReply")
    wrong = rows[
        "f1", "baseline"
    ]  # it picks a sentence that is no answer, and shows the one beside it that is
    assert (wrong["outcome"], wrong["scores"]["answer_hit"]) == ("answered", 1.0)
    assert rows["f2", "vanilla"]["scores"]["decision_correct"] == 0.0
    assert rows["f2", "vanilla"]["scores"]["evidence_hit"] is None


def test_timings_stand_apart_and_only_for_fresh_answers(done, file, tmp_path):
    timings = rows_of(done[0], "timings.jsonl")
    assert len(timings) == 20 - 1 - 6  # one failed, and six have the quotes of an earlier one to summarize
    for row in timings:
        rounding = 10**-runner.TIME_DIGITS * (1 + len(row["stages"])) / 2
        assert row["stages"]
        assert row["seconds"] + rounding >= sum(row["stages"].values())
    again = tmp_path / "again"
    again.mkdir()
    (again / "replies.db").write_bytes((done[0] / "replies.db").read_bytes())
    run(file, again, chat=ScriptedChat([], name="town-crier"))  # a line of the script is never asked for
    assert {row["pipeline"] for row in rows_of(again, "timings.jsonl")} == {"sentence+extractive"}
    assert (again / "results.jsonl").read_bytes() == (done[0] / "results.jsonl").read_bytes()


def test_a_second_run_asks_nothing_and_changes_nothing(file, tmp_path):
    run(file, tmp_path)
    names = ("results.jsonl", "timings.jsonl", "meta.json", "asked.jsonl")
    before = [(tmp_path / name).read_bytes() for name in names]
    run(file, tmp_path)
    assert [(tmp_path / name).read_bytes() for name in names] == before


def test_concurrency_gives_the_same_bytes(done, file, tmp_path):
    run(file, tmp_path, concurrency=4)
    assert (tmp_path / "results.jsonl").read_bytes() == (done[0] / "results.jsonl").read_bytes()


def test_no_document_is_encoded_twice(file, tmp_path):
    budget, encoder = RunBudget(), HashedWords(64)
    options = Options(str(file), ("baseline", "vanilla"))
    plan = bench.plan(options, with_llm=True)
    harness = Harness(WRITING, encoder, ScriptedChat(say), tmp_path, budget, silent)
    sync.run(bench.bench(plan, options, harness))
    # two documents of one passage; a question for each partition that is searched: plain RAG searches both, and where
    # the trusted documents do not answer (once here) the others are heard
    assert encoder.encoded == 2 + 4 + 4 * 2 + 1


def test_more_pipelines_and_questions_can_be_added_but_not_other_settings(done, file, tmp_path):
    run(file, tmp_path, pipelines=("vanilla",), limit=2)
    assert len(rows_of(tmp_path)) == 2
    run(file, tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes() == (done[0] / "results.jsonl").read_bytes()
    with pytest.raises(InputError, match="holds results with another model"):
        run(file, tmp_path, chat=ScriptedChat(say, name="another"))
    (tmp_path / "town.jsonl").write_bytes(file.read_bytes())
    other = file.rename(file.with_name("village.jsonl"))
    try:
        with pytest.raises(InputError, match="holds results with another dataset"):
            run(other, tmp_path)
    finally:
        other.rename(file)


CHILD = """
import qa_town
qa_town.run(Path(sys.argv[1]), Path(sys.argv[2]), concurrency=int(sys.argv[3]))
"""


@pytest.mark.parametrize(("lines", "concurrency"), [(1, 1), (9, 1), (20, 1), (14, 4)])
def test_a_killed_run_goes_on_with_the_same_bytes_and_asks_nothing_twice(
    done, file, tmp_path, lines, concurrency
):
    killed_after(lines, CHILD, file, tmp_path, concurrency)
    left = (tmp_path / "results.jsonl").read_bytes()
    assert left.count(b"\n") < 20
    with (tmp_path / "results.jsonl").open("ab") as out:
        out.write(b'{"dataset":"town","ite')  # what a kill in the middle of a line leaves
    run(file, tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes() == (done[0] / "results.jsonl").read_bytes()
    asked = Counter((tmp_path / "asked.jsonl").read_text().splitlines())
    twice = sum(count - 1 for count in asked.values())
    assert (
        twice <= concurrency - 1 if concurrency > 1 else twice <= 1
    )  # a request in flight when it was killed


def test_a_token_budget_stops_cleanly_and_the_next_run_goes_on(done, file, tmp_path):
    budget = RunBudget(max_tokens=300)
    summary = run(file, tmp_path, budget=budget)
    used = budget.usage.prompt_tokens + budget.usage.completion_tokens
    assert 300 <= used < 700
    assert 0 < summary.answers < 20
    assert summary.missing == 20 - summary.answers
    assert summary.stopped == f"{used} tokens are used, --max-tokens is 300"
    assert run(file, tmp_path).missing == 0
    assert (tmp_path / "results.jsonl").read_bytes() == (done[0] / "results.jsonl").read_bytes()


def test_a_budget_of_minutes_stops_too(file, tmp_path):
    ticks = iter(range(0, 10_000, 20))
    summary = run(file, tmp_path, budget=RunBudget(max_minutes=1, clock=lambda: next(ticks)))
    assert 0 < summary.answers < 20
    assert re.fullmatch(r"\d\.\d minutes are over, --max-minutes is 1", summary.stopped)


def test_a_model_that_is_away_is_noticed_and_its_questions_are_asked_again(done, file, tmp_path):
    lost = ScriptedChat([ModelUnavailable("the line is dead")] * 100, name="town-crier")
    summary = run(file, tmp_path, chat=lost)
    assert summary.failed == 16
    assert {row["reason"] for row in rows_of(tmp_path) if row["outcome"] == "failed"} == {
        "model failed: the line is dead"
    }
    run(file, tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes() == (done[0] / "results.jsonl").read_bytes()


def test_many_failures_in_a_row_stop_a_run():
    budget = RunBudget()
    for _ in range(PATIENCE - 1):
        budget.saw(failed=True)
    assert budget.stop() == ""
    budget.saw(failed=False)
    budget.saw(failed=True)
    assert budget.stop() == ""
    for _ in range(PATIENCE):
        budget.saw(failed=True)
    assert "failed one after the other" in budget.stop()


def test_the_meter_books_real_calls_only():
    budget = RunBudget()
    model = metered(ScriptedChat(["two words"] * 3, name="m"), budget)
    assert model.name == "m"
    from equipoise.core.types import Message

    sync.run(model.complete([Message("user", "one two three")]))
    assert budget.usage == Usage(1, 3, 2)


def test_what_a_question_raises_is_a_row(file, tmp_path):
    long = tmp_path / "long.jsonl"
    row = {"item_id": "q", "question": "why " * 2000, "documents": [{"doc_id": "d", "text": FERRY}]}
    long.write_text(json.dumps(row) + "\n")
    summary = run(long, tmp_path / "out", pipelines=("vanilla",))
    assert (summary.answers, summary.failed) == (1, 1)
    assert rows_of(tmp_path / "out")[0]["reason"].startswith(
        "model failed: the question has 8,000 characters"
    )


@pytest.mark.parametrize("concurrency", [1, 4])
def test_what_ends_a_run_is_one_error_and_keeps_the_rows(file, tmp_path, concurrency):
    class Flaky(HashedWords):
        def encode(self, texts):
            if any("ferry" in text for text in texts):
                raise ModelUnavailable("the encoder is gone")
            return super().encode(texts)

    options = Options(str(file), ("vanilla",))
    plan = bench.plan(options, with_llm=True)
    harness = Harness(WRITING, Flaky(64), ScriptedChat(say), tmp_path, RunBudget(), silent, concurrency)
    with pytest.raises(ModelUnavailable, match="the encoder is gone"):
        sync.run(bench.bench(plan, options, harness))
    if concurrency == 1:
        assert [row["item_id"] for row in rows_of(tmp_path)] == ["b1", "b2"]


@pytest.mark.parametrize(
    ("names", "with_llm", "why"),
    [
        ([], True, "no pipeline was named"),
        (["oracle"], True, "there is no pipeline 'oracle': choose vanilla or one of sentence"),
        (["sentence+"], True, "there is no pipeline 'sentence+'"),
        (["sentence+poem"], True, "there is no pipeline"),
        (["vanilla"], False, "'vanilla' needs a language model"),
        (["sentence+llm"], False, "needs a language model"),
        (["indexed"], False, "needs a language model"),
    ],
)
def test_a_pipeline_that_cannot_be_is_refused(names, with_llm, why):
    with pytest.raises(InputError, match=re.escape(why)):
        systems.pipelines(names, with_llm=with_llm)


def test_the_summarizer_of_a_highlighter_alone_depends_on_the_model():
    (with_llm,) = systems.pipelines(["sentence", "sentence"], with_llm=True)
    (without,) = systems.pipelines(["sentence"], with_llm=False)
    assert (with_llm.summarizer, with_llm.calls) == ("llm", 1)
    assert (without.summarizer, without.calls, without.model(None)) == ("extractive", 0, "none")


def test_the_row_key_is_the_runners(done):
    assert core.RESULTS == "results.jsonl"
    assert json.loads((done[0] / "meta.json").read_text())["model"] == "town-crier"
