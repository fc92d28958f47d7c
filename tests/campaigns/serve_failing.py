"""A campaign against a language model that fails in every way, and SIGTERM in the middle of it.

    python tests/campaigns/serve_failing.py --seconds 600 --seed 7

Users ask, plain and streamed, in both forms and with both pipelines, while the endpoint of the server's model is too
busy, broken, silent, slow, cut short, speaks nonsense or cannot be reached, by the seed. Each request must get its own
answer or an error in the right form, once. Then SIGTERM comes while all go on asking: whatever was let in must get its
whole reply. Linux only. Exits with 1 where anything does not hold.
"""

import argparse
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

sys.path.insert(0, str(Path(__file__).resolve().parent))

from canaries import MODEL_FAILED, NOT_SENT, TURNED_AWAY, Request, Wrong, audited, index_of, wrong_lines
from canary_server import said_of
from server_process import Caller, Server

from chat_server import ChatServer, Say, completion, error

HERE = Path(__file__).resolve().parent
GOOD = 0.3
"""How many of the endpoint's replies are good ones."""
OPEN_S, CLOSED_S = 15.0, 3.0
"""How long the endpoint can be reached, and then cannot."""
PAUSE_S = 1.0
"""The longest pause of a user between two questions."""
LONG = {"Content-Length": "5000", "Connection": "close"}
WAYS = {
    "busy": Say(429, error("slow down"), {"Retry-After": "0"}),
    "no quota": Say(429, error("pay first", code="insufficient_quota")),
    "broken": Say(500, error("it broke")),
    "overloaded": Say(503, error("later"), {"Retry-After": "0.2"}),
    "no key": Say(401, error("who are you")),
    "moved": Say(302, {}, {"Location": "http://127.0.0.1:1/"}),
    "junk": Say(200, "<html>not what was asked for</html>", content_type="text/html"),
    "empty": Say(200, {}),
    "no words": Say(200, completion("")),
    "half JSON": Say(200, b'{"id": "chatcmpl-1", "choi'),
    "half a body": Say(200, completion("half"), LONG),
    "gone": Say(hang_up=True),
    "silent": Say(200, completion("late"), pause=5.0),
    "drip": Say(200, completion("slow"), pause=0.3),
    "endless": Say(200, b"", endless=b" " * 65_536),
}


class Endpoint:
    """The failing endpoint. `served` counts its replies by way."""

    def __init__(self, chance):
        self._chance, self._stop = chance, Event()
        self._server = ChatServer()
        self.served = Counter()
        self.url = self._server.url
        self._port = int(self.url.rpartition(":")[2].partition("/")[0])
        self._thread = Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while not self._stop.is_set():
            self._server.answer = self._answer
            with self._server:
                self._stop.wait(OPEN_S)
                self._server.answer = lambda _: WAYS["gone"]  # on connections that stay open
            self.served["closed"] += 1
            self._stop.wait(CLOSED_S)
            self._server = ChatServer(self._port)

    def _answer(self, body):
        if self._chance.random() < GOOD:
            self.served["good"] += 1
            text = "\n".join(message["content"] for message in body["messages"])
            return Say(200, completion(said_of(text, body.get("response_format"))))
        way = self._chance.choice(list(WAYS))
        self.served[way] += 1
        return WAYS[way]


def asked(port, user, secret, numbers, ending):
    """Outcomes by nonce of one user's questions, until nobody is there any more, which may be once it is `ending`."""
    caller, outcomes, chance = Caller(port), {}, random.Random(user)
    while True:
        time.sleep(chance.uniform(0, PAUSE_S))
        request = Request(user, next(numbers), secret)
        was_ending = ending.is_set()
        reply = request.sent_by(caller)
        if not reply.status:
            outcomes[request.nonce] = NOT_SENT if ending.is_set() and not reply.began else "lost"
            if was_ending:
                break
            continue
        try:
            outcomes[request.nonce] = request.outcome(reply)
        except Wrong as wrong:
            outcomes[request.nonce] = f"wrong: {wrong}"
    caller.close()
    return outcomes


def campaign(server, secrets, seconds):
    """(outcomes by nonce, exit code)."""
    numbers, ending = count(), Event()
    with ThreadPoolExecutor(len(secrets)) as pool:
        users = [
            pool.submit(asked, server.port, user, secret, numbers, ending)
            for user, secret in enumerate(secrets)
        ]
        time.sleep(seconds)
        ending.set()
        code = server.terminate()
    return {nonce: how for user in users for nonce, how in user.result().items()}, code


def main():
    """Run it and say what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=7)
    wanted = parser.parse_args()
    with TemporaryDirectory() as name, Endpoint(random.Random(wanted.seed)) as endpoint:
        path, secrets = index_of(Path(name), wanted.users)
        server = Server(HERE / "canary_server.py", path, name, endpoint.url)
        outcomes, code = campaign(server, secrets, wanted.seconds)
        wrong = [how for how in outcomes.values() if how not in {"answered", MODEL_FAILED, *TURNED_AWAY}]
        wrong += wrong_lines(path, outcomes)
        unreached = sum("cannot connect" in line.get("failure", "") for line in audited(path))
    kinds = Counter(how.partition(":")[0] for how in outcomes.values())
    print(
        f"{wanted.users} users, {wanted.seconds:.0f} s, then SIGTERM: {len(outcomes)} questions: {dict(kinds)}"
    )
    print(f"the endpoint: {dict(endpoint.served)}; {unreached} questions could not reach it")
    print(f"exit code {code}; {len(wrong)} things wrong")
    for said in wrong[:5]:
        print(said)
    sys.exit(1 if wrong or code or not outcomes else 0)


if __name__ == "__main__":
    main()
