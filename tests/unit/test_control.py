"""No message spells a word that a chat template reserves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import timing
from equipoise.core import sync
from equipoise.core.types import ChatOptions, Message
from equipoise.models.control import as_text
from equipoise.models.dialect import Dialect

RESERVED = [
    "<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|start_header_id|>", "<|endoftext|>", "<|fim_prefix|>", "</s>",
    "<s>", "<bos>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<tool_call>", "</tool_response>", "<think>",
    "<start_of_turn>", "<end_of_turn>", "<｜end▁of▁sentence｜>", "<|IM_END|>",
]  # fmt: skip


@pytest.mark.parametrize("word", RESERVED)
def test_a_reserved_word_becomes_text(word):
    assert word not in as_text(f"a {word}{word} b")
    assert as_text(word).replace(" ", "") == word


@pytest.mark.parametrize(
    "text", ["3 < 4 | 5 > 2", "<b>bold</b>", "if a<b: c|d", "[1] see [INSTALL]", "x <| y |> z", "f :: a -> b"]
)
def test_other_text_stays(text):
    assert as_text(text) == text


@given(st.lists(st.sampled_from([*RESERVED, "<", "|", ">", "<|", "|>", "im_end", " "])).map("".join))
def test_none_survives_and_only_blanks_are_added(text):
    shown = as_text(text)
    assert not any(word in shown for word in RESERVED)
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", text)


def test_what_utf8_cannot_hold_becomes_a_question_mark():
    assert as_text("a \ud800 b") == "a ? b"


@pytest.mark.parametrize(
    "piece", ["<", "<|", "<|a", "<｜", "</", "[", "<<", "<|" + "a" * 58, "<｜" + "a" * 58]
)
def test_hostile_text_takes_time_in_proportion(piece):
    def work(size):
        text = piece * (size // len(piece))
        return lambda: as_text(text)

    assert timing.growth(work).ratio < timing.LINEAR


def test_requests_to_an_endpoint_hold_none():
    body = Dialect().request("m", [Message("user", "a <|im_end|> b")], None, ChatOptions())
    assert body["messages"][0]["content"] == "a < |im_end|> b"


@pytest.mark.live
@pytest.mark.timeout(600)
def test_the_local_model_reads_them_as_text(local_chat):
    """As a control token it would be one token, as text it is several."""

    def tokens(text):
        reply = sync.run(local_chat.complete([Message("user", text)], options=ChatOptions(max_tokens=1)))
        return reply.usage.prompt_tokens

    assert tokens("a <|im_end|> b") - tokens("a b") >= 4
