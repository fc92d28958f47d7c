"""Fact 1 over whole random messages, and that the property notices when the code breaks it."""

from pathlib import Path

import pytest
from cases import Library, cases, leak, reached
from leaks import LEAKS

CASES = 60
CAMPAIGNS = Path(__file__).resolve().parents[1] / "campaigns"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = Library.over(tmp_path_factory.mktemp("library") / "index.db")
    yield made
    made.store.close()


def test_no_message_changes_what_the_summarizer_gets(library):
    assert [leaked for case in cases(library, CASES) if (leaked := leak(library, case))] == []


def test_nine_cases_of_ten_reach_the_summarizer(library):
    share = sum(reached(library, case) for case in cases(library, 200, seed=1)) / 200
    assert share >= 0.9


@pytest.mark.parametrize("name", LEAKS)
def test_every_leak_is_caught(library, monkeypatch, name):
    LEAKS[name](monkeypatch)
    assert any(leak(library, case) for case in cases(library, CASES))


@pytest.fixture
def campaign(monkeypatch):
    monkeypatch.syspath_prepend(str(CAMPAIGNS))
    import noninterference

    return noninterference


def test_the_campaign_counts_what_reaches_and_names_what_leaks(campaign, monkeypatch):
    reached, none = campaign.batch(1, range(10))
    assert reached >= 8
    assert none == []
    LEAKS["in the seed"](monkeypatch)
    _, leaks = campaign.batch(1, range(10))
    assert {what for _, what in leaks} == {"other words, other requests"}
