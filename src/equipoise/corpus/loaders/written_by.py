"""Which parts of a web page its readers wrote, not its owner: comments, reviews, answers.

By what the page says of itself (schema.org in its elements or as JSON-LD, rel=ugc), by the names that comment systems
give their elements, and by selectors of the operator. A part that is taken wrongly is still read, as untrusted.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from equipoise.corpus.loaders.loaded import one_line, words

_TYPES = frozenset({"Answer", "Comment", "DiscussionForumPosting", "Review", "UserReview", "UserComments"})
"""Types of schema.org that readers write."""
_OWN_ANSWERS = "FAQPage"
"""The type of schema.org whose answers the owner writes."""
_PROPERTIES = frozenset({"comment", "review", "reviews", "reviewbody", "suggestedanswer"})
_NAMES = words("""
    comments comment-list commentlist comments-area comments-section comments-list comment-section comment-thread
    comment-body comment-content comment-text comment-container comments-container comments-wrapper comment-wrapper
    commentarea comment_list comments_list user-comments usercomments post-comments article-comments
    disqus_thread disqus-thread disqus-comments isso-thread utterances giscus remark42 commento hyvor-talk-view
    fb-comments cusdis_thread discourse-comments wpd-threads wpdiscuz livefyre coral_talk_stream
    reviews review-list reviews-list user-reviews customer-reviews product-reviews review-body review-text
    guestbook user-generated ugc discussion-replies talkback shoutbox
""")
_ONE = re.compile(r"(?:comment|review|reply|li-comment|div-comment)(?:-\d+)?|answer-\d+")
"""Names of a single comment, which count for block elements only: `comment` is also a class in coloured code."""
_BLOCKS = frozenset(
    {"article", "aside", "blockquote", "dd", "details", "div", "dl", "li", "ol", "section", "ul"}
)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "a"})
_MARKS = frozenset({"a", "span"})
"""Elements whose id does not count, as it may only be a link target: that of a chapter about comments."""
_NEVER = frozenset({"html", "body", "main", "head"})
_AROUND_A_LINK = ("li", "article", "section", "blockquote", "dd", "td", "div", "p")
_LEAST = 12
"""Characters of a text of JSON-LD that is looked for in the page."""
_MOST_TEXTS, _MOST_LD = 500, 2_000_000
_DEEP = 40


def of_readers(tree: LexborHTMLParser, selectors: Sequence[str] = ()) -> list[LexborNode]:
    """The outermost elements that the page's readers wrote."""
    found: dict[int, LexborNode] = {}
    for node in _found(tree, selectors):
        found.setdefault(node.mem_id, node)
    return [node for node in found.values() if not _is_inside(node, found)]


def _found(tree: LexborHTMLParser, selectors: Sequence[str]) -> Iterator[LexborNode]:
    for selector in selectors:
        with suppress(SelectolaxError, ValueError):
            yield from (node for node in tree.css(selector) if node.tag not in _NEVER)
    for node in tree.css("[itemtype], [itemprop], [typeof], [property]"):
        if node.tag not in _NEVER and _says_so(node):
            yield node
    for node in tree.css("[class], [id]"):
        if node.tag not in _NEVER and _is_named_so(node):
            yield node
    yield from filter(None, (_around(node) for node in tree.css("a[rel]") if "ugc" in _words(node, "rel")))
    yield from _by_json(tree)


def _words(node: LexborNode, name: str) -> list[str]:
    return (node.attributes.get(name) or "").lower().split()


def _says_so(node: LexborNode) -> bool:
    kinds = {kind.rpartition("/")[2].rpartition(":")[2] for kind in _kinds(node)}
    if kinds & (_TYPES - {"Answer"}):
        return True
    if "Answer" in kinds:
        return not _stands_in(node, _OWN_ANSWERS)
    named = {*_words(node, "itemprop"), *(word.rpartition(":")[2] for word in _words(node, "property"))}
    return bool(named & _PROPERTIES)


