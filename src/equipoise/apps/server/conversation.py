"""What a chat in OpenAI's form asks: only the last user message is the question.

Earlier messages of the same person may say what a follow-up is about (`text.questions`); what an assistant or a system
said never reaches the pipeline. A chat program's own requests, for a title and the like, are no questions.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from equipoise.apps.server.errors import ApiError
from equipoise.apps.server.schemas import WHERE, K, TrustMode
from equipoise.text.questions import EARLIER, MAX_QUESTION, one_question, split_questions
from equipoise.text.references import follows_up

MOST_MESSAGES = 1_000
TASK = "### Task:"
"""What requests of Open WebUI for its own housekeeping begin with."""
TITLE = 50
UNCLEAR = "This question refers to something said before, which is not known here: ask it in full."
_TASKS: dict[str, object] = {"follow_ups": [], "tags": [], "queries": [], "text": ""}


class Part(BaseModel):
    """A part of a message; only text can be asked."""

    model_config = ConfigDict(extra="ignore")

    type: str = Field(max_length=100)
    text: str | None = None


class ChatMessage(BaseModel):
    """One message of a chat."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(BaseModel):
    """What a stream ends with."""

    model_config = ConfigDict(extra="ignore")

    include_usage: StrictBool | None = None


class ChatBody(BaseModel):
    """A request in OpenAI's form; what is not named here is ignored."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [
                {
                    "model": "equipoise",
                    "messages": [
                        {"role": "user", "content": "Can WAL mode be used over a network filesystem?"}
                    ],
                }
            ]
        },
    )

    model: str = Field(min_length=1, max_length=200)
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: StrictBool | None = None
    n: StrictInt | None = Field(default=None, ge=1, le=1, description="One answer.")
    stream_options: StreamOptions | None = None
    where: str | dict[str, Any] | None = Field(default=None, description=WHERE)
    k: K = None
    trust: TrustMode = None

    @property
    def wants_usage(self) -> bool:
        """Whether a stream is to end with what it has cost."""
        return bool(self.stream_options and self.stream_options.include_usage)


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of a chat and those the same person asked before it."""

    question: str
    before: tuple[str, ...]

    @property
    def task(self) -> bool:
        """Whether it is a chat program's housekeeping."""
        return self.question.lstrip().startswith(TASK)

    @property
    def is_unclear(self) -> bool:
        """Whether it only makes sense after a question that is not there."""
        if len(self.question) > MAX_QUESTION or len(split_questions(self.question, self.before)) > 1:
            return False
        return follows_up(self.question) and not one_question(self.question, self.before).before


def asked(messages: Sequence[ChatMessage]) -> Asked:
    """What the chat asks. Raises ApiError where its last user message holds no text, or more than text."""
    said = [_text(message) for message in messages if message.role == "user"]
    if not said:
        raise ApiError(400, "There is no message with the role user.", param="messages")
    if not said[-1].strip():
        raise ApiError(400, "The last user message is empty.", param="messages")
    before = [text for text in said[:-1] if text.strip() and not text.lstrip().startswith(TASK)]
    return Asked(said[-1], tuple(before[-EARLIER:]))


def housekeeping(request: str) -> str:
    """The reply to a chat program's own request: a title from the person's words, nothing else invented."""
    for name, nothing in _TASKS.items():
        if f'"{name}"' in request:
            return json.dumps({name: nothing})
    if '"title"' in request:
        _, _, rest = request.partition("USER: ")
        first = " ".join(rest.partition("\n")[0].split())
        return json.dumps({"title": first[:TITLE] or "Question"}, ensure_ascii=False)
    return "{}"


def _text(message: ChatMessage) -> str:
    content: Any = message.content
    if content is None or isinstance(content, str):
        return content or ""
    if any(part.type != "text" for part in content):
        raise ApiError(400, "Only text can be asked: leave images and files out.", param="messages")
    return "\n".join(part.text or "" for part in content)
