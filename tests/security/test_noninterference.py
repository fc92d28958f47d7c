"""Fact 1 over whole random messages, and that the property notices when the code breaks it."""

import pytest
from cases import Library, cases, leak, reached
from leaks import LEAKS

CASES = 60


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = Library.over(tmp_path_factory.mktemp("library") / "index.db")
    yield made
    made.store.close()


def test_no_message_changes_what_the_summarizer_gets(library):
    assert [found for one in cases(library, CASES) if (found := leak(library, one))] == []


def test_nine_cases_of_ten_reach_the_summarizer(library):
    share = sum(reached(library, one) for one in cases(library, 200, seed=1)) / 200
    assert share >= 0.9


@pytest.mark.parametrize("name", LEAKS)
def test_every_leak_is_caught(library, monkeypatch, name):
    LEAKS[name](monkeypatch)
    assert any(leak(library, one) for one in cases(library, CASES))
