"""Fixtures every kind of test shares."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads that spin spoil every timing
import tempfile
from pathlib import Path

import pytest

from equipoise.core import settings as layers
from equipoise.models import weights
from equipoise.rag import build

_NO_SETTINGS = tempfile.TemporaryDirectory()
os.environ["XDG_CONFIG_HOME"] = _NO_SETTINGS.name  # the developer's own settings are not those of the tests
REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real measuring data beside a checkout; tests that need it skip without it."""
    folder = Path(os.environ.get("EQUIPOISE_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the measuring data is not beside this checkout")
    return folder


@pytest.fixture(scope="module")
def local_chat(tmp_path_factory):
    """The real local model, loaded once for a module; tests that need it skip where it is not on this disk."""
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'equipoise[local]'")
    chosen = layers.load({"model.llm": "local"}, folder=tmp_path_factory.mktemp("no-settings")).settings.model
    if weights.find(build.DEFAULT_LOCAL, folder=chosen.folder) is None:
        pytest.skip(f"no weights here: run  equipoise models pull {build.DEFAULT_LOCAL}")
    chat = build.chat_model(chosen.model_copy(update={"replay": None}))
    yield chat
    chat.close()
