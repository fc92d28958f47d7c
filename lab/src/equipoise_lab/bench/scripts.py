"""What the scripts of `benchmarks/` share: arguments, settings, rows, and the cells of their tables."""

import os
import platform
import resource
import sys
import time
import tomllib
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from equipoise.core import settings as layers
from equipoise.core.settings import Settings
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.text.tokens import words
from equipoise_lab.evaluation.jsonl import json_object, lines
from equipoise_lab.evaluation.results import encoded, write_atomically
from equipoise_lab.maths.rates import clopper_pearson

Row = dict[str, Any]
SAME = 0.9
"""Of the words of a sentence that answers: who shows so many of them has shown it."""


def parser(
    script: str, said: str | None, out: str = "", *, data: bool = True, table: bool = False
) -> ArgumentParser:
    """The arguments of the file `script`, which `said` describes: --data, with `out` --out, a folder of that name in
    `.equipoise` of the repository by default, and --table where what is published can be made again of its rows."""
    root = Path(script).resolve().parents[2]
    made = ArgumentParser(description=said, formatter_class=RawDescriptionHelpFormatter)
    if data:
        made.add_argument("--data", type=Path, default=root / "data", help="the folder with the data sets")
    if out:
        made.add_argument("--out", type=Path, default=root / ".equipoise" / out, help="where a run resumes")
    if table:
        made.add_argument("--table", action="store_true", help="only make the page again, of the rows here")
    return made


def config(folder: Path) -> Row:
    """What `config.toml` in the folder of a script says."""
    return tomllib.loads((folder / "config.toml").read_text("utf-8"))


def settings(flags: Mapping[str, Any]) -> Settings:
    """The settings of these flags alone: no settings file and no environment counts."""
    return layers.load(dict(flags), environment={}, folder=Path(__file__).parent).settings


@contextmanager
def components(out: Path, flags: Mapping[str, Any]) -> Iterator[Components]:
    """What pipelines are built from with these flags, on the store of the folder `out`, where replies are kept, too."""
    out.mkdir(parents=True, exist_ok=True)
    chosen = settings({"model.replay": str(out / "replies.db"), **flags})
    with Store.open(out / "index.db", create=True) as store:
        yield Components(chosen, store, EmbeddedEncoder(), build.chat_model(chosen.model))


def read(path: Path) -> list[Row]:
    """The rows of a JSON Lines file, packed (.gz, .xz) or not. Raises InputError with file and line."""
    return [json_object(text, where) for text, where in lines(path)]


def write(path: Path, rows: Iterable[Row]) -> None:
    """Publish rows as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, b"".join(map(encoded, rows)))


def shows(said: str, wanted: str) -> bool:
    """Whether nearly all words of `wanted` stand in what is said, each as often."""
    counts = Counter(words(wanted))
    return (counts & Counter(words(said))).total() >= SAME * counts.total() > 0


def machine() -> str:
    """What this runs on, without names."""
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, load {load:.1f}"
    )


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock, and of processors, here and in processes that have ended since."""
    began, used = time.perf_counter(), _used()
    work()
    return time.perf_counter() - began, _used() - used


def _used() -> float:
    every = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in every)


def say(done: int, total: int, what: str) -> None:
    """One line about where a long run stands."""
    sys.stderr.write(f"{done}/{total} {what}\n")


def rate(hits: int, of: int, form: str = "{hits} of {of} [{low:.0%}, {high:.0%}]") -> str:
    """A count with its exact 95% interval (Clopper-Pearson), a dash of none; `share` is the share in `form`."""
    interval = clopper_pearson(hits, of)
    if interval is None:
        return "-"
    return form.format(hits=hits, of=of, share=hits / of, low=interval.low, high=interval.high)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)) + "\n"
