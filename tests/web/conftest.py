"""A browser and servers. Without a browser these tests skip: make test-web installs one."""

import os
import shutil
from importlib import import_module
from importlib.util import find_spec

import pytest

if find_spec("fastapi") is None or find_spec("playwright") is None:
    collect_ignore_glob = ["*"]
else:
    from playwright.sync_api import expect

    from served import live, opened

    expect.set_options(timeout=60_000)

    __all__ = ["live", "opened"]

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no chromium: make test-web installs it")
    with import_module("playwright.sync_api").sync_playwright() as started:
        opened_browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened_browser
        opened_browser.close()


class Watched:
    """A page, everything it asked for, and everything it complained about."""

    def __init__(self, context):
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._said)
        self.page.on(
            "dialog", lambda dialog: (self.complaints.append(f"dialog {dialog.message}"), dialog.dismiss())
        )

    def _said(self, message):
        if message.type == "error" and "status of 4" not in message.text:
            self.complaints.append(message.text)


@pytest.fixture
def visit(browser):
    """Opens pages: `visit(url, color_scheme=..., viewport=...)`. Whatever they complain about fails the test."""
    made = []

    def opened_page(url, **how):
        context = browser.new_context(**how)
        watched = Watched(context)
        made.append((context, watched))
        watched.page.goto(url)
        watched.page.wait_for_selector("h1")
        return watched

    yield opened_page
    for context, watched in made:
        context.close()
        assert not watched.complaints, watched.complaints
