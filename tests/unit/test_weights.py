"""Fetching weights from a real loopback server."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import namedtuple
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from equipoise.core.errors import InputError, WeightsError
from equipoise.models import download, hashes, weights
from equipoise.models.weights import CATALOGUE, find, listing, pull, read_catalogue

CONTENT = bytes(range(256)) * 40  # 10,240 bytes
CLOSED = "http://127.0.0.1:9/model.gguf"  # nobody listens on the discard port


@pytest.fixture(autouse=True)
def records_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of the user"))


def catalogue(tmp_path, url="", content=CONTENT):
    lines = ['["tiny"]', 'title = "Tiny"', 'role = "chat"', 'licence = "none"', 'file = "tiny.gguf"']
    lines += [f"size = {len(CONTENT)}", f'sha256 = "{hashlib.sha256(content).hexdigest()}"']
    lines += [f'url = "{url}"'] if url else []
    path = tmp_path / "catalogue.toml"
    path.write_text("\n".join(lines))
    return path


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
    assert list(entries) == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "bge-small", "mpnet"]
    hub = {name: entry.url for name, entry in entries.items() if entry.url}
    assert hub.keys() == entries.keys() - {"bge-small"}
    assert all(url.startswith("https://huggingface.co/") for url in hub.values())


def test_a_url_gives_the_file_with_progress(tmp_path):
    seen = []
    with serving() as (address, _):
        listed = catalogue(tmp_path, address)
        path = pull("tiny", folder=tmp_path / "m", catalogue=listed, progress=lambda *step: seen.append(step))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT), address)
    assert not list(path.parent.glob("*.partial"))


def test_a_killed_pull_goes_on(tmp_path):
    with serving() as (address, asked):
        listed = catalogue(tmp_path, address)
        code = f"""
import os, signal
from pathlib import Path
from equipoise.models import download, weights
download.CHUNK = 4096
def die(done, total, url):
    if done == 8192:
        os.kill(os.getpid(), signal.SIGKILL)
weights.pull("tiny", folder=Path({str(tmp_path / "m")!r}), catalogue=Path({str(listed)!r}), progress=die)
"""
        source = str(Path(weights.__file__).parents[2])
        killed = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": source}, check=False
        )
        assert killed.returncode == -signal.SIGKILL
        kept = (tmp_path / "m/tiny.gguf.partial").stat().st_size
        assert pull("tiny", folder=tmp_path / "m", catalogue=listed).read_bytes() == CONTENT
    assert asked == [None, f"bytes={kept}-" if kept else None]


def test_a_broken_transfer_resumes_with_a_range(tmp_path):
    with serving(stop_after=6000) as (address, _), pytest.raises(WeightsError, match="4,240 bytes too early"):
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))
    with serving() as (address, asked):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))
    assert asked == ["bytes=6000-"]
    assert path.read_bytes() == CONTENT


def test_a_server_without_ranges_is_read_from_the_start(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/tiny.gguf.partial").write_bytes(CONTENT[:6000])
    with serving(ranges=False) as (address, asked):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))
    assert asked == ["bytes=6000-"]
    assert path.read_bytes() == CONTENT


def test_wrong_bytes_are_refused_and_removed(tmp_path):
    with serving(CONTENT[::-1]) as (address, _):
        listed = catalogue(tmp_path, address)
        with pytest.raises(WeightsError, match=r"has sha256 .* removed"):
            pull("tiny", folder=tmp_path / "m", catalogue=listed)
    assert [p.name for p in (tmp_path / "m").iterdir()] == ["tiny.gguf.lock"]


def test_a_spoilt_partial_file_is_fetched_anew(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/tiny.gguf.partial").write_bytes(b"x" * 5000)
    with serving() as (address, asked):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))
    assert asked == ["bytes=5000-", None]
    assert path.read_bytes() == CONTENT


def test_a_file_of_another_size_is_refused_before_it_is_read(tmp_path):
    with serving(CONTENT + b"more") as (address, _):
        listed = catalogue(tmp_path, address)
        with pytest.raises(WeightsError, match="10,244 bytes, expected 10,240"):
            pull("tiny", folder=tmp_path / "m", catalogue=listed)


def test_an_unreachable_hub_is_named_with_what_to_do(tmp_path):
    with pytest.raises(WeightsError) as caught:
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, CLOSED))
    message = str(caught.value)
    assert CLOSED in message and "refused" in message
    assert str(tmp_path / "m/tiny.gguf") in message


def test_weights_without_an_address_are_put_there_by_hand(tmp_path):
    listed, path = catalogue(tmp_path), tmp_path / "m/tiny.gguf"
    with pytest.raises(WeightsError, match=rf"no public address of tiny is known.*{path}"):
        pull("tiny", folder=path.parent, catalogue=listed)
    path.write_bytes(CONTENT)
    assert pull("tiny", folder=path.parent, catalogue=listed) == path


def test_a_partial_file_that_is_whole_is_checked_and_taken(tmp_path):
    listed, path = catalogue(tmp_path), tmp_path / "m/tiny.gguf"
    path.parent.mkdir()
    partial = path.with_name("tiny.gguf.partial")
    for content, good in ((CONTENT[::-1], False), (CONTENT, True)):
        partial.write_bytes(content)
        if good:
            assert pull("tiny", folder=path.parent, catalogue=listed) == path
        else:
            with pytest.raises(WeightsError, match="no public address"):
                pull("tiny", folder=path.parent, catalogue=listed)
        assert not partial.exists()


def test_a_full_disk_is_found_out_first(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(weights.shutil, "disk_usage", lambda folder: usage(10, 9, 1))
    with serving() as (address, asked):
        with pytest.raises(WeightsError, match=r"0\.00 GB free and tiny needs 0\.27 GB"):
            pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))
        assert asked == []


def test_two_pulls_do_not_clash(tmp_path):
    listed, second = tmp_path / "catalogue.toml", []

    def again(done, total, source):
        with pytest.raises(WeightsError) as caught:
            pull("tiny", folder=tmp_path / "m", catalogue=listed)
        second.append(str(caught.value))

    with serving() as (address, _):
        catalogue(tmp_path, address)
        pull("tiny", folder=tmp_path / "m", catalogue=listed, progress=again)
    assert second == ["another pull of tiny is running: wait for it to end, or stop it"]


def test_what_is_there_is_not_fetched_again(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/tiny.gguf").write_bytes(CONTENT)
    path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, CLOSED))
    assert path == tmp_path / "m/tiny.gguf"


def test_find_remembers_the_hash_and_notices_changes(tmp_path, monkeypatch):
    listed, path = catalogue(tmp_path), tmp_path / "tiny.gguf"
    assert find("tiny", folder=tmp_path, catalogue=listed) is None
    path.write_bytes(CONTENT)
    assert find("tiny", folder=tmp_path, catalogue=listed) == path
    with monkeypatch.context() as patch:
        patch.setattr(hashes.hashlib, "file_digest", lambda *_: pytest.fail("hashed again"))
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
    with pytest.raises(InputError, match=rf"{bad} is not a catalogue .*sha256.*{CATALOGUE.name}"):
        read_catalogue(bad)


# folders that somebody else made


def test_a_record_that_came_with_the_folder_is_not_believed(tmp_path):
    """An unchecked file with a record of a check beside it, in the form that 0.1.0 wrote and in today's."""
    listed, folder = catalogue(tmp_path), tmp_path / "cloned"
    folder.mkdir()
    path = folder / "tiny.gguf"
    path.write_bytes(CONTENT[::-1])
    sha256, status = hashlib.sha256(CONTENT).hexdigest(), path.stat()
    forged = {"sha256": sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
    today = hashes._stamp(path, sha256)
    for name, record in (("tiny.gguf.verified.json", forged), (hashes.record_of(path).name, today)):
        (folder / name).write_text(json.dumps(record))
    with pytest.raises(WeightsError, match="delete the file"):
        find("tiny", folder=folder, catalogue=listed)


def test_a_record_is_of_one_place(tmp_path, monkeypatch):
    listed = catalogue(tmp_path)
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
    listed, path = catalogue(tmp_path), tmp_path / "tiny.gguf"
    path.write_bytes(CONTENT)
    hashes.records().mkdir(parents=True)
    hashes.record_of(path).write_text(record)
    assert find("tiny", folder=tmp_path, catalogue=listed) == path


def test_where_nothing_can_be_recorded_the_file_is_hashed_each_time(tmp_path):
    listed, path = catalogue(tmp_path), tmp_path / "tiny.gguf"
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
            pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))
        assert asked == []
    assert treasure.exists() == (kind != "dangling")
    assert kind == "dangling" or treasure.read_bytes() == b""


