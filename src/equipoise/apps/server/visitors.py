"""Visitors, who ask without a key: the network they come from, as far as it is known, and the operator's CAPTCHA."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlencode

from fastapi import Request

from equipoise.apps.server.edge import TOKEN
from equipoise.apps.server.errors import ApiError
from equipoise.apps.server.keys import VISITOR, Key, Scope, visitors
from equipoise.apps.server.outgoing import FORM, posted
from equipoise.apps.server.service import Service

NEIGHBOURS = 64
"""Bits of an IPv6 address that tell visitors apart: whoever has one address has all that share these."""
LONGEST_TOKEN = 4_000
Address = IPv4Address | IPv6Address


def visitor_of(request: Request, service: Service) -> Key:
    """A key for a visitor. Its id is a keyed hash of the network: the address itself is kept nowhere."""
    public = service.settings.public
    network = network_of(_address_of(request, service)).encode()
    digest = hmac.new(service.audit.secret, b"visitor " + network, hashlib.sha256).hexdigest()[:24]
    limits = (public.rate, public.questions, public.tokens)
    everybody = visitors(public)
    return Key(VISITOR + digest, "", Scope.ASK, *limits, where=everybody.where, within=everybody)


def address(peer: str, passed_on: Sequence[str], proxies: Sequence[str]) -> Address | None:
    """The address of `peer`, who holds the connection, unless it is one of `proxies`; then the last of those it passed
    on (values of X-Forwarded-For) that is no proxy of ours. What stands before that one anybody may have written."""
    known = _read(peer)
    hops = [hop.strip() for value in passed_on for hop in value.split(",")]
    while known and hops and any(known in ip_network(one) for one in proxies):
        before = _read(hops.pop())
        if before is None:
            break
        known = before
    return known


def network_of(known: Address | None) -> str:
    """The network by which an address is counted: of IPv6 its /64."""
    if isinstance(known, IPv6Address):
        return str(ip_network((known, NEIGHBOURS), strict=False))
    return str(known)


async def passed(request: Request, service: Service, key: Key) -> None:
    """Check that a visitor has passed the operator's CAPTCHA, if there is one. Raises ApiError if not, and OverLimit
    for too many tries."""
    public = service.settings.public
    if public.challenge is None or not key.is_visitor:
        return
    service.keys.admit(key.reading)
    token = request.headers.get(TOKEN, "")
    if not token or len(token) > LONGEST_TOKEN:
        raise ApiError(403, "A test for people comes before a question here.", code="challenge")
    secret = public.secret.get_secret_value() if public.secret else ""
    sent = {"secret": secret, "response": token, "remoteip": str(_address_of(request, service))}
    try:
        said = json.loads(await posted(public.challenge, urlencode(sent).encode(), FORM))
    except (OSError, ValueError) as error:
        raise ApiError(503, "The test for people cannot be checked now.", code="challenge_failed") from error
    if not isinstance(said, dict) or said.get("success") is not True:
        raise ApiError(403, "The test for people was not passed.", code="challenge")


def _address_of(request: Request, service: Service) -> Address | None:
    peer = request.client.host if request.client else ""
    return address(peer, request.headers.getlist("x-forwarded-for"), service.settings.public.proxies)


def _read(written: str) -> Address | None:
    """Parse an address, without its port; IPv4 written as IPv6 becomes IPv4. None if it is not valid."""
    bare = written.removeprefix("[").partition("]")[0] if written.startswith("[") else written
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    with suppress(ValueError):
        found = ip_address(bare.partition("%")[0])
        return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
    return None
