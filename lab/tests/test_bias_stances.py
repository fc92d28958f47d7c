"""What a chat model says of stance in the bias benchmark: points of passages (Figure 2)."""

import json

import pytest

import bias_corpus
from bias_corpus import unrendered  # noqa: F401
from equipoise.core.errors import ModelUnavailable
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.bench.bias import asked
from equipoise_lab.bench.bias import said as told
from equipoise_lab.bench.bias.records import BiasPlan, LikertRecord
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
        kinds = {kind: sum(row["kind"] == kind for row in rows) for kind in told.GROUPS["all"]}
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
        assert "by a language model's seven points" in (tmp_path / "out" / "tables.md").read_text()
        assert {path.stem for path in (tmp_path / "out" / "figures").glob("likert-*")} == {
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
    assert asked.spread([1, 2, 3, 4], 2) == [1, 3]
    assert asked.spread([1, 2], 5) == [1, 2]


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
    (summarised,) = told.likert(rows)
    row = next(row for row in summarised["rows"] if row["group"] == "by people")
    assert (row["queries"], row["passages"], row["unscored"]) == (1, 6, 1)
    assert row["with_ps"].value == pytest.approx(0.8)  # 1 - 6 * 2 / 60: ranks 1 3 2 4 against 1 2 3 4
    assert row["auc"].value == 1.0
    assert ("benign", 1.0, -0.15) in summarised["points"]
