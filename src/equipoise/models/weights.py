"""Weights of local models: what there is, what is on this disk, and how to fetch it.

`weights.toml` names each file with its size, sha256, licence and address on the hub. Files are found by content: one
whose sha256 differs is refused. `folder` is everywhere the folder of the weights; callers pass their
setting (EQUIPOISE_MODEL_FOLDER), and None is `default_folder()`.
"""

import os
import shutil
import sqlite3
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from equipoise.core.errors import InputError, ModelUnavailable, WeightsError
from equipoise.models import hashes
from equipoise.models.download import download, opened, refuse_unless_plain

CATALOGUE = Path(__file__).parent / "weights.toml"
SPARE = 256 << 20  # bytes of disk kept free for everybody else

Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and the URL."""


@dataclass(frozen=True, slots=True)
class Weights:
    """One entry of the catalogue."""

    name: str
    title: str
    role: str
    licence: str
    file: str
    size: int
    sha256: str
    url: str = ""
    """Empty where no public address is known."""


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """An entry and where its file is on this disk: None where it is not, or has another size.

    `partial` counts the bytes of a pull that was not finished.
    """

    weights: Weights
    path: Path | None
    partial: int


def default_folder() -> Path:
    """`equipoise/models` in the user's cache folder of this system."""
    return Path(platformdirs.user_cache_dir("equipoise", appauthor=False)) / "models"


def read_catalogue(path: Path = CATALOGUE) -> dict[str, Weights]:
    """Every entry by its name. Raises InputError when the file cannot be used."""
    try:
        entries = tomllib.loads(path.read_text("utf-8"))
        return {name: Weights(name=name, **fields) for name, fields in entries.items()}
    except (OSError, tomllib.TOMLDecodeError, TypeError) as error:
        raise InputError(
            f"{path} is not a catalogue of weights ({error!r}): compare it with {CATALOGUE}"
        ) from error


def listing(*, folder: Path | None = None, catalogue: Path = CATALOGUE) -> tuple[WeightsFile, ...]:
    """Every entry with what is on disk, by size only: nothing is hashed."""
    folder = folder or default_folder()
    rows = []
    for weights in read_catalogue(catalogue).values():
        path, partial = folder / weights.file, _partial(folder, weights)
        there = path.is_file() and path.stat().st_size == weights.size
        rows.append(
            WeightsFile(weights, path if there else None, partial.stat().st_size if partial.exists() else 0)
        )
    return tuple(rows)


def find(
    name: str, *, folder: Path | None = None, verify: bool = False, catalogue: Path = CATALOGUE
) -> Path | None:
    """The path of the verified weights `name`, None when they are not on this disk.

    The sha256 is taken once (seconds for a gigabyte) and remembered; `verify` takes it again. Raises WeightsError when
    it is not the catalogue's, InputError for an unknown name.
    """
    weights = _lookup(name, catalogue)
    path = (folder or default_folder()) / weights.file
    if not path.is_file():
        return None
    if (digest := hashes.sha256_of(path, weights.sha256, again=verify)) != weights.sha256:
        raise WeightsError(
            f"{path} has sha256 {digest[:12]}..., the catalogue says {weights.sha256[:12]}...: delete the "
            f"file and run  equipoise models pull {name}"
        )
    return path


def needed(name: str, *, folder: Path | None = None, catalogue: Path = CATALOGUE) -> Path:
    """The path of the verified weights `name`, in `folder`, or where EQUIPOISE_MODEL_FOLDER says, or in the cache.

    Raises ModelUnavailable where they were not pulled, and what `find` raises.
    """
    named = os.environ.get("EQUIPOISE_MODEL_FOLDER")
    place = folder or (Path(named) if named else default_folder())
    path = find(name, folder=place, catalogue=catalogue)
    if path is None:
        raise ModelUnavailable(f"{name} is not in {place}: run  equipoise models pull {name}")
    return path


