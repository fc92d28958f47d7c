"""Settings: defaults < the user's own file < the folder's `equipoise.toml` < `EQUIPOISE_*` variables < flags.

A key is `section.name`; its variable is `EQUIPOISE_SECTION_NAME`. An unknown key is an error. The folder's file may
choose how, never where to: keys that say where to count there only with the user's consent (`core.guarded`,
`core.consent`). A key of a model goes with the endpoint beside it and to no other. `Layered.origin` tells where
each value came from. Secrets are `SecretStr` and never print.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from equipoise.core import consent, guarded, tomlfile
from equipoise.core.consent import Consent
from equipoise.core.errors import SettingsError
from equipoise.core.guarded import HOW, INSIDE, WHERE_TO, words
from equipoise.core.layering import Origin, Values, of_file, unpaired
from equipoise.core.tomlfile import short

FILE_NAME = "equipoise.toml"
USER_FILE_NAME = "config.toml"
PREFIX = "EQUIPOISE_"
NOT_SETTINGS = ("EQUIPOISE_DEBUG", "EQUIPOISE_SHARED_")
"""Variables that begin like ours (the second: all that begin so) and set nothing here."""
GONE = "the current folder is gone: change to one that is there"
MAX_TEXT = 4096
MAX_CONTEXT = 262_144
"""Tokens of all slots of a local model together: about 7.5 GB of memory with the 1.5B model."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _plain(cls, value: object, info: ValidationInfo) -> object:
        """No true or false for a number, no NUL, no text that no setting is as long as."""
        kinds = str(cls.model_fields[info.field_name or ""].annotation)
        if isinstance(value, bool) and "bool" not in kinds:
            raise ValueError("true and false are no value for this setting")
        if isinstance(value, str | Path) and ("\0" in str(value) or len(str(value)) > MAX_TEXT):
            raise ValueError(f"the text holds a NUL character, or more than {MAX_TEXT:,} characters")
        return value


class StoreSettings(_Section):
    """Where the documents are kept."""

    path: Annotated[Path, INSIDE] = Path(".equipoise/index.db")


class RetrievalSettings(_Section):
    """How passages are found: `candidates` are fetched, a cross-encoder puts them in order (`rerank`), `k` are kept.

    `encoder`: `minilm`, `multilingual`, `hf/NAME`; "auto": the one an index was built with, minilm for a new one.
    `rerank` None: yes, unless the encoder is multilingual; the cross-encoder reads English.
    """

    name: Literal["hybrid", "dense", "bm25"] = "hybrid"
    k: int = Field(default=5, ge=1, le=100)
    candidates: int = Field(default=20, ge=1, le=1000)
    encoder: Annotated[str, words("auto", "minilm", "multilingual")] = "auto"
    rerank: bool | None = None


class FilterSettings(_Section):
    """What is taken out between retrieval and highlighting. None: the default of the filter's own module.

    `name` "auto": the best filter, for documents marked open. `nli` (for smart) is `hf[/NAME]`, `chat` (the
    language model) or `none`, which leaves conflicts out; `nli_pairs` pairs of passages are compared at most.
    `trade_off` is mmr's, `sharpness` smart's, and `bins`, `most`, `distance` are those of biasdef.
    """

    name: Annotated[str, HOW] = "auto"
    nli: Annotated[str, words("hf", "chat", "none")] = "hf"
    nli_pairs: int = Field(default=50, ge=0, le=10_000)
    trade_off: float = Field(default=0.5, ge=0, le=1)
    sharpness: float = Field(default=1.0, ge=0, le=1000)
    bins: int | None = Field(default=None, ge=2, le=1000)
    most: float | None = Field(default=None, gt=0, le=1)
    distance: float | None = Field(default=None, ge=0, le=1000)


class HighlightSettings(_Section):
    """Which highlighter, and the canonical form of what it picks.

    `threshold`: decline below this probability that the passages answer (None: the fitted one). `abstain`: let
    the paper's LLM highlighters decline by it too; `indexed` and `sentence` always do. `qa_model` is the model of
    `extractive_qa`: a name on Hugging Face or a folder.
    """

    name: Annotated[str, HOW] = "auto"
    min_words: int = Field(default=6, ge=1, le=1000)
    max_spans: int = Field(default=8, ge=1, le=1000)
    max_sentences_per_span: int = Field(default=5, ge=1, le=1000)
    max_sentences: int = Field(default=20, ge=1, le=1000)
    threshold: float | None = Field(default=None, ge=0, le=1)
    abstain: bool = False
    qa_model: Annotated[str, WHERE_TO] = "deepset/deberta-v3-base-squad2"


