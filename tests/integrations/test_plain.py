"""`equipoise.highlight` and the command: spans of passages that somebody else retrieved."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

import equipoise
from equipoise.apps.cli import app
from equipoise.core.errors import InputError, QuestionError
from equipoise.integrations.plain import Highlighted

TEXTS = [
    "Plum is the colour of the tent bags. They hold four pegs each.",
    "Parcels are kept for seven days. After that they go back to the sender. A second delivery costs 3 euros.\n\n"
    "The office has a garden. Its trees were planted in 1987. Visitors may sit there between noon and two. Bring your"
    " own chair, since there is none, and mind the beds. In winter the garden is closed. The gardener lives next door.",
    "Letters are collected at noon.",
]
QUESTION = "How long are parcels kept?"


def run_cli(*words, **more):
    return CliRunner().invoke(app, ["highlight", *map(str, words)], **more)


def test_the_spans_that_answer_are_verbatim_and_say_how_sure():
    found = equipoise.highlight(QUESTION, TEXTS)
    assert [span.row for span in found.spans] == [1]
    span = found.spans[0]
    assert (
        TEXTS[1][span.start : span.end] == span.text
        and "seven days" in span.text
        and "garden" not in span.text
    )
    assert "Parcels are kept for seven days." in [TEXTS[1][start:end] for start, end in span.chosen]
    assert 0.5 < span.probability <= 1 and span.probability <= found.probability <= 1
    assert found.pruned(TEXTS) == ["", span.text, ""]


def test_what_the_texts_do_not_answer_has_no_spans_but_with_a_threshold_of_0():
    question = "Who painted the ceiling of the Sistine Chapel?"
    found = equipoise.highlight(question, TEXTS)
    assert not found.spans and found.probability < 0.5 and found.pruned(TEXTS) == ["", "", ""]
    assert equipoise.highlight(question, TEXTS, threshold=0).spans
    assert not equipoise.highlight(QUESTION, TEXTS, threshold=1).spans


@pytest.mark.parametrize("texts", [[], ["", " \n"], ["—"]])
def test_texts_without_a_word_answer_nothing(texts):
    assert equipoise.highlight(QUESTION, texts) == Highlighted(())


def test_small_talk_is_no_question():
    assert not equipoise.highlight("hello there", [*TEXTS, "Hello there, said the gardener."]).spans


def test_another_script_is_found_by_its_words():
    found = equipoise.highlight(
        "营业时间是几点？", ["本店营业时间是上午九点到下午六点。", "请勿在店内吸烟。"]
    )
    assert [span.row for span in found.spans] == [0] and found.spans[0].probability is None


def test_a_misspelt_word_is_read_as_one_of_the_texts_or_of_english():
    found = equipoise.highlight("How long are parcles kept befor they go back?", TEXTS)
    assert dict(found.spelling) == {"parcles": "parcels", "befor": "before"}
    assert "seven days" in found.spans[0].text
    assert equipoise.highlight("Where does Zork keep the tent bags?", TEXTS, threshold=0).spelling == ()
    assert equipoise.highlight("Wie lange werden die Parzels aufbewahrt?", TEXTS).spelling == ()


def test_a_title_is_read_with_its_text():
    texts = ["It costs 12 euros.", "It costs 40 euros."]
    found = equipoise.highlight("What does the garden chair cost?", texts, titles=["Parasol", "Garden chair"])
    assert 1 in [span.row for span in found.spans]
    assert found.probability > equipoise.highlight("What does the garden chair cost?", texts).probability


def test_the_same_text_twice_keeps_its_row():
    rows = [span.row for span in equipoise.highlight(QUESTION, [TEXTS[1], TEXTS[1]], threshold=0).spans]
    assert rows and set(rows) <= {0, 1}


def test_threads_get_what_one_gets():
    alone = equipoise.highlight(QUESTION, TEXTS)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: equipoise.highlight(QUESTION, TEXTS), range(8))) == [alone] * 8


@pytest.mark.parametrize(
    ("question", "texts", "titles", "error"),
    [
        ("", TEXTS, None, QuestionError),
        ("x" * 20_000, TEXTS, None, QuestionError),
        (QUESTION, "one text", None, InputError),
        (QUESTION, [b"bytes"], None, InputError),
        (QUESTION, {"a": "one text"}, None, InputError),
        (QUESTION, None, None, InputError),
        (QUESTION, TEXTS, ["a title"], InputError),
        (QUESTION, TEXTS, "abc", InputError),
    ],
)
def test_bad_input_gets_one_sentence(question, texts, titles, error):
    with pytest.raises(error) as raised:
        equipoise.highlight(question, texts, titles=titles)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("threshold", ["0.5", 2, -1, float("nan")])
def test_a_threshold_that_is_none_gets_one_sentence(threshold):
    with pytest.raises(InputError, match="a threshold is a number from 0 to 1, not "):
        equipoise.highlight(QUESTION, TEXTS, threshold=threshold)


def test_texts_may_come_one_by_one():
    assert equipoise.highlight(QUESTION, iter(TEXTS)) == equipoise.highlight(QUESTION, TEXTS)


def test_the_command_marks_files_and_names_what_it_could_not_read(tmp_path):
    (tmp_path / "post.txt").write_text(TEXTS[1], "utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 no more")
    result = run_cli(QUESTION, str(tmp_path), "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0 and "broken.pdf" in result.stderr
    assert "seven days" in answer["spans"][0]["text"]
    assert answer["spans"][0]["source"].endswith("post.txt")
    assert "seven days" in run_cli(QUESTION, str(tmp_path)).stdout
    refused = run_cli("Who painted the Sistine Chapel?", str(tmp_path))
    assert "Nothing in these texts" in refused.stdout


def test_the_command_reads_the_standard_input(tmp_path):
    result = run_cli(QUESTION, "-", input=TEXTS[1])
    assert result.exit_code == 0 and "seven days" in result.stdout
    missing = run_cli(QUESTION, str(tmp_path / "nothing.txt"))
    assert isinstance(missing.exception, InputError) and "nothing.txt" in missing.stderr


ITEMS = (
    "the receipt, or a copy",
    "proof of the value",
    "a completed claim form",
    "a photograph of the packaging",
)
LEAD = "The sender needs the following documents for a claim:"


def test_a_list_of_a_file_is_quoted_whole_with_its_lead_in(tmp_path):
    items = "".join(f"<li>{item}</li>" for item in ITEMS)
    (tmp_path / "claims.html").write_text(f"<p>{LEAD}</p><ul>{items}</ul><p>Claims are paid by transfer.</p>")
    result = run_cli("Which documents do I need for a claim?", tmp_path, "--json")
    (span,) = json.loads(result.stdout)["spans"]
    assert span["text"].split("\n\n")[0] == LEAD and all(item in span["text"] for item in ITEMS)


def test_a_list_without_marks_is_quoted_whole_with_its_lead_in():
    text = "\n\n".join(
        ["Claims", LEAD, *ITEMS, "Claims are paid within 30 days.", "Insurance costs 3 euros."]
    )
    (span,) = equipoise.highlight("Which documents do I need for a claim?", [text]).spans
    assert span.text == "\n\n".join([LEAD, *ITEMS])
