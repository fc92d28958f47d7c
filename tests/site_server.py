"""A site on the loopback that a test writes page by page, and that remembers what it was asked."""

import gzip
import hashlib
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from equipoise.core.source_settings import SourceSettings
from equipoise.corpus.sources.opening import sync_source

HOST = "shop.test"
"""What the site is called; `resolver` knows it."""


@dataclass
class Page:
    """What the site answers: `is_marked` pages have an ETag."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    is_marked: bool = True

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:12]}"'


class Site:
    """Pages by path and query, and the requests in their order."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pages: dict[str, Page] = {}
        self.asked: list[str] = []
        self.heads: list[dict[str, str]] = []
        self.made = None  # (path) -> Page | None, for traps

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/"

    def put(
        self, path, text, *, title="", status=200, kind="text/html; charset=utf-8", marked=True, **headers
    ):
        """A page of HTML, or whatever `kind` says; `text` is its body, or the whole page if it begins with <."""
        if isinstance(text, str) and kind.startswith("text/html") and not text.startswith("<!"):
            text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{text}</body></html>"
        body = text.encode() if isinstance(text, str) else text
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = Page(body, status, {"Content-Type": kind} | named, marked)

    def move(self, path, there, status=301):
        """A redirect."""
        self.pages[path] = Page(b"", status, {"Location": there}, is_marked=False)

    def map(self, paths, at="/sitemap.xml"):
        """A sitemap of these pages."""
        rows = "".join(f"<url><loc>{self.address}{path.lstrip('/')}</loc></url>" for path in paths)
        text = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        self.pages[at] = Page(text.encode(), 200, {"Content-Type": "application/xml"}, is_marked=False)

    def maps(self, paths, at="/sitemap.xml"):
        """An index of sitemaps."""
        rows = "".join(f"<sitemap><loc>{self.address}{path.lstrip('/')}</loc></sitemap>" for path in paths)
        self.pages[at] = Page(
            f"<sitemapindex>{rows}</sitemapindex>".encode(), 200, {"Content-Type": "text/xml"}
        )

    def settings(self, **more):
        return SourceSettings(**{"address": self.address, "allow": (HOST,)} | more)

    def sync(
        self, store, encoder, *, gone=None, metadata=None, judge=None, resolve=None, progress=None, **more
    ):
        """Bring a store up to date with the site."""
        given = {"gone": gone} if gone else {}
        return sync_source(
            self.settings(**more),
            store,
            encoder,
            metadata=metadata,
            judge=judge,
            progress=progress,
            resolve=resolve or resolver,
            **given,
        )


def resolver(host, port):
    """Names of the tests, and addresses as they are."""
    known = {HOST: ["127.0.0.1"]}
    if host in known:
        return known[host]
    if host[0].isdigit():
        return [host]
    raise OSError(f"no such name: {host}")


def bomb(size):
    """A page that unpacks to `size` bytes."""
    return gzip.compress(b"<!DOCTYPE html><p>" + b"boom " * (size // 5))


@contextmanager
def serving():
    """A new site."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body are two writes

        def do_GET(self):
            site.asked.append(self.path)
            site.heads.append(dict(self.headers))
            page = site.pages.get(self.path) or (site.made(self.path) if site.made else None)
            page = page or Page(b"not here", 404, is_marked=False)
            status, body = page.status, page.body
            if page.is_marked and status == 200 and self.headers.get("If-None-Match") == page.etag:
                status, body = 304, b""
            self.send_response(status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            if page.is_marked:
                self.send_header("ETag", page.etag)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
