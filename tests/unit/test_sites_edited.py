"""500 random edits of a site: what is new, changed, moved and gone is told, page by page."""

import random

from equipoise.corpus.store import Store
from hashed_words import HashedWords
from site_server import serving

PAGES, ROUNDS, EDITS = 60, 25, 20
EDIT = ("change", "add", "delete", "410", "move", "unlink", "noindex", "comment", "comment", "uncomment")
_WORDS = "tea milk sugar kettle lamp chair wood stone river harbour ticket refund price order parcel"
WORDS = _WORDS.split()


class Edited:
    """A site, and what an index of it has to hold: the text of each document by its path."""

    def __init__(self, site):
        self.site, self.chance, self.number = site, random.Random(500), 0
        self.texts, self.comments, self.unlinked = {}, {}, {}
        for _ in range(PAGES):
            self.add()

    def add(self):
        self.number += 1
        self.write(f"/p{self.number}", f"Page {self.number} says {self.words()}.")

    def words(self):
        return " ".join(self.chance.choices(WORDS, k=12))

    def write(self, path, text, comment=""):
        self.texts[path] = text
        self.comments.pop(path, None)
        if comment:
            self.comments[path] = comment
        below = f'<ul class="comments"><li>{comment}</li></ul>' if comment else ""
        self.site.put(path, f"<main><p>{text}</p></main>{below}", marked=self.chance.random() < 0.8)

    def forget(self, path):
        self.texts.pop(path)
        self.comments.pop(path, None)

    def edit(self, path, kind):
        text, comment = self.texts[path], self.comments.get(path, "")
        match kind:
            case "add":
                self.add()
            case "change":
                self.write(path, f"{text[:10]} {self.words()}.", comment)
            case "delete" | "410":
                del self.site.pages[path]
                if kind == "410":
                    self.site.put(path, "gone", status=410)
                self.forget(path)
            case "move":
                self.number += 1
                self.write(f"/p{self.number}", text, comment)
                self.site.move(path, f"/p{self.number}")
                self.forget(path)
            case "unlink":
                self.unlinked[path] = 0
            case "noindex":
                self.site.put(path, f"<!DOCTYPE html><meta name=robots content=noindex><p>{text}</p>")
                self.forget(path)
            case "comment":
                self.write(path, text, f"Somebody says {self.words()}.")
            case "uncomment":
                self.write(path, text)

    def round(self):
        """So many edits of as many pages."""
        free = [path for path in self.texts if path not in self.unlinked]
        for path in self.chance.sample(free, EDITS):
            self.edit(path, self.chance.choice(EDIT))
        while len(self.texts) < PAGES:
            self.add()
        links = [path for path in self.texts if path not in self.unlinked]
        self.site.put(
            "/", "<p>Start.</p>" + "".join(f'<a href="{path}">x</a>' for path in links), marked=False
        )
        for path in list(self.unlinked):
            self.unlinked[path] += 1
            if self.unlinked[path] == 2:
                del self.unlinked[path]
                del self.site.pages[path]
                self.forget(path)

    def held(self):
        comments = {f"{path}#comments": text for path, text in self.comments.items()}
        return {"/": "Start."} | self.texts | comments


def test_500_random_edits_are_told_right(tmp_path):
    encoder = HashedWords()
    with serving() as site, Store.open(tmp_path / "index.db", create=True) as store:
        edited, before = Edited(site), {}
        for _ in range(ROUNDS + 1):
            edited.round() if before else site.map(edited.texts)
            if not before:
                site.put("/", "<p>Start.</p>", marked=False)
            else:
                site.pages.pop("/sitemap.xml", None)
            report, now = site.sync(store, encoder), edited.held()
            documents = (store.document(doc_id) for doc_id in store.doc_ids())
            there = {one.source.removeprefix(site.address[:-1]): one for one in documents}
            assert {path: _said(one.text) for path, one in there.items()} == now
            assert {path for path, one in there.items() if one.trust == "untrusted"} == {
                path for path in now if path.endswith("#comments")
            }
            changed = [path for path in now.keys() & before.keys() if now[path] != before[path]]
            assert (report.added, report.removed) == (
                len(now.keys() - before.keys()),
                len(before.keys() - now.keys()),
            )
            assert report.changed >= len(changed) and report.failed == ()
            before = now
        embedded = encoder.encoded
        assert site.sync(store, encoder).unchanged == len(before)
        assert encoder.encoded == embedded


def _said(text):
    """The first line of a text, without the sign of an item: links stand below it."""
    return text.partition("\n")[0].removeprefix("- ")
