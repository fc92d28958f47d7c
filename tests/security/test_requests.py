"""Fact 1 at the wire: the bytes that the summarizer sends are a function of (corpus, spans, tags) alone.

A real endpoint on the loopback misbehaves as the question likes: it complains about any parameter, thinks, limits
the rate, breaks off, answers oddly. The pipeline and its client are the real ones, and what is compared are the
complete HTTP bodies, in number and order, from the summarizer's first request on, probes included.
"""

import asyncio
import json
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest
from blind import CANARY, relaxed
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from chat_server import ChatServer, Say, completion, error
from equipoise.core.errors import ModelError
from equipoise.core.protocols import Highlighter
from equipoise.core.settings import Settings
from equipoise.core.types import CUT, Message, Proposal, Span, Tag, Trust
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.models import openai
from equipoise.models.dialect import Dialect
from equipoise.models.openai import OpenAIChat
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.rag import build
from equipoise.rag.components import Components
from hashed_words import HashedWords

PARAMETERS = ["response_format", "seed", "temperature", "logprobs", "max_tokens", "max_completion_tokens"]
ASKING = ["indexed", "structured", "two_step"]
SUMMARIES = "guessed_questions"  # a word of the summarizer's schema and of no other

complaints = st.one_of(
    st.sampled_from(PARAMETERS).map(lambda name: f"Unsupported parameter: '{name}' is not supported."),
    st.sampled_from(PARAMETERS).map(lambda name: f"Unrecognized request argument supplied: {name}"),
    st.just("Could not finish the message because max_tokens or model output limit was reached."),
    st.just("this model does not support " + ", ".join(PARAMETERS)),
    st.text(max_size=50),
)
refused = st.builds(
    lambda status, said, name: Say(status, error(said, code="unsupported_parameter", param=name)),
    st.sampled_from([400, 422]),
    complaints,
    st.sampled_from([*PARAMETERS, None]),
)
detailed = st.sampled_from(PARAMETERS).map(
    lambda name: Say(422, {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]})
)
plain = complaints.map(lambda said: Say(400, said.encode(), content_type="text/plain"))
odd = st.one_of(
    st.sampled_from(
        [None, [], 7, "", {"choices": None}, {"choices": [{"message": 1}]}, {"model": "\x1b[2J"}]
    ),
    st.recursive(st.none() | st.floats() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)),
).map(lambda body: Say(body=body))
spent = completion("yes") | {"usage": {"prompt_tokens": -(10**30), "completion_tokens": "many"}}
misbehaviours = st.one_of(
    refused,
    detailed,
    plain,
    odd,
    st.sampled_from(
        [
            Say(body=completion("", finish_reason=CUT)),
            Say(body=completion(None, finish_reason=CUT, reasoning_content="Hm")),
            Say(body=completion('{"sentences": [', finish_reason=CUT)),
            Say(body=spent),
            Say(429, error("slow down"), {"Retry-After": "0"}),
            Say(503, error("busy"), {"Retry-After": "nan"}),
            Say(404, error("no such model")),
            Say(hang_up=True),
            Say(body=completion("yes"), pause=0.0001),
        ]
    ),
)


class Endpoint(ChatServer):
    """Answers whatever has the canary in it as `says` want; everything else like any honest endpoint."""

    def answer(self, body):
        if CANARY in json.dumps(body["messages"]):
            return super().answer(body)
        says, self.says = self.says, deque()
        try:
            return super().answer(body)
        finally:
            self.says = says


THOUGHT = Say(body=completion("", finish_reason=CUT))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """(store, encoder) over one document, with an encoder that costs nothing: many questions are asked here."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "notes.md").write_text(
        "The office opens at 8:30 on weekdays; on Fridays it closes at 15:00. Parking is free for visitors, who get a "
        "badge at the reception on the ground floor. Whoever comes by bicycle finds a rack behind the canteen."
    )
    encoder = HashedWords()
    with Store.open(folder / "index.db", create=True) as store:
        index([folder / "notes.md"], store, encoder, trust=Trust.TRUSTED)
        yield store, encoder


@dataclass(frozen=True)
class Overruled:
    """The requests of `inner`, whatever becomes of them, and always the same spans and tags."""

    inner: Highlighter
    proposal: Proposal

    async def highlight(self, query, passages):
        with suppress(ModelError):
            await self.inner.highlight(query, passages)
        return self.proposal


def summarizer_bytes(received):
    """What was sent from the summarizer's first request on."""
    bodies = [request.raw for request in received]
    first = next(place for place, raw in enumerate(bodies) if SUMMARIES.encode() in raw)
    return bodies[first:]


def first_passage(library):
    store, _ = library
    document = store.document(sorted(store.doc_ids())[0])
    return Span(document.doc_id, *max(document.sentences, key=lambda s: s[1] - s[0]))


