"""Fixtures every kind of test shares."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real measuring data beside a checkout; tests that need it skip without it."""
    folder = Path(os.environ.get("EQUIPOISE_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the measuring data is not beside this checkout")
    return folder
