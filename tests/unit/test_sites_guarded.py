"""No door into the house: whatever a site says or its name means, no address of one's own network is asked."""

import itertools
from ipaddress import ip_address

import httpcore2
import pytest

from equipoise.core.errors import CorpusError, InputError
from equipoise.corpus.sources.addresses import given, parsed
from equipoise.corpus.sources.fetching import Fetcher
from equipoise.corpus.sources.guard import Allowed, Forbidden, Guarded, is_public, system_resolver
from equipoise.corpus.sources.robots import Robots
from equipoise.corpus.sources.source import Unanswered
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from site_server import HOST, Page, resolver, serving

_PRIVATE = """
    127.0.0.1 127.0.0.2 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.254 192.168.0.1
    192.168.255.1 169.254.169.254 169.254.170.2 169.254.0.1 100.64.0.1 100.100.100.200 100.127.255.254 0.0.0.0
    0.1.2.3 192.0.0.192 192.0.0.1 198.18.0.1 198.19.255.255 192.0.2.1 198.51.100.7 203.0.113.9 224.0.0.1
    239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16 192.88.99.1 ::1 :: ::127.0.0.1 ::ffff:127.0.0.1
    ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1
    2002:7f00:1:: 2002:a00:1:: 2002:a9fe:a9fe:: 2002:c0a8:1:: fe80::1 fe80::1%eth0 febf::1 fc00::1 fd00:ec2::254
    fdff::1 fec0::1 ff02::1 ff05::2 100::1 2001::1 2001:0:7f00:1:: 2001:10::1 2001:db8::1 3fff::1 5f00::1
"""
PRIVATE = _PRIVATE.split()
_PUBLIC = """
    8.8.8.8 1.1.1.1 93.184.216.34 172.32.0.1 11.0.0.1 2606:4700::1111 2a00:1450:4001:81b::200e 64:ff9b::808:808
"""
PUBLIC = _PUBLIC.split()
_SPELT = """
    127.1 127.0.1 0x7f.1 0x7f000001 0x7F.0x0.0x0.0x1 2130706433 0177.0.0.1 017700000001 0 0x0 10.1 0xa000001
    167772161 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.16689662 192.168.1 0xc0a80001 localhost localhost.
    127.0.0.1. ①②⑦.⓪.⓪.① 127。0。0。1 LOCALHOST
"""
SPELT = _SPELT.split()
"""Other spellings of such addresses."""
_SCHEMES = """
    file:///etc/passwd ftp://127.0.0.1/ gopher://127.0.0.1:70/ data:text/html,<p>x javascript:alert(1)
    dict://127.0.0.1:1/ ldap://127.0.0.1/ jar:http://127.0.0.1!/ ws://127.0.0.1/ blob:http://127.0.0.1/x
    view-source:http://127.0.0.1/
"""
SCHEMES = _SCHEMES.split()
USERS = [
    "http://shop.test@127.0.0.1/",
    "http://shop.test:80@10.0.0.1/",
    "http://a:b@shop.test/",
    "//shop.test@10.0.0.1/",
]


@pytest.fixture
def site():
    with serving() as made:
        yield made


@pytest.fixture
def asked(monkeypatch):
    """The addresses of the network that were asked for a connection."""
    made, connect = [], httpcore2.SyncBackend.connect_tcp

    def recorded(backend, host, port, *others, **more):
        made.append((host, port))
        if host != "127.0.0.1":
            raise httpcore2.ConnectError("no such machine here")
        return connect(backend, host, port, *others, **more)

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", recorded)
    return made


def hostile(port):
    """Addresses that a site may write: of hosts in a network of one's own, and of other kinds."""
    for ip in PRIVATE:
        yield f"http://[{ip}]:{port}/secret" if ":" in ip else f"http://{ip}:{port}/secret"
    yield from (f"http://{name}:{port}/secret" for name in SPELT)
    yield from SCHEMES
    yield from USERS
    yield from (f"http://{n}.rebind.test:{port}/secret" for n in range(10))


@pytest.mark.parametrize("ip", PRIVATE)
def test_it_is_no_public_address(ip):
    assert not is_public(ip_address(ip))


@pytest.mark.parametrize("ip", PUBLIC)
def test_it_is_a_public_address(ip):
    assert is_public(ip_address(ip))


def ways(site, address):
    """Each way in which a page may lead somewhere."""
    yield f'<a href="{address}">x</a>'
    yield f'<!DOCTYPE html><link rel=canonical href="{address}"><p>Canonical.</p>'
    yield f'<!DOCTYPE html><base href="{address}"><a href="/in">x</a><p>Base.</p>'
    yield f'<!DOCTYPE html><link rel=next href="{address}"><p>Next.</p>'


def test_no_page_redirect_sitemap_or_robots_leads_into_the_house(site, asked, tmp_path):
    every = list(hostile(site.port))
    count, links = itertools.count(), []
    for address in every:
        for body in ways(site, address):
            path = f"/{next(count)}"
            links.append(path)
            site.put(path, body)
        for status in (301, 307):
            path = f"/{next(count)}"
            links.append(path)
            site.pages[path] = Page(b"", status, {"Location": address.encode("ascii", "replace").decode()})
    rows = "".join(
        f"<url><loc>{address.replace('<', '&lt;')}</loc></url>"
        for address in [*every, *(f"{site.address}{link[1:]}" for link in links)]
    )
    site.put("/map.xml", f"<urlset>{rows}</urlset>", kind="text/xml")
    ascii_only = [address for address in every if address.isascii()]
    maps = "\n".join(f"Sitemap: {address}" for address in [*ascii_only, f"{site.address}map.xml"])
    site.put("/robots.txt", maps, kind="text/plain")
    site.put("/", "<p>Start.</p>")
    assert next(count) + len(every) + len(ascii_only) >= 300
    with Store.open(tmp_path / "index.db", create=True) as store:
        report = site.sync(store, HashedWords(), pages=2_000)
    assert set(asked) == {("127.0.0.1", site.port)}
    assert "/secret" not in site.asked and all(head["Host"] == f"{HOST}:{site.port}" for head in site.heads)
    assert report.added > 300


