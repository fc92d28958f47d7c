"""What a chat model is asked in a run: answers, and the points of Figure 2."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.errors import InputError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import Passage
from equipoise.evaluation.records import read_records
from equipoise.rag.components import Components
from equipoise_lab.bench.bias import answers, likert
from equipoise_lab.bench.bias.attacked_questions import AttackedQuestion
from equipoise_lab.bench.bias.attacks import SIGNS
from equipoise_lab.bench.bias.background import EmbeddedPassages
from equipoise_lab.bench.bias.corpora import Corpus
from equipoise_lab.bench.bias.likert import LikertRecord
from equipoise_lab.bench.bias.records import AnswerRecord, BiasRecord, PassageRecord
from equipoise_lab.bench.bias.vectors import Workspace


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked: `answers` to what each filter kept, points for passages of the first `likert` questions."""

    answers: bool = False
    likert: int = 0

    @property
    def anything(self) -> bool:
        """Whether a chat model is needed."""
        return self.answers or self.likert > 0


@dataclass(frozen=True, slots=True)
class Asked:
    """What was said, in this run and in those before it: answers of every model, and points."""

    answers: Sequence[AnswerRecord] = ()
    likert: Sequence[LikertRecord] = ()

    def only(self, queries: Collection[str]) -> "Asked":
        """The part about `queries`."""
        return Asked(
            [record for record in self.answers if record.query_id in queries],
            [record for record in self.likert if record.query_id in queries],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What is asked about: what was kept of which passages, for which questions."""

    corpus: Corpus
    embedded: EmbeddedPassages
    questions: tuple[AttackedQuestion, ...]
    results: Sequence[BiasRecord]
    passages: Sequence[PassageRecord]


def check(asking: Asking, components: Components) -> ChatModel:
    """The chat model. Raises ModelUnavailable for none, InputError for a negative number."""
    if asking.likert < 0:
        raise InputError(
            f"{asking.likert} questions for the points of Figure 2 are not possible: give at least 0"
        )
    return components.need_chat("measuring answers and stances")


async def ask(asking: Asking, subject: Subject, components: Components, workspace: Workspace) -> Asked:
    """Ask what the output folder does not hold yet. Raises ModelError; what was asked before stays."""
    if not asking.anything:
        return Asked()
    chat = check(asking, components)
    kept, points = [], []
    if asking.answers:
        await answers.ask(subject.results, subject.questions, _passages(subject), chat, workspace)
        kept = answers.kept(subject.results, workspace.out)
    if asking.likert:
        first = subject.questions[: asking.likert]
        samples = likert.samples(first, subject.corpus, subject.passages, workspace)
        await likert.ask(samples, chat, workspace, components.options)
        known = {(sample.passage.query_id, sample.passage.id) for sample in samples}
        every = read_records(workspace.out / likert.LIKERT, LikertRecord)
        points = [record for record in every if (record.query_id, record.id) in known]
    return Asked(kept, points)


def _passages(subject: Subject) -> Mapping[str, Passage]:
    """Every passage that can be kept, by its document."""
    planted = (attacked.planted[sign] for attacked in subject.questions for sign in SIGNS)
    return {
        passage.doc_id: passage for embedded in (subject.embedded, *planted) for passage in embedded.passages
    }
