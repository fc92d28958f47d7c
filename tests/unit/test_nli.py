"""NLI by a cross-encoder (a tiny one, built here with known weights) and by a chat model."""

import asyncio
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from equipoise.core.errors import InputError, MissingExtra, ModelReplyError, ModelUnavailable
from equipoise.core.protocols import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI
from equipoise.core.settings import load
from equipoise.core.sync import run
from equipoise.core.types import ChatReply, Passage
from equipoise.models import pretrained
from equipoise.models.nli import DEFAULT, CrossEncoderNLI
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import nli
from equipoise.rag.nli import ChatNLI, conflicts
from equipoise.rag.parts import Parts

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cats", "dogs", "sleep", "bark", "never", "always"]
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
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    def save(labels, seed=0):
        folder = tmp_path_factory.mktemp("nli")
        tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = Whitespace()
        tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            unk_token="[UNK]",
            pad_token="[PAD]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        ).save_pretrained(folder)
        torch.manual_seed(seed)
        config = transformers.BertConfig(
            vocab_size=len(WORDS),
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
        import torch
        import transformers

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

    def test_is_an_nli_and_takes_no_pairs_without_loading(self):
        model = CrossEncoderNLI("no/such/model")
        assert isinstance(model, NLI)
        assert run(model.predict([])).shape == (0, 3)
        assert CrossEncoderNLI().name == DEFAULT

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
        pytest.importorskip("transformers")
        with pytest.raises(ModelUnavailable, match="name a folder that holds it"):
            run(CrossEncoderNLI(str(tmp_path)).predict(PAIRS))

    def test_a_broken_weights_file_says_what_to_do(self, save_model):
        folder = save_model(["entailment", "neutral", "contradiction"], seed=1)
        (folder / "model.safetensors").write_bytes(b"not weights")
        with pytest.raises(ModelUnavailable, match="cannot be loaded"):
            run(CrossEncoderNLI(str(folder)).predict(PAIRS))

    def test_offline_the_default_model_says_what_to_do(self, tmp_path):
        pytest.importorskip("transformers")
        code = (
            "from equipoise.core.sync import run; from equipoise.models.nli import CrossEncoderNLI\n"
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

    def test_without_transformers_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "transformers", None)
        with pytest.raises(MissingExtra, match=r"equipoise\[hf\]"):
            run(CrossEncoderNLI("any").predict(PAIRS))


def said(relation):
    return json.dumps({"relation": relation})


class TestChat:
    def test_rows_follow_the_pairs(self):
        script = {"Premise:\ncats always": said("contradiction"), "Premise:\ncats": said("entailment")}
        chat = ScriptedChat(script | {"Premise:": said("neutral")})
        rows = run(ChatNLI(chat).predict(PAIRS[:3]))
        assert rows.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        assert rows.dtype == np.float32
        assert isinstance(ChatNLI(chat), NLI)
        assert chat.requests[0].schema["properties"]["relation"]["enum"] == [
            "entailment",
            "neutral",
            "contradiction",
        ]

    def test_no_pairs_make_no_request(self):
        chat = ScriptedChat([])
        assert run(ChatNLI(chat).predict([])).shape == (0, 3)
        assert chat.requests == []

    def test_a_relation_that_is_none_is_an_error(self):
        with pytest.raises(ModelReplyError, match="twice"):
            run(ChatNLI(ScriptedChat({"Premise:": said("maybe")})).predict(PAIRS[:2]))

    def test_never_more_requests_at_once_than_allowed(self):
        class Counting:
            name = "counting"
            now = most = 0

            async def complete(self, messages, *, schema=None, options=None):
                self.now += 1
                self.most = max(self.most, self.now)
                await asyncio.sleep(0.001)
                self.now -= 1
                return ChatReply(said("neutral"), self.name)

        chat = Counting()
        run(ChatNLI(chat, concurrency=3).predict(PAIRS * 4))
        assert chat.most == 3


class Recording:
    """Contradiction 0.8 from a passage to a later one and 0.2 back; keeps what it was asked."""

    def __init__(self):
        self.asked = []

    async def predict(self, pairs):
        self.asked.extend(pairs)
        share = [0.8 if premise < hypothesis else 0.2 for premise, hypothesis in pairs]
        return np.array([[0.0, 1 - s, s] for s in share], np.float32)


PASSAGES = tuple(Passage(n, f"d{n}", 0, 1, text) for n, text in enumerate("abc"))
WEIGHT = np.array([[0, 0.1, 0.9], [0.1, 0, 0.5], [0.9, 0.5, 0]])


class TestConflicts:
    def test_both_directions_of_the_heaviest_pairs_are_asked(self):
        model = Recording()
        matrix = run(conflicts(model, PASSAGES, WEIGHT, pairs=2))
        assert model.asked == [("a", "c"), ("b", "c"), ("c", "a"), ("c", "b")]
        assert matrix == pytest.approx(np.array([[0, 0, 0.5], [0, 0, 0.5], [0.5, 0.5, 0]]))

    @pytest.mark.parametrize(("pairs", "calls"), [(0, 0), (1, 2), (3, 6), (50, 6)])
    def test_the_number_of_predictions_is_bounded(self, pairs, calls):
        model = Recording()
        run(conflicts(model, PASSAGES, WEIGHT, pairs=pairs))
        assert len(model.asked) == calls

    def test_without_a_model_nothing_conflicts(self):
        assert not run(conflicts(None, PASSAGES, WEIGHT, pairs=9)).any()

    @pytest.mark.parametrize("rows", [np.full((6, 3), np.nan), np.full((6, 3), 2.0), np.ones((6, 2))])
    def test_what_is_no_probability_is_an_error(self, rows):
        class Broken:
            async def predict(self, pairs):
                return rows

        with pytest.raises(ModelReplyError, match="no probabilities"):
            run(conflicts(Broken(), PASSAGES, WEIGHT, pairs=9))


class TestChoice:
    def parts(self, name, chat=None):
        return Parts(load({"filter.nli": name}, environment={}).settings, None, None, chat)

    def test_names(self, monkeypatch):
        monkeypatch.setattr(nli, "installed", lambda: True)
        assert nli.from_parts(self.parts("none")) is None
        assert isinstance(nli.from_parts(self.parts("chat", ScriptedChat([]))), ChatNLI)
        assert nli.from_parts(self.parts("hf")).name == DEFAULT
        assert nli.from_parts(self.parts("hf/some/folder")).name == "some/folder"
        assert nli.from_parts(self.parts("hf//root/folder")).name == "/root/folder"

    def test_what_is_missing_is_named(self, monkeypatch):
        monkeypatch.setattr(nli, "installed", lambda: False)
        with pytest.raises(MissingExtra, match=r"filter\.nli to chat or none.*equipoise\[hf\]"):
            nli.from_parts(self.parts("hf"))
        with pytest.raises(ModelUnavailable, match=r"filter\.nli"):
            nli.from_parts(self.parts("chat"))
        with pytest.raises(InputError, match="write hf"):
            nli.from_parts(self.parts("bert"))

    def test_installed_tells_the_truth(self):
        try:
            import torch  # noqa: F401
            import transformers  # noqa: F401
        except ImportError:
            assert not pretrained.installed()
        else:
            assert pretrained.installed()