def pull(
    name: str,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    catalogue: Path = CATALOGUE,
) -> Path:
    """The path of the weights `name`, fetched unless they are there; an interrupted pull resumes.

    A file that somebody else has completed, `<file>.partial`, is checked and taken without a download. Raises
    InputError for an unknown name, WeightsError when the disk is too full, another pull of the same file runs, or the
    right bytes did not come (with the reason).
    """
    weights = _lookup(name, catalogue)
    folder = folder or default_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ours in (folder / f"{weights.file}.lock", _partial(folder, weights)):
            refuse_unless_plain(ours)
        if (folder / weights.file).is_dir():
            raise WeightsError(f"{folder / weights.file} is a folder: delete it")
        with _locked(folder / f"{weights.file}.lock", name):
            if path := _good(weights, folder, catalogue):
                return path
            _need_space(weights, folder)
            return _fetch(weights, folder, progress or (lambda done, total, source: None))
    except OSError as error:
        raise WeightsError(
            f"{folder} cannot hold weights ({error}): set EQUIPOISE_MODEL_FOLDER to another folder"
        ) from error


def _lookup(name: str, catalogue: Path) -> Weights:
    entries = read_catalogue(catalogue)
    if name not in entries:
        raise InputError(f"there are no weights called {name!r}: choose from {', '.join(entries)}")
    return entries[name]


def _partial(folder: Path, weights: Weights) -> Path:
    return folder / f"{weights.file}.partial"


def _good(weights: Weights, folder: Path, catalogue: Path) -> Path | None:
    """The verified file; one with another hash is removed."""
    try:
        return find(weights.name, folder=folder, catalogue=catalogue)
    except WeightsError:
        (folder / weights.file).unlink()
        return None


def _need_space(weights: Weights, folder: Path) -> None:
    partial = _partial(folder, weights)
    needed = weights.size - (partial.stat().st_size if partial.exists() else 0) + SPARE
    if (free := shutil.disk_usage(folder).free) < needed:
        raise WeightsError(
            f"{folder} has {free / 1e9:.2f} GB free and {weights.name} needs {needed / 1e9:.2f} GB: make "
            "room, or set EQUIPOISE_MODEL_FOLDER to a folder on a larger disk"
        )


def _fetch(weights: Weights, folder: Path, progress: Progress) -> Path:
    """Fill the partial file and check it. Wrong bytes are removed; some that were there before get a second chance."""
    partial = _partial(folder, weights)
    by_hand = f"or put the file at {folder / weights.file} yourself"
    for _ in range(2 if partial.exists() else 1):
        if not weights.url and not (partial.exists() and partial.stat().st_size == weights.size):
            raise WeightsError(
                f"no public address of {weights.name} is known: in a checkout of equipoise run  python "
                f"scripts/fetch_weights.py {weights.name},  {by_hand}"
            )
        try:
            download(
                weights.url,
                partial,
                weights.size,
                lambda done: progress(done, weights.size, weights.url),
            )
        except WeightsError as error:
            raise WeightsError(
                f"{weights.name} could not be fetched from {weights.url}: {error}. Run the pull again to resume it, "
                f"{by_hand}"
            ) from error
        if (digest := hashes.sha256_of(partial, weights.sha256)) == weights.sha256:
            return _finish(weights, folder)
        partial.unlink()
    raise WeightsError(
        f"the file at {weights.url} has sha256 {digest[:12]}..., expected {weights.sha256[:12]}...; it was removed. "
        f"Try again later, {by_hand}"
    )


def _finish(weights: Weights, folder: Path) -> Path:
    partial, path = _partial(folder, weights), folder / weights.file
    with opened(partial) as file:
        os.fsync(file.fileno())
    partial.replace(path)
    hashes.remember(path, weights.sha256)
    return path


@contextmanager
def _locked(path: Path, name: str) -> Iterator[None]:
    """Hold `path` as a lock, in this process and against others; SQLite's lock ends with its process."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise WeightsError(
                f"another pull of {name} is running: wait for it to end, or stop it"
            ) from error
        except sqlite3.DatabaseError as error:
            raise WeightsError(f"{path} is not the lock file it should be: delete it") from error
        yield
