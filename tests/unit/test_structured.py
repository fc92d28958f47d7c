"""complete_as, strict_schema and the search for JSON in a reply."""

import json
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

import timing
from chat_server import ChatServer, Say, completion
from equipoise.core import sync
from equipoise.core.errors import ModelReplyError, ModelUnavailable
from equipoise.core.types import CUT, ChatOptions, ChatReply, Message, Usage
from equipoise.models.openai import OpenAIChat
from equipoise.models.scripted import ScriptedChat
from equipoise.models.structured import begun, complete_as, outermost_objects, parsed, strict_schema

ASKED = (Message("user", "Which sentences?"),)


class Choice(BaseModel):
    answerable: bool
    sentences: list[int]


GOOD = '{"answerable": true, "sentences": [1, 2]}'
VALUE = Choice(answerable=True, sentences=[1, 2])


def ask(model, **how):
    return sync.run(complete_as(model, ASKED, Choice, **how))


# asking


def test_a_valid_reply_needs_one_call():
    model = ScriptedChat([GOOD])
    value, usage = ask(model, options=ChatOptions(max_tokens=40))
    assert value == VALUE
    assert usage == Usage(1, 2, 5)
    (request,) = model.requests
    assert request.schema == strict_schema(Choice)
    assert request.options.max_tokens == 40


def test_a_bad_reply_is_repaired_once_and_both_calls_are_counted():
    bad = '{"answerable": "perhaps"}'
    model = ScriptedChat([bad, GOOD])
    value, usage = ask(model)
    assert value == VALUE
    assert usage.calls == 2
    assert usage.completion_tokens == 2 + 5
    asked, back, repair = model.requests[1].messages
    assert asked == ASKED[0]
    assert back == Message("assistant", bad)
    assert "answerable: Input should be a valid boolean" in repair.content
    assert "sentences: Field required" in repair.content


def test_a_long_bad_reply_goes_back_shortened():
    model = ScriptedChat(["x" * 50_000, GOOD])
    ask(model)
    assert sum(len(m.content) for m in model.requests[1].messages) < 3_000


def test_two_bad_replies_are_an_error_and_not_a_third_call():
    model = ScriptedChat(["no", "still no", GOOD], name="stubborn")
    with pytest.raises(ModelReplyError, match="stubborn twice sent no valid Choice") as raised:
        ask(model)
    assert len(model.requests) == 2
    assert raised.value.usage.calls == 2
    assert raised.value.usage.completion_tokens > 0


CUT_SHORT = ChatReply('{"answerable": true, "sentences": [1, 2, ', "scripted", finish_reason=CUT)


def test_a_reply_that_was_cut_counts_as_far_as_it_came_where_that_is_wanted():
    model = ScriptedChat([CUT_SHORT])
    assert ask(model, cut=True)[0] == VALUE
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("first", "how"),
    [
        (CUT_SHORT, {}),
        (replace(CUT_SHORT, finish_reason="stop"), {"cut": True}),
        (replace(CUT_SHORT, text='{"answerable": tr'), {"cut": True}),
        (replace(CUT_SHORT, text="Let me see: {"), {"cut": True}),
    ],
)
def test_a_reply_that_was_not_cut_or_says_too_little_is_repaired(first, how):
    model = ScriptedChat([first, GOOD])
    assert ask(model, **how)[0] == VALUE
    assert len(model.requests) == 2


def test_the_last_string_of_a_cut_reply_is_kept():
    class Extracts(BaseModel):
        extracts: list[str]

    assert begun('{"extracts": ["one", "tw', Extracts) == Extracts(extracts=["one", "tw"])


def test_a_reply_that_is_cut_twice_asks_for_more_room():
    with pytest.raises(
        ModelReplyError, match=r"raise model\.max_tokens if it is at most 40, or use another model"
    ):
        ask(ScriptedChat([CUT_SHORT, CUT_SHORT]), options=ChatOptions(max_tokens=40))


def test_errors_of_the_model_pass_through():
    with pytest.raises(ModelUnavailable, match="down"):
        ask(ScriptedChat([ModelUnavailable("down")]))


def test_repair_works_over_the_wire():
    with ChatServer() as server:
        server.says.append(Say(body=completion('{"answerable": 7}')))
        value, usage = ask(OpenAIChat("tiny-1", base_url=server.url))
        assert value == Choice(answerable=True, sentences=[1])
        assert usage == Usage(2, 14, 6)


def test_a_cut_reply_comes_over_the_wire_as_far_as_it_came():
    with ChatServer() as server:
        server.says.append(Say(body=completion(CUT_SHORT.text, finish_reason=CUT)))
        value, usage = ask(OpenAIChat("tiny-1", base_url=server.url), cut=True)
        assert (value, usage.calls) == (VALUE, 1)


# finding the object


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"Sure! Here it is:\n```json\n{GOOD}\n```\nAnything else?",
        f"From {{a, b}} I choose {GOOD}.",
        f"{GOOD} {GOOD}",
        f'The form is {{"type": "object"}}, so: {GOOD}',
        f"{{ {GOOD}",
    ],
)
def test_the_object_is_found_in(text):
    assert parsed(text, Choice) == VALUE


