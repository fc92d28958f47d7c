"""Language models of the settings, each made of its name and its endpoint or weights; `build.chat_model` chooses."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from equipoise.core import endpoints
from equipoise.core.errors import ModelUnavailable
from equipoise.core.protocols import ChatModel
from equipoise.core.settings import ModelSettings

CHATS = {
    "local": "equipoise.models.local:LocalChat",
    "openai": "equipoise.models.openai:OpenAIChat",
    "azure": "equipoise.models.openai:OpenAIChat",
}
DEFAULT_LOCAL = "qwen2.5-coder-1.5b"
DEFAULT_OPENAI = "gpt-4.1-mini"
Maker = Callable[[str, ModelSettings, Mapping[str, str]], ChatModel]


def local(name: str, settings: ModelSettings, environment: Mapping[str, str]) -> ChatModel:
    """A model that runs in this process. Raises ModelUnavailable without its weights."""
    chat: ChatModel = class_at(CHATS["local"]).from_weights(
        name or DEFAULT_LOCAL,
        folder=settings.folder,
        n_ctx=settings.context * settings.slots,
        slots=settings.slots,
    )
    return chat


def openai(name: str, settings: ModelSettings, environment: Mapping[str, str]) -> ChatModel:
    """A model behind an OpenAI-compatible endpoint."""
    place = endpoints.openai(settings, environment)
    chat: ChatModel = class_at(CHATS["openai"])(
        name or DEFAULT_OPENAI,
        api_key=place.secret,
        base_url=place.url,
        timeout_s=settings.timeout,
        max_retries=settings.retries,
    )
    return chat


def azure(name: str, settings: ModelSettings, environment: Mapping[str, str]) -> ChatModel:
    """A deployment in Azure. Raises ModelUnavailable where its endpoint or key is not known."""
    place = endpoints.azure(settings, environment)
    if place.url is None:
        raise ModelUnavailable("no Azure endpoint is known: set AZURE_OPENAI_ENDPOINT or model.base_url")
    if place.secret is None and settings.base_url:
        raise ModelUnavailable(
            "the Azure endpoint of model.base_url has no key: set model.api_key beside it "
            "(AZURE_OPENAI_API_KEY is for AZURE_OPENAI_ENDPOINT alone)"
        )
    chat: ChatModel = class_at(CHATS["azure"])(
        name,
        api_key=place.secret,
        azure_endpoint=place.url,
        api_version=settings.api_version or endpoints.named(environment, "OPENAI_API_VERSION"),
        timeout_s=settings.timeout,
        max_retries=settings.retries,
    )
    return chat


MAKERS: Mapping[str, Maker] = {"local": local, "openai": openai, "azure": azure}


def class_at(place: str) -> Any:  # noqa: ANN401
    """The class at "module:Class"."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)
