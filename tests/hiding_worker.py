"""A worker process whose loader finds seven characters of hidden text in posts."""

from dataclasses import dataclass

from equipoise.corpus import loaders, worker


@dataclass
class Hiding:
    text: str
    title: str = ""
    pages: tuple = ()
    fragment: str = ""
    hidden: int = 0


loaders.load = lambda path, data: [Hiding(data.decode(), hidden=7 * (path.stem == "post"))]
worker.main()
