"""Pages of sites that scripts write, read by a real browser that reaches nothing but what the source may ask."""

import json
import shutil
import socket
import threading
import time
from pathlib import Path

import httpcore2
import pytest

from equipoise.core.errors import CorpusError
from equipoise.corpus.sources import browser as browsers
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from site_server import serving

pytestmark = pytest.mark.skipif(not shutil.which("chromium"), reason="make test-web installs chromium")
FILLS = """
const said = await (await fetch("/api/pages.json")).json();
document.querySelector("#root").innerHTML = said[location.pathname]
"""
SHELL = '<!DOCTYPE html><title>Shop</title><body><noscript>Turn scripts on.</noscript><div id="root"></div>'
PAGES = {
    "/": '<h1>Shop</h1><p>We sell tea.</p><a href="/refunds">Refunds</a>',
    "/refunds": "<h1>Refunds</h1><p>Refunds are paid within 14 days.</p>"
    '<div class="comment-list"><p>Mine took 90 days.</p></div>',
}


@pytest.fixture
def site():
    with serving() as made:
        yield made


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Store.open(tmp_path / "index.db", create=True) as opened:
        yield opened


def filled(site, pages=PAGES):
    """A site of one empty page and a script that fills it."""
    site.put("/app.js", FILLS, kind="text/javascript")
    site.put("/api/pages.json", json.dumps(pages), kind="application/json")
    for path in pages:
        site.put(path, f'{SHELL}<script type="module" src="/app.js"></script>')


def texts(store):
    return {store.document(one.doc_id).text: one.trust.value for one in store.listing()}


def test_what_scripts_write_is_read_and_kept_fresh(site, store):
    filled(site)
    encoder = HashedWords()
    with pytest.raises(CorpusError, match="see browser in docs"):
        site.sync(store, encoder)
    report = site.sync(store, encoder, browser=True)
    assert report.added == 3 and not report.failed
    trust = {text: one for text, one in texts(store).items() if "days" in text}
    assert sorted((text.split()[0], one) for text, one in trust.items()) == [
        ("Mine", "untrusted"),
        ("Refunds", "trusted"),
    ]
    assert site.asked.count("/app.js") == 1  # for all pages
    before = encoder.encoded
    assert site.sync(store, encoder, browser=True).unchanged == 3 and encoder.encoded == before
    filled(site, PAGES | {"/refunds": "<p>Refunds are paid within 30 days.</p>"})
    assert site.sync(store, encoder, browser=True).changed == 1
    assert any("30 days" in text for text in texts(store))


def test_a_page_with_text_needs_no_browser(site, store):
    filled(site, {"/": "<p>Other.</p>"})
    site.put("/", f"{SHELL}<p>{'We sell tea, and coffee too. ' * 10}</p><script src='/app.js'></script>")
    assert site.sync(store, HashedWords(), browser=True).added == 1
    assert "/app.js" not in site.asked


def test_a_page_stays_as_it_was_where_its_scripts_get_no_answer_or_do_not_end(site, store, monkeypatch):
    filled(site)
    encoder = HashedWords()
    site.sync(store, encoder, browser=True)
    before = store.digest()
    site.put("/api/pages.json", "{}", status=500, kind="application/json")
    with pytest.raises(CorpusError, match="status 500"):
        site.sync(store, encoder, browser=True)
    assert store.digest() == before
    monkeypatch.setattr(browsers, "SECONDS", 10.0)
    monkeypatch.setattr(browsers, "_ENDS_WITHIN", 1.0)
    filled(site)
    site.put("/refunds", f"{SHELL}<script>for (;;) {{}}</script>")
    report = site.sync(store, encoder, browser=True)
    assert "longer than 10 seconds" in report.failed[0].reason and store.digest() == before


def test_robots_hold_for_what_scripts_ask(site, store):
    filled(site)
    site.put("/robots.txt", "User-agent: *\nDisallow: /api/", kind="text/plain")
    with pytest.raises(CorpusError, match="there is no text"):
        site.sync(store, HashedWords(), browser=True)
    assert "/api/pages.json" not in site.asked


def lax(site):
    """A browser without its own protection of local networks, to which the site is as good as https."""
    off = ["LocalNetworkAccessChecks" + what for what in ("", "WebSockets", "WebRTC", "WebTransport")]
    return (
        f"--disable-features={','.join(off)},LocalNetworkAccessForWorkers",
        f"--unsafely-treat-insecure-origin-as-secure={site.address.rstrip('/')}",
    )


def own_address():
    """Of this machine in its network; WebRTC sends nothing to the loopback."""
    with socket.socket(type=socket.SOCK_DGRAM) as made:
        try:
            made.connect(("192.0.2.1", 9))
            return made.getsockname()[0]
        except OSError:
            return "127.0.0.1"


