"""The field benchmark's own files: sets that are pinned, questions that are well formed, outcomes that are counted."""

import json
import re
import sys
import zipfile
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from equipoise.core.errors import CorpusError, InputError
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.types import Highlight, Highlights

FIELD = Path(__file__).resolve().parents[2] / "benchmarks" / "field"
NAMES = ("sets", "questions", "check", "tables", "make", "fetch", "run")
KEPT_APART = (
    "doc-debian",
    "debian-policy",
    "developers-reference",
    "git-doc",
    "linux-doc",
    "debian-handbook",
    "distro-info-data",
    "shared-mime-info",
    "libtasn1-doc",
    "nodejs-doc",
)


@pytest.fixture
def field(monkeypatch: pytest.MonkeyPatch):
    """The scripts as modules; forgotten again after the test, because their names are short."""
    monkeypatch.syspath_prepend(str(FIELD))
    for name in NAMES:
        monkeypatch.delitem(sys.modules, name, raising=False)

    def module(name: str) -> ModuleType:
        return __import__(name)

    yield module
    for name in NAMES:
        sys.modules.pop(name, None)


def test_every_set_is_pinned_free_and_not_one_that_is_kept_apart(field):
    for one in field("sets").load():
        assert one.half in field("sets").HALVES
        assert one.licence
        for package in one.packages:
            assert re.fullmatch(r"[0-9a-f]{64}", package.sha256)
            assert package.version
            assert not package.name.startswith(KEPT_APART)


def test_the_questions_are_well_formed_and_a_third_of_each_half_but_the_sixth_has_no_answer(field):
    sets, questions = field("sets"), field("questions")
    for half in sets.HALVES[:-1]:
        asked = [q for one in sets.chosen((), half=half) for q in questions.load(one.name)]
        kinds = Counter(question.kind for question in asked)
        assert len(asked) >= 105
        assert len({question.id for question in asked}) == len(asked)
        assert len({question.question for question in asked}) == len(asked)
        assert set(kinds) == {*questions.ANSWERED, *questions.UNANSWERED}
        assert 0.3 <= (kinds["none"] + kinds["near_miss"]) / len(asked) <= 0.4


def test_the_sixth_part_is_a_third_vague_and_a_fifth_without_an_answer(field):
    sets, questions = field("sets"), field("questions")
    mix = {"plain": 4, "vague": 4, "misspelt": 1, "one_word": 1, "follow_up": 1, "several_documents": 1}
    mix |= {"near_miss": 3}
    chosen = sets.chosen((), half="sixth")
    asked = [question for one in chosen for question in questions.load(one.name)]
    assert len(chosen) == 12
    assert {one.language for one in chosen} == {"en", "de", "zh"}
    assert len(asked) == 180
    assert sum(question.vague for question in asked) == 60
    assert sum(not question.answerable for question in asked) == 36
    assert all(question.absent for question in asked if not question.answerable)
    assert all(Counter(q.kind for q in questions.load(one.name)) == mix for one in chosen)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "none"}, "does not go with answerable"),
        ({"gold": []}, "gold patterns"),
        ({"gold": ["(a+)+b"]}, "repeats a repeat"),
        ({"gold": ["(a"]}, "not a regular expression"),
        ({"before": ["Who?"]}, "follow-up"),
        ({"colour": "red"}, "colour"),
        ({"vague": "yes"}, "vague is true or left out"),
        ({"set": "other"}, "not the file's"),
    ],
)
def test_a_row_that_is_no_question_is_refused_with_file_and_line(field, tmp_path, change, told):
    row = {"id": "x-1", "set": "x", "question": "Who?", "kind": "plain", "answerable": True}
    row |= {"gold": ["the mayor"], "files": ["a.txt"]} | change
    (tmp_path / "x.jsonl").write_text(json.dumps(row), "utf-8")
    with pytest.raises(InputError, match=f"x.jsonl:1: .*{told}"):
        field("questions").load("x", tmp_path)


def test_a_space_in_a_pattern_is_any_white_space_or_none(field):
    pattern = field("questions").pattern("by the Mayor")
    assert pattern.search("elected by\n the mayor")
    assert pattern.search("electedbythemayor")
    assert not pattern.search("by a mayor")


def test_the_check_finds_patterns_that_do_not_match_and_absent_ones_that_do(field, tmp_path):
    (tmp_path / "a.txt").write_text("Plant 3 makes steel. " + "Plants work. " * 20, "utf-8")
    question = field("questions").Question
    good = question("x-1", "x", "q", "plain", True, ("makes steel",), ("a.txt",))
    bad = question("x-2", "x", "q", "plain", True, ("makes paper",), ("a.txt",))
    loose = question("x-3", "x", "q", "plain", True, ("plants work",), ("a.txt",))
    gone = question("x-4", "x", "q", "plain", True, ("makes steel",), ("b.txt",))
    near = question("x-5", "x", "q", "near_miss", False, absent=("plant 12",))
    there = question("x-6", "x", "q", "near_miss", False, absent=("plant 3",))
    told = list(field("check").check([good, bad, loose, gone, near, there], tmp_path))
    assert [fault.split(":")[0] for fault in told] == ["x-2", "x-3", "x-4", "x-4", "x-6"]


