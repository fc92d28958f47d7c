"""A folder of a mailbox as a source, by IMAP over TLS: each message is a document, and none is marked as read.

A message never changes, so its number tells its version. Its bytes are parsed by the process that reads files.
"""

import imaplib
import re
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

from equipoise.core.errors import CorpusError
from equipoise.corpus.files import Content, Original
from equipoise.corpus.limits import LARGEST_FILE
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.sources.files import failing
from equipoise.corpus.sources.source import Item, ItemPart, Listed, Unanswered

PORT = 993


class _Named(ssl.SSLContext):
    """Checks the certificate for a `host`, whatever address the connection goes to."""

    host = ""

    def wrap_socket(self, *given: Any, **more: Any) -> ssl.SSLSocket:  # noqa: ANN401 (as ssl has it)
        return super().wrap_socket(*given, **more | {"server_hostname": self.host})


class _Bounded(imaplib.IMAP4_SSL):
    """Takes no answer that is larger than a file may be."""

    def read(self, size: int) -> bytes:
        if size > LARGEST_FILE:
            raise self.abort(f"it is larger than {LARGEST_FILE:,} bytes")
        return super().read(size)


def opened(
    host: str, port: int, check: Callable[[int], str], options: Mapping[str, str], timeout: float
) -> imaplib.IMAP4_SSL:
    """A connection to the address of the host that `check` gives, with its user logged in."""
    context = _Named(ssl.PROTOCOL_TLS_CLIENT)
    context.host = host
    context.load_default_certs()
    if "cafile" in options:
        context.load_verify_locations(options["cafile"])
    link = _Bounded(check(port), port, ssl_context=context, timeout=timeout)
    link.login(_quoted(options.get("username", "")), options.get("password", ""))
    return link


@dataclass(slots=True)
class Mailbox(Listed):
    """The messages in a `folder`, the newest `most` of them. No error contains any of the `secrets`."""

    link: imaplib.IMAP4_SSL
    folder: str
    secrets: tuple[str, ...] = ()
    _lock: Lock = field(default_factory=Lock)

    def items(self, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        """See DocumentSource: the newest first."""
        with failing(CorpusError, f"{self.address} cannot be listed", self.secrets):
            self._told(self.link.select(_quoted(self.folder), readonly=True))
            validity = int(self.link.response("UIDVALIDITY")[1][0] or 0)
            (found,) = self._told(self.link.uid("SEARCH", "UNDELETED"))
            numbers = sorted(map(int, bytes(found).split()), reverse=True)
        self._there = {f"{self.address}{validity}/{number}.eml": str(number) for number in numbers}
        for key, number in list(self._there.items())[: self.most]:
            yield Item(key, Original(key, "message.eml", partial(self._bytes, number)), "", 0, validity)
        if len(numbers) > self.most:
            why = f"of {len(numbers):,} messages the newest {self.most:,} are read: raise pages"
            self._leave(self.address, why)

    def read(self, item: Item) -> Sequence[ItemPart]:
        return [ItemPart(Content(self._bytes(self._there[item.key]), item.size, item.mtime_ns))]

    def _bytes(self, number: str) -> bytes:
        with self._lock, failing(Unanswered, "it cannot be read", self.secrets):
            for part in self._told(self.link.uid("FETCH", number, "(BODY.PEEK[])")):
                if isinstance(part, tuple):
                    return bytes(part[1])
            raise Unanswered("it is not there any more")

    @staticmethod
    def _told(answer: tuple[str, list[Any]]) -> list[Any]:
        """The data of an answer. Raises Unanswered for one that is not OK."""
        kind, said = answer
        if kind != "OK":
            raise Unanswered(
                b" ".join(one for one in said if isinstance(one, bytes)).decode("utf-8", "replace")
            )
        return said


def _quoted(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
