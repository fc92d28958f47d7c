import json
import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from equipoise.core.errors import CorpusError, ModelReplyError, StoreError
from equipoise.core.types import Document, Trust
from equipoise.corpus.files import HIDDEN, OF_A_PAGE, UNKNOWN
from equipoise.corpus.indexing import index, prepare
from equipoise.corpus.naming import document_id
from equipoise.corpus.roots import Gone
from equipoise.corpus.store import Store
from equipoise.maths.similarity import top_k
from hashed_words import HashedWords


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with a few files."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs" / "tea.md", "# Tea\n\nTea is hot. It is made of leaves.")
    write(tmp_path / "docs" / "deep" / "milk.txt", "Milk is white.")
    write(
        tmp_path / "docs" / "rows.jsonl", "\n".join(json.dumps({"_id": i, "text": f"Row {i}."}) for i in "ab")
    )
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def store(here):
    with Store.open(here / ".equipoise" / "store.db", create=True) as opened:
        yield opened


def numbers(report):
    return (report.added, report.changed, report.unchanged, report.relabelled, report.removed)


def sources(store):
    return [store.document(doc_id).source for doc_id in store.doc_ids()]


def test_a_folder_is_indexed_with_relative_sources(store):
    report = index("docs", store, HashedWords())
    assert numbers(report) == (3, 0, 0, 0, 0)
    assert (report.documents, report.passages, report.failed) == (4, 4, ())
    assert sources(store) == ["docs/rows.jsonl#a", "docs/rows.jsonl#b", "docs/tea.md", "docs/deep/milk.txt"]
    tea = store.document(document_id("docs/tea.md"))
    assert (tea.title, tea.trust) == ("Tea", Trust.TRUSTED)
    assert [tea.text[s:e] for s, e in tea.sentences] == ["Tea is hot.", "It is made of leaves."]
    first = tea.blocks[0]
    assert (first.kind, tea.text[: first.end], first.line) == ("heading", "# Tea", 1)


def test_vectors_are_of_the_title_and_the_passage(store):
    index("docs/tea.md", store, HashedWords())
    wanted = HashedWords().encode(["Tea\n# Tea\n\nTea is hot. It is made of leaves."])
    assert store.partition(Trust.TRUSTED).matrix()[1].tolist() == wanted.tolist()


def test_dense_search_finds_the_passage(store):
    index("docs", store, HashedWords(256))
    ids, matrix = store.partition(Trust.TRUSTED).matrix()
    rows, _ = top_k(matrix, HashedWords(256).encode(["white milk"])[0], 1)
    assert store.passages([ids[rows[0]]])[0].text == "Milk is white."


def test_what_is_unchanged_is_not_embedded_again(store, here):
    encoder = HashedWords()
    index("docs", store, encoder)
    first = (encoder.encoded, store.digest())
    report = index("docs", store, encoder)
    assert numbers(report) == (0, 0, 3, 0, 0)
    assert (encoder.encoded, store.digest()) == first
    os.utime(here / "docs" / "tea.md", ns=(1, 1))
    assert numbers(index("docs", store, encoder)) == (0, 0, 3, 0, 0)
    assert encoder.encoded == first[0]


