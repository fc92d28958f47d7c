"""The example for LlamaIndex runs offline, as it is written, and everything on its page does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from howto_pages import run_blocks

pytest.importorskip("llama_index.core")

from equipoise.integrations import llamaindex

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "llamaindex_engine.py"


def test_the_example_answers_and_refuses(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "SQLite is threadsafe" in done.stdout
    assert "refused: The documents do not seem to answer this question." in done.stdout


def test_every_block_of_the_page_runs(capsys):
    run_blocks("integrations-llamaindex.md")
    said = capsys.readouterr().out
    assert "The branch manager may approve a refund." in said
    assert "According to anybody.txt (untrusted): “The Blackwater lake is 31 metres deep.”" in said


def test_every_part_in_the_table_of_the_page_is_made_as_it_is_written():
    page = (ROOT / "docs" / "integrations-llamaindex.md").read_text("utf-8")
    written = re.findall(r"^\| `([A-Z]\w+)\(([^`]*)\)` \|", page, re.MULTILINE)
    assert [name for name, _ in written] == ["Filter", "Highlighter", "Synthesizer", "QueryEngine"]
    for name, arguments in written:
        eval(f"{name}({arguments})", vars(llamaindex).copy())
