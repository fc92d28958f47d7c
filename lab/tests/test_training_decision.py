"""A tiny cross-encoder learns to decide, and not by the words of the question."""

import json
from dataclasses import replace
from random import Random

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'equipoise[hf]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'equipoise[hf]'")

from safetensors.torch import load_file

from broken_off import broken_off
from equipoise.core.errors import InputError
from equipoise_lab.maths.measures import auc
from equipoise_lab.training import leaflets
from equipoise_lab.training.checkpoints import read_metrics
from equipoise_lab.training.decision import (
    DecisionPlan,
    _likes,
    _swapped,
    by_words,
    made_of,
    train_decision,
)
from test_training_reader import cross_encoder, save


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    made = tmp_path_factory.mktemp("decision")
    cross_encoder(made / "base", layers=3, seed=2, initializer_range=0.15)
    data = (save(made / "first", [f"town{n}" for n in range(5)]),)
    return DecisionPlan(
        data=data, leaflets=0, base=made / "base", out=made / "out", layers=2, epochs=20, batch=8, learning_rate=1e-2,
        max_tokens=60, checkpoint_every=20,
    )  # fmt: skip


@pytest.fixture(scope="module")
def adapter(plan):
    return train_decision(plan)


def test_it_learns_low_rank_changes_of_the_upper_layers(plan, adapter):
    losses = [row["loss"] for row in read_metrics(plan.out / "metrics.jsonl")]
    assert sum(losses[-10:]) < sum(losses[:10]) * 0.8
    learnt = load_file(adapter)
    layers = {name.split(".")[3] for name in learnt if ".layer." in name}
    assert layers == {"1", "2"}
    assert learnt["bert.encoder.layer.1.attention.self.query.a"].shape == (32, 8)
    assert {"bert.pooler.dense.weight", "classifier.weight"} <= set(learnt)


def test_a_run_that_was_broken_off_ends_with_the_same_numbers(plan, adapter, tmp_path, monkeypatch):
    again = broken_off(train_decision, plan, tmp_path / "out", monkeypatch, step=20)
    assert (again.out / "metrics.jsonl").read_bytes() == (plan.out / "metrics.jsonl").read_bytes()
    with pytest.raises(InputError, match=r"differs in layers.*another --out"):
        train_decision(replace(again, layers=1))


def asked(number, *, answerable):
    windows = [{"text": f"Town\nwindow {number}.{n}", "gold": answerable and n == 4} for n in range(5)]
    return {"set": f"s{number}", "question": "How much?", "answerable": answerable, "windows": windows}


def test_a_question_is_also_read_without_its_answer():
    made = made_of([asked(n, answerable=n % 2 == 0) for n in range(8)], Random(1))
    yes = [example for example in made if example.answered]
    assert len(yes) == 4
    assert all(
        f"{2 * n}.4" in example.text and example.text.count("Town") == 1 for n, example in enumerate(yes)
    )
    assert all(
        ".4" not in example.text for example in made if not example.answered and "Town" in example.text
    )
    assert len(made) >= 12


def test_a_word_of_the_answer_is_swapped_for_one_of_its_kind():
    row = {"set": "s", "question": "Who sold the mill?", "answerable": True}
    row |= {"windows": [{"text": "Kardon sold the mill.", "gold": True}, {"text": "A gate.", "gold": False}]}
    likes = {"mill": ["barn", "gate"], "who": ["what"]}
    made = [example for n in range(60) for example in _swapped(row, likes, Random(n))]
    assert {example.question for example in made} == {"Who sold the barn?"}  # a gate is there
    assert not any(example.answered for example in made)
    assert 5 < len(made) < 40
    assert not list(_swapped(row | {"windows": row["windows"][1:]}, likes, Random(1)))


def test_words_are_like_others_of_their_kind():
    questions = [f"How {verb} the {pet} {where}?" for verb in ("feed", "wash", "keep", "find")
                 for pet in ("dog", "kitten", "rabbit") for where in ("outside", "today")]  # fmt: skip
    likes = _likes(questions)
    assert {"kitten", "rabbit"} <= set(likes)
    assert "rabbit" in likes["kitten"]
    assert not any(word in near for word, near in likes.items())
    assert "the" not in likes


def test_of_each_two_questions_about_leaflets_one_has_no_answer():
    rows = list(leaflets.questions(400, Random(4)))
    assert [row["answerable"] for row in rows] == [True, False] * 200
    for row in rows:
        gold = [window["text"] for window in row["windows"] if window["gold"]]
        assert len(gold) == row["answerable"]
        assert "{" not in row["question"] + "".join(window["text"] for window in row["windows"])
    titles = [row["windows"][0]["text"].split("\n")[0] for row in rows]
    asked = [row["question"] for row in rows]
    answered = [row["answerable"] for row in rows]
    assert 0.3 < auc(by_words(asked, answered, titles), answered) < 0.7  # the words give nothing away


def test_the_words_say_what_they_say_in_other_sets():
    questions = ["How much is it?", "Where is it?"] * 40
    sets = [f"s{n // 4}" for n in range(80)]
    answered = [question.startswith("Where") for question in questions]
    assert auc(by_words(questions, answered, sets), answered) == 1.0
    draw = Random(3)
    chance = [draw.random() < 0.5 for _ in questions]
    assert 0.2 < auc(by_words(questions, chance, sets), chance) < 0.8


def test_what_was_asked_is_kept(plan, adapter):
    rows = [json.loads(line) for line in (plan.out / "asked.jsonl").open()]
    assert {row["answerable"] for row in rows} == {True, False}
    assert any(window["gold"] for row in rows for window in row["windows"])
    assert not any(window["gold"] for row in rows if not row["answerable"] for window in row["windows"])
