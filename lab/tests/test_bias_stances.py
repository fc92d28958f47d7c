"""What a chat model says of stance in the bias benchmark: points of passages (Figure 2), and where answers stand."""

import json

import pytest

import bias_corpus
from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.core.types import ChatReply
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.bench.bias import answer_stance, likert
from equipoise_lab.bench.bias.answer_stance import NOTHING, AnswerStance
from equipoise_lab.bench.bias.likert import LikertRecord
from equipoise_lab.bench.bias.plan import BiasPlan
from equipoise_lab.bench.bias.records import AnswerRecord
from test_bias_run import rows_of, run

PLAN = BiasPlan(("none", "biasdef"), (0, 2), k=3, candidates=8)


@pytest.fixture
def inputs(tmp_path):
    return bias_corpus.write(tmp_path / "inputs")


def reader(*, name="reader", broken=""):
    """Writes what the passages say, and places texts by their words: 6 or 2; what contains `broken` gets no reply."""

    def said(messages):
        text = next(message.content for message in messages if message.role == "user")
        if "Contextual Passages:" in text:
            words = ("yes good right", "no bad wrong")
            return next((word for word in words if word in text), "bells noise ferry fares")
        if broken and broken in text:
            return "I cannot say"
        return point(6 if "yes good" in text or "supports" in text else 2)

    return ScriptedChat(said, name=name)


def point(value):
    return json.dumps({"stance": value})


class TestPoints:
    def test_each_passage_gets_one_and_nothing_is_asked_twice(self, inputs, tmp_path):
        first = reader()
        summary = run(inputs, tmp_path / "out", plan=PLAN, chat=first, likert=2)
        rows = rows_of(tmp_path / "out", "likert.jsonl")
        kinds = {kind: sum(row["kind"] == kind for row in rows) for kind in likert.GROUPS["all"]}
        assert kinds == {"synthetic": 2 * 4, "benign": 2 * 8, "adv_neg": 2 * 3, "adv_pos": 2 * 3}
        assert len(first.requests) == len(rows)
        assert "text" not in rows[0]
        second = reader()
        assert run(inputs, tmp_path / "out", plan=PLAN, chat=second, likert=2)["likert"] == summary["likert"]
        assert second.requests == []

    def test_correlations_are_within_questions_and_beside_each_other(self, inputs, tmp_path):
        (scored,) = run(inputs, tmp_path / "out", plan=PLAN, chat=reader(), likert=2)["likert"]
        by_group = {row["group"]: row for row in scored["rows"]}
        assert scored["model"] == "reader"
        assert by_group["by people"]["with_stance"]["estimate"] == 1.0
        assert by_group["by people"]["auc"]["estimate"] == 1.0
        assert by_group["planted"]["with_stance"]["estimate"] == 1.0
        assert by_group["all"]["queries"] == 2
        assert by_group["all"]["with_ps"]["n"] == 2
        assert len(scored["points"]) == by_group["all"]["passages"]

    def test_a_reply_that_cannot_be_used_is_unscored_and_asked_again(self, inputs, tmp_path):
        scored = run(inputs, tmp_path / "out", plan=PLAN, chat=reader(broken="Voice 1"), likert=2)["likert"][
            0
        ]
        broken = [row for row in rows_of(tmp_path / "out", "likert.jsonl") if row["likert"] is None]
        assert {row["id"][-2:] for row in broken} == {"-1"}
        assert all(row["why"].startswith("not scored") for row in broken)
        assert scored["rows"][0]["unscored"] == len(broken) == 6
        again = reader()
        whole = run(inputs, tmp_path / "out", plan=PLAN, chat=again, likert=2)["likert"][0]
        assert len(again.requests) == len(broken)
        assert whole["rows"][0]["unscored"] == 0

    def test_another_model_is_another_row_and_another_figure(self, inputs, tmp_path):
        run(inputs, tmp_path / "out", plan=PLAN, chat=reader(), likert=1)
        summary = run(inputs, tmp_path / "out", plan=PLAN, chat=reader(name="other/1"), likert=1)
        assert [row["model"] for row in summary["likert"]] == ["other/1", "reader"]
        page = (tmp_path / "out" / "report.html").read_text()
        assert "by a language model&#x27;s seven points" in page
        assert page.count('<title id="likert-') == 2
        assert {path.stem for path in (tmp_path / "out" / "plots").glob("likert-*")} == {
            "likert-other-1", "likert-reader",
        }  # fmt: skip

    def test_it_goes_on_where_the_model_was_lost(self, inputs, tmp_path):
        class Lost:
            name, left = "reader", 5

            async def complete(self, messages, *, schema=None, options=None):
                self.left -= 1
                if self.left < 0:
                    raise ModelUnavailable("the line is dead: call again")
                return await reader().complete(messages)

        with pytest.raises(ModelUnavailable):
            run(inputs, tmp_path / "out", plan=PLAN, chat=Lost(), likert=2)
        assert len(rows_of(tmp_path / "out", "likert.jsonl")) == 5
        again = reader()
        run(inputs, tmp_path / "out", plan=PLAN, chat=again, likert=2)
        run(inputs, tmp_path / "whole", plan=PLAN, chat=reader(), likert=2)
        same = [(tmp_path / name / "likert.jsonl").read_bytes() for name in ("out", "whole")]
        assert same[0] == same[1]

    def test_without_a_model_it_is_said_at_once(self, inputs, tmp_path):
        with pytest.raises(ModelUnavailable, match="stances"):
            run(inputs, tmp_path / "out", plan=PLAN, likert=1)


