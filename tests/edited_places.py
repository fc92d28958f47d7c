"""Random edits of a source whose items are texts by name, each round told right: what came, changed and went."""

import random
import re

_WORDS = [
    "tea",
    "milk",
    "sugar",
    "kettle",
    "lamp",
    "chair",
    "wood",
    "stone",
    "river",
    "harbour",
    "ticket",
    "refund",
    "price",
    "order",
    "parcel",
]
PAGES, ROUND = 40, 20
EDITS = ("change", "change", "add", "drop", "move", "again", "swap")


class Places:
    """`place` puts and drops texts by name; `texts` are those that are there. Where `is_fixed`, an item never changes:
    another one comes in its place."""

    def __init__(self, place, seed, *, is_fixed=False):
        self.place, self.rng, self.is_fixed = place, random.Random(seed), is_fixed
        self.number, self.texts = 0, {}
        for _ in range(PAGES):
            self.add()

    def words(self):
        return " ".join(self.rng.choices(_WORDS, k=10))

    def add(self, text=None):
        self.number += 1
        self.put(f"t{self.number}", text or f"Text {self.number} says {self.words()}.")

    def put(self, name, text):
        if self.is_fixed and name in self.texts:
            self.place.drop(name)
        self.texts[name] = text
        self.place.put(name, text)

    def drop(self, name):
        del self.texts[name]
        self.place.drop(name)

    def edit(self, name, other, kind):
        text = self.texts[name]
        match kind:
            case "change":
                self.put(name, f"{text.partition(' says')[0]} says {self.words()}.")
            case "add":
                self.add()
            case "drop":
                self.drop(name)
            case "move":
                self.drop(name)
                self.add(text)
            case "again":
                self.put(name, text)
            case "swap":
                self.put(name, self.texts[other])
                self.put(other, text)

    def round(self):
        """So many edits, of an item one at most."""
        names = self.rng.sample(sorted(self.texts), 2 * ROUND)
        for name, other in zip(names[::2], names[1::2], strict=True):
            self.edit(name, other, self.rng.choice(EDITS))
        while len(self.texts) < PAGES:
            self.add()


def told_right(place, store, encoder, edits, *, is_fixed=False, seed=500):
    """Raises AssertionError where the index is not what is there after a round, or the report not what was done."""
    places, before = Places(place, seed, is_fixed=is_fixed), {}
    for number in range(edits // ROUND + 1):
        if number:
            places.round()
        report, now = place.sync(store, encoder), dict(places.texts)
        held = sorted(_said(store.document(one.doc_id).text) for one in store.listing())
        assert held == sorted(now.values())
        if not is_fixed:
            changed = sum(now[name] != before[name] for name in now.keys() & before.keys())
            done = (report.added, report.changed, report.removed)
            assert done == (len(now.keys() - before.keys()), changed, len(before.keys() - now.keys()))
        assert report.failed == ()
        before = now
    embedded = encoder.encoded
    assert place.sync(store, encoder).unchanged == len(before) and encoder.encoded == embedded


def _said(text):
    """What was put there: mails have heads."""
    return re.search(r"Text [0-9]+ says [^.]+\.", " ".join(text.split()))[0]
