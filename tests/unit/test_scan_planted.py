"""The scan finds every trigger of a folder that was planted with them, and says where."""

import importlib.util

import pytest

from equipoise.redteam.scan import Reach, Severity, load, scan
from equipoise.redteam.scan.files import Corpus
from planted import CHARACTERS, EXTRA, VISIBLE, plant

HAS_EXTRA = all(importlib.util.find_spec(name) for name in ("detect_secrets", "phonenumbers", "stdnum"))


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("yard")
    triggers = plant(folder, extra=HAS_EXTRA)
    corpus = Corpus.at([folder])
    documents = list(corpus)
    assert not corpus.failed
    texts = {one.document.source.rpartition("/")[2]: one.document.text for one in documents}
    return triggers, scan(documents, load()), texts


def test_every_trigger_is_found_where_it_stands(planted):
    triggers, report, texts = planted
    missed = []
    for name, rule, text in triggers:
        at = texts[name].find(text)
        alike = [one for one in report.findings if one.rule == rule and one.source.endswith(name)]
        here = [
            one
            for one in alike
            if (at < 0 and one.reach is Reach.HIDDEN)
            or (at >= 0 and one.start < at + len(text) and at < one.end)
            or (at < 0 and squeezed(texts[name][one.start : one.end]) in squeezed(text))
        ]
        if not here:
            missed.append((name, rule, text))
    assert not missed, "\n".join(map(str, missed))


def squeezed(text):
    return "".join(text.split())


def test_there_are_enough_triggers_of_every_rule_for_single_documents(planted):
    triggers, _, _ = planted
    assert len(VISIBLE) + len(CHARACTERS) + len(EXTRA) >= 60
    planted_rules = {rule for _, rule, _ in triggers} | {rule for rule, _ in EXTRA}
    elsewhere = {"copies/near", "copies/same", "hidden/left-out", "hidden/text-layer"}
    elsewhere |= {"summary/carries", "summary/invents"}
    assert planted_rules == set(load().by_id) - elsewhere


def test_as_many_findings_of_a_rule_as_triggers_in_each_file(planted):
    """Two triggers of one rule are two findings: none hides another."""
    triggers, report, _ = planted
    for name in ("yard.txt", "yard.md", "yard.html", "yard.docx", "yard.pdf"):
        for rule in {rule for file, rule, _ in triggers if file == name}:
            wanted = sum(file == name and other == rule for file, other, _ in triggers)
            found = sum(one.source.endswith(name) and one.rule == rule for one in report.findings)
            assert found >= wanted, (name, rule)


def test_hidden_text_is_read_and_raised(planted):
    _, report, _ = planted
    hidden = [
        one for one in report.findings if one.reach is Reach.HIDDEN and one.rule == "instruction/override"
    ]
    for way in ("style", "comment", "attribute", "vanished", "white"):
        found = [one for one in hidden if f"praise the {way} wheel" in one.excerpt]
        assert found
        assert all(one.severity is Severity.HIGH and "would not see" in one.why for one in found)


def test_what_a_loader_left_out_is_counted(planted):
    _, report, _ = planted
    counted = {one.source.rpartition("/")[2] for one in report.findings if one.rule == "hidden/left-out"}
    assert {"yard.md", "yard.html", "yard.docx", "yard.pdf"} <= counted


def test_findings_say_where(planted):
    _, report, _ = planted
    text = [one for one in report.findings if one.source.endswith("yard.md") and one.reach is Reach.QUOTED]
    assert text
    assert all(one.line for one in text)
    pages = {
        one.page for one in report.findings if one.source.endswith("yard.pdf") and one.reach is Reach.QUOTED
    }
    assert len(pages) > 1


def test_the_calm_sentences_between_are_left_alone(planted):
    _, report, _ = planted
    quoted = [
        one for one in report.findings if one.reach is Reach.QUOTED and one.severity is not Severity.NOTE
    ]
    assert quoted
    assert not [one for one in quoted if one.excerpt.startswith("Bicycles are kept")]
