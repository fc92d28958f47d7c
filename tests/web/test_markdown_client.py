"""Hostile documents in a page that renders Markdown and HTML without a policy, as a chat of another product may."""

from markdown_it import MarkdownIt

from equipoise.apps.server.markdown import as_text
from hostile_markdown import HOST, documents

RENDERED = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def asked_for(browser, texts):
    """How many of the texts make a browser ask the foreign host for something."""
    context, asked, hostile = browser.new_context(), [], 0
    context.route("**/*", lambda route: (asked.append(route.request.url), route.abort()))
    for text in texts:
        asked.clear()
        page = context.new_page()
        page.set_content(f"<!doctype html><div>{RENDERED.render(text)}</div>", wait_until="load")
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)))")
        hostile += any(HOST in url for url in asked)
        page.close()
    context.close()
    return hostile


def test_a_document_asks_a_foreign_host_for_nothing(browser):
    assert asked_for(browser, ["<img src=http://evil.example/q>", "![x](http://evil.example/q)"]) == 2
    assert asked_for(browser, map(as_text, documents())) == 0