def test_a_follow_up_is_asked_with_the_questions_before_it(field, tmp_path):
    asked = []

    class Library:
        def ask(self, question, *, before=()):
            asked.append((question, before))
            return Refusal(Reason.NOTHING_HIGHLIGHTED, "no")

    question = field("questions").Question(
        "x-1", "x", "And who?", "follow_up", True, ("a",), ("b",), ("Who?",)
    )
    row = field("run")._row(question, Library(), tmp_path)
    assert (asked, row["outcome"]) == ([("And who?", ("Who?",))], "wrongly_refused")


def test_outcomes(field):
    question, outcome = field("questions").Question, field("run").outcome
    asked = question("x-1", "x", "q", "plain", True, ("makes steel",), ("a.txt",))
    empty = question("x-2", "x", "q", "none", False)
    quotes = [Highlight("d", 0, 5, "Hello", "a.txt"), Highlight("d", 9, 30, "Plant 3 makes steel.", "a.txt")]
    right, wrong = Answer("", Highlights(tuple(quotes))), Answer("", Highlights((quotes[0],)))
    refused = Refusal(Reason.NOTHING_HIGHLIGHTED, "no")
    assert [outcome(asked, one) for one in (right, wrong, refused)] == [
        "right",
        "wrong_quote",
        "wrongly_refused",
    ]
    assert [outcome(empty, one) for one in (right, refused)] == ["wrongly_answered", "rightly_refused"]


def test_a_quote_of_more_than_120_words_is_never_right_and_the_words_shown_are_counted(field, tmp_path):
    asked = field("questions").Question("x-1", "x", "q", "plain", True, ("makes steel",), ("a.txt",))
    name = str(tmp_path / "a.txt")
    short, long = ("makes steel " + "and so on " * 39 + "x " * more for more in (1, 2))
    ended = []
    for text in (short, long):
        answer = Answer("", Highlights((Highlight("d", 0, len(text), text, name),)))
        row = field("run").row_of(asked, answer, tmp_path, 0.5)
        ended.append((row["outcome"], row["quotes_right"], row["parts"], row["words"]))
    assert ended == [("right", [1], 1, [120]), ("wrong_quote", [], 0, [121])]


@pytest.mark.parametrize(
    ("text", "count"),
    [("Plant 3 makes steel.", 4), ("zone: UTC+1 | 22.5", 3), ("安装 stable。句号", 5), ("", 0)],
)
def test_words_stand_between_spaces_and_each_chinese_character_is_one(field, text, count):
    assert field("run").words(text) == count


def test_vague_questions_stand_apart_and_the_words_shown_below_where_rows_have_them(field):
    page = field("tables").page
    rows = [
        {"set": "x", "kind": "plain", "vague": False, "outcome": "right", "words": [30, 10]},
        {"set": "x", "kind": "vague", "vague": True, "outcome": "wrong_quote", "words": [20]},
        {"set": "x", "kind": "near_miss", "vague": True, "outcome": "rightly_refused", "words": []},
    ]
    told = page(rows)
    lines = [[cell.strip() for cell in line.split("|")] for line in told.splitlines()]
    counted = {line[1]: line[2:8] for line in lines if len(line) > 3}
    assert counted["vague"] == ["2", "0", "1", "0", "1", "0"]
    assert counted["not vague"] == ["1", "1", "0", "0", "0", "0"]
    assert told.endswith("Words shown by an answer: 30 in the median, 40 at most.")
    old = page([{key: row[key] for key in ("set", "kind", "outcome")} for row in rows])
    assert "wording" not in old
    assert "Words shown" not in old


def test_a_question_may_be_vague_without_an_answer_and_one_of_that_kind_always_is(field, tmp_path):
    row = {"id": "x-1", "set": "x", "question": "and now?", "kind": "near_miss", "answerable": False}
    gold = {"gold": ["a"], "files": ["a.txt"], "answerable": True}
    rows = [row, row | {"vague": True}, row | gold | {"kind": "vague"}, row | gold | {"kind": "plain"}]
    (tmp_path / "x.jsonl").write_text("\n".join(json.dumps(one) for one in rows), "utf-8")
    assert [one.vague for one in field("questions").load("x", tmp_path)] == [False, True, True, False]


def test_a_row_holds_no_text_of_the_documents(field, tmp_path):
    asked = field("questions").Question(
        "x-1", "x", "secret words?", "plain", True, ("makes steel",), ("a.txt",)
    )
    quote = Highlight("d", 9, 30, "Plant 3 makes steel.", str(tmp_path / "a.txt"))
    row = field("run").row_of(asked, Answer("It makes steel.", Highlights((quote,))), tmp_path, 0.5)
    assert row["quotes"] == [["a.txt", 9, 30]]
    assert row["quotes_right"] == [1]
    assert "steel" not in json.dumps(row)
    assert "secret" not in json.dumps(row)


