"""Has a summarizer's model summarize the worst findings: the sentences around each are its quotes, as for an answer.

A finding is a suspicion; what the model writes of it is a fact about this model, judged by rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from equipoise.audit.scan import data_rules, markup
from equipoise.audit.scan.findings import Finding, Reach, Severity
from equipoise.audit.scan.rules import Rules
from equipoise.audit.scan.words import read_words
from equipoise.core.protocols import ChatModel
from equipoise.core.types import Document, Highlight, Highlights
from equipoise.models.listening import ListeningChat
from equipoise.rag.summarizers.llm import LlmSummarizer

CARRIED, INVENTED = "summary/carries", "summary/invents"
MOST = 20
"""Summaries of one scan."""
_SHOWN = 200


async def summaries(
    findings: Sequence[Finding], document: Callable[[str], Document], chat: ChatModel, rules: Rules
) -> list[Finding]:
    """A finding for each summary, of at most MOST places, that itself carries something of a rule of medium or high
    severity, or that says what its quotes do not. `document` gives the document of an id. Raises ModelError."""
    made: list[Finding] = []
    for finding in _places(findings):
        recorder = ListeningChat(chat)  # what it wrote: an answer may be the quotes instead
        summary = await LlmSummarizer(recorder).summarize(_highlights(finding, document(finding.doc_id)))
        said = " ".join(recorder.replies)
        if carried := _carried(said, rules):
            made.append(_made(CARRIED, finding, said, f"It carries {', '.join(carried)}.", rules))
        if summary.unsupported:
            made.append(
                _made(INVENTED, finding, said, f"Not in the quotes: {', '.join(summary.unsupported)}.", rules)
            )
    return [finding for finding in made if finding.rule in rules]


def _places(findings: Sequence[Finding]) -> list[Finding]:
    """The worst findings that can be quoted, one for each sentence or two."""
    worst = [
        finding
        for finding in findings
        if finding.reach is Reach.QUOTED and finding.severity.rank >= Severity.MEDIUM.rank
    ]
    return list({(finding.doc_id, finding.excerpt): finding for finding in reversed(worst)}.values())[::-1][
        :MOST
    ]


def _highlights(finding: Finding, document: Document) -> Highlights:
    touched = [span for span in document.sentences if span[0] < finding.end and finding.start < span[1]]
    start, end = touched[0][0], touched[-1][1]
    return Highlights(
        (Highlight(document.doc_id, start, end, document.text[start:end], document.source, document.title),)
    )


def _carried(said: str, rules: Rules) -> list[str]:
    hits = [*data_rules.find(said, read_words(said), rules), *markup.find(said)]
    known = {hit.rule for hit in hits if hit.rule in rules}
    return sorted(rule for rule in known if rules.by_id[rule].severity.rank >= Severity.MEDIUM.rank)


def _made(rule: str, finding: Finding, said: str, detail: str, rules: Rules) -> Finding:
    if rule not in rules:
        return replace(finding, rule=rule)
    shown = rules.by_id[rule]
    why = f"{shown.why} {detail} It wrote: {' '.join(said.split())[:_SHOWN]}"
    return replace(finding, rule=rule, severity=shown.severity, why=why)
