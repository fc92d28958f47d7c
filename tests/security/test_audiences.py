"""Two audiences: what failed and what was measured is in the trace, for the operator; who asks sees none of it.

A canary stands in every error text and in the names of models; every Reason is reached, alone and in a message.
"""

import json
import re
from dataclasses import dataclass, replace

import pytest

from equipoise.core import sync
from equipoise.core.errors import CorpusError, EquipoiseError, InputError, ModelUnavailable, QuestionError
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.settings import HighlightSettings, MonitorSettings, Settings, SummarizeSettings
from equipoise.core.types import Document, Filtered, Flag, Proposal, Span
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.gathering import Reception
from equipoise.rag.pipeline import WEAK, Monitor
from equipoise.text.spans import SpanPolicy
from hashed_words import HashedWords

CANARY = "zqxCANARYjvk"
DOWN = ModelUnavailable(
    f"the endpoint http://{CANARY}.internal:8000 gave 0.73 ({CANARY}): look into /var/{CANARY}"
)
FEE, DUE = "The fee for a badge is 5 pounds a year.", "It is due in May, says the porter at the gate."
QUESTION, SECOND = "What is the fee for a badge?", "Who is the porter at the gate?"
SAYS = {"answer": "5 pounds", "text_extracts": [FEE]}
WRITTEN = {"guessed_questions": [QUESTION], "answer": FEE}


@dataclass
class Broken:
    """An encoder that can be told to fail."""

    name: str = f"encoder-{CANARY}"
    dimensions: int = 64
    fails: bool = False

    def encode(self, texts):
        if self.fails:
            raise DOWN
        return HashedWords(64).encode(texts)


class TakesAll:
    async def filter(self, query, candidates, *, k):
        flags = tuple(Flag(p, f"0.99 like {CANARY}", 0.99) for p in candidates.passages)
        return Filtered(candidates.take([]), flags)


@dataclass
class Raises:
    error: Exception = DOWN

    async def filter(self, query, candidates, *, k):
        raise self.error

    async def highlight(self, query, passages):
        raise self.error

    def retrieve(self, query, *, k):
        raise self.error


class Unsure:
    async def highlight(self, query, passages):
        return Proposal((), probability=0.1234, threshold=0.4321)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    encoder = Broken()
    with Store.open(tmp_path_factory.mktemp("gate") / "index.db", create=True) as made:
        made.bind_encoder(encoder)
        made.add_documents(prepare([Document("gate", f"{FEE} {DUE}", "gate.txt", "The gate")], encoder))
        yield made


def built(store, *, name="hs", quotes=SAYS, written=WRITTEN, encoder=None):
    script = {
        "Surrounding": "",
        "text_extracts": quotes,
        "guessed_questions": written,
        "UNANSWERABLE": written,
    }
    lines = {k: v if isinstance(v, Exception | str) else json.dumps(v) for k, v in script.items()}
    settings = Settings(
        highlight=HighlightSettings(name="structured"),
        summarize=SummarizeSettings(name="llm"),
        monitor=MonitorSettings(min_similarity=0.6),
    )
    chat = ScriptedChat(lines, name=f"model-{CANARY}")
    components = Components(settings, store, encoder or Broken(), chat)
    return build.vanilla(components) if name == "vanilla" else build.highlight_summarize(components)


FAR = {"guessed_questions": ["Which moons does Neptune have?"], "answer": FEE}
JUNK = f"{CANARY} 0.73"
CASES = {
    "the encoder": (Reason.MODEL_FAILED, lambda s: built(s, encoder=Broken(fails=True))),
    "the retriever": (Reason.MODEL_FAILED, lambda s: replace(built(s), retriever=Raises())),
    "the filter": (Reason.MODEL_FAILED, lambda s: replace(built(s), filter=Raises())),
    "the highlighter": (Reason.MODEL_FAILED, lambda s: replace(built(s), highlighter=Raises())),
    "its model": (Reason.MODEL_FAILED, lambda s: built(s, quotes=DOWN)),
    "its model's junk": (Reason.MODEL_FAILED, lambda s: built(s, quotes=JUNK)),
    "the summarizer's model": (Reason.MODEL_FAILED, lambda s: built(s, written=DOWN)),
    "the summarizer's junk": (Reason.MODEL_FAILED, lambda s: built(s, written=JUNK)),
    "the monitor": (
        Reason.MODEL_FAILED,
        lambda s: replace(built(s), monitor=Monitor(Broken(fails=True), 0.6)),
    ),
    "plain RAG": (Reason.MODEL_FAILED, lambda s: built(s, name="vanilla", written=DOWN)),
    "a decline": (Reason.MODEL_DECLINED, lambda s: built(s, name="vanilla", written="UNANSWERABLE")),
    "everything filtered": (Reason.NOTHING_RETRIEVED, lambda s: replace(built(s), filter=TakesAll())),
    "a low probability": (Reason.NOTHING_HIGHLIGHTED, lambda s: replace(built(s), highlighter=Unsure())),
    "a far guess": (Reason.GUESS_TOO_FAR, lambda s: built(s, written=FAR)),
}

