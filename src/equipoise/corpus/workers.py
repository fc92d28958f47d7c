"""Reads files in worker processes, several at a time, each file within limits of memory and time.

Processes of `corpus.worker` are started when a file is to be read and serve one file after another. One that
breaks a limit or crashes takes its file with it and nothing else. They are not `multiprocessing`'s: a script
without a `__main__` guard may index, and nothing is unpickled.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Timer
from typing import IO, Any, TypeVar

import equipoise
from equipoise.core.closing import Closing
from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.corpus import frames, pages, parsed, whole
from equipoise.corpus.converting import converted
from equipoise.corpus.limits import Limits, limits_for
from equipoise.corpus.loaders import sitemap
from equipoise.corpus.pages import ParsedPage
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.whole import WholeText

MODULE = "equipoise.corpus.worker"
MOST_WORKERS = 4
"""Embedding takes longer than reading: more processes would only take memory."""

_LARGEST_HEADER = 100_000_000
_STARTS_WITHIN = 300.0
_ENDS_WITHIN = 10.0

# What Python needs of the environment to find itself and its packages. No key, token or password is among it.
_PYTHON = """
    PATH HOME LANG TZ TMPDIR TEMP TMP VIRTUAL_ENV CONDA_PREFIX LD_LIBRARY_PATH DYLD_LIBRARY_PATH SYSTEMROOT
    SYSTEMDRIVE WINDIR APPDATA LOCALAPPDATA USERPROFILE PYTHONHOME PYTHONUSERBASE PYTHONNOUSERSITE PYTHONUTF8
    PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE __PYVENV_LAUNCHER__
"""
_KEPT = frozenset(_PYTHON.split())

T = TypeVar("T")


class Readers(Closing):
    """A few worker processes. Use it in a `with` block: at its end they are gone."""

    def __init__(self, number: int | None = None) -> None:
        """`number` of processes at most; by default one for each processor, up to MOST_WORKERS."""
        self.number = number or max(1, min(_processors(), MOST_WORKERS))
        self._threads = ThreadPoolExecutor(self.number, "equipoise-reader")
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._started: list[_Process] = []
        self._closed = False
        self._lock = Lock()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run `work`, which may call `read`, beside up to `number` - 1 others."""
        return self._threads.submit(work)

    def read(self, source: str, data: bytes) -> list[ParsedDocument]:
        """The documents in a file with the bytes `data`; `source` names it in errors, its suffix says its type.

        Raises UnreadableFile with what went wrong with this file, CorpusError where no worker can be started.
        """
        name, data = converted(source, data)
        return self._asked(source, data, {"name": name}, parsed.read)

    def whole(self, source: str, data: bytes) -> list[WholeText]:
        """All the text of a file, also what `read` leaves out. Raises as `read`."""
        name, data = converted(source, data)
        return self._asked(source, data, {"name": name, "whole": True}, whole.read)

    def page(self, data: bytes, *, address: str, charset: str, selectors: Sequence[str]) -> ParsedPage:
        """A page of a site, which lies at `address`, in the encoding that its server says; what `selectors` choose was
        written by its readers. Raises as `read`."""
        asked = {"address": address, "charset": charset, "selectors": list(selectors)}
        return self._asked("page.html", data, asked, pages.read)

    def sitemap(self, source: str, data: bytes) -> tuple[list[str], list[str]]:
        """The addresses of sitemaps and of pages in a sitemap. Raises as `read`."""
        return self._asked(source, data, {"map": True}, sitemap.read)

    def _asked(
        self, source: str, data: bytes, asked: dict[str, Any], parse: Callable[[dict[str, Any], bytes], T]
    ) -> T:
        """See _Process.read."""
        process = self._borrow()
        try:
            return process.read(source, data, asked, parse)
        finally:
            if process.is_alive():
                self._idle.put(process)

    def close(self) -> None:
        """End all processes, also those at work."""
        with self._lock:
            self._closed = True
        for process in self._started:
            process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._started:
            process.end()

    def _borrow(self) -> "_Process":
        try:
            while not (idle := self._idle.get_nowait()).is_alive():
                continue
        except Empty:
            return self._start()
        return idle

    def _start(self) -> "_Process":
        with self._lock:
            if self._closed:
                raise CorpusError("indexing has ended: index again to read the rest")
            process = _Process()
            self._started.append(process)
        return process


