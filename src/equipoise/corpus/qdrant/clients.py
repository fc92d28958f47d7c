"""Clients for the addresses of Qdrant."""

from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from qdrant_client import QdrantClient

from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import InputError

DEFAULT_NAME = "equipoise"
MEMORY = ":memory:"


def connected(url: StoreUrl, timeout: float) -> tuple[QdrantClient, str]:
    """A client, and the name of the collection. Raises InputError, which never quotes the address."""
    with suppress(ValueError):
        parts = urlsplit(url.address)
        name = parts.path.strip("/") or DEFAULT_NAME
        asked = dict(parse_qsl(parts.query))
        if not (name.isidentifier() and name.isascii()) or asked.keys() - {"tls"}:
            raise InputError("an address of Qdrant is qdrant://[KEY@]HOST[:PORT][/NAME][?tls=1]")
        if parts.netloc == MEMORY:
            return in_memory(), name
        options: dict[str, Any] = {"port": parts.port or 6333, "https": asked.get("tls") == "1"}
        client = QdrantClient(
            host=parts.hostname, api_key=parts.username, timeout=max(1, int(timeout)), **options
        )
        return client, name
    raise InputError("an address of Qdrant is qdrant://[KEY@]HOST[:PORT][/NAME][?tls=1]")


@cache
def in_memory() -> QdrantClient:
    """The Qdrant inside this process, for tests: gone when it ends."""
    return QdrantClient(MEMORY)
