"""A worker process whose loader finds seven hidden characters in posts, left out, and two in every file, kept."""

from equipoise.corpus import loaders, worker
from equipoise.corpus.loaders import LoadedDocument

loaders.load = lambda path, data: [
    LoadedDocument(data.decode(), "", hidden=7 * (path.stem == "post"), invisible=2)
]
worker.main()
