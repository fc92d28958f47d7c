"""A tiny cross-encoder really learns what the package's says of passages, and a run resumes."""

import json
from dataclasses import replace
from random import Random

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'equipoise[hf]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'equipoise[hf]'")

import torch
import transformers
from safetensors.torch import load_file

from broken_off import broken_off
from equipoise.core.errors import InputError
from equipoise.models.crossencoder import READER
from equipoise_lab.evaluation.results import Lines
from equipoise_lab.training.checkpoints import read_metrics
from equipoise_lab.training.ranking import KEY, RankingPlan, _as_asked, distil, read_for
from test_training_reader import cross_encoder, save

LAYERS = 4


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    made = tmp_path_factory.mktemp("ranking")
    cross_encoder(made / "teacher", layers=LAYERS, seed=1, initializer_range=0.15)
    data = (save(made / "first", [f"town{n}" for n in range(5)]), save(made / "second", ["village", "port"]))
    return RankingPlan(
        data=data, teacher=made / "teacher", out=made / "out", kept=1, copied=(2, 3), epochs=60, batch_tokens=500,
        learning_rate=3e-3, max_tokens=60, checkpoint_every=20,
    )  # fmt: skip


@pytest.fixture(scope="module")
def trained(plan):
    return distil(plan)


def scores(folder, pairs):
    model = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]"
    )
    how = {"padding": True, "truncation": True, "max_length": 60, "return_token_type_ids": True}
    inputs = tokenizer(*map(list, zip(*pairs, strict=True)), return_tensors="pt", **how)
    with torch.inference_mode():
        return model(**inputs).logits[:, 0]


def test_it_scores_as_the_reader_with_fewer_layers(plan, trained):
    losses = [row["loss"] for row in read_metrics(plan.out / "metrics.jsonl")]
    assert sum(losses[-5:]) < sum(losses[:5]) / 4
    rows = map(json.loads, (plan.out / "pairs.jsonl").open())
    pairs = [(row["question"], *pair) for row in rows for pair in row["said"]]
    questions, texts, said = zip(*pairs, strict=True)
    ours = scores(trained, list(zip(questions, texts, strict=True)))
    assert torch.corrcoef(torch.stack([torch.tensor(said), ours]))[0, 1] > 0.9


def test_it_learns_from_passages_as_they_are_ranked(plan, tmp_path):
    with Lines(tmp_path / "pairs.jsonl", KEY) as lines:
        read_for(plan.data[0], 4, 1, lines, lambda done, total, what: None)
        told = [(row["question"], *pair) for row in lines.rows() for pair in row["said"]]
    assert all(text.count(".") == 3 for _, text, _ in told)
    assert any(question.startswith("Who built the ") for question, *_ in told)
    assert all(score == READER.scores(question, [text])[0] for question, text, score in told)


def test_what_is_kept_is_the_teachers(plan, trained):
    ours, theirs = (load_file(folder / "model.safetensors") for folder in (trained, plan.teacher))
    kept = ("bert.embeddings.", "bert.encoder.layer.0.")
    assert all(torch.equal(values, theirs[name]) for name, values in ours.items() if name.startswith(kept))
    layers = {name.split(".")[3] for name in ours if name.startswith("bert.encoder.layer.")}
    assert layers == {"0", "1", "2"}


def test_a_run_that_was_broken_off_ends_with_the_same_numbers(plan, trained, tmp_path, monkeypatch):
    again = broken_off(distil, plan, tmp_path / "out", monkeypatch, step=20)
    assert (again.out / "metrics.jsonl").read_bytes() == (plan.out / "metrics.jsonl").read_bytes()
    with pytest.raises(InputError, match=r"differs in kept.*another --out"):
        distil(replace(again, kept=2))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"data": ("absent",)}, "is not there"),
        ({"teacher": "absent"}, "is not there"),
        ({"copied": (LAYERS,)}, "the layers that are kept and copied"),
        ({"kept": 3, "copied": (2,)}, "the layers that are kept and copied"),
    ],
)
def test_what_cannot_be_used_is_said(plan, tmp_path, change, said):
    places = {"data": lambda v: (tmp_path / v[0],), "teacher": lambda v: tmp_path / v}
    wrong = {name: places.get(name, lambda v: v)(value) for name, value in change.items()}
    with pytest.raises(InputError, match=said):
        distil(replace(plan, out=tmp_path / "out", **wrong))


def test_questions_are_asked_in_other_ways_too():
    question, before, text = (
        "When is the kiosk open on Sundays?",
        "Who sells bait?",
        "Kiosk: Pier; Sunday: 9 to 4",
    )
    asked = {_as_asked(question, before, text, Random(n)) for n in range(300)}
    assert {
        question,
        "When open",
        "What is the sunday of Pier?",
        "Pier sunday",
        f"{before} {question}",
    } <= asked
    assert any(
        len(words) == len(question.split()) and words != question.split() for words in map(str.split, asked)
    )