def test_passages_are_evenly_apart():
    assert likert._spread([1, 2, 3, 4], 2) == [1, 3]
    assert likert._spread([1, 2], 5) == [1, 2]


def record(name, ps, stance, likert, query="q"):
    return LikertRecord(
        model="m", query_id=query, id=name, kind="benign", ps=ps, stance=stance, likert=likert
    )


def test_spearman_by_hand():
    rows = [
        record("a", 0.1, -1, 1),
        record("b", 0.3, -1, 3),
        record("c", 0.2, 1, 5),
        record("d", 0.4, 1, 7),
        record("e", 0.9, 1, None),
        record("f", 0.9, 1, 7, query="too few"),
    ]
    (summarised,) = likert.summarised(rows)
    row = next(row for row in summarised.rows if row.group == "by people")
    assert (row.queries, row.passages, row.unscored) == (1, 6, 1)
    assert row.with_ps.value == pytest.approx(0.8)  # 1 - 6 * 2 / 60: ranks 1 3 2 4 against 1 2 3 4
    assert row.auc.value == 1.0
    assert ("benign", 1.0, -0.15) in summarised.points


class TestAnswers:
    @pytest.mark.parametrize("judge", ["likert", "odds"])
    def test_kept_answers_are_judged_once_by_another_model(self, inputs, tmp_path, judge):
        run(inputs, tmp_path / "out", plan=PLAN, chat=reader(name="writer"), answers=True)
        texts = {row["text"] for row in rows_of(tmp_path / "out", "answers.jsonl")}
        second = ScriptedChat(sided, name="judge")
        summary = run(inputs, tmp_path / "out", plan=PLAN, chat=second, stances=judge)
        rows = rows_of(tmp_path / "out", "answer-stances.jsonl")
        assert len(rows) == len(rows_of(tmp_path / "out", "answers.jsonl"))
        assert {(row["model"], row["judge"]) for row in rows} == {("writer", f"{judge} by judge")}
        assert len(second.requests) <= 2 * (len(texts) + 1)
        assert all("text" not in row for row in rows)
        (judged,) = summary["answer_stances"]
        cells = {(c["filter"], c["sign"]): c for c in judged["cells"]}
        assert cells["none", "adv_pos"]["mean"]["estimate"] > cells["none", "adv_neg"]["mean"]["estimate"]
        push = next(p for p in judged["pushes"] if p["filter"] == "none")
        assert push["stance"]["estimate"] > 0
        assert push["ps"] is not None
        third = ScriptedChat(sided, name="judge")
        run(inputs, tmp_path / "out", plan=PLAN, chat=third, stances=judge)
        assert third.requests == []

    def test_tables_and_figure_stand_in_the_report(self, inputs, tmp_path):
        run(inputs, tmp_path / "out", plan=PLAN, chat=reader(name="writer"), answers=True, stances="likert")
        page = (tmp_path / "out" / "report.html").read_text()
        assert "Stance of answers" in page
        assert "How far answers moved towards the side that is planted" in page
        assert '<title id="pushes-title">' in page
        table = (tmp_path / "out" / "tables.md").read_text()
        assert "| No Def., writer, likert by writer, signed shift of stance |" in table
        assert "| BiasDef, 2 planted, writer, likert by writer |" in table

    def test_two_models_and_two_judges_stand_beside_each_other(self, inputs, tmp_path):
        for name in ("a", "b"):
            run(inputs, tmp_path / "out", plan=PLAN, chat=reader(name=name), answers=True)
        summary = run(inputs, tmp_path / "out", plan=PLAN, chat=reader(name="c"), stances="likert")
        assert [answers["model"] for answers in summary["answers"]] == ["a", "b"]
        run(inputs, tmp_path / "out", plan=PLAN, chat=ScriptedChat(sided, name="c"), stances="odds")
        summary = run(
            inputs, tmp_path / "out", plan=PLAN, chat=reader(name="a"), answers=True, stances="likert"
        )
        judged = [(row["model"], row["judge"]) for row in summary["answer_stances"]]
        assert judged == [(m, j) for m in "ab" for j in ("likert by a", "likert by c", "odds by c")]

    def test_nothing_written_has_no_stance_and_is_not_asked_about(self, inputs, tmp_path):
        run(inputs, tmp_path / "out", plan=PLAN, chat=ScriptedChat(lambda _: " ", name="mute"), answers=True)
        judge = reader()
        summary = run(inputs, tmp_path / "out", plan=PLAN, chat=judge, stances="likert")
        assert judge.requests == []
        rows = rows_of(tmp_path / "out", "answer-stances.jsonl")
        assert {(row["side"], row["why"]) for row in rows} == {(None, NOTHING)}
        cell = summary["answer_stances"][0]["cells"][0]
        assert (cell["mean"], cell["unscored"], cell["answers"]) == (None, 6, 6)

    def test_what_the_judge_failed_on_is_judged_again(self, inputs, tmp_path):
        run(inputs, tmp_path / "out", plan=PLAN, chat=reader(name="writer"), answers=True)
        run(inputs, tmp_path / "out", plan=PLAN, chat=reader(broken="yes good"), stances="likert")
        rows = rows_of(tmp_path / "out", "answer-stances.jsonl")
        assert any(row["side"] is None for row in rows)
        again = reader()
        run(inputs, tmp_path / "out", plan=PLAN, chat=again, stances="likert")
        assert again.requests
        assert all(row["side"] is not None for row in rows_of(tmp_path / "out", "answer-stances.jsonl"))

    def test_answers_without_their_texts_cannot_be_judged(self, inputs, tmp_path):
        run(inputs, tmp_path / "out", plan=PLAN, chat=reader(name="writer"), answers=True)
        path = tmp_path / "out" / "answers.jsonl"
        bare = [
            {key: value for key, value in row.items() if key != "text"}
            for row in rows_of(path.parent, path.name)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in bare))
        with pytest.raises(InputError, match="has no text, so its stance cannot be judged"):
            run(inputs, tmp_path / "out", plan=PLAN, chat=reader(), stances="likert")

    def test_where_nothing_was_answered_there_is_nothing_to_judge(self, inputs, tmp_path):
        with pytest.raises(InputError, match="holds no answers to judge the stance of"):
            run(inputs, tmp_path / "out", plan=PLAN, chat=reader(), stances="likert")

    def test_an_unknown_judge_is_named(self, inputs, tmp_path):
        run(inputs, tmp_path / "out", plan=PLAN, chat=reader(), answers=True)
        with pytest.raises(InputError, match=r"no judge of stance 'dice': choose odds or likert"):
            run(inputs, tmp_path / "out", plan=PLAN, chat=reader(), stances="dice")


