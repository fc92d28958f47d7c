"""ScriptedChat: a chat model that says what it is told. For tests, ours and yours; no network."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from equipoise.core.errors import InputError
from equipoise.core.protocols import JsonSchema
from equipoise.core.types import ChatOptions, ChatReply, Message, Usage

Line = str | ChatReply | Exception
"""What the model says: a text, a whole reply, or an error that it raises."""

Script = Sequence[Line] | Mapping[str, Line] | Callable[[Sequence[Message]], Line]


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """One recorded call of `complete`."""

    messages: tuple[Message, ...]
    schema: JsonSchema | None
    options: ChatOptions


class ScriptedChat:
    """A ChatModel that follows `script` and keeps every request in `requests`, in order.

    The script is a list (one line per request), a mapping (the line of the first key that occurs in any
    message), or a function of the messages.

    >>> from equipoise.core.sync import run
    >>> run(ScriptedChat(["Paris."]).complete([Message("user", "The capital of France?")])).text
    'Paris.'
    """

    def __init__(self, script: Script, *, name: str = "scripted") -> None:
        if isinstance(script, str):
            raise InputError("a script is a list, a mapping or a function: put the one reply in a list")
        self._script = script
        self._name = name
        self.requests: list[ScriptedRequest] = []

    @property
    def name(self) -> str:
        """The name given at construction."""
        return self._name

    def __repr__(self) -> str:
        return f"ScriptedChat({self._name!r}, {len(self.requests)} requests so far)"

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        """The next line of the script. `usage` counts one call, and words for tokens.

        Raises the line itself where it is an error; InputError when the script has no line for the request
        (not a ModelError, which a pipeline would turn into a refusal, hiding the mistake in the test).
        """
        self.requests.append(ScriptedRequest(tuple(messages), schema, options))
        line = self._line(messages, len(self.requests))
        await asyncio.sleep(0)  # give way once, as every real model does
        if isinstance(line, Exception):
            raise line
        reply = line if isinstance(line, ChatReply) else ChatReply(line, self._name)
        if reply.usage != Usage():
            return reply
        words = sum(len(message.content.split()) for message in messages)
        return replace(reply, usage=Usage(1, words, len(reply.text.split())))

    def _line(self, messages: Sequence[Message], number: int) -> Line:
        if callable(self._script):
            return self._script(messages)
        if isinstance(self._script, Mapping):
            for key, line in self._script.items():
                if any(key in message.content for message in messages):
                    return line
            raise InputError(f"no key of {self._name}'s script occurs in request {number}: add one")
        if number > len(self._script):
            raise InputError(
                f"{self._name}'s script has {len(self._script)} lines and this is request {number}: add lines"
            )
        return self._script[number - 1]
