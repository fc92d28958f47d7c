"""Mutants: the real code changed on purpose, so that a question reaches the summarizer's model.

Each one is a way in which fact 1 could be lost by a careless change. `test_noninterference.py` keeps that the property
of `cases.py` catches every one of them.
"""

import zlib
from dataclasses import replace

from equipoise import prompts
from equipoise.core.types import Message, Tag
from equipoise.rag import boundary, gathering, pipeline
from equipoise.rag.pipeline import HighlightSummarize
from equipoise.rag.summarizers import llm
from equipoise.rag.summarizers.llm import LlmSummarizer

LEAKS = {}


def mutant(name):
    """Registers a mutant; it gets `patch(owner, name, new)` and `heard`, the questions of the message so far."""

    def register(change):
        def apply(monkeypatch):
            heard = []
            begun = HighlightSummarize.begun

            async def listening(self, question, observer):
                heard.append(question.whole)
                return await begun(self, question, observer)

            monkeypatch.setattr(HighlightSummarize, "begun", listening)
            change(monkeypatch.setattr, heard)

        LEAKS[name] = apply
        return change

    return register


def number(heard):
    """A number made of the last question."""
    return zlib.crc32(heard[-1].encode("utf-8", "surrogatepass"))


def around(owner, name, patch, change):
    """Puts `change(old, *args, **more)` in the place of a function."""
    old = getattr(owner, name)
    patch(owner, name, lambda *args, **more: change(old, *args, **more))


def with_options(patch, change):
    """Lets `change` make other options for the summarizer's requests."""

    async def asking(old, *args, options, **more):
        return await old(*args, options=change(options), **more)

    around(llm, "complete_as", patch, asking)


@mutant("in the user's message")
def _(patch, heard):
    def request(old, *args, **more):
        *first, last = old(*args, **more)
        return (*first, Message(last.role, f"{last.content}\n{heard[-1]}"))

    around(llm, "request", patch, request)


@mutant("in the system message")
def _(patch, heard):
    def request(old, *args, **more):
        first, *rest = old(*args, **more)
        return (Message(first.role, f"{first.content} (Request {number(heard)}.)"), *rest)

    around(llm, "request", patch, request)


@mutant("as one message more")
def _(patch, heard):
    around(
        llm, "request", patch, lambda old, *args, **more: (*old(*args, **more), Message("user", heard[-1]))
    )


@mutant("in the seed")
def _(patch, heard):
    with_options(patch, lambda options: replace(options, seed=number(heard)))


@mutant("in the temperature")
def _(patch, heard):
    with_options(patch, lambda options: replace(options, temperature=number(heard) % 7 / 10))


@mutant("in max_tokens")
def _(patch, heard):
    around(llm, "room", patch, lambda old, *args: old(*args) + len(heard[-1]))


@mutant("in the log-probabilities that are asked for")
def _(patch, heard):
    with_options(patch, lambda options: replace(options, top_logprobs=number(heard) % 5))


@mutant("in the name of the schema")
def _(patch, heard):
    async def asking(old, chat, messages, schema, **more):
        return await old(chat, messages, type(f"Reply{number(heard)}", (schema,), {}), **more)

    around(llm, "complete_as", patch, asking)


@mutant("in the number of guesses")
def _(patch, heard):
    async def summarize(old, self, *args, **more):
        return await old(replace(self, guesses=1 + number(heard) % 4), *args, **more)

    around(LlmSummarizer, "summarize", patch, summarize)


@mutant("in the version of the prompt")
def _(patch, heard):
    class Prompts:
        @staticmethod
        def load(name, **values):
            chosen = name.replace("v3", "v2") if number(heard) % 2 else name
            return prompts.load(chosen, **{"guesses": "1"} | values if chosen != name else values)

    patch(llm, "prompts", Prompts)


@mutant("in whether the model is asked")
def _(patch, heard):
    async def summarize(old, self, *args, **more):
        return await old(replace(self, only_long=number(heard) % 2 == 0), *args, **more)

    around(LlmSummarizer, "summarize", patch, summarize)


