"""Fixtures of the unit tests: the command line in this process, a chat server on the loopback."""

import sys

import pytest

from chat_server import ChatServer
from equipoise.apps import cli


def command_line(monkeypatch, capsys):
    """A function that runs `equipoise ARGS` in the current folder and returns (exit code, stdout, stderr)."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["equipoise", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return call


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run `equipoise ARGS` in an empty folder; returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    for name in ("CACHE", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("COLUMNS", "160")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)

    return command_line(monkeypatch, capsys)


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


@pytest.fixture
def run_here(monkeypatch, capsys):
    """`equipoise ARGS` in the current folder; (exit code, stdout, stderr)."""
    monkeypatch.setenv("COLUMNS", "200")
    return command_line(monkeypatch, capsys)
