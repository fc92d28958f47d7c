"""Names become objects: every spec of the language model, and every mistake in a name."""

import pytest

from equipoise.core.errors import InputError, ModelUnavailable, SettingsError
from equipoise.core.settings import (
    FilterSettings,
    HighlightSettings,
    ModelSettings,
    MonitorSettings,
    RetrievalSettings,
    Settings,
    SummarizeSettings,
)
from equipoise.corpus.store import Store
from equipoise.models import hashes, weights
from equipoise.models.openai import OpenAIChat
from equipoise.models.replay import Replayed
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import build, chats, others
from equipoise.rag.components import Components
from equipoise.rag.highlighters.cascade import CascadeHighlighter
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.summarizers.extractive import ExtractiveSummarizer
from equipoise.rag.summarizers.llm import LlmSummarizer
from hashed_words import HashedWords

KEY = {"OPENAI_API_KEY": "sk-test"}
TABLES = {
    "retriever": build.RETRIEVERS,
    "filter": build.FILTERS,
    "highlighter": build.HIGHLIGHTERS,
    "summarizer": build.SUMMARIZERS,
}


@pytest.fixture
def chat(tmp_path):
    """A function: the language model of `llm` with no weights on the disk."""

    def build_one(llm, environment=None, **more):
        return build.chat_model(ModelSettings(llm=llm, **{"folder": tmp_path} | more), environment or {})

    return build_one


@pytest.fixture
def components(tmp_path):
    """A function: components over an empty store, without a language model unless given."""
    with Store.open(tmp_path / "index.db", create=True) as store:
        yield lambda chat=None, **sections: Components(Settings(**sections), store, HashedWords(), chat)