def _kinds(node: LexborNode) -> list[str]:
    return [*(node.attributes.get("itemtype") or "").split(), *(node.attributes.get("typeof") or "").split()]


def _stands_in(node: LexborNode, kind: str) -> bool:
    above = node.parent
    while above is not None:
        if any(one.rpartition("/")[2] == kind for one in _kinds(above)):
            return True
        above = above.parent
    return False


def _is_named_so(node: LexborNode) -> bool:
    if node.tag in _HEADINGS:
        return False
    names = {*_words(node, "class")}
    if node.tag not in _MARKS:
        names.add((node.attributes.get("id") or "").lower())
    if names & _NAMES:
        return True
    return node.tag in _BLOCKS and any(_ONE.fullmatch(name) for name in names)


def _around(link: LexborNode) -> LexborNode | None:
    """The block around a link that a reader wrote (rel=ugc), but none with the page's <h1>."""
    best: LexborNode = link
    above = link.parent
    while above is not None and above.tag not in _NEVER:
        if above.tag in _AROUND_A_LINK:
            if above.css_first("h1") is not None:
                break
            best = above
            if above.tag != "p":
                break
        above = above.parent
    return best


def _by_json(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """The smallest elements that show a text which JSON-LD calls a comment, review or answer."""
    wanted: list[str] = []
    for script in tree.css('script[type="application/ld+json"]'):
        with suppress(ValueError, RecursionError):
            text = script.text(deep=True)
            if len(text) <= _MOST_LD:
                wanted += _texts(json.loads(text), own=False, depth=0)
    seen: dict[int, str] = {}
    for text in list(dict.fromkeys(wanted))[:_MOST_TEXTS]:
        yield from _showing(tree, text, seen)


def _texts(thing: Any, *, own: bool, depth: int) -> Iterator[str]:  # noqa: ANN401 (JSON)
    if depth > _DEEP:
        return
    if isinstance(thing, list):
        for one in thing:
            yield from _texts(one, own=own, depth=depth + 1)
    if not isinstance(thing, dict):
        return
    said = thing.get("@type")
    kinds = {str(kind).rpartition("/")[2] for kind in (said if isinstance(said, list) else [said])}
    own = own or _OWN_ANSWERS in kinds
    if kinds & _TYPES and not (own and kinds & _TYPES == {"Answer"}):
        for name in ("text", "reviewBody", "commentText", "description", "articleBody"):
            if isinstance(value := thing.get(name), str):
                yield from _lines(value)
    for value in thing.values():
        yield from _texts(value, own=own, depth=depth + 1)


def _lines(text: str) -> Iterable[str]:
    """The text as a reader sees it, paragraph by paragraph."""
    shown = re.sub(r"<(?:br|/?p|/?div|/?li)\b[^<>]{0,500}>", "\n", text, flags=re.IGNORECASE)
    body = LexborHTMLParser(shown).body
    lines = (one_line(line) for line in (body.text(deep=True) if body else "").split("\n"))
    return [line for line in lines if len(line) >= _LEAST]


def _showing(tree: LexborHTMLParser, text: str, seen: dict[int, str]) -> Iterator[LexborNode]:
    wanted = _squeezed(text)
    waiting = [body] if (body := tree.body) is not None and wanted in _shown(body, seen) else []
    while waiting:
        node = waiting.pop()
        inside = [child for child in node.iter(include_text=False) if wanted in _shown(child, seen)]
        waiting += inside
        if not inside and node.tag not in _NEVER:
            yield node


def _shown(node: LexborNode, seen: dict[int, str]) -> str:
    """The letters of an element's text, remembered in `seen`."""
    if node.mem_id not in seen:
        hidden = node.tag in {"script", "style"}
        seen[node.mem_id] = "" if hidden else _squeezed(node.text(deep=True))
    return seen[node.mem_id]


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _is_inside(node: LexborNode, found: dict[int, LexborNode]) -> bool:
    above = node.parent
    while above is not None:
        if above.mem_id in found:
            return True
        above = above.parent
    return False
