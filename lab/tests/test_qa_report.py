"""The report of a question answering run: numbers by hand, partial folders, rows without text, hostile text."""

import json

import pytest

import qa_folder
from equipoise.core.errors import InputError
from equipoise_lab.bench.layouts import as_json
from equipoise_lab.bench.output import SUMMARY, TABLES
from equipoise_lab.bench.qa import records as recorded
from equipoise_lab.bench.qa import report
from equipoise_lab.bench.qa.numbers import MEANS, SHARES, battles, correlations, decisions
from equipoise_lab.bench.qa.records import ComparisonRecord, Judgement, QaRecord, QaTiming, without_text
from equipoise_lab.bench.qa.report import names, paper, pipeline_of, tables
from qa_town import questions, run
from test_qa_judging import judge_of

pytest.importorskip("matplotlib")

OUTPUTS = (SUMMARY, TABLES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return qa_folder.write(tmp_path_factory.mktemp("full"))


@pytest.fixture(scope="module")
def written(folder):
    return report.write(folder)


@pytest.fixture(scope="module")
def summary(written):
    return as_json(written)


@pytest.fixture(scope="module")
def toy(summary):
    return summary["datasets"]["toy"]


@pytest.fixture(scope="module")
def section(written):
    return written["datasets"]["toy"]


def reported_on(folder):
    """The numbers of a folder as JSON, by data set."""
    return as_json(report.write(folder))["datasets"]


def bare(row):
    """A row of any file without its text."""
    kinds = {"seconds": QaTiming, "judge": Judgement, "verdict": ComparisonRecord}
    kind = next((record for name, record in kinds.items() if name in row), QaRecord)
    return without_text(kind.model_validate(row)).row()


def estimates(values):
    return {name: value["estimate"] if value else None for name, value in values.items()}


def table(section, title, name="toy"):
    return next(table for table in tables(name, section) if table.title.startswith(title))


def line(table, label):
    return next(row.cells for row in table.lines if row.label == label)


def test_the_summary_is_what_stands_in_the_file(folder, summary):
    assert json.loads((folder / "summary.json").read_text()) == json.loads(json.dumps(summary))


def test_counts_and_reasons_without_their_details(toy):
    vanilla, structured = toy["counts"]["vanilla"], toy["counts"]["structured"]
    assert (vanilla["answered"], vanilla["declined"], vanilla["failed"]) == (3, 0, 1)
    assert vanilla["reasons"] == {"model failed": 1}
    assert structured["reasons"] == {"nothing highlighted": 1, "model declined": 1}
    assert (toy["n"], toy["answerable"], toy["unanswerable"]) == (4, 3, 1)
    assert structured["unscored"]["answer_recall"] == 1


def test_means_and_shares_leave_out_what_was_not_scored(toy):
    means = toy["measures"]["structured"]
    assert means["answer_recall"]["estimate"] == 0.5
    assert means["answer_recall"]["n"] == 3
    assert means["answer_hit"]["estimate"] == pytest.approx(2 / 3)
    assert means["evidence_hit"] is None
    # Wilson for 2 of 3 at 95%, by hand
    z2 = 1.959963984540054**2
    middle, half = (2 / 3 + z2 / 6) / (1 + z2 / 3), (z2 * (2 / 27 + z2 / 36)) ** 0.5 / (1 + z2 / 3)
    assert means["answer_hit"]["low"] == pytest.approx(middle - half, abs=1e-6)
    assert means["answer_hit"]["high"] == pytest.approx(middle + half, abs=1e-6)
    assert toy["measures"]["vanilla"]["answered"]["n"] == 3


def test_declining_leaves_failed_questions_out(toy):
    # structured declined q3 wrongly and q4 rightly; vanilla answered all three that did not fail
    assert estimates(toy["declining"]["structured"]) == pytest.approx(
        {"precision": 0.5, "recall": 1, "f1": 2 / 3}, abs=1e-6
    )
    assert estimates(toy["declining"]["vanilla"]) == {"precision": None, "recall": 0.0, "f1": 0.0}
    assert toy["declining"]["vanilla"]["recall"]["n"] == 3


def test_costs_are_compared_on_the_same_questions(toy):
    cost = toy["cost"]["structured"]
    assert estimates(cost["seconds"]) == {"mean": 6.0, "median": 6.0, "ratio": 3.0}
    assert cost["seconds"]["ratio"]["low"] == pytest.approx(8 / 3, abs=1e-6)
    # 300, 300, 100, 100 prompt tokens; without q3, which failed for vanilla, 700 against 300
    assert estimates(cost["prompt_tokens"]) == pytest.approx(
        {"mean": 200, "median": 200, "ratio": 7 / 3}, abs=1e-6
    )
    assert cost["prompt_tokens"]["ratio"]["n"] == 3


def test_relations_of_highlights_to_the_gold_passage(toy):
    counts = toy["relations"]["structured"]
    assert {name: counts[name] for name in ("n", "both", "superstring", "substring", "neither", "nothing")} == {
        "n": 3, "both": 1, "superstring": 1, "substring": 0, "neither": 0, "nothing": 1,
    }  # fmt: skip
    assert "vanilla" not in toy["relations"]


def test_highest_ratings_are_counted_where_all_were_rated(toy):
    (rating,) = toy["ratings"]
    assert rating["highest"]["n"] == 2
    assert {name: won["count"] for name, won in rating["highest"]["wins"].items()} == {
        "structured": 2,
        "vanilla": 1,
    }
    assert rating["unscored"] == {"structured": 0, "vanilla": 1}
    assert rating["distribution"]["structured"] == {"0": 1, "1": 2}
    assert rating["judges_itself"]


def test_comparisons_join_both_orders(toy):
    (battle,) = toy["battles"]
    assert not battle["judges_itself"]
    assert battle["unscored"] == 1
    assert battle["matrix"]["structured"]["vanilla"]["wins"] == 2
    assert battle["matrix"]["structured"]["vanilla"]["ties"] == 1
    first = battle["standings"][0]
    assert first["contender"] == "structured"
    assert first["win_share"]["estimate"] == pytest.approx(2 / 3, abs=1e-6)
    assert estimates({k: v for k, v in battle["alone"]["structured"].items() if k != "n"}) == pytest.approx(
        {"pipeline": 1 / 3, "highlights": 1 / 3, "tie": 0, "neither": 1 / 3}, abs=1e-6
    )
    # q1 agrees in both orders, q2 does not
    assert battle["same_verdict_in_both_orders"]["estimate"] == 0.5


def test_the_names_of_a_comparison_may_stand_either_way_round():
    rows = [
        qa_folder.comparison("q", "b", "a", "first"),
        qa_folder.comparison("q", "a", "b", "second", "swapped"),
    ]
    (battle,) = battles([ComparisonRecord.model_validate(row) for row in rows], set())
    tally = battle["matrix"]["b"]["a"]
    assert (tally["wins"], tally["losses"], tally["scored"]) == (1, 0, 1)


def test_guesses_go_with_answers_perfectly_in_four_questions():
    rows = [
        QaRecord.model_validate(qa_folder.result(f"q{n}", "a", guess_k_precision=n / 4, answer_recall=n / 8))
        for n in range(5)
    ]
    (correlation,) = correlations({"a": rows}, {})
    assert (correlation["performance"], correlation["pearson"].value, correlation["pearson"].n) == (
        "answer recall",
        pytest.approx(1.0),
        5,
    )


def test_yes_and_no_apart_from_maybe():
    rows = [
        qa_folder.result("q1", "a", decision="yes", answer="Yes, it does."),
        qa_folder.result("q2", "a", decision="no", answer="Yes."),
        qa_folder.result("q3", "a", "declined", decision="maybe"),
        qa_folder.result("q4", "a", "failed", decision="yes"),
    ]
    measured = decisions([QaRecord.model_validate(row) for row in rows])
    assert (measured["accuracy"].value, measured["accuracy"].n) == (0.5, 2)
    # F1 of yes 2/3, of no 0
    assert measured["macro_f1"].value == pytest.approx(1 / 3, abs=1e-6)
    assert (measured["maybe"], measured["maybe_open"]) == (1, 1)


def test_ours_stand_above_the_paper(section):
    lines = table(section, "Table 3").lines
    assert [(row.label, row.paper) for row in lines[:2]] == [
        ("structured", False),
        ("H&S Structured, RepliQA", True),
    ]
    assert lines[1].cells == ("0.94", "0.39", "0.55")
    assert lines[0].cells[2].startswith("0.67 [")
    assert lines[0].cells[2].endswith("n=4")


def test_a_data_set_of_the_paper_stands_beside_its_own_numbers(section):
    labels = [row.label for row in table(section, "Table 6", "repliqa-3").lines if row.paper]
    assert labels
    assert all("RepliQA" in label for label in labels)


def test_every_table_and_figure_of_the_paper_is_there(folder, summary):
    text = (folder / "tables.md").read_text()
    for number in (2, 3, 4, 5, 6, 7, 9):
        assert f"### Table {number}. " in text
    report.draw(folder, report.write(folder))
    drawn = {path.stem.split("-")[1] for path in (folder / "figures").glob("toy-*.svg")}
    assert drawn == {"2", "3", "4", "5", "6", "9"}
    assert "judged by the same model that answered" in text


def test_tables_and_summary_hold_no_text_of_questions(folder, summary):
    for name in ("tables.md", "summary.json"):
        text = (folder / name).read_text()
        assert "What is it?" not in text
        assert "What is q" not in text


def test_the_same_files_give_the_same_bytes(folder, summary, tmp_path):
    again = qa_folder.write(tmp_path / "again")
    report.write(again)
    for name in OUTPUTS:
        assert (again / name).read_bytes() == (folder / name).read_bytes()


def test_rows_without_text_give_the_same_numbers(summary, tmp_path):
    folder = qa_folder.write(tmp_path / "bare", change=bare)
    content = (folder / "results.jsonl").read_text() + (folder / "judgements.jsonl").read_text()
    for text in ("What is", "barn", "script", "secret", "a reference", "an answer"):
        assert text not in content
    assert reported_on(folder) == summary["datasets"]


def test_a_row_without_text_keeps_its_decision():
    row = qa_folder.result("q", "a", decision="yes", answer="No, never.", reason=None)
    published = without_text(QaRecord.model_validate(row))
    assert published.scores["decided"] == "no"
    assert published.decided == "no"
    assert without_text(published) == published


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (
            ("results",),
            ("Not judged: no judge rated", "Not judged: no judge compared", "Not measured: every call"),
        ),
        (("results", "timings"), ("Not judged: no judge rated", "Not judged: no judge compared")),
        (("results", "judgements"), ("Not judged: no judge compared",)),
        (("results", "comparisons"), ("Not judged: no judge rated",)),
    ],
)
def test_partial_folders_say_what_is_missing(tmp_path, names, said):
    report.write(qa_folder.write(tmp_path, *names))
    text = (tmp_path / "tables.md").read_text()
    for sentence in said:
        assert sentence in text


