"""The section of the settings that names where documents live."""

import os
import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator

from equipoise.core.errors import SettingsError
from equipoise.core.guarded import WHERE_TO
from equipoise.core.section import Section, Words

_SECONDS = {"m": 60, "h": 3_600, "d": 86_400}


class SourceSettings(Section):
    """A site: where it begins, and whose it is.

    `include` and `exclude` are patterns of paths, as `/blog/*`. `every`, such as "15m", "6h" or "1d", is for
    `sources sync --due`. `comments` are CSS selectors of what readers write besides what is found by itself. `allow`
    names hosts on networks of your own that may be asked. `authorization` is the variable (`env:NAME`) that holds what
    is sent as Authorization, to this host alone. No more than `pages` pages are asked for, `delay` seconds apart.
    """

    address: str
    trust: Literal["trusted", "untrusted"] = "trusted"
    include: Words = ()
    exclude: Words = ()
    every: str = ""
    comments: tuple[str, ...] = ()
    allow: Words = ()
    authorization: str = ""
    pages: int = Field(default=10_000, ge=1, le=1_000_000)
    delay: float = Field(default=0.0, ge=0, le=60)
    collection: str = ""

    @field_validator("address")
    @classmethod
    def _site(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ValueError("this is no address of a site: write https://... without a user in it")
        return value

    @field_validator("every")
    @classmethod
    def _time(cls, value: str) -> str:
        if value and not re.fullmatch(r"[1-9][0-9]{0,4}[mhd]", value):
            raise ValueError('write a number of minutes, hours or days, as "15m", "6h" or "1d"')
        return value

    @field_validator("authorization")
    @classmethod
    def _reference(cls, value: str) -> str:
        if value and not re.fullmatch(r"env:[A-Za-z_][A-Za-z0-9_]*", value):
            raise ValueError("write env:NAME, the variable that holds it: a secret never stands in settings")
        return value

    @property
    def seconds(self) -> float:
        """Of `every`; 0 where none is said."""
        return float(int(self.every[:-1]) * _SECONDS[self.every[-1]]) if self.every else 0.0

    def secret(self, environment: Mapping[str, str] | None = None) -> str:
        """What is sent as Authorization. Raises SettingsError where the variable is not set."""
        name = self.authorization.removeprefix("env:")
        if not name:
            return ""
        value = (os.environ if environment is None else environment).get(name, "").strip()
        if not value or not value.isascii() or not value.isprintable():
            raise SettingsError(f"{name}, which {self.address} needs, is not set, or holds no plain text")
        return value


def _each(given: object) -> object:
    """Addresses alone, as a variable has them, are sources with nothing else said."""
    each = given.split() if isinstance(given, str) else given
    if not isinstance(each, list | tuple):
        return each
    return [{"address": one} if isinstance(one, str) else one for one in each]


class SourcesSettings(Section):
    """Where documents live besides folders: tables `[[sources]]`, each with an `address`, and `trust`, `include`,
    `exclude`, `every`, `comments`, `allow`, `authorization`, `pages`, `delay`, `collection` (docs/sources.md)."""

    listed: Annotated[tuple[SourceSettings, ...], BeforeValidator(_each), WHERE_TO] = ()

    @field_validator("listed")
    @classmethod
    def _once(cls, value: tuple[SourceSettings, ...]) -> tuple[SourceSettings, ...]:
        if len({one.address for one in value}) < len(value):
            raise ValueError("an address stands there twice")
        return value
