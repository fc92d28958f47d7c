"""One endpoint or file, several roles: what is learnt or kept in one role is unknown to the others."""

from typing import Protocol, runtime_checkable

from equipoise.core.protocols import ChatModel

SUMMARIZER = "summarizer"
"""The role behind the boundary: nothing that was learnt from a message with a question may reach it."""


@runtime_checkable
class HasRoles(Protocol):
    """A ChatModel that learns about its endpoint, or keeps something from one request to the next."""

    def for_role(self, role: str) -> ChatModel:
        """The same model with a state of its own for `role`; equal roles share one."""
        ...


def for_role(chat: ChatModel, role: str) -> ChatModel:
    """`chat` in `role`: itself where it carries nothing from one request to the next."""
    return chat.for_role(role) if isinstance(chat, HasRoles) else chat