class House:
    """Sockets of a network of one's own, which count what comes."""

    def __init__(self):
        self.tcp, self.udp = socket.create_server(("127.0.0.1", 0)), socket.socket(type=socket.SOCK_DGRAM)
        self.udp.bind(("0.0.0.0", 0))
        self.ports = self.tcp.getsockname()[1], self.udp.getsockname()[1]
        self.met = []
        for listen in (self._connections, self._packets):
            threading.Thread(target=listen, daemon=True).start()

    def _connections(self):
        while True:
            try:
                made, _ = self.tcp.accept()
            except OSError:
                return
            threading.Thread(target=self._said, args=(made,), daemon=True).start()

    def _said(self, made):
        with made:
            made.settimeout(3)
            try:
                self.met.append(made.recv(200))
            except OSError:
                self.met.append(b"")

    def _packets(self):
        while True:
            try:
                self.met.append(self.udp.recv(200))
            except OSError:
                return

    def close(self):
        self.tcp.close()
        self.udp.close()


@pytest.fixture
def house():
    made = House()
    yield made
    made.close()


WAYS = """
fetch("/slow");  // so that the page is not taken before all is tried
const in_house = "127.0.0.1:<tcp>", packets = "127.0.0.1:<udp>";
const attempt = (what) => { try { const made = what(); if (made?.catch) made.catch(() => 0) } catch {} };
const add = (name, more) => document.head.append(Object.assign(document.createElement(name), more));
for (const host of [in_house, "localhost:<tcp>", "[::ffff:127.0.0.1]:<tcp>", "shop.test:<tcp>", "169.254.169.254"]) {
  attempt(() => fetch(`http://${host}/fetch`, {mode: "no-cors"}));
  attempt(() => new WebSocket(`ws://${host}/socket`));
  attempt(() => new EventSource(`http://${host}/events`));
  attempt(() => navigator.sendBeacon(`http://${host}/beacon`, "x"));
  attempt(() => window.open(`http://${host}/popup`));
  attempt(() => new Image().src = `http://${host}/image`);
  attempt(() => import(`http://${host}/module.js`));
  for (const rel of ["preconnect", "dns-prefetch", "prefetch", "preload", "prerender", "stylesheet", "icon"])
    add("link", {rel, as: "fetch", href: `http://${host}/${rel}`});
  add("script", {src: `http://${host}/script`});
  add("iframe", {src: `http://${host}/frame`});
  add("video", {src: `http://${host}/video`});
  add("script", {type: "speculationrules", textContent: JSON.stringify(
    {prefetch: [{source: "list", urls: [`http://${host}/speculated`]}]})});
}
const inside = `fetch("http://${in_house}/worker").catch(() => 0); new WebSocket("ws://${in_house}/worker")`;
const url = URL.createObjectURL(new Blob([inside], {type: "text/javascript"}));
attempt(() => new Worker(url));
attempt(() => new SharedWorker(url));
attempt(() => navigator.serviceWorker.register("/app.js"));
attempt(() => new WebTransport(`https://${packets}/transport`).ready);
attempt(() => fetch("/leads"));
attempt(() => fetch("/metadata"));
attempt(() => fetch("/post", {method: "POST", body: "x"}));
attempt(() => fetch("file:///etc/passwd"));
attempt(() => { location.href = "file:///etc/passwd" });
const form = Object.assign(document.createElement("form"), {method: "post", action: `http://${in_house}/form`});
document.body.append(form);
attempt(() => form.submit());
const reached = await Promise.race([fetch("/leads").then((a) => a.text()), fetch("/metadata").then((a) => a.text())])
  .catch(() => "nothing");
document.querySelector("#root").textContent = `This page reached ${reached}.`;
await new Promise((done) => setTimeout(done, 3000));
attempt(() => { location.href = `http://${in_house}/away` });
"""


WEBRTC = """
fetch("/slow");
const root = document.querySelector("#root");
try {
  const frame = document.createElement("iframe");
  document.body.append(frame);
  const Peer = frame.contentWindow.RTCPeerConnection ?? window.RTCPeerConnection;
  globalThis.peer = new Peer({iceServers: [{urls: "stun:<own>:<udp>"}]});
  peer.createDataChannel("x");
  await peer.setLocalDescription(await peer.createOffer());
  root.textContent = "This page tried.";
} catch (error) {
  root.textContent = `This page failed: ${error}.`;
}
"""


@pytest.fixture
def online(monkeypatch):
    """A browser that has the network of this process."""
    monkeypatch.setattr(browsers, "_offline", lambda program, folder: program)


