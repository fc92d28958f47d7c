"""One worker of several, with a cheap encoder: reads the sites of an index in Postgres until it is killed, or all of
them were read."""

import os
import sys

from equipoise.apps import fresh
from equipoise.apps.known_sources import known_to
from equipoise.core.settings import Settings
from equipoise.corpus.sources import memory
from equipoise.corpus.store import open_store
from hashed_words import HashedWords


def settings(place, addresses, every="1h"):
    listed = [{"address": one, "allow": ["localhost"], "every": every} for one in addresses]
    return Settings.model_validate({"store": {"path": place}, "sources": {"listed": listed}})


def is_done(one):
    """Whether it was read, and nobody reads it."""
    return one.run is not None and not one.turn.tries and not one.turn.running


if __name__ == "__main__":
    chosen = settings(sys.argv[1], sys.argv[2:])
    memory.RETRY_S = float(os.environ.get("RETRY_S", "0.01"))
    encoder = HashedWords()
    with open_store(chosen.store.path) as store, memory.Memory(chosen.store.path) as remembered:
        turns = fresh.Turns(chosen, remembered, lambda _: encoder, store=store)
        while turns.next() or not all(map(is_done, known_to(remembered, chosen))):
            pass
    print(encoder.encoded, flush=True)