def test_a_run_without_guesses_and_gold_says_so(tmp_path):
    def change(row):
        kept = {name: None if "guess" in name else value for name, value in row["scores"].items()}
        return row | {"scores": kept, "guesses": [], "gold": [], "gold_text": ""}

    dataset = report.write(qa_folder.write(tmp_path, "results", change=change))["datasets"]["toy"]
    assert table(dataset, "Table 6").missing.startswith("Not computed")
    assert table(dataset, "Figure 6").missing.startswith("Not computed")
    assert table(dataset, "Table 7").missing.startswith("Not computed")


def test_each_data_set_has_its_section(tmp_path):
    rows = [
        row | {"dataset": name}
        for name in ("one", "two")
        for row in qa_folder.results()[: 4 if name == "one" else 8]
    ]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sections = reported_on(tmp_path)
    assert list(sections) == ["one", "two"]
    assert sections["one"]["contenders"] == ["vanilla"]
    assert sections["two"]["contenders"] == ["structured", "vanilla"]
    assert "## one\n" in (tmp_path / "tables.md").read_text()


def test_models_of_one_pipeline_are_told_apart(tmp_path):
    rows = [*qa_folder.results(), *(row | {"model": "m2"} for row in qa_folder.results()[:4])]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    dataset = reported_on(tmp_path)["toy"]
    assert dataset["contenders"] == ["structured", "vanilla [m1]", "vanilla [m2]"]
    assert pipeline_of("vanilla [m1]") == "vanilla"


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no results\.jsonl"):
        report.write(tmp_path)
    (tmp_path / "results.jsonl").write_text('{"dataset": "toy"}\n')
    with pytest.raises(InputError, match=r"results\.jsonl:1: a row without 'item_id'"):
        report.write(tmp_path)


