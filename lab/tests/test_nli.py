"""NLI by a cross-encoder: a tiny one, built here with known weights. What needs no torch is in test_nli_choice."""

import asyncio
import os
import subprocess
import sys

import numpy as np
import pytest

from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.core.sync import run
from equipoise_lab.methods.nli import CONTRADICTION, ENTAILMENT, NEUTRAL
from equipoise_lab.models.nli import DEFAULT, CrossEncoderNLI
from tiny_qa import word_tokenizer

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'equipoise[hf]'")
transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: pip install 'equipoise[hf]'"
)

WORDS = "cats dogs sleep bark never always"
PAIRS = [
    ("cats sleep", "dogs bark"),
    ("dogs bark", "cats sleep"),
    ("cats always sleep", "cats never sleep"),
    ("dogs", "dogs " * 200),
    ("", "cats"),
]


@pytest.fixture(scope="module")
def save_model(tmp_path_factory):
    """save_model(labels) -> a folder with a tiny BERT classifier, always the same weights."""

    def save(labels, seed=0):
        folder = tmp_path_factory.mktemp("nli")
        tokenizer = word_tokenizer(transformers, [WORDS])
        tokenizer.save_pretrained(folder)
        torch.manual_seed(seed)
        config = transformers.BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=48,
            initializer_range=1.0,
            id2label=dict(enumerate(labels)),
            label2id={label: i for i, label in enumerate(labels)},
        )
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
        return folder

    return save


@pytest.fixture(scope="module")
def folder(save_model):
    return save_model(["entailment", "neutral", "contradiction"])


class TestCrossEncoder:
    def test_rows_are_the_probabilities_transformers_gives(self, folder):
        rows = run(CrossEncoderNLI(str(folder)).predict(PAIRS))
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
        for row, (premise, hypothesis) in zip(rows, PAIRS, strict=True):
            inputs = tokenizer(premise, hypothesis, truncation=True, max_length=48, return_tensors="pt")
            with torch.no_grad():
                expected = torch.softmax(model(**inputs).logits[0], -1).numpy()
            assert np.allclose(row, expected, atol=1e-5)
        assert rows.shape == (5, 3)
        assert rows.dtype == np.float32
        assert np.allclose(rows.sum(axis=1), 1, atol=1e-5)
        assert not np.allclose(rows[0], rows[1], atol=1e-3)

    def test_the_order_of_labels_is_read_from_the_model(self, save_model, folder):
        """The same weights under turned labels: columns move with the labels."""
        turned = save_model(["CONTRADICTION", "entailment", "Neutral"])
        plain = run(CrossEncoderNLI(str(folder)).predict(PAIRS))
        moved = run(CrossEncoderNLI(str(turned)).predict(PAIRS))
        assert np.array_equal(moved[:, CONTRADICTION], plain[:, 0])
        assert np.array_equal(moved[:, ENTAILMENT], plain[:, 1])
        assert np.array_equal(moved[:, NEUTRAL], plain[:, 2])

    def test_text_that_utf8_cannot_carry_is_read(self, folder):
        assert asyncio.run(CrossEncoderNLI(str(folder)).predict([("broken \ud800 pdf", "\udfff")])).shape == (
            1,
            3,
        )

    def test_batches_change_nothing(self, folder):
        together = run(CrossEncoderNLI(str(folder), batch=5).predict(PAIRS))
        alone = run(CrossEncoderNLI(str(folder), batch=1).predict(PAIRS))
        assert np.allclose(together, alone, atol=1e-5)

    @pytest.mark.parametrize("labels", [["entailment", "not_entailment"], ["LABEL_0", "LABEL_1", "LABEL_2"]])
    def test_other_classes_are_refused(self, save_model, labels):
        with pytest.raises(InputError, match="not entailment, neutral, contradiction"):
            run(CrossEncoderNLI(str(save_model(labels))).predict(PAIRS))

    def test_a_folder_without_a_model_says_what_to_do(self, tmp_path):
        with pytest.raises(ModelUnavailable, match="name a folder that holds it"):
            run(CrossEncoderNLI(str(tmp_path)).predict(PAIRS))

    def test_a_broken_weights_file_says_what_to_do(self, save_model):
        folder = save_model(["entailment", "neutral", "contradiction"], seed=1)
        (folder / "model.safetensors").write_bytes(b"not weights")
        with pytest.raises(ModelUnavailable, match="cannot be loaded"):
            run(CrossEncoderNLI(str(folder)).predict(PAIRS))

    def test_offline_the_default_model_says_what_to_do(self, tmp_path):
        code = (
            "from equipoise.core.sync import run; from equipoise_lab.models.nli import CrossEncoderNLI\n"
            "from equipoise.core.errors import ModelUnavailable\n"
            "try: run(CrossEncoderNLI().predict([('a', 'b')]))\n"
            "except ModelUnavailable as error: print(error)"
        )
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        assert f"the NLI model {DEFAULT} cannot be loaded" in done.stdout
        assert len(done.stdout.splitlines()) == 1
