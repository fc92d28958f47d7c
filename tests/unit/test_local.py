"""What LocalChat says where it cannot run."""

import asyncio
import sys

import pytest

from equipoise.core.errors import MissingExtra, ModelUnavailable
from equipoise.core.types import Message
from equipoise.models.local import LocalChat, one_line


def test_weights_that_are_not_here_name_the_command(tmp_path):
    with pytest.raises(ModelUnavailable, match=r"equipoise models pull qwen2\.5-coder-0\.5b"):
        LocalChat.from_weights("qwen2.5-coder-0.5b", folder=tmp_path)


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    chat = LocalChat(tmp_path / "model.gguf", name="any")
    with pytest.raises(MissingExtra, match=r"equipoise\[local\]"):
        asyncio.run(chat.complete([Message("user", "Hi")]))


def test_a_grammar_of_llama_cpp_itself_is_put_on_one_line():
    own = 'root ::= "{" space "}" space\nspace ::= | " " | "\\n"{1,2} [ \\t]{0,20}\nstring ::= "x"\n'
    assert one_line(own) == 'root ::= "{" space "}" space\nspace ::= " "?\nstring ::= "x"\n'


def test_a_grammar_of_llguidance_stays():
    assert one_line("%llguidance {}\nstart: %json {}") == "%llguidance {}\nstart: %json {}"
