"""The address of an endpoint: checked and brought into one form, so that all who read it see the same host."""

import re
from ipaddress import IPv6Address
from typing import NamedTuple
from urllib.parse import urlsplit

from equipoise.core.errors import SettingsError

LONGEST = 2_000
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,126}}\.?\Z")
_CHARACTERS = re.compile(r"[!#-;=?-\[\]_a-z~]*\Z")  # those of a URL (RFC 3986)
_LOOKS = "must look like https://host/v1: correct model.base_url, OPENAI_BASE_URL or AZURE_OPENAI_ENDPOINT"


class Endpoint(NamedTuple):
    """`url` is what is connected to; `shown` has no user, password, query or fragment; `password` may be ""."""

    url: str
    shown: str
    password: str


def address(url: str) -> Endpoint:
    """`url` as an address. Raises SettingsError, without repeating it, unless it is http(s) with a usable host.

    A host in other letters than ASCII becomes its ASCII form.
    """
    if len(url) > LONGEST:
        raise SettingsError(f"the model's base URL has {len(url):,} characters: it {_LOOKS}")
    try:
        parts = urlsplit(url)
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:  # of the port, of brackets, of an IDN or IPv6 host
        host, port = "", None
    user, at, _ = parts.netloc.rpartition("@") if host else ("", "", "")
    path = parts.path.rstrip("/") if host else ""
    query = f"?{parts.query}" if host and parts.query else ""
    rest = f"{user}{path}{query}"
    if (
        not host
        or parts.scheme not in {"http", "https"}
        or not url.isprintable()
        or not _CHARACTERS.match(rest)
    ):
        raise unusable()
    place = f"{host}{f':{port}' if port is not None else ''}{path}"
    return Endpoint(
        f"{parts.scheme}://{user}{at}{place}{query}", f"{parts.scheme}://{place}", user.partition(":")[2]
    )


def unusable() -> SettingsError:
    """The error for an address that only the client finds fault with."""
    return SettingsError(f"the model's base URL {_LOOKS}")


def _host(name: str) -> str:
    """The host in ASCII, in brackets where it is an IPv6 address; ValueError where it can be no host."""
    if ":" in name:
        return f"[{IPv6Address(name)}]"
    ascii_name = name if name.isascii() else name.encode("idna").decode("ascii")
    if len(ascii_name) > 253 or not _HOST.match(ascii_name):
        raise ValueError(name)
    if "xn--" in ascii_name.lower():
        if "_" in ascii_name:  # one of the two is no host name
            raise ValueError(name)
        ascii_name.encode("ascii").decode("idna")
    return ascii_name.lower()
