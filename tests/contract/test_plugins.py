"""Parts of other packages: found by their entry points, named like ours, imported when asked for, and refused in one
sentence where they break the contract of docs/extensions.md."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from equipoise.apps import cli
from equipoise.core import plugins
from equipoise.core.errors import InputError
from equipoise.core.guarded import needs_consent
from equipoise.core.settings import FilterSettings, HighlightSettings, Settings
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.filters import NoFilter, QuotaFilter
from equipoise.rag.library import Library
from equipoise.testing import DOCUMENTS, QUESTION, check_highlighter
from hashed_words import HashedWords

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extensions.md"
LONGEST = "The limit for opening a hive is -5 °C"
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
BREAKS = """
class NoMaker: pass
class NoHighlighter:
    @classmethod
    def from_components(cls, components): return cls()
filter = NoHighlighter
app = "not a typer"
"""


def blocks(kind):
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```", PAGE.read_text("utf-8"))


def example():
    """The module of the page, and its entry points as an installer writes them."""
    (module,) = [block for block in blocks("python") if "class LongestSentence" in block]
    (declared,) = [block for block in blocks("toml") if "entry-points" in block]
    points = re.sub(r'\[project\.entry-points\."(.+?)"\]', r"[\1]", declared).replace('"', "")
    return module, points


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A function that puts a package of another author on sys.path, with the metadata of an installed one."""

    def install(module, points, name="longest"):
        folder = tmp_path / name
        about = folder / f"{name}-1.0.dist-info"
        about.mkdir(parents=True)
        (folder / f"{name}.py").write_text(module, "utf-8")
        (about / "METADATA").write_text(METADATA.format(name=name), "utf-8")
        (about / "entry_points.txt").write_text(points, "utf-8")
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, name, raising=False)

    yield install
    for name in ("longest", "other", "broken"):
        sys.modules.pop(name, None)


@pytest.fixture
def components(tmp_path):
    with Store.open(tmp_path / "index.db", create=True) as store:
        yield Components(Settings(), store, HashedWords())


def test_the_highlighter_of_the_page_answers_by_its_name(installed, tmp_path):
    installed(*example())
    settings = Settings(highlight=HighlightSettings(name="longest"))
    with Library.create(tmp_path / "index.db", settings=settings, chat=None) as library:
        library.add(DOCUMENTS)
        assert LONGEST in library.ask(QUESTION).text
        check_highlighter(build.highlighter(library.components), finds=False)


def test_a_filter_of_another_package_is_within_the_quotas(installed, components):
    installed(
        "from equipoise.rag.filters import NoFilter as Mine", "[equipoise.filters]\nmine = longest:Mine\n"
    )
    made = build.passage_filter(_with(components, "filter", FilterSettings(name="mine")))
    assert isinstance(made, QuotaFilter)
    assert isinstance(made.inner, NoFilter)


def test_the_command_of_the_page_runs_and_stands_in_the_help(installed, run):
    installed(*example())
    assert run("hello", "Ada") == (0, "Hello, Ada\n", "")
    assert re.search(r"hello +From longest\.", run("--help")[1])


def test_nothing_is_imported_to_answer_with_our_own_parts(installed, components, run):
    installed("raise SystemExit('imported')", "[equipoise.highlighters]\nreader = longest:app\n"
              "[equipoise.commands]\ninit = longest:app\n")  # fmt: skip
    assert type(build.highlighter(components)).__module__.startswith("equipoise.")
    assert run("init")[0] == 0


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("broken:Missing", r"'x' of broken cannot be loaded \(AttributeError: .*install that package again"),
        ("not_there:Part", r"'x' of broken cannot be loaded \(ModuleNotFoundError: "),
        ("broken:NoMaker", r"the highlighter 'x' of another package has no from_components"),
        ("broken:NoHighlighter", r"highlighter is of type NoHighlighter, which lacks async highlight"),
    ],
)
def test_a_part_that_breaks_the_contract_is_refused_in_one_sentence(installed, components, place, said):
    installed(BREAKS, f"[equipoise.highlighters]\nx = {place}\n", "broken")
    with pytest.raises(InputError, match=said):
        build.highlighter(_with(components, "highlight", HighlightSettings(name="x")))


def test_a_command_that_is_none_is_refused(installed, run):
    installed(BREAKS, "[equipoise.commands]\nx = broken:app\n", "broken")
    code, out, said = run("x")
    assert (code, out) == (2, "")
    assert "the command 'x' of another package is not a typer.Typer" in said


def test_two_packages_with_one_name_are_refused_by_both_names(installed, components):
    installed(*example())
    installed("class Other: pass", "[equipoise.highlighters]\nlongest = other:Other\n", "other")
    with pytest.raises(InputError, match=r"longest and other both name 'longest' in equipoise\.highlighters"):
        build.highlighter(_with(components, "highlight", HighlightSettings(name="longest")))


def test_an_unknown_name_lists_those_of_other_packages_too(installed, components):
    installed(*example())
    with pytest.raises(
        InputError, match=r"there is no highlighter 'no-such': choose one of sentence, .*longest"
    ):
        build.highlighter(_with(components, "highlight", HighlightSettings(name="no-such")))


def test_a_command_that_moved_says_where_it_is(monkeypatch, run):
    monkeypatch.setattr(plugins.metadata, "entry_points", lambda group: [])
    monkeypatch.setattr(cli, "COMMANDS", {"ask": cli.COMMANDS["ask"]})
    for name in cli.MOVED:
        code, _, said = run(name)
        assert code == 2
        assert f"'{name}' is a command of equipoise-lab: run  pip install equipoise-lab" in said


@pytest.mark.parametrize(("section", "table"), [("filter", build.FILTERS), ("highlight", build.HIGHLIGHTERS)])
def test_a_folder_s_file_chooses_our_parts_freely_and_those_of_others_with_consent(section, table, tmp_path):
    field = type(Settings.model_fields[section].default).model_fields["name"]
    assert not [name for name in (build.AUTO, *table) if needs_consent(field, name, tmp_path)]
    assert needs_consent(field, "longest", tmp_path)


def _with(components, section, chosen):
    return replace(components, settings=components.settings.model_copy(update={section: chosen}))