@pytest.mark.parametrize("name", [*PRIVATE, *SPELT])
def test_no_name_that_means_such_an_address_is_asked(asked, name):
    """As the start of a site, by itself and as what a name resolves to, alone and beside a public address."""
    literal = f"[{name}]" if ":" in name else name
    starts = [parsed(f"http://{literal}/")]
    try:
        ip_address(name)
    except ValueError:
        resolves = system_resolver
    else:
        resolves = lambda host, port: [name]  # noqa: E731
        starts.append(parsed("http://innocent.test/"))
    for start in filter(None, starts):
        for found in (resolves, lambda host, port: ["8.8.8.8", *resolves(host, port)]):
            with Fetcher(start, resolve=found) as fetcher, pytest.raises((Forbidden, Unanswered)):
                fetcher.get(start)
    assert asked == []


def test_a_name_that_means_something_else_a_moment_later_leads_nowhere(asked):
    """Each answer is used for the connection that it was checked for, and no other is asked for."""
    answers = itertools.cycle([["8.8.8.8"], ["127.0.0.1"], ["169.254.169.254"]])
    start = given("http://rebind.test/")
    with Fetcher(start, resolve=lambda host, port: next(answers)) as fetcher:
        for _ in range(30):
            with pytest.raises((Forbidden, Unanswered)):
                fetcher.get(start)
    assert asked and set(asked) == {("8.8.8.8", 80)}


def test_what_is_allowed_by_name_is_asked_and_metadata_only_by_its_address(site, asked):
    inside = Allowed(("wiki.corp", "10.0.0.0/8", "169.254.169.254"))
    assert inside.holds("wiki.corp", ip_address("192.168.3.4"))
    assert inside.holds("any.name", ip_address("10.1.2.3"))
    assert inside.holds("169.254.169.254", ip_address("169.254.169.254"))
    assert not inside.holds("other.corp", ip_address("192.168.3.4"))
    assert not Allowed(("wiki.corp",)).holds("wiki.corp", ip_address("169.254.169.254"))
    assert not Allowed(("wiki.corp",)).holds("wiki.corp", ip_address("fe80::1"))
    site.put("/", "<p>Here.</p>")
    with Fetcher(given(site.address), Allowed((HOST,)), resolve=resolver) as fetcher:
        assert fetcher.get(given(site.address)).status == 200


def test_another_host_is_never_asked_though_it_is_public(asked):
    start = given("http://shop.test/")
    with Fetcher(start, resolve=lambda host, port: ["8.8.8.8"]) as fetcher, pytest.raises(Forbidden):
        fetcher.get(given("http://other.test/"))
    assert asked == []


def test_no_socket_of_this_machine():
    with pytest.raises(Forbidden):
        Guarded(Allowed()).connect_unix_socket("/var/run/docker.sock")


@pytest.mark.parametrize(
    "address", ["http://user:password@shop.test/", "ftp://shop.test/", "https://", "https://a b/"]
)
def test_an_address_that_cannot_be_used_is_said(address):
    with pytest.raises(InputError):
        given(address)


class TestBounds:
    def fetcher(self, site, **more):
        return Fetcher(given(site.address), Allowed((HOST,)), resolve=resolver, **more)

    @pytest.mark.parametrize(
        ("coding", "body", "why"),
        [
            ("br", b"x" * 100, "was not asked for"),
            ("gzip", b"not gzip", "not packed as it says"),
            ("gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", "cut short"),
        ],
    )
    def test_what_is_packed_otherwise(self, site, coding, body, why):
        site.put("/", body, Content_Encoding=coding)
        with self.fetcher(site) as fetcher, pytest.raises(Unanswered, match=why):
            fetcher.get(fetcher.start)

    def test_what_is_too_large(self, site):
        site.put("/", "x" * 2_000)
        with self.fetcher(site, most=1_000) as fetcher, pytest.raises(Unanswered, match="larger than 1,000"):
            fetcher.get(fetcher.start)

    def test_what_never_ends(self, site):
        with self.fetcher(site, timeout=0.0) as fetcher, pytest.raises(CorpusError, match="too long"):
            fetcher.get(fetcher.start)

    def test_a_busy_server_is_asked_when_it_wants(self, site):
        waited = []
        site.put("/", "busy", status=503, Retry_After="7")
        with self.fetcher(site, sleep=waited.append) as fetcher:
            assert fetcher.get(fetcher.start).status == 503
        assert [round(seconds) for seconds in waited] == [7, 7] and fetcher.at_once == 1
        site.put("/", "busy", status=429, Retry_After="86400")
        with (
            self.fetcher(site, sleep=waited.append) as fetcher,
            pytest.raises(Unanswered, match="86,400 seconds"),
        ):
            fetcher.get(fetcher.start)

    def test_the_pause_that_robots_ask_for(self, site, tmp_path):
        waited = []
        site.put("/robots.txt", "User-agent: *\nCrawl-delay: 2\n", kind="text/plain")
        site.put("/", "<p>Here.</p>")
        with self.fetcher(site, sleep=waited.append) as fetcher:
            Robots.of(fetcher)
            fetcher.get(fetcher.start)
        assert len(waited) == 1 and 1.5 < waited[0] <= 2
