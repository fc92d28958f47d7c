"""Which elements of an HTML page are asides (navigation, footers, cookie banners), and which are panels of tabs."""

import re
from collections.abc import Mapping
from functools import lru_cache

from equipoise.corpus.loaders.loaded import words

_ROOTS = frozenset({"article", "body", "html", "main"})
ASIDE_TAGS = {"footer": 2, "nav": 2, "aside": 1}
_ASIDE_ROLES = frozenset({"contentinfo", "directory", "doc-toc", "menu", "menubar", "navigation", "search"})
_ASIDE_NAMES = words("""
    breadcrumb breadcrumbs docnav footer nav navbar navfooter navheader navigation navpath page-footer pager pagination
    site-footer skip-link sphinxsidebar table-of-contents table_of_contents tableofcontents toc toctree-wrapper
    tocwrapper
""")
_FOOTER_NAMES = frozenset({"footer", "page-footer", "site-footer"})
_NOTE_NAMES = words("admonition callout footnote footnotes info note sidebar-note tip warning")
_CONSENT = re.compile(r"(?:\b|_)(?:cookies?|consent|gdpr)(?:\b|_)", re.IGNORECASE)
"""In classes and ids of banners that ask for consent to cookies."""
_PANEL_NAMES = words("""
    accordion-body accordion-collapse accordion-content accordion-panel tab-pane tab-panel tabpanel tabs-panel
""")


def is_panel(attributes: Mapping[str, str | None]) -> bool:
    """Whether an element is by its role or class the panel of a tab or an accordion."""
    names = (attributes.get("class") or "").lower().split()
    return attributes.get("role") == "tabpanel" or not _PANEL_NAMES.isdisjoint(names)


def aside_of(tag: str, attributes: Mapping[str, str | None]) -> tuple[int, bool]:
    """How surely an element is an aside by tag, role, classes and id (0 no, 1 maybe, 2 yes), and if it is a footer."""
    role = attributes.get("role") or ""
    if tag in _ROOTS and role not in _ASIDE_ROLES:
        return 0, False
    named, foot = _named_aside(attributes.get("class") or "", attributes.get("id") or "", role)
    by_tag = ASIDE_TAGS.get(tag, 0)
    return max(named, by_tag if named >= 0 or by_tag == 2 else 0), foot or tag == "footer"


@lru_cache(maxsize=1024)
def _named_aside(classes: str, name: str, role: str) -> tuple[int, bool]:
    """As `aside_of`, by names only; -1 for a note. `contents` alone is no aside: it is often the whole page."""
    words = {*classes.lower().split(), name.lower()}
    foot = role == "contentinfo" or bool(words & _FOOTER_NAMES)
    if role in _ASIDE_ROLES or _CONSENT.search(f"{classes} {name}"):
        return 2, foot
    if words & _NOTE_NAMES or role in {"note", "doc-footnote"}:
        return -1, foot
    return int(bool(words & _ASIDE_NAMES) or ("contents" in words and bool(words & {"topic", "local"}))), foot
