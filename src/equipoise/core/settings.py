"""Settings: defaults < the user's own file < the folder's `equipoise.toml` < `EQUIPOISE_*` variables < flags.

A key is `section.name`; its variable is `EQUIPOISE_SECTION_NAME`. An unknown key is an error. The folder's file may
choose *how*, never *where to*: a key that says *where to* counts there only with the user's consent (`core.guarded`,
`core.consent`). A model's API key goes to the endpoint set beside it and to no other. `Layered.origin` tells where
each value came from. Secrets are `SecretStr` and never print.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from equipoise.core import consent, guarded, tomlfile
from equipoise.core.consent import Consent
from equipoise.core.errors import SettingsError
from equipoise.core.layering import Origin, Values, of_file, unpaired
from equipoise.core.section import MAX_TEXT
from equipoise.core.sections import (
    MAX_CONTEXT,
    FilterSettings,
    HighlightSettings,
    ModelSettings,
    MonitorSettings,
    PageSettings,
    PublicSettings,
    QuestionSettings,
    RetrievalSettings,
    ServeSettings,
    Settings,
    StoreSettings,
    SummarizeSettings,
    TrustSettings,
)
from equipoise.core.tomlfile import short

__all__ = [
    "MAX_CONTEXT",
    "FilterSettings",
    "HighlightSettings",
    "Layered",
    "ModelSettings",
    "MonitorSettings",
    "PageSettings",
    "ProjectFile",
    "PublicSettings",
    "QuestionSettings",
    "RetrievalSettings",
    "ServeSettings",
    "Settings",
    "StoreSettings",
    "SummarizeSettings",
    "TrustSettings",
    "check",
    "keep",
    "keys",
    "load",
    "project_file",
    "resolved",
    "survey",
    "user_file",
]  # fmt: skip

FILE_NAME = "equipoise.toml"
USER_FILE_NAME = "config.toml"
PREFIX = "EQUIPOISE_"
NOT_SETTINGS = ("EQUIPOISE_DEBUG", "EQUIPOISE_SHARED_", "EQUIPOISE_SERVER_KEY", "EQUIPOISE_ATTACK_KEY")
"""Beginnings of variables that have our prefix and set nothing here; the last two hold the API keys that `--server` and
`attack run` send."""
DEFAULT_STORE = Path(str(Settings().store.path))
GONE = "the current folder is gone: change to one that is there"


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


Given = Settings | Mapping[str, Any] | None
"""Settings as a program gives them, or as in `equipoise.toml`: {"highlight": {"name": "indexed"}}."""


def settings_of(given: Given) -> Settings:
    """The settings; raises SettingsError for an unknown key or a bad value."""
    if isinstance(given, Settings):
        return given
    try:
        return Settings.model_validate(dict(given or {}))
    except (ValidationError, TypeError, ValueError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        where = ".".join(map(str, first["loc"])) if first else "settings"
        said = first["msg"] if first else "write them as {'highlight': {'name': 'reader'}}"
        raise SettingsError(f"{where}: {said} (see docs/settings.md)") from None


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
    """Write one setting into the user's own file and return its path. Raises SettingsError for an invalid value."""
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

    `folder` holds the project's file, else the nearest folder from the current one upwards that has one and is the
    user's own (`_nearest`); its relative paths are taken from there, and the index is kept there. The user's own
    file is `own_file`, or `user_file()` unless an `environment` was passed in place of the process's.
    Raises SettingsError that names the key and where the bad value stands, and for a folder's file with keys that
    still need the user's consent.
    """
    layered = survey(flags, folder=folder, environment=environment, own_file=own_file)
    place = _place(folder)
    if layered.waiting:
        path = place / FILE_NAME
        there = f" {shlex.quote(str(path))}" if folder else ""
        raise SettingsError(
            f"{path} sets {', '.join(layered.waiting)}, which needs your consent: read the file, then run  "
            f"equipoise config trust{there} , or take the lines out"
        )
    _check_default_store(layered, place)
    return layered


def survey(
    flags: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    own_file: Path | None = None,
) -> Layered:
    """As `load`, but what waits for consent is left out and listed instead of refused, for commands that only look."""
    own = own_file or (user_file() if environment is None else None)
    place, here = _place(folder), _folder(folder)
    file = project_file(place)
    waiting = file.waiting if file else {}
    away = folder is not None or place != here
    layers = [
        *([Values("default", {"store.path": str(place / DEFAULT_STORE)}, {})] if place != here else []),
        *([of_file("user", own, tomlfile.parsed(data, own))] if own and (data := tomlfile.read(own)) else []),
        *([_project_layer(file, waiting, rebase=away)] if file else []),
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


def check(file: ProjectFile) -> None:
    """Raises SettingsError for a value that cannot be used."""
    _validated(file.values, dict.fromkeys(file.values, Origin("project", str(file.path))))


def resolved(folder: Path) -> Path:
    """`folder` as an absolute path with links resolved; raises SettingsError if that fails."""
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


def _place(folder: Path | None) -> Path:
    """The folder whose settings file counts: `folder`, else the nearest one from the current folder upwards."""
    return folder or _nearest(_folder(None), FILE_NAME)


def _check_default_store(layered: Layered, place: Path) -> None:
    """Raises SettingsError if the default index is a link out of its folder: a cloned folder may hold one."""
    path = layered.settings.store.path
    default = layered.origin.get("store.path", Origin()).layer == "default"
    if not default or not isinstance(path, Path):
        return
    if not guarded.inside(DEFAULT_STORE, place if path.is_absolute() else _folder(None)):
        raise SettingsError(
            f"{path} is a link that leads out of this folder: name the index with --store or EQUIPOISE_STORE_PATH"
        )


def _project_layer(file: ProjectFile, waiting: Mapping[str, str], *, rebase: bool) -> Values:
    """What the folder's file may set; relative paths stand below that folder, whatever the current one is."""
    values = {key: value for key, value in file.values.items() if key not in waiting}
    for key, value in values.items():
        if rebase and isinstance(value, str) and "://" not in value and "Path" in str(_field(key).annotation):
            values[key] = str(file.path.parent / value)
    return of_file("project", file.path, values)


def _environment_layer(environment: Mapping[str, str]) -> Values:
    by_name = {PREFIX + key.replace(".", "_").upper(): key for key in keys()}
    names = sorted(n for n in environment if n.startswith(PREFIX) and not n.startswith(NOT_SETTINGS))
    values = {by_name.get(name, name): environment[name] for name in names}
    return Values("environment", values, {by_name.get(name, name): name for name in names})


def _nearest(start: Path, name: str) -> Path:
    """The first of `start` and the folders above it that holds a file called `name`; `start` where none does.

    A folder above, and the file in it, must belong to the user who runs this: on a shared machine anybody may put a
    file into /tmp. Above the user's home nothing is looked for.
    """
    if os.path.lexists(start / name):
        return start
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - "~" itself where there is none, not an error
    for folder in start.parents:
        if not _owned(folder) or start == home or folder == home.parent:
            return start
        if os.path.lexists(folder / name):
            return folder if _owned(folder / name) else start
    return start


def _owned(path: Path) -> bool:
    """Whether the path belongs to this user; everything does where files have no owners."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        return path.stat(follow_symlinks=False).st_uid == os.geteuid()
    except OSError:
        return False
