"""MCP over HTTP: what is no message of JSON-RPC is refused in one sentence, before the SDK sees it."""

import json
from dataclasses import dataclass

from mcp import types
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NO_JSON = "The request's body is not valid JSON."
NO_MESSAGE = (
    'This is no JSON-RPC request: it needs "jsonrpc": "2.0", an "id" and a "method" that is text, and "params", if '
    "any, that are an object."
)


@dataclass(frozen=True, slots=True)
class WellFormed:
    """`app`, for what it can read."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return
        if error := _error(body):
            refused = {"jsonrpc": "2.0", "id": None, "error": error}
            await JSONResponse(refused, 400)(scope, receive, send)
            return
        read: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return read.pop() if read else await receive()

        await self.app(scope, again, send)


def _error(body: bytes) -> dict[str, int | str] | None:
    """What is wrong with a body, as JSON-RPC says it; None for a message."""
    try:
        types.jsonrpc_message_adapter.validate_python(json.loads(body), by_name=False)
    except ValidationError:
        return {"code": types.INVALID_REQUEST, "message": NO_MESSAGE}
    except (ValueError, RecursionError):
        return {"code": types.PARSE_ERROR, "message": NO_JSON}
    return None
