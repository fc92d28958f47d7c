"""Who tells sides in the scripts of this folder: the embedded model, or a chat model whose replies are kept."""

from pathlib import Path

from equipoise.core import settings as layers
from equipoise.rag import build
from equipoise.rag.stance import ChatStance, EmbeddedStance

HERE = Path(__file__).resolve().parent
EMBEDDED = "embedded"


def judge_of(llm: str | None, out: Path) -> tuple[str, EmbeddedStance | ChatStance]:
    """Name and judge: the embedded model where `llm` is None."""
    if llm is None:
        return EMBEDDED, EmbeddedStance()
    asked = chat_judge(llm, out)
    return asked.chat.name, asked


def chat_judge(llm: str, out: Path) -> ChatStance:
    """The chat model `llm`, one request at a time, with its replies in `out`."""
    flags = {"model.llm": llm, "model.replay": str(out / "replies.db")}
    chat = build.chat_model(layers.load(flags, environment={}, folder=HERE).settings.model)
    assert chat is not None
    return ChatStance(chat, concurrency=1)
