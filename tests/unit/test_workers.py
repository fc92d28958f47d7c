"""Files are read in processes of their own: what one file does there is that file's, and ends with the parent."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from equipoise.core.errors import CorpusError
from equipoise.core.types import Block, BlockKind
from equipoise.corpus import limits, workers
from equipoise.corpus.indexing import index
from equipoise.corpus.offsets import packed
from equipoise.corpus.parsed import ParsedDocument, read, written
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from held import children, wait_for_end, watched
from hostile_files import ENDED, HOSTILE, form_in_form, pdf
from processes import ENVIRONMENT

A_FEW = ("html: nested div", "html: attributes", "html: rules that match")
"""Of ENDED: each takes a second of processor time, whatever the form."""


@pytest.fixture(autouse=True)
def started_anew(end_readers):
    end_readers()


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    with Store.open(tmp_path / "s.db", create=True) as opened:
        yield opened


@pytest.fixture
def docs(store, tmp_path, monkeypatch):
    """A folder that `odd_worker` reads."""
    monkeypatch.setattr(workers, "MODULE", "odd_worker")
    return tmp_path / "docs"


def texts(store):
    return [store.document(doc_id).text for doc_id in store.doc_ids()]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("memory", "reading it takes more than 1.0 GB of memory; split it or leave it out"),
        ("crash", "the process that read it crashed (signal SIGSEGV)"),
        ("killed", "the system killed the process that read it, probably for want of memory"),
        ("leave", "the process that read it crashed (exit code 7)"),
        ("stumble here", "it cannot be read (KeyError: 'odd\\x1b[2J here')"),
        ("deep", "it cannot be read (RecursionError"),
        ("lie", "the process that read it sent what cannot be used (a length outside the body)"),
        ("fragment " + "x" * 1_001, "the id 'xxxxxxxxxx"),
        ("flood", "it holds more than 50,000,100 bytes of text; split it"),
    ],
)
def test_what_one_file_does_to_its_process_is_that_files(store, docs, content, reason):
    (docs / "a.txt").write_text("before")
    (docs / "b.txt").write_text(content)
    (docs / "c.txt").write_text("after")
    report = index("docs", store, HashedWords())
    assert [error.path for error in report.failed] == ["docs/b.txt"]
    assert reason in report.failed[0].reason
    assert "\x1b" not in report.failed[0].reason
    assert texts(store) == ["before", "after"]


def test_pdf_is_read_within_the_limits_and_what_breaks_them_is_named(store, tmp_path):
    page = b"BT /F 9 Tf 40 400 Td (Some words.)Tj ET"
    (tmp_path / "docs" / "a.pdf").write_bytes(pdf(page))
    (tmp_path / "docs" / "b.pdf").write_bytes(form_in_form(levels=9, times=9))
    (tmp_path / "docs" / "c.pdf").write_bytes(pdf(page, pages=2))
    report = index("docs", store, HashedWords())
    assert [error.path for error in report.failed] == ["docs/b.pdf"]
    assert texts(store) == ["Some words.", "Some words.\n\nSome words."]


def test_a_worker_writes_no_file(store, docs):
    place = docs.parent / "out"
    (docs / "a.txt").write_text(f"write {place}")
    with pytest.raises(CorpusError, match=r"it cannot be read \(OSError"):
        index("docs", store, HashedWords())
    assert place.read_bytes() == b""


def test_a_file_may_not_take_more_processor_time_than_its_limit(store, docs, monkeypatch):
    monkeypatch.setattr(limits, "SECONDS", 1)
    monkeypatch.setattr(limits, "WALL", 1_000_000)
    (docs / "a.txt").write_text("spin")
    (docs / "b.txt").write_text("after")
    report = index("docs", store, HashedWords())
    reason = "reading it took more than 1 seconds of processor time; split it or leave it out"
    assert [(e.path, e.reason) for e in report.failed] == [("docs/a.txt", reason)]
    assert texts(store) == ["after"]


@pytest.mark.parametrize(
    "form",
    [form if form in A_FEW else pytest.param(form, marks=pytest.mark.nightly) for form in ENDED],
)
def test_a_page_that_takes_the_square_of_its_length_is_ended_with_a_clear_reason(
    store, tmp_path, monkeypatch, form
):
    monkeypatch.setattr(limits, "SECONDS", 1)
    monkeypatch.setattr(limits, "SECONDS_FOR_A_MEGABYTE", 0)
    monkeypatch.setattr(limits, "MEMORY_FOR_A_BYTE", 0)
    name, page = HOSTILE[form](ENDED[form])
    (tmp_path / "docs" / name).write_bytes(page)
    (tmp_path / "docs" / "b.txt").write_text("after")
    report = index("docs", store, HashedWords())
    reason = (
        r"reading it (took more than 1 seconds of processor time|takes more than 1\.0 GB of memory); split it"
    )
    assert [error.path for error in report.failed] == [f"docs/{name}"]
    assert re.match(reason, report.failed[0].reason)
    assert texts(store) == ["after"]


def test_a_file_that_takes_no_time_and_never_ends_is_ended(store, docs, monkeypatch):
    monkeypatch.setattr(limits, "WALL", 1 / limits.SECONDS)
    (docs / "a.txt").write_text("wait")
    with pytest.raises(CorpusError, match=r"a\.txt: reading it took longer than 1 seconds"):
        index("docs", store, HashedWords())


def test_limits_grow_with_the_file_up_to_a_point():
    small, large, huge = (limits.limits_for(size) for size in (0, 10_000_000, limits.LARGEST_FILE))
    assert (small.memory, small.seconds, small.reply) == (1_000_000_000, 60, 50_000_000)
    assert (large.memory, large.seconds, large.reply) == (1_200_000_000, 260, 250_000_000)
    assert (huge.memory, huge.reply) == (4_000_000_000, limits.LARGEST_FILE)
    assert small.wall == 60 * limits.WALL


def test_nothing_that_a_library_prints_comes_between(store, docs):
    (docs / "a.txt").write_text("print")
    index("docs", store, HashedWords())
    assert texts(store) == ["printed"]


def test_a_worker_gets_no_secret(store, docs, monkeypatch):
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "HF_TOKEN", "PASSWORD", "EQUIPOISE_MODEL_KEY"):
        monkeypatch.setenv(name, "secret")
    (docs / "a.txt").write_text("environment")
    index("docs", store, HashedWords())
    got = json.loads(texts(store)[0])
    assert "secret" not in got.values()
    assert got["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize("name", ["numpy.py", "json.py", "equipoise/__init__.py"])
def test_modules_in_the_current_folder_are_not_imported(store, tmp_path, name):
    (tmp_path / "equipoise").mkdir()
    (tmp_path / name).write_text("raise SystemExit('imported')")
    (tmp_path / "docs" / "a.txt").write_text("Text.")
    assert index("docs", store, HashedWords()).added == 1


def test_no_worker_is_started_where_nothing_has_changed(store, tmp_path, monkeypatch):
    (tmp_path / "docs" / "a.txt").write_text("Text.")
    index("docs", store, HashedWords())
    monkeypatch.setattr(workers, "MODULE", "there_is_no_such_module")
    assert index("docs", store, HashedWords()).unchanged == 1
    os.utime(tmp_path / "docs" / "a.txt", ns=(1, 1))
    assert index("docs", store, HashedWords()).unchanged == 1
    (tmp_path / "docs" / "b.txt").write_text("More.")
    with pytest.raises(
        CorpusError, match=r"did not start: run  python -m there_is_no_such_module  to see why"
    ):
        index("docs", store, HashedWords())


def test_the_number_of_workers_changes_nothing(store, tmp_path, monkeypatch):
    for number in range(20):
        (tmp_path / "docs" / f"{number}.txt").write_text(f"Text {number}. " * (1 + number % 3 * 500))
    index("docs", store, HashedWords())
    monkeypatch.setattr(workers, "MOST_WORKERS", 1)
    with Store.open(tmp_path / "one.db", create=True) as other:
        index("docs", other, HashedWords())
        assert other.digest() == store.digest()
    assert [d.split(".")[0] for d in texts(store)] == [f"Text {n}" for n in sorted(range(20), key=str)]


SCRIPT = """
import sys
from pathlib import Path
from hashed_words import HashedWords
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
with Store.open(Path("script.db"), create=True) as store:
    print(index("docs", store, HashedWords()).added, flush=True)