def test_a_partial_file_that_becomes_a_link_is_not_written_through(tmp_path):
    treasure = tmp_path / "treasure"
    treasure.write_bytes(b"gold")
    (tmp_path / "x.partial").symlink_to(treasure)
    with pytest.raises(WeightsError, match="delete it"):
        download.opened(tmp_path / "x.partial")
    assert treasure.read_bytes() == b"gold"


def test_a_link_at_the_final_name_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "m").mkdir()
    treasure = tmp_path / "treasure"
    treasure.write_bytes(b"gold")
    (tmp_path / "m/tiny.gguf").symlink_to(treasure)
    with serving() as (address, _):
        path = pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))
    assert path.read_bytes() == CONTENT
    assert not path.is_symlink()
    assert treasure.read_bytes() == b"gold"


def test_a_folder_at_the_final_name_is_found_out_first(tmp_path):
    (tmp_path / "m/tiny.gguf").mkdir(parents=True)
    with serving() as (address, asked):
        with pytest.raises(WeightsError, match=r"tiny\.gguf is a folder: delete it"):
            pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))
        assert asked == []


@pytest.mark.parametrize("content", [b"no lock\n" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_lock_that_is_no_lock_says_what_to_delete(tmp_path, content):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/tiny.gguf.lock").write_bytes(content)
    with pytest.raises(WeightsError, match=r"tiny\.gguf\.lock is not the lock file it should be: delete it"):
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, CLOSED))


@pytest.mark.parametrize("length", ["many", "-1", "1e9", "9" * 5000])
def test_a_length_that_is_none_is_the_reason_of_that_source(tmp_path, length):
    with serving(length=length) as (address, _), pytest.raises(WeightsError, match="fetched from http"):
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))


def test_what_a_server_says_is_shown_without_controls(tmp_path):
    with serving(reason="gone\x1b[2J" + "x" * 5000) as (address, _), pytest.raises(WeightsError) as caught:
        pull("tiny", folder=tmp_path / "m", catalogue=catalogue(tmp_path, address))
    assert "gone [2Jxxx" in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 700
