"""Where the time goes: of indexing, of questions, and of a server that is asked four at a time.

    python benchmarks/speed/profiling.py [--docs examples/sqlite] [--questions 20] [--top 12]

Every few milliseconds all threads of the process are looked at, and each that works counts for the innermost function
of equipoise it is in, with the call of a library that it stands at. Shares of samples, not times: other work on the
machine hardly changes them. Files are parsed by processes of their own; what waits for them counts as waiting.
"""

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from questions import QUESTIONS
from starlette.testclient import TestClient

import equipoise
from equipoise import Library
from equipoise.apps.server.app import create_app, with_edge
from equipoise.apps.server.keys import Scope
from equipoise.apps.server.service import open_service
from equipoise.core.settings import Settings
from equipoise.rag.updating import update
from equipoise_lab.bench.tables import grid, percent

PACKAGE = Path(equipoise.__file__).parent
EVERY = 0.004
AT_A_TIME = 4
WAITING = frozenset(
    {"threading.py", "selectors.py", "queue.py", "thread.py", "connection.py", "subprocess.py"}
)
"""Files in whose functions a thread waits."""


class Sampler:
    """Looks at the other threads from one of its own, within a `with`; `counts` by function and what it calls."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.idle = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(EVERY):
            for thread, frame in sys._current_frames().items():
                if thread != threading.get_ident():
                    self._count(frame)

    def _count(self, leaf: FrameType) -> None:
        if Path(leaf.f_code.co_filename).name in WAITING:
            self.idle += 1
            return
        frame: FrameType | None = leaf
        while frame and PACKAGE not in Path(frame.f_code.co_filename).parents:
            frame = frame.f_back
        if frame:
            where = Path(frame.f_code.co_filename).relative_to(PACKAGE).with_suffix("")
            inside = "" if frame is leaf else leaf.f_code.co_qualname
            self.counts[f"{where}: {frame.f_code.co_qualname}", inside] += 1

    def table(self, top: int) -> str:
        """The `top` functions, and how many samples there were."""
        total = max(1, self.counts.total())
        rows = [(name, inside, percent(n / total)) for (name, inside), n in self.counts.most_common(top)]
        return f"{grid(('function', 'inside', 'share'), rows)}\n\n{total} samples of work, {self.idle} of waiting."


def main() -> None:
    """Print a table for each part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docs", type=Path, default=Path("examples/sqlite"))
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--top", type=int, default=12)
    given = parser.parse_args()
    asked = [QUESTIONS[n % len(QUESTIONS)] for n in range(given.questions)]
    with TemporaryDirectory() as folder:
        index = Path(folder) / "index.db"
        show(f"Indexing {given.docs}", lambda: update(index, [given.docs]), given.top)
        with Library.open(index) as library:
            library.ask(asked[0])  # what is loaded once
            show(f"{len(asked)} questions", lambda: [library.ask(question) for question in asked], given.top)
        serve(index, asked, given.top)


def serve(index: Path, asked: list[str], top: int) -> None:
    """The same questions through the server's route."""
    settings = Settings.model_validate({"store": {"path": index}, "model": {"llm": "none"}})
    service = open_service(settings)
    app = with_edge(create_app(lambda: service), service.settings)
    with (
        TestClient(app, base_url="http://127.0.0.1:8080") as client,
        ThreadPoolExecutor(AT_A_TIME) as pool,
    ):
        key = service.keys.create("profile", Scope.ASK)[1]

        def ask(question: str) -> None:
            asked_with = {"Authorization": f"Bearer {key}"}
            client.post("/v1/ask", json={"question": question}, headers=asked_with).raise_for_status()

        while client.get("/readyz").status_code != HTTPStatus.OK:
            time.sleep(EVERY)
        show(
            f"A server, {len(asked)} questions, {AT_A_TIME} at a time",
            lambda: list(pool.map(ask, asked)),
            top,
        )


def show(title: str, work: Callable[[], object], top: int) -> None:
    """Do the work and print where it was."""
    with Sampler() as sampler:
        work()
    print(f"## {title}\n\n{sampler.table(top)}\n", flush=True)


if __name__ == "__main__":
    main()
