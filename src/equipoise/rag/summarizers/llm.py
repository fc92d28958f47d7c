"""Blind summarizer (H&S, section 4.1): guesses the question from the quotes, then answers it.

`request` is the whole of what the model receives, a pure function of highlights and tags: this module
has no access to the question and does not import its type. The answer is checked against the quotes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

from pydantic import BaseModel, Field, create_model

from equipoise import prompts
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Highlights, Message, Summary, Tag
from equipoise.models.structured import complete_as
from equipoise.rag.parts import Parts
from equipoise.rag.summarizers.extractive import joined
from equipoise.text.support import unsupported


class SummaryReply(BaseModel):
    """Guesses come first: they settle what the answer is about."""

    guessed_questions: list[str]
    answer: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class LlmSummarizer:
    """`guesses` questions at most (1 to 10)."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    guesses: int = 5

    @classmethod
    def from_parts(cls, parts: Parts) -> "LlmSummarizer":
        """Built from the settings."""
        chat = parts.need_chat("the summarizer 'llm'")
        return cls(chat, parts.options, parts.settings.summarize.guesses)

    async def summarize(self, highlights: Highlights, *, tags: frozenset[Tag] = frozenset()) -> Summary:
        """The model's answer, or the quotes where it says what they do not; raises ModelError."""
        messages = request(highlights, tags, guesses=self.guesses)
        reply, usage = await complete_as(
            self.chat, messages, reply_schema(self.guesses), options=self.options
        )
        guessed = distinct(reply.guessed_questions)[: self.guesses]
        strange = unsupported(reply.answer, evidence(highlights))
        answer = joined(highlights, tags) if strange else reply.answer.strip()
        return Summary(answer, guessed, not strange, strange, usage)


def request(highlights: Highlights, tags: frozenset[Tag], *, guesses: int) -> tuple[Message, ...]:
    """The messages for these highlights. Equal highlights and tags give equal bytes."""
    by_document = groupby(highlights.items, key=lambda item: item.doc_id)
    blocks = []
    for _, group in by_document:
        items = list(group)
        quotes = "\n".join(f"- {' '.join(item.text.split())}" for item in items)
        blocks.append(f"From {items[0].title or 'a document'}:\n{quotes}")
    verdicts = [f"The answer to the question is: {tag.value}." for tag in sorted(tags)]
    return prompts.load("summarize-v1", guesses=str(guesses), quotes="\n\n".join([*blocks, *verdicts]))


def reply_schema(guesses: int) -> type[SummaryReply]:
    """The reply's schema with the number and the length of the guesses bounded."""
    question = Field(max_length=150)
    bounded = list[Annotated[str, question]]
    return create_model(
        "SummaryReply",
        __base__=SummaryReply,
        guessed_questions=(bounded, Field(min_length=1, max_length=guesses)),
    )


def distinct(questions: Sequence[str]) -> tuple[str, ...]:
    """The questions without repeats (case and spacing aside) and without blanks, in order."""
    first = {" ".join(question.casefold().split()): question.strip() for question in reversed(questions)}
    return tuple(first[key] for key in reversed(first) if key)


def evidence(highlights: Highlights) -> list[str]:
    """Everything an answer may rest on: the quotes and the titles of their documents."""
    return [text for item in highlights.items for text in (item.text, item.title)]
