"""A real MediaWiki (Debian's package, its database a file) as a source: edits, moves, deletions, protection."""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from equipoise.core.source_settings import SourceSettings
from equipoise.core.types import Trust
from equipoise.corpus.sources.opening import sync_source
from equipoise.corpus.store import Store
from hashed_words import HashedWords

ROOT = Path("/usr/share/mediawiki")
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not (shutil.which("php") and ROOT.exists()), reason="needs Debian's mediawiki"),
]


class RealWiki:
    """A wiki of the test's own, changed by its own scripts."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as asked:
            asked.bind(("127.0.0.1", 0))
            self.port = asked.getsockname()[1]
        where = ("--dbtype", "sqlite", "--dbpath", folder, "--confpath", folder)
        place = (
            "--server",
            f"http://127.0.0.1:{self.port}",
            "--scriptpath",
            "",
            "--pass",
            "a-long-password-1",
        )
        self.script("install", *where, *place, "Wiki", "Admin")
        self.address = f"mediawiki+http://127.0.0.1:{self.port}"

    @property
    def environment(self):
        settings = self.folder / "LocalSettings.php"
        return os.environ | ({"MW_CONFIG_FILE": str(settings)} if settings.exists() else {})

    def script(self, name, *arguments, given=""):
        command = ["php", ROOT / "maintenance" / f"{name}.php", *arguments]
        subprocess.run(
            list(map(str, command)),
            input=given,
            text=True,
            check=True,
            capture_output=True,
            env=self.environment,
        )

    def put(self, title, text):
        self.script("edit", "-u", "Admin", title, given=text)

    def several(self, name, lines):
        """One of the scripts that read a list."""
        path = self.folder / "list.txt"
        path.write_text("\n".join(lines) + "\n")
        self.script(name, "-u", "Admin", path)

    def sync(self, store, encoder, **more):
        chosen = SourceSettings(address=self.address, allow=("127.0.0.1",), **more)
        return sync_source(chosen, store, encoder)

    def serve(self):
        command = ["php", "-S", f"127.0.0.1:{self.port}", "-t", str(ROOT)]
        out = subprocess.DEVNULL
        process = subprocess.Popen(command, env=self.environment, stdout=out, stderr=out)
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api.php?format=json").read()
                break
            except urllib.error.URLError:
                time.sleep(0.1)
        return process


@pytest.fixture
def wiki(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "wiki"
    folder.mkdir()
    made = RealWiki(folder)
    process = made.serve()
    yield made
    process.kill()
    process.wait()


def test_what_is_edited_moved_protected_and_taken_out(wiki, tmp_path):
    encoder = HashedWords()
    wiki.put("Template:Price", "Tea costs 3 euros.")
    for number in range(4):
        wiki.put(f"Tea {number}", f"== Taste ==\nTea number {number} is '''green'''.")
    wiki.put("Äpfel & tea/2", "Apples are red.")
    wiki.put("Prices", "{{Price}}")
    wiki.put("Old", "#REDIRECT [[Prices]]")
    with Store.open(tmp_path / "index.db", create=True) as store:
        assert wiki.sync(store, encoder).added == 7  # the main page, too
        assert {"Tea costs 3 euros.", "Apples are red."} <= texts(store).keys()
        assert any("Tea number 1 is green." in text for text in texts(store))
        before = encoder.encoded
        assert wiki.sync(store, encoder).unchanged == 7 and encoder.encoded == before
        wiki.put("Tea 1", "Tea number 1 is black.")
        wiki.put("Template:Price", "Tea costs 4 euros.")
        wiki.several("moveBatch", ["Tea 2|Tea 9"])
        wiki.several("deleteBatch", ["Tea 3"])
        wiki.script("runJobs")
        report = wiki.sync(store, encoder)
        assert (report.added, report.changed, report.unchanged, report.removed) == (1, 2, 3, 2)
        assert {"Tea number 1 is black.", "Tea costs 4 euros."} <= texts(store).keys()
        assert set(texts(store).values()) == {Trust.UNTRUSTED}
        wiki.script("protect", "--user", "Admin", "--cascade", "Prices")
        wiki.script("protect", "--user", "Admin", "Tea 1")
        wiki.sync(store, encoder, options={"protected": "sysop"})
        trusted = [text for text, trust in texts(store).items() if trust is Trust.TRUSTED]
        assert trusted == ["Tea costs 4 euros."]


def texts(store):
    return {store.document(one.doc_id).text: one.trust for one in store.listing()}
