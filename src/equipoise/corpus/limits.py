"""How much memory and time the reading of one file may take, by the file's size.

Only standard library: the worker process imports this before anything else. Where a platform lacks
`resource` (Windows), only the limits that the parent watches hold: size and wall-clock time.
"""

from dataclasses import dataclass

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

LARGEST_FILE = 500_000_000
"""Bytes of a file; SQLite keeps at most 10^9 in one value."""
REPLY = 50_000_000
"""Bytes of text and offsets that are taken from any file, whatever it unpacks to."""
REPLY_FOR_A_BYTE = 20
"""More for each byte of the file. XML packs to a tenth, and the text is but a part of it."""

PASSAGES = 1_000_000
"""Most passages of any file: making their vectors takes hours."""

MEMORY = 1_000_000_000
"""Bytes of address space for any file. Python with all loaders takes 0.2 of them."""
MEMORY_FOR_A_BYTE = 20
"""More for each byte of the file: its text, the parser's tree, sentences."""
MOST_MEMORY = 4_000_000_000

SECONDS = 60
"""Processor time for any file: a thousand times what a page of text takes."""
SECONDS_FOR_A_MEGABYTE = 20
"""More for each megabyte of the file; PDF, the slowest kind, takes about a quarter of that."""
WALL = 10 if resource is None else 60
"""Wall-clock limit in multiples of the limit of processor time. Where the system enforces that one, this one only has
to end what sleeps, so no file fails on a machine that is fifty times too busy."""

_OPEN_FILES = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """Address space in bytes, processor time in whole seconds, and bytes of what comes back."""

    memory: int
    seconds: int
    reply: int

    @property
    def wall(self) -> float:
        """Wall-clock seconds after which the process is killed."""
        return float(self.seconds * WALL)


def limits_for(size: int) -> Limits:
    """The limits for a file of `size` bytes."""
    memory = min(MEMORY + MEMORY_FOR_A_BYTE * size, MOST_MEMORY)
    seconds = SECONDS + SECONDS_FOR_A_MEGABYTE * size // 1_000_000
    return Limits(memory, seconds, min(REPLY + REPLY_FOR_A_BYTE * size, LARGEST_FILE))


def enclose() -> None:
    """For the whole life of this process: no core dump, no file written, few files open."""
    if resource is None:
        return
    for name, most in (("CORE", 0), ("FSIZE", 0), ("NOFILE", _OPEN_FILES)):
        _set(f"RLIMIT_{name}", most, hard=True)


def apply(*, memory: int, seconds: int) -> None:
    """Hold this process to so much from now on; processor time counts from now, too.

    More memory raises MemoryError or ends the process, more time ends it with SIGXCPU.
    """
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _set("RLIMIT_AS", memory)
    _set("RLIMIT_CPU", int(used.ru_utime + used.ru_stime) + 1 + seconds)


def _set(name: str, most: int, *, hard: bool = False) -> None:
    """Lower or raise a soft limit as far as the hard one allows; a platform may not know or hold it."""
    kind = getattr(resource, name, None)
    if kind is None:
        return
    highest = resource.getrlimit(kind)[1]
    wanted = most if highest == resource.RLIM_INFINITY else min(most, highest)
    try:
        resource.setrlimit(kind, (wanted, wanted if hard else highest))
    except (OSError, ValueError):  # macOS refuses some
        return
