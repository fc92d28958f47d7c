"""The real `openai` client against a server on a port: sync, async, stream, errors."""

import asyncio
import json
import socket
import threading
from http.client import HTTPConnection

import openai
import pytest

from equipoise.core.errors import ModelUnavailable
from equipoise.models.scripted import ScriptedChat
from serving import WAITS_S, WAL, FirstSentence, add_forum, made_index, wait_until

QUESTION = "Does logging work over a network?"
QUOTE = WAL
SAYS = '{"answer": "Write-ahead logging does not work over a network filesystem."}'
ALWAYS = {"summarize": {"when": "always"}}


def user(text):
    return [{"role": "user", "content": text}]


def client_of(url, **how):
    return openai.OpenAI(base_url=f"{url}/v1", api_key="any", **({"max_retries": 0} | how))


def gathered(chunks):
    """Text, annotations, source events, usage and finish of a stream."""
    text, notes, sources, usage, finish = "", [], [], None, None
    for chunk in chunks:
        usage = chunk.usage or usage
        extra = chunk.model_extra or {}
        sources += [extra["event"]] if "event" in extra else []
        for choice in chunk.choices:
            text += choice.delta.content or ""
            notes += (choice.delta.model_extra or {}).get("annotations") or []
            finish = choice.finish_reason or finish
    return text, notes, sources, usage, finish


def test_models_are_pipelines(live):
    url, _ = live()
    client = client_of(url)
    assert [model.id for model in client.models.list()] == ["equipoise"]
    assert client.models.retrieve("equipoise").id == "equipoise"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-9")


def test_an_answer_has_numbers_annotations_and_usage(live):
    url, _ = live(chat=ScriptedChat(lambda _: SAYS), settings=ALWAYS)
    reply = client_of(url).chat.completions.create(
        model="equipoise", messages=user(QUESTION), temperature=0, tools=[], extra_body={"unknown": 1}
    )
    message = reply.choices[0].message
    assert message.content == "Write-ahead logging does not work over a network filesystem. [1]"
    [note] = message.annotations
    assert message.content[note.url_citation.start_index : note.url_citation.end_index] == "[1]"
    assert note.url_citation.url.startswith(f"{url}/?doc=")
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0


def test_without_a_model_the_answer_is_the_quotes(live):
    url, _ = live()
    reply = client_of(url).chat.completions.create(model="equipoise", messages=user(QUESTION))
    assert reply.choices[0].message.content == f"{QUOTE} [1]"


def test_a_stream_has_sources_first_then_text_then_annotations(live):
    url, _ = live(chat=ScriptedChat(lambda _: SAYS), settings=ALWAYS)
    chunks = list(
        client_of(url).chat.completions.create(
            model="equipoise", messages=user(QUESTION), stream=True, stream_options={"include_usage": True}
        )
    )
    text, notes, [source], usage, finish = gathered(chunks)
    assert text.endswith("[1]") and len(notes) == 1 and finish == "stop" and usage.total_tokens > 0
    assert source["data"]["document"] == [QUOTE]
    assert source["data"]["metadata"][0]["source"] == notes[0]["url_citation"]["url"]
    first = [bool((chunk.model_extra or {}).get("event")) for chunk in chunks].index(True)
    texts = [row for row, chunk in enumerate(chunks) if chunk.choices and chunk.choices[0].delta.content]
    assert first < texts[0]
    with client_of(url).chat.completions.stream(model="equipoise", messages=user(QUESTION)) as events:
        for _ in events:
            pass
        assert events.get_final_completion().choices[0].message.content == text


def test_the_async_client(live):
    url, _ = live()

    async def asked():
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any") as client:
            whole = await client.chat.completions.create(model="equipoise", messages=user(QUESTION))
            pieces = [
                chunk
                async for chunk in await client.chat.completions.create(
                    model="equipoise", messages=user(QUESTION), stream=True
                )
            ]
        return whole.choices[0].message.content, gathered(pieces)[0]

    whole, streamed = asyncio.run(asked())
    assert whole == streamed == f"{QUOTE} [1]"


def test_a_refusal_is_said_in_words(live):
    url, _ = live()
    for stream in (False, True):
        reply = client_of(url).chat.completions.create(
            model="equipoise", messages=user("Which colour has tuesday morning?"), stream=stream
        )
        text = gathered(reply)[0] if stream else reply.choices[0].message.content
        assert text.startswith("The documents do not seem to answer this question.")


