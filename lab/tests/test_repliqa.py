"""What RepliQA's labels say: published form, contradictions, words for nothing."""

import pytest

from equipoise_lab.text.repliqa import NOT_FOUND, label, passage

DOCUMENT = "Ann won in May. NASA paid."


@pytest.mark.parametrize(
    ("answer", "long_answer", "expected"),
    [
        ("Ann.", "Ann won", True),
        ("Ann.", "NA", True),
        ("It is not a barn.", "Ann won", True),
        ("", "Ann won", True),
        ("None", "NA", True),
        (NOT_FOUND, "NA", False),
        (NOT_FOUND, "", False),
        (f" {NOT_FOUND}\n", " NA. ", False),
        (NOT_FOUND, "something that stands nowhere", False),
        (NOT_FOUND, NOT_FOUND, False),
        (NOT_FOUND, "AS", False),  # it stands in NASA, which is no place
        (NOT_FOUND, "Ann won", None),
        ("The answer is not found in the document", "NA", False),
        ("The title of the mural is not mentioned in the document.", "NA", False),
        ("The release date is not provided in the document.", "", False),
        ("The document doesn't specify the exact date, only 'May'.", "May", False),
        ("The document does not say.", "", False),
        ("", "NA", None),
        ("NA", "NA", None),
    ],
)
def test_labels_are_corrected_by_rule(answer, long_answer, expected):
    assert label(answer, long_answer, DOCUMENT) is expected


@pytest.mark.parametrize("word", ["NA", "na.", " N/A ", "none", "", NOT_FOUND])
def test_words_for_nothing_mark_no_passage(word):
    assert passage(word) == ""


def test_other_words_mark_themselves():
    assert passage(" Nathan came. ") == "Nathan came."
