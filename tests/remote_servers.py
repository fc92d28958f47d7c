"""Real servers of files on the loopback: S3 by moto, WebDAV by wsgidav, SFTP by OpenSSH, IMAP by Dovecot. Each is given
as its settings and as something that puts and drops files there."""

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from equipoise.core.source_settings import SourceSettings

SECRET = "a-secret-of-the-test"
MOTO = os.environ.get("MOTO_SERVER") or shutil.which("moto_server")
"""In an environment of its own: boto3 wants an older dateutil than the rest."""


class Folder:
    """What the server serves, as files of this machine."""

    def __init__(self, root):
        self.root = root

    def put(self, name, data):
        place = self.root / unquote(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)

    def drop(self, name):
        (self.root / unquote(name)).unlink()


class Bucket:
    """A bucket of S3."""

    def __init__(self, endpoint):
        from obstore.store import S3Store

        with urllib.request.urlopen(urllib.request.Request(f"{endpoint}/papers", method="PUT")) as answer:
            answer.read()
        keys = {"access_key_id": "of the test", "secret_access_key": SECRET}
        options = {"endpoint": endpoint, "region": "us-east-1", "client_options": {"allow_http": True}}
        self.store = S3Store("papers", **keys, **options)

    def put(self, name, data):
        self.store.put(f"docs/{unquote(name)}", data)

    def drop(self, name):
        self.store.delete(f"docs/{unquote(name)}")


@contextmanager
def s3(folder: Path):
    port = _free()
    endpoint = f"http://127.0.0.1:{port}"
    command = [MOTO, "-H", "127.0.0.1", "-p", str(port)]
    with _running(command, port, folder):
        options = {"endpoint": endpoint, "region": "us-east-1"}
        options |= {"access_key_id": "env:KEY", "secret_access_key": "env:SECRET"}
        yield SourceSettings(address="s3://papers/docs", options=options), Bucket(endpoint)


@contextmanager
def webdav(folder: Path):
    port, files = _free(), folder / "files"
    files.mkdir()
    users = {"*": {"ann": {"password": SECRET}}}
    said = {
        "host": "127.0.0.1",
        "port": port,
        "server": "cheroot",
        "provider_mapping": {"/dav": str(files)},
        "http_authenticator": {"domain_controller": None, "accept_basic": True, "accept_digest": False},
        "simple_dc": {"user_mapping": users},
    }
    said["http_authenticator"]["default_to_digest"] = False
    (folder / "dav.json").write_text(json.dumps(said))
    program = "from wsgidav.server.server_cli import run; run()"
    command = [sys.executable, "-c", program, "--config", str(folder / "dav.json"), "-q"]
    with _running(command, port, folder):
        address = f"webdav+http://localhost:{port}/dav"
        options = {"username": "ann", "password": "env:SECRET"}
        yield SourceSettings(address=address, options=options, allow=("localhost",)), Folder(files)


@contextmanager
def sftp(folder: Path):
    port, files = _free(), folder / "files"
    files.mkdir()
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    kind, key, *_ = (folder / "host.pub").read_text().split()
    (folder / "known").write_text(f"[localhost]:{port} {kind} {key}\n")
    lines = (
        f"Port {port}",
        "ListenAddress 127.0.0.1",
        f"HostKey {folder / 'host'}",
        f"AuthorizedKeysFile {folder / 'user.pub'}",
        "StrictModes no",
        "UsePAM no",
        "PidFile none",
        "Subsystem sftp internal-sftp",
        "PermitRootLogin prohibit-password",
    )
    (folder / "sshd").write_text("\n".join(lines))
    Path("/run/sshd").mkdir(exist_ok=True)
    os.environ["KEY_FILE"] = str(folder / "user")
    with _running(["/usr/sbin/sshd", "-D", "-f", str(folder / "sshd")], port, folder):
        address = f"sftp://localhost:{port}{files}"
        options = {"username": "root", "client_keys": "env:KEY_FILE", "known_hosts": str(folder / "known")}
        yield SourceSettings(address=address, options=options, allow=("localhost",)), Folder(files)


class Messages:
    """A mailbox as Dovecot keeps it: a file for each message, a line for each flag."""

    def __init__(self, folder):
        self.folder = folder

    def put(self, name, text):
        place = self.folder / "new" / f"{time.time_ns()}.{name}.here"
        head = f"From: ann@shop.example\r\nTo: bob@shop.example\r\nSubject: {name}\r\n\r\n"
        place.write_bytes(head.encode() + text)
        shutil.chown(place, "mail", "mail")

    def drop(self, name):
        (found,) = self.folder.glob(f"*/*.{name}.here*")
        found.unlink()

    @property
    def seen(self):
        """How many messages are marked as read."""
        return len([path for path in self.folder.glob("cur/*") if "S" in path.name.partition(":2,")[2]])


@contextmanager
def imap(folder: Path):
    port, mail, user = _free(), folder / "mail", pwd.getpwnam("mail")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    made = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout {key} -out {certificate}"
    subprocess.run(
        [*made.split(), "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True
    )
    for name in ("run", "state", "mail/Maildir/cur", "mail/Maildir/new", "mail/Maildir/tmp"):
        (folder / name).mkdir(parents=True)
    for path in (mail, *mail.rglob("*")):
        shutil.chown(path, "mail", "mail")
    for path in (folder, *folder.parents):  # for dovecot's own users
        if path.stat().st_mode & 0o055 != 0o055:
            path.chmod(0o755)
    (folder / "users").write_text(f"ann:{{PLAIN}}{SECRET}:{user.pw_uid}:{user.pw_gid}::{mail}\n")
    (folder / "dovecot.conf").write_text(f"""
base_dir = {folder / "run"}
state_dir = {folder / "state"}
log_path = {folder / "dovecot.log"}
protocols = imap
ssl = required
ssl_cert = <{certificate}
ssl_key = <{key}
mail_location = maildir:~/Maildir
first_valid_uid = 1
listen = 127.0.0.1
service imap-login {{
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {port}
  }}
}}
passdb {{
  driver = passwd-file
  args = {folder / "users"}
}}
userdb {{
  driver = passwd-file
  args = {folder / "users"}
}}
""")
    with _running(["dovecot", "-F", "-c", str(folder / "dovecot.conf")], port, folder):
        options = {"username": "ann", "password": "env:SECRET", "cafile": str(certificate)}
        chosen = SourceSettings(address=f"imaps://localhost:{port}/", options=options, allow=("localhost",))
        yield chosen, Messages(mail / "Maildir")


def _free() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


@contextmanager
def _running(command: list[str], port: int, folder: Path):
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        for _ in range(600):
            if server.poll() is not None:
                raise AssertionError((folder / "server.log").read_text())
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait()
