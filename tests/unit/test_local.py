"""What LocalChat says where it cannot run."""

import asyncio
import sys
from importlib.util import find_spec

import pytest

from equipoise.core.errors import MissingExtra, ModelUnavailable, WeightsError
from equipoise.core.types import Message
from equipoise.models.local import LocalChat, one_line
from equipoise.models.roles import SUMMARIZER, for_role


def test_weights_that_are_not_here_name_the_command(tmp_path):
    with pytest.raises(ModelUnavailable, match=r"equipoise models pull qwen2\.5-coder-0\.5b"):
        LocalChat.from_weights("qwen2.5-coder-0.5b", folder=tmp_path)


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    chat = LocalChat(tmp_path / "model.gguf", name="any")
    with pytest.raises(MissingExtra, match=r"equipoise\[local\]"):
        asyncio.run(chat.complete([Message("user", "Hi")]))


def test_weights_that_changed_after_they_were_found_are_not_loaded(tmp_path):
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'equipoise[local]'")

    def check():
        raise WeightsError("the file is another one")

    chat = LocalChat(tmp_path / "model.gguf", name="any", check=check)
    with pytest.raises(WeightsError, match="another one"):
        asyncio.run(chat.complete([Message("user", "Hi")]))


def test_the_prompt_cache_is_off_in_each_role(tmp_path):
    """What the engine is asked, and how it is set up; the engine itself is not started."""
    asked = []

    class Engine:
        def handle_chat_completions(self, request):
            asked.append(request["cache_prompt"])
            message = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}
            return message | {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}

    chat = LocalChat(tmp_path / "model.gguf", name="any")
    chat._server = Engine()
    for model in (chat, for_role(chat, SUMMARIZER), for_role(for_role(chat, SUMMARIZER), SUMMARIZER)):
        assert model.name == "any"
        asyncio.run(model.complete([Message("user", "Hi")]))
    assert asked == [False, False, False]
    if find_spec("xllamacpp"):
        parameters = chat._parameters(tmp_path)
        assert (parameters.cache_prompt, parameters.cache_ram_mib) == (False, 0)


def test_a_grammar_of_llama_cpp_itself_is_put_on_one_line():
    own = 'root ::= "{" space "}" space\nspace ::= | " " | "\\n"{1,2} [ \\t]{0,20}\nstring ::= "x"\n'
    assert one_line(own) == 'root ::= "{" space "}" space\nspace ::= " "?\nstring ::= "x"\n'


def test_a_grammar_of_llguidance_stays():
    assert one_line("%llguidance {}\nstart: %json {}") == "%llguidance {}\nstart: %json {}"
