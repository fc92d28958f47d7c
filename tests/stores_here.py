"""A new store of each kind, for tests that hold for all of them."""

from itertools import count

import pytest

from equipoise.core.addresses import StoreUrl

NUMBERS = count(1)


@pytest.fixture(scope="session")
def cluster():
    """A Postgres that runs for the session; skips where there is none."""
    from postgres_server import Cluster

    with Cluster() as running:
        yield running


@pytest.fixture
def new_place(request, tmp_path):
    """A function of a kind of store: where a new one may be."""

    def made(kind):
        if kind == "sqlite":
            return tmp_path / f"store{next(NUMBERS)}.db"
        return StoreUrl(request.getfixturevalue("cluster").primary.url(f"store{next(NUMBERS)}"))

    return made