def test_a_failing_model_is_an_error_with_the_right_form(live):
    failing = FirstSentence(ModelUnavailable("gpt-9 at https://secret.example did not answer"))
    url, _ = live(highlighter=failing)
    with pytest.raises(openai.InternalServerError) as error:
        client_of(url).chat.completions.create(model="equipoise", messages=user(QUESTION))
    assert error.value.code == "model_failed" and "secret" not in str(error.value)
    with pytest.raises(openai.APIError) as error:
        list(client_of(url).chat.completions.create(model="equipoise", messages=user(QUESTION), stream=True))
    assert error.value.code == "model_failed"


@pytest.mark.parametrize(
    ("change", "kind", "param"),
    [
        ({"model": "gpt-9"}, openai.NotFoundError, "model"),
        ({"messages": []}, openai.BadRequestError, "messages"),
        ({"messages": [{"role": "system", "content": "Hi"}]}, openai.BadRequestError, "messages"),
        ({"messages": [{"role": "king", "content": "Hi"}]}, openai.BadRequestError, "messages.0.role"),
        ({"messages": user("hello") * 10_000}, openai.BadRequestError, "messages"),
        (
            {"messages": user([{"type": "image_url", "image_url": {"url": "x"}}])},
            openai.BadRequestError,
            "messages",
        ),
        ({"messages": user("  ")}, openai.BadRequestError, "messages"),
        ({"n": 2}, openai.BadRequestError, "n"),
    ],
)
def test_bad_requests(live, change, kind, param):
    url, _ = live()
    with pytest.raises(kind) as error:
        client_of(url).chat.completions.create(**{"model": "equipoise", "messages": user(QUESTION)} | change)
    assert error.value.param == param
    assert 10 < len(error.value.body["message"]) < 300


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[]", 400),
        (b"null", 400),
        (b'{"model": "equipoise"}', 400),
        (b'{"model": "equipoise", "messages": "Who?"}', 400),
        (b'{"model": "equipoise", "messages": [{"role": "user", "content": "' + b"a" * 10_000_000, 413),
    ],
    ids=["cut off", "no text", "a list", "nothing", "no messages", "a string", "10 MB"],
)
def test_bytes_that_are_no_request_get_one_sentence_in_the_form_of_errors(served, body, status):
    headers = served.as_asker() | {"Content-Type": "application/json"}
    response = served.client.post("/v1/chat/completions", content=body, headers=headers)
    assert response.status_code == status
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"} and error["type"] == "invalid_request_error"
    assert 10 < len(error["message"]) < 300 and error["message"].endswith(".")


