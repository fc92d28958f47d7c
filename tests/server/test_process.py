"""The process itself: it drains on SIGTERM, loses no accepted document to SIGKILL, and starts what has died again."""

import grp
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from itertools import count, islice

import pytest

from equipoise.apps.server.book import Book, folder_of
from equipoise.apps.server.keys import Keys, Scope
from equipoise.core.errors import SettingsError
from held import children
from processes import ENVIRONMENT
from serving import WAITS_S, made_index, wait_until

QUESTION = "Does logging work over a network?"


@contextmanager
def process(path, workers=1, hold="", umask=-1):
    command = [sys.executable, "-m", "held_server", str(path), str(workers), *([str(hold)] if hold else [])]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, umask=umask
    ) as started:
        try:
            port = int(started.stdout.readline())
            wait_until(lambda: status(port, "GET", "/readyz") == 200)
            yield started, port
        finally:
            started.kill()


def request(port, method, address, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAITS_S)
    try:
        connection.request(method, address, body, headers or {})
        response = connection.getresponse()
        return (
            response.status,
            response.read(),
            {name.lower(): value for name, value in response.headers.items()},
        )
    finally:
        connection.close()


def status(port, method, address):
    try:
        return request(port, method, address)[0]
    except OSError:
        return 0


def ask(port, question, **headers):
    body = json.dumps({"question": question})
    return request(port, "POST", "/v1/ask", body, {"Content-Type": "application/json", **headers})


def test_sigterm_lets_running_answers_finish_and_turns_new_ones_away(tmp_path):
    hold = tmp_path / "hold"
    with process(made_index(tmp_path), hold=hold) as (started, port):
        running = []
        streaming = {"Accept": "text/event-stream"}
        thread = threading.Thread(target=lambda: running.append(ask(port, f"{QUESTION} wait", **streaming)))
        thread.start()
        wait_until((tmp_path / "hold.begun").exists)
        started.send_signal(signal.SIGTERM)
        wait_until(lambda: status(port, "GET", "/readyz") == 503)
        assert status(port, "GET", "/healthz") == 200
        late, body, headers = ask(port, QUESTION)
        assert late == 503 and headers["retry-after"] and json.loads(body)["error"]["code"] == "stopping"
        hold.touch()
        thread.join(WAITS_S)
        code, body, _ = running[0]
        assert code == 200 and b"event: done" in body
        assert started.wait(WAITS_S) == 0


def test_a_second_signal_ends_it_at_once(tmp_path):
    with process(made_index(tmp_path), hold=tmp_path / "hold") as (started, port):
        left = []

        def leave():
            try:
                ask(port, f"{QUESTION} wait")
            except (OSError, http.client.HTTPException):
                left.append(True)

        thread = threading.Thread(target=leave)
        thread.start()
        wait_until((tmp_path / "hold.begun").exists)
        started.send_signal(signal.SIGINT)
        wait_until(lambda: status(port, "GET", "/readyz") == 503)
        while started.poll() is None:
            started.send_signal(signal.SIGINT)
            with pytest.MonkeyPatch.context():
                try:
                    started.wait(0.2)
                except subprocess.TimeoutExpired:
                    continue
        thread.join(WAITS_S)


def test_no_confirmed_document_is_lost_to_sigkill(tmp_path):
    path, confirmed = made_index(tmp_path), []
    for round_ in range(2):
        with process(path) as (started, port):
            for number in range(4):
                name = f"dogs-{round_}-{number}.txt"
                body = f"Dogs{round_}x{number} of the lighthouse bark at every passing steamer in the long evening."
                if request(port, "POST", f"/v1/documents?name={name}", body)[0] == 202:
                    confirmed.append(name)
            started.kill()
            started.wait()
    with process(path) as (_, port):

        def open_jobs():
            jobs = json.loads(request(port, "GET", "/v1/jobs?limit=100")[1])["data"]
            assert not [job["error"] for job in jobs if job["state"] == "failed"]
            return [job for job in jobs if job["state"] != "done"]

        wait_until(lambda: not open_jobs())
        listed = json.loads(request(port, "GET", "/v1/documents?limit=100")[1])["data"]
    assert len(confirmed) == 8
    assert set(confirmed) <= {document["source"] for document in listed}


