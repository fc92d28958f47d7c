"""The sets of `sets.toml`: where their files come from, and where they are kept."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import platformdirs

from equipoise.core.errors import InputError

HERE = Path(__file__).resolve().parent
HALVES = ("fitting", "reporting", "fresh", "unseen", "later", "sixth")
"""The parts; there were two at first."""
KEPT = frozenset({"later", "sixth"})
"""The parts that nothing is fitted, chosen or tried on; the others are open."""


@dataclass(frozen=True, slots=True)
class Take:
    """Files of a package: those below `source` that match one of `files`, put below `to`.

    Their names lose `drop_suffix` and get `add_suffix`; `.gz` is unpacked.
    """

    source: str
    files: tuple[str, ...]
    to: str = ""
    drop_suffix: str = ""
    add_suffix: str = ""


@dataclass(frozen=True, slots=True)
class Package:
    """One file of a registry, pinned. `architecture` is Debian's alone, `file` the name of a source archive of PyPI."""

    registry: Literal["debian", "npm", "pypi"]
    name: str
    version: str
    sha256: str
    take: tuple[Take, ...]
    architecture: str = ""
    file: str = field(default="", repr=False)

    @property
    def file_name(self) -> str:
        """The name that the registry's own client gives the file."""
        if self.registry == "pypi":
            return self.file
        if self.registry == "npm":
            return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.architecture}.deb"


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """Documents that belong together. `make`, if any: "docx" or "office-pdf", made of HTML, or "csv", of JSON."""

    name: str
    half: str
    language: str
    format: str
    licence: str
    about: str
    packages: tuple[Package, ...]
    make: str = ""


def load() -> tuple[DocumentSet, ...]:
    """All sets, in the order of the file."""
    rows = tomllib.loads((HERE / "sets.toml").read_text("utf-8"))["set"]
    return tuple(DocumentSet(packages=tuple(map(_package, row.pop("package"))), **row) for row in rows)


def chosen(names: Iterable[str], *, half: str | None = None) -> tuple[DocumentSet, ...]:
    """The sets of these names (all without any), of one half if wanted. Raises InputError for an unknown name."""
    every, wanted = load(), list(names)
    unknown = sorted(set(wanted) - {one.name for one in every})
    if unknown:
        known = ", ".join(one.name for one in every)
        raise InputError(f"there is no set {unknown[0]!r}: the sets are {known}")
    return tuple(
        one for one in every if (not wanted or one.name in wanted) and (half is None or one.half == half)
    )


def default_cache() -> Path:
    """Where downloads and sets are kept unless the command line says another folder."""
    return Path(platformdirs.user_cache_dir("equipoise", appauthor=False)) / "field"


def folder(cache: Path, name: str) -> Path:
    """The folder that holds the documents of a set, and nothing else."""
    return cache / "sets" / name


def _package(row: dict) -> Package:
    take = tuple(
        Take(one.pop("from"), tuple(one.pop("files")), **one) for one in (dict(t) for t in row["take"])
    )
    return Package(**(row | {"take": take}))