def test_a_page_becomes_a_word_file_with_its_headings_lists_tables_and_code(field, tmp_path):
    docx = pytest.importorskip("docx")
    page = tmp_path / "page.html"
    page.write_text(
        "<title>Bread</title><body><div class=toc>Loose <b>text</b><p>and more</p></div><h2>Baking</h2><ul><li>Knead"
        "<ul><li>long</li></ul></li></ul><table><tr><td>Oven</td><td>220</td></tr></table><pre>a\n b</pre></body>",
        "utf-8",
    )
    field("make").docx_of(page, tmp_path / "page.docx")
    word = docx.Document(str(tmp_path / "page.docx"))
    texts = [(p.style.name, p.text) for p in word.paragraphs]
    assert texts == [
        ("Normal", "Loose text"),
        ("Normal", "and more"),
        ("Heading 2", "Baking"),
        ("List Bullet", "Knead"),
        ("List Bullet", "long"),
        ("No Spacing", "a\n b"),
    ]
    assert [[cell.text for cell in row.cells] for row in word.tables[0].rows] == [["Oven", "220"]]
    assert word.core_properties.title == "Bread"
    with zipfile.ZipFile(tmp_path / "page.docx") as archive:
        assert {part.date_time for part in archive.infolist()} == {(2020, 1, 1, 0, 0, 0)}


def test_a_question_is_asked_once_in_all_parts_and_no_package_belongs_to_two_of_them(field):
    sets, questions = field("sets"), field("questions")
    asked = [
        question.question
        for one in sets.load()
        for question in questions.load(one.name)
        if not question.before
    ]
    homes = {package.name: set() for one in sets.load() for package in one.packages}
    for one in sets.load():
        for package in one.packages:
            homes[package.name].add(one.half)
    assert [question for question, count in Counter(asked).items() if count > 1] == []
    assert [name for name, halves in homes.items() if len(halves) > 1] == []


def test_the_sets_kept_apart_are_asked_only_by_name(field, capsys):
    wanted, sets = field("run")._wanted, field("sets")
    later, sixth = ({one.name for one in sets.chosen((), half=half)} for half in ("later", "sixth"))
    assert {one.name for one in wanted([], "later")} == later
    assert {one.name for one in wanted([], "sixth")} == sixth
    assert [one.name for one in wanted(["signalk"], None)] == ["signalk"]
    assert capsys.readouterr().err == ""
    assert {one.name for one in wanted([], None)} == {one.name for one in sets.load()} - later - sixth
    assert "--half later or --half sixth" in capsys.readouterr().err


@pytest.mark.parametrize("half", ["unseen", "later"])
def test_every_unseen_and_later_set_has_the_same_mix_of_kinds(field, half):
    sets, questions = field("sets"), field("questions")
    mix = {"plain": 3, "vague": 2, "misspelt": 1, "one_word": 1, "follow_up": 1, "several_documents": 1}
    mix |= {"near_miss": 3, "none": 2}
    chosen = sets.chosen((), half=half)
    assert len(chosen) == 10
    for one in chosen:
        asked = questions.load(one.name)
        assert Counter(question.kind for question in asked) == mix
        assert all(question.absent for question in asked if not question.answerable)


def test_a_scoped_npm_package_has_the_file_name_that_npm_gives_it(field):
    package = field("sets").Package("npm", "@scope/name", "1.2.3", "0" * 64, ())
    assert package.file_name == "scope-name-1.2.3.tgz"


def test_a_source_archive_of_pypi_is_downloaded_by_pip_under_the_name_it_has_there(field):
    package = field("sets").Package("pypi", "Name", "1.2", "0" * 64, (), file="name-1.2.tar.gz")
    assert package.file_name == "name-1.2.tar.gz"
    command = field("fetch")._command(package)
    assert (command[1:4], command[-1]) == (["-m", "pip", "download"], "Name==1.2")
    assert command[command.index("--no-binary") + 1] == ":all:"


def test_records_of_json_become_a_table_with_their_names_first(field, tmp_path):
    records = {"7": {"price": "0.95", "name": "Card, small"}, "9": {"price": "2.90", "name": "Parcel"}}
    (tmp_path / "prices.json").write_text(json.dumps(records), "utf-8")
    made = field("make").csv_of(tmp_path, tmp_path / "made")
    text = (made / "prices.csv").read_text("utf-8")
    assert text == 'id,price,name\n7,0.95,"Card, small"\n9,2.90,Parcel\n'


def test_a_file_that_is_not_the_pinned_one_is_refused(field, tmp_path):
    package = field("sets").load()[0].packages[0]
    (tmp_path / package.file_name).write_bytes(b"something else")
    with pytest.raises(CorpusError, match="not the pinned file"):
        field("fetch").download(package, tmp_path)
