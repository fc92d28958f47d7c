"""Settings: defaults < `equipoise.toml` < `EQUIPOISE_*` variables < flags. An unknown key is an error.

A key is `section.name`; its variable is `EQUIPOISE_SECTION_NAME`. `Layered.origin` tells where each
value came from. Secrets are `SecretStr` and never print.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from equipoise.core.errors import SettingsError

FILE_NAME = "equipoise.toml"
PREFIX = "EQUIPOISE_"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoreSettings(_Section):
    """Where the documents are kept."""

    path: Path = Path(".equipoise/index.db")


class RetrievalSettings(_Section):
    """How passages are found: `candidates` are fetched, `k` are kept."""

    name: Literal["hybrid", "dense", "bm25"] = "hybrid"
    k: int = Field(default=5, ge=1, le=100)
    candidates: int = Field(default=20, ge=1, le=1000)


class FilterSettings(_Section):
    """What is taken out between retrieval and highlighting. None: the default of the filter's own module.

    `name` "auto": the best filter, for documents marked open. `nli` (for smart) is `hf[/NAME]`, `chat` (the
    language model) or `none`, which leaves conflicts out; `nli_pairs` pairs of passages are compared at most.
    `trade_off` is mmr's, `sharpness` smart's, and `bins`, `most`, `distance` are those of biasdef.
    """

    name: str = "auto"
    nli: str = "hf"
    nli_pairs: int = Field(default=50, ge=0)
    trade_off: float = Field(default=0.5, ge=0, le=1)
    sharpness: float = Field(default=1.0, ge=0)
    bins: int | None = Field(default=None, ge=2)
    most: float | None = Field(default=None, gt=0, le=1)
    distance: float | None = Field(default=None, ge=0)


class HighlightSettings(_Section):
    """Which highlighter, and the canonical form of what it picks.

    `threshold`: decline below this probability that the passages answer (None: the fitted one). `abstain`: let
    the paper's LLM highlighters decline by it too; `indexed` and `sentence` always do. `qa_model` is the model of
    `extractive_qa`: a name on Hugging Face or a folder.
    """

    name: str = "auto"
    min_words: int = Field(default=6, ge=1)
    max_spans: int = Field(default=8, ge=1)
    max_sentences_per_span: int = Field(default=5, ge=1)
    max_sentences: int = Field(default=20, ge=1)
    threshold: float | None = Field(default=None, ge=0, le=1)
    abstain: bool = False
    qa_model: str = "deepset/deberta-v3-base-squad2"


class SummarizeSettings(_Section):
    """Which summarizer, and how many questions it may guess (the paper's reference: 5 to 10).

    `guesses` None: 5 where a monitor compares them with the question, else 1, which is for the answer's sake.
    `context` "passage": it also reads the passage around each quote, for conditions that limit the quote.
    """

    name: str = "auto"
    guesses: int | None = Field(default=None, ge=1, le=10)
    context: Literal["none", "passage"] = "none"


class QuestionSettings(_Section):
    """Whether the questions of one message are answered apart, and how many of them."""

    split: bool = True
    most: int = Field(default=5, ge=2, le=20)


class MonitorSettings(_Section):
    """Refuse when no guessed question is as near to the question as this cosine (None: off)."""

    min_similarity: float | None = Field(default=None, ge=-1, le=1)


class ModelSettings(_Section):
    """The language model: `none`, `auto`, `local[/NAME]`, `openai/NAME`, `azure/DEPLOYMENT`.

    `context` is in tokens of one request; a local model answers `slots` requests at a time.
    """

    llm: str = "auto"
    base_url: str | None = None
    api_key: SecretStr | None = None
    api_version: str | None = None
    folder: Path | None = None
    context: int = Field(default=8192, ge=1024)
    slots: int = Field(default=1, ge=1, le=32)
    timeout: float = Field(default=60.0, gt=0)
    retries: int = Field(default=4, ge=0, le=20)
    max_tokens: int = Field(default=512, ge=16)
    replay: Path | None = None


class Settings(_Section):
    """All sections."""

    store: StoreSettings = StoreSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    filter: FilterSettings = FilterSettings()
    highlight: HighlightSettings = HighlightSettings()
    summarize: SummarizeSettings = SummarizeSettings()
    monitor: MonitorSettings = MonitorSettings()
    question: QuestionSettings = QuestionSettings()
    model: ModelSettings = ModelSettings()


@dataclass(frozen=True, slots=True)
class Layered:
    """Settings, and for each key where its value came from."""

    settings: Settings
    origin: Mapping[str, str]

    def rows(self) -> list[tuple[str, str, str]]:
        """(key, value, origin) of every setting; a secret shows as asterisks."""
        return [(key, str(_value(self.settings, key)), self.origin.get(key, "default")) for key in keys()]


def keys() -> tuple[str, ...]:
    """Every key, as `section.name`."""
    return tuple(
        f"{section}.{name}"
        for section, info in Settings.model_fields.items()
        for name in type(info.default).model_fields
    )


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Layered:
    """Read the layers and check them. `flags` maps keys to values; those that are None are not set.

    Raises SettingsError that names the key and where the bad value stands.
    """
    layers = [
        *_file_layer((folder or Path.cwd()) / FILE_NAME),
        *_environment_layer(os.environ if environment is None else environment),
        *((key, value, "flag") for key, value in (flags or {}).items() if value is not None),
    ]
    tree: dict[str, dict[str, Any]] = {}
    origin: dict[str, str] = {}
    for key, value, where in layers:
        if key not in keys():
            raise SettingsError(
                f"{where}: unknown setting {key!r}; `equipoise config show` lists all of them"
            )
        section, name = key.split(".", 1)
        tree.setdefault(section, {})[name] = value
        origin[key] = where
    try:
        return Layered(Settings.model_validate(tree), origin)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"{origin.get(key, 'settings')}: {key}: {first['msg']}") from None


def _value(settings: Settings, key: str) -> object:
    section, name = key.split(".", 1)
    return getattr(getattr(settings, section), name)


def _file_layer(path: Path) -> list[tuple[str, Any, str]]:
    try:
        tree = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path.name}: {error}; mend the file or move it away") from None
    for section, values in tree.items():
        if not isinstance(values, dict):
            raise SettingsError(f"{path.name}: {section!r} stands outside a section such as [retrieval]")
    return [(f"{s}.{name}", value, path.name) for s, values in tree.items() for name, value in values.items()]


def _environment_layer(environment: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    names = {PREFIX + key.replace(".", "_").upper(): key for key in keys()}
    found = [
        name for name in environment if name.startswith(PREFIX) and not name.startswith(PREFIX + "SHARED_")
    ]
    return [(names.get(name, name), environment[name], name) for name in sorted(found)]
