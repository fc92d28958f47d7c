"""The reader is trained for real, on a tiny cross-encoder: it learns and resumes."""

import json
import lzma
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
from equipoise_lab.training import reader
from equipoise_lab.training.checkpoints import read_metrics
from equipoise_lab.training.reader import ReaderPlan, groups, is_held_out, train_reader
from tiny_qa import word_tokenizer

THINGS = ("bridge", "mill", "tower", "gate", "well", "barn", "quay", "school")
TEXTS = (
    "Town",
    "Who built the ?",
    *THINGS,
    "The was built by Kardon . The was sold in spring . A map shows it .",
)


def rows(name, number):
    """A passage of three units about a thing; who built it is answered by the first, one question in four by none."""
    thing = THINGS[number]
    units = [f"The {thing} was built by Kardon .", f"The {thing} was sold in spring .", "A map shows it ."]
    starts = [0, len(units[0]) + 1, len(units[0]) + len(units[1]) + 2]
    cut = [[start, start + len(unit), "Town", 0] for start, unit in zip(starts, units, strict=True)]
    passage = {
        "passage": f"{name}:{number}",
        "title": "Town",
        "headings": [],
        "text": " ".join(units),
        "units": cut,
    }
    near = [f"{name}:{other}" for other in range(8) if other != number]
    gold = [] if number % 4 == 3 else [0]
    asked = f"Who built the {thing} ?" if gold else f"Who sold the {thing} ?"
    question = {
        "id": f"{name}:{number}",
        "set": name,
        "passage": f"{name}:{number}",
        "kind": "plain",
        "question": asked,
        "gold": gold,
        "near": near,
    }
    return passage, question


def save(folder, names):
    folder.mkdir()
    made = [rows(name, number) for name in names for number in range(8)]
    for file, part in (("passages", 0), ("questions", 1)):
        with lzma.open(folder / f"{file}.jsonl.xz", "wt") as out:
            out.writelines(json.dumps(pair[part]) + "\n" for pair in made)
    return folder


def cross_encoder(folder, *, layers, seed, **more):
    """A tiny one of so many layers, with its tokenizer."""
    torch.manual_seed(seed)
    tokenizer = word_tokenizer(transformers, TEXTS)
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "intermediate_size": 64,
    }
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=64, num_labels=1, **sizes, **more
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """A tiny published cross-encoder, and two folders of questions."""
    made = tmp_path_factory.mktemp("reader")
    cross_encoder(made / "base", layers=2, seed=0)
    data = (save(made / "first", [f"town{n}" for n in range(10)]), save(made / "second", ["village", "port"]))
    return ReaderPlan(
        data=data, base=made / "base", out=made / "out", epochs=8, learning_rate=3e-3, max_tokens=60, freeze=0,
        dropout=0.0, checkpoint_every=20,
    )  # fmt: skip


@pytest.fixture(scope="module")
def trained(plan):
    return train_reader(plan)


def test_it_learns_which_text_answers(plan, trained):
    losses = read_metrics(plan.out / "metrics.jsonl")
    first, last = losses[:10], losses[-10:]
    assert sum(row["loss"] for row in last) < sum(row["loss"] for row in first) / 2
    weights = load_file(trained / "model.safetensors")
    base = load_file(plan.base / "model.safetensors")
    assert set(weights) == set(base)


def test_what_it_leaves_is_a_cross_encoder_of_transformers(plan, trained):
    weights = load_file(trained / "model.safetensors")
    model = transformers.BertForSequenceClassification.from_pretrained(plan.base)
    model.load_state_dict(weights)
    tokenizer = transformers.AutoTokenizer.from_pretrained(plan.base)
    texts = ["The mill was built by Kardon .", "The mill was sold in spring .", "A map shows it ."]
    inputs = tokenizer(
        ["Who built the mill ?"] * 3, [f"Town\n{text}" for text in texts], return_tensors="pt", padding=True
    )
    with torch.inference_mode():
        scores = model.eval()(**inputs).logits[:, 0].tolist()
    assert max(scores) == scores[0] > 0 > scores[2]


def test_the_same_command_again_does_nothing_and_another_is_refused(plan, trained):
    before = (plan.out / "metrics.jsonl").read_bytes()
    assert train_reader(plan) == trained
    assert (plan.out / "metrics.jsonl").read_bytes() == before
    with pytest.raises(InputError, match=r"differs in learning_rate.*another --out"):
        train_reader(replace(plan, learning_rate=1e-3))


def test_a_run_that_was_broken_off_ends_with_the_same_numbers(plan, trained, tmp_path, monkeypatch):
    again = broken_off(train_reader, plan, tmp_path / "out", monkeypatch, step=40)
    assert (again.out / "metrics.jsonl").read_bytes() == (plan.out / "metrics.jsonl").read_bytes()


@pytest.mark.parametrize(("kept", "share"), [(0.0, 0.5), (0.5, 0.75)])
def test_a_start_is_mixed_with_the_base_before_and_with_the_trained_after(
    plan, trained, tmp_path, kept, share
):
    half = replace(
        plan, start=trained, start_share=0.5, start_kept=kept, groups=8, epochs=1, learning_rate=1e-12,
        out=tmp_path / "o",
    )  # fmt: skip
    mixed, ours, base = (load_file(f / "model.safetensors") for f in (train_reader(half), trained, plan.base))
    name = "classifier.weight"
    assert torch.allclose(mixed[name], base[name] + share * (ours[name] - base[name]), atol=1e-6)


def test_held_out_sets_are_not_trained_on(plan):
    names = [f"town{n}" for n in range(10)]
    apart = {name for name in names if is_held_out({"set": name, "passage": f"{name}:0"})}
    assert apart
    own = [is_held_out({"set": "own-a", "passage": f"own-a:{n}"}) for n in range(70)]
    assert {True, False} == set(own)  # short documents of one set: held out one by one
    kept = list(groups(plan.data[0], Random(1), lambda row: row["set"] not in apart))
    assert len(kept) == 8 * (len(names) - len(apart))


def test_the_first_text_answers_and_near_misses_have_none(plan):
    for group in groups(plan.data[0], Random(1), lambda row: True):
        assert group.answered == ("built" in group.question)
        thing = group.question.split()[-2]
        assert f"The {thing} was" in group.texts[0]
        if group.answered:
            assert "was built by Kardon" in group.texts[0]
            assert group.texts[0] not in group.texts[1:]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"batch": 999}, "questions to train on: --batch 999 needs more"),
        ({"data": ("absent",)}, "is not there"),
        ({"base": "absent"}, r"absent"),
    ],
)
def test_what_cannot_be_used_is_said(plan, tmp_path, change, said):
    wrong = {
        name: tmp_path / value if name == "base" else (tmp_path / value[0],) if name == "data" else value
        for name, value in change.items()
    }
    with pytest.raises(InputError, match=said):
        train_reader(replace(plan, out=tmp_path / "out", **wrong))


def test_lengths_of_questions_and_texts_are_bounded(plan, tmp_path):
    run = reader._Run(replace(plan, out=tmp_path, max_tokens=20))
    feed = run._feed([("Who built the mill ? " * 50, "A map shows it . " * 50)])
    assert feed["ids"].shape[1] <= 20 + reader.QUESTION
