"""A worker process whose loader finds seven characters of hidden text in posts."""

from equipoise.corpus import loaders, worker
from equipoise.corpus.loaders import LoadedDocument

loaders.load = lambda path, data: [LoadedDocument(data.decode(), "", hidden=7 * (path.stem == "post"))]
worker.main()
