"""A campaign of kills on a running server: documents are handed in and questions asked while it is killed.

    python tests/campaigns/serve_kills.py --kills 20 --seed 7

After each SIGKILL, which comes so many documents and then so much time later as the seed says, it is started again. At
the end every document that was confirmed must be in the index. Then SIGTERM under load: every question that was
accepted must get its whole answer. Linux only. Exits with 1 where anything does not hold.
"""

import argparse
import json
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

sys.path.insert(0, str(Path(__file__).resolve().parent))

from server_process import JSON, STREAM, Server

from serving import made_index

TEXT = (
    "The dog number {} of the lighthouse barks at every passing steamer in the long evening of the harbour. "
)
MOST_BETWEEN = 12
"""Documents confirmed between two kills."""
LATER_S = 0.3
QUESTION = {"question": "Does logging work over a network?"}


def started(path):
    """A server over the index."""
    return Server("-m", "held_server", path, 1)


def hand_in(server, stop, names, confirmed):
    """Hand documents in until told to stop."""
    while not stop.is_set():
        name = next(names)
        text = (TEXT.format(name) * 30).encode()
        if server.ask("POST", f"/v1/documents?name={name}.txt", text).status == 202:
            confirmed.append(f"{name}.txt")


def kills(path, number, chance):
    """Names of the documents that were confirmed."""
    confirmed, names = [], iter(f"dog{count}" for count in range(10**9))
    for row in range(number):
        server, stop = started(path), Event()
        until = len(confirmed) + chance.randrange(MOST_BETWEEN)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(hand_in, server, stop, names, confirmed)
            while len(confirmed) < until:
                time.sleep(0.001)
            time.sleep(chance.uniform(0, LATER_S))
            server.process.kill()
            stop.set()
        server.process.wait()
        print(f"kill {row + 1}: {len(confirmed)} documents confirmed so far", flush=True)
    return confirmed


def lost(path, confirmed):
    """The confirmed documents that are not in the index once all jobs are done."""
    server = started(path)
    states = ("waiting", "running")
    while any(job["state"] in states for job in server.ask("GET", "/v1/jobs?limit=1000").json["data"]):
        time.sleep(0.5)
    documents, after = {}, ""
    while True:
        page = server.ask("GET", f"/v1/documents?limit=1000{after}").json
        documents |= {document["source"]: document for document in page["data"]}
        if not page["has_more"]:
            break
        after = f"&after={page['data'][-1]['doc_id']}"
    missing = [name for name in confirmed if name not in documents]
    server.terminate()
    return missing


def drained(path):
    """(answers that were whole, those that broke off, those that were turned away) with SIGTERM in the middle."""
    server, results = started(path), []

    def asked(_):
        reply = server.ask("POST", "/v1/ask", json.dumps(QUESTION), JSON | STREAM)
        if reply.status:
            how = (
                "whole"
                if b"event: done" in reply.body
                else "turned away"
                if reply.status == 503
                else "broken"
            )
        else:
            how = "broken" if reply.began else "refused"
        results.append(how)

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
