"""A campaign of many users at once: nobody may get anything that belongs to another one.

    python tests/campaigns/serve_isolation.py --users 50 --questions 10000

Each user asks one question after the other, plain and streamed, in both forms and with both pipelines. The users are of
two tenants, whose keys see their own documents alone, and each ninth question asks for what is the other tenant's. The
server's model repeats the canaries of its own request. No reply may hold a canary of another tenant, no answer, line of
the audit log or entry of the reply cache another user's canary, or the nonce of another question.

With `--own-models` the package's own encoder and reader answer, without a model that writes: then an answer may quote
any document of the own tenant. `--leak` takes a model that leaks: then it has to fail. Linux only. Exits with 1 where
anything does not hold.
"""

import argparse
import json
import sqlite3
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent))

from canaries import Request, Wrong, index_of, wrong_lines
from server_process import Caller, Server

from equipoise.models.encoder import EmbeddedEncoder

HERE = Path(__file__).resolve().parent
NOTHING = "nothing highlighted"


def asked(port, user, secret, numbers, until, *, exact):
    """One user's questions, and how each ended."""
    caller, outcomes = Caller(port), []
    for number in numbers:
        if time.monotonic() >= until:
            break
        request = Request(user, number, secret, probes=True, exact=exact)
        try:
            outcomes.append((request, request.outcome(request.sent_by(caller))))
        except Wrong as error:
            outcomes.append((request, f"wrong: {error}"))
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
    parser.add_argument("--seconds", type=float, default=1800, help="No question is begun later.")
    parser.add_argument("--questions", type=int, default=10_000)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--own-models", action="store_true")
    kinds.add_argument("--leak", action="store_true")
    wanted = parser.parse_args()
    own, began = wanted.own_models, time.monotonic()
    with TemporaryDirectory() as name:
        folder = Path(name)
        path, secrets = index_of(folder, wanted.users, EmbeddedEncoder() if own else None)
        command = ["one_server.py", path]
        if not own:
            command = ["canary_server.py", path, folder, "leak" if wanted.leak else "echo"]
        server = Server(HERE / command[0], *command[1:])
        numbers, until = iter(range(wanted.questions)), began + wanted.seconds
        with ThreadPoolExecutor(wanted.users) as pool:
            users = [
                pool.submit(asked, server.port, user, secret, numbers, until, exact=not own)
                for user, secret in enumerate(secrets)
            ]
        every = [pair for user in users for pair in user.result()]
        code, seconds = server.terminate(), time.monotonic() - began
        outcomes = {request.nonce: how for request, how in every}
        good = {"answered", NOTHING} if own else {"answered"}
        wrong = [how for request, how in every if how not in (good | {NOTHING} if request.is_probe else good)]
        wrong += wrong_lines(path, outcomes, probes=True, exact=not own)
        entries, of_cache = (0, []) if own else wrong_entries(folder)
    wrong += of_cache
    kinds = Counter(how.partition(":")[0] for how in outcomes.values())
    probes = sum(request.is_probe for request, _ in every)
    print(f"{wanted.users} users, {seconds:.0f} s, {len(outcomes)} questions: {dict(kinds)}")
    print(f"{probes} asked for what is another tenant's")
    print(f"{entries} entries of the cache; exit code {code}; {len(wrong)} things wrong")
    for said in wrong[:5]:
        print(said)
    sys.exit(1 if wrong or code or not outcomes else 0)


if __name__ == "__main__":
    main()
