"""A chat model that is listened to: what it is asked and what it says passes through unchanged, and is kept."""

from collections.abc import Callable, Sequence

from equipoise.core.protocols import ChatModel, JsonSchema
from equipoise.core.types import ChatOptions, ChatReply, Message


class ListeningChat:
    """A ChatModel that hands every request on to `chat`.

    `asked` counts the requests, `replies` are the texts of those that were answered.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        rewrite: Callable[[Sequence[Message]], Sequence[Message]] | None = None,
        heard: Callable[[ChatReply], None] | None = None,
    ) -> None:
        """`rewrite` makes the messages that are sent of those that came; `heard` is called with each reply."""
        self._chat = chat
        self._rewrite = rewrite
        self._heard = heard
        self.asked = 0
        self.replies: list[str] = []

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self._chat.name

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        """The reply of the model inside. Raises what that raises."""
        self.asked += 1
        sent = self._rewrite(messages) if self._rewrite else messages
        reply = await self._chat.complete(sent, schema=schema, options=options)
        self.replies.append(reply.text)
        if self._heard:
            self._heard(reply)
        return reply