@pytest.mark.parametrize(
    "text", ["", "no", "[]", "{}", "{", GOOD[:-1], f"[{GOOD[:-1]}", '{"outer": ' + GOOD + "}", "{" * 99_999]
)
def test_no_object_is_guessed_in(text):
    assert isinstance(parsed(text, Choice), str)


def test_two_different_valid_objects_are_not_chosen_between():
    other = GOOD.replace("true", "false")
    assert "several" in parsed(f"Either {GOOD} or {other}", Choice)


def test_a_problem_never_repeats_the_input():
    assert "hunter2" not in parsed('{"answerable": "hunter2", "sentences": ["hunter2"]}', Choice)


HOSTILE = {
    **{
        piece: lambda n, piece=piece: piece * (n // len(piece))
        for piece in ['{"a":', "{", '{"', "```json\n", "{} "]
    },
    "fence": lambda n: "```\n" + " " * n,
    "fences": lambda n: "```\n" + "\n " * (n // 2) + "x",
    "lists": lambda n: '{"a":[' * 200 + "1," * (n // 2),
    "digits": lambda n: '{"a":' * 200 + "1" * n,
    "open": lambda n: '{"\\"' * 200 + "x" * n,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=map(repr, HOSTILE))
def test_hostile_text_takes_time_in_proportion(text):
    def read(size):
        made = text(size)
        assert isinstance(parsed(made, Choice), str)
        return lambda: parsed(made, Choice)

    assert timing.growth(read, least=250_000, most=1_000_000).ratio < timing.LINEAR


def test_the_work_on_one_reply_is_bounded():
    """What is read from all opening braces together, whatever the length."""
    assert isinstance(parsed('{"a":[' * 200 + "1," * 1_000_000, Choice), str)
    seconds = timing.seconds(lambda: parsed('{"a":[' * 200 + "1," * 1_000_000, Choice), runs=2)
    assert seconds < 40 * timing.seconds(lambda: json.loads("[" + "1," * 1_000_000 + "1]"), runs=2)


@pytest.mark.parametrize(
    "text", [f"```python\n{GOOD}\n```", f"```\r\n{GOOD}\r\n```", f"  ```JSON  \n\n{GOOD}\n\n  ```  "]
)
def test_fences_of_many_forms(text):
    assert parsed(text, Choice) == VALUE


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(), json_values, max_size=4),
    st.text(alphabet=st.characters(exclude_characters="{")),
    st.text(alphabet=st.characters(exclude_characters="{")),
)
def test_any_object_is_found_whole_in_prose_without_braces(value, before, after):
    objects = list(outermost_objects(before + json.dumps(value) + after))
    assert [json.loads(text) for text in objects] == [value]


@given(st.booleans(), st.lists(st.integers(-(10**6), 10**6), max_size=5))
def test_what_a_model_dumps_is_read_back(answerable, sentences):
    value = Choice(answerable=answerable, sentences=sentences)
    assert parsed(f"```json\n{value.model_dump_json(indent=2)}\n```", Choice) == value


# the strict schema


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Cat(BaseModel):
    kind: Literal["cat"]
    title: str = "cat"


class Dog(BaseModel):
    kind: Literal["dog"]
    colour: Colour = Field(default=Colour.RED, description="of the coat")


class Owner(BaseModel):
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]
    favourite: Cat | None = None


class Tree(BaseModel):
    name: str
    children: list["Tree"] = []


class Forest(BaseModel):
    first: Tree
    second: Tree


def objects_in(node):
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node
        for value in node.values():
            yield from objects_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from objects_in(value)


def test_the_strict_form_of_a_flat_model():
    assert strict_schema(Choice) == {
        "title": "Choice",
        "type": "object",
        "properties": {
            "answerable": {"title": "Answerable", "type": "boolean"},
            "sentences": {"title": "Sentences", "type": "array", "items": {"type": "integer"}},
        },
        "required": ["answerable", "sentences"],
        "additionalProperties": False,
    }


def test_nested_models_are_inlined_closed_and_without_defaults():
    schema = strict_schema(Owner)
    text = json.dumps(schema)
    assert not any(word in text for word in ("$ref", "$defs", "oneOf", "discriminator", '"default"'))
    objects = list(objects_in(schema))
    assert len(objects) == 4  # the owner, a cat or a dog, the favourite cat
    for node in objects:
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
    dog = schema["properties"]["pets"]["items"]["anyOf"][1]
    assert dog["properties"]["colour"]["enum"] == ["red", "blue"]
    assert dog["properties"]["colour"]["description"] == "of the coat"
    assert "title" in schema["properties"]["favourite"]["anyOf"][0]["properties"]


@pytest.mark.parametrize("schema", [Tree, Forest])
def test_only_a_recursive_definition_stays(schema):
    strict = strict_schema(schema)
    assert set(strict["$defs"]) == {"Tree"}
    assert strict["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    for node in objects_in(strict):
        assert node["required"] == list(node["properties"])


def test_a_free_mapping_is_not_closed():
    class Counts(BaseModel):
        words: dict[str, int]

    assert strict_schema(Counts)["properties"]["words"]["additionalProperties"] == {"type": "integer"}
