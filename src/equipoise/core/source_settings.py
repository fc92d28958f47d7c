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

SITES = ("http", "https")
WIKIS = ("mediawiki+https", "mediawiki+http")
REMOTE = ("s3", "gs", "az", "sftp", "webdav", "webdav+http", "imaps", "git+https", "git+http", *WIKIS)
_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile(r"secret|pass|token|key|credential|sas|signature", re.IGNORECASE)
"""An option with this in its name holds a secret, or leads to one."""
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400}


class SourceSettings(Section):
    """A site, a wiki, a bucket, a mailbox, a repository or a folder of another machine: its address, and whose it is.
    Sites are trusted unless it is said otherwise, all else is untrusted.

    `include` and `exclude` are patterns of paths, as `/blog/*`. `every`, such as "15m", "6h" or "1d", is for
    `sources sync --due`. `comments` are CSS selectors of what readers write besides what is found by itself. `allow`
    names hosts on networks of your own that may be asked. `authorization` is the variable (`env:NAME`) that holds what
    is sent as Authorization, to this host alone. No more than `pages` pages are asked for, `delay` seconds apart.
    With `browser`, pages of a site that are empty until their scripts have run are read by a browser. `options` are
    those of a bucket, of SFTP, WebDAV or IMAP; what is secret in them is `env:NAME`, too.
    """

    address: str
    trust: Literal["trusted", "untrusted"] = Field(
        default_factory=lambda given: (
            "trusted" if scheme_of(given.get("address", "")) in SITES else "untrusted"
        )
    )
    include: Words = ()
    exclude: Words = ()
    every: str = ""
    comments: tuple[str, ...] = ()
    allow: Words = ()
    authorization: str = ""
    pages: int = Field(default=10_000, ge=1, le=1_000_000)
    delay: float = Field(default=0.0, ge=0, le=60)
    collection: str = ""
    browser: bool = False
    options: dict[str, str] = Field(default_factory=dict)

    @field_validator("address")
    @classmethod
    def _place(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in (*SITES, *REMOTE) or not parts.netloc or "@" in parts.netloc:
            known = ", ".join(f"{one}://" for one in (*SITES, *REMOTE))
            raise ValueError(f"this is no address of a source: write one of {known} without a user in it")
        return value

    @field_validator("options")
    @classmethod
    def _no_secret(cls, value: dict[str, str]) -> dict[str, str]:
        for name, said in value.items():
            if not said.isprintable():
                raise ValueError(f"{name} holds what cannot be printed")
            if _SECRET.search(name) and not _REFERENCE.fullmatch(said):
                raise ValueError(f'write {name} = "env:NAME": a secret never stands in settings')
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
        if value and not _REFERENCE.fullmatch(value):
            raise ValueError("write env:NAME, the variable that holds it: a secret never stands in settings")
        return value

    @property
    def seconds(self) -> float:
        """`every` in seconds; 0 if it is not set."""
        return float(int(self.every[:-1]) * _SECONDS[self.every[-1]]) if self.every else 0.0

    def secret(self, environment: Mapping[str, str] | None = None) -> str:
        """What is sent as Authorization. Raises SettingsError where the variable is not set."""
        return self._value(self.authorization, environment)

    def secrets(self, environment: Mapping[str, str] | None = None) -> dict[str, str]:
        """The options, with `env:NAME` replaced by its value. Raises SettingsError as `secret` does."""
        return {name: self._value(said, environment) for name, said in self.options.items()}

    def _value(self, said: str, environment: Mapping[str, str] | None) -> str:
        if not _REFERENCE.fullmatch(said):
            return said
        name = said.removeprefix("env:")
        value = (os.environ if environment is None else environment).get(name, "").strip()
        if not value or not value.isascii() or not value.isprintable():
            raise SettingsError(f"{name}, which {self.address} needs, is not set, or holds no plain text")
        return value


def scheme_of(address: str) -> str:
    """The scheme of an address, in lower case: it tells the kind of the source."""
    return address.partition("://")[0].lower()


def _each(given: object) -> object:
    """Turns bare addresses, as an environment variable holds them, into sources with default settings."""
    each = given.split() if isinstance(given, str) else given
    if not isinstance(each, list | tuple):
        return each
    return [{"address": one} if isinstance(one, str) else one for one in each]


class SourcesSettings(Section):
    """Where documents live besides folders: tables `[[sources]]`, each with an `address`, and `trust`, `include`,
    `exclude`, `every`, `comments`, `allow`, `authorization`, `pages`, `delay`, `collection`, `browser`, `options`
    (docs/sources.md)."""

    listed: Annotated[tuple[SourceSettings, ...], BeforeValidator(_each), WHERE_TO] = ()

    @field_validator("listed")
    @classmethod
    def _once(cls, value: tuple[SourceSettings, ...]) -> tuple[SourceSettings, ...]:
        if len({one.address for one in value}) < len(value):
            raise ValueError("an address stands there twice")
        return value
