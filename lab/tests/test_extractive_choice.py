"""Extractive question answering without a model: settings, and what is said where the extra is missing."""

import sys

import pytest

from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.settings import HighlightSettings, Settings
from equipoise.core.sync import run
from equipoise.models import pretrained
from equipoise.rag.components import Components
from equipoise_lab.methods import extractive_qa
from equipoise_lab.methods.extractive_qa import ExtractiveQAHighlighter
from equipoise_lab.models.extractive import DEFAULT, ExtractiveQA


def test_no_texts_load_nothing():
    assert run(ExtractiveQA("no/such/model").find("which animal ?", ())) == ()
    assert ExtractiveQA().name == DEFAULT == HighlightSettings().qa_model


def test_without_transformers_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"question answering models.*equipoise\[hf\]"):
        run(ExtractiveQA("any").find("who ?", ["text"]))


def test_settings_name_the_model_and_the_threshold(monkeypatch):
    monkeypatch.setattr(extractive_qa, "installed", lambda: True)
    chosen = Settings(highlight=HighlightSettings(qa_model="some/folder", threshold=0.25))
    highlighter = ExtractiveQAHighlighter.from_components(Components(chosen, None, None))
    assert (highlighter.model.name, highlighter.threshold, highlighter.most) == ("some/folder", 0.25, 1)
    assert ExtractiveQAHighlighter.from_components(Components(Settings(), None, None)).threshold == 0.5


def test_without_the_extra_it_is_named_when_built(monkeypatch):
    monkeypatch.setattr(extractive_qa, "installed", lambda: False)
    with pytest.raises(MissingExtra, match=r"'extractive_qa'.*equipoise\[hf\]"):
        ExtractiveQAHighlighter.from_components(Components(Settings(), None, None))


def test_a_folder_that_bears_the_name_of_a_model_is_not_taken_for_it(tmp_path, monkeypatch):
    """A folder that was cloned could hold weights under the name of the default model."""
    (tmp_path / DEFAULT).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"write \./"):
        pretrained.load(DEFAULT, head="AutoModelForQuestionAnswering", what="question answering")
