"""What a chat model is asked in a run: answers, the points of Figure 2, and the stance of answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.errors import InputError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Passage
from equipoise.evaluation.records import read_records
from equipoise.rag.components import Components
from equipoise_lab.bench.bias import answer_stance, answers, likert
from equipoise_lab.bench.bias.answer_stance import AnswerStance
from equipoise_lab.bench.bias.attacked_questions import AttackedQuestion
from equipoise_lab.bench.bias.attacks import SIGNS
from equipoise_lab.bench.bias.background import EmbeddedPassages
from equipoise_lab.bench.bias.corpora import Corpus
from equipoise_lab.bench.bias.likert import LikertRecord
from equipoise_lab.bench.bias.records import AnswerRecord, BiasRecord, PassageRecord
from equipoise_lab.bench.bias.vectors import Workspace


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked: `answers` to what each filter kept, points for passages of the first `likert` questions, the
    stance of all kept answers by the judge `stances` ("odds", "likert" or "" for none)."""

    answers: bool = False
    likert: int = 0
    stances: str = ""

    @property
    def anything(self) -> bool:
        """Whether a chat model is needed."""
        return self.answers or self.likert > 0 or bool(self.stances)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was said, in this run and in those before it: answers and their stances of every model, and points."""

    answers: Sequence[AnswerRecord] = ()
    likert: Sequence[LikertRecord] = ()
    stances: Sequence[AnswerStance] = ()

    def only(self, queries: Collection[str]) -> "Asked":
        """The part about `queries`."""
        return Asked(
            [record for record in self.answers if record.query_id in queries],
            [record for record in self.likert if record.query_id in queries],
            [record for record in self.stances if record.query_id in queries],
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
    """The chat model. Raises ModelUnavailable for none, InputError for an unknown judge and a negative number."""
    if asking.likert < 0:
        raise InputError(
            f"{asking.likert} questions for the points of Figure 2 are not possible: give at least 0"
        )
    if asking.stances:
        answer_stance.check_judge(asking.stances)
    return components.need_chat("measuring answers and stances")


async def ask(asking: Asking, subject: Subject, components: Components, workspace: Workspace) -> Asked:
    """Ask what the output folder does not hold yet. Raises ModelError; what was asked before stays."""
    if not asking.anything:
        return Asked()
    chat = check(asking, components)
    ours = _Ours(subject, chat, components.options, workspace)
    if asking.answers:
        await answers.ask(subject.results, subject.questions, _passages(subject), chat, workspace)
    kept = answers.kept(subject.results, workspace.out) if asking.answers or asking.stances else []
    return Asked(
        kept,
        await ours.points(asking.likert) if asking.likert else [],
        await ours.stances(asking.stances, kept) if asking.stances else [],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ours:
    """The judge of this run."""

    subject: Subject
    chat: ChatModel
    options: ChatOptions
    workspace: Workspace

    async def points(self, count: int) -> list[LikertRecord]:
        """For passages of the first `count` questions, by every model that has placed them."""
        subject, workspace = self.subject, self.workspace
        first = subject.questions[:count]
        samples = likert.samples(first, subject.corpus, subject.passages, workspace)
        await likert.ask(samples, self.chat, workspace, self.options)
        known = {(sample.passage.query_id, sample.passage.id) for sample in samples}
        every = read_records(workspace.out / likert.LIKERT, LikertRecord)
        return [record for record in every if (record.query_id, record.id) in known]

    async def stances(self, name: str, kept: Sequence[AnswerRecord]) -> list[AnswerStance]:
        """Of all kept answers, by every judge that has read them. Raises InputError where there are none."""
        workspace = self.workspace
        if not kept:
            raise InputError(
                f"{workspace.out} holds no answers to judge the stance of: ask for answers first"
            )
        judge = answer_stance.judge_of(name, self.chat, self.options, workspace.concurrency)
        questions = {known.attack.query_id: known.attack.question for known in self.subject.questions}
        await answer_stance.ask(kept, questions, judge, f"{name} by {self.chat.name}", workspace)
        places = {answer.place for answer in kept}
        every = read_records(workspace.out / answer_stance.STANCES, AnswerStance)
        return [record for record in every if record.place in places]


def _passages(subject: Subject) -> Mapping[str, Passage]:
    """Every passage that can be kept, by its document."""
    planted = (attacked.planted[sign] for attacked in subject.questions for sign in SIGNS)
    return {
        passage.doc_id: passage for embedded in (subject.embedded, *planted) for passage in embedded.passages
    }
