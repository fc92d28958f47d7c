"""What the fuzz target runs: for each target how an input is made, and what must hold of it.

An input is bytes, so that it can be kept in a file and run again. A check raises AssertionError where an invariant is
broken; errors that the function under test declares it catches, and any other exception is a finding.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import seeds
from mutate import mutated_bytes, mutated_zip
from outside import FILES, check_file, check_settings, check_store, make_file, make_rows, make_settings
from texts import CHECKS, make_text

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Target:
    """`make` gives an input, `check` runs it. Both are pure but for temporary files."""

    make: Callable[[Random], bytes]
    check: Callable[[bytes], None]


def _mutated(make: Callable[[], bytes], rng: Random) -> bytes:
    return mutated_zip(make(), rng)


TARGETS: dict[str, Target] = {
    **{name: Target(make_text, check) for name, check in CHECKS.items()},
    **{
        name.replace("a.", "load-"): Target(partial(make_file, seed), partial(check_file, name))
        for name, seed in FILES.items()
    },
    "load-pdf": Target(lambda rng: mutated_bytes(seeds.pdf(), rng), partial(check_file, "a.pdf")),
    "load-docx": Target(lambda rng: mutated_zip(seeds.word(), rng), partial(check_file, "a.docx")),
    **{
        f"load-{name}": Target(partial(_mutated, make), partial(check_file, f"a.{name}"))
        for name, make in seeds.ZIPPED.items()
    },
    "settings": Target(make_settings, check_settings),
    "store-bytes": Target(lambda rng: mutated_bytes(seeds.store(), rng), partial(check_store, sql=False)),
    "store-rows": Target(make_rows, partial(check_store, sql=True)),
}  # fmt: skip


def _endless(_: bytes) -> None:
    while True:
        pass


def _greedy(_: bytes) -> None:
    bytearray(1 << 40)


def _dying(_: bytes) -> None:
    os._exit(7)


def _broken(data: bytes) -> None:
    assert not data, "an invariant"


TRAPS: dict[str, Target] = {
    f"trap-{check.__name__.strip('_')}": Target(lambda rng: rng.randbytes(9), check)
    for check in (_endless, _greedy, _dying, _broken)
}
"""Targets that break each rule: they show that the campaign notices."""


def target_of(name: str) -> Target:
    """The target or trap called so."""
    return TARGETS.get(name) or TRAPS[name]


def failure(target: str, data: bytes) -> tuple[str, str] | None:
    """What is wrong, in a word that tells findings apart and in full; None where all is well."""
    try:
        target_of(target).check(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  whatever was not declared; a library in Rust raises its own
        return _kind(error), f"{type(error).__name__}: {error}"[:2_000]
    return None


def _kind(error: BaseException) -> str:
    """The type of the error and the last place of ours that it passed."""
    place, trace = "", error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if "equipoise" in path.parts or path.parent == HERE:
            place = f"{path.name}:{trace.tb_frame.f_code.co_name}"
        trace = trace.tb_next
    said = str(error) if isinstance(error, AssertionError) else ""
    return " ".join(part for part in (type(error).__name__, place, said[:60]) if part)
