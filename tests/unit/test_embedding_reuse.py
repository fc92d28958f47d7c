"""What one index has embedded, another one of the same files is lent."""

import numpy as np
import pytest

from equipoise.core.types import Trust
from equipoise.corpus.embedding_reuse import ReusingEncoder
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.rag import build, updating
from hashed_words import HashedWords


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "refunds.md").write_text("# Refunds\n\nThe head of sales may approve a refund.\n", "utf-8")
    (docs / "hours.md").write_text("# Hours\n\nWe open at nine and close at six.\n", "utf-8")
    return docs


@pytest.fixture
def lender(tmp_path, folder):
    path = tmp_path / "lender.db"
    with Store.open(path, create=True) as store:
        index([folder], store, HashedWords())
    return path


def indexed(tmp_path, folder, lenders, encoder):
    with Store.open(tmp_path / "index.db", create=True) as store:
        index([folder], store, ReusingEncoder(encoder, store, lenders))
        return store.digest(), store.partition(Trust.TRUSTED).matrix()[1]


def test_nothing_is_embedded_twice_and_the_index_is_the_same(tmp_path, folder, lender):
    encoder = HashedWords()
    lent = indexed(tmp_path, folder, [lender], encoder)
    assert encoder.encoded == 0
    (tmp_path / "alone").mkdir()
    alone = indexed(tmp_path / "alone", folder, [], encoder)
    assert encoder.encoded > 0
    np.testing.assert_array_equal(lent[1], alone[1])


def test_a_changed_file_is_embedded(tmp_path, folder, lender):
    (folder / "hours.md").write_text("# Hours\n\nWe open at ten.\n", "utf-8")
    encoder = HashedWords()
    indexed(tmp_path, folder, [lender], encoder)
    assert encoder.encoded == 1


def test_another_encoder_lends_nothing(tmp_path, folder, lender):
    encoder = HashedWords(name="another")
    indexed(tmp_path, folder, [lender], encoder)
    assert encoder.encoded == 2


def test_a_lender_that_cannot_be_read_lends_nothing(tmp_path, folder):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database" * 100)
    encoder = HashedWords()
    indexed(tmp_path, folder, [broken, tmp_path / "missing.db"], encoder)
    assert encoder.encoded == 2


def test_an_index_takes_over_what_docs_made(tmp_path, folder, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    encoder = HashedWords()
    monkeypatch.setattr(build, "encoder", lambda *_arguments, **_options: encoder)
    updating.update(updating.private_index([folder]), [folder])
    before = encoder.encoded
    assert before == 2
    updating.update(tmp_path / "index.db", [folder])
    assert encoder.encoded == before
