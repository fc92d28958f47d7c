"""What the pieces of a pipeline are built from."""

from dataclasses import dataclass

from equipoise.core.errors import ModelUnavailable
from equipoise.core.protocols import ChatModel, Encoder, Reranker
from equipoise.core.settings import Settings
from equipoise.core.types import ChatOptions
from equipoise.corpus.store import Store
from equipoise.models.abilities import is_multilingual


@dataclass(frozen=True, slots=True)
class Parts:
    """Shared by everything `build` makes; `chat` is None where no language model is set up, `reranker` where
    nothing is to be reranked."""

    settings: Settings
    store: Store
    encoder: Encoder
    chat: ChatModel | None = None
    reranker: Reranker | None = None

    @property
    def options(self) -> ChatOptions:
        """Sampling settings of every request: greedy, seeded."""
        return ChatOptions(max_tokens=self.settings.model.max_tokens)

    @property
    def reads(self) -> str:
        """The highlighter without a language model: that of the encoder's languages (`reader` reads English)."""
        return "sentence" if is_multilingual(self.encoder) else "reader"

    def need_chat(self, who: str) -> ChatModel:
        """The language model; raises ModelUnavailable that says how to get one."""
        if self.chat is None:
            raise ModelUnavailable(
                f"{who} needs a language model: run  equipoise models pull qwen2.5-coder-1.5b  and  equipoise models "
                "use qwen2.5-coder-1.5b , or set OPENAI_API_KEY, or name one with --llm"
            )
        return self.chat
