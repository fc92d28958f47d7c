"""An endpoint and its key, as one value: a key that was configured for one endpoint goes to no other."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from equipoise.core.settings import ModelSettings

OPENAI = "https://api.openai.com/v1"
"""The endpoint that OPENAI_API_KEY belongs to if OPENAI_BASE_URL is not set."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go, and the API key for that endpoint only; None for what was not set."""

    url: str | None
    key: SecretStr | None

    @property
    def secret(self) -> str | None:
        """The key in plain text."""
        return self.key.get_secret_value() if self.key else None


def openai(settings: ModelSettings, environment: Mapping[str, str]) -> Endpoint:
    """`model.base_url` with `model.api_key`, else OPENAI_BASE_URL with either key; `url` None is OpenAI itself."""
    return _chosen(settings, _pair(environment, "OPENAI_BASE_URL", "OPENAI_API_KEY"), otherwise=OPENAI)


def azure(settings: ModelSettings, environment: Mapping[str, str]) -> Endpoint:
    """`model.base_url` with `model.api_key`, else AZURE_OPENAI_ENDPOINT with either key."""
    return _chosen(settings, _pair(environment, "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"))


def named(environment: Mapping[str, str], variable: str) -> str | None:
    """The value of an environment variable, None if it is unset or blank."""
    return environment.get(variable, "").strip() or None


def _pair(environment: Mapping[str, str], url: str, key: str) -> Endpoint:
    secret = named(environment, key)
    return Endpoint(named(environment, url), SecretStr(secret) if secret else None)


def _chosen(settings: ModelSettings, own: Endpoint, *, otherwise: str | None = None) -> Endpoint:
    """The endpoint of the settings, else the environment's (`own`), whose key goes to its own endpoint alone."""
    if not settings.base_url:
        return Endpoint(own.url, settings.api_key or own.key)
    same = settings.base_url.rstrip("/") == (own.url or otherwise or "").rstrip("/")
    return Endpoint(settings.base_url, settings.api_key or (own.key if same else None))
