"""Git repositories of a folder on the loopback, by `git http-backend`, as a server of Git has them."""

import os
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from equipoise.core.source_settings import SourceSettings


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.headers.get("Authorization"))
        if self.path.startswith("/away"):
            where = self.server.away + self.path.removeprefix("/away")
            self.answer(302, {"Location": where}, b"")
            return
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        said = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        out = subprocess.run(
            ["git", "http-backend"], check=False, input=body, env=said, capture_output=True
        ).stdout
        head, _, rest = out.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.answer(int(headers.pop("Status", "200").split()[0]), headers, rest)

    do_POST = do_GET

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


class Repo:
    """A repository with its server."""

    def __init__(self, root, server):
        self.work, self.server = root / "team", server
        self.work.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *said):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, "-C", str(self.work), *said], check=True)

    def commit(self, **files):
        for name, text in files.items():
            place = self.work / f"{name}.txt"
            place.unlink(missing_ok=True) if text is None else place.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "x")

    def chosen(self, path="/team/.git", **more):
        address = f"git+http://localhost:{self.server.server_port}{path}"
        return SourceSettings(**{"address": address, "allow": ("localhost",)} | more)


@contextmanager
def repository(root):
    """A new one, served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.asked, server.root = True, [], root
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield Repo(root, server)
    finally:
        server.shutdown()
        server.server_close()