def test_the_papers_battles_add_up():
    for dataset, asked in (("RepliQA", 17_955), ("BioASQ", 4_719)):
        table_9 = paper()["table_9"][dataset]
        battles = {(row, column): pair for row, mine in table_9.items() for column, pair in mine.items()}
        assert len(battles) == 20
        assert set(table_9) == set(names())
        for (row, column), (wins, ties) in battles.items():
            assert wins + battles[column, row][0] + ties == asked
            assert battles[column, row][1] == ties
        for name, (share, _) in paper()["table_2"][dataset].items():
            total = sum(wins for (row, _), (wins, _) in battles.items() if row == name)
            assert round(total / (4 * asked), 2) == share


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A real run of real pipelines, with scripted models that answer and judge."""
    out, judges = tmp_path_factory.mktemp("town"), (judge_of("town-crier"), judge_of("judge-2"))
    file = questions(tmp_path_factory.mktemp("questions"))
    run(
        file, out, pipelines=("vanilla", "structured", "sentence+extractive"), judges=judges, both_orders=True
    )
    return out


def test_the_report_knows_every_score_that_the_runner_writes(town):
    written = {name for record in recorded.read(town).files["results"] for name in record.scores}
    assert {*SHARES, *MEANS} <= written
    assert written - {*SHARES, *MEANS} == {"highlight_in_gold", "gold_in_highlight"}


@pytest.fixture(scope="module")
def reported(town):
    return reported_on(town)


def test_a_real_run_is_reported(reported):
    dataset = reported["town"]
    assert dataset["contenders"] == ["sentence+extractive", "structured", "vanilla"]
    assert dataset["cost"]["vanilla"]["seconds"]["mean"]["n"] == 4
    assert dataset["decisions"]["vanilla"]["accuracy"]["n"] == 1
    assert {(row["judge"], row["judges_itself"]) for row in dataset["ratings"]} == {
        (judge, itself) for judge in ("correctness", "relevance", "quality") for itself in (True, False)
    }
    # the judge prefers what it is shown first, so both orders never agree
    assert dataset["battles"][0]["first_shown_wins"]["estimate"] == 1.0
    assert dataset["battles"][0]["same_verdict_in_both_orders"]["estimate"] == 0.0
    assert "structured" in dataset["battles"][0]["alone"]


def test_a_real_run_without_text_gives_the_same_numbers(town, reported, tmp_path):
    for name in recorded.RECORDS:
        if (town / f"{name}.jsonl").exists():
            rows = [json.loads(row) for row in (town / f"{name}.jsonl").read_text().splitlines()]
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(bare(row)) + "\n" for row in rows))
    assert reported_on(tmp_path) == reported
    assert "Ghent" not in "".join(file.read_text() for file in tmp_path.iterdir())


def test_the_last_of_two_rows_with_one_key_counts(tmp_path):
    first = qa_folder.result("q1", "a", "failed", reason="model failed: busy")
    rows = [first, qa_folder.result("q1", "a", answer_recall=1.0)]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert reported_on(tmp_path)["toy"]["counts"]["a"]["answered"] == 1
