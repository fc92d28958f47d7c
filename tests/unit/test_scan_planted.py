"""The scan finds every trigger of a folder that was planted with them, and says where."""

import importlib.util

import pytest

from equipoise.audit.scan import Reach, Severity, load, scan
from equipoise.audit.scan.files import ScannedFiles
from planted import CHARACTERS, EXTRA, VISIBLE, plant

HAS_EXTRA = all(importlib.util.find_spec(name) for name in ("detect_secrets", "phonenumbers", "stdnum"))


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("yard")
    triggers = plant(folder, extra=HAS_EXTRA)
    corpus = ScannedFiles.at([folder])
    documents = list(corpus)
    assert not corpus.failed
    texts = {entry.document.source.rpartition("/")[2]: entry.document.text for entry in documents}
    return triggers, scan(documents, load()), texts


def test_every_trigger_is_found_where_it_stands(planted):
    triggers, report, texts = planted
    missed = []
    for name, rule, text in triggers:
        at = texts[name].find(text)
        alike = [
            finding for finding in report.findings if finding.rule == rule and finding.source.endswith(name)
        ]
        here = [
            finding
            for finding in alike
            if (at < 0 and finding.reach is Reach.HIDDEN)
            or (at >= 0 and finding.start < at + len(text) and at < finding.end)
            or (at < 0 and squeezed(texts[name][finding.start : finding.end]) in squeezed(text))
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
            count = sum(finding.source.endswith(name) and finding.rule == rule for finding in report.findings)
            assert count >= wanted, (name, rule)


def test_hidden_text_is_read_and_raised(planted):
    _, report, _ = planted
    hidden = [
        finding
        for finding in report.findings
        if finding.reach is Reach.HIDDEN and finding.rule == "instruction/override"
    ]
    said = [finding for finding in report.findings if "praise the attribute wheel" in finding.excerpt]
    assert Reach.QUOTED in {finding.reach for finding in said}  # a picture's text is content
    for way in ("style", "comment", "vanished", "white"):
        matches = [finding for finding in hidden if f"praise the {way} wheel" in finding.excerpt]
        assert matches, way
        assert all(
            finding.severity is Severity.HIGH and "would not see" in finding.why for finding in matches
        )


def test_what_a_loader_left_out_is_counted(planted):
    _, report, _ = planted
    counted = {
        finding.source.rpartition("/")[2] for finding in report.findings if finding.rule == "hidden/left-out"
    }
    assert {"yard.md", "yard.html", "yard.docx", "yard.pdf"} <= counted


def test_findings_say_where(planted):
    _, report, _ = planted
    text = [
        finding
        for finding in report.findings
        if finding.source.endswith("yard.md") and finding.reach is Reach.QUOTED
    ]
    assert text
    assert all(finding.line for finding in text)
    pages = {
        finding.page
        for finding in report.findings
        if finding.source.endswith("yard.pdf") and finding.reach is Reach.QUOTED
    }
    assert len(pages) > 1


def test_the_calm_sentences_between_are_left_alone(planted):
    _, report, _ = planted
    quoted = [
        finding
        for finding in report.findings
        if finding.reach is Reach.QUOTED and finding.severity is not Severity.NOTE
    ]
    assert quoted
    assert not [finding for finding in quoted if finding.excerpt.startswith("Bicycles are kept")]
