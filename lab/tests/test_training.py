"""Training for real, on a tiny encoder: train, save, load, highlight; kill and go on."""

import json
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'equipoise[hf]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'equipoise[hf]'")
pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'equipoise-lab[bench]'")

import torch
import transformers

import tiny_encoder
from equipoise.core import sync
from equipoise.core.errors import InputError, MissingExtra, ModelUnavailable
from equipoise.core.protocols import Highlighter
from equipoise.core.settings import HighlightSettings, Settings
from equipoise.core.types import Passage, Query
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise_lab.training import checkpoints, extras, heads
from equipoise_lab.training.batches import epoch, labelled, tensors
from equipoise_lab.training.evaluation import quality
from equipoise_lab.training.examples import Example, read_examples
from equipoise_lab.training.heads import BestSpan
from equipoise_lab.training.loop import Loop, Schedule, chosen_precision, rate_share
from equipoise_lab.training.run import TrainingPlan, train
from processes import ENVIRONMENT, held

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
QUICK = Schedule(epochs=8, batch=8, learning_rate=3e-3, evaluate_every=20, checkpoint_every=10, patience=99)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny base and 300 examples."""
    made = tmp_path_factory.mktemp("training")
    tiny_encoder.save(made / "base")
    rows = tiny_encoder.rows(300)
    (made / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return made


@pytest.fixture(scope="module")
def plan(folder):
    return TrainingPlan(
        (folder / "data.jsonl",), str(folder / "base"), folder / "out", "answer", max_tokens=64
    )


@pytest.fixture(scope="module")
def trained(plan):
    """(what `train` returned, its folder)."""
    return train(plan, QUICK), plan.out


def metrics(out):
    return (out / "metrics.jsonl").read_bytes()


class TestWholeRun:
    def test_it_learned_and_says_so(self, trained):
        done, out = trained
        summary = json.loads((out / "metrics.json").read_text())
        assert summary["best"] == done.best
        assert done.best["evidence_hit"] > 0.9
        assert done.best["decline_f1"] > 0.9
        rows = [json.loads(line) for line in metrics(out).splitlines()]
        losses = [row["loss"] for row in rows if "rate" in row]
        assert len(losses) == done.updates == summary["updates"]
        assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])
        assert (out / "loss.png").read_bytes().startswith(b"\x89PNG")

    def test_it_highlights_from_the_saved_folder_by_the_settings(self, trained):
        wanted = HighlightSettings(name="extractive_qa", qa_model=str(trained[0].model))
        components = Components(Settings(highlight=wanted), store=None, encoder=None)
        highlighter = build.make("highlighter", build.HIGHLIGHTERS, wanted.name, components)
        assert isinstance(highlighter, Highlighter)
        texts = {
            "town": "The town was built in 1812. The honey was sold.",
            "bridge": "The mill was sold. The bridge was built by Kardon.",
        }
        when, who = (Passage(n, name, 40, 40 + len(t), t) for n, (name, t) in enumerate(texts.items()))

        def ask(question, *passages):
            proposal = sync.run(highlighter.highlight(Query(question), passages))
            return [texts[s.doc_id][s.start - 40 : s.end - 40] for s in proposal.spans]

        assert ask("Who built the bridge?", when, who) == ["The bridge was built by Kardon."]
        assert "1812" in ask("When was built the town?", when, who)[0]

    def test_the_same_command_again_does_nothing(self, trained, plan):
        done, out = trained
        before = metrics(out)
        again = train(plan, QUICK)
        assert again.updates == 0
        assert (again.best, metrics(out)) == (done.best, before)

    def test_another_run_may_not_have_the_folder(self, trained, plan):
        with pytest.raises(InputError, match=r"differs in learning_rate.*another --out"):
            train(plan, replace(QUICK, learning_rate=1e-3))


def test_the_span_model_is_one_for_question_answering(plan, trained):
    done, _ = trained
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(done.model)
    tokenizer = transformers.AutoTokenizer.from_pretrained(done.model)
    inputs = tokenizer("Who built the mill?", "The mill was built by Talu.", return_tensors="pt")
    with torch.inference_mode():
        out = model(**inputs)
    assert out.start_logits.shape == inputs["input_ids"].shape


TRAIN = """
import sys
from equipoise.apps.cli import main
sys.argv = ["equipoise", *sys.argv[1:]]
main()
"""
AFTER_CHECKPOINTS = """
from equipoise_lab.training import checkpoints
save, left = checkpoints.save, 3
def counted(folder, name, state):
    global left
    save(folder, name, state)
    left -= name == checkpoints.CHECKPOINT
    if not left:
        hold()
