"""Planting leaves a store as it was: after use, after errors, beside readers and after a kill."""

import json
import signal
import subprocess
import sys

import pytest

from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.types import Document, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.loaders.loaded import clean
from equipoise.corpus.store import Store
from equipoise_lab.attacks.passages import AttackPassage, Kind
from equipoise_lab.attacks.planting import plant, planted, planted_id
from equipoise_lab.redteam.planter import PREFIX, is_planted, uproot
from hashed_words import HashedWords
from processes import ENVIRONMENT
from verified import verified

PASSAGES = [
    AttackPassage(
        f"q-pos{n:02}", "q", "Is tea good?", Kind.ADV_POS, n, f"Tea is good, says reason {n}.\x00 Drink it."
    )
    for n in range(1, 6)
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "store.db"
    encoder = HashedWords()
    with Store.open(path, create=True) as store:
        store.bind_encoder(encoder)
        own = [Document(f"d{n}", f"Tea number {n} grows on a hill.", f"d{n}") for n in range(20)]
        store.add_documents(prepare(own, encoder))
    return path


def test_planted_passages_can_be_found_and_are_open(path):
    with Store.open(path) as store:
        with planted(store, PASSAGES, HashedWords()) as doc_ids:
            assert doc_ids == tuple(planted_id(p) for p in PASSAGES)
            assert {document.trust for document in store.documents(doc_ids).values()} == {Trust.UNTRUSTED}
            assert all(is_planted(doc_id) for doc_id in doc_ids)
            assert store.counts().documents == 25
            hits = [
                store.passages([i])[0].doc_id
                for i, _ in store.partition(Trust.UNTRUSTED).bm25("says reason drink", 5)
            ]
            assert set(hits) == set(doc_ids)
        assert store.partition(Trust.UNTRUSTED).bm25("says reason drink", 5) == []


def test_the_store_is_what_it_was(path):
    with Store.open(path) as store:
        before = store.digest()
        with planted(store, PASSAGES, HashedWords()):
            assert store.digest() != before
        assert store.digest() == before
        verified(store)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_store_is_what_it_was_after_an_error(path, error):
    with Store.open(path) as store:
        before = store.digest()
        with pytest.raises(error), planted(store, PASSAGES, HashedWords()):
            raise error
        assert store.digest() == before


def test_planting_twice_changes_nothing_the_second_time(path):
    with Store.open(path) as store, planted(store, PASSAGES[:2], HashedWords()):
        inside = store.digest()
        with (
            pytest.raises(CorpusError, match="is in the store already"),
            planted(store, PASSAGES, HashedWords()),
        ):
            pytest.fail("the block must not run")
        assert store.digest() == inside


def test_uprooting_inside_and_after_is_harmless(path):
    with Store.open(path) as store:
        before = store.digest()
        with planted(store, PASSAGES, HashedWords()) as doc_ids:
            assert uproot(store) == doc_ids
        assert uproot(store) == ()
        assert store.digest() == before


def test_uproot_leaves_what_was_not_planted(path):
    with Store.open(path) as store:
        before = store.digest()
        assert uproot(store, ["d1", f"{PREFIX}nobody"]) == ()
        assert store.digest() == before


def test_uproot_takes_only_the_named(path):
    with Store.open(path) as store:
        doc_ids = plant(store, PASSAGES, HashedWords())
        assert uproot(store, doc_ids[1:3]) == doc_ids[1:3]
        assert store.counts().documents == 23


def test_an_empty_store_and_another_encoder_are_refused_untouched(path, tmp_path):
    with Store.open(tmp_path / "empty.db", create=True) as empty:
        before = empty.digest()
        with pytest.raises(CorpusError, match="index files first"):
            plant(empty, PASSAGES, HashedWords())
        assert empty.digest() == before
    with Store.open(path) as store, pytest.raises(StoreError, match="was built with"):
        plant(store, PASSAGES, HashedWords(16))


READER = """
import sys
from pathlib import Path
from equipoise.core.types import Trust
from equipoise.corpus.store import Store
seen = set()
print("ready", flush=True)
with Store.open(Path(sys.argv[1]), read_only=True) as store:
    while not Path(sys.argv[2]).exists() or len(seen) < 1:
        with store.snapshot():
            parts = [store.partition(trust) for trust in Trust]
            ids = [passage_id for part in parts for passage_id in part.matrix()[0]]
            inside = sum(doc_id.startswith("planted:") for doc_id in store.doc_ids())
            assert len(ids) == store.counts().passages == 20 + inside
            assert sum(len(part.bm25("tea", 100)) for part in parts) == 20 + inside
            seen.add(inside)
print(sorted(seen))
"""

KILLED = """
import os, signal, sys
from pathlib import Path
from equipoise.corpus.store import Store
from equipoise_lab.attacks.passages import AttackPassage, Kind
from equipoise_lab.attacks.planting import planted
from hashed_words import HashedWords
passages = [AttackPassage(f"q-pos{n}", "q", "Q?", Kind.ADV_POS, n, f"Tea is good {n}.") for n in (1, 2, 3)]
with Store.open(Path(sys.argv[1])) as store, planted(store, passages, HashedWords()):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def start(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_reader_in_another_process_sees_all_or_none(path, tmp_path):
    reader = start(READER, path, tmp_path / "done")
    assert reader.stdout.readline() == "ready\n"
    with Store.open(path) as store:
        before = store.digest()
        for _ in range(30):
            with planted(store, PASSAGES, HashedWords()):
                pass
        assert store.digest() == before
    (tmp_path / "done").touch()
    output, errors = reader.communicate()
    assert errors == ""
    assert set(output.strip("[]\n").split(", ")) <= {"0", "5"}


def test_after_a_kill_another_process_uproots(path):
    with Store.open(path) as store:
        before = store.digest()
    victim = start(KILLED, path)
    assert victim.communicate() == ("", "")
    assert victim.returncode == -signal.SIGKILL
    with Store.open(path) as store:
        assert store.digest() != before
        assert uproot(store) == tuple(f"{PREFIX}q-pos{n}" for n in (1, 2, 3))
        assert store.digest() == before
        verified(store)


def test_attack_prompts_are_planted_as_they_are_and_taken_out_again(path, shared_data):
    """Jailbreaks and injections by others: control characters, markup."""
    files = sorted((shared_data / "attack_prompts").glob("*.jsonl"))
    prompts = [
        json.loads(line)["prompt"] for file in files for line in file.read_text("utf-8").splitlines()[::5]
    ]
    said = [prompt for prompt in prompts if prompt.strip()]
    passages = [
        AttackPassage(f"p-{n:04}", "q", "Is tea good?", Kind.ADV_POS, n, prompt)
        for n, prompt in enumerate(said, 1)
    ]
    with Store.open(path) as store:
        before = store.digest()
        with planted(store, passages, HashedWords()) as doc_ids:
            kept = store.documents(doc_ids)
            assert [kept[doc_id].text for doc_id in doc_ids] == [clean(prompt) for prompt in said]
            assert {document.trust for document in kept.values()} == {Trust.UNTRUSTED}
            verified(store)
        assert store.digest() == before
