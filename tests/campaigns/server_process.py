"""A server in a process of its own, and callers that keep their connection open, for campaigns. Linux only."""

import http.client
import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from processes import ENVIRONMENT

PATIENCE_S = 120
JSON = {"Content-Type": "application/json"}
STREAM = {"Accept": "text/event-stream"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. Status 0: no whole reply; it `began` if its head was there. `headers` in lower case."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    began: bool = True

    @property
    def json(self):
        """The body read as JSON."""
        return json.loads(self.body)


class Caller:
    """One connection to a server, kept open from request to request: of two replies to one request the second would be
    taken for the reply to the next one."""

    def __init__(self, port):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)

    def ask(self, method, path, body=None, headers=None):
        """The reply; nothing is ever sent twice."""
        began = False
        try:
            self._connection.request(method, path, body, headers or {})
            response = self._connection.getresponse()
            began = True
            names = {name.lower(): value for name, value in response.headers.items()}
            return Reply(response.status, response.read(), names)
        except (OSError, http.client.HTTPException):
            self._connection.close()  # the next request opens it again
            return Reply(0, began=began)

    def close(self):
        """Close the connection."""
        self._connection.close()


class Server:
    """A server process: `command` after the interpreter's name; it prints its port. Ready once this is made."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            [sys.executable, *map(str, command)], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline())
        last = time.monotonic() + PATIENCE_S
        while self.ask("GET", "/readyz").status != 200:
            assert time.monotonic() < last, "it did not get ready"
            time.sleep(0.05)

    def ask(self, method, path, body=None, headers=None):
        """One reply over a connection of its own."""
        caller = Caller(self.port)
        try:
            return caller.ask(method, path, body, headers)
        finally:
            caller.close()

    def terminate(self):
        """Tell it to end; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()
