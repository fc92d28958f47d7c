"""Converts files of old kinds (Word, Excel and PowerPoint before 2007, ...) to kinds that are read, with LibreOffice.

It runs in a session of its own, with limits on memory and processor time, an empty profile that allows no macros and
follows no links, an environment without secrets, and no network where the system lets a program give it up
(`unshare`). Nothing else looks into the old file; a worker reads the new one as any other.
"""

import os
import shutil
import signal
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.limits import MOST_MEMORY, limits_for
from equipoise.corpus.loaders import OLD

_NAMES = ("soffice", "libreoffice")
_HELD = ["sh", "-c", 'ulimit -v "$1"; ulimit -t "$2"; ulimit -c 0; shift 2; exec "$@"', "sh"]
_OFFLINE = ["unshare", "--map-root-user", "--net"]
_ENDS_WITHIN = 10.0
_SET = {
    "Common/Security/Scripting": {"DisableMacrosExecution": "true", "MacroSecurityLevel": "3",
                                  "BlockUntrustedRefererLinks": "true", "DisableActiveContent": "true"},
    "Writer/Content/Update": {"Link": "0"},
    "Calc/Content/Update": {"Link": "2"},
    "Java/VirtualMachine": {"Enable": "false"},
}  # fmt: skip
"""Settings of LibreOffice, by their place below `org.openoffice.Office`; links are never updated."""


def converted(source: str, data: bytes) -> tuple[str, bytes]:
    """Name and bytes of the file that a worker reads for the one that `source` names: itself unless it is of an old
    kind. Raises UnreadableFile where LibreOffice is not there or does not read it."""
    path = Path(source)
    kind = OLD.get(path.suffix.lower())
    if not kind:
        return path.name, data
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        raise UnreadableFile(
            source, f"only LibreOffice reads files of this kind; install it, or save this one as {kind}"
        )
    with TemporaryDirectory(prefix="equipoise-") as folder:
        given = Path(folder) / f"document{path.suffix.lower()}"
        given.write_bytes(data)
        _run(source, program, given, kind, len(data))
        made = given.with_suffix(kind)
        if not made.is_file() or made.is_symlink():
            raise UnreadableFile(source, f"LibreOffice cannot read it; save it as {kind}")
        return path.with_suffix(kind).name, made.read_bytes()


def _run(source: str, program: str, given: Path, kind: str, size: int) -> None:
    folder, limits = given.parent, limits_for(size)
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_settings())
    command = [
        program,
        "--headless",
        "--norestore",
        "--nolockcheck",
        f"-env:UserInstallation={profile.as_uri()}",
    ]
    command += ["--convert-to", kind[1:], "--outdir", str(folder), str(given)]
    if os.name == "posix":
        held = [*_HELD, str(MOST_MEMORY // 1024), str(limits.seconds)]
        command = [*_offline(), *held, *command]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "LANG": "C.UTF-8",
        },
        cwd=folder,
        start_new_session=True,
    )
    try:
        process.wait(2.0 * limits.seconds)
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile(
            source, f"LibreOffice took longer than {2 * limits.seconds:,} seconds; save it as {kind}"
        ) from error
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill it and what it has started."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
    process.wait(_ENDS_WITHIN)


@cache
def _offline() -> list[str]:
    """What to put before a command to run it without a network; empty where the system does not allow that."""
    try:
        done = subprocess.run([*_OFFLINE, "true"], capture_output=True, check=False, timeout=_ENDS_WITHIN)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [] if done.returncode else _OFFLINE


def _settings() -> str:
    items = "".join(
        f'<item oor:path="/org.openoffice.Office.{place}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
        for place, values in _SET.items()
        for name, value in values.items()
    )
    spaces = 'xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"'
    return f'<?xml version="1.0" encoding="UTF-8"?><oor:items {spaces}>{items}</oor:items>'
