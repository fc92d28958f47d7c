"""The page: the files of `apps.web`, how it looks and what its reader may do, and the chat widget for pages of other
hosts. They hold nothing of the documents but a few titles for those who may ask."""

import asyncio
import json
from functools import partial
from hashlib import sha256
from importlib import resources
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel

from equipoise.apps.server.access import Given, Serving, who_asks
from equipoise.apps.server.appearance import PACKAGE, chosen_language
from equipoise.apps.server.errors import ApiError
from equipoise.apps.server.keys import Key
from equipoise.apps.server.schemas import errors
from equipoise.apps.server.service import Service
from equipoise.apps.server.visitors import visitor_of
from equipoise.core.settings import PageSettings
from equipoise.core.types import Trust

JS = "text/javascript; charset=utf-8"
FILES = {
    "index.html": "text/html; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "vendor/preact.js": JS,
    **dict.fromkeys(
        (
            "answer.js", "api.js", "app.js", "chat.js", "cited.js", "documents.js", "expert.js", "feedback.js",
            "operation.js", "others.js", "paper.js", "plot.js", "reader.js", "threads.js", "words.js",
        ),
        JS,
    ),
}  # fmt: skip
WIDGET = "widget.js"
WIDGET_S = 300
"""Seconds for which a browser need not ask whether the widget is still the same."""
WIDGET_WORDS = ("open_chat", "close_chat", "chat_of")
ABOUT = 5
"""Titles that say what the documents are about."""


class May(BaseModel):
    """What whoever sees the page may do: `read` the documents that quotes come from, fetch their `originals`, `manage`
    what there is, and see what is for an `expert`, and give `feedback`. `ask` false: a key is needed."""

    ask: bool
    read: bool
    originals: bool
    manage: bool
    expert: bool
    feedback: bool


class PageInfo(BaseModel):
    """The operator's part of the page, its words in one language, and what its reader may do. `about` are titles of
    trusted documents, `others` says whether there are untrusted ones to hear, `challenge` whether a CAPTCHA comes
    before a question."""

    name: str
    logo: str
    language: str
    scheme: str
    colours: dict[str, dict[str, str]]
    welcome: str
    examples: list[str]
    note: str
    contact: str
    reply: str
    about: list[str]
    others: bool
    challenge: bool
    may: May
    texts: dict[str, str]


def page_router() -> APIRouter:
    """A route for each file, read once, and those that depend on the settings."""
    router = APIRouter()
    for name, kind in FILES.items():
        content = resources.files(PACKAGE).joinpath(name).read_bytes()
        address = "/" if name == "index.html" else f"/static/{name}"
        router.add_api_route(address, partial(_file, content, kind), include_in_schema=False)
    code = resources.files(PACKAGE).joinpath(WIDGET).read_text("utf-8")
    router.add_api_route(f"/{WIDGET}", partial(_widget, code), include_in_schema=False)
    router.add_api_route("/logo", _logo, include_in_schema=False)
    router.add_api_route(
        "/v1/page",
        page_info,
        summary="What the page shows",
        responses=errors(400, 429),
        tags=["state"],
        openapi_extra={"security": [{}]},
    )
    return router


async def page_info(
    request: Request,
    given: Given,
    service: Serving,
    language: Annotated[str, Query(max_length=20, description="en, de or fr; else the browser's.")] = "",
) -> PageInfo:
    """The operator's name, colours and words, and what this key, or nobody's, may do."""
    key, page = _key_of(request, given, service), service.settings.page
    spoken = chosen_language(page, language, request.headers.get("accept-language", ""))
    may = _may(service, key)
    about, others = await asyncio.to_thread(_documents, service, key) if key and may.ask else ((), False)
    return PageInfo(
        **_look(service),
        language=spoken,
        welcome=page.welcome,
        examples=list(page.examples),
        note=page.note,
        contact=service.settings.question.contact,
        reply=service.settings.question.reply,
        about=list(about),
        others=others,
        challenge=bool(service.settings.public.challenge and key and key.is_visitor),
        may=may,
        texts=dict(service.appearance.texts[spoken]),
    )


def _key_of(request: Request, given: Given, service: Service) -> Key | None:
    """The key of the request; None where there is none and nothing is public. Raises ApiError for a wrong one."""
    public = service.settings.public
    if given is not None or service.is_unlocked:
        return who_asks(given, service)
    if not (public.ask or public.documents):
        return None
    key = visitor_of(request, service)
    service.keys.admit(key.reading)
    return key


def _may(service: Service, key: Key | None) -> May:
    asks = key is not None and (service.settings.public.ask or not key.is_visitor)
    reads = key is not None and service.reads(key)
    return May(
        ask=asks,
        read=reads,
        originals=reads and service.settings.serve.originals,
        manage=key is not None and key.is_admin,
        expert=key is not None and service.explains(key),
        feedback=asks and service.settings.serve.feedback,
    )


def _documents(service: Service, key: Key) -> tuple[tuple[str, ...], bool]:
    """What the trusted documents that this key sees are about, and whether there are untrusted ones to hear."""
    hears, view = service.settings.trust.mode == "trusted-first", service.view(key)
    return view.subjects(ABOUT), hears and bool(view.partition(Trust.UNTRUSTED).counts().documents)


def _look(service: Service) -> dict[str, Any]:
    page: PageSettings = service.settings.page
    logo = "/logo" if service.appearance.logo else ""
    return {"name": page.name, "logo": logo, "scheme": page.scheme, "colours": service.appearance.colours}


async def _widget(code: str, request: Request, service: Serving) -> Response:
    """The script for pages of other hosts, with what its button looks like and says in each language."""
    texts = {
        language: {name: words[name] for name in WIDGET_WORDS}
        for language, words in service.appearance.texts.items()
    }
    public, page = service.settings.public, service.settings.page
    own = {"language": page.language, "texts": texts, "origins": list(public.origins)}
    said = json.dumps(_look(service) | own, ensure_ascii=True).replace("</", "<\\/")
    return await _file(code.replace("__LOOK__", said, 1).encode(), JS, request, WIDGET_S)


async def _logo(request: Request, service: Serving) -> Response:
    if service.appearance.logo is None:
        raise ApiError(404, "There is no logo here.", code="no_logo")
    content, kind = service.appearance.logo
    return await _file(content, kind, request, WIDGET_S)


async def _file(content: bytes, kind: str, request: Request, seconds: int = 0) -> Response:
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": f"max-age={seconds}" if seconds else "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
