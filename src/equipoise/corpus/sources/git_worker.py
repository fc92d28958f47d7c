"""A process that holds the files of one Git repository for `corpus.sources.git`: nothing of a pack is unpacked in the
process that has the store. Run as `python -m equipoise.corpus.sources.git_worker`; it ends with its parent.

It fetches the newest commit alone, over HTTP, from the host of the address and no other: each connection, also where it
is led on, goes to an address that was checked.
"""

import os
import resource
import stat
import sys
from collections.abc import Callable
from typing import Any

import urllib3
from dulwich.client import Urllib3HttpGitClient
from dulwich.object_store import iter_tree_contents
from dulwich.objects import Blob, Commit
from dulwich.repo import MemoryRepo
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.connection import create_connection

from equipoise.corpus import frames
from equipoise.corpus.limits import LARGEST_FILE
from equipoise.corpus.sources.guard import Allowed, Forbidden, Guarded, Resolver, system_resolver

MOST_BYTES = 300_000_000
"""Of a pack."""
MOST_FILES = 100_000
STEP_S = 30.0
_LIMITS = {"CORE": 0, "FSIZE": MOST_BYTES * 2, "NOFILE": 64, "AS": 3_000_000_000, "CPU": 300}


class _Client(Urllib3HttpGitClient):  # type: ignore[misc]
    """Takes no answers that are larger together than a pack may be."""

    _taken = 0

    def _http_request(self, *given: Any, **more: Any) -> Any:  # noqa: ANN401 (as dulwich has it)
        answer, read = super()._http_request(*given, **more)

        def bounded(size: int) -> bytes:
            data = bytes(read(size))
            self._taken += len(data)
            if self._taken > MOST_BYTES:
                raise Forbidden(f"the repository is larger than {MOST_BYTES:,} bytes")
            return data

        return answer, bounded


def pools(address: str, allowed: Allowed, resolve: Resolver = system_resolver) -> urllib3.PoolManager:
    """Connections to the origin of an address, and to no other."""
    origin = urllib3.util.parse_url(address)
    guarded = Guarded(allowed, resolve)

    def connected(link: HTTPConnection) -> Any:  # noqa: ANN401 (a socket)
        if (link.host, link.port) != (origin.host, origin.port or link.default_port):
            raise Forbidden(f"it leads away, to {link.host}: nothing was asked there")
        return create_connection((guarded.checked(link.host, link.port)[0], link.port), STEP_S)

    class Plain(HTTPConnection):
        _new_conn = connected

    class Tls(HTTPSConnection):
        _new_conn = connected

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class TlsPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Tls

    manager = urllib3.PoolManager(
        timeout=STEP_S, retries=urllib3.Retry(total=5, redirect=5, connect=0, read=0)
    )
    known: dict[str, Any] = {"http": PlainPool, "https": TlsPool}
    manager.pool_classes_by_scheme = {str(origin.scheme): known[str(origin.scheme)]}
    return manager


def main() -> None:
    """Fetch what is asked for first, say which files there are, then give each that is wanted."""
    asked, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for name, most in _LIMITS.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    header, _ = frames.receive_header(asked, most=LARGEST_FILE)
    try:
        store, files = _fetched(header)
    except Exception as error:  # noqa: BLE001 - a pack of somebody else may break it in any way
        frames.send(replies, {"failed": f"{type(error).__name__}: {error}"[:1_000]})
        return
    frames.send(replies, {"files": files})
    while True:
        header, _ = frames.receive_header(asked, most=LARGEST_FILE)
        frames.send(replies, *_file(store, header["sha"]))


def _fetched(said: dict[str, Any]) -> tuple[Any, list[tuple[str, str]]]:
    """All objects of the newest commit of a branch, and its regular files with the ids of their contents."""
    address, branch = str(said["address"]), str(said.get("branch", ""))
    manager = pools(address, Allowed(tuple(said["allow"])))
    client = _Client(
        address, pool_manager=manager, username=said.get("username"), password=said.get("password")
    )
    repo, wanted = MemoryRepo(), f"refs/heads/{branch}".encode() if branch else b"HEAD"

    def wants(refs: dict[bytes, bytes], depth: int | None = None) -> list[bytes]:
        if wanted not in refs:
            raise Forbidden(f"there is no branch {branch or 'HEAD'}")
        return [refs[wanted]]

    choose: Callable[..., Any] = wants
    refs = client.fetch("", repo, determine_wants=choose, depth=1).refs
    commit = repo.object_store[refs[wanted]]
    if not isinstance(commit, Commit):
        raise Forbidden("the branch is no commit")
    files = []
    for entry in iter_tree_contents(repo.object_store, commit.tree):
        if not stat.S_ISREG(entry.mode):
            continue
        try:
            files.append((entry.path.decode(), entry.sha.decode()))
        except UnicodeDecodeError:
            continue
        if len(files) > MOST_FILES:
            raise Forbidden(f"there are more than {MOST_FILES:,} files")
    return repo.object_store, files


def _file(store: Any, sha: str) -> tuple[Any, ...]:  # noqa: ANN401 (dulwich's)
    try:
        blob = store[sha.encode()]
    except Exception as error:  # noqa: BLE001 - as above
        return ({"failed": f"{type(error).__name__}: {error}"[:1_000]},)
    data = blob.data if isinstance(blob, Blob) else b""
    if len(data) > LARGEST_FILE:
        return ({"failed": f"the file is larger than {LARGEST_FILE:,} bytes"},)
    return {}, data


if __name__ == "__main__":
    main()
