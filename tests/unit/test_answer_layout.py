"""How quotes are laid out in an answer that is made of them."""

import pytest

from equipoise.core.types import Highlight, Highlights
from equipoise.rag.summarizers.extractive import joined
from equipoise.rag.summarizers.layout import joined_rows, laid_out

COMMANDS = "On the server:\n\n```sh\nrowan password --reset\n\nrowan mail\n```"
COMMANDS_LAID_OUT = "On the server:\n```sh\nrowan password --reset\nrowan mail\n```"
LIST = "Two approve it:\n\n- the manager of the shop,\n  up to 50 pounds,\n- the head of finance."
INI = "[power]\n; minutes without a request after which the worker sleeps\nsleep_after = 10"
YAML = "# Backups\nbackup:\n  # how many days backups are kept before they are deleted\n  keep_days: 35"


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("The mail\nis sent\nat noon.", "The mail is sent at noon."),
        ("> It is\n> due.\n\nIt is free.", "It is due. It is free."),
        (COMMANDS, COMMANDS_LAID_OUT),
        (
            LIST,
            "Two approve it:\n- the manager of the shop, up to 50 pounds,\n- the head of finance.",
        ),
        (
            "- a door:\n    - oil it\n    1. test\n       it\n- a gate",
            "- a door:\n  - oil it\n  1. test it\n- a gate",
        ),
        ("Plan: Free; Price: 0\nPlan: Team; Price: 9", "Plan: Free; Price: 0\nPlan: Team; Price: 9"),
        ("| Plan | Price |\n|---|---|\n| Free | 0 |", "| Plan | Price |\n|---|---|\n| Free | 0 |"),
        (INI, INI),
        (YAML, YAML),
    ],
)
def test_code_lists_tables_and_settings_keep_their_lines_and_prose_flows(quote, shown):
    assert laid_out(quote) == shown
    assert laid_out(shown) == shown


def test_what_comes_behind_code_has_a_line_of_its_own_and_prose_goes_on_in_its_line():
    assert joined_rows([COMMANDS, "The link is\nvalid.", "It is sent."]) == (
        f"{COMMANDS_LAID_OUT}\nThe link is valid. It is sent."
    )
    assert joined_rows(["- tea", "- coffee"]) == "- tea\n- coffee"


def test_each_document_begins_a_line():
    quotes = [Highlight(name, 0, len(INI), INI, f"{name}.ini") for name in ("a", "b")]
    assert joined(Highlights(tuple(quotes)).items) == f"{INI}\n{INI}"
