"""A question's way through the code: files, functions, and how often one file calls into another.

    python benchmarks/walk/run.py [--docs examples/sqlite] [--question "..."] [--list]

The documents are indexed and the models loaded before the way is recorded: what is counted is `Library.ask` alone,
without a language model. Comprehensions and lambdas belong to the function around them. Prints a line, with --list
also every function in the order in which it is first called.
"""

import argparse
import sys
import threading
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import equipoise
from equipoise import Library

PACKAGE = Path(equipoise.__file__).parent
QUESTION = "Can WAL mode be used over a network filesystem?"


class Trail:
    """What `sys.setprofile` calls; `calls` counts functions by (file, name), `switches` calls from file to file."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.switches = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call of a function of the package."""
        if event != "call" or not (here := _place(frame)):
            return
        name = frame.f_code.co_qualname
        if frame.f_code.co_name.startswith("<"):
            return
        self.calls[here, name] += 1
        caller = frame.f_back
        while caller and not (there := _place(caller)):
            caller = caller.f_back
        if caller and there != here:
            self.switches += 1


def _place(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    return str(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else ""


def main() -> None:
    """Index, warm up, record, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--docs", type=Path, default=root / "examples" / "sqlite")
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder, Library.create(Path(folder) / "index.db") as library:
        library.index(arguments.docs)
        library.ask(arguments.question)
        walk = Trail()
        threading.setprofile_all_threads(walk) if hasattr(threading, "setprofile_all_threads") else None
        threading.setprofile(walk)
        sys.setprofile(walk)
        try:
            library.ask(arguments.question)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    files = {file for file, _ in walk.calls}
    print(f"{len(files)} files, {len(walk.calls)} functions, {walk.switches} switches between files")
    if arguments.list:
        for (file, name), times in walk.calls.items():
            print(f"{file:45} {name} x{times}")


if __name__ == "__main__":
    main()
