"""Copy an index and all that the server keeps beside it, while it is used, and prove that the copy answers.

    python deploy/drill.py .equipoise/index.db backup/ --question "Who may approve a refund?"
    python deploy/drill.py .equipoise/index.db backup/ --question "..." --program /opt/new/bin/equipoise

With the `--program` of a new version this is the drill before an upgrade: what it cannot read is said before anything
is stopped. The proof is made on a copy of the copy; to restore, stop the server and put the copy where the index was.
Ends with 1, and says what failed, where there is no proof. It needs Python alone.
"""

import argparse
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

BESIDE = ("-wal", "-shm")
"""What SQLite keeps beside a database: it is in the copy of the database itself."""


class Failed(Exception):
    """Why there is no proof."""


def copied(database: Path, target: Path) -> None:
    """Copy a database that others may be writing, and check the copy."""
    with (
        closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
        (said,) = copy.execute("PRAGMA integrity_check").fetchone()
    if said != "ok":
        raise Failed(f"{target} is damaged: {said}")


def back_up(index: Path, target: Path) -> Path:
    """Copy the index and the folder of the server beside it into an empty folder; the copy of the index."""
    if not index.is_file():
        raise Failed(f"there is no index {index}")
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(target.iterdir()):
        raise Failed(f"{target} is not empty")
    server = index.with_name(f"{index.stem}.server")
    for path in [index, *sorted(server.rglob("*"))]:
        place = target / path.relative_to(index.parent)
        if path.is_dir():
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif path.is_file() and not path.name.endswith(BESIDE):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            copied(path, place) if path.suffix == ".db" else shutil.copyfile(path, place)
            place.chmod(0o600)
    return target / index.name


def run(program: str, *arguments: str, **environment: str) -> str:
    """What a command of the program says; raises Failed with its error."""
    done = subprocess.run(
        [program, *arguments], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Failed(f"{program} {arguments[0]}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def prove(program: str, copy: Path, question: str, patience: float) -> str:
    """Start the program over a copy of the copy, and ask it; the answer."""
    with TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        shutil.copytree(copy.parent, name, dirs_exist_ok=True)
        here = {"EQUIPOISE_STORE_PATH": str(Path(name) / copy.name)}
        run(program, "status", **here)
        key = run(program, "keys", "create", "drill", "--json", **here)
        command = [program, "serve", "--host", "127.0.0.1", "--port", str(port)]
        with subprocess.Popen(command, env=os.environ | here, stderr=subprocess.PIPE, text=True) as server:
            try:
                return _asked(server, port, json.loads(key)["key"], question, patience)
            finally:
                server.terminate()
                server.communicate()


def _asked(server: subprocess.Popen, port: int, key: str, question: str, patience: float) -> str:
    last = time.monotonic() + patience
    while not _ready(port):
        if server.poll() is not None:
            raise Failed(f"serve: {server.stderr.read().strip()}")
        if time.monotonic() > last:
            raise Failed(f"serve: not ready after {patience:.0f} seconds")
        time.sleep(0.2)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    body = json.dumps({"question": question}).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{port}/v1/ask", body, headers), timeout=patience
        ) as reply:
            said = json.load(reply)
    except urllib.error.HTTPError as error:
        raise Failed(f"/v1/ask: {error.code} {error.read(500).decode('utf-8', 'replace')}") from error
    if said.get("refused"):
        raise Failed(f"no answer: {said.get('detail')}")
    return str(said["answer"])


def _ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False


def main() -> None:
    """Copy, prove, and say both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index", type=Path)
    parser.add_argument("target", type=Path, help="an empty folder, or a new one")
    parser.add_argument("--question", required=True, help="one that the documents answer")
    parser.add_argument("--program", default="equipoise")
    parser.add_argument("--patience", type=float, default=300, help="seconds until it must be ready")
    wanted = parser.parse_args()
    try:
        copy = back_up(wanted.index, wanted.target)
        print(f"copied to {copy}")
        print(f"answers: {prove(wanted.program, copy, wanted.question, wanted.patience)}")
    except (Failed, OSError, sqlite3.Error, KeyError, ValueError) as error:
        sys.exit(f"no proof: {error}")


if __name__ == "__main__":
    main()
