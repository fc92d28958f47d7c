"""Keeps requests out of internal networks (SSRF): which addresses may be asked, and connections to just these.

A name is resolved once for each connection; every address that comes back is checked, and the connection goes to one
that was checked, so a name that means something else a moment later (DNS rebinding) leads nowhere else.
"""

import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from socket import SOCK_STREAM, gaierror, getaddrinfo
from threading import local
from typing import Any

import httpcore2

from equipoise.core.errors import CorpusError

Ip = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
"""The addresses of a host and port, as text. Raises OSError where there are none."""

_NEVER = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",
            "168.63.129.16/32",  # Azure's wire server: a public address that answers inside alone
            "192.0.0.0/24",
            "192.88.99.0/24",
            "198.18.0.0/15",
            "::/96",
            "64:ff9b:1::/48",
            "100::/64",
            "2001::/23",
            "3fff::/20",
            "5f00::/16",
            "fec0::/10",
        ),
    )
)
"""Networks that are not public, besides those that `ipaddress` does not call global."""
_WITHIN = ((IPv6Network("64:ff9b::/96"), 0), (IPv6Network("2002::/16"), 80))
"""Networks whose IPv6 addresses contain an IPv4 address, and how many bits follow it."""


class Forbidden(CorpusError):
    """A host that may not be asked: nothing was sent."""


def is_public(ip: Ip) -> bool:
    """Whether an address is one that anybody on the Internet can reach."""
    if isinstance(ip, IPv6Address):
        within = ip.ipv4_mapped or next(
            (IPv4Address((int(ip) >> bits) & 0xFFFFFFFF) for net, bits in _WITHIN if ip in net), None
        )
        if within is not None:
            return is_public(within)
        if ip.scope_id:
            return False
    bad = ip.is_multicast or ip.is_reserved or ip.is_unspecified or not ip.is_global
    return not bad and not any(ip in network for network in _NEVER if network.version == ip.version)


@dataclass(frozen=True, slots=True)
class Allowed:
    """Hosts of one's own network that settings allow to ask: names of hosts, addresses, networks. The name of a host
    does not allow a link-local or metadata address, where clouds keep their keys; only that address itself does."""

    names: tuple[str, ...] = ()

    def holds(self, host: str, ip: Ip) -> bool:
        """Whether `host`, which is at `ip`, may be asked."""
        if any(_is_in(ip, name) for name in self.names):
            return True
        return is_public(ip) or (host.lower() in self.names and not (ip.is_link_local or _is_metadata(ip)))


def _is_in(ip: Ip, name: str) -> bool:
    try:
        return ip in ip_network(name, strict=False)
    except ValueError:  # a name
        return False


def _is_metadata(ip: Ip) -> bool:
    return str(ip) in {"168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"}


def system_resolver(host: str, port: int) -> Sequence[str]:
    """Resolves names as the machine does."""
    found = getaddrinfo(host, port, type=SOCK_STREAM)
    return list(dict.fromkeys(str(row[4][0]) for row in found))


class Clock(local):
    """When the request that runs in this thread has to be over."""

    ends: float = 0.0

    def left(self, timeout: float | None) -> float:
        """Seconds that one step may take. Raises ReadTimeout where none are left."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the request took too long")
        return left if timeout is None else min(left, timeout)


@dataclass(slots=True)
class Guarded(httpcore2.NetworkBackend):
    """Connects to hosts that may be asked, and to no other."""

    allowed: Allowed
    resolve: Resolver = system_resolver
    clock: Clock = field(default_factory=Clock)
    connect: httpcore2.NetworkBackend = field(default_factory=httpcore2.SyncBackend)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """A connection to the host. Raises Forbidden, and httpcore's errors."""
        ips = self.checked(host, port)
        for row, ip in enumerate(ips):
            try:
                made = self.connect.connect_tcp(ip, port, self.clock.left(timeout), None, socket_options)
            except httpcore2.ConnectError:
                if row + 1 == len(ips):
                    raise
            else:
                return _Timed(made, self.clock)
        raise httpcore2.ConnectError(f"{host} has no address")

    def checked(self, host: str, port: int) -> list[str]:
        """The addresses of the host, all of which may be asked. Raises Forbidden, ConnectError."""
        try:
            found = [ip_address(one) for one in self.resolve(host, port)]
        except (gaierror, OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"the name {host} is not known") from error
        except ValueError as error:  # an address with a zone
            raise Forbidden(f"{host} has an address that cannot be checked") from error
        if bad := next((ip for ip in found if not self.allowed.holds(host, ip)), None):
            raise Forbidden(
                f"{host} is at {bad}, on a network of your own: nothing was asked; allow it by name "
                f"(--allow {host}) if this is meant"
            )
        return [str(ip) for ip in found]

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.NetworkStream:
        """Raises Forbidden."""
        raise Forbidden("a site is not asked over a socket of this machine")

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


@dataclass(slots=True)
class _Timed(httpcore2.NetworkStream):
    """A connection none of whose steps goes on after the deadline of the clock."""

    stream: httpcore2.NetworkStream
    clock: Clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.stream.read(max_bytes, self.clock.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, self.clock.left(timeout))

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        made = self.stream.start_tls(ssl_context, server_hostname, self.clock.left(timeout))
        return _Timed(made, self.clock)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 (as httpcore has it)
        return self.stream.get_extra_info(info)
