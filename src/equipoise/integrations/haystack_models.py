"""Haystack's chat generators and embedders as ours, and what its components share: serialization and warm-up."""

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, Self, TypeAlias, TypeVar

from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.types import ChatReply, Message, Usage
from equipoise.integrations import parts
from equipoise.rag.components import Components

try:
    from haystack import default_from_dict, default_to_dict
    from haystack.core.component import Component
    from haystack.dataclasses import ChatMessage
except ImportError:
    raise MissingExtra("haystack-ai", "haystack") from None

T = TypeVar("T")
Settings = dict[str, Any]
Chat: TypeAlias = ChatModel | Component | str | None
Embedder: TypeAlias = Encoder | Component | str | None
TURNS = {
    "system": ChatMessage.from_system,
    "user": ChatMessage.from_user,
    "assistant": ChatMessage.from_assistant,
}


class Written:
    """Serializes a component as the arguments it was made with, which are its attributes."""

    def to_dict(self) -> dict[str, Any]:
        """As Haystack writes components."""
        names = [name for name in signature(type(self).__init__).parameters if name != "self"]
        return default_to_dict(self, **{name: getattr(self, name) for name in names})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """As `to_dict` wrote it."""
        return default_from_dict(cls, data)


class WarmMade(parts.Made[T]):
    """As `parts.Made`; warming it up warms up the components of Haystack that it was given."""

    def __init__(
        self, settings: Settings | None, chat: Chat, embedder: Embedder, make: Callable[[Components], T]
    ) -> None:
        super().__init__(
            make, settings, lambda blocking: chat_model(chat, blocking=blocking), lambda: encoder_of(embedder)
        )
        self._warmed = [component for component in (chat, embedder) if isinstance(component, Component)]

    def warm_up(self) -> None:
        """Make it, and warm up what it is made of."""
        for component in self._warmed:
            if hasattr(component, "warm_up"):
                component.warm_up()
        self.get(blocking=True)


def chat_model(given: Chat, *, blocking: bool) -> ChatModel | str | None:
    """A chat generator as a ChatModel, anything else as it is. Raises InputError for what is none of `Chat`."""
    if given is None or isinstance(given, str | ChatModel):
        return given
    if not isinstance(given, Component) or "messages" not in _sockets(given):
        raise InputError(
            f"chat is a chat generator of Haystack, a ChatModel or a name, not of type {type_name(given)}"
        )
    generator: Any = given
    name = f"{type_name(given)}/{getattr(generator, 'model', '')}".rstrip("/")

    async def say(messages: Sequence[Message]) -> ChatReply:
        turns = [TURNS[message.role](message.content) for message in messages]
        if blocking or not getattr(generator, "__haystack_supports_async__", False):
            said = await parts.in_thread(generator.run, messages=turns)
        else:
            said = await generator.run_async(messages=turns)
        return _reply(said["replies"][0], name)

    return parts.ForeignChat(name, say)


def _reply(said: ChatMessage, name: str) -> ChatReply:
    spent = said.meta.get("usage") or {}
    read, wrote = (spent.get(f"{kind}_tokens") for kind in ("prompt", "completion"))
    usage = Usage(1, read if isinstance(read, int) else 0, wrote if isinstance(wrote, int) else 0)
    return ChatReply(said.text or "", name, usage, str(said.meta.get("finish_reason") or "stop"))


def encoder_of(given: Embedder) -> Encoder | str | None:
    """A text embedder as an Encoder, anything else as it is. Raises InputError for what is none of `Embedder`."""
    if given is None or isinstance(given, str | Encoder):
        return given
    if not isinstance(given, Component) or "text" not in _sockets(given):
        raise InputError(
            f"embedder is a text embedder of Haystack, an Encoder or a name, not of type {type_name(given)}"
        )
    embedder: Any = given

    def vector(text: str) -> list[float]:
        embedding: list[float] = embedder.run(text=text)["embedding"]
        return embedding

    name = f"{type_name(given)}/{getattr(embedder, 'model', '')}".rstrip("/")
    return parts.ForeignEncoder(name, lambda texts: [vector(text) for text in texts], vector)


def type_name(value: object) -> str:
    """The name of its class, for messages."""
    return type(value).__name__


def _sockets(component: Any) -> dict[str, Any]:  # noqa: ANN401
    """The inputs of a component by name."""
    sockets: dict[str, Any] = component.__haystack_input__._sockets_dict
    return sockets