checkpoints.save = counted
"""


def options(plan, out):
    given = f"--base {plan.base} --data {plan.data[0]} --target answer --out {out}"
    more = (
        "--max-tokens 64 --epochs 2 --batch 8 --learning-rate 3e-3 --evaluate-every 20 --checkpoint-every 5"
    )
    return f"train highlighter {given} {more} --patience 9 --foreign 0".split()


def trained_whole(*words):
    return subprocess.run(
        [sys.executable, "-c", TRAIN, *words], env=ENVIRONMENT, check=True, capture_output=True, text=True
    )


def test_a_killed_run_goes_on_and_ends_with_the_same_numbers(plan, folder, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "OMP_NUM_THREADS", "1")
    whole, killed = folder / "whole", folder / "killed"
    trained_whole(*options(plan, whole))
    with held(AFTER_CHECKPOINTS + TRAIN, *options(plan, killed)) as process:
        process.send_signal(signal.SIGKILL)
    assert (killed / checkpoints.CHECKPOINT).exists()
    assert not (killed / "metrics.json").exists()
    done = trained_whole(*options(plan, killed))
    assert metrics(killed) == metrics(whole)
    for name in ("metrics.json", "model/model.safetensors"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name
    updates = int(done.stdout.split(" updates")[0].split()[-1])
    assert 0 < updates < json.loads((killed / "metrics.json").read_text())["updates"]


class Evaluations:
    """Held-out losses by turns; each call is one evaluation."""

    def __init__(self, *losses):
        self.losses = list(losses)

    def __call__(self):
        return quality([], [], "answer", self.losses.pop(0))


@pytest.fixture
def loop(plan, tmp_path):
    """A function: a loop over 60 examples with other held-out losses or settings."""
    tokenizer = heads.tokenizer_of(plan.base).backend_tokenizer
    items = labelled(read_examples(plan.data)[:60], tokenizer, "answer", 64)

    def made(evaluate, **options):
        schedule = replace(QUICK, epochs=5, batch=16, **options)
        torch.manual_seed(1)
        head = heads.SpanHead(plan.base)
        return Loop(head, items, evaluate, tmp_path, schedule=schedule, device="cpu")

    return made


def test_early_stopping_returns_to_the_best_weights(loop):
    running = loop(Evaluations(0.5, 0.4, 0.6, 0.7), evaluate_every=2, patience=2)
    weights = []
    running.fit(lambda done, total, what: weights.append(running.head.module.qa_outputs.weight.clone()))
    assert (running.state.step, running.state.over, running.total) == (8, True, 20)
    assert torch.equal(running.head.module.qa_outputs.weight, weights[3])  # after update 4, the best one


def test_accumulated_batches_are_one_large_batch(loop):
    first, second = loop(Evaluations(), warmup=0.0), loop(Evaluations(), warmup=0.0)
    for running, batches in ((first, [first.items[:10]]), (second, [second.items[:6], second.items[6:10]])):
        running.head.module.eval()  # no dropout
        running.optimizer = torch.optim.SGD(
            running.head.module.parameters()
        )  # Adam makes noise as large as a step
        running.state.step = 1
        running._update(batches)
    for left, right in zip(first.head.module.parameters(), second.head.module.parameters(), strict=True):
        assert torch.allclose(left, right, atol=1e-6)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_learns_too(loop, precision):
    running = loop(Evaluations(*[1.0] * 9), precision=precision, patience=99)
    losses = []
    running.fit(lambda done, total, what: losses.append(float(what.split()[1].strip(","))))
    assert losses[-1] < 0.7 * losses[0]
    assert next(running.head.module.parameters()).dtype == torch.float32


def test_what_auto_precision_means():
    assert chosen_precision("auto", "cpu") == "fp32"
    assert chosen_precision("fp16", "cpu") == "fp16"


def test_frozen_layers_stay(loop, plan):
    head = heads.SpanHead(plan.base)
    heads.freeze(head, 1)
    layers = head.encoder.encoder.layer
    frozen = {p.requires_grad for part in (head.encoder.embeddings, layers[0]) for p in part.parameters()}
    assert (frozen, {p.requires_grad for p in layers[1].parameters()}) == ({False}, {True})
    with pytest.raises(InputError, match="3 layers cannot be frozen: this model has 2"):
        heads.freeze(head, 3)


def test_the_rate_rises_and_falls():
    shares = [rate_share(step, 10, 0.2) for step in range(1, 11)]
    assert shares == pytest.approx([1 / 2, 1, 8 / 9, 7 / 9, 6 / 9, 5 / 9, 4 / 9, 3 / 9, 2 / 9, 1 / 9])
    assert rate_share(1, 4, 0.0) == pytest.approx(4 / 5)


def test_an_epoch_holds_every_window_once_in_an_order_of_its_own(loop):
    items = loop(Evaluations()).items
    first, again, second = (list(epoch(items, 7, seed=3, number=n)) for n in (0, 0, 1))
    assert first == again
    assert first != second
    seen = sorted(item.example for batch in first for item in batch)
    assert seen == sorted(item.example for item in items)


def test_labels_and_tensors(plan):
    tokenizer = heads.tokenizer_of(plan.base).backend_tokenizer
    text = "The mill was sold. The bridge was built by Kardon."
    example = Example("Who built it?", text, "d", answers=((43, 49),))
    none = Example("Who?", "The mill was sold.", "d")
    items = labelled([example, none], tokenizer, "answer", 64)
    assert items[0].tokens == (
        16,
        16,
    )  # [CLS] who built it ? [SEP] the mill was sold . the bridge was built by kardon
    batch = tensors(items, "cpu")
    assert batch["tokens"].tolist() == [[16, 16], [0, 0]]
    assert batch["attention_mask"].sum(1).tolist() == [19, 10]


def test_quality_by_hand():
    examples = [
        Example("a", "x" * 50, "d", answers=((10, 20),)),  # found
        Example("b", "x" * 50, "d", answers=((10, 20),)),  # found, but declined
        Example("c", "x" * 50, "d", answers=((10, 20),)),  # wrong place
        Example("d", "x" * 50, "d"),  # declined
        Example("e", "x" * 50, "d"),  # not declined
    ]
    best = [
        BestSpan((0, 11), 3.0),
        BestSpan((19, 30), -1.0),
        BestSpan((0, 10), 1.0),
        BestSpan((0, 9), -2.0),
        BestSpan((0, 9), 2.0),
    ]
    measured = quality(best, examples, "answer", 0.5)
    assert (measured.examples, measured.answerable, measured.loss) == (5, 3, 0.5)
    assert measured.best_is_gold == pytest.approx(2 / 3)
    assert measured.evidence_hit == pytest.approx(1 / 3)
    assert (measured.decline_precision, measured.decline_recall, measured.decline_f1) == (0.5, 0.5, 0.5)
    assert measured.auc == pytest.approx(4 / 6)  # 3 > 2, 3 > -2, -1 > -2, 1 > -2
    assert quality([], [], "answer", 0.0).evidence_hit is None


def test_errors_of_the_trainer(plan, tmp_path):
    fresh = replace(plan, out=tmp_path / "out")
    with pytest.raises(InputError, match="max-tokens 500 is too long: this model has 128"):
        train(replace(fresh, max_tokens=500), QUICK)
    with pytest.raises(InputError, match="documents are in --data and in --held-out-data"):
        train(replace(fresh, held_out_data=plan.data, out=tmp_path / "b"), QUICK)
    with pytest.raises(ModelUnavailable, match=r"none-here cannot be loaded"):
        train(replace(fresh, base=str(tmp_path / "none-here"), out=tmp_path / "c"), QUICK)
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="torch sees no GPU"):
            train(replace(fresh, device="cuda", out=tmp_path / "e"), QUICK)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / checkpoints.CHECKPOINT).write_bytes(b"half a file")
    with pytest.raises(InputError, match="delete it to begin again"):
        train(replace(fresh, out=tmp_path / "d"), QUICK)


def test_a_missing_library_is_named_before_any_work(monkeypatch, plan):
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "matplotlib" else object())
    with pytest.raises(MissingExtra, match=r"matplotlib.*equipoise-lab\[bench\]"):
        train(plan, QUICK)
    with pytest.raises(MissingExtra, match=r"no_such_library.*equipoise-lab\[hf\]"):
        extras.library("no_such_library")
