"""The chat on a page of another host: one line of HTML, in a browser that keeps sites apart."""

import http.server
import threading

import pytest
from playwright.sync_api import expect

from chatting import QUESTION, asked
from equipoise.apps.server.answers import View
from equipoise.models.scripted import ScriptedChat

WRITTEN = '{"answer": "Write-ahead logging does not work over a network filesystem."}'
PHONE = {"viewport": {"width": 360, "height": 700}, "has_touch": True, "is_mobile": True}


class Page(http.server.BaseHTTPRequestHandler):
    """A page of a shop, with one line for the chat."""

    def do_GET(self):
        body = self.server.body.encode()
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if self.path == "/" else b"")

    def log_message(self, *_given):
        """Nobody reads it."""


@pytest.fixture
def shop():
    """A site of another host: `shop.address`; what it shows is for `shop.show(line)`."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    server.headers = {}
    server.address = f"http://localhost:{server.server_port}"  # another site than 127.0.0.1

    def show(line, language="en", **headers):
        words = "<p>A shop with a page of its own.</p>" * 60
        server.headers = headers
        server.body = (
            f'<!doctype html><html lang="{language}"><head><title>Shop</title><link rel="icon" href="data:,">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><main><h1>Shop</h1>'
            f'<a href="#more">More</a><button>Buy</button>{words}</main>{line}</body></html>'
        )

    server.show = show
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def embedded(live, visit, shop):
    """`embedded(line=..., **how)`: the shop's page with the chat of a public server in it, and the server's address."""

    def made(attributes="", *, headers=None, settings=None, origins=None, language="en", chat=None, **how):
        public = {
            "ask": True,
            "rate": 0,
            "documents": True,
            "origins": [shop.address] if origins is None else origins,
        }
        wanted = settings or {}
        merged = wanted | {"public": public | wanted.get("public", {})}
        url, service = live(chat=chat, settings=merged)
        shop.show(
            f'<script src="{url}/widget.js" async {attributes}></script>',
            language,
            **{name: value.format(url=url) for name, value in (headers or {}).items()},
        )
        return visit(shop.address, **how), url, service

    return made


def opened(page, name="Ask a question"):
    page.get_by_role("button", name=name).click()
    frame = page.frame_locator("iframe")
    frame.locator(".composer").wait_for()
    return frame


def test_one_line_of_html_puts_the_chat_into_a_page(embedded):
    watched, url, service = embedded(
        chat=ScriptedChat(lambda _: WRITTEN), settings={"summarize": {"when": "always"}}
    )
    page = watched.page
    button = page.get_by_role("button", name="Ask a question")
    button.wait_for()
    assert not any(address.startswith(f"{url}/v1") for address in watched.requests)
    frame = opened(page)
    asked(frame, QUESTION)
    expect(frame.locator(".answer")).to_contain_text("does not work over a network", use_inner_text=True)
    frame.get_by_role("button", name="Quote 1, ").click()
    frame.locator("dialog mark").wait_for()
    frame.locator("dialog").press("Escape")
    with page.expect_response("**/v1/feedback"):
        frame.get_by_role("button", name="Helpful", exact=True).click()
    expect(frame.get_by_label("What should we know?")).to_be_visible()
    [rated] = service.answers.questions(View.ASKED, 1, 1)
    assert rated.up == 1 and page.context.cookies() == []
    expect(page.locator("body > div")).to_have_count(1)  # all else is in its shadow


def test_a_conversation_outlives_closing_and_loading_again(embedded):
    page = embedded()[0].page
    frame = opened(page)
    asked(frame, QUESTION)
    page.get_by_role("button", name="Close the chat").click()
    page.get_by_role("dialog").wait_for(state="hidden")
    frame = opened(page)
    expect(frame.locator(".turn")).to_have_count(1)
    page.reload()
    frame = opened(page)
    frame.get_by_role("button", name="Conversations").click()
    frame.get_by_role("button", name=QUESTION, exact=True).click()
    expect(frame.locator(".turn")).to_have_count(1)


def test_the_keyboard_opens_it_stays_inside_and_escape_closes(embedded):
    page = embedded()[0].page
    button = page.get_by_role("button", name="Ask a question")
    button.focus()
    page.keyboard.press("Enter")
    frame = page.frame_locator("iframe")
    frame.locator(".composer").wait_for()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    frame.locator(".quote").first.wait_for()
    reached = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert reached <= {"DIV", "BODY"}, reached  # the widget's own element, or the browser's own buttons
    frame.get_by_label("Your question").focus()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")
    inner = "document.activeElement.shadowRoot.activeElement"
    closed = f"{inner}?.className === 'open' && {inner}.getAttribute('aria-expanded') === 'false'"
    page.wait_for_function(closed, timeout=60_000)


def test_escape_closes_what_is_innermost_first(embedded):
    page = embedded()[0].page
    frame = opened(page)
    asked(frame, QUESTION)
    frame.locator(".quote").click()
    frame.locator("dialog mark").wait_for()
    page.keyboard.press("Escape")
    frame.locator("dialog").wait_for(state="detached")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")


def test_on_a_phone_it_fills_the_screen_and_has_a_way_out(embedded):
    page = embedded(**PHONE)[0].page
    frame = opened(page)
    box = page.locator("iframe").bounding_box()
    assert (box["x"], box["y"], box["width"]) == (0, 0, 360) and box["height"] >= 690
    asked(frame, QUESTION)
    page.frames[1].wait_for_function(
        "() => document.scrollingElement.scrollWidth <= document.scrollingElement.clientWidth"
    )
    page.get_by_role("button", name="Close the chat").tap()
    page.get_by_role("dialog").wait_for(state="hidden")


def test_beside_the_page_a_click_outside_closes_it(embedded):
    page = embedded()[0].page
    opened(page)
    page.mouse.click(20, 20)
    page.get_by_role("dialog").wait_for(state="hidden")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("how", [{}, PHONE], ids=["desk", "phone"])
def test_axe_finds_no_violation(embedded, scheme, how):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = embedded(color_scheme=scheme, **how)[0].page
    page.get_by_role("button", name="Ask a question").wait_for()
    report = axe.run(page)
    assert report.violations_count == 0, report.generate_report()
    frame = opened(page)
    asked(frame, QUESTION)
    for part in (page, page.frames[1]):
        report = axe.run(part)
        assert report.violations_count == 0, report.generate_report()


def test_a_page_with_a_strict_policy_shows_it_too(embedded):
    policy = "default-src 'none'; script-src {url}; frame-src {url}; img-src data:; require-trusted-types-for 'script'"
    watched, *_ = embedded(headers={"Content-Security-Policy": policy})
    frame = opened(watched.page)
    asked(frame, QUESTION)
    frame.locator(".quote").first.wait_for()


def test_a_page_that_is_not_listed_shows_nothing(embedded):
    watched, url, _ = embedded(origins=["https://other.example"])
    page = watched.page
    page.wait_for_function("() => performance.getEntriesByType('resource').length > 0")
    expect(page.locator("iframe, button.open")).to_have_count(0)
    [said] = watched.complaints
    assert "public.origins" in said
    page.evaluate(
        "url => document.body.append(Object.assign(document.createElement('iframe'), { src: url }))", url
    )
    page.wait_for_timeout(500)
    assert page.frames[1].url.startswith("chrome-error:") or page.frames[1].locator("h1").count() == 0
    watched.complaints.clear()


@pytest.mark.parametrize(
    ("language", "attributes", "name", "field"),
    [
        ("de", "", "Frage stellen", "Ihre Frage"),
        ("fr-FR", "", "Poser une question", "Votre question"),
        ("en", 'data-language="de"', "Frage stellen", "Ihre Frage"),
        ("en", 'data-label="Help"', "Help", "Your question"),
    ],
)
def test_it_speaks_the_language_of_the_page(embedded, language, attributes, name, field):
    page = embedded(attributes, language=language)[0].page
    frame = opened(page, name)
    frame.get_by_label(field).wait_for()


def test_its_colours_are_the_operators(embedded):
    page = embedded(settings={"page": {"accent": "#0a5d3a", "name": "Harbour"}})[0].page
    button = page.get_by_role("button", name="Ask a question")
    expect(button).to_have_css("background-color", "rgb(10, 93, 58)")
    opened(page)
    expect(page.get_by_role("dialog")).to_have_attribute("aria-label", "Chat: Harbour")


class Checks(http.server.BaseHTTPRequestHandler):
    """The operator's service that checks tokens: the one of the page is good once."""

    def do_POST(self):
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"success": true}' if "response=token-1&" in form else b'{"success": false}')

    def log_message(self, *_given):
        """Nobody reads it."""


def test_the_pages_own_test_for_people_gives_the_token(embedded):
    server = http.server.HTTPServer(("127.0.0.1", 0), Checks)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        settings = {"public": {"challenge": f"http://127.0.0.1:{server.server_port}/siteverify"}}
        page = embedded('data-challenge="tested"', settings=settings)[0].page
        page.evaluate("() => { let n = 0; window.tested = async () => `token-${(n += 1)}`; }")
        frame = opened(page)
        asked(frame, QUESTION)
        frame.locator(".quote").first.wait_for()
        asked(frame, "And over a disk?")
        expect(frame.get_by_role("alert")).to_contain_text(
            "The test for people was not passed", use_inner_text=True
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
