"""Chat models behind any OpenAI-compatible endpoint: OpenAI, Azure, vLLM, Ollama, llama.cpp."""

import asyncio
import copy
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

import openai
from pydantic import SecretStr

from equipoise.core.errors import (
    ModelError,
    ModelReplyError,
    ModelUnavailable,
    SettingsError,
    after_spending,
)
from equipoise.core.protocols import JsonSchema
from equipoise.core.types import ChatOptions, ChatReply, Message, Usage
from equipoise.models.address import address, unusable
from equipoise.models.completion import read_completion
from equipoise.models.dialect import Dialect
from equipoise.models.failures import Failure, ShownEndpoint, explained, is_passing, is_refusal, wait_s
from equipoise.models.probing import Learner, ProbeOutcome, probed
from equipoise.models.transport import ACCOUNT, MOST_BYTES, BoundedClient, too_long

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "no-key-needed"
ASIDE_S = 5.0
"""Most seconds for a request that only makes an error message better."""


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
        with jitter; what would take longer than `max_backoff_s` is not waited for. Our own settings
        never come from the environment here.

        Raises ModelUnavailable without a key where one is needed (any endpoint with its own `base_url` gets a
        dummy), SettingsError for an address, key or number that cannot be used. Redirects are not followed.
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
        place = address(azure_endpoint or base_url or OPENAI_URL)
        variable = "AZURE_OPENAI_API_KEY" if azure else "OPENAI_API_KEY"
        self._url = SecretStr(place.url)
        self._password = SecretStr(place.password)
        self._endpoint = ShownEndpoint(model, place.shown, variable, timeout_s)
        self._key = SecretStr(_checked_key(api_key, self._endpoint, needed=azure or base_url is None))
        self._account = ACCOUNT if not azure and base_url is None else frozenset()
        self._api_version = api_version if azure else None
        self._max_retries = max_retries
        self._backoff_s = backoff_s
        self._max_backoff_s = max_backoff_s
        self._learner = Learner()
        self._roles: dict[str, OpenAIChat] = {}
        self._clients: dict[asyncio.AbstractEventLoop, tuple[openai.AsyncOpenAI, AsyncGenerator[None]]] = {}

    @property
    def name(self) -> str:
        """The model's (or deployment's) name, without the endpoint."""
        return self._endpoint.model

    def __repr__(self) -> str:
        return f"OpenAIChat({self.name!r}, endpoint={self._endpoint.url!r})"

    def for_role(self, role: str) -> "OpenAIChat":
        """This model over the same connections, with a dialect of its own for `role`; equal roles share it."""
        own = copy.copy(self)
        own._learner = Learner()
        return self._roles.setdefault(role, own)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        """One reply, in the dialect of the endpoint.

        The first request that is refused (400, 422) or comes to `max_tokens` before its first word has the endpoint
        probed with constant messages (`models.probing`); a parameter that is refused then is left out from then on (a
        schema goes in words, and `logprobs` may be empty although asked for), and a model that thinks first gets
        `dialect.THINKING` tokens more. What the probes cost is in the usage. Raises ModelUnavailable or
        ModelReplyError, never with the key in the message.
        """
        spent = Usage()
        while True:
            dialect = self._learner.dialect
            with after_spending(spent):
                outcome = await self._exchange(dialect.request(self.name, messages, schema, options))
                if isinstance(outcome, bytes):
                    reply = read_completion(outcome, model=self.name, options=options)
                    spent += reply.usage
                    if reply.text.strip() or reply.logprobs:
                        return replace(reply, usage=spent)
                    outcome = ModelReplyError(
                        f"{self.name} used up its tokens before the first word of a reply: use another model"
                    )
            with after_spending(spent):
                spent += await self._learner.settle(self._probed)
            if self._learner.dialect == dialect:
                outcome.usage = spent
                raise outcome

    async def aclose(self) -> None:
        """Close the running loop's connections now; otherwise they close when the loop shuts down."""
        entry = self._clients.get(asyncio.get_running_loop())
        if entry:
            await entry[1].aclose()

    async def _probed(self) -> tuple[Dialect, Usage]:
        """The endpoint's dialect and what it cost to find it."""
        spent = Usage()

        async def send(request: dict[str, Any]) -> ProbeOutcome:
            nonlocal spent
            with after_spending(spent):
                answer = await self._exchange(request)
            if not isinstance(answer, bytes):
                return ProbeOutcome.REFUSED
            try:
                reply = read_completion(answer, model=self.name, options=ChatOptions())
            except ModelReplyError:  # an odd answer, and the request was taken
                spent += Usage(calls=1)
                return ProbeOutcome.ANSWERED
            spent += reply.usage
            return ProbeOutcome.ANSWERED if reply.text.strip() else ProbeOutcome.SILENT

        return await probed(self.name, send), spent

    async def _exchange(self, request: dict[str, Any]) -> bytes | ModelError:
        """The body of the answer, or the error of a request that the endpoint refuses (400, 422) as a value.

        Raises the errors of all other failures, those that may pass after `max_retries` repetitions.
        """
        tries = 0
        while True:
            outcome = await self._outcome(request)
            if isinstance(outcome, bytes):
                if too_long(outcome):
                    raise ModelReplyError(
                        f"{self._endpoint.url} sent an answer of more than {MOST_BYTES >> 20} MiB: check the endpoint"
                    )
                return outcome
            tries += 1
            if tries > self._max_retries or not is_passing(outcome, within_s=self._max_backoff_s):
                secrets = (self._key.get_secret_value(), self._password.get_secret_value())
                has = await self._models() if isinstance(outcome, openai.NotFoundError) else ()
                error = explained(outcome, self._endpoint, tries=tries, secrets=secrets, has=has)
                if is_refusal(outcome):
                    return error
                raise error
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
        except UnicodeError:  # the client knows more of the names that a host cannot have
            raise unusable() from None

    async def _models(self) -> tuple[str, ...]:
        """The models that the endpoint says it has, none where it does not say."""
        try:
            async with asyncio.timeout(min(self._endpoint.timeout_s, ASIDE_S)):
                client = await self._client()
                listed = json.loads((await client.models.with_raw_response.list()).content)
            return tuple(str(model["id"]) for model in listed["data"])
        except (openai.OpenAIError, TimeoutError, ValueError, LookupError, TypeError, RecursionError):
            return ()

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
        key, url, timeout_s = (
            self._key.get_secret_value(),
            self._url.get_secret_value(),
            self._endpoint.timeout_s,
        )
        credentials = {"api-key": key} if self._api_version else {"Authorization": f"Bearer {key}"}
        common: dict[str, Any] = {
            "api_key": key,
            "max_retries": 0,  # the retries are ours, within our own waits
            "timeout": timeout_s,
            "http_client": BoundedClient(timeout_s=timeout_s, headers=credentials, also=self._account),
        }
        if self._api_version:
            return openai.AsyncAzureOpenAI(azure_endpoint=url, api_version=self._api_version, **common)
        return openai.AsyncOpenAI(base_url=url, **common)


def _checked_key(api_key: str | None, endpoint: ShownEndpoint, *, needed: bool) -> str:
    key = (api_key or "").strip()
    if not key and needed:
        hint = (
            "" if endpoint.key_variable.startswith("AZURE") else " (or OPENAI_BASE_URL for a local endpoint)"
        )
        raise ModelUnavailable(f"no API key for {endpoint.url}: set {endpoint.key_variable}{hint}")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(f"the API key has characters that no key has: set {endpoint.key_variable} again")
    return key or NO_KEY
