"""A worker process whose loader does what the file says, as a parser might that meets a hostile file."""

import json
import os
import signal
from pathlib import Path

from equipoise.corpus import loaders, parsed, worker
from equipoise.corpus.loaders import LoadedDocument

plain = parsed.written


def load(path, data):
    word, _, rest = data.decode().strip().partition(" ")
    action = ACTIONS.get(word)
    text = action(rest) if action else data.decode()
    return [LoadedDocument(text, path.stem, fragment=rest if word == "fragment" else "")]


def spin(place):
    """For ever busy; says so first to whoever reads the pipe at `place`."""
    if place:
        os.close(os.open(place, os.O_WRONLY))
    while True:
        pass


def deep(rest):
    return deep(rest)


def stumble(rest):
    raise KeyError(f"odd\x1b[2J {rest}")


def write(place):
    Path(place).write_text("x")
    return "written"


def lie(readings_):
    """What a worker might send that a hostile file has taken over."""
    header, body = plain(readings_)
    if readings_[0].text.startswith("lie"):
        header["documents"][0]["lengths"][0] += 1_000_000
    if readings_[0].text.startswith("flood"):
        return header, [bytes(60_000_000)]
    return header, body


ACTIONS = {
    "spin": spin,
    "wait": lambda _: signal.pause(),
    "memory": lambda _: str(bytearray(2_000_000_000)),
    "crash": lambda _: os.kill(os.getpid(), signal.SIGSEGV),
    "killed": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "leave": lambda _: os._exit(7),
    "stumble": stumble,
    "deep": deep,
    "print": lambda _: print("stray", flush=True) or "printed",
    "write": write,
    "environment": lambda _: json.dumps(dict(os.environ)),
}

loaders.load = load
parsed.written = lie
worker.main()
