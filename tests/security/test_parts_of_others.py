"""Retrievers, filters and stores of somebody else: what they get wrong is an error or a flag, never a hole."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from equipoise.core import sync
from equipoise.core.errors import CorpusError
from equipoise.core.protocols import Retriever
from equipoise.core.results import Answer
from equipoise.core.types import Candidates, Document, Filtered, Flag, Passage
from equipoise.rag.filters import BiasDefFilter, NoFilter
from equipoise.rag.highlighters.sentence import SentenceHighlighter, calibration
from equipoise.rag.pipeline import HighlightSummarize
from equipoise.rag.search import NOT_SAID, OVER
from equipoise.rag.summarizers.extractive import ExtractiveSummarizer
from equipoise.text.questions import Question
from equipoise.text.sentences import sentence_spans
from equipoise_lab.methods.filters import MmrFilter
from hashed_words import HashedWords

TEXTS = {
    "tea": "Tea is poured at four o'clock in the green room. Milk is poured first.",
    "ink": "Ink is kept in the cellar, and only the clerk has the key to it.",
    "oak": "The old oak was felled in 1987 after a storm had split it in two.",
}
QUESTION = "When is tea poured in the green room?"
ENCODER = HashedWords(64)
ANY = NoFilter()


def document(name, text):
    return Document(name, text, f"{name}.txt", name.title(), sentences=sentence_spans(text))


@dataclass
class OfMyOwn:
    """No store: each text is a document of one passage. `spoil` changes what it returns."""

    spoil: object = staticmethod(lambda candidates: candidates)

    def retrieve(self, query, *, k):
        documents = {name: document(name, text) for name, text in TEXTS.items()}
        vectors = ENCODER.encode(list(TEXTS.values()))
        vector = ENCODER.encode([query.text])[0]
        scores = vectors @ vector
        order = np.argsort(-scores, kind="stable")[:k]
        passages = [Passage(n, name, 0, len(text), text) for n, (name, text) in enumerate(TEXTS.items())]
        ordered = tuple(passages[row] for row in order)
        return self.spoil(Candidates(ordered, scores[order], vectors[order], vector, documents))


def pipeline(retriever, chosen=ANY, k=2):
    highlighter = SentenceHighlighter(ENCODER, calibration(), threshold=0.0)
    return HighlightSummarize(
        retriever, chosen, k=k, highlighter=highlighter, summarizer=ExtractiveSummarizer()
    )


def ask(spoil=lambda candidates: candidates, chosen=ANY, **more):
    return sync.run(pipeline(OfMyOwn(spoil), chosen, **more).ask(QUESTION))


def ids(result):
    return [scored.passage.passage_id for scored in result.trace.passages]


class TestRetriever:
    def test_one_without_a_store_is_easy(self):
        result = ask()
        assert isinstance(OfMyOwn(), Retriever)
        assert isinstance(result, Answer)
        assert "four o'clock" in result.text
        assert result.highlights.items[0].source == "tea.txt"

    @pytest.mark.parametrize("chosen", [NoFilter(), MmrFilter(), BiasDefFilter()])
    def test_repeats_are_one_passage(self, chosen):
        twice = ask(lambda candidates: candidates.take([0, 0, 1, 0, 2, 1]), chosen)
        assert ids(twice) == ids(ask(chosen=chosen))

    def test_more_than_was_asked_for_is_cut(self):
        made = replace(pipeline(OfMyOwn(lambda candidates: candidates)), filter=NoFilter(), k=1, candidates=1)
        assert len(ids(sync.run(made.ask(QUESTION)))) == 1

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda candidates: replace(candidates, documents={}),
            lambda candidates: replace(candidates, documents={n: document(n, "Other words.") for n in TEXTS}),
            lambda candidates: replace(
                candidates, passages=tuple(replace(p, end=p.end + 9) for p in candidates.passages)
            ),
            lambda candidates: replace(
                candidates, passages=tuple(replace(p, start=-3) for p in candidates.passages)
            ),
        ],
        ids=["no document", "another text", "beyond the end", "before the start"],
    )
    def test_passages_that_do_not_stand_in_their_documents_are_an_error(self, spoil):
        with pytest.raises(
            CorpusError, match=r"put the document of every passage into Candidates\.documents"
        ):
            ask(spoil)

    def test_texts_that_change_between_two_questions_are_an_error(self):
        versions = iter(["", " Since May it is poured at five."])

        def changing(candidates):
            tea = candidates.documents["tea"]
            newer = document("tea", tea.text + next(versions))
            return replace(candidates, documents={**candidates.documents, "tea": newer})

        with pytest.raises(CorpusError, match="changed between two questions"):
            sync.run(
                pipeline(OfMyOwn(changing)).ask_all(
                    [Question(QUESTION), Question("Who has the key to the ink?")]
                )
            )


@dataclass
class Chooses:
    """A filter that returns what it is told."""

    choose: object

    async def filter(self, query, candidates, *, k):
        return self.choose(candidates)


class TestFilter:
    def test_what_it_leaves_out_without_a_word_is_flagged(self):
        result = ask(chosen=Chooses(lambda candidates: Filtered(candidates.take([1]))))
        assert len(ids(result)) == 1
        assert [flag.reason for flag in result.trace.flagged] == [NOT_SAID]
        assert result.trace.flagged[0].passage.doc_id == "tea"

    def test_what_it_keeps_beyond_k_is_flagged(self):
        result = ask(chosen=Chooses(Filtered), k=1)
        assert (len(ids(result)), [flag.reason for flag in result.trace.flagged]) == (1, [OVER] * 2)

    def test_what_it_flags_is_not_read_though_it_keeps_it(self):
        result = ask(chosen=Chooses(lambda f: Filtered(f, (Flag(f.passages[0], "bad", 1.0),))))
        assert result.trace.flagged[0].passage.passage_id not in ids(result)

    def test_it_cannot_bring_or_change_a_passage(self):
        other = Passage(99, "tea", 0, 3, "Tea")
        with pytest.raises(CorpusError, match="kept passage 99, which was not retrieved"):
            ask(chosen=Chooses(lambda f: Filtered(replace(f, passages=(other, *f.passages[1:])))))
        forged = Chooses(
            lambda f: Filtered(replace(f, passages=tuple(replace(p, text="GOLD", end=4) for p in f.passages)))
        )
        assert all("GOLD" not in s.passage.text for s in ask(chosen=forged).trace.passages)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
    def test_a_vector_that_cannot_be_used_is_an_error_for_the_operator(self, bad):
        spoil = lambda candidates: replace(candidates, embeddings=candidates.embeddings * np.float32(bad))  # noqa: E731
        with pytest.raises(CorpusError, match="zero or not finite"), np.errstate(invalid="ignore"):
            ask(spoil, MmrFilter())
