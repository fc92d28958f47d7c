"""Every kind of source that runs without a service, as a place where a test puts and drops texts by their names."""

import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import Trust
from equipoise.corpus.files import Content, Original
from equipoise.corpus.indexing import index
from equipoise.corpus.roots import Gone
from equipoise.corpus.sources.files import RemoteFiles
from equipoise.corpus.sources.opening import sync_source
from equipoise.corpus.sources.source import COMMENTS, Item, ItemPart
from equipoise.corpus.sources.syncing import sync
from equipoise.corpus.workers import Readers
from git_server import repository
from site_server import serving
from small_wiki import SmallWiki


class Texts:
    """A source that is nothing but a dictionary; names in `bad` cannot be listed."""

    address = "texts://house"
    nothing, expected, left_out = "nothing could be read at texts://house", 0, ()

    def __init__(self, readers):
        self.readers, self.texts, self.notes, self.bad = readers, {}, {}, set()
        self.failed, self.read_names = [], []

    def items(self, known):
        self.failed = []
        for name in self.texts:
            key = f"{self.address}/{name}"
            if name in self.bad:
                self.failed.append(UnreadableFile(key, "it is bad today"))
            else:
                yield Item(key, Original(key, "text.txt", self.texts[name].encode), self.mark(name))

    def mark(self, name):
        return self.texts[name] + self.notes.get(name, "")

    def read(self, item):
        name = item.key.rpartition("/")[2]
        self.read_names.append(name)
        whose = ((self.texts[name], ""), (self.notes.get(name), COMMENTS))
        return [
            ItemPart(
                Content(text.encode(), len(text), 0), self.readers.read("text.txt", text.encode()), ending
            )
            for text, ending in whose
            if text
        ]

    def gone(self, known):
        there = {f"{self.address}/{name}" for name in self.texts}
        return [key for key in known if key.removesuffix(COMMENTS) not in there]


class TextsHere:
    """`Texts` as the other kinds here."""

    def __init__(self, readers):
        self.source = Texts(readers)

    def put(self, name, text):
        self.source.texts[name] = text

    def drop(self, name):
        del self.source.texts[name]

    def sync(self, store, encoder, gone=Gone.MIRROR, trust=Trust.TRUSTED, **more):
        source = self.source
        return sync(source, source.address, store, encoder, source.readers, trust=trust, gone=gone, **more)


class FolderHere:
    """A folder."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def put(self, name, text):
        place = self.folder / f"{name}.txt"
        place.unlink(missing_ok=True)
        time.sleep(0.01)  # two versions never have one time
        place.write_text(text)

    def drop(self, name):
        (self.folder / f"{name}.txt").unlink()

    def sync(self, store, encoder, gone=Gone.MIRROR, trust=Trust.TRUSTED, **more):
        return index(self.folder, store, encoder, trust=trust, gone=gone, **more)


class SiteHere:
    """A site; half of its pages have no ETag."""

    def __init__(self, site):
        self.site = site

    def put(self, name, text):
        self.site.put(f"/{name}.html", f"<main><p>{text}</p></main>", marked=len(name) % 2 == 0)
        self._map()

    def drop(self, name):
        del self.site.pages[f"/{name}.html"]
        self._map()

    def _map(self):
        self.site.map([path for path in self.site.pages if path.endswith(".html")])
        self.site.put("/", "", noindex="")

    def sync(self, store, encoder, gone=Gone.MIRROR, trust=Trust.TRUSTED, **more):
        return self.site.sync(store, encoder, gone=gone, trust=trust.value, **more)


class RemoteHere:
    """The files of a file system of fsspec's, which has the folder `folder`."""

    def __init__(self, system, folder, readers, address="memory://house/"):
        self.system, self.folder, self.readers, self.address = system, folder, readers, address

    def put(self, name, text):
        self.system.pipe_file(f"{self.folder}/{name}.txt", text.encode())

    def drop(self, name):
        self.system.rm_file(f"{self.folder}/{name}.txt")

    def source(self, **more):
        return RemoteFiles(self.address, self.system, self.folder, **more)

    def sync(self, store, encoder, gone=Gone.MIRROR, trust=Trust.TRUSTED, source=None, **more):
        self.system.invalidate_cache()
        source = source or self.source()
        return sync(source, self.address, store, encoder, self.readers, trust=trust, gone=gone, **more)


class WikiHere:
    """A wiki."""

    def __init__(self, wiki):
        self.wiki, self.put = wiki, wiki.put

    def drop(self, name):
        del self.wiki.pages[name]

    def sync(self, store, encoder, gone=Gone.MIRROR, trust=Trust.TRUSTED, **more):
        return self.wiki.sync(store, encoder, trust=trust.value, how={"gone": gone} | more)


class GitHere:
    """A repository; all that was put and dropped is one commit."""

    def __init__(self, repo):
        self.repo, self.waiting = repo, {}

    def put(self, name, text):
        self.waiting[name] = text

    def drop(self, name):
        self.waiting[name] = None

    def sync(self, store, encoder, gone=Gone.MIRROR, trust=Trust.TRUSTED, **more):
        self.repo.commit(**self.waiting)
        self.waiting = {}
        return sync_source(self.repo.chosen(trust=trust.value), store, encoder, gone=gone, **more)


@contextmanager
def here(kind: str, folder: Path):
    """A new empty source of a kind."""
    match kind:
        case "texts":
            with Readers(1) as readers:
                yield TextsHere(readers)
        case "folder":
            yield FolderHere(folder / "documents")
        case "site":
            with serving() as site:
                yield SiteHere(site)
        case "wiki":
            with serving() as site:
                yield WikiHere(SmallWiki(site))
        case "git":
            pytest.importorskip("dulwich")
            if not shutil.which("git"):
                pytest.skip("there is no git")
            with repository(folder) as repo:
                yield GitHere(repo)
        case "files":
            system = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem()
            with Readers(1) as readers:
                system.mkdir("/house")
                yield RemoteHere(system, "/house", readers)
                system.rm("/house", recursive=True)


KINDS = ("texts", "folder", "site", "wiki", "files", "git")