"""


def test_a_script_without_a_main_guard_may_index(store, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "docs" / "a.txt").write_text("Text.")
    done = subprocess.run(
        [sys.executable, "script.py"], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_a_worker_ends_with_its_parent_while_it_reads(store, docs):
    pipe = docs.parent / "pipe"
    os.mkfifo(pipe)
    (docs / "a.txt").write_text(f"spin {pipe}")
    script = f"from equipoise.corpus import workers\nworkers.MODULE = 'odd_worker'\n{SCRIPT}"
    with subprocess.Popen([sys.executable, "-c", script], env=ENVIRONMENT, cwd=docs.parent) as parent:
        with pipe.open("rb") as said:  # the worker has begun to spin
            said.read()
        with watched(children(parent.pid)) as running:
            assert len(running) == 1
            parent.send_signal(signal.SIGKILL)
            wait_for_end(running)


GOOD = ParsedDocument(
    "One. Two.", "Title", "f", (0,), ((0, 4), (5, 9)), ((0, 9),), 3, 4, (Block(BlockKind.PARAGRAPH, 0, 9),)
)


def test_a_reading_comes_back_as_it_was_sent():
    header, body = written([GOOD, ParsedDocument("Ünïcode 🦉", "", "")])
    assert read(json.loads(json.dumps(header)), b"".join(body)) == [
        GOOD,
        ParsedDocument("Ünïcode 🦉", "", ""),
    ]


@pytest.mark.parametrize(
    ("field", "data", "reason"),
    [
        (1, packed([-1]), "page starts"),
        (1, packed([5, 3]), "page starts"),
        (1, packed([10]), "page starts"),
        (1, b"\0\0\0", "3 bytes long"),
        (2, packed([0, 4, 3, 9]), "overlap"),
        (2, packed([5, 9, 0, 4]), "overlap or are not in order"),
        (2, packed([0, 4, 5]), "a start has no end"),
        (2, packed([4, 4]), "empty"),
        (3, packed([0, 10]), "outside its text"),
        (3, packed([-3, 4]), "outside its text"),
        (3, packed([np.iinfo(np.int32).max - 1, np.iinfo(np.int32).max]), "outside its text"),
        (4, packed([1, 0, 9, 0, -1, 0]), "cut off"),
        (4, packed([1, 0, 10, 0, -1, 0, -1]), "outside its text"),
        (4, packed([9, 0, 9, 0, -1, 0, -1]), "no known kind"),
        (4, packed([1, 0, 9, 0, 0, 0, -1]), "read with a later one"),
        (4, packed([1, 0, 9, 0, -1, 0, 0]), "not under the heading"),
        (0, b"\xff\xfe", "utf-8"),
    ],
)
def test_a_reading_that_does_not_hold_together_is_refused(field, data, reason):
    header, body = written([GOOD])
    body[field] = data
    header["documents"][0]["lengths"] = [len(part) for part in body]
    with pytest.raises(ValueError, match=reason):
        read(header, b"".join(body))


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"documents": []},
        {"documents": "x"},
        {"documents": [1]},
        {"documents": [{"lengths": [0, 0, 0]}]},
        {"documents": [{"lengths": [0, 0, 0, 0, -1]}]},
        {"documents": [{"lengths": [0, 0, 0, 0, "1"]}]},
        {"documents": [{"lengths": [0, 0, 0, 0, 0], "title": None, "fragment": ""}]},
        {"documents": [{"lengths": [0, 0, 0, 0, 0], "title": "", "fragment": "", "hidden": 0}], "more": 1},
    ],
)
def test_a_header_that_is_not_ours_is_refused(header):
    with pytest.raises(ValueError):
        read(header, b"" if "more" not in header else b"left over")


def test_a_title_is_made_safe_on_this_side_too():
    header, body = written([ParsedDocument("Text.", "a\n- quote\x1b[2J")])
    assert read(header, b"".join(body))[0].title == "a - quote [2J"
