"""A campaign of many users at once: nobody may get anything that belongs to another one.

    python tests/campaigns/serve_isolation.py --users 50 --seconds 300

Each user asks one question after the other, plain and streamed, in both forms and with both pipelines. The server's
model repeats the canaries of its own request. No reply, line of the audit log or entry of the reply cache may hold
another user's canary, or the nonce of another question. `--leak` takes a model that leaks: then it has to fail. Linux
only. Exits with 1 where anything does not hold.
"""

import argparse
import json
import sqlite3
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent))

from canaries import Request, Wrong, index_of, wrong_lines
from server_process import Caller, Server

HERE = Path(__file__).resolve().parent


def asked(port, user, secret, numbers, until):
    """Outcomes by nonce of one user's questions."""
    caller, outcomes = Caller(port), {}
    while time.monotonic() < until:
        request = Request(user, next(numbers), secret)
        try:
            outcomes[request.nonce] = request.outcome(request.sent_by(caller))
        except Wrong as error:
            outcomes[request.nonce] = f"wrong: {error}"
    caller.close()
    return outcomes


def wrong_entries(folder):
    """(entries of the reply cache, those that are not what the model said of just that request)."""
    lines = (folder / "requests.jsonl").read_text("utf-8").splitlines()
    said = {line["key"]: line["reply"] for line in map(json.loads, lines)}
    with closing(sqlite3.connect(folder / "replies.db")) as cache:
        kept = cache.execute("SELECT key, reply FROM replies").fetchall()
    wrong = [
        f"an entry of the cache: {reply}" for key, reply in kept if json.loads(reply)["text"] != said[key]
    ]
    return len(kept), wrong


def main():
    """Run it and say what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--leak", action="store_true")
    wanted = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        path, secrets = index_of(folder, wanted.users)
        server = Server(HERE / "canary_server.py", path, folder, "leak" if wanted.leak else "echo")
        numbers, until = count(), time.monotonic() + wanted.seconds
        with ThreadPoolExecutor(wanted.users) as pool:
            users = [
                pool.submit(asked, server.port, user, secret, numbers, until)
                for user, secret in enumerate(secrets)
            ]
        outcomes = {nonce: how for user in users for nonce, how in user.result().items()}
        code = server.terminate()
        wrong = [how for how in outcomes.values() if how != "answered"]
        wrong += wrong_lines(path, outcomes)
        entries, of_cache = wrong_entries(folder)
    wrong += of_cache
    kinds = Counter(how.partition(":")[0] for how in outcomes.values())
    print(f"{wanted.users} users, {wanted.seconds:.0f} s, {len(outcomes)} questions: {dict(kinds)}")
    print(f"{entries} entries of the cache; exit code {code}; {len(wrong)} things wrong")
    for said in wrong[:5]:
        print(said)
    sys.exit(1 if wrong or code or not outcomes else 0)


if __name__ == "__main__":
    main()
