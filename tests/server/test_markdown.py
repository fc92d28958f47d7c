"""Text of documents is text in clients that render Markdown and HTML; only our own links are live."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from equipoise.apps.server.completions import Quote
from equipoise.apps.server.markdown import as_text
from equipoise.core.types import Highlight
from hostile_markdown import EVERY, HOST, documents
from serving import WAL, events_of, made_index

RENDERED = MarkdownIt("gfm-like", {"html": True, "linkify": False}).enable(["table", "strikethrough"])
QUESTION = {"role": "user", "content": "When does the harbour close?"}
INERT = {"text", "softbreak", "hardbreak", "code_inline"}
SIGNS = st.text(alphabet="ab1 \n\\`*_[]()<>!#&;:/|~-+=$\"'.", max_size=60)


def live(markdown):
    """What a renderer makes of a text beside paragraphs, code and words."""
    tokens = RENDERED.parse(markdown)
    inline = [child for token in tokens for child in token.children or ()]
    return [token.type for token in inline if token.type not in INERT] + [
        token.type for token in tokens if not token.type.startswith(("paragraph", "inline", "code_block"))
    ]


def shown(markdown):
    inline = [child for token in RENDERED.parse(markdown) for child in token.children or ()]
    return "".join(token.content for token in inline if token.type in INERT)


def test_nothing_of_a_hostile_document_is_markup():
    every = documents(EVERY)
    assert len({*every}) == EVERY > 2 * len(documents())
    assert sum(bool(live(text)) for text in every) > 0.7 * EVERY
    assert not [text for text in every if live(as_text(text))]


@given(SIGNS, SIGNS)
def test_nothing_in_any_text_is_markup_also_in_pieces(first, second):
    assert not live(as_text(first) + as_text(second))


@given(st.text(alphabet="ab1[]*_`<>!(){}#~|", max_size=40))
def test_what_is_shown_is_the_text(text):
    assert shown(as_text(text)) == text


@pytest.mark.parametrize("plain", [WAL, "snake_case is 3 < 4, isn't it? (Yes & no, 5 * 3: see page 2.)"])
def test_plain_text_is_as_it_was(plain):
    assert as_text(plain) == plain


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_has_no_markup_but_our_citations_whatever_the_host_says(serve, tmp_path, stream):
    hostile = (
        f"The harbour closes ![at](http://{HOST}/q) nine, <img src=http://{HOST}/q> as [ever](javascript:x)."
    )
    served = serve(path=made_index(tmp_path, harbour=f"{hostile} Then it is shut."), links=True)
    body = {"model": "equipoise", "messages": [QUESTION], "stream": stream}
    headers = served.as_asker() | {"Host": HOST}
    reply = served.client.post("/v1/chat/completions", json=body, headers=headers)
    assert reply.status_code == 200 and f"{HOST}/?doc" not in reply.text
    assert "http://127.0.0.1:8080/?doc=" in reply.text
    if not stream:
        content = reply.json()["choices"][0]["message"]["content"]
        assert HOST in content
        assert live(content) == ["link_open", "link_close"]


def test_an_address_of_mail_is_no_link():
    assert as_text("write to a.b@evil.example.") == "write to `a.b@evil.example`."


def test_what_a_chat_draws_of_a_source_has_no_markup(serve, tmp_path):
    hostile = f"The harbour closes ![at](http://{HOST}/q) nine, <img src=http://{HOST}/q> as ever."
    served = serve(path=made_index(tmp_path, harbour=f"{hostile} Then it is shut."))
    body = {"model": "equipoise", "messages": [QUESTION], "stream": True}
    reply = served.client.post("/v1/chat/completions", json=body, headers=served.as_asker())
    [source] = [chunk["event"]["data"] for _, chunk in events_of(reply.text)[:-1] if "event" in chunk]
    [text] = source["document"]
    assert HOST in text and not live(text)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("https://shop.example/a", "“https://shop.example/a, line 1”"),
        ("http:evil.example.txt", "“http:evil.example.txt, line 1”"),
        ("![x](q) <img src=q>.txt", "![x\\](q) \\<img src=q>.txt, line 1"),
        ("plain name_1.txt", "plain name_1.txt, line 1"),
    ],
)
def test_the_name_of_a_source_is_no_markup_and_no_address_to_ask_an_icon_of(source, shown):
    quote = Highlight("d", 0, 5, "Hello", source, line=1)
    assert Quote(1, quote, "http://127.0.0.1").name == shown


def test_no_redirect_names_a_host_that_a_client_made_up(served):
    reply = served.client.get(
        "/v1/models/", headers=served.as_asker() | {"Host": HOST}, follow_redirects=False
    )
    assert reply.status_code == 404 and HOST not in str(reply.headers)
