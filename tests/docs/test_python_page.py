"""Every block of docs/python.md runs, in its order, and shows what the page says."""

import re
from pathlib import Path

import pytest

from equipoise import Document, Library
from equipoise.core import settings as layers
from equipoise.core.errors import CorpusError
from equipoise.rag import library as shelf
from equipoise.rag import updating

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
REFUND = "A refund may be approved by the head of the office, and by nobody else in the house."


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "refunds.md").write_text(f"# Refunds\n\n{REFUND}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_runs(here, capsys):
    names: dict[str, object] = {}
    said = []
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", PAGE.read_text("utf-8")):
        exec(compile(block, str(PAGE), "exec"), names)
        said.append(capsys.readouterr().out)
    assert len(said) == 8
    assert REFUND in said[0] and "refunds.md" in said[0]
    assert "leaves the harbour at nine" in said[1]
    assert said[2] == "['ferry', 'refunds', 'shetland']\n"
    filtered = said[3].splitlines()
    assert "five working days" in filtered[0]
    assert filtered[1] in ("nothing highlighted", "nothing retrieved")
    assert "salaries" not in filtered[2] and "refunds" in filtered[2]
    assert said[4] == ""
    assert "five working days" in said[5]
    assert "five working days" in said[6] and said[6].endswith("refunds\n")
    assert REFUND in said[7]
    assert (here / layers.load().settings.store.path).is_file()


def test_library_and_command_line_have_the_same_index(here, monkeypatch):
    Library.create().close()
    (here / "equipoise.toml").write_text("")
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    with Library.open() as opened:
        assert opened.store.path == layers.load().settings.store.path
        assert opened.store.path.samefile(here / ".equipoise" / "index.db")


def test_where_nothing_can_be_read_no_empty_index_is_left(here):
    (here / "empty").mkdir()
    for path in (here / "new" / "index.db", here / "index.db"):
        with pytest.raises(CorpusError, match="no file to index"):
            updating.update(path, [here / "empty"])
        assert not path.exists()
    assert not (here / "new").exists()
    updating.update(here / "index.db", [here / "handbook"])
    with pytest.raises(CorpusError):
        updating.update(here / "index.db", [here / "empty"])
    with Library.open(here / "index.db") as kept:
        assert len(kept.documents()) == 1


def test_an_index_of_docs_never_has_paths_of_another_folder(here, monkeypatch):
    said = {}
    for folder in (here, here / "handbook"):
        monkeypatch.chdir(folder)
        result = shelf.ask("Who may approve a refund?", docs=here / "handbook")
        said[folder] = {item.source for item in result.highlights.items}
        assert all(Path(source).is_file() for source in said[folder])
    assert said[here] == {"handbook/refunds.md"} and said[here / "handbook"] == {"refunds.md"}


def test_upsert_is_all_or_nothing(here):
    with Library.from_texts(["The ferry leaves the harbour at nine in the morning."]) as library:
        (before,) = library.documents()
        text = "The ferry leaves the harbour at ten in the morning."
        broken = Document("other", "Half a pair: \ud800.", "other")
        with pytest.raises(CorpusError):
            library.upsert([Document(before.doc_id, text, before.source), broken])
        assert library.documents() == (before,)
        assert library.upsert([Document(before.doc_id, text, before.source)]) == 1
        assert library.store.document(before.doc_id).text == text
        with pytest.raises(CorpusError, match="already"):
            library.add([Document(before.doc_id, text, before.source)])
        place = library.store.path
        assert place.exists()
    assert not place.exists()