class _Process:
    """One worker process, started at once."""

    def __init__(self) -> None:
        self._greeted = False
        self._late = Event()
        try:
            self._popen = spawned(MODULE)
        except OSError as error:
            raise CorpusError(f"no process to read files can be started ({error}): {_by_hand()}") from error
        self._to, self._from = pipe(self._popen.stdin), pipe(self._popen.stdout)

    def is_alive(self) -> bool:
        """Whether it can be asked once more."""
        return self._popen.poll() is None

    def read(
        self, source: str, data: bytes, asked: dict[str, Any], parse: Callable[[dict[str, Any], bytes], T]
    ) -> T:
        """See Readers.read; `asked` goes into the request, `parse` reads the reply. The process has ended where it
        broke a limit, crashed or sent nonsense."""
        limits = limits_for(len(data))
        self._greet(source, limits)
        request = {"name": Path(source).name, "memory": limits.memory, "seconds": limits.seconds} | asked
        try:
            with killed_after(limits.wall, self._is_late):
                frames.send(self._to, request, data)
                header, length = frames.receive_header(self._from, most=_LARGEST_HEADER)
                if length > limits.reply:
                    self.end()
                    raise UnreadableFile(
                        source, f"it holds more than {limits.reply:,} bytes of text; split it"
                    )
                body = frames.exactly(self._from, length)
        except (OSError, frames.BrokenFrame) as error:
            raise UnreadableFile(source, self._how_it_ended(limits)) from error
        return self._parsed(source, header, body, limits, parse)

    def kill(self) -> None:
        """End it at once; whoever reads from it sees the end."""
        self._popen.kill()

    def end(self) -> None:
        """Kill it, wait until it is gone, and give back its pipes."""
        self.kill()
        self._popen.wait()
        for pipe in (self._to, self._from):
            with suppress(OSError):  # what was not yet written has nobody to go to
                pipe.close()

    def _greet(self, source: str, limits: Limits) -> None:
        """Wait until a new process is ready. Raises CorpusError where it cannot start, UnreadableFile if killed."""
        if self._greeted:
            return
        try:
            with killed_after(_STARTS_WITHIN, self._is_late):
                frames.receive_header(self._from, most=_LARGEST_HEADER)
        except (OSError, frames.BrokenFrame) as error:
            how = self._how_it_ended(limits)
            if self._popen.returncode < 0 and not self._late.is_set():
                raise UnreadableFile(source, how) from error
            raise CorpusError(f"the process that reads files did not start: {_by_hand()}") from error
        self._greeted = True

    def _parsed(
        self,
        source: str,
        header: dict[str, Any],
        body: bytes,
        limits: Limits,
        parse: Callable[[dict[str, Any], bytes], T],
    ) -> T:
        if isinstance(reason := header.get("failed"), str):
            raise UnreadableFile(source, reason)
        if "memory" in header:
            self.end()
            most = f"more than {limits.memory / 1e9:,.1f} GB of memory"
            raise UnreadableFile(source, f"reading it takes {most}; split it or leave it out")
        try:
            return parse(header, body)
        except ValueError as error:
            self.end()
            reason = f"the process that read it sent what cannot be used ({error}); leave the file out"
            raise UnreadableFile(source, reason) from error

    def _how_it_ended(self, limits: Limits) -> str:
        """The reason for whoever named the file, from the way the process ended."""
        try:
            code = self._popen.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self.end()
            return "the process that read it sent what cannot be used; leave the file out"
        if self._late.is_set():
            return f"reading it took longer than {limits.wall:,.0f} seconds; split it or leave it out"
        if code == _signalled("SIGXCPU"):
            return f"reading it took more than {limits.seconds:,} seconds of processor time; split it or leave it out"
        if code == _signalled("SIGKILL"):
            return "the system killed the process that read it, probably for want of memory; split it or try again"
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"the process that read it crashed ({how}); save the file again, split it or leave it out"

    def _is_late(self) -> None:
        self._late.set()
        self.kill()


def spawned(module: str) -> "subprocess.Popen[bytes]":
    """A process of this Python that runs a module of the package, with pipes to it and from it. Raises OSError."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],  # -P: no module of the user's folder is imported
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(os.environ),
        cwd=os.sep,
    )


@contextmanager
def killed_after(seconds: float, kill: Callable[[], object]) -> Iterator[None]:
    """Calls `kill` where the block takes longer."""
    timer = Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _by_hand() -> str:
    return f"run  python -m {MODULE}  to see why"


def _signalled(name: str) -> int | None:
    """The return code of a process that this signal has ended; None where the platform has no such signal."""
    number = getattr(signal, name, None)
    return None if number is None else -int(number)


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """What a worker gets of the environment `given`: where Python is, and no secret."""
    kept = {name: value for name, value in given.items() if name in _KEPT or name.startswith("LC_")}
    package = Path(equipoise.__file__).resolve().parent.parent
    folders = [_absolute(path) for path in given.get("PYTHONPATH", "").split(os.pathsep) if path]
    if package.name not in {"site-packages", "dist-packages"}:
        folders.insert(0, str(package))
    kept["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
    return kept | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # threads would take address space


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path)  # noqa: PTH100  links stay as they are
    except OSError:  # the current folder is gone
        return path


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """A stream of a process that was started with pipes. Raises CorpusError where it has none."""
    if stream is None:
        raise CorpusError("a worker process has no pipes")
    return stream


def _processors() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
