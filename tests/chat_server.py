"""A real HTTP server on the loopback interface that speaks /v1/chat/completions, for tests."""

import json
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ROOM = 1000
KEY = "sk-test-7f3a9c2e51d84b60"


@dataclass
class Say:
    """One answer of the server, as it goes over the wire. A `pause` above 0 dribbles one byte per pause.

    `endless` is repeated after `body` until the client has had enough; what was taken is in `ChatServer.sent`.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    pause: float = 0.0
    hang_up: bool = False
    endless: bytes = b""


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int
    raw: bytes


def example_of(schema: dict[str, Any]) -> Any:
    """A value that is valid under a small strict schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: example_of(part) for name, part in schema["properties"].items()}
    if schema["type"] == "array":
        return [example_of(schema["items"])]
    return {"boolean": True, "integer": 1, "number": 0.5, "string": "four", "null": None}[schema["type"]]


def completion(text: str | None, *, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """The body of a chat completion that says `text`."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish_reason,
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def error(message: str, *, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """An error body in OpenAI's form."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def faithful(request: dict[str, Any]) -> dict[str, Any]:
    """What a well-behaved endpoint answers: the last message in capitals, a word a token, or JSON under the schema."""
    text = request["messages"][-1]["content"].upper()
    limit = request.get("max_tokens", request.get("max_completion_tokens"))
    if limit and len(words := text.split()) > limit:
        text = " ".join(words[:limit])
    if form := request.get("response_format"):
        if form["type"] != "json_schema" or form["json_schema"]["strict"] is not True:
            raise ValueError(form)
        text = json.dumps(example_of(form["json_schema"]["schema"]))
    body = completion(text)
    if request.get("logprobs"):
        top = [{"token": f"t{i}", "logprob": -1.0 - i, "bytes": None} for i in range(request["top_logprobs"])]
        tokens = [{"token": w, "logprob": -1.0, "bytes": None, "top_logprobs": top} for w in text.split()]
        body["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    return body


class ChatServer:
    """`url` is the base URL, `received` the requests in order; `says` are answered first, then faithfully.

    With `refuses`, a request that has any of those parameters gets a 400 in OpenAI's words. With `thinks`, one
    with a limit below ROOM gets that answer: of a model that used it up before its first word.
    """

    def __init__(self, port: int = 0) -> None:
        self.says: deque[Say] = deque()
        self.refuses: set[str] = set()
        self.thinks: Say | None = None
        self.models: Say = Say(404, error("no such route"))
        self.received: list[Received] = []
        self.sent = 0
        self._connections = 0
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> "ChatServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next_connection(self) -> int:
        self._connections += 1
        return self._connections

    def answer(self, body: dict[str, Any]) -> Say:
        if self.says:
            return self.says.popleft()
        for name in sorted(self.refuses & body.keys()):
            said = f"Unsupported parameter: '{name}' is not supported with this model."
            return Say(400, error(said, code="unsupported_parameter", param=name))
        if self.thinks and body.get("max_tokens", body.get("max_completion_tokens", ROOM)) < ROOM:
            return self.thinks
        return Say(body=faithful(body))


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = (
            True  # headers and body are two writes: the second would wait for an acknowledgement
        )
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            self.connection_number = server.next_connection()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(raw)
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.received.append(Received(self.path, headers, body, self.connection_number, raw))
            say = server.answer(body)
            if say.hang_up:
                self.close_connection = True
                return
            data = say.body if isinstance(say.body, bytes) else json.dumps(say.body).encode()
            self.send_response(say.status)
            length = {} if say.endless else {"Content-Length": str(len(data))}
            fields = {"Content-Type": say.content_type, **length, **say.headers}
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self._write(data, say.pause)
            if say.endless:
                self._repeat(say.endless)

        def do_GET(self) -> None:
            data = json.dumps(server.models.body).encode()
            self.send_response(server.models.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self._write(data, server.models.pause)

        def _repeat(self, piece: bytes) -> None:
            self.close_connection = True
            try:
                while True:
                    server.sent += self.wfile.write(piece)
            except OSError:
                return

        def _write(self, data: bytes, pause: float) -> None:
            try:
                if not pause:
                    self.wfile.write(data)
                    return
                for byte in data:
                    time.sleep(pause)
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Handler
