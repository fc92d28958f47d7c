"""`equipoise` in a process of its own, over pipes or on a pseudo-terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

from processes import ENVIRONMENT

COMMAND = [sys.executable, "-c", "from equipoise.apps.cli import main; main()"]
OURS = ("OPENAI_", "AZURE_", "EQUIPOISE_", "XDG_", "PYTHONIO", "FORCE_COLOR", "NO_COLOR", "TTY_", "COLUMNS")


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a user who has set nothing, with folders of his own below `home`."""
    kept = {name: value for name, value in ENVIRONMENT.items() if not name.startswith(OURS)}
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CACHE", "CONFIG", "STATE")}
    return kept | folders | {"TERM": "xterm"} | more


def piped(*arguments, cwd, env, **how):
    """Run it to its end; `returncode`, `stdout` and `stderr` as bytes."""
    command = [*COMMAND, *map(os.fspath, arguments)]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.run(command, cwd=cwd, env=env, timeout=550, check=False, **given)


def on_terminal(*arguments, cwd, env, columns=80, types=b"", errors=None):
    """Run it on a pseudo-terminal of so many columns; (exit code, everything it wrote). `errors`: where else its
    stderr goes, such as subprocess.DEVNULL."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    quiet = termios.tcgetattr(slave)
    quiet[3] &= ~termios.ECHO  # what is typed is not what the program writes
    termios.tcsetattr(slave, termios.TCSANOW, quiet)
    command = [*COMMAND, *map(os.fspath, arguments)]
    errors = slave if errors is None else errors
    with subprocess.Popen(command, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=errors) as process:
        os.close(slave)
        os.write(master, types)
        said = b""
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # Linux's way to say that the other side is closed
                break
            if not chunk:
                break
            said += chunk
        process.wait(110)
    os.close(master)
    return process.returncode, said.decode("utf-8").replace("\r\n", "\n")
