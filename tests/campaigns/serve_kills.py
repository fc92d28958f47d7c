"""A campaign of kills on a running server: documents are handed in and questions asked while it is killed.

    python tests/campaigns/serve_kills.py --kills 20 --seed 7

After each SIGKILL, at a moment drawn by the seed, it is started again. At the end every document that was confirmed
must be in the index. Then SIGTERM under load: every question that was accepted must get its whole answer. Linux only.
Exits with 1 where anything does not hold.
"""

import argparse
import http.client
import json
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from processes import ENVIRONMENT
from serving import made_index

TEXT = (
    "The dog number {} of the lighthouse barks at every passing steamer in the long evening of the harbour. "
)
QUESTION = {"question": "Does logging work over a network?"}
PATIENCE = 120


class Server:
    """The server process, and requests to it."""

    def __init__(self, path):
        command = [sys.executable, "-m", "held_server", str(path), "1"]
        self.process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        last = time.monotonic() + PATIENCE
        while self.ask("GET", "/readyz")[0] != 200:
            assert time.monotonic() < last, "it did not get ready"
            time.sleep(0.05)

    def ask(self, method, address, body=None, headers=None):
        """(status, body); status 0 where there was no whole answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, address, body, headers or {})
            found = connection.getresponse()
            return found.status, found.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()


def hand_in(server, stop, names, confirmed):
    """Hand documents in until told to stop."""
    while not stop.is_set():
        name = next(names)
        text = (TEXT.format(name) * 30).encode()
        if server.ask("POST", f"/v1/documents?name={name}.txt", text)[0] == 202:
            confirmed.append(f"{name}.txt")


def kills(path, number, chance):
    """Names of the documents that were confirmed."""
    confirmed, names = [], iter(f"dog{count}" for count in range(10**9))
    for row in range(number):
        server, stop = Server(path), Event()
        with ThreadPoolExecutor(2) as pool:
            pool.submit(hand_in, server, stop, names, confirmed)
            time.sleep(chance.uniform(0.05, 1.5))
            server.process.kill()
            stop.set()
        server.process.wait()
        print(f"kill {row + 1}: {len(confirmed)} documents confirmed so far", flush=True)
    return confirmed


def lost(path, confirmed):
    """The confirmed documents that are not in the index once all jobs are done."""
    server = Server(path)
    states = ("waiting", "running")
    while any(
        job["state"] in states for job in json.loads(server.ask("GET", "/v1/jobs?limit=1000")[1])["data"]
    ):
        time.sleep(0.5)
    found, after = {}, ""
    while True:
        page = json.loads(server.ask("GET", f"/v1/documents?limit=1000{after}")[1])
        found |= {one["source"]: one for one in page["data"]}
        if not page["has_more"]:
            break
        after = f"&after={page['data'][-1]['doc_id']}"
    missing = [name for name in confirmed if name not in found]
    server.process.send_signal(signal.SIGTERM)
    server.process.wait()
    return missing


def drained(path):
    """(answers that were whole, those that broke off, those that were turned away) with SIGTERM in the middle."""
    server, results = Server(path), []
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}

    def asked(_):
        status, body = server.ask("POST", "/v1/ask", json.dumps(QUESTION), headers)
        results.append(
            "whole" if b"event: done" in body else {503: "turned away", 0: "refused"}.get(status, "broken")
        )

    with ThreadPoolExecutor(20) as pool:
        for number in range(200):
            pool.submit(asked, number)
            if number == 100:
                server.process.send_signal(signal.SIGTERM)
    code = server.process.wait()
    return {kind: results.count(kind) for kind in sorted(set(results))}, code


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    wanted = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = made_index(Path(folder))
        confirmed = kills(path, wanted.kills, random.Random(wanted.seed))
        missing = lost(path, confirmed)
        answers, code = drained(path)
    print(f"{wanted.kills} kills, {len(confirmed)} documents confirmed, {len(missing)} lost: {missing[:5]}")
    print(f"SIGTERM under load: {answers}, exit code {code}")
    sys.exit(1 if missing or "broken" in answers or code else 0)


if __name__ == "__main__":
    main()
