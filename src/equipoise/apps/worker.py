"""`equipoise worker`: one of any number of processes, on any machines, that keep an index in Postgres fresh."""

import signal
from threading import Event, Thread
from types import FrameType

from equipoise.apps.options import StoreOption, group
from equipoise.apps.terminal import number_of, tell
from equipoise.core import settings as layers
from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import InputError
from equipoise.corpus.store import Store
from equipoise.rag import build

app = group()


@app.command()
def worker(store: StoreOption = None) -> None:
    """Keep an index in Postgres up to date with its sources, beside any number of other workers.

    It reads sources when they are due, and makes vectors. Ctrl-C ends it.
    """
    from equipoise.apps import fresh  # noqa: PLC0415 - HTTP client and scanner, for this command alone
    from equipoise.corpus.sources.memory import Memory  # noqa: PLC0415

    chosen = layers.load({"store.path": store}).settings
    if not isinstance(chosen.store.path, StoreUrl):
        raise InputError(
            "workers share a store in Postgres (--store postgres://...): into a file `equipoise serve` reads sources "
            "by itself, or  equipoise sources sync --due"
        )
    stopping = Event()

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
        Thread(target=stopping.set).start()  # not here: this thread may hold the event's lock

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    with Store.open(chosen.store.path, create=True) as opened, Memory(chosen.store.path) as memory:
        encoder = build.encoder(chosen.retrieval.encoder, opened)
        opened.bind_encoder(encoder)
        tell(f"keeping {chosen.store.path} fresh: {number_of(len(chosen.sources.listed), 'source')}")
        turns = fresh.Turns(chosen, memory, lambda _: encoder, store=opened, stopping=stopping)
        while not stopping.is_set():
            if not turns.next():
                stopping.wait(fresh.POLL_S)
