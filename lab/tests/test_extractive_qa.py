"""Extractive question answering by a tiny model, trained here: spans, windows, the score of no answer."""

import math
import os
import subprocess
import sys

import pytest

from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.core.sync import run
from equipoise.core.types import Passage, Query, Span
from equipoise_lab.methods.extractive_qa import ExtractiveQAHighlighter
from equipoise_lab.models.extractive import DEFAULT, ExtractiveQA
from tiny_qa import save_qa_model, word_tokenizer

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'equipoise[hf]'")
transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: pip install 'equipoise[hf]'"
)

FILLERS = [
    "the",
    "old",
    "mill",
    "stands",
    "near",
    "a",
    "quiet",
    "river",
    "and",
    "people",
    "walk",
    "there",
    "on",
    "sunny",
    "days",
]
ANIMALS, COLOURS, SIZES = ["cat", "dog", "owl", "fox"], ["red", "blue", "grey"], ["big", "small"]
QUESTIONS = {"which animal ?": ANIMALS, "which colour ?": COLOURS}
POSITIONS = 32


def draw(rng):
    """An animal with its size ("big cat") is one answer, a colour the other, in 5 to 20 other words; or none."""
    question = rng.choice(list(QUESTIONS))
    words = [rng.choice(FILLERS) for _ in range(rng.randint(5, 20))]
    answers = {
        "which animal ?": f"{rng.choice(SIZES)} {rng.choice(ANIMALS)}",
        "which colour ?": rng.choice(COLOURS),
    }
    present = [name for name in QUESTIONS if rng.random() < 0.6]
    for name in present:
        words.insert(rng.randint(0, len(words)), answers[name])
    return question, " ".join(words), answers[question] if question in present else ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qa")
    words = [" ".join([*FILLERS, *ANIMALS, *COLOURS, *SIZES, *QUESTIONS, "."])]
    assert save_qa_model(folder, draw, words, positions=POSITIONS, steps=300) < 0.1
    return str(folder)


@pytest.fixture(scope="module")
def model(folder):
    return ExtractiveQA(folder, stride=8)


def find(model, question, *texts):
    return run(model.find(question, texts))


def fillers(count):
    return " ".join(FILLERS[n % len(FILLERS)] for n in range(count))


class TestSpans:
    @pytest.mark.parametrize(
        ("question", "answer"), [("which animal ?", "small owl"), ("which colour ?", "grey")]
    )
    @pytest.mark.parametrize("before", [0, 3, 9])
    def test_the_answer_is_found_where_it_stands(self, model, question, answer, before):
        text = f"{fillers(before)} small owl {fillers(4)} grey {fillers(3)}"
        (prediction,) = find(model, question, text)
        assert text[prediction.start : prediction.end] == answer
        assert prediction.probability > 0.9

    @pytest.mark.parametrize(
        ("question", "text"), [("which animal ?", "the grey river"), ("which colour ?", "a big fox there")]
    )
    def test_no_answer_scores_below_a_half(self, model, question, text):
        (prediction,) = find(model, question, text)
        assert prediction.probability < 0.1

    def test_many_texts_are_answered_apart(self, model):
        texts = ["near a big dog", fillers(70), "", " \n ", f"{fillers(60)} big cat"]
        dog, nothing, *blanks, cat = find(model, "which animal ?", *texts)
        assert texts[0][dog.start : dog.end] == "big dog"
        assert nothing.probability < 0.1
        assert blanks == [None, None]
        assert texts[4][cat.start : cat.end] == "big cat"
        assert cat.probability > 0.9

    def test_batches_change_nothing(self, folder):
        texts = [f"{fillers(n)} big cat {fillers(40 - n)}" for n in range(0, 40, 7)]
        together = find(ExtractiveQA(folder, stride=8, batch=16), "which animal ?", *texts)
        alone = find(ExtractiveQA(folder, stride=8, batch=1), "which animal ?", *texts)
        assert [f[:2] for f in together] == [f[:2] for f in alone]
        assert [f.probability for f in together] == pytest.approx([f.probability for f in alone], abs=1e-5)

    def test_text_that_utf8_cannot_carry_is_read(self, model):
        assert len(find(model, "Who is \ud800?", "broken \ud800 pdf")) == 1


class TestWindows:
    """The model reads 32 tokens: 3 of the question, 3 special, 26 of the text."""

    @staticmethod
    def wholly_found(model):
        """At which of 60 places in a text of 90 words the two-word answer is found whole."""
        texts = [f"{fillers(n)} big cat {fillers(88 - n)}".strip() for n in range(60)]
        predictions = find(model, "which animal ?", *texts)
        return [
            n
            for n, (text, answer) in enumerate(zip(texts, predictions, strict=True))
            if text[answer.start : answer.end] == "big cat" and answer.probability > 0.5
        ]

    def test_an_answer_across_a_border_is_found_in_the_next_window(self, model):
        assert self.wholly_found(model) == list(range(60))

    def test_without_overlap_it_is_lost(self, folder):
        """Borders lie after 26 and 52 words: an answer at place 25 or 51 is cut in two."""
        lost = set(range(60)) - set(self.wholly_found(ExtractiveQA(folder, stride=0)))
        assert lost == {25, 51}

    def test_a_long_question_is_cut_and_leaves_room_for_the_text(self, model):
        (prediction,) = find(model, "which animal ? " + "river " * 500, "near a big dog")
        assert prediction is not None

    def test_the_lowest_score_of_no_answer_of_any_window_counts(self, folder):
        """One window has the answer, the others say "no answer": the text has one."""
        text = f"{fillers(30)} big cat {fillers(150)}"
        (prediction,) = find(ExtractiveQA(folder, stride=8), "which animal ?", text)
        assert prediction.probability > 0.9


