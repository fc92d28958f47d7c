"""The page: files of `apps.web`, each at its own address, and nothing else. They hold nothing of the documents."""

from functools import partial
from hashlib import sha256
from importlib import resources

from fastapi import APIRouter, Request
from fastapi.responses import Response

PACKAGE = "equipoise.apps.web"
FILES = {
    "index.html": "text/html; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "vendor/preact.js": "text/javascript; charset=utf-8",
    **dict.fromkeys(
        (
            "app.js", "answer.js", "api.js", "documents.js", "history.js", "others.js", "plot.js", "reader.js",
            "words.js",
        ),
        "text/javascript; charset=utf-8",
    ),
}  # fmt: skip


def page_router() -> APIRouter:
    """A route for each file, read once."""
    router = APIRouter(include_in_schema=False)
    for name, kind in FILES.items():
        content = resources.files(PACKAGE).joinpath(name).read_bytes()
        address = "/" if name == "index.html" else f"/static/{name}"
        router.add_api_route(address, partial(_file, content, kind, f'"{sha256(content).hexdigest()[:16]}"'))
    return router


async def _file(content: bytes, kind: str, tag: str, request: Request) -> Response:
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
