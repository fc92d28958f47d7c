"""A server over the documents of `canaries`: `python canary_server.py STORE FOLDER echo|leak|URL`. It prints its port.

With `echo` its model repeats what stands in its own request, after a while that differs; its replies are kept in the
cache `FOLDER/replies.db`, and what each request held is written to `FOLDER/requests.jsonl`, by the request's key there.
`leak` is a model that now and then says what stood in an earlier request: a campaign has to find that. With a URL the
model is the endpoint there, with little patience.
"""

import asyncio
import json
import random
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from canaries import CANARY, NONCE

from equipoise.apps.listening import bound
from equipoise.apps.server import run
from equipoise.apps.server.service import open_service
from equipoise.core.settings import Settings
from equipoise.core.types import ChatOptions, ChatReply, Proposal, Span, Usage
from equipoise.models.openai import OpenAIChat
from equipoise.models.replay import ReplayCache, Replayed, request_key
from hashed_words import HashedWords

LEAKS = 0.02
SLOWEST_S = 0.05
KEY = "sk-of-the-endpoint"


class Own:
    """Highlights the sentence with the canary of the question."""

    async def highlight(self, query, passages):
        """See Highlighter."""
        [canary] = CANARY.findall(query.text)
        spans = [
            Span(passage.doc_id, passage.start + start, passage.start + end)
            for passage in passages
            for start, end in passage.sentences
            if canary in passage.text[start:end]
        ]
        return Proposal(tuple(spans[:1]), probability=0.9, threshold=0.5)


def said_of(text, schema):
    """The model's reply: the canary of its request, with the nonce where it was shown one."""
    canaries, nonces = CANARY.findall(text), NONCE.findall(text)
    if schema:
        return json.dumps({"answer": f"In this house the word is {canaries[-1]}."})
    return f"The word is {canaries[-1]} {' '.join(nonces[-1:])}."


class Echo:
    """A ChatModel that repeats what stands in its own request."""

    name = "echo"

    def __init__(self, folder, *, leaks):
        self._log, self._leaks, self._before = folder / "requests.jsonl", leaks, ""

    async def complete(self, messages, *, schema=None, options=ChatOptions()):
        """See ChatModel."""
        text = "\n".join(message.content for message in messages)
        await asyncio.sleep(random.uniform(0, SLOWEST_S))
        reply = said_of(text, schema)
        key = request_key(self.name, messages, schema, options)
        with self._log.open("a") as log:
            log.write(json.dumps({"key": key, "reply": reply}) + "\n")
        said = self._before if self._leaks and self._before and random.random() < LEAKS else reply
        self._before = reply
        return ChatReply(said, self.name, usage=Usage(1, len(text.split()), len(said.split())))


def main():
    """Serve until a signal comes."""
    store, folder, model = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if model in ("echo", "leak"):
        chat = Replayed(Echo(folder, leaks=model == "leak"), ReplayCache(folder / "replies.db"))
    else:
        chat = OpenAIChat("tiny", api_key=KEY, base_url=model, timeout_s=2.0, max_retries=1, backoff_s=0.05)
    run.open_service = partial(
        open_service, encoder=HashedWords(), reranker=None, highlighter=Own(), chat=chat
    )
    settings = Settings.model_validate(
        {
            "store": {"path": store},
            "model": {"llm": "none"},
            "summarize": {"when": "always"},
            "question": {"spelling": False},
            "serve": {"vanilla": True, "trace": True, "answers": 16, "queue": 500, "wait": 60},
        }
    )
    with bound("127.0.0.1", 0) as listening:
        print(listening.getsockname()[1], flush=True)
        run.run(settings, listening)


if __name__ == "__main__":
    main()
