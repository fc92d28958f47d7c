"""The whole benchmark: inbox and cases in, results, summary and tables out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import InputError
from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag.components import Components
from equipoise_lab.bench import output, systems
from equipoise_lab.bench.hijack import cases, inbox, report
from equipoise_lab.bench.hijack.cases import Case, Drawing
from equipoise_lab.bench.hijack.inbox import Email
from equipoise_lab.bench.hijack.records import FORM
from equipoise_lab.bench.hijack.report import HijackRun, Numbers, summarise
from equipoise_lab.evaluation.results import check_config, fingerprint
from equipoise_lab.evaluation.run import Progress, evaluate
from equipoise_lab.redteam.hijack import told

FOR = "the tool hijack benchmark"


@dataclass(frozen=True, slots=True)
class HijackPlan:
    """What is run: `pipelines` by name, an inbox of so many `emails`, what is drawn, cases at a time.

    `limit` takes the first cases of each source only; with `again` those that ended with an error are asked once
    more. Raises InputError for what is not possible.
    """

    pipelines: tuple[str, ...]
    choice: Drawing
    emails: int = 5
    concurrency: int = 1
    limit: int | None = None
    again: bool = False

    def __post_init__(self) -> None:
        least = {"emails": (self.emails, 1), "prompts": (self.choice.prompts, 0),
                 "look-alikes": (self.choice.look_alikes, 0), "concurrency": (self.concurrency, 1)}  # fmt: skip
        for name, (value, lowest) in least.items():
            if value < lowest:
                raise InputError(f"{name} is {value}: give at least {lowest}")
        systems.check_attacked(self.pipelines)


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a run reads and writes: the data folder, another file of LLMail-Inject attacks, the output folder."""

    data: Path
    out: Path
    llmail: Path | None = None


async def bench(plan: HijackPlan, place: Folders, components: Components, progress: Progress) -> Numbers:
    """Ask what the output folder does not hold yet, write everything there, and return the summary.

    Raises InputError, StoreError, ModelUnavailable (no language model) or MissingExtra. What was asked before one
    of them, or before the process was killed, stays.
    """
    components.need_chat(FOR)
    emails = _inbox(plan, place)
    llmail = place.llmail or place.data / cases.LLMAIL_FILE
    attacks = cases.attacks(place.data, llmail, emails, plan.choice)
    everything = [*attacks, *cases.benign(place.data, emails, plan.choice)]
    wanted, skipped = cases.askable(cases.limited(everything, plan.limit))
    config = _config(plan, emails, everything, components)
    check_config(place.out, config)
    inbox.fill(components.store, emails, components.encoder)
    reader = components.reranker or CrossEncoder()
    attacked = [systems.ToolPipeline(name, components, reader) for name in plan.pipelines]
    evaluated = await evaluate(
        wanted, attacked, (), place.out, form=FORM, progress=progress,
        concurrency=plan.concurrency, retry=plan.again, errors=(),
    )  # fmt: skip
    names, counts = tuple(email.email_id for email in emails), Counter(case.source for case in wanted)
    return write(HijackRun(config, plan.pipelines, names, counts, skipped, evaluated.records), place.out)


def write(measured: HijackRun, out: Path) -> Numbers:
    """Write summary and tables of a run; returns the summary."""
    summary = summarise(measured)
    output.write(out, summary, report.markdown(summary))
    return summary


def _inbox(plan: HijackPlan, place: Folders) -> list[Email]:
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
    settings, chat = components.settings, components.need_chat(FOR)
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