def asked(library, name, questions, *, refuses=(), thinks=False, tags=frozenset(), wrap=lambda chat: chat):
    """For each (question, misbehaviours) the bodies of the summarizer's requests, all through one pipeline."""
    store, encoder = library
    proposal = Proposal((first_passage(library),), tags=frozenset(tags))
    bodies = []
    with Endpoint() as server:
        server.refuses, server.thinks = set(refuses), THOUGHT if thinks else None
        chat = OpenAIChat("tiny-1", base_url=server.url, backoff_s=0.0001, max_retries=1, max_backoff_s=0.001)
        chosen = Settings.model_validate(
            {"highlight": {"name": name}, "summarize": {"when": "always", "guesses": 1}}
        )
        built = build.highlight_summarize(Components(chosen, store, encoder, wrap(chat)))
        pipeline = replace(built, highlighter=Overruled(built.highlighter, proposal))

        async def ask_all():
            for question, says in questions:
                server.received.clear()
                server.says.extend(says)
                await pipeline.ask(question)
                bodies.append(summarizer_bytes(server.received))
                server.says.clear()

        asyncio.run(ask_all())
    return bodies


typed = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(
    lambda text: f"Is {text} {CANARY}?"
)
scenes = st.lists(st.tuples(typed, st.lists(misbehaviours, max_size=12)), min_size=2, max_size=2)
endpoints = st.fixed_dictionaries(
    {
        "refuses": st.just(set()) | st.sets(st.sampled_from(PARAMETERS)),
        "thinks": st.booleans(),
        "tags": st.sets(st.sampled_from(Tag), max_size=1),
    }
)


@settings(
    relaxed(), max_examples=20, phases=[Phase.explicit, Phase.reuse, Phase.generate]
)  # shrinking takes minutes
@given(loud=scenes, endpoint=endpoints)
@pytest.mark.parametrize("name", ASKING)
def test_no_question_changes_a_byte_of_what_the_summarizer_sends(library, name, loud, endpoint):
    quiet = [(f"What {CANARY}?", ()), (f"Why {CANARY}?", ())]
    assert asked(library, name, loud, **endpoint) == asked(library, name, quiet, **endpoint)


@pytest.mark.parametrize(
    ("learnt", "say"),
    [
        (Dialect(thinks=True), THOUGHT),
        (Dialect(frozenset({"seed"})), Say(400, error("Unsupported parameter: 'seed'", param="seed"))),
    ],
)
def test_what_is_learnt_from_a_question_and_shared_between_roles_is_caught(library, monkeypatch, learnt, say):
    """Two mutants at the wire: the dialect is read from what became of a question, and roles share it."""

    async def probed(model, send):
        return learnt

    monkeypatch.setattr(openai, "probed", probed)
    monkeypatch.setattr(OpenAIChat, "for_role", lambda self, role: self)
    loud, quiet = (asked(library, "indexed", [(f"Is it {CANARY}?", says)]) for says in ([say] * 12, ()))
    assert loud != quiet


@pytest.mark.parametrize("parameter", [*PARAMETERS, None])
def test_a_question_that_makes_the_endpoint_complain_teaches_the_summarizer_nothing(library, parameter):
    said = (
        f"Unsupported parameter: '{parameter}'"
        if parameter
        else "Could not finish the message because max_tokens"
    )
    say = Say(400, error(f"{said} is not supported", code="unsupported_parameter", param=parameter))
    loud, quiet = (asked(library, "indexed", [(f"Is it {CANARY}?", says)]) for says in ([say] * 12, ()))
    assert loud == quiet


def test_a_question_that_makes_the_model_think_gives_the_summarizer_no_room(library):
    loud, quiet = (asked(library, "indexed", [(f"Is it {CANARY}?", says)]) for says in ([THOUGHT] * 12, ()))
    assert loud == quiet
    (body,) = (json.loads(raw) for raw in loud[0])
    assert body["max_tokens"] <= Settings().model.max_tokens


def test_a_replay_cache_around_the_model_changes_nothing(library, tmp_path):
    say = Say(400, error("Unsupported parameter: 'seed' is not supported", param="seed"))
    runs = [
        asked(library, "indexed", [(f"Is it {CANARY}?", says)],
              wrap=lambda chat, says=says: Replayed(chat, ReplayCache(tmp_path / f"{len(says)}.db")))
        for says in ([say] * 12, ())
    ]  # fmt: skip
    assert runs[0] == runs[1]


def test_headers_do_not_tell_questions_apart(library):
    """Beside the body only what is the same for every request of this client goes out."""
    with Endpoint() as server:
        chat = OpenAIChat("tiny-1", base_url=server.url)
        asyncio.run(chat.complete([Message("user", "one")]))
        asyncio.run(chat.complete([Message("user", "two")]))
        first, second = (request.headers for request in server.received)
    assert first == second