def hostile(site, house, script=WAYS, until=None):
    tcp, udp = house.ports
    text = script.replace("<tcp>", str(tcp)).replace("<udp>", str(udp))
    site.put("/ways.js", text, kind="text/javascript")
    site.move("/leads", f"http://127.0.0.1:{tcp}/redirected")
    site.move("/metadata", "http://169.254.169.254/latest/meta-data/")
    site.put("/", f'{SHELL}<script type="module" src="/ways.js"></script>')

    def slow(path):
        """Holds the page until what is waited for has come, or for the time in which it would have."""
        for _ in range(150 if until else 50):
            if path == "/slow" and not (until and until()):
                time.sleep(0.1)

    site.made = slow


@pytest.mark.usefixtures("online")
@pytest.mark.parametrize("policy", [browsers._CONFINED, ""], ids=["as it is", "without the policy"])
def test_no_page_reaches_into_the_house(site, store, house, monkeypatch, policy):
    monkeypatch.setattr(browsers, "_WITHOUT_NETWORK", browsers._WITHOUT_NETWORK + lax(site))
    monkeypatch.setattr(browsers, "_CONFINED", policy)
    asked, connect = [], httpcore2.SyncBackend.connect_tcp
    monkeypatch.setattr(
        httpcore2.SyncBackend,
        "connect_tcp",
        lambda *given, **named: asked.append(given[1:3]) or connect(*given, **named),
    )
    hostile(site, house)
    report = site.sync(store, HashedWords(), browser=True)
    assert house.met == []
    assert set(asked) == {("127.0.0.1", site.port)}
    assert list(texts(store)) == ["This page reached nothing."], report.failed
    assert "/post" not in site.asked and {"/leads", "/metadata"} <= set(site.asked)


@pytest.mark.usefixtures("online")
def test_the_same_page_reaches_it_by_a_browser_with_a_network(site, store, house, monkeypatch):
    """What the test before would see: WebSocket, fetch of a worker, WebTransport."""
    monkeypatch.setattr(browsers, "_WITHOUT_NETWORK", lax(site))
    monkeypatch.setattr(browsers, "_CONFINED", "")

    def all_met():
        begins = (b"GET /socket", b"GET /worker")
        quic = any(one[:1] > b"\xbf" for one in house.met)
        return quic and all(any(one.startswith(begin) for one in house.met) for begin in begins)

    hostile(site, house, until=all_met)
    site.sync(store, HashedWords(), browser=True)
    assert all_met()


@pytest.mark.allow_hosts(["127.0.0.1", "192.0.2.1"])
@pytest.mark.usefixtures("online")
@pytest.mark.parametrize("wall", ["flags", "script", "none"])
def test_webrtc_sends_nothing(site, store, house, monkeypatch, wall):
    """Each of two walls holds alone; without them it gets out, where this machine has a network."""
    if wall != "script":
        monkeypatch.setattr(browsers, "_NO_WEBRTC", "")
    monkeypatch.setattr(
        browsers, "_WITHOUT_NETWORK", lax(site) + (browsers._WITHOUT_NETWORK if wall == "flags" else ())
    )
    hostile(site, house, WEBRTC.replace("<own>", own_address()))
    site.sync(store, HashedWords(), browser=True)
    refused = "This page failed: TypeError: Peer is not a constructor."
    assert list(texts(store)) == [refused if wall == "script" else "This page tried."]
    if own_address() != "127.0.0.1":
        assert bool(house.met) == (wall == "none")


def test_without_all_else_a_network_with_nothing_in_it_is_enough(site, store, house, monkeypatch, tmp_path):
    if browsers._offline("/bin/true", tmp_path) == "/bin/true":
        pytest.skip("the system lets no program have a network of its own")
    monkeypatch.setattr(browsers, "_WITHOUT_NETWORK", lax(site))
    monkeypatch.setattr(browsers, "_CONFINED", "")
    monkeypatch.setattr(browsers, "_NO_WEBRTC", "")
    hostile(site, house)
    site.sync(store, HashedWords(), browser=True)
    assert house.met == [] and list(texts(store)) == ["This page reached nothing."]


def test_the_browser_gets_no_secret_of_the_environment(site, store, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "a-secret-of-the-server")
    filled(site)
    seen = []

    def looked(path):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if b"--host-resolver-rules" in (process / "cmdline").read_bytes():
                    seen.append(b"a-secret-of-the-server" in (process / "environ").read_bytes())
            except OSError:
                continue

    del site.pages["/api/pages.json"]
    site.made = looked
    with pytest.raises(CorpusError):
        site.sync(store, HashedWords(), browser=True)
    assert seen and not any(seen)
