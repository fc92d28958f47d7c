"""A server with the reader of the package: `python one_server.py STORE`. It prints its port; no settings are read."""

import sys

from equipoise.apps.listening import bound
from equipoise.apps.server import run
from equipoise.core.settings import Settings


def main() -> None:
    """Serve until a signal comes."""
    settings = Settings.model_validate(
        {
            "store": {"path": sys.argv[1]},
            "model": {"llm": "none"},
            "highlight": {"name": "reader"},
            "retrieval": {"rerank": True},
            "serve": {"queue": 500, "wait": 60, "answers": 2},
        }
    )
    with bound("127.0.0.1", 0) as listening:
        print(listening.getsockname()[1], flush=True)
        run.run(settings, listening, 1)


if __name__ == "__main__":
    main()
