"""Chat models behind any OpenAI-compatible endpoint: OpenAI, Azure, vLLM, Ollama, llama.cpp."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import openai
from pydantic import SecretStr

from equipoise.core.errors import ModelReplyError, ModelUnavailable, SettingsError, after_spending
from equipoise.core.protocols import JsonSchema
from equipoise.core.types import ChatOptions, ChatReply, Message, Usage
from equipoise.models.completion import read_completion
from equipoise.models.dialect import Dialect
from equipoise.models.failures import Endpoint, Failure, complaint, explained, is_passing, wait_s

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "no-key-needed"


class OpenAIChat:
    """A ChatModel over the `openai` client. One object serves any number of event loops and tasks."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        azure_endpoint: str | None = None,
        api_version: str | None = None,
        timeout_s: float = 60.0,
        max_retries: int = 4,
        backoff_s: float = 0.5,
        max_backoff_s: float = 30.0,
    ) -> None:
        """A model of the endpoint `base_url` (default: OpenAI's), or a deployment of an Azure endpoint.

        `timeout_s` is the whole time of one try. A try that meets 408, 409, 429, 5xx or a broken connection
        is repeated up to `max_retries` times, waiting as Retry-After says or `backoff_s`, doubled each time,
        with jitter; no wait is longer than `max_backoff_s`. Our own settings never come from the environment
        here.

        Raises ModelUnavailable without a key where one is needed (any endpoint with its own `base_url` gets a
        dummy), SettingsError for an address, key or number that cannot be used.
        """
        azure = azure_endpoint is not None
        if azure and base_url is not None:
            raise SettingsError("base_url and azure_endpoint exclude each other: give one of them")
        if azure and not api_version:
            raise SettingsError("an Azure endpoint needs an api_version: set OPENAI_API_VERSION")
        if not model or timeout_s <= 0 or max_retries < 0 or backoff_s < 0 or max_backoff_s < 0:
            raise SettingsError(
                "a chat model needs a name, a time-out above 0 s, and retries and waits of 0 or more"
            )
        self._url = azure_endpoint or base_url or OPENAI_URL
        variable = "AZURE_OPENAI_API_KEY" if azure else "OPENAI_API_KEY"
        self._endpoint = Endpoint(model, _public_address(self._url), variable, timeout_s)
        self._key = SecretStr(_checked_key(api_key, self._endpoint, needed=azure or base_url is None))
        self._api_version = api_version if azure else None
        self._max_retries = max_retries
        self._backoff_s = backoff_s
        self._max_backoff_s = max_backoff_s
        self._dialect = Dialect()
        self._clients: dict[asyncio.AbstractEventLoop, tuple[openai.AsyncOpenAI, AsyncGenerator[None]]] = {}

    @classmethod
    def from_environment(
        cls,
        model: str,
        *,
        base_url: str | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = 60.0,
        max_retries: int = 4,
    ) -> "OpenAIChat":
        """The model at the endpoint that the environment names (`os.environ` unless given).

        Azure with AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY and OPENAI_API_VERSION; otherwise `base_url` or
        OPENAI_BASE_URL or OpenAI itself, with OPENAI_API_KEY. A `base_url` given here wins over Azure.
        Raises what the constructor raises, and SettingsError when AZURE_OPENAI_ENDPOINT and OPENAI_BASE_URL
        are both set.
        """
        found = {k: v for k, v in (os.environ if environment is None else environment).items() if v.strip()}
        azure = None if base_url else found.get("AZURE_OPENAI_ENDPOINT")
        if azure and "OPENAI_BASE_URL" in found:
            raise SettingsError("AZURE_OPENAI_ENDPOINT and OPENAI_BASE_URL are both set: unset one of them")
        return cls(
            model,
            api_key=found.get("AZURE_OPENAI_API_KEY" if azure else "OPENAI_API_KEY"),
            base_url=None if azure else base_url or found.get("OPENAI_BASE_URL"),
            azure_endpoint=azure,
            api_version=found.get("OPENAI_API_VERSION") if azure else None,
            timeout_s=timeout_s,
            max_retries=max_retries,
        )

    @property
    def name(self) -> str:
        """The model's (or deployment's) name, without the endpoint."""
        return self._endpoint.model

    def __repr__(self) -> str:
        return f"OpenAIChat({self.name!r}, endpoint={self._endpoint.url!r})"

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        """One reply. A parameter that the endpoint refuses is left out from then on (a schema goes in words).

        So `logprobs` may be empty although asked for. A model that came to `max_tokens` before its first word is
        taken for one that thinks first: it is asked again, and gets `dialect.THINKING` tokens more from then on.
        Raises ModelUnavailable or ModelReplyError, never with the key in the message.
        """
        spent = Usage()
        while True:
            request, body = await self._exchange(messages, schema, options)
            with after_spending(spent):
                reply = read_completion(body, model=self.name, options=options)
            spent += reply.usage
            if reply.text.strip() or reply.logprobs:
                return replace(reply, usage=spent)
            if not self._dialect.learn_to_wait(request):
                raise ModelReplyError(
                    f"{self.name} used up its tokens before the first word of a reply: use another model",
                    usage=spent,
                )

    async def aclose(self) -> None:
        """Close the running loop's connections now; otherwise they close when the loop shuts down."""
        entry = self._clients.get(asyncio.get_running_loop())
        if entry:
            await entry[1].aclose()

    async def _exchange(
        self, messages: Sequence[Message], schema: JsonSchema | None, options: ChatOptions
    ) -> tuple[dict[str, Any], bytes]:
        """The request in the form that the endpoint took, and the body of its answer."""
        tries = 0
        while True:
            request = self._dialect.request(self.name, messages, schema, options)
            outcome = await self._outcome(request)
            if isinstance(outcome, bytes):
                return request, outcome
            if _is_about_parameters(outcome) and self._dialect.learn(complaint(outcome), request):
                continue
            tries += 1
            if tries > self._max_retries or not is_passing(outcome):
                secret = self._key.get_secret_value()
                raise explained(outcome, self._endpoint, tries=tries, secret=secret)
            wait = wait_s(outcome, tries=tries, backoff_s=self._backoff_s, max_backoff_s=self._max_backoff_s)
            await asyncio.sleep(wait)

    async def _outcome(self, request: dict[str, Any]) -> bytes | Failure:
        """The answer's body, or the failure as a value: what is raised later has no foreign context."""
        try:
            async with asyncio.timeout(self._endpoint.timeout_s):
                client = await self._client()
                answer = await client.chat.completions.with_raw_response.create(**request)
                body: bytes = answer.content
                return body
        except (openai.OpenAIError, TimeoutError) as failure:
            return failure

    async def _client(self) -> openai.AsyncOpenAI:
        """The running loop's client: connections cannot be shared between loops."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            for closed in [known for known in list(self._clients) if known.is_closed()]:
                del self._clients[closed]
            client = self._new_client()
            lifetime = self._lifetime(loop, client)
            await anext(lifetime)  # starts the generator without giving way to another task
            self._clients[loop] = (client, lifetime)
        return self._clients[loop][0]

    async def _lifetime(
        self, loop: asyncio.AbstractEventLoop, client: openai.AsyncOpenAI
    ) -> AsyncGenerator[None]:
        """Closes `client` when the loop shuts its async generators down, as asyncio.run does at its end."""
        try:
            yield
        finally:
            self._clients.pop(loop, None)
            await client.close()

    def _new_client(self) -> openai.AsyncOpenAI:
        common: dict[str, Any] = {
            "api_key": self._key.get_secret_value(),
            "max_retries": 0,  # the retries are ours, within our own waits
            "timeout": self._endpoint.timeout_s,
            "http_client": openai.DefaultAsyncHttpxClient(timeout=self._endpoint.timeout_s),
        }
        if self._api_version:
            return openai.AsyncAzureOpenAI(azure_endpoint=self._url, api_version=self._api_version, **common)
        return openai.AsyncOpenAI(base_url=self._url, **common)


def _is_about_parameters(failure: Failure) -> bool:
    return isinstance(failure, openai.APIStatusError) and failure.status_code in {400, 422}


def _public_address(url: str) -> str:
    """`url` without user, password, query or fragment. SettingsError unless it is http(s) with a host."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"}:
        raise SettingsError("the model's base URL must look like https://host/v1: correct OPENAI_BASE_URL")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def _checked_key(api_key: str | None, endpoint: Endpoint, *, needed: bool) -> str:
    key = (api_key or "").strip()
    if not key and needed:
        hint = (
            "" if endpoint.key_variable.startswith("AZURE") else " (or OPENAI_BASE_URL for a local endpoint)"
        )
        raise ModelUnavailable(f"no API key for {endpoint.url}: set {endpoint.key_variable}{hint}")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(f"the API key has characters that no key has: set {endpoint.key_variable} again")
    return key or NO_KEY
