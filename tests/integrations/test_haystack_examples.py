"""The example for Haystack runs, and everything on its page does."""

import os

import pytest

from howto_pages import check_commands, run_blocks, run_example

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
pytest.importorskip("haystack")
PAGE = "integrations-haystack.md"


def test_the_example_answers_offline(monkeypatch, capsys):
    run_example(monkeypatch, "haystack_pipeline.py", "Does SQLite support foreign keys?")
    said = capsys.readouterr().out
    assert "SQLite supports [foreign key constraints]" in said
    assert "- faq.md, " in said


def test_every_block_of_the_page_runs(capsys):
    names = run_blocks(PAGE)
    said = capsys.readouterr().out
    assert "The bridge is 212 metres long." in said
    assert "According to anybody.txt (untrusted): “The Blackwater lake is 31 metres deep.”" in said
    assert names["loaded"].to_dict()["components"] == names["pipeline"].to_dict()["components"]


def test_its_commands_name_what_is_there():
    check_commands(PAGE, "haystack")
