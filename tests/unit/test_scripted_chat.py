import pytest

from equipoise.core import sync
from equipoise.core.errors import InputError, ModelError, ModelUnavailable
from equipoise.core.types import ChatOptions, ChatReply, Message, TokenLogprob, Usage
from equipoise.models.scripted import ScriptedChat, ScriptedRequest


def ask(model, *contents, **how):
    return sync.run(model.complete([Message("user", content) for content in contents], **how))


def test_a_list_is_said_line_by_line_and_words_are_counted():
    model = ScriptedChat(["one two three", "four"], name="parrot")
    assert ask(model, "a b", "c").usage == Usage(1, 3, 3)
    reply = ask(model, "d")
    assert (reply.text, reply.model, model.name) == ("four", "parrot", "parrot")


def test_a_list_that_runs_out_says_so_and_is_not_a_model_error():
    model = ScriptedChat(["only"])
    ask(model, "a")
    with pytest.raises(InputError, match="script has 1 lines and this is request 2") as caught:
        ask(model, "b")
    assert not isinstance(caught.value, ModelError)


def test_a_mapping_answers_by_the_first_key_that_occurs_in_any_message():
    model = ScriptedChat({"Paris": "France", "is": "verb"})
    assert ask(model, "Where is", "Paris").text == "France"
    assert ask(model, "Where is Rome").text == "verb"
    with pytest.raises(InputError, match="no key"):
        ask(model, "Rome")


def test_a_function_sees_the_messages():
    assert ask(ScriptedChat(lambda messages: messages[-1].content[::-1]), "abc").text == "cba"


def test_every_request_is_recorded_also_one_that_fails():
    schema, options = {"type": "object"}, ChatOptions(seed=3)
    model = ScriptedChat([ModelUnavailable("down")])
    with pytest.raises(ModelUnavailable, match="down"):
        ask(model, "a", schema=schema, options=options)
    assert model.requests == [ScriptedRequest((Message("user", "a"),), schema, options)]


def test_a_whole_reply_keeps_what_it_says():
    logprobs = (TokenLogprob("yes", -0.1, (("yes", -0.1), ("no", -2.4))),)
    line = ChatReply("yes", "big-1", Usage(1, 70, 1), "length", logprobs)
    assert ask(ScriptedChat([line]), "a") == line


def test_one_text_is_not_taken_for_a_list_of_letters():
    with pytest.raises(InputError, match="put the one reply in a list"):
        ScriptedChat("hello")