class TestChatModel:
    def test_none_is_none_whatever_the_environment_says(self, chat):
        assert chat("none", KEY) is None

    @pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": ""}, {"OPENAI_BASE_URL": " "}])
    def test_auto_finds_nothing_where_nothing_is_set_up(self, chat, environment):
        assert chat("auto", environment) is None

    @pytest.mark.parametrize("environment", [KEY, {"OPENAI_BASE_URL": "http://localhost:8000/v1"}])
    def test_auto_takes_an_endpoint_that_is_named(self, chat, environment):
        model = chat("auto", environment)
        assert isinstance(model, OpenAIChat)
        assert model.name == chats.DEFAULT_OPENAI

    def test_auto_takes_an_endpoint_of_the_settings(self, chat):
        assert "localhost:1" in repr(chat("auto", base_url="http://localhost:1/v1"))
        assert "api.openai.com" in repr(chat("auto", api_key="sk-test"))

    def test_the_environment_that_is_passed_is_the_only_one(self, chat, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-process")
        assert chat("auto", {"PATH": "/bin"}) is None

    def test_auto_leaves_local_weights_alone(self, chat, tmp_path, monkeypatch):
        pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'equipoise[local]'")
        entry = weights.read_catalogue()[chats.DEFAULT_LOCAL]
        path = tmp_path / entry.file
        with path.open("wb") as file:
            file.truncate(
                entry.size
            )  # a sparse file, and in the user's own folder the record of an earlier check
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        hashes.remember(path, entry.sha256)
        assert chat("local").name == f"local/{chats.DEFAULT_LOCAL}"
        assert chat("auto") is None
        assert isinstance(chat("auto", KEY), OpenAIChat)

    @pytest.mark.parametrize("llm", ["local", f"local/{chats.DEFAULT_LOCAL}"])
    def test_local_weights_that_are_missing_say_how_to_pull_them(self, chat, llm):
        with pytest.raises(ModelUnavailable, match=rf"run  equipoise models pull {chats.DEFAULT_LOCAL}"):
            chat(llm)

    def test_unknown_local_weights_list_the_names(self, chat):
        with pytest.raises(InputError, match=rf"'gpt-2'.*{chats.DEFAULT_LOCAL}"):
            chat("local/gpt-2")

    def test_openai_with_a_name_and_without_a_key(self, chat):
        assert chat("openai/gpt-x", KEY).name == "gpt-x"
        with pytest.raises(ModelUnavailable, match="set OPENAI_API_KEY"):
            chat("openai/gpt-x")

    def test_openai_is_not_led_astray_by_variables_of_azure(self, chat):
        both = KEY | {
            "AZURE_OPENAI_ENDPOINT": "https://a.example",
            "OPENAI_BASE_URL": "http://localhost:1/v1",
        }
        assert "localhost:1" in repr(chat("openai/gpt-x", both))

    def test_azure_wants_an_endpoint_a_deployment_and_a_version(self, chat):
        with pytest.raises(ModelUnavailable, match=r"set AZURE_OPENAI_ENDPOINT or model\.base_url"):
            chat("azure/d", KEY)
        with pytest.raises(InputError, match="azure/DEPLOYMENT"):
            chat("azure", KEY)
        with pytest.raises(SettingsError, match="api_version"):
            chat("azure/d", base_url="https://a.example", api_key="k")
        ready = chat("azure/d", base_url="https://a.example", api_key="k", api_version="2024-10-21")
        assert ready.name == "d"
        assert "a.example" in repr(ready)

    @pytest.mark.parametrize("llm", ["", "gpt-4", "ollama/x", "Local", "/", "openai-x"])
    def test_an_unknown_one_lists_what_there_is(self, chat, llm):
        with pytest.raises(InputError, match=r"write none, auto, local\[/NAME\], openai/NAME or azure"):
            chat(llm, KEY)

    def test_a_replay_file_wraps_it(self, chat, tmp_path):
        model = chat("openai/gpt-x", KEY, replay=tmp_path / "replay.sqlite")
        assert isinstance(model, Replayed)
        assert model.name == "gpt-x"


class TestMake:
    @pytest.mark.parametrize("kind", TABLES)
    def test_an_unknown_name_lists_the_names(self, kind, components):
        with pytest.raises(InputError) as caught:
            build.make(kind, TABLES[kind], "no-such", components())
        assert (
            str(caught.value)
            == f"there is no {kind} 'no-such': choose one of {', '.join(others.known(kind, TABLES[kind]))}"
        )

    def test_an_unknown_pipeline_lists_the_names(self, components):
        with pytest.raises(InputError, match="no pipeline 'rag': choose one of hs, vanilla"):
            build.pipeline("rag", components())

    @pytest.mark.parametrize(
        "sections",
        [
            {"highlight": HighlightSettings(name="magic")},
            {"summarize": SummarizeSettings(name="magic")},
            {"filter": FilterSettings(name="magic")},
        ],
    )
    def test_an_unknown_part_of_a_pipeline_is_named(self, components, sections):
        with pytest.raises(InputError, match="'magic': choose one of"):
            build.highlight_summarize(components(**sections))


class TestPipeline:
    def test_without_a_model_everything_is_model_free(self, components):
        pipeline = build.highlight_summarize(components())
        assert isinstance(pipeline.highlighter, ReaderHighlighter)
        assert isinstance(pipeline.summarizer, ExtractiveSummarizer)
        assert pipeline.models == {
            "encoder": "hashed-words",
            "filter": "auto",
            "highlighter": "reader",
            "summarizer": "extractive",
        }

    def test_with_a_model_both_use_it(self, components):
        pipeline = build.highlight_summarize(components(ScriptedChat([])))
        assert isinstance(pipeline.highlighter, CascadeHighlighter)
        assert isinstance(pipeline.summarizer, LlmSummarizer)
        assert pipeline.models["llm"] == "scripted"

    @pytest.mark.parametrize(
        ("guesses", "watched", "most"), [(None, None, 0), (None, 0.5, 5), (3, None, 3), (3, 0.5, 3)]
    )
    def test_a_monitor_gets_several_guesses(self, components, guesses, watched, most):
        sections = {
            "summarize": SummarizeSettings(guesses=guesses),
            "monitor": MonitorSettings(min_similarity=watched),
        }
        assert build.highlight_summarize(components(ScriptedChat([]), **sections)).summarizer.guesses == most

    def test_the_policy_and_the_limits_are_the_settings(self, components):
        sections = {
            "highlight": HighlightSettings(
                min_words=3, max_spans=2, max_sentences_per_span=4, max_sentences=7
            ),
            "retrieval": RetrievalSettings(k=9, candidates=4),
        }
        pipeline = build.highlight_summarize(components(**sections))
        policy = pipeline.policy
        assert (policy.min_words, policy.max_spans, policy.max_sentences_per_span, policy.max_sentences) == (
            3,
            2,
            4,
            7,
        )
        assert (pipeline.k, pipeline.candidates) == (9, 9)
