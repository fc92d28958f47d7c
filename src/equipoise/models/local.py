"""A language model inside this process: a GGUF file run by llama.cpp, without a server to start."""

import asyncio
import importlib
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, Self, TypedDict, Unpack

from equipoise.core.errors import MissingExtra, ModelReplyError, ModelUnavailable, WeightsError
from equipoise.core.protocols import JsonSchema
from equipoise.core.types import ChatOptions, ChatReply, Message, TokenLogprob, Usage
from equipoise.models import control, weights

# JSON on one line: with llama.cpp's own free white space a small schema took 32 tokens instead of 17.
ONE_LINE = {"x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}}
_SPACE = re.compile(r"^space ::= .*$", re.MULTILINE)
SILENT = -1
NO_POLLING = 0  # threads that wait actively starve each other where processors are shared: 17 times slower


class LocalOptions(TypedDict, total=False):
    """Options of LocalChat, see its constructor."""

    n_ctx: int
    n_threads: int | None
    slots: int


class _Server(Protocol):
    def handle_chat_completions(self, request: dict[str, Any], /) -> dict[str, Any]: ...


class LocalChat:
    """ChatModel on a GGUF file. Loads at the first request, once, and answers in worker threads, one for each slot.

    llama.cpp's prompt cache is off: with it a prompt that begins like an earlier one is answered sooner, which tells
    who asks what others have asked, and its reply depends on them (of 6 requests after others that began alike none had
    the log-probabilities of a fresh model, moved by up to 0.07; without the cache all 6 replies were byte for byte the
    same). So at temperature 0 the same request gives the same reply where no other is answered at the same time.
    Requests in several slots at once share their arithmetic: 0 of 6 were equal (moved by up to 0.10, the same words),
    and all were again once asked in turn.

    Log-probabilities are the model's own, before a schema rules tokens out.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        n_ctx: int = 8192,
        n_threads: int | None = None,
        slots: int = 1,
        check: Callable[[], object] = lambda: None,
    ) -> None:
        """`n_ctx` tokens for prompt and reply, shared among `slots` requests at a time.

        `n_threads` is by default one for each processor. Nothing is loaded yet; `check` is called before the file
        is loaded and after, and raises where it is not the one it should be.
        """
        self._check = check
        self._path = path
        self._name = name
        self._n_ctx = n_ctx
        self._n_threads = n_threads or os.cpu_count() or 1
        self._slots = slots
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="llama")
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._folder: Path | None = None

    @classmethod
    def from_weights(cls, name: str, *, folder: Path | None = None, **options: Unpack[LocalOptions]) -> Self:
        """The model `name` of the catalogue, its file verified; `options` as in the constructor.

        Raises ModelUnavailable when it was not pulled, WeightsError when the file is not the catalogue's.
        """
        path = weights.find(name, folder=folder)
        if path is None:
            raise ModelUnavailable(
                f"the weights of {name} are not on this disk: run  equipoise models pull {name}"
            )
        check = partial(weights.find, name, folder=folder)
        return cls(path.resolve(), name=f"local/{name}", check=check, **options)

    @property
    def name(self) -> str:
        """What reports and the replay cache call it."""
        return self._name

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        """One reply. With `schema` its text is JSON of that form, unless `finish_reason` is CUT.

        Raises MissingExtra without xllamacpp, ModelUnavailable when the file cannot be loaded,
        ModelReplyError when the prompt is longer than the context or the model fails.
        """
        work = partial(self._complete, messages, schema, options)
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Free the memory; the next request loads the model again."""
        with self._lock:
            self._server = None
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def _complete(
        self, messages: Sequence[Message], schema: JsonSchema | None, options: ChatOptions
    ) -> ChatReply:
        server = self._load()
        request: dict[str, Any] = {
            "messages": [{"role": m.role, "content": control.as_text(m.content)} for m in messages],
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
            "seed": options.seed,
            "cache_prompt": False,
        }
        if options.top_logprobs:
            request |= {"logprobs": True, "top_logprobs": options.top_logprobs}
        try:
            if schema is not None:
                request["grammar"] = one_line(_xllamacpp().json_schema_to_grammar({**schema, **ONE_LINE}))
            reply = server.handle_chat_completions(request)
        except (ValueError, RuntimeError) as error:
            raise ModelReplyError(
                f"{self._name} refused the request ({error}): check its messages and schema"
            ) from error
        answer = self._reply(reply)
        if schema is not None and not _has_form(answer, schema):
            raise ModelReplyError(
                f"{self._name} did not reply in JSON: the schema holds something llama.cpp cannot enforce, "
                "so write it without look-ahead patterns and references"
            )
        return answer

    def _reply(self, reply: dict[str, Any]) -> ChatReply:
        if error := reply.get("error"):
            raise self._failure(error)
        try:
            choice, used = reply["choices"][0], reply["usage"]
            return ChatReply(
                text=choice["message"]["content"] or "",
                model=self._name,
                usage=Usage(1, used["prompt_tokens"], used["completion_tokens"]),
                finish_reason=choice["finish_reason"],
                logprobs=_logprobs(choice.get("logprobs") or {}),
            )
        except (KeyError, IndexError, TypeError) as error:
            raise ModelReplyError(f"{self._name} replied without {error}: run the request again") from error

    def _failure(self, error: dict[str, Any]) -> ModelReplyError:
        if error.get("type") == "exceed_context_size_error":
            return ModelReplyError(
                f"the prompt has {error['n_prompt_tokens']} tokens and {self._name} has a context of "
                f"{error['n_ctx']}: use fewer or shorter passages, or a larger n_ctx"
            )
        return ModelReplyError(f"{self._name} failed ({error.get('message', error)}): run the request again")

    def _load(self) -> _Server:
        with self._lock:
            if self._server is None:
                server_class = _xllamacpp().Server
                self._check()
                self._folder = Path(tempfile.mkdtemp(prefix="equipoise-"))
                try:
                    server = server_class(self._parameters(self._folder))
                    self._check()
                    self._server = server
                except WeightsError:
                    shutil.rmtree(self._folder, ignore_errors=True)
                    raise
                except (RuntimeError, ValueError) as error:
                    shutil.rmtree(self._folder, ignore_errors=True)
                    raise ModelUnavailable(
                        f"{self._path} could not be loaded with a context of {self._n_ctx} ({error}): check "
                        "that it is a GGUF file and that there is memory for it"
                    ) from error
            return self._server

    def _parameters(self, folder: Path) -> object:
        """llama.cpp's settings. It insists on listening: behind a private socket and a key nobody has."""
        parameters = _xllamacpp().CommonParams()
        parameters.model.path = str(self._path)
        parameters.n_ctx = self._n_ctx
        parameters.n_parallel = self._slots
        parameters.cpuparams.n_threads = self._n_threads
        parameters.cpuparams_batch.n_threads = self._n_threads
        parameters.cpuparams.poll = parameters.cpuparams_batch.poll = NO_POLLING
        parameters.cache_prompt = False
        parameters.cache_ram_mib = 0
        parameters.verbosity = SILENT
        parameters.warmup = False
        parameters.ui = False
        parameters.endpoint_slots = False
        parameters.api_keys = [secrets.token_hex(16)]
        if sys.platform != "win32":
            parameters.hostnames = [str(folder / "llama.sock")]
        return parameters


def _xllamacpp() -> ModuleType:
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise MissingExtra("xllamacpp", "local") from error


def _has_form(reply: ChatReply, schema: JsonSchema) -> bool:
    """Whether the schema was at work: llama.cpp ignores, without a word, one that it cannot enforce."""
    if reply.finish_reason != "stop":
        return schema.get("type") != "object" or reply.text.startswith("{")
    try:
        json.loads(reply.text)
    except ValueError:
        return False
    return True


def one_line(grammar: str) -> str:
    """The grammar with at most one blank where JSON allows white space.

    Builds of llama.cpp without llguidance do not know ONE_LINE; in their own grammars the rule is `space`.
    """
    return _SPACE.sub('space ::= " "?', grammar)


def _logprobs(data: dict[str, Any]) -> tuple[TokenLogprob, ...]:
    """The log-probabilities of every token that has text; the token that ends a reply has none."""
    return tuple(
        TokenLogprob(
            token["token"],
            token["logprob"],
            tuple((top["token"], top["logprob"]) for top in token["top_logprobs"]),
        )
        for token in data.get("content") or ()
        if token["bytes"]
    )
