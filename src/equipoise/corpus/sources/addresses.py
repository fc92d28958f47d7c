"""Addresses of pages: one spelling for each, what lies below a prefix, and what looks like a trap."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import normpath
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit

from equipoise.core.errors import InputError
from equipoise.core.source_settings import REMOTE, scheme_of

PORTS = {"http": 80, "https": 443}
LONGEST = 2_000
"""Characters of an address."""
MOST_REPEATED = 3
"""A path with one of its parts so often, as /a/b/a/b/a/b, is a link that leads into itself."""
_SAFE = "!$&'()*+,;=:@/~-._"
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|sessionid|phpsessid|jsessionid|sid", re.IGNORECASE
)
"""Parameters of a query for tracking and sessions, which change no page."""
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_IPV6 = re.compile(r"[0-9a-f:.]+")
_ODD = re.compile(r"[\x00-\x20\x7f\\]")


@dataclass(frozen=True, slots=True)
class Address:
    """An address of a page, in one spelling. `host` is in ASCII, without a dot at its end; an IPv6 address has no
    brackets."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.target}"

    @property
    def target(self) -> str:
        """Path and query."""
        return self.path + (f"?{self.query}" if self.query else "")

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port


def parsed(text: str, base: Address | None = None) -> Address | None:
    """The address in `text`, which may be relative to `base`; None for one that is not http or https, is too
    long, names a user, or has an invalid host."""
    try:
        if len(text) > LONGEST:
            return None
        text = text.strip()
        if _ODD.search(text):
            text = re.sub(r"[\t\r\n]", "", text).replace(" ", "%20")
        whole = urljoin(str(base), text) if base else text
        parts = urlsplit(whole)
        scheme = parts.scheme.lower()
        if scheme not in PORTS or "@" in parts.netloc or _ODD.search(whole):
            return None
        host = _host(parts.hostname or "")
        port = PORTS[scheme] if parts.port is None else parts.port
        if not host or not 0 < port < 65_536:
            return None
        made = Address(scheme, host, port, _path(parts.path), _query(parts.query))
    except ValueError:
        return None
    return made if len(str(made)) <= LONGEST else None


def root(text: str) -> str:
    """The address of a source in its one spelling, under which an index has its documents. Raises InputError."""
    if scheme_of(text) not in REMOTE:
        return str(given(text))
    parts = urlsplit(text)
    if (
        "@" in parts.netloc
        or parts.query
        or parts.fragment
        or not parts.netloc
        or _ODD.search(text + unquote(text).replace(" ", ""))
    ):
        raise InputError(f"{text[:200]!r} is no address of a source: see docs/sources.md")
    path = normpath(quote(unquote(parts.path))) if parts.path else ""
    return f"{parts.scheme}://{parts.netloc.lower()}/{path.strip('/')}".rstrip("/") + "/"


def given(text: str) -> Address:
    """The address that somebody typed. Raises InputError."""
    if "@" in urlsplit(text).netloc:
        raise InputError(
            "an address with a user or password in it is not taken: see `authorization` in docs/sources.md"
        )
    address = parsed(text)
    if address is None:
        raise InputError(f"{text[:200]!r} is no address of a site: write for example https://shop.example/")
    return address


def _host(name: str) -> str:
    host = name if name.isascii() else name.encode("idna").decode()
    host = host.lower().rstrip(".")
    is_name = all(_LABEL.fullmatch(label) for label in host.split("."))
    return host if len(host) < 254 and (is_name or (":" in host and _IPV6.fullmatch(host))) else ""


def _path(path: str) -> str:
    """The path without . and .. and with one spelling of %; a / at its end stays."""
    quoted = re.sub(r"%([0-9a-fA-F]{2})", lambda found: _respelt(found.group(1)), path) or "/"
    quoted = quote(quoted, safe=f"%{_SAFE}")
    clean = normpath(quoted) if quoted.startswith("/") else "/"
    clean = "/" + clean.lstrip("/")
    return clean if clean == "/" or not quoted.endswith(("/", "/.", "/..")) else f"{clean}/"


def _respelt(digits: str) -> str:
    letter = chr(int(digits, 16))
    return letter if letter.isascii() and (letter.isalnum() or letter in "-._~") else f"%{digits.upper()}"


def _query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=100)
    kept = [(name, value) for name, value in pairs if not _TRACKING.fullmatch(name)]
    return query if len(kept) == len(pairs) and query.isascii() else urlencode(kept)


def is_chosen(path: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether one of `include`, if there are any, and none of `exclude` matches a path, as file names are matched."""
    if any(fnmatchcase(path, one) for one in exclude):
        return False
    return not include or any(fnmatchcase(path, one) for one in include)


@dataclass(frozen=True, slots=True)
class SiteScope:
    """Which addresses belong to a source: those below `start`, where one of `include`, if there are any, and none of
    `exclude` matches the path, as file names are matched (`/blog/*`)."""

    start: Address
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def prefix(self) -> str:
        """What paths begin with: the folder of `start`, which is `start` itself unless it is called like a file."""
        folder, _, name = self.start.path.rpartition("/")
        return f"{folder}/{name}/" if name and "." not in name else f"{folder}/"

    def holds(self, address: Address) -> bool:
        """Whether a page there may be a document."""
        if not self.is_below(address) or self.leads_into_itself(address):
            return False
        return is_chosen(address.target, self.include, self.exclude)

    def is_below(self, address: Address) -> bool:
        """Whether it is on the site, below the prefix."""
        return address.origin == self.start.origin and (
            address.path.startswith(self.prefix) or f"{address.path}/" == self.prefix
        )

    @staticmethod
    def leads_into_itself(address: Address) -> bool:
        """Whether a part of the path occurs MOST_REPEATED times or more."""
        parts = Counter(part for part in address.path.split("/") if part)
        return max(parts.values(), default=0) >= MOST_REPEATED and len(parts) < sum(parts.values()) - 1
