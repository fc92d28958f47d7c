"""The fuzz target's inputs and checks for what comes from disk: files of every kind, settings, stores."""

import asyncio
import sqlite3
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import seeds
from mutate import mutated, mutated_bytes

from equipoise.core import settings
from equipoise.core.errors import CorpusError, SettingsError, UnreadableFile
from equipoise.core.types import Trust
from equipoise.corpus.loaders import load
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise.rag.components import Components
from hashed_words import HashedWords
from verified import verified


def check_file(name: str, data: bytes) -> None:
    try:
        documents = load(Path(name), data)
    except UnreadableFile as error:
        assert error.reason and "\n" not in str(error), "a reason of several lines"
        return
    assert documents, "no document"
    for document in documents:
        assert document.text.strip(), "an empty document"
        assert not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in set(document.text + document.title)), (
            "unkeepable"
        )
        assert list(document.pages) == sorted(document.pages) and all(
            0 <= at <= len(document.text) for at in document.pages
        )
        assert "\n" not in document.title, "a title of several lines"
        place = 0
        for row, block in enumerate(document.blocks):
            assert place <= block.start < block.end <= len(document.text), "blocks out of order"
            assert not document.text[place : block.start].strip(), "text outside of blocks"
            assert -1 <= block.intro < row, "a lead that comes later"
            place = block.end
        assert not document.blocks or not document.text[place:].strip(), "text after the last block"


def check_settings(data: bytes) -> None:
    toml, _, lines = data.partition(seeds.SPLIT.encode())
    pairs = (line.partition("=") for line in lines.decode("utf-8", "surrogateescape").split("\n"))
    environment = {name: value for name, mark, value in pairs if mark and name}
    with TemporaryDirectory() as folder:
        (Path(folder) / settings.FILE_NAME).write_bytes(toml)
        try:
            layered = settings.load(folder=Path(folder), environment=environment)
        except SettingsError as error:
            assert str(error).strip(), "an error without a message"
            return
    assert len(layered.rows()) == len(settings.keys()), "a setting is missing"
    if (
        layered.settings.model.api_key
        and len(secret := layered.settings.model.api_key.get_secret_value()) > 3
    ):
        assert secret not in {value for _, value, _ in layered.rows()}, "a secret prints"


def check_store(data: bytes, *, sql: bool) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        path.write_bytes(seeds.store() if sql else data)
        if sql:
            _tamper(path, data)
        try:
            _used(path)
        except CorpusError as error:
            assert str(error).strip(), "an error without a message"


def _tamper(path: Path, script: bytes) -> None:
    with sqlite3.connect(path, isolation_level=None) as connection:
        for statement in script.decode("utf-8", "replace").split(";\n"):
            try:
                connection.executescript(statement)
            except (sqlite3.Error, ValueError):  # what cannot be done to a store needs no defence
                continue
    connection.close()


def _used(path: Path) -> None:
    """Everything that is done with a store: reading, checking, searching, asking, and writing to it."""
    with Store.open(path, read_only=True) as store:
        encoder = HashedWords()
        store.counts()
        store.files()
        store.digest()
        store.check_encoder(encoder)
        for doc_id in store.doc_ids():
            document = store.document(doc_id)
            document.page_at(10)
            document.line_at(10)
            store.passages_of(doc_id)
        ids, matrix = store.partition(Trust.TRUSTED).matrix()
        assert len(ids) == len(matrix), "vectors without a passage"
        store.partition(Trust.TRUSTED).bm25("gold miners", 5)
        components = Components(_choices(), store, encoder)
        asyncio.run(build.pipeline("hs", components).ask("Who found gold in 1851? Is the town well known?"))
        verified(store)
    with Store.open(path) as store:
        store.optimize()


@cache
def _choices() -> settings.Settings:
    flags = {"model.llm": "none", "highlight.name": "sentence", "summarize.context": "passage"}
    return settings.load(flags, folder=Path(), environment={}).settings


FILES = {
    "a.md": seeds.MARKDOWN, "a.rst": seeds.RST, "a.txt": seeds.PROSE, "a.html": seeds.HTML, "a.csv": seeds.CSV,
    "a.tsv": seeds.TSV, "a.jsonl": seeds.JSONL, "a.json": seeds.JSON, "a.eml": seeds.MAIL, "a.py": seeds.SOURCE,
    "a.adoc": seeds.ADOC, "a.rtf": seeds.RTF,
}  # fmt: skip
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-16", "utf-32", "cp1252", "utf-16-le", "shift_jis")


def make_file(seed: str, rng: Random) -> bytes:
    text = mutated(seed, rng, tuple(FILES.values()))
    data = text.encode(rng.choice(ENCODINGS), "replace" if rng.random() < 0.5 else "ignore")
    return mutated_bytes(data, rng) if rng.random() < 0.2 else data


def make_settings(rng: Random) -> bytes:
    environment = mutated(seeds.ENVIRONMENT, rng) if rng.random() < 0.4 else ""
    toml = seeds.TOML if environment else mutated(seeds.TOML, rng, (seeds.JSONL,))
    return (toml + seeds.SPLIT + environment).encode("utf-8", rng.choice(("surrogatepass", "replace")))


def make_rows(rng: Random) -> bytes:
    rows = rng.sample(seeds.ROWS, k=rng.choice((1, 1, 2, 3)))
    return "\n".join(mutated(row, rng, seeds.ROWS) if rng.random() < 0.5 else row for row in rows).encode(
        "utf-8", "replace"
    )
