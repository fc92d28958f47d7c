"""Many users at once: no answer, stream or line of the log holds what belongs to another one."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import openai

from equipoise.models.scripted import ScriptedChat
from serving import FirstSentence, made_index

USERS, ROUNDS = 50, 4
CANARY = re.compile(r"canary[a-z]+")


def name(number):
    return "canary" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}")


def echo(messages):
    """A model that repeats the canaries of its own request."""
    canaries = CANARY.findall(messages[-1].content)
    return f"It is about {canaries[-1] if canaries else 'nothing'}."


def texts():
    for number in range(USERS):
        yield (
            name(number),
            f"The word of this house is {name(number)} and it has been so for many long years.",
        )


def test_nobody_gets_what_is_another_users(live, tmp_path):
    path = made_index(tmp_path, **dict(texts()))
    url, service = live(
        path=path,
        chat=ScriptedChat(echo),
        highlighter=FirstSentence(),
        vanilla=True,
        trace=True,
        answers=8,
        queue=USERS * 3,
        wait=600.0,
        settings={"summarize": {"name": "extractive"}, "question": {"spelling": False}},
    )
    secrets = [service.keys.create(name(number))[1] for number in range(USERS)]

    def user(number):
        client = openai.OpenAI(base_url=f"{url}/v1", api_key=secrets[number], max_retries=0, timeout=600)
        said = [{"role": "user", "content": f"Where is {name(number)} ?"}]
        replies = []
        for round_ in range(ROUNDS):
            model = ("equipoise", "equipoise-vanilla")[round_ % 2]
            if round_ < ROUNDS // 2:
                replies.append(client.chat.completions.create(model=model, messages=said).model_dump_json())
            else:
                chunks = client.chat.completions.create(model=model, messages=said, stream=True)
                replies.append(" ".join(chunk.model_dump_json() for chunk in chunks))
        return replies

    with ThreadPoolExecutor(USERS) as pool:
        for number, replies in enumerate(pool.map(user, range(USERS))):
            for reply in replies:
                assert set(CANARY.findall(reply)) == {name(number)}
    lines = service.audit.path.read_text("utf-8").splitlines()
    assert len(lines) == USERS * ROUNDS
    keys = {key.key_id: key.name for key in service.keys.all()}
    for line in lines:
        entry = json.loads(line)
        assert set(CANARY.findall(entry["question"])) == {keys[entry["key"]]}