def test_two_processes_share_keys_jobs_and_metrics_and_one_that_dies_is_replaced(tmp_path):
    path = made_index(tmp_path)
    book = Book(folder_of(path))
    _, secret = Keys(book).create("asker", questions=5)
    admin = Keys(book).create("admin", Scope.ADMIN)[1]
    book.close()
    key, decides = ({"Authorization": f"Bearer {key}"} for key in (secret, admin))
    with process(path, workers=2) as (started, port):
        asked = (ask(port, QUESTION, **key)[0] for _ in count())
        codes = list(
            islice((code for code in asked if code != 503), 7)
        )  # the other one may still be starting
        assert codes.count(200) == 5 and codes.count(429) == 2
        page = request(port, "GET", "/metrics", headers=decides)[1].decode()
        assert 'equipoise_questions_total{outcome="answered"} 5.0' in page
        before = workers_of(started.pid)
        for child in before:
            signal_to(child)
        wait_until(lambda: workers_of(started.pid) and not set(workers_of(started.pid)) & set(before))
        wait_until(lambda: status(port, "GET", "/readyz") == 200)
        started.send_signal(signal.SIGTERM)
        assert started.wait(WAITS_S) == 0


def workers_of(pid):
    """The server processes that `pid` has started: those that have the program's own modules."""
    pids = []
    for child in children(pid):
        try:
            line = open(f"/proc/{child}/cmdline", "rb").read()  # noqa: SIM115, PTH123
        except OSError:
            continue
        if b"spawn_main" in line:
            pids.append(child)
    return pids


def signal_to(pid):
    os.kill(pid, signal.SIGKILL)


def test_workers_end_with_the_process_that_started_them(tmp_path):
    with process(made_index(tmp_path), workers=2) as (started, port):
        wait_until(lambda: len(workers_of(started.pid)) == 2)
        workers = workers_of(started.pid)
        started.kill()
        wait_until(lambda: not any(alive(pid) for pid in workers))
        assert status(port, "GET", "/healthz") == 0


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "group"])
def test_files_are_their_owners_or_their_groups_whatever_the_umask(tmp_path, monkeypatch, shared):
    group = next((one for one in grp.getgrall() if one.gr_gid in {os.getgid(), *os.getgroups()}), None)
    if shared and group is None:
        pytest.skip("no group of this user has a name")
    if shared:
        monkeypatch.setitem(ENVIRONMENT, "SERVE_GROUP", group.gr_name)
    (tmp_path / "mine").mkdir()
    before = os.umask(0)
    try:
        path = made_index(tmp_path / "mine")
    finally:
        os.umask(before)
    with process(path, umask=0) as (_, port):
        ask(port, QUESTION)
        handed = request(
            port, "POST", "/v1/documents?name=new.txt", b"The harbour opens at nine every morning."
        )
        job = json.loads(handed[1])["id"]
        wait_until(lambda: json.loads(request(port, "GET", f"/v1/jobs/{job}")[1])["state"] == "done")
        ours = [one for one in path.parent.rglob("*") if "docs" not in one.parts]
        names = {one.name for one in ours}
        assert {"index.db-wal", "index.db-shm", "server.db", "audit.jsonl", "new.txt", "jobs.lock"} <= names
        if not shared:
            assert not [one for one in ours if one.stat().st_mode & 0o077]
            return
        theirs = [one for one in ours if one not in {path.parent, path.parent / "docs"}]
        for one in theirs:
            assert one.stat().st_gid == group.gr_gid, one
            assert one.stat().st_mode & 0o777 == (0o770 if one.is_dir() else 0o660), one


def test_a_group_that_is_not_there_is_said(opened):
    with pytest.raises(SettingsError, match=r"serve\.group: there is no group 'nobody-has-this'"):
        opened(group="nobody-has-this")
