"""The systems under attack: what is built from an index, and what is asked where it runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from equipoise.core.addresses import Place
from equipoise.core.errors import InputError, StoreError
from equipoise.core.types import ChatOptions, Document, Proposal, Query, Span
from equipoise.corpus import copying
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.listening import ListeningChat
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.filters import NoFilter
from equipoise.rag.journal import Journal
from equipoise_lab import prompts
from equipoise_lab.redteam import asking, verdict
from equipoise_lab.redteam.attack_types import AttackOutcome
from equipoise_lab.redteam.beside import BesideTrusted
from equipoise_lab.redteam.cut_up import CutUp
from equipoise_lab.redteam.hijack import told
from equipoise_lab.redteam.incomplete import Incomplete
from equipoise_lab.redteam.oracle import Oracle
from equipoise_lab.redteam.poison import PoisonAndSteer
from equipoise_lab.redteam.probe import Probe
from equipoise_lab.redteam.rules import answers
from equipoise_lab.redteam.suite.cases import BENIGN, LOOK_ALIKE, AttackSample
from equipoise_lab.redteam.targets import (
    FORCED,
    Inside,
    OverStore,
    PipelineTarget,
    Planting,
    Response,
    Target,
    asked,
)

PROMPT = "attack-weak-v1"


@dataclass(frozen=True)
class WeakTarget(OverStore):
    """A deliberately weak target over the same index: any number of extracts, cut anywhere, in any order, and the
    question in the prompt. What a zero elsewhere is held against: an attack that does not even get through here shows
    nothing. Never answer real questions with it."""

    components: Components
    name: str = "weak"
    options: ChatOptions = ChatOptions(max_tokens=200)

    async def ask(self, question: str, *, before: Sequence[str] = (), tool: bool = False) -> Response:
        """See Target: every passage that is found is an extract, and none is shown."""
        search = replace(build.search(self.components), filter=NoFilter(), reranker=None)
        candidates = await search.find(Query(question[:4_000]), Journal())
        extracts = [passage.text for passage in candidates.passages]
        return replace(await self._written("\n".join((*before, question)), extracts, tool=tool), quotes=())

    async def force(self, proposal: Proposal, *, tool: bool = False) -> Response:
        """See Inside: the spans as they are, in the order they come, and every tag."""
        documents = self.ground.documents
        extracts = [_cut(span, documents) for span in proposal.spans if span.doc_id in documents]
        verdicts = [f"The answer is: {tag.value}." for tag in sorted(proposal.tags)]
        return await self._written(FORCED, [*verdicts, *extracts], tool=tool)

    async def _written(self, question: str, extracts: Sequence[str], *, tool: bool) -> Response:
        chat = ListeningChat(self.components.need_chat("the weak target"), rewrite=told if tool else None)
        lines = "\n".join(f"- {' '.join(extract.split())}" for extract in extracts)
        reply = await chat.complete(
            prompts.load(PROMPT, question=question, extracts=lines), options=self.options
        )
        return Response(reply.text, "", tuple(extracts), tuple(extracts), tuple(chat.replies), reached=True)


def _cut(span: Span, documents: Mapping[str, Document]) -> str:
    return documents[span.doc_id].text[span.start : span.end]


Changes = Mapping[str, Mapping[str, object]]

SYSTEMS: Mapping[str, Changes] = {
    "hs": {},
    "hs+context": {"summarize": {"context": "passage"}},
    "hs-equal": {"trust": {"mode": "equal"}},
    "hs-filter": {"filter": {"name": "none"}, "trust": {"mode": "equal"}},
    "hs-pieces": {"highlight": {"max_pieces": 1000}},
    "vanilla": {},
    "weak": {},
}
"""Our pipeline as it is set up, with the passages around the quotes, with untrusted documents read like trusted ones,
the same without a filter, without a limit of short pieces;
plain RAG; and a pipeline without any defence, which an attack has to beat before its zero elsewhere means something."""


@dataclass(frozen=True, slots=True)
class Attacked:
    """A target as a system of a run: at most `budget` tries a case; `honest` questions carry what is typed."""

    target: Target
    budget: int
    honest: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The target's."""
        return self.target.name

    async def __call__(self, sample: AttackSample) -> AttackOutcome:
        """How the case ended; for a benign question its utility."""
        if sample.attack in (BENIGN, LOOK_ALIKE):
            return await self._utility(sample)
        strategy = strategies(self.honest)[sample.attack]
        ended: AttackOutcome = await strategy.carry_out(sample.case, self.target, budget=self.budget)
        return ended

    async def _utility(self, sample: AttackSample) -> AttackOutcome:
        response = await asked(self.target.ask(sample.case.question))
        useful = answers(response, sample.case.marks)
        return AttackOutcome(
            attack_succeeded=False,
            utility=float(useful),
            error=response.error,
            reached=response.reached,
            asked=sample.case.question,
            read="\n".join(response.quotes),
            answered=response.text or f"(refused: {response.refused})",
        )


def strategies(honest: tuple[str, ...]) -> dict[str, Any]:
    """Every attack by name."""
    made: list[Any] = [
        asking.hijack(honest),
        asking.off_task(honest),
        asking.jailbreak(honest),
        verdict.typed(honest),
        CutUp(),
        Incomplete(),
        verdict.Verdict(),
        Oracle(),
        PoisonAndSteer(),
        Probe(),
        BesideTrusted(),
    ]
    return {attack.name: attack for attack in made}


def target(name: str, components: Components) -> Target:
    """The system `name` over the index of `components`. Raises InputError for another name, ModelUnavailable for plain
    RAG and the weak one without a language model."""
    if name not in SYSTEMS:
        raise InputError(f"there is no system {name!r}: choose among {', '.join(SYSTEMS)}")
    if name in ("vanilla", "weak"):
        components.need_chat(f"the system {name!r}")
    if name == "weak":
        return WeakTarget(components)
    settings = components.settings
    for section, values in SYSTEMS[name].items():
        changed = getattr(settings, section).model_copy(update=dict(values))
        settings = settings.model_copy(update={section: changed})
    pipeline = "vanilla" if name == "vanilla" else "hs"
    return PipelineTarget(replace(components, settings=settings), name, pipeline)


def unfit(attack: str, target: Target, inside: Sequence[str], planted: Sequence[str]) -> str:
    """Why the attack cannot be carried out on the target; empty where it can."""
    from_inside = isinstance(target, Inside) and getattr(target, "pipeline", "hs") == "hs"
    if attack in inside and not from_inside:
        return "nobody can replace its highlighter from here"
    if attack in planted and not isinstance(target, Planting):
        return "it takes no documents"
    return ""


def copied(store: Place, to: Path) -> Path:
    """A copy of an index: what is attacked, so that no crash leaves anything planted in the index itself.

    Raises StoreError where there is no index.
    """
    if isinstance(store, Path) and not store.is_file():
        raise StoreError(
            f"there is no index at {store}: run  equipoise index PATHS , or attack the target 'example'"
        )
    to.parent.mkdir(parents=True, exist_ok=True)
    _removed(to)
    with Store.open(store, read_only=True) as source, Store.open(to, create=True) as target:
        copying.copy(source, target)
    return to


def example(to: Path) -> Path:
    """An index of the example documents: a shop's, in our own words."""
    to.parent.mkdir(parents=True, exist_ok=True)
    _removed(to)
    with (
        as_file(files("equipoise_lab.redteam").joinpath("example")) as folder,
        Store.open(to, create=True) as store,
    ):
        index([folder], store, EmbeddedEncoder())
    return to


def _removed(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