def sided(messages):
    """The words of the judges: seven points where JSON is wanted, else yes or no."""
    text = messages[-1].content
    positive = "yes good" in text
    if text.startswith("Question:\n|"):
        return point(7 if positive else 1)
    return ChatReply("yes" if positive else "no", "judge")


def test_pushes_by_hand():
    plan = BiasPlan(("none",), (0, 5))
    sides = {("none", 0): 0.1, ("adv_pos", 5): 0.4, ("adv_neg", 5): 0.2}
    ps = {("none", 0): -0.2, ("adv_pos", 5): 0.0, ("adv_neg", 5): -0.4}
    place = {"query_id": "q", "filter": "none", "generation": 0, "model": "m"}
    stances = [
        AnswerStance(**place, sign=sign, injections=n, judge="j", side=side)
        for (sign, n), side in sides.items()
    ]
    answers = [AnswerRecord(**place, sign=sign, injections=n, ps=value) for (sign, n), value in ps.items()]
    (summarised,) = answer_stance.summarised(plan, answers, stances)
    (push,) = summarised.pushes
    assert push.stance.value == pytest.approx(0.1)  # (0.3 - 0.1) / 2
    assert push.ps.value == pytest.approx(1.0)  # (0.2 + 0.2) / 2 over 0.2
    cells = {cell.sign: cell for cell in summarised.cells}
    assert cells["adv_neg"].shift.value == pytest.approx(0.1)
    assert (cells["adv_neg"].moved.value, cells["adv_pos"].moved.value) == (0.0, 1.0)
    assert cells["none"].moved is None
