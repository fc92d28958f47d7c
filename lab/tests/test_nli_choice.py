"""NLI by a chat model, contradictions among passages, and which NLI model is chosen where."""

import asyncio
import json
import sys

import numpy as np
import pytest

from equipoise.core.errors import InputError, MissingExtra, ModelReplyError, ModelUnavailable
from equipoise.core.settings import load
from equipoise.core.sync import run
from equipoise.core.types import ChatReply, Passage
from equipoise.models import pretrained
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.components import Components
from equipoise_lab.methods import nli
from equipoise_lab.methods.nli import NLI, ChatNLI, conflicts
from equipoise_lab.models.nli import DEFAULT, CrossEncoderNLI

PAIRS = [
    ("cats sleep", "dogs bark"),
    ("dogs bark", "cats sleep"),
    ("cats always sleep", "cats never sleep"),
    ("dogs", "dogs " * 200),
    ("", "cats"),
]


def test_a_cross_encoder_is_an_nli_and_takes_no_pairs_without_loading():
    model = CrossEncoderNLI("no/such/model")
    assert isinstance(model, NLI)
    assert run(model.predict([])).shape == (0, 3)
    assert CrossEncoderNLI().name == DEFAULT


def test_without_transformers_the_extra_is_named(monkeypatch):
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
                await asyncio.sleep(0)  # every request that may be made is made before this one goes on
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
    def components(self, name, chat=None):
        return Components(load({"filter.nli": name}, environment={}).settings, None, None, chat)

    def test_names(self, monkeypatch):
        monkeypatch.setattr(nli, "installed", lambda: True)
        assert nli.from_components(self.components("none")) is None
        assert isinstance(nli.from_components(self.components("chat", ScriptedChat([]))), ChatNLI)
        assert nli.from_components(self.components("hf")).name == DEFAULT
        assert nli.from_components(self.components("hf/some/folder")).name == "some/folder"
        assert nli.from_components(self.components("hf//root/folder")).name == "/root/folder"

    def test_what_is_missing_is_named(self, monkeypatch):
        monkeypatch.setattr(nli, "installed", lambda: False)
        with pytest.raises(MissingExtra, match=r"filter\.nli to chat or none.*equipoise\[hf\]"):
            nli.from_components(self.components("hf"))
        with pytest.raises(ModelUnavailable, match=r"filter\.nli"):
            nli.from_components(self.components("chat"))
        with pytest.raises(InputError, match="write hf"):
            nli.from_components(self.components("bert"))

    def test_installed_tells_the_truth(self):
        try:
            import torch  # noqa: F401
            import transformers  # noqa: F401
        except ImportError:
            assert not pretrained.installed()
        else:
            assert pretrained.installed()
