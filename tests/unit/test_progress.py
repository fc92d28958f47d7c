"""Progress where there is no terminal."""

from equipoise.apps import progress
from equipoise.corpus.indexing import IndexProgress


def test_without_a_terminal_a_line_now_and_then(monkeypatch, capsys):
    clock = iter([0.0, 3.0, 10.0, 12.0, 20.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    with progress.counted() as report:
        for done in range(1, 5):
            report(done, 1_000, f"file {done}\n")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == ["2 of 1,000: file 2\\n", "4 of 1,000: file 4\\n"]


def test_files_are_counted_first_and_then_passages(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_S", 0)
    with progress.files() as tell:
        tell(IndexProgress("a.txt", 1, 2))
        tell(IndexProgress("b.txt", 2, 2))
        tell(IndexProgress("b.txt", 2, 2, embedded=3, passages=5))
    assert capsys.readouterr().err.splitlines() == [
        "0 of 2: a.txt",
        "1 of 2: b.txt",
        "3 of 5: vectors; words can be searched for already (b.txt)",
    ]
