"""The server that is measured: `python benchmarks/serve/server.py STORE WORKERS with|without`. It prints its port.

Without the reader a scripted highlighter takes the first sentence: what is left is search and the server itself.

Beside the real routes it has `/null`, a FastAPI route that does nothing. Nobody's own settings are read.
"""

import sys
from collections.abc import Sequence
from functools import partial

from equipoise.apps.listening import bound
from equipoise.apps.server import run
from equipoise.apps.server.app import create_app, with_edge
from equipoise.apps.server.service import open_service
from equipoise.core.settings import Settings
from equipoise.core.types import Passage, Proposal, Query, Span


class First:
    """Highlights the first sentence of the best passage."""

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """See Highlighter."""
        start, end = (passages[0].sentences or ((0, 1),))[0]
        return Proposal((Span(passages[0].doc_id, passages[0].start + start, passages[0].start + end),))


async def null() -> dict[str, bool]:
    """Nothing."""
    return {"done": True}


def factory(settings: Settings) -> object:
    """The application with `/null`."""
    scripted = {} if settings.highlight.name == "reader" else {"highlighter": First()}
    app = create_app(partial(open_service, settings, **scripted))
    app.add_api_route("/null", null, methods=["POST"])
    return with_edge(app, settings.serve)


run.factory = (
    factory  # also in the processes that a server starts, which import this module under another name
)


def main() -> None:
    """Serve until a signal comes."""
    store, workers, reader = sys.argv[1:]
    name, rerank = ("reader", True) if reader == "with" else ("sentence", False)
    settings = Settings.model_validate(
        {
            "store": {"path": store},
            "model": {"llm": "none"},
            "highlight": {"name": name},
            "retrieval": {"rerank": rerank},
            "serve": {"queue": 500, "wait": 60, "answers": 2},
        }
    )
    with bound("127.0.0.1", 0) as listening:
        print(listening.getsockname()[1], flush=True)
        run.run(settings, listening, int(workers))


if __name__ == "__main__":
    main()
