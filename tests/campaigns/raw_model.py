"""A listener that counts who comes, and a model in OpenAI's form that hands documents on as they are."""

import json
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_HOST = re.compile(rb"(?i)\nhost: *([\w.-]+)|\x00\x00([\x04-\x40])([\w.-]{4,64})")
"""The host of a request, or the name that TLS asks for."""


class Listener:
    """Listens on the loopback interface, says nothing, and keeps the host that each connection wanted."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]

    def __enter__(self) -> "Listener":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(1)
                try:
                    self.names.append(_wanted(connection.recv(4000)))
                except OSError:
                    self.names.append("?")


def _wanted(head: bytes) -> str:
    found = _HOST.search(head)
    if found is None:
        return "?"
    return (found[1] or found[3][: found[2][0]]).decode()


class RawModel:
    """The model `raw`: it answers with the text whose town the question names, its source event with the text, too."""

    def __init__(self, texts: dict[str, str]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                self._send("application/json", json.dumps({"data": [{"id": "raw", "object": "model"}]}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                said = json.dumps(body["messages"][-1]["content"])
                found = re.search(r"harbour of (\w+) open", said)
                text = texts[found[1]] if found and body.get("stream") else "{}"
                if not body.get("stream"):
                    message = {"role": "assistant", "content": text}
                    self._send(
                        "application/json", json.dumps({"choices": [{"index": 0, "message": message}]})
                    )
                    return
                source = {"source": {"name": "raw"}, "document": [text], "metadata": [{"source": "raw"}]}
                self._send(
                    "text/event-stream",
                    _chunk({}, event={"type": "source", "data": source})
                    + _chunk({"role": "assistant", "content": f"{text} [1]"})
                    + _chunk({}, "stop")
                    + "data: [DONE]\n\n",
                )

            def _send(self, kind: str, text: str) -> None:
                content = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> "RawModel":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _chunk(delta: dict[str, str], finish: str | None = None, **extra: object) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "raw", "object": "chat.completion.chunk", "created": 1, "model": "raw"}
    return f"data: {json.dumps(head | {'choices': [choice]} | extra)}\n\n"
