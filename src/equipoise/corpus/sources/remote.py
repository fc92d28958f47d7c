"""File systems and mailboxes of other machines, opened by their address; most kinds need an extra of their own.

Buckets are asked at the endpoint of their cloud or of `options`. Of SFTP, WebDAV and IMAP the host is resolved once and
checked as that of a site is, and the connection goes to the address that was checked.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urlsplit

import httpcore2

from equipoise.core.errors import CorpusError, InputError
from equipoise.core.source_settings import SourceSettings, scheme_of
from equipoise.corpus.sources import mail
from equipoise.corpus.sources.files import RemoteFiles, failing
from equipoise.corpus.sources.git import Repository, started
from equipoise.corpus.sources.guard import Allowed, Guarded, Resolver

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

TIMEOUT_S = 30
_OF_GIT = frozenset({"username", "password", "branch"})
_OF_MAIL = frozenset({"username", "password", "cafile"})
_OF_SFTP = frozenset({"username", "password", "client_keys", "passphrase", "known_hosts"})


@dataclass(frozen=True, slots=True)
class _Place:
    """An address, its options, and the check of its host."""

    parts: SplitResult
    options: Mapping[str, str]
    check: Callable[[int], str]
    """Takes a port, gives the IP address to connect to."""

    def only(self, known: frozenset[str]) -> dict[str, str]:
        """The options. Raises InputError for one that is not known."""
        if odd := sorted(self.options.keys() - known):
            raise InputError(
                f"{odd[0]} is no option of {self.parts.scheme}: there are {', '.join(sorted(known))}"
            )
        return dict(self.options)


@contextmanager
def remote_files(
    chosen: SourceSettings, address: str, resolve: Resolver
) -> Iterator[RemoteFiles | mail.Mailbox]:
    """The files or messages at the canonical address of settings. Raises CorpusError where they cannot be reached."""
    options, parts = chosen.secrets(), urlsplit(address)
    hidden = tuple(value for name, value in options.items() if chosen.options[name] != value)
    within = (chosen.include, chosen.exclude, hidden)
    guarded = Guarded(Allowed(tuple(name.lower() for name in chosen.allow)), resolve)

    def check(port: int) -> str:
        try:
            return guarded.checked(parts.hostname or "", port)[0]
        except httpcore2.ConnectError as error:
            raise CorpusError(f"{address} cannot be reached: {error}") from error

    kind, place = scheme_of(address).partition("+")[0], _Place(parts, options, check)
    if kind == "imaps":
        with failing(CorpusError, f"{address} cannot be reached", hidden):
            link = mail.opened(
                parts.hostname or "", parts.port or mail.PORT, check, place.only(_OF_MAIL), TIMEOUT_S
            )
        with link:
            folder = unquote(parts.path).strip("/") or "INBOX"
            yield mail.Mailbox(address, link, folder, hidden, most=chosen.pages)
        return
    if kind == "git":
        if find_spec("dulwich") is None:
            raise InputError("git+https:// needs more packages: pip install 'equipoise[git]'")
        with started() as process:
            with failing(CorpusError, f"{address} cannot be reached", hidden):
                whole = address.removeprefix("git+").rstrip("/")
                system = Repository(
                    process, {"address": whole, "allow": list(chosen.allow), **place.only(_OF_GIT)}
                )
            yield RemoteFiles(address, system, "", *within, most=chosen.pages)
        return
    opened, extra = _KINDS[kind]
    try:
        with failing(CorpusError, f"{address} cannot be reached", hidden):
            system, folder = opened(place)
    except ImportError as error:
        raise InputError(f"{kind}:// needs more packages: pip install 'equipoise[{extra}]'") from error
    yield RemoteFiles(address, system, folder, *within, most=chosen.pages)


def _bucket(place: _Place) -> "tuple[AbstractFileSystem, str]":
    from obstore.fsspec import FsspecStore  # noqa: PLC0415 - an extra

    scheme, name, path = place.parts.scheme, place.parts.netloc, unquote(place.parts.path)
    client = {"timeout": f"{TIMEOUT_S}s", "allow_http": place.options.get("endpoint", "").startswith("http:")}
    system = FsspecStore(
        scheme, config=dict(place.options) or None, client_options=client, skip_instance_cache=True
    )
    return system, (name + path).rstrip("/")


def _sftp(place: _Place) -> "tuple[AbstractFileSystem, str]":
    from sshfs import SSHFileSystem  # noqa: PLC0415 - an extra

    host, port = place.parts.hostname or "", place.parts.port or 22
    # Without options known hosts and keys are those of the user; sshfs would trust any host.
    own: dict[str, Any] = {"known_hosts": (), "client_keys": ()} | place.only(_OF_SFTP)
    system = SSHFileSystem(
        place.check(port),
        port=port,
        host_key_alias=host,
        connect_timeout=TIMEOUT_S,
        config=None,
        skip_instance_cache=True,
        **own,
    )
    return system, unquote(place.parts.path).rstrip("/") or "/"


def _webdav(place: _Place) -> "tuple[AbstractFileSystem, str]":
    from webdav4.fsspec import WebdavFileSystem  # noqa: PLC0415 - an extra

    from equipoise.corpus.sources.webdav import client  # noqa: PLC0415 - the same extra

    scheme = "http" if place.parts.scheme.endswith("+http") else "https"
    base = f"{scheme}://{place.parts.netloc}{place.parts.path}"
    known = place.only(frozenset({"username", "password"}))
    auth = (known["username"], known.get("password", "")) if "username" in known else None
    http = client(base, auth, place.check, TIMEOUT_S)
    return WebdavFileSystem(base, http_client=http, retry=False, skip_instance_cache=True), ""


_KINDS: dict[str, tuple[Callable[[_Place], Any], str]] = {
    "s3": (_bucket, "buckets"),
    "gs": (_bucket, "buckets"),
    "az": (_bucket, "buckets"),
    "sftp": (_sftp, "sftp"),
    "webdav": (_webdav, "webdav"),
}