def test_a_file_that_is_changed_with_its_size_and_time_is_read_anew(store, here):
    path = here / "docs" / "tea.md"
    index("docs", store, HashedWords())
    before = path.stat()
    text = path.read_text()
    path.write_text(text.replace("Tea", "Ale"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert numbers(index("docs", store, HashedWords())) == (0, 1, 2, 0, 0)


@pytest.mark.parametrize("now", [b"", b"\0\1"])
def test_what_a_file_said_that_can_no_longer_be_read_is_not_searched(store, here, now):
    index("docs", store, HashedWords())
    (here / "docs" / "deep" / "milk.txt").write_bytes(now)
    report = index("docs", store, HashedWords())
    assert [error.path for error in report.failed] == ["docs/deep/milk.txt"]
    assert "old text is no longer searched" in report.failed[0].reason
    assert store.partition(Trust.TRUSTED).bm25("milk", 5) == []
    write(here / "docs" / "deep" / "milk.txt", "Milk is white.")
    assert numbers(index("docs", store, HashedWords())) == (1, 0, 2, 0, 0)


def test_changed_files_are_replaced_and_gone_ones_pruned_when_asked(store, here):
    index("docs", store, HashedWords())
    write(here / "docs" / "tea.md", "Tea is cold now.")
    (here / "docs" / "deep" / "milk.txt").unlink()
    assert numbers(index("docs", store, HashedWords())) == (0, 1, 1, 0, 0)
    assert store.partition(Trust.TRUSTED).bm25("leaves", 5) == []
    assert len(store.partition(Trust.TRUSTED).bm25("milk", 5)) == 1
    assert numbers(index("docs", store, HashedWords(), gone=Gone.DROP)) == (0, 0, 2, 0, 1)
    assert store.partition(Trust.TRUSTED).bm25("milk", 5) == []


def test_a_mirrored_folder_loses_what_is_gone_but_not_all_at_once(store, here):
    write(here / "notes" / "coffee.txt", "Coffee is black.")
    index(["docs", "notes"], store, HashedWords())
    (here / "docs" / "tea.md").unlink()
    (here / "notes" / "coffee.txt").unlink()
    report = index(["docs", "notes"], store, HashedWords(), gone=Gone.MIRROR)
    assert report.removed == 1
    assert len(store.partition(Trust.TRUSTED).bm25("coffee", 5)) == 1
    ((path, why),) = [(left.path, left.reason) for left in report.left_out]
    assert (path, "its 1 indexed files stay" in why) == ("notes", True)
    with pytest.raises(CorpusError, match="its 1 indexed files stay"):
        index("notes", store, HashedWords(), gone=Gone.MIRROR)
    assert index("notes", store, HashedWords(), gone=Gone.DROP).removed == 1
    assert store.partition(Trust.TRUSTED).bm25("coffee", 5) == []


def test_pruning_stays_under_the_given_paths(store, here):
    index("docs", store, HashedWords())
    (here / "docs" / "tea.md").unlink()
    (here / "docs" / "deep" / "milk.txt").unlink()
    write(here / "docs" / "deep" / "new.txt", "New.")
    assert numbers(index("docs/deep", store, HashedWords(), gone=Gone.DROP)) == (1, 0, 0, 0, 1)
    assert "docs/tea.md" in sources(store)
    with pytest.raises(CorpusError, match="no such file"):
        index("docs/gone", store, HashedWords(), gone=Gone.DROP)
    assert numbers(index(["docs/tea.md"], store, HashedWords(), gone=Gone.DROP)) == (0, 0, 0, 0, 1)


def test_a_missing_folder_prunes_nothing(store, here):
    index("docs", store, HashedWords())
    (here / "docs").rename(here / "moved")
    with pytest.raises(CorpusError, match="check the path"):
        index("docs", store, HashedWords(), gone=Gone.DROP)
    assert store.counts().documents == 4


def test_new_trust_is_recorded_without_embedding(store):
    encoder = HashedWords()
    index("docs", store, encoder)
    encoded = encoder.encoded
    report = index("docs", store, encoder, trust=Trust.UNTRUSTED)
    assert numbers(report) == (0, 0, 0, 3, 0)
    assert encoder.encoded == encoded
    assert {document.trust for document in store.documents(store.doc_ids()).values()} == {Trust.UNTRUSTED}


def test_one_bad_file_does_not_stop_the_rest(store, here):
    index("docs", store, HashedWords())
    (here / "docs" / "deep" / "milk.txt").write_bytes(b"\0\1")
    write(here / "docs" / "bad.jsonl", '{"text": "fine"}\n{')
    write(here / "docs" / "more.txt", "More.")
    report = index("docs", store, HashedWords(), gone=Gone.DROP)
    assert numbers(report) == (1, 0, 2, 0, 1)
    assert sorted(error.path for error in report.failed) == ["docs/bad.jsonl", "docs/deep/milk.txt"]
    assert "line 2 " in str(report.failed[0])
    assert store.partition(Trust.TRUSTED).bm25("white milk", 5) == []


def test_hidden_and_unknown_files_in_folders_are_named_with_their_reason(store, here):
    write(here / "docs" / ".hidden.md", "x")
    write(here / "docs" / ".git" / "a.md", "x")
    write(here / "docs" / "photo.jpg", "x")
    skipped = index("docs", store, HashedWords()).skipped
    assert [(skip.path, skip.reason) for skip in skipped] == [
        ("docs/.git", HIDDEN), ("docs/.hidden.md", HIDDEN), ("docs/photo.jpg", UNKNOWN),
    ]  # fmt: skip
    report = index(["docs", "docs/photo.jpg"], store, HashedWords())
    assert [error.path for error in report.failed] == ["docs/photo.jpg"]
    assert ".docx" in report.failed[0].reason


def test_scripts_of_web_pages_are_left_out_and_code_elsewhere_is_read(store, here):
    for folder in ("docs/page", "code"):
        write(here / folder / "tool.js", "function add(a, b) { return a + b }")
        write(here / folder / "tool.py", "def add(a, b):\n    return a + b\n")
    write(here / "docs" / "page" / "index.html", "<p>Adding is done by the tool.")
    report = index(["docs", "code"], store, HashedWords())
    assert [(skip.path, skip.reason) for skip in report.skipped] == [("docs/page/tool.js", OF_A_PAGE)]
    read = {Path(key).as_posix().removeprefix("../") for key in store.files()}
    assert {"docs/page/tool.py", "code/tool.js", "code/tool.py"} < read


def test_json_beside_web_pages_is_read_but_for_their_search_index(store, here):
    write(here / "docs" / "page" / "index.html", "<p>The ferry leaves at nine.")
    indexes = ["docs/page/search/search_index.json", "docs/page/index.json", "docs/page/lunr-index.json"]
    for name in (
        "docs/page/data.json",
        "docs/page/research.json",
        "docs/searches at sea.json",
        "docs/Index of fees.json",
        *indexes,
    ):
        write(here / name, '{"fee": "The berth fee is 40 pounds a night."}')
    report = index("docs", store, HashedWords())
    assert sorted((one.path, one.reason) for one in report.skipped) == [
        (path, OF_A_PAGE) for path in sorted(indexes)
    ]
    read = {Path(key).name for key in store.files()}
    assert {"data.json", "research.json", "Index of fees.json", "index.html"} < read


def test_loops_of_links_end_and_no_file_comes_twice(store, here):
    (here / "docs" / "deep" / "up").symlink_to(here / "docs", target_is_directory=True)
    (here / "docs" / "again.md").symlink_to(here / "docs" / "tea.md")
    (here / "docs" / "broken.md").symlink_to(here / "nowhere.md")
    report = index(["docs", "docs/tea.md", here / "docs"], store, HashedWords())
    assert (report.added, report.documents) == (3, 4)
    assert list(map(str, report.left_out)) == ["docs/broken.md: the link leads nowhere"]


def test_an_empty_folder_says_what_to_do(store, here):
    (here / "empty").mkdir()
    with pytest.raises(CorpusError, match=r"no file to index there: add some of the types \.md"):
        index("empty", store, HashedWords())
    write(here / "empty" / "a.txt", "")
    with pytest.raises(CorpusError, match=r"no file could be read: empty/a\.txt: the file is empty"):
        index("empty", store, HashedWords())


@contextmanager
def as_somebody():
    """Without root's right to read everything, where the tests run as root."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_locked_folder_is_named_and_nothing_under_it_is_pruned(mode, monkeypatch):
    with TemporaryDirectory() as made:
        monkeypatch.chdir(made)
        write(Path("docs/deep/milk.txt"), "Milk.")
        write(Path("docs/tea.txt"), "Tea.")
        write(Path("docs/locked.txt"), "Locked.")
        with Store.open(Path("s.db"), create=True) as store:
            index("docs", store, HashedWords())
        for path in (Path(made), *Path(made).rglob("*")):
            os.chown(path, 65534 if os.geteuid() == 0 else -1, -1)
        with as_somebody(), Store.open(Path("s.db")) as store:
            Path("docs/deep").chmod(mode)
            Path("docs/locked.txt").chmod(0)
            os.utime("docs/locked.txt", ns=(1, 1))
            report = index("docs", store, HashedWords(), gone=Gone.DROP)
            Path("docs/deep").chmod(0o755)
        assert sorted(error.path for error in report.failed) == ["docs/deep", "docs/locked.txt"]
        assert all("permissions" in error.reason for error in report.failed)
        assert (report.unchanged, report.removed, report.documents) == (1, 1, 2)
        monkeypatch.undo()


def test_a_name_that_is_not_unicode_is_refused(store, here):
    (here / "docs" / os.fsdecode(b"bad\xff.txt")).write_text("x")
    report = index("docs", store, HashedWords())
    assert [error.reason for error in report.failed] == ["the file's name is not valid UTF-8; rename it"]


def test_a_pipe_does_not_block(store, here):
    os.mkfifo(here / "docs" / "pipe.txt")
    report = index(["docs", "docs/pipe.txt"], store, HashedWords())
    assert [error.path for error in report.failed] == ["docs/pipe.txt"]


def test_another_working_folder_makes_no_second_copy(store, here, monkeypatch):
    index("docs", store, HashedWords())
    monkeypatch.chdir(here / "docs")
    assert numbers(index(".", store, HashedWords())) == (0, 0, 3, 0, 0)
    write(here / "docs" / "docs" / "tea.md", "Another tea.")
    monkeypatch.chdir(here / "docs")
    assert index("docs", store, HashedWords()).added == 1
    assert store.document(document_id("docs/tea.md")).title == "Tea"
    assert store.counts().documents == 5


def test_progress_tells_files_and_passages(store):
    steps = []
    index("docs", store, HashedWords(), progress=steps.append)
    assert [(s.source, s.file, s.files, s.embedded, s.passages) for s in steps] == [
        ("docs/rows.jsonl", 1, 3, 0, 0),
        ("docs/tea.md", 2, 3, 0, 0),
        ("docs/deep/milk.txt", 3, 3, 0, 0),
        ("docs/deep/milk.txt", 3, 3, 4, 4),
    ]


def test_another_encoder_is_refused_before_anything_is_read(store):
    index("docs", store, HashedWords())
    other = HashedWords(name="other")
    with pytest.raises(StoreError, match="index into a new store"):
        index("docs", store, other)
    assert other.encoded == 0


def test_an_encoder_that_breaks_its_promise_is_named(store):
    class Short(HashedWords):
        def encode(self, texts):
            return super().encode(texts)[:, :5]

    with pytest.raises(ModelReplyError, match=r"hashed-words gave vectors of shape \(4, 5\)"):
        index("docs", store, Short())
    assert store.counts().pending == store.counts().passages == 4
    assert store.partition(Trust.TRUSTED).matrix()[1].shape == (0, 32)


def test_prepared_documents_can_be_planted_and_taken_out(store):
    index("docs", store, HashedWords())
    before = store.digest()
    planted = prepare([Document("p", "Coffee is better. Much better.", "planted")], HashedWords())
    store.add_documents(planted)
    assert store.document("p").sentences == ((0, 17), (18, 30))
    assert len(store.partition(Trust.TRUSTED).bm25("coffee", 5)) == 1
    store.remove_documents(["p"])
    assert store.digest() == before


def test_what_pages_were_made_from_is_read_only_where_they_are_not_there(store, here):
    write(here / "made" / "usage" / "list.html", "<p>It lists all archives.")
    write(here / "made" / "_sources" / "usage" / "list.rst.txt", "It lists all archives.")
    write(here / "made" / "_sources" / "usage" / "lost.rst.txt", "This has no page.")
    skipped = index("made", store, HashedWords()).skipped
    assert [(one.path, one.reason) for one in skipped] == [("made/_sources/usage/list.rst.txt", OF_A_PAGE)]