PLAIN = ("plain RAG", "a decline")
"""Not split into questions."""


def seen_by_who_asks(result):
    """Every field that is not in the trace, those of the sub-answers included."""
    text = result.text if isinstance(result, Answer) else f"{result.reason} {result.detail}"
    below = [f"{part.question}\n{seen_by_who_asks(part.result)}" for part in result.sub_answers]
    return "\n".join([text, repr(result.highlights), *below])


def assert_clean(result):
    seen = seen_by_who_asks(result)
    assert CANARY not in seen
    assert not re.search(r"\d\.\d|http|/var|probability|similarity|scripted|model-", seen), seen


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_tells_who_asks_one_plain_sentence_and_the_operator_the_rest(store, case):
    reason, make = CASES[case]
    result = sync.run(make(store).ask(QUESTION))
    assert isinstance(result, Refusal)
    assert result.reason is reason
    assert result.detail.endswith((".", ")"))
    assert_clean(result)
    if reason is Reason.MODEL_FAILED:
        assert CANARY in result.trace.failure


def test_the_operator_has_the_numbers(store):
    unsure = sync.run(CASES["a low probability"][1](store).ask(QUESTION)).trace
    assert (unsure.probability, unsure.threshold) == (0.1234, 0.4321)
    far = sync.run(CASES["a far guess"][1](store).ask(QUESTION)).trace
    assert -1 <= far.similarity < 0.6


@dataclass
class Sure:
    probability: float | None

    async def highlight(self, query, passages):
        (passage,) = passages
        return Proposal((Span(passage.doc_id, 0, len(FEE)),), probability=self.probability, threshold=0.1)


@pytest.mark.parametrize(("probability", "weak"), [(None, False), (WEAK - 1e-4, True), (WEAK, False)])
def test_weak_evidence_is_a_word_and_no_number(store, probability, weak):
    result = sync.run(replace(built(store), highlighter=Sure(probability)).ask(QUESTION))
    assert (result.weak, result.trace.probability) == (weak, probability)
    assert_clean(result)


@pytest.mark.parametrize("case", [name for name in CASES if name not in PLAIN])
def test_nor_does_a_message_of_several_questions(store, case):
    made = CASES[case][1](store)
    result = sync.run(replace(made, most=2).ask(f"{QUESTION} {SECOND} Who has the key to it?"))
    assert len(result.sub_answers) == 3
    assert_clean(result)


def test_the_reasons_of_a_message(store):
    """What one message has no room for, and a question too many."""
    made = replace(built(store), policy=SpanPolicy(max_sentences=1), highlighter=EachItsOwn(), monitor=None)
    result = sync.run(replace(made, most=2).ask(f"{QUESTION} {SECOND} Who has the key?"))
    assert_clean(result)
    ended = [part.result.reason if isinstance(part.result, Refusal) else None for part in result.sub_answers]
    assert ended == [None, Reason.TOO_MANY_QUOTES, Reason.TOO_MANY_QUESTIONS]
    greeted = sync.run(replace(made, reception=Reception(store)).ask("Hello!"))
    assert_clean(greeted)
    reached = {reason for reason, _ in CASES.values()} | set(ended[1:]) | {greeted.reason}
    assert reached == set(Reason), "a Reason is not reached here: add its case"


class EachItsOwn:
    """The first sentence for the first question, the second one for the others."""

    async def highlight(self, query, passages):
        (passage,) = passages
        sentence = FEE if "fee" in query.text else DUE
        at = passage.text.index(sentence)
        return Proposal((Span(passage.doc_id, at, at + len(sentence)),))


@pytest.mark.parametrize("error", [CorpusError(CANARY), InputError(CANARY), EquipoiseError(CANARY)])
@pytest.mark.parametrize("where", ["filter", "retriever", "highlighter"])
def test_other_errors_are_raised_for_the_operator_and_are_none_for_who_asks(store, error, where):
    made = replace(built(store), **{where: Raises(error)})
    with pytest.raises(type(error)) as raised:
        sync.run(made.ask(QUESTION))
    assert not isinstance(raised.value, QuestionError)


@pytest.mark.parametrize("question", ["", "x" * 5000, "Who?\udcff"])
@pytest.mark.parametrize("name", ["hs", "vanilla"])
def test_what_is_wrong_with_a_question_is_for_who_asks(store, name, question):
    with pytest.raises(QuestionError) as raised:
        sync.run(built(store, name=name, encoder=Broken(fails=True)).ask(question))
    assert CANARY not in str(raised.value)
