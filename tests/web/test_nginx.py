"""Behind a real nginx with deploy/nginx.conf: streams, large bodies, and whose name links bear."""

import asyncio
import http.client
import json
import re
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from equipoise.apps.server.keys import Scope
from equipoise.models.scripted import ScriptedChat
from serving import wait_until

QUESTION = {"question": "Does write-ahead logging work over a network filesystem?"}
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
CONFIG = (Path(__file__).resolve().parents[2] / "deploy" / "nginx.conf").read_text("utf-8")
pytestmark = pytest.mark.skipif(NGINX is None, reason="there is no nginx: make test-web installs it")


class Held(ScriptedChat):
    """Answers when it is let."""

    def __init__(self):
        super().__init__(['{"answer": "Write-ahead logging does not work over a network filesystem."}'])
        self.let = threading.Event()

    async def complete(self, *arguments, **named):
        await asyncio.to_thread(self.let.wait, 60)
        return await super().complete(*arguments, **named)


@pytest.fixture
def behind(tmp_path):
    """Starts nginx before the address of a server; its own address."""
    started = []

    def proxy(url):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = CONFIG.replace("listen 443 ssl", f"listen 127.0.0.1:{port}").replace(
            "http://127.0.0.1:8080", url
        )
        server = re.sub(r"(?m)^ *ssl_.*\n", "", server)
        folders = "".join(
            f"{name}_temp_path {tmp_path}/{name};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        config = tmp_path / "nginx.conf"
        config.write_text(
            f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; worker_processes 1;"
            f"events {{}} http {{ access_log off; {folders}\n{server} }}"
        )
        started.append(
            subprocess.Popen([NGINX, "-p", str(tmp_path), "-c", str(config), "-e", f"{tmp_path}/start.log"])
        )
        wait_until(lambda: answers(port))
        return port

    yield proxy
    for process in started:
        process.terminate()
        process.wait()


def answers(port):
    try:
        return connected(port).getresponse().status == 200
    except OSError:
        return False


def connected(port, path="/healthz", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Host": "ask.example.org", "Content-Type": "application/json"} | headers
    connection.request("GET" if body is None else "POST", path, body, headers)
    return connection


def test_quotes_come_through_before_the_answer_is_written(live, behind):
    chat = Held()
    url, service = live(chat=chat, url="https://ask.example.org", settings={"summarize": {"when": "always"}})
    key = service.keys.create("asker", Scope.ASK)[1]
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
    reply = connected(behind(url), "/v1/ask", json.dumps(QUESTION), **headers).getresponse()
    read = b""
    while b"event: quotes" not in read:
        piece = reply.read1()
        assert piece, read
        read += piece
    assert b"event: answer" not in read  # the model has not been let yet
    chat.let.set()
    assert b"event: done" in reply.read()


def test_a_body_above_the_limit_is_refused_and_one_below_it_is_not(live, behind):
    url, service = live(url="https://ask.example.org", body=20_000)
    port = behind(url)
    key = f"Bearer {service.keys.create('asker', Scope.ASK)[1]}"
    large = json.dumps(QUESTION | {"more": "x" * 30_000})
    refused = connected(port, "/v1/ask", large, Authorization=key).getresponse()
    assert refused.status == 413 and json.loads(refused.read())["error"]
    huge = connected(port, "/v1/ask", b"x" * 51_000_000, Authorization=key).getresponse()
    assert huge.status == 413
    assert connected(port, "/v1/ask", json.dumps(QUESTION), Authorization=key).getresponse().status == 200


def test_links_bear_the_name_that_was_set_whatever_the_host(live, behind):
    url, service = live(url="https://ask.example.org")
    port = behind(url)
    key = f"Bearer {service.keys.create('asker', Scope.ASK)[1]}"
    asked = {"model": "equipoise", "messages": [{"role": "user", "content": QUESTION["question"]}]}
    for host in ("ask.example.org", "evil.example"):
        reply = connected(
            port, "/v1/chat/completions", json.dumps(asked), Authorization=key, Host=host
        ).getresponse()
        said = reply.read().decode()
        assert reply.status == 200, said
        assert "https://ask.example.org/" in said and "evil.example" not in said
