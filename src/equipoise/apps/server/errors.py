"""Errors over HTTP: one clear sentence in OpenAI's form, whatever went wrong."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from equipoise.apps.server.fair_queue import Busy
from equipoise.apps.server.keys import OverLimit
from equipoise.core.errors import EquipoiseError, InputError, QuestionError

LOG = logging.getLogger("equipoise")
FAILED = "Something failed here; it is in the server's log. Try again later."
BUSY = "The server is busy. Try again in a moment."
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
UNKNOWN = "unknown_parameter"
"""OpenAI's code for a field of a body that is not known; here also for a parameter of an address."""
RETRY_S = 5
"""Seconds after which a busy server may be asked again."""

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_SENTENCES = {404: "There is nothing at this address.", 405: "This address does not take this method."}


class ApiError(HTTPException):
    """An error for the client: a status and one sentence for people. FastAPI lets it pass from reading a body, too."""

    def __init__(
        self,
        status: int,
        said: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, said, dict(headers or {}))
        self.code = code
        self.param = param

    @property
    def body(self) -> dict[str, Any]:
        """OpenAI's error object."""
        status = self.status_code
        kind = KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
        return {"error": {"message": self.detail, "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> JSONResponse:
        """The HTTP response."""
        return JSONResponse(self.body, self.status_code, headers=dict(self.headers or {}))


def busy() -> ApiError:
    """The error for a full queue."""
    return ApiError(503, BUSY, code="busy", headers={"Retry-After": str(RETRY_S)})


def draining() -> ApiError:
    """The error while the server is stopping."""
    said = "The server is about to stop. Try again in a moment."
    return ApiError(503, said, code="stopping", headers={"Retry-After": str(RETRY_S), "Connection": "close"})


def as_api_error(error: Exception) -> ApiError:
    """Any error as one for the client. Internal ones are logged; the client is told only that something failed."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, OverLimit):
        headers = {"Retry-After": str(error.retry_after)}
        return ApiError(429, str(error), code=error.code, headers=headers)
    if isinstance(error, Busy):
        return busy()
    if isinstance(error, TimeoutError):
        return ApiError(504, "The answer took too long and was given up.", code="timeout")
    if isinstance(error, QuestionError):
        return ApiError(400, _sentence(str(error)), code="unusable_question", param="question")
    said = f"a request failed: {type(error).__name__}: %s"  # one kind for each type: see logs.OncePerMinute
    LOG.error(said, error, exc_info=not isinstance(error, EquipoiseError))
    return ApiError(500, FAILED, code="failed")


def for_admin(error: InputError) -> ApiError:
    """The error for something that an administrator typed and that cannot be used."""
    return ApiError(400, _sentence(str(error)))


def answer_errors(app: FastAPI) -> None:
    """Make every error of `app` leave as an ApiError does."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        return _invalid(error.errors()).response()

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        said = _SENTENCES.get(error.status_code, str(error.detail))
        headers = {"Allow": _methods(app, request)} if error.status_code == 405 else error.headers
        return ApiError(error.status_code, said, headers=headers).response()

    for kind in (ApiError, OverLimit, Busy, EquipoiseError, TimeoutError, Exception):

        @app.exception_handler(kind)
        async def known(_request: Request, error: Exception) -> JSONResponse:
            return as_api_error(error).response()


def _methods(app: FastAPI, request: Request) -> str:
    """The methods of all routes at the address, not only of the first one."""
    allowed = [
        method
        for method in METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in app.routes)
    ]
    return ", ".join(allowed)


_KINDS = {
    "extra_forbidden": "it is not known here",
    "model_attributes_type": "Send the request's body as JSON, with Content-Type: application/json",
    "string_pattern_mismatch": "it is empty, or of another form",
    "too_short": "it is empty",
}
"""What is wrong, in words, by pydantic's types of errors."""


def _invalid(errors: Sequence[Any]) -> ApiError:
    first = errors[0]
    place = [str(part) for part in first["loc"][1:]]
    if first["type"] == "json_invalid":
        return ApiError(400, "The request's body is not valid JSON.", code="invalid_json")
    where = ".".join(place)
    said = _KINDS.get(first["type"]) or str(first["msg"]).removeprefix("Value error, ")
    code = UNKNOWN if first["type"] == "extra_forbidden" else None
    return ApiError(400, f"{where}: {said}." if where else f"{said}.", code=code, param=where or None)


def _sentence(said: str) -> str:
    """The part of a message that is not about the command line."""
    return said.split(": type one", 1)[0].split("  equipoise ", 1)[0]