@mutant("in the order of the calls")
def _(patch, heard):
    async def summaries(self, readings):
        first = {(one.highlights, one.tags): one.journal for one in readings if not one.refused}
        return {group: await self._summary(group, journal) for group, journal in first.items()}

    patch(HighlightSummarize, "_summaries", summaries)


@mutant("in the number of calls: one for each question")
def _(patch, heard):
    async def summaries(self, readings):
        ordered = sorted((one for one in readings if not one.refused),
                         key=lambda one: pipeline._sort_key((one.highlights, one.tags)))  # fmt: skip
        return {(one.highlights, one.tags): await self._summary((one.highlights, one.tags), one.journal)
                for one in ordered}  # fmt: skip

    patch(HighlightSummarize, "_summaries", summaries)


@mutant("in the number of calls: twice for some questions")
def _(patch, heard):
    async def summarize(old, *args, **more):
        if number(heard) % 2:
            await old(*args, **more)
        return await old(*args, **more)

    around(LlmSummarizer, "summarize", patch, summarize)


@mutant("in a cache of summaries by question")
def _(patch, heard):
    kept = {}

    async def summarize(old, *args, **more):
        key = len(heard[-1]) % 5
        if key not in kept:
            kept[key] = await old(*args, **more)
        return kept[key]

    around(LlmSummarizer, "summarize", patch, summarize)


@mutant("in the tags")
def _(patch, heard):
    async def read(old, self, query, journal, found):
        reading = await old(self, query, journal, found)
        added = {Tag.YES} if len(query.text) % 2 and not reading.refused else set()
        return replace(reading, tags=reading.tags | added)

    around(HighlightSummarize, "read", patch, read)


@mutant("in a title")
def _(patch, heard):
    def read(old, *args):
        item = old(*args)
        return replace(item, title=f"{item.title} {heard[-1]}")

    around(boundary, "_read", patch, read)


@mutant("in a quote")
def _(patch, heard):
    def read(old, *args):
        item = old(*args)
        return replace(item, text=f"{item.text} {number(heard)}")

    around(boundary, "_read", patch, read)


@mutant("in whether there is a context")
def _(patch, heard):
    around(pipeline, "with_context", patch,
           lambda old, left, *args: old(left, *args) if number(heard) % 2 else left)  # fmt: skip


@mutant("in how much context there is")
def _(patch, heard):
    def surrounding(old, *args):
        found = old(*args)
        return found[: len(found) - number(heard) % 9]

    around(boundary, "_surrounding", patch, surrounding)


@mutant("in the limits of quotes")
def _(patch, heard):
    def read(old, spans, passages, documents, policy):
        return old(spans, passages, documents, replace(policy, max_sentences=1 + number(heard) % 3))

    around(gathering, "read_highlights", patch, read)


@mutant("in the order of the quotes")
def _(patch, heard):
    def blocks(old, *args):
        found = old(*args)
        return found[::-1] if number(heard) % 2 else found

    around(llm, "_blocks", patch, blocks)


@mutant("in which of the picks came first")
def _(patch, heard):
    first = []

    def read(old, spans, *args):
        first[:] = [span for span in spans[:1] if isinstance(span.start, int)]
        return old(spans, *args)

    def blocks(old, highlights, line):
        return old(highlights, lambda item: line(item) + " *" * (item.span in first))

    around(gathering, "read_highlights", patch, read)
    around(llm, "_blocks", patch, blocks)


@mutant("in which question of a message gets the room")
def _(patch, heard):
    def within(sets, documents, policy):
        left, found = policy.max_sentences, []
        for one in sets:
            kept = replace(one, items=one.items[:left])
            left -= len(kept.items)
            found.append((kept, ()))
        return found

    patch(pipeline, "within_one_policy", within)


@mutant("in what was asked before")
def _(patch, heard):
    with_options(patch, lambda options: replace(options, seed=len(heard)))
