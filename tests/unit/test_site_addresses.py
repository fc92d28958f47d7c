"""Addresses of pages: one spelling, what lies below a prefix, and links that lead into themselves."""

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from equipoise.corpus.sources.addresses import SiteScope, given, parsed


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("HTTP://Shop.Example:80", "http://shop.example/"),
        ("https://shop.example:443/a/../b/./c/", "https://shop.example/b/c/"),
        ("https://shop.example:8443/x#part", "https://shop.example:8443/x"),
        ("http://shop.example./%7euser/%e4?b=1&a=2", "http://shop.example/~user/%E4?b=1&a=2"),
        ("http://shop.example/a b?utm_source=x&id=3&fbclid=9", "http://shop.example/a%20b?id=3"),
        ("http://bücher.example/ä", "http://xn--bcher-kva.example/%C3%A4"),
        ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("  http://shop.example/a\n ", "http://shop.example/a"),
        ("http://shop.example/../../etc", "http://shop.example/etc"),
        ("http://shop.example//a//b", "http://shop.example/a/b"),
    ],
)
def test_one_spelling(text, wanted):
    assert str(parsed(text)) == wanted


_NONE = ["", "shop", "ftp://a/", "http://", "http://a:0/", "http://a:99999/", "http://a\\@b/", "mailto:a@b"]


@pytest.mark.parametrize("text", [*_NONE, f"http://{'a' * 300}/", f"http://a/{'x' * 3_000}"])
def test_what_is_none(text):
    assert parsed(text) is None


@examples(st.text(max_size=60))
def test_any_text_gives_none_or_one_that_stays_as_it_is(text):
    for made in (
        parsed(text),
        parsed(f"http://shop.example/{text}"),
        parsed(text, given("http://shop.example/a/b")),
    ):
        if made is not None:
            assert parsed(str(made)) == made and str(made).isascii()


def test_what_lies_below_a_prefix():
    scope = SiteScope(given("https://shop.example/docs/index.html"), exclude=("/docs/old/*", "*?print=1"))
    inside = ["/docs/", "/docs/a", "/docs", "/docs/x/y?z=1"]
    outside = ["/", "/documents", "/docs/old/a", "/docs/a?print=1", "/docs/a/b/a/b/a/b/"]
    assert all(scope.holds(parsed(path, scope.start)) for path in inside)
    assert not any(scope.holds(parsed(path, scope.start)) for path in outside)
    assert SiteScope(given("https://shop.example/docs")).prefix == "/docs/"
    assert SiteScope(given("https://shop.example/a/index.html")).prefix == "/a/"
    assert not scope.holds(given("http://shop.example/docs/a"))
    assert not scope.holds(given("https://www.shop.example/docs/a"))
