"""LangChain's chat models and embeddings as ours, and our encoders as its embeddings."""

from collections.abc import Sequence

from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.types import ChatReply, Message, Usage
from equipoise.integrations import parts
from equipoise.models.encoder import encode_questions
from equipoise.rag import build

try:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
except ImportError:
    raise MissingExtra("langchain-core", "langchain") from None

TURNS: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


class EncoderEmbeddings(Embeddings):
    """An encoder of this package as embeddings for LangChain's own stores; `minilm` runs offline."""

    def __init__(self, encoder: Encoder | str = "minilm") -> None:
        self.encoder = encoder if isinstance(encoder, Encoder) else build.encoder(encoder)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector of length 1 for each text."""
        vectors: list[list[float]] = self.encoder.encode(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        vector: list[float] = encode_questions(self.encoder, [text])[0].tolist()
        return vector


def chat_of(given: object, *, blocking: bool) -> ChatModel | str | None:
    """A chat model of LangChain as a ChatModel, anything else as it is. Raises InputError for what is none."""
    if given is None or isinstance(given, str | ChatModel):
        return given
    if not isinstance(given, BaseChatModel):
        kind = type(given).__name__
        raise InputError(
            f"chat is a BaseChatModel of LangChain, a ChatModel or a name, not of type {kind}: pass the model itself"
        )
    model = given
    name = str(getattr(model, "model_name", "") or getattr(model, "model", "") or model._llm_type)

    async def say(messages: Sequence[Message]) -> ChatReply:
        turns = [TURNS[message.role](message.content) for message in messages]
        said = await (parts.in_thread(model.invoke, turns) if blocking else model.ainvoke(turns))
        return _reply(said, name)

    return parts.ForeignChat(name, say)


def _reply(said: AIMessage, name: str) -> ChatReply:
    spent, told = said.usage_metadata, said.response_metadata
    usage = Usage(1, spent["input_tokens"], spent["output_tokens"]) if spent else Usage(1, 0, 0)
    return ChatReply(str(said.text), name, usage, str(told.get("finish_reason") or "stop"))


def encoder_of(given: object) -> Encoder | str | None:
    """Embeddings of LangChain as an Encoder, anything else as it is. Raises InputError for what is none."""
    if given is None or isinstance(given, str | Encoder):
        return given
    if not isinstance(given, Embeddings):
        kind = type(given).__name__
        raise InputError(f"embeddings are Embeddings of LangChain, an Encoder or a name, not of type {kind}")
    name = str(getattr(given, "model", "") or type(given).__name__)
    return parts.ForeignEncoder(name, given.embed_documents, given.embed_query)
