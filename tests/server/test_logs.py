"""The server's log: a flood of failures is a line a minute for each kind."""

import logging

import pytest

from equipoise.apps.server import logs
from equipoise.apps.server.errors import as_api_error


@pytest.fixture
def lines(monkeypatch):
    """What reaches the log, and `lines.clock`, the time that it goes by."""
    seen = []

    class Kept(logging.Handler):
        def emit(self, record):
            seen.append(record.getMessage())

    class Lines:
        clock = 0.0
        said = seen

    handler, logger = Kept(), logging.getLogger("equipoise")
    handler.addFilter(logs.OncePerMinute())
    monkeypatch.setattr(logs.time, "monotonic", lambda: Lines.clock)
    monkeypatch.setattr(logger, "level", logging.INFO)
    logger.addHandler(handler)
    yield Lines
    logger.removeHandler(handler)


def test_a_kind_of_failure_is_one_line_a_minute_and_the_next_counts_those_between(lines):
    for number in range(500):
        as_api_error(ValueError(f"number {number}"))
        as_api_error(KeyError("another kind"))
    assert [line.partition(" (and")[0] for line in lines.said] == [
        "a request failed: ValueError: number 0",
        "a request failed: KeyError: 'another kind'",
    ]
    lines.clock += logs.MINUTE_S
    as_api_error(ValueError("again"))
    assert lines.said[-1] == "a request failed: ValueError: again (and 499 more like it before)"


def test_what_is_no_failure_is_always_said(lines):
    for _ in range(3):
        logging.getLogger("equipoise").info("ready")
    assert lines.said == ["ready"] * 3


def test_no_flood_of_kinds_fills_the_memory(lines, monkeypatch):
    monkeypatch.setattr(logs, "MOST_KINDS", 10)
    only = logs.OncePerMinute()
    for number in range(100):
        assert only.filter(logging.makeLogRecord({"levelno": logging.ERROR, "msg": f"kind {number}"}))
        assert len(only._last) <= 11
