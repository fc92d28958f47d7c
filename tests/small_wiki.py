"""A wiki on the loopback that speaks as much of MediaWiki's API as a source asks for."""

import json
from urllib.parse import parse_qs, urlsplit

from equipoise.core.source_settings import SourceSettings
from equipoise.corpus.sources.opening import sync_source
from hashed_words import HashedWords
from site_server import HOST, Page, resolver


class SmallWiki:
    """Pages by title: wikitext that is taken for HTML, and who may edit them. Lists have two pages each."""

    def __init__(self, site):
        self.site, self.pages, self.revision, self.parsed = site, {}, 100, []
        self.address = f"mediawiki+http://{HOST}:{site.port}/w/"
        self.broken_from = None
        site.made = self.answer

    def put(self, title, text, protection=()):
        self.revision += 1
        self.pages[title] = {"rev": self.revision, "text": text, "protection": list(protection)}

    def answer(self, path):
        parts = urlsplit(path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path != "/w/api.php":
            return None
        said = self.listed(asked) if asked["action"] == "query" else self.shown(asked)
        return said if isinstance(said, Page) else Page(json.dumps(said).encode(), is_marked=False)

    def listed(self, asked):
        titles = sorted(self.pages)
        begins = int(asked.get("gapcontinue", 0))
        if self.broken_from is not None and begins >= self.broken_from:
            return Page(b"", 500, is_marked=False)
        pages = [
            {
                "title": title,
                "lastrevid": self.pages[title]["rev"],
                "touched": "2026-01-01T00:00:00Z",
                "length": len(self.pages[title]["text"]),
                "protection": self.pages[title]["protection"],
                "revisions": [{"timestamp": "2024-05-01T10:00:00Z"}],
            }
            for title in titles[begins : begins + 2]
        ]
        more = {"continue": {"gapcontinue": begins + 2, "continue": "gapcontinue||"}}
        return {"query": {"pages": pages}} | (more if begins + 2 < len(titles) else {})

    def shown(self, asked):
        self.parsed.append(int(asked["oldid"]))
        found = [page for page in self.pages.values() if page["rev"] == int(asked["oldid"])]
        if not found:
            return {"error": {"code": "nosuchrevid", "info": "There is no revision with that ID."}}
        return {"parse": {"text": f"<div class=mw-parser-output><p>{found[0]['text']}</p></div>"}}

    def sync(self, store, encoder=None, resolve=resolver, how=None, **more):
        chosen = SourceSettings(**{"address": self.address, "allow": (HOST,)} | more)
        return sync_source(chosen, store, encoder or HashedWords(), resolve=resolve, **how or {})
