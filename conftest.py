"""Fixtures every kind of test shares, those of the laboratory too: settings, data sets, the command line, a chat
server on the loopback."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads that spin spoil every timing
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each program a test starts would compile the whole package
import sys
import tempfile
from pathlib import Path
from queue import Empty

import pytest
from hypothesis import HealthCheck, settings

from chat_server import ChatServer
from equipoise.apps import cli
from equipoise.core import settings as layers
from equipoise.corpus import workers
from equipoise.models import weights
from equipoise.models.crossencoder import CrossEncoder
from equipoise.models.encoder import DATA, EmbeddedEncoder
from equipoise.rag import build, chats

TESTS = Path(__file__).resolve().parent / "tests"
SHIPPED = TESTS / "fixtures"
REAL = Path(os.environ.get("EQUIPOISE_SHARED_DATA", TESTS.parents[1] / "shared" / "data"))
_NO_SETTINGS = tempfile.TemporaryDirectory()
os.environ["XDG_STATE_HOME"] = _NO_SETTINGS.name
os.environ["XDG_CONFIG_HOME"] = _NO_SETTINGS.name  # the developer's own settings are not those of the tests
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(
    "any machine"
)  # how long an example takes says something about the machine, not about us


def pytest_collection_modifyitems(items):
    """A long test that begins last is waited for."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(
    scope="session",
    params=[SHIPPED, REAL] if REAL.is_dir() else [SHIPPED],
    ids=["shipped", "real"][: 1 + REAL.is_dir()],
)
def sample_data(request) -> Path:
    """A folder of data sets: the one in miniature that is shipped, and the measuring data where it is."""
    return request.param


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The measuring data, for what is true of nothing else; without it, these tests skip."""
    if not REAL.is_dir():
        pytest.skip("the measuring data is not beside this checkout")
    return REAL


@pytest.fixture(scope="session", autouse=True)
def _loaded_once():
    """The package's own models are loaded once a process, not by each command that a test runs in it: half a second for
    each. Those in other folders are loaded as ever."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (EmbeddedEncoder, CrossEncoder):
            patch.setattr(kind, "_session", _once(kind._session))
        yield


def _once(load):
    sessions = []

    def session(model):
        if model._folder != DATA:
            return load(model)
        if not sessions:
            sessions.append(load(model))
        return sessions[0]

    return session


@pytest.fixture(scope="session", autouse=True)
def end_readers():
    """The processes that read files are started once a process of tests, not by each run that indexes: 0.2 s of
    processor time for each. This is a function that ends them, for tests of how they start."""
    kept, start, close, module = [], workers.Readers._start, workers.Readers.close, workers.MODULE

    def started(readers):
        while module == workers.MODULE and kept and not readers._closed:
            if (process := kept.pop()).is_alive():
                readers._started.append(process)
                return process
        return start(readers)

    def closed(readers):
        while module == workers.MODULE:
            try:
                process = readers._idle.get_nowait()
            except Empty:
                break
            readers._started.remove(process)
            kept.append(process)
        close(readers)

    def end():
        while kept:
            kept.pop().end()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers.Readers, "_start", started)
        patch.setattr(workers.Readers, "close", closed)
        yield end
    end()


@pytest.fixture(scope="module")
def local_chat(tmp_path_factory):
    """The real local model, loaded once for a module; tests that need it skip where it is not on this disk."""
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'equipoise[local]'")
    chosen = layers.load({"model.llm": "local"}, folder=tmp_path_factory.mktemp("no-settings")).settings.model
    if weights.find(chats.DEFAULT_LOCAL, folder=chosen.folder) is None:
        pytest.skip(f"no weights here: run  equipoise models pull {chats.DEFAULT_LOCAL}")
    chat = build.chat_model(chosen.model_copy(update={"replay": None}))
    yield chat
    chat.close()


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
