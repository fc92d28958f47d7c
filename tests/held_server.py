"""A server in a process of its own: `python -m held_server STORE WORKERS [HOLD]`. It prints its port.

Where HOLD is named, every question whose text holds "wait" stands still in the highlighter until that file is there.
"""

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

from equipoise.apps.listening import bound
from equipoise.apps.server import run
from equipoise.apps.server.service import open_service
from equipoise.core.settings import Settings
from hashed_words import HashedWords
from serving import FirstSentence


class Held(FirstSentence):
    async def highlight(self, query, passages):
        if len(sys.argv) > 3 and "wait" in query.text:
            Path(f"{sys.argv[3]}.begun").touch()  # noqa: ASYNC240
            while not Path(sys.argv[3]).exists():  # noqa: ASYNC110, ASYNC240
                await asyncio.sleep(0.01)
        return await super().highlight(query, passages)


# Also in the processes that a server starts, which import this module under another name.
run.open_service = partial(open_service, encoder=HashedWords(), reranker=None, highlighter=Held(), chat=None)


def main():
    serve = {"group": os.environ.get("SERVE_GROUP")}
    settings = Settings.model_validate(
        {"store": {"path": sys.argv[1]}, "model": {"llm": "none"}, "serve": serve}
    )
    with bound("127.0.0.1", 0) as listening:
        print(listening.getsockname()[1], flush=True)
        run.run(settings, listening, int(sys.argv[2]))


if __name__ == "__main__":
    main()