def test_only_the_last_user_message_is_the_question(live):
    seen = []

    class Watching(FirstSentence):
        async def highlight(self, query, passages):
            seen.append(query.text)
            return await super().highlight(query, passages)

    url, _ = live(highlighter=Watching())
    history = [
        {"role": "system", "content": "INSTRUCTED always say yes"},
        {"role": "user", "content": "Who feeds the cats of the harbour?"},
        {"role": "assistant", "content": "ANSWERED The fishermen."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    ]
    client_of(url).chat.completions.create(model="equipoise", messages=history)
    assert seen == [QUESTION]


def test_a_follow_up_is_read_with_the_question_it_needs_or_is_said_to_be_unclear(live):
    url, _ = live()
    asked = [*user("Who feeds the cats of the harbour?"), {"role": "assistant", "content": "Fishermen."}]
    reply = client_of(url).chat.completions.create(
        model="equipoise", messages=[*asked, *user("And when do they feed them?")]
    )
    assert reply.choices[0].message.content.startswith("(Read together with your earlier question.)")
    alone = client_of(url).chat.completions.create(
        model="equipoise", messages=user("And when do they feed them?")
    )
    assert "refers to something said before" in alone.choices[0].message.content


TASKS = [
    (
        '### Task:\nGenerate a title. { "title": "..." }\n<chat_history>\nUSER: Who feeds cats?\nASSISTANT: They do.',
        "title",
    ),
    ('### Task:\nGenerate 1-3 broad tags. { "tags": ["tag1"] }\n<chat_history>\nUSER: Hi\n', "tags"),
    ('### Task:\nSuggest 3-5 follow-ups { "follow_ups": ["Q1"] }\n', "follow_ups"),
]


@pytest.mark.parametrize(("request_", "name"), TASKS, ids=[name for _, name in TASKS])
def test_housekeeping_is_answered_without_retrieval_and_without_charge(live, request_, name):
    url, service = live()
    made, secret = service.keys.create("chat", questions=1)
    client = client_of(url, default_headers={"Authorization": f"Bearer {secret}"})
    for stream in (False, True):
        reply = client.chat.completions.create(model="equipoise", messages=user(request_), stream=stream)
        text = gathered(reply)[0] if stream else reply.choices[0].message.content
        assert name in json.loads(text)
    assert json.loads(text) == ({"title": "Who feeds cats?"} if name == "title" else {name: []})
    assert service.keys.spent(made) == (0, 0)


def test_quotes_as_markdown_links_where_the_operator_wants_them(live):
    url, _ = live(links=True)
    reply = client_of(url).chat.completions.create(model="equipoise", messages=user(QUESTION))
    assert f"[1]({url}/?doc=" in reply.choices[0].message.content


def test_trust_and_the_number_of_passages_can_be_chosen(live, tmp_path):
    made_index(tmp_path)
    url, _ = live(path=add_forum(tmp_path, anna="A ticket for a dog costs 2 euros on the ferry."))

    def reply(**more):
        said = user("How much is the dog on a ferry?")
        made = client_of(url).chat.completions.create(model="equipoise", messages=said, extra_body=more)
        return made.model_extra["equipoise"]

    assert reply(k=1)["trust"] == reply(trust="trusted-first")["trust"] == "untrusted"
    assert reply(trust="trusted-only")["refused"]
    with pytest.raises(openai.BadRequestError):
        reply(k=99)


def test_plain_rag_is_there_only_where_it_is_allowed(live):
    url, _ = live(vanilla=True, chat=ScriptedChat(lambda _: "Plainly no."))
    client = client_of(url)
    assert [model.id for model in client.models.list()] == ["equipoise", "equipoise-vanilla"]
    reply = client.chat.completions.create(model="equipoise-vanilla", messages=user(QUESTION))
    assert reply.choices[0].message.content == "Plainly no."


def test_over_the_rate_the_client_is_told_when_to_come_back(live):
    url, service = live()
    _, secret = service.keys.create("slow", rate=1)
    client = openai.OpenAI(base_url=f"{url}/v1", api_key=secret, max_retries=0)
    client.chat.completions.create(model="equipoise", messages=user(QUESTION))
    with pytest.raises(openai.RateLimitError) as error:
        client.chat.completions.create(model="equipoise", messages=user(QUESTION), stream=True)
    assert int(error.value.response.headers["retry-after"]) > 0


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_stops_the_work(live, stream):
    started, stopped = threading.Event(), threading.Event()

    class Endless:
        async def highlight(self, query, passages):
            started.set()
            try:
                await asyncio.sleep(600)
            finally:
                stopped.set()

    url, service = live(highlighter=Endless())
    body = {"model": "equipoise", "messages": user(QUESTION), "stream": stream}
    connection = HTTPConnection(url.removeprefix("http://"))
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    assert started.wait(WAITS_S)
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    assert stopped.wait(WAITS_S)
    wait_until(lambda: not service.active and service.queue.running == 0)


def test_a_question_that_takes_too_long_is_given_up(live):
    class Endless:
        async def highlight(self, query, passages):
            await asyncio.sleep(600)

    url, service = live(highlighter=Endless(), timeout=0.05)
    with pytest.raises(openai.APIStatusError) as error:
        client_of(url).chat.completions.create(model="equipoise", messages=user(QUESTION))
    assert error.value.status_code == 504 and error.value.code == "timeout"
    assert service.queue.running == 0


def test_a_stream_that_is_cut_off_when_the_server_stops_ends_with_an_error(live):
    started = threading.Event()

    class Endless:
        async def highlight(self, query, passages):
            started.set()
            await asyncio.sleep(600)

    url, service = live(highlighter=Endless())
    body = {"model": "equipoise", "messages": user(QUESTION), "stream": True}
    connection = HTTPConnection(url.removeprefix("http://"), timeout=WAITS_S)
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    assert started.wait(WAITS_S)
    service.is_draining = True
    for task in list(service.active):
        task.get_loop().call_soon_threadsafe(task.cancel)
    *_, error, done, _ = connection.getresponse().read().decode().split("\n\n")
    assert json.loads(error.removeprefix("data: "))["error"]["code"] == "stopping" and done == "data: [DONE]"
