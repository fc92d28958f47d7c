"""Sockets for servers to listen at."""

import socket

from equipoise.core.errors import InputError


def bound(host: str, port: int) -> socket.socket:
    """A socket at this address, which does not listen yet. Raises InputError where the address is taken."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)  # with its protocol: else asyncio leaves TCP_NODELAY out
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except OSError as error:
        raise InputError(
            f"port {port} of {host} cannot be used ({error.strerror}): choose another with --port"
        ) from error
    made.set_inheritable(True)
    return made