class SummarizeSettings(_Section):
    """Which summarizer, when it is asked, and how many questions it may guess (the paper's reference: 5 to 10).

    `when` "long": quotes of one or two short sentences are the answer as they are. `guesses` None: 5 where a monitor
    compares them with the question, else none. `context` "passage": it also reads the passage around each quote, for
    conditions that limit the quote; then, and where it guesses, it is always asked.
    """

    name: Annotated[str, HOW] = "auto"
    when: Literal["long", "always"] = "long"
    guesses: int | None = Field(default=None, ge=1, le=10)
    context: Literal["none", "passage"] = "none"


class QuestionSettings(_Section):
    """Whether the questions of one message are answered apart, and how many of them.

    `spelling`: a word that neither the documents have nor English is read as the word of the documents it is near to.
    """

    split: bool = True
    spelling: bool = True
    most: int = Field(default=5, ge=2, le=20)


class MonitorSettings(_Section):
    """Refuse when no guessed question is as near to the question as this cosine (None: off)."""

    min_similarity: float | None = Field(default=None, ge=-1, le=1)


class ModelSettings(_Section):
    """The language model: `none`, `auto`, `local[/NAME]`, `openai/NAME`, `azure/DEPLOYMENT`.

    `api_key` is for `base_url`; without one, for the endpoint that OPENAI_BASE_URL or AZURE_OPENAI_ENDPOINT names.
    `context` is in tokens of one request; a local model answers `slots` requests at a time. `timeout` is in seconds.
    """

    llm: Annotated[str, words("none", "local", also="local/")] = "auto"
    base_url: Annotated[str | None, WHERE_TO] = Field(default=None, repr=False)
    api_key: Annotated[SecretStr | None, WHERE_TO] = None
    api_version: Annotated[str | None, WHERE_TO] = None
    folder: Annotated[Path | None, WHERE_TO] = None
    context: int = Field(default=8192, ge=1024, le=MAX_CONTEXT)
    slots: int = Field(default=1, ge=1, le=32)
    timeout: float = Field(default=60.0, gt=0, le=86_400)
    retries: int = Field(default=4, ge=0, le=20)
    max_tokens: int = Field(default=512, ge=16, le=131_072)
    replay: Annotated[Path | None, INSIDE] = None

    @field_validator("base_url")
    @classmethod
    def _stripped(cls, value: str | None) -> str | None:
        return (value or "").strip() or None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.context * self.slots > MAX_CONTEXT:
            raise ValueError(
                f"model.context times model.slots is more than {MAX_CONTEXT:,} tokens: lower one of them"
            )
        return self


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
    """Settings, and for each key where its value came from.

    `waiting` are keys of the folder's file, with their values as people may see them, that wait for consent;
    `left_behind` keys whose value was not used, since it belongs to another endpoint.
    """

    settings: Settings
    origin: Mapping[str, Origin]
    waiting: Mapping[str, str] = field(default_factory=dict)
    left_behind: Mapping[str, Origin] = field(default_factory=dict)

    def rows(self) -> list[tuple[str, str, Origin]]:
        """(key, value, origin) of every setting; secrets and passwords in addresses are masked."""
        return [(key, self._shown(key), self.origin.get(key, Origin())) for key in keys()]

    def _shown(self, key: str) -> str:
        section, name = key.split(".", 1)
        return guarded.shown(_field(key), getattr(getattr(self.settings, section), name))


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The settings file of a folder: its values by key, and the consent it needs, if any."""

    path: Path
    values: Mapping[str, Any]
    needed: Consent | None

    @property
    def waiting(self) -> Mapping[str, str]:
        """Keys and values that wait for consent."""
        return {} if self.needed is None or consent.given(self.needed) else self.needed.shown


def keys() -> tuple[str, ...]:
    """Every key, as `section.name`."""
    return tuple(
        f"{section}.{name}"
        for section, info in Settings.model_fields.items()
        for name in type(info.default).model_fields
    )


def user_file() -> Path:
    """The user's own settings file."""
    return Path(platformdirs.user_config_dir("equipoise", appauthor=False)) / USER_FILE_NAME


def keep(key: str, value: str, own_file: Path | None = None) -> Path:
    """Write one setting into the user's own file; where that is. Raises SettingsError for a value that cannot be."""
    path = own_file or user_file()
    _validated({key: value}, {key: Origin("user", str(path))})
    section, name = key.split(".", 1)
    tomlfile.write(path, tomlfile.with_value(tomlfile.read(path) or b"", section, name, value, path))
    return path


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    own_file: Path | None = None,
) -> Layered:
    """Read the layers and check them. `flags` maps keys to values; those that are None are not set.

    `folder` (the current one) holds the project's file; its relative paths are taken from there. The user's own
    file is `own_file`, or `user_file()` unless an `environment` was passed in place of the process's.
    Raises SettingsError that names the key and where the bad value stands, and for a folder's file that says where
    to without the user's consent.
    """
    found = survey(flags, folder=folder, environment=environment, own_file=own_file)
    if found.waiting:
        path = _folder(folder) / FILE_NAME
        there = f" {shlex.quote(str(path))}" if folder else ""
        raise SettingsError(
            f"{path} sets {', '.join(found.waiting)}, which needs your consent: read the file, then run  "
            f"equipoise config trust{there} , or take the lines out"
        )
    _check_default_store(found)
    return found