def by_hand(folder, question, text):
    """(start, end, probability): every span tried, one by one, on what transformers gives."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    plain = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    inputs = tokenizer(question, text, return_tensors="pt", return_offsets_mapping=True)
    offsets = inputs.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        said = plain(**inputs)
    first, last = said.start_logits[0].tolist(), said.end_logits[0].tolist()
    tokens = [n for n, side in enumerate(inputs.sequence_ids(0)) if side == 1]
    best, a, b = max((first[a] + last[b], a, b) for a in tokens for b in tokens if a <= b)
    return offsets[a][0], offsets[b][1], 1 / (1 + math.exp(first[0] + last[0] - best))


class TestScore:
    @pytest.mark.parametrize("text", ["near a big dog on sunny days", "the quiet river", "grey"])
    def test_it_is_the_logistic_of_best_span_less_no_answer(self, folder, model, text):
        (prediction,) = find(model, "which animal ?", text)
        assert prediction == pytest.approx(by_hand(folder, "which animal ?", text), abs=1e-5)

    def test_debertas_kind_of_model_and_of_tokens(self, tmp_path):
        """Random weights; tokens that count the space before a word to it: an answer begins after the space."""
        tokenizer = word_tokenizer(transformers, [" ".join(FILLERS)], metaspace=True)
        tokenizer.save_pretrained(tmp_path)
        torch.manual_seed(3)
        config = transformers.DebertaV2Config(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            type_vocab_size=0,
            relative_attention=True,
            position_buckets=16,
            norm_rel_ebd="layer_norm",
            share_att_key=True,
            pos_att_type=["p2c", "c2p"],
            initializer_range=1.0,
        )
        transformers.DebertaV2ForQuestionAnswering(config).save_pretrained(tmp_path)
        spaced = 0
        for n in range(12):
            text = " ".join(FILLERS[n:] + FILLERS[:n])
            (prediction,) = find(ExtractiveQA(str(tmp_path)), "old mill", text)
            start, end, probability = by_hand(str(tmp_path), "old mill", text)
            spaced += text[start] == " "
            assert (prediction.start, prediction.end) == (start + (text[start] == " "), end)
            assert prediction.probability == pytest.approx(probability, abs=1e-4)
        assert spaced, "no answer of this model begins with a space: take other weights"


class TestWhatCannotBeUsed:
    def test_a_model_that_was_trained_for_something_else(self, tmp_path):
        word_tokenizer(transformers, ["a b"]).save_pretrained(tmp_path)
        config = transformers.BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                         intermediate_size=8, max_position_embeddings=16)  # fmt: skip
        transformers.BertForMaskedLM(config).save_pretrained(tmp_path)
        with pytest.raises(
            InputError, match=r"not trained for extractive question answering.*highlight\.qa_model"
        ):
            find(ExtractiveQA(str(tmp_path)), "a", "b")

    def test_offline_the_default_model_says_what_to_do(self, tmp_path):
        code = (
            "from equipoise.core.sync import run; from equipoise_lab.models.extractive import ExtractiveQA\n"
            "from equipoise.core.errors import ModelUnavailable\n"
            "try: run(ExtractiveQA().find('a', ['b']))\n"
            "except ModelUnavailable as error: print(error)"
        )
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        assert f"the question answering model {DEFAULT} cannot be loaded" in done.stdout
        assert len(done.stdout.splitlines()) == 1

    def test_a_folder_without_a_model_says_what_to_do(self, tmp_path):
        with pytest.raises(ModelUnavailable, match="name a folder that holds it"):
            find(ExtractiveQA(str(tmp_path)), "a", "b")


FIRST = Passage(1, "d", 10, 55, "people walk there . near a big dog . the mill", "D")
SECOND = Passage(2, "e", 0, 33, "the river . a small owl . the end", "E")


class TestHighlighter:
    def highlight(self, model, question, passages, **more):
        return run(ExtractiveQAHighlighter(model, **more).highlight(Query(question), passages))

    @pytest.fixture
    def sentences(self, monkeypatch):
        """The tiny model's texts have marks apart: cut them there."""

        def cut(text):
            ends = [n + 1 for n, c in enumerate(text) if c == "."] + [len(text)]
            return tuple(zip([0, *[e + 1 for e in ends[:-1]]], ends, strict=True))

        monkeypatch.setattr("equipoise.rag.highlighters.sentences.sentence_spans", cut)

    def test_the_answer_is_widened_to_its_sentence(self, model, sentences):
        proposal = self.highlight(model, "which animal ?", [FIRST])
        assert proposal.spans == (Span("d", 30, 46),)
        assert FIRST.text[20:36] == "near a big dog ."

    def test_the_likeliest_answer_of_all_passages_is_taken(self, model, sentences):
        predictions = find(model, "which animal ?", FIRST.text, SECOND.text)
        likelier = max((FIRST, SECOND), key=lambda p: predictions[p.passage_id - 1].probability)
        (span,) = self.highlight(model, "which animal ?", [FIRST, SECOND]).spans
        assert span.doc_id == likelier.doc_id
        both = self.highlight(model, "which animal ?", [FIRST, SECOND], most=2).spans
        assert {s.doc_id for s in both} == {"d", "e"}

    def test_it_declines_below_the_threshold(self, model, sentences):
        (likely,) = find(model, "which animal ?", FIRST.text)
        at = {"threshold": likely.probability}
        assert self.highlight(model, "which animal ?", [FIRST], **at).spans
        assert not self.highlight(model, "which animal ?", [FIRST], threshold=likely.probability + 1e-9).spans
        assert not self.highlight(model, "which colour ?", [FIRST]).spans
        assert self.highlight(model, "which colour ?", [FIRST], threshold=0.0).spans
