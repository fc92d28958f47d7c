"""One indexer of several: indexes a folder into a store with a cheap encoder, and says how much it embedded."""

import sys

from equipoise.corpus.indexing import index
from equipoise.corpus.store import open_store
from hashed_words import HashedWords

if __name__ == "__main__":
    place, folder = sys.argv[1:]
    encoder = HashedWords()
    with open_store(place, create=True) as store:
        report = index([folder], store, encoder)
    print(encoder.encoded, report.added, report.unchanged, flush=True)