def survey(
    flags: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    own_file: Path | None = None,
) -> Layered:
    """As `load`, but what waits for consent is left out and told, not refused: to look at a folder."""
    own = own_file or (user_file() if environment is None else None)
    found = project_file(_folder(folder))
    waiting = found.waiting if found else {}
    layers = [
        *([of_file("user", own, tomlfile.parsed(data, own))] if own and (data := tomlfile.read(own)) else []),
        *([_project_layer(found, waiting, rebase=folder is not None)] if found else []),
        _environment_layer(os.environ if environment is None else environment),
        Values("flag", {k: v for k, v in (flags or {}).items() if v is not None}, {}),
    ]
    for layer in layers:
        _check_keys(layer)
    merged = {key: layer for layer in layers for key in layer.values}
    left = unpaired(layers, merged)
    origin = {key: Origin(layer.layer, layer.places.get(key, "")) for key, layer in merged.items()}
    chosen = {key: layer.values[key] for key, layer in merged.items() if key not in left}
    settings = _validated(chosen, origin)
    return Layered(settings, origin, waiting, {key: origin[key] for key in left})


def project_file(folder: Path) -> ProjectFile | None:
    """The settings file of `folder`, None where there is none. Raises SettingsError for one that cannot be used."""
    root = resolved(folder)
    path = root / FILE_NAME
    data = tomlfile.read(path)
    if data is None:
        return None
    values = tomlfile.parsed(data, path)
    _check_keys(of_file("project", path, values))
    asked = {k: v for k, v in values.items() if guarded.needs_consent(_field(k), v, root)}
    shown = {key: guarded.shown(_field(key), value, root)[:MAX_TEXT] for key, value in asked.items()}
    return ProjectFile(path, values, Consent.to(path, data, shown) if shown else None)


def check(found: ProjectFile) -> None:
    """Raises SettingsError for a value that cannot be used."""
    _validated(found.values, dict.fromkeys(found.values, Origin("project", str(found.path))))


def resolved(folder: Path) -> Path:
    """`folder` as an absolute path without links; raises SettingsError where there is none such."""
    try:
        return folder.resolve()
    except FileNotFoundError:
        raise SettingsError(GONE) from None
    except (OSError, RuntimeError) as error:
        raise SettingsError(f"{folder} leads nowhere: {error}") from None


def _field(key: str) -> FieldInfo:
    section, name = key.split(".", 1)
    info: FieldInfo = type(Settings.model_fields[section].default).model_fields[name]
    return info


def _folder(folder: Path | None) -> Path:
    try:
        return folder or Path.cwd()
    except FileNotFoundError:
        raise SettingsError(GONE) from None


def _validated(chosen: Mapping[str, Any], origin: Mapping[str, Origin]) -> Settings:
    tree: dict[str, dict[str, Any]] = {}
    for key, value in chosen.items():
        section, name = key.split(".", 1)
        tree.setdefault(section, {})[name] = value
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        key = ".".join(str(part) for part in first["loc"][:2])
        raise SettingsError(
            f"{origin.get(key, 'settings')}: {key}: {first['msg'].removeprefix('Value error, ')}"
        ) from None


def _check_keys(layer: Values) -> None:
    known = keys()
    for key in layer.values:
        if key not in known:
            place = layer.places.get(key, layer.layer)
            where = layer.layer if place == key else place  # an unknown variable is named once, and cut
            raise SettingsError(
                f"{where}: unknown setting {short(key)}; `equipoise config show` lists all of them"
            )


def _check_default_store(found: Layered) -> None:
    """A folder that was cloned may hold a link where the index is kept by default."""
    path = found.settings.store.path
    if "store.path" not in found.origin and not guarded.inside(path, _folder(None)):
        raise SettingsError(
            f"{path} is a link that leads out of this folder: name the index with --store or EQUIPOISE_STORE_PATH"
        )


def _project_layer(found: ProjectFile, waiting: Mapping[str, str], *, rebase: bool) -> Values:
    """What the folder's file may set; relative paths stand below that folder, whatever the current one is."""
    values = {key: value for key, value in found.values.items() if key not in waiting}
    for key, value in values.items():
        if rebase and isinstance(value, str) and "Path" in str(_field(key).annotation):
            values[key] = str(found.path.parent / value)
    return of_file("project", found.path, values)


def _environment_layer(environment: Mapping[str, str]) -> Values:
    by_name = {PREFIX + key.replace(".", "_").upper(): key for key in keys()}
    names = sorted(n for n in environment if n.startswith(PREFIX) and not n.startswith(NOT_SETTINGS))
    values = {by_name.get(name, name): environment[name] for name in names}
    return Values("environment", values, {by_name.get(name, name): name for name in names})
