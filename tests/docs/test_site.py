"""The site: its navigation, its reference, its generated tables, and that it builds without a warning."""

import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import equipoise
from equipoise import testing
from equipoise.core import protocols
from equipoise.core.results import Reason

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import docs_site  # noqa: E402

CONFIG = ROOT / "zensical.toml"
MODULES = (
    "core.protocols",
    "core.types",
    "core.results",
    "core.settings",
    "core.sections",
    "core.errors",
    "testing",
)
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?(https?:)?//|<link\b[^>]*\bhref=\"?(https?:)?//"
)
"""What a browser would ask another host for."""
LONGEST = 600
"""Seconds: nothing takes so long on any machine."""


def leaves(nav):
    for entry in nav:
        for value in entry.values():
            yield from leaves(value) if isinstance(value, list) else [value]


def public():
    """The full names that the reference must have."""
    yield from (f"equipoise.{name}" for name in equipoise.__all__)
    yield from (f"equipoise.testing.{name}" for name in testing.__all__)
    for name, value in vars(protocols).items():
        if getattr(value, "_is_protocol", False) and value.__module__ == protocols.__name__:
            yield f"{protocols.__name__}.{name}"


@pytest.fixture(scope="module")
def nav():
    return list(leaves(tomllib.loads(CONFIG.read_text("utf-8"))["project"]["nav"]))


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    docs_site.main(folder / "build" / "docs")
    return folder


def test_the_navigation_has_every_page_of_docs_once(nav, laid_out):
    """Of pages from elsewhere only those that it names: the others are reached by links."""
    there = {str(path.relative_to(laid_out / "build" / "docs")) for path in laid_out.rglob("*.md")}
    assert len(nav) == len(set(nav))
    assert set(nav) <= there
    assert {name for name in there if not name.startswith("repository/")} <= set(nav)


@pytest.mark.parametrize(
    ("text", "site"),
    [
        ("[a](../README.md)", "[a](index.md)"),
        ("[a](../benchmarks/LOG.md#serving)", "[a](repository/benchmarks/LOG.md#serving)"),
        ("[`c.py`](../src/c.py), [c](../src/d.py)", "`src/c.py`, c (`src/d.py`)"),
        ("[d](guide.md#answers) ![e](pictures/e.png)", "[d](guide.md#answers) ![e](pictures/e.png)"),
        ("`[f](../f.md)` [g](https://example.org)", "`[f](../f.md)` [g](https://example.org)"),
    ],
)
def test_links_out_of_docs_are_moved(text, site):
    assert docs_site.moved(text, "docs/extensions.md") == site


def test_links_into_docs_are_moved():
    assert docs_site.moved("[a](docs/guide.md)", "CONTRIBUTING.md") == "[a](../guide.md)"


def test_the_reference_has_every_public_name(laid_out):
    pages = (laid_out / "build" / "docs" / "reference").glob("*.md")
    shown = re.findall(r"(?m)^::: equipoise\.([\w.]+)$", "\n".join(page.read_text("utf-8") for page in pages))
    assert set(equipoise.__all__) <= set(shown)
    assert set(MODULES) <= set(shown)


def test_the_commands_are_those_of_the_command_line(laid_out):
    page = (laid_out / "build" / "docs" / "reference" / "commands.md").read_text("utf-8")
    assert {"## equipoise ask", "## equipoise keys create", "## equipoise documents trust"} <= set(
        page.splitlines()
    )
    assert "`--highlighter`" in page


def test_every_reason_for_a_refusal_is_explained():
    page = (ROOT / "docs" / "concepts.md").read_text("utf-8")
    assert [reason for reason in Reason if f"| `{reason.value}` |" not in page] == []


@pytest.mark.skipif(
    find_spec("zensical") is None or find_spec("mkdocstrings_handlers") is None,
    reason="make docs installs these",
)
def test_it_builds_without_a_warning_and_asks_no_other_host(laid_out):
    config = CONFIG.read_text("utf-8").replace('paths = ["src"]', f"paths = ['{ROOT / 'src'}']")
    (laid_out / "zensical.toml").write_text(config, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=laid_out,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "No issues found" in said
    assert not re.search(r"(?i)warning|error", said), said
    pages = {path: path.read_text("utf-8") for path in (laid_out / "site").rglob("*.html")}
    assert [path for path, text in pages.items() if LOADED.search(text)] == []
    shown = "\n".join(pages.values())
    assert [name for name in public() if f'id="{name}"' not in shown] == []
