"""Who is asking: the key of a request, and what it opens."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from equipoise.apps.server.errors import ApiError
from equipoise.apps.server.keys import OWNER, Key
from equipoise.apps.server.service import Service
from equipoise.apps.server.visitors import visitor_of
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.types import Document, Trust

_bearer = HTTPBearer(auto_error=False, description="A key of `equipoise keys create`.")


def service_of(request: Request) -> Service:
    """The service of the application."""
    service: Service = request.app.state.service
    return service


Given = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
Serving = Annotated[Service, Depends(service_of)]


def who_asks(given: Given, service: Serving) -> Key:
    """The key of the request. Raises ApiError 401 if there is none, or none that is valid."""
    if service.is_unlocked:
        return OWNER  # also with some key, which clients of OpenAI's form always send
    if given is None:
        raise _unknown("This server needs a key: send it as  Authorization: Bearer KEY.")
    key = service.keys.find(given.credentials)
    if key is None:
        raise _unknown("This key is wrong or has been revoked.")
    return key


def who_may_ask(request: Request, given: Given, service: Serving) -> Key:
    """As `who_asks`; without a key, a visitor's key if anybody may ask."""
    if given is None and service.settings.public.ask:
        return visitor_of(request, service)
    return who_asks(given, service)


def who_may_read(request: Request, given: Given, service: Serving) -> Key:
    """As `who_asks`; without a key, a visitor's if the server is public. Raises ApiError 403 if this key may ask but
    not read documents, and OverLimit for a visitor who reads too fast."""
    public = service.settings.public
    if given is None and (public.ask or public.documents) and not service.is_unlocked:
        key = visitor_of(request, service)
        service.keys.admit(key.reading)
    else:
        key = who_asks(given, service)
    may_read(service, key)
    return key


Asker = Annotated[Key, Depends(who_asks)]
"""Whoever has a key."""
Visitor = Annotated[Key, Depends(who_may_ask)]
"""Whoever may ask."""
Reader = Annotated[Key, Depends(who_may_read)]
"""Whoever may read the documents that quotes come from."""


def who_decides(key: Asker) -> Key:
    """The key of the request, if its scope is admin. Raises ApiError 401 and 403."""
    only_admins(key)
    return key


def only_admins(key: Key) -> None:
    """Raises ApiError 403 unless the key's scope is admin."""
    if not key.is_admin:
        raise ApiError(403, "This needs a key with the scope admin.", code="admin_only")


def may_read(service: Service, key: Key) -> None:
    """Raises ApiError 403 where `serve.documents` or `public.documents` keeps documents from who may only ask."""
    if not service.reads(key):
        raise ApiError(403, "Documents cannot be opened here; quotes are all there is.", code="no_documents")


def document_for(service: Service, key: Key, doc_id: str, *, for_model: bool = False) -> Document:
    """The document, where the key may read it. Raises ApiError 403, and 404 for one that is not there for the key. A
    held document is there for admins only, and never where a model reads it."""
    may_read(service, key)
    try:
        document = service.view(key).document(doc_id)
    except StoreError:
        raise
    except CorpusError:
        document = None
    if document is None or (document.trust is Trust.HELD and (for_model or not key.is_admin)):
        raise ApiError(404, "There is no such document.", code="no_document")
    return document


Admin = Annotated[Key, Depends(who_decides)]


def _unknown(said: str) -> ApiError:
    return ApiError(401, said, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
