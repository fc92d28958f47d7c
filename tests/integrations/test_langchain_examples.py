"""The example for LangChain runs, and everything on its page does."""

import pytest

from howto_pages import check_commands, run_blocks, run_example

pytest.importorskip("langchain_core")
PAGE = "integrations-langchain.md"


def test_the_example_answers_offline(monkeypatch, capsys):
    run_example(monkeypatch, "langchain_chain.py", "Does SQLite support foreign keys?")
    said = capsys.readouterr().out
    assert "SQLite supports [foreign key constraints]" in said
    assert "- faq.md: " in said


def test_every_block_of_the_page_runs(capsys):
    run_blocks(PAGE)
    said = capsys.readouterr().out
    assert "The bridge is 212 metres long." in said
    assert "The Harlow bridge, opened in 1874, is 212 metres long.\n" in said  # the model's answer, no quote
    assert "According to anybody.txt (untrusted): “The Blackwater lake is 31 metres deep.”" in said


def test_its_commands_name_what_is_there():
    check_commands(PAGE, "langchain")
