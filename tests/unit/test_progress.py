"""Progress where there is no terminal."""

from equipoise.apps import progress


def test_without_a_terminal_a_line_now_and_then(monkeypatch, capsys):
    clock = iter([0.0, 3.0, 10.0, 12.0, 20.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    with progress.passages() as report:
        for done in range(1, 5):
            report(done, 1_000, f"file {done}\n")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == ["2 of 1,000: file 2\\n", "4 of 1,000: file 4\\n"]
