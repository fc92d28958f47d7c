"""Models of Hugging Face loaded from a name or a folder (extra `hf`: transformers and torch)."""

import os
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from equipoise.core.errors import InputError, MissingExtra, ModelUnavailable

MAX_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A tokenizer and a model in evaluation mode. `limit` is how many tokens it reads, at most 512; `untrained`
    names the weights that the files do not hold, which are random."""

    torch: Any
    tokenizer: Any
    model: Any
    limit: int
    untrained: frozenset[str]


def installed() -> bool:
    """Whether the libraries of the extra `hf` are here."""
    return bool(find_spec("transformers") and find_spec("torch"))


def is_path(name: str) -> bool:
    """Whether a model's name is written as the path of a folder."""
    return name.startswith(".") or os.path.isabs(name)  # noqa: PTH117  never raises


def load(name: str, *, head: str, what: str) -> Pretrained:
    """The model `name` (on Hugging Face, or a folder with its files) with the transformers class `head`.

    Raises MissingExtra without transformers, ModelUnavailable where the files cannot be had or read, InputError where
    a folder bears the name of a model and is not written as a path; `what` ("NLI") says in the messages what the
    model is for.
    """
    if os.path.exists(name) and not is_path(name):  # noqa: PTH110  never raises
        raise InputError(
            f"{name!r} names a model on Hugging Face and something in the current folder: write ./{name} for the "
            "folder, or go to another one"
        )
    try:
        torch, transformers = import_module("torch"), import_module("transformers")
        damaged = import_module("safetensors").SafetensorError
    except ImportError:
        raise MissingExtra(f"the library for {what} models (transformers and torch)", "hf") from None
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model, info = getattr(transformers, head).from_pretrained(name, output_loading_info=True)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, damaged) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelUnavailable(
            f"the {what} model {name} cannot be loaded ({reason}): connect to the network once so that it is "
            "fetched, or name a folder that holds it"
        ) from error
    positions = getattr(model.config, "max_position_embeddings", None) or MAX_TOKENS
    limit = min(MAX_TOKENS, positions, tokenizer.model_max_length)
    return Pretrained(torch, tokenizer, model.eval(), limit, frozenset(info["missing_keys"]))
