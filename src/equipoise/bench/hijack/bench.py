"""The whole benchmark: inbox and cases in, results, summary and report out."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.bench.hijack import cases, inbox, report, runner
from equipoise.bench.hijack.cases import Case
from equipoise.bench.hijack.inbox import Email
from equipoise.bench.hijack.runner import KEY, RESULTS, HijackPlan, Progress
from equipoise.bench.hijack.summary import Measured, summarise
from equipoise.bench.results import Lines, check_config, fingerprint, write_atomically
from equipoise.core.errors import InputError
from equipoise.rag.components import Components
from equipoise.redteam.hijack import told

SUMMARY, REPORT, TABLES = "summary.json", "report.html", "tables.md"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run reads and writes: the data folder, another file of LLMail-Inject attacks, the output folder."""

    data: Path
    out: Path
    llmail: Path | None = None


async def bench(plan: HijackPlan, place: Place, components: Components, progress: Progress) -> dict[str, Any]:
    """Ask what the output folder does not hold yet, write everything there, and return the summary.

    Raises InputError, StoreError, ModelUnavailable (no language model) or MissingExtra. What was asked before one
    of them, or before the process was killed, stays.
    """
    components.need_chat("the tool hijack benchmark")
    emails = _inbox(plan, place)
    llmail = place.llmail or place.data / cases.LLMAIL_FILE
    attacks = await cases.attacks(place.data, llmail, emails, plan.choice)
    everything = [*attacks, *cases.benign(place.data, emails, plan.choice)]
    wanted, skipped = cases.askable(cases.limited(everything, plan.limit))
    config = _config(plan, emails, everything, components)
    check_config(place.out, config)
    inbox.fill(components.store, emails, components.encoder)
    with Lines(place.out / RESULTS, KEY) as lines:
        results = await runner.run(wanted, plan, components, lines, progress)
    names = tuple(email.email_id for email in emails)
    measured = Measured(config, plan.pipelines, names, wanted, skipped, results)
    return write(measured, place.out)


def write(measured: Measured, out: Path) -> dict[str, Any]:
    """Write summary, tables and the report page of a run; returns the summary."""
    summary = summarise(measured)
    content = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(out / SUMMARY, content.encode("utf-8"))
    write_atomically(out / TABLES, report.markdown(summary).encode("utf-8"))
    write_atomically(out / REPORT, report.page(summary).encode("utf-8"))
    return summary


def _inbox(plan: HijackPlan, place: Place) -> list[Email]:
    """The drawn e-mails. Raises InputError where there are not as many."""
    path = place.data / cases.INBOX_FILE
    emails = inbox.drawn(inbox.read(path), plan.emails, plan.choice.seed)
    if len(emails) < plan.emails:
        raise InputError(f"{path} has {len(emails)} e-mails, {plan.emails} are wanted: ask for fewer")
    return emails


def _config(
    plan: HijackPlan, emails: Sequence[Email], everything: Sequence[Case], components: Components
) -> dict[str, object]:
    """What must not change between the runs that share an output folder."""
    settings, chat = components.settings, components.need_chat("the tool hijack benchmark")
    sections = {
        name: getattr(settings, name).model_dump(mode="json", exclude={"name"}, exclude_none=True)
        for name in ("highlight", "summarize")
    }
    return {
        "llm": chat.name,
        "max_tokens": settings.model.max_tokens,
        "encoder": components.encoder.name,
        "retriever": f"{settings.retrieval.name}, {settings.retrieval.k} passages",
        "filter": settings.filter.name,
        **sections,
        "tool_sha256": fingerprint([message.content for message in told(())])[:16],
        "inbox_sha256": fingerprint([part for e in emails for part in (e.email_id, e.subject, e.body)])[:16],
        "cases_sha256": fingerprint([part for c in everything for part in (c.case_id, c.question)])[:16],
        "seed": plan.choice.seed,
    }
