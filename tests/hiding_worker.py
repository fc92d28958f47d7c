"""A worker process whose loader finds seven hidden characters in posts, left out, and in every file two that are kept
and three running headers."""

from equipoise.corpus import loaders, worker
from equipoise.corpus.loaders import LoadedDocument

loaders.load = lambda path, data: [
    LoadedDocument(data.decode(), "", hidden=7 * (path.stem == "post"), invisible=2, running=3)
]
worker.main()
