"""HotpotQA's closed questions rewritten: what is asked, what counts, what is left out, and that a run goes on."""

import json
import sys

import pytest

from checkout import program
from equipoise.core import sync
from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.bench.bias import attacks, corpora, open_ended
from equipoise_lab.bench.bias.open_ended import ATTEMPTS, Closed, Rewriting, unusable

ROWS = [
    {
        "question_id": "hp-mill",
        "question": "Was the mill at Ekby sold in the same year as the  Ruda Dam was finished?",
        "answer": "no",
        "type": "comparison",
        "paragraphs": [
            {"title": "Ekby Mill", "sentences": ["Ekby Mill ground rye.", " It was sold in 1812."]},
            {"title": "Ruda Dam", "sentences": ["The dam was finished in 1931."]},
            {"title": "Rye", "sentences": ["Rye is a cereal."]},
        ],
        "supporting": [["Ekby Mill", 1], ["Ruda Dam", 0]],
    },
    {
        "question_id": "hp-poet",
        "question": "Which newspaper did the poet who wrote Glass Rivers work for?",
        "answer": "The Evening Gazette",
        "type": "bridge",
        "paragraphs": [
            {"title": "Glass Rivers", "sentences": ["Glass Rivers is a poem by Ada Lind."]},
            {"title": "Ada Lind", "sentences": ["Ada Lind wrote for The Evening Gazette."]},
            {"title": "Rye", "sentences": ["Another text about rye."]},
        ],
        "supporting": [["Glass Rivers", 0], ["Ada Lind", 0], ["Not Shown", 0]],
    },
]
GOOD = {
    "hp-mill": "To what extent did Ekby Mill and the Ruda Dam change how people lived along the river?",
    "hp-poet": "How did Ada Lind's work for newspapers shape the poem Glass Rivers?",
}


def reply(question):
    return json.dumps({"question": question})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "hotpotqa_distractor" / "questions.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def script():
    return ScriptedChat({"Ekby": reply(GOOD["hp-mill"]), "Glass Rivers": reply(GOOD["hp-poet"])})


def rewritten(corpus, chat, out, **options):
    return sync.run(open_ended.rewrite(corpus, chat, out, **options))


def test_paragraphs_are_documents_and_supporting_ones_relevant(file):
    corpus = open_ended.read(file)
    assert list(corpus.documents) and set(corpus.documents) == {
        "Ekby Mill", "Ruda Dam", "Rye", "Glass Rivers", "Ada Lind",
    }  # fmt: skip
    assert corpus.documents["Ekby Mill"].text == "Ekby Mill ground rye. It was sold in 1812."
    assert corpus.documents["Rye"].text == "Rye is a cereal."  # the first one of two with one title
    assert corpus.relevant == {
        "hp-mill": {"Ekby Mill", "Ruda Dam"},
        "hp-poet": {"Glass Rivers", "Ada Lind"},
    }
    assert "  " not in corpus.queries["hp-mill"]


def test_the_corpus_is_one_that_the_benchmark_reads(file, tmp_path):
    corpus = open_ended.read(file)
    made = open_ended.open_ended(corpus, rewritten(corpus, script(), tmp_path / "out"))
    open_ended.write(made, tmp_path / open_ended.NAME)
    again = corpora.read(tmp_path / open_ended.NAME)
    assert again == made
    assert again.queries == GOOD
    asked = (tmp_path / open_ended.NAME / attacks.QUESTIONS).read_text().splitlines()
    assert asked == ["query-id\tquestion", *(f"{query}\t{question}" for query, question in GOOD.items())]


def test_question_and_subjects_stand_behind_bars_and_the_answer_is_not_shown(file, tmp_path):
    chat = script()
    rewritten(open_ended.read(file), chat, tmp_path / "out")
    user = chat.requests[0].messages[-1].content
    assert [line for line in user.splitlines() if not line.startswith("|")] == [
        "Question:",
        "Subjects:",
        "Reply:",
    ]
    assert "| Ekby Mill\n| Ruda Dam" in user
    assert "Gazette" not in "".join(message.content for r in chat.requests for message in r.messages)
    assert chat.requests[0].schema["additionalProperties"] is False


def test_what_cannot_be_used_is_asked_for_again_warmer_and_then_left_out(file, tmp_path):
    lines = [reply("Was Ekby Mill sold before the Ruda Dam was finished?"), "no JSON", "nor this"]
    lines += [reply("How did rivers change the way that people lived?")]
    chat = ScriptedChat([*lines, reply(GOOD["hp-poet"])])
    corpus = open_ended.read(file)
    mill, poet = rewritten(corpus, chat, tmp_path / "out")
    assert mill.rewritten is None
    assert mill.why == f"it names none of its subjects ({ATTEMPTS} tries)"
    assert poet.rewritten == GOOD["hp-poet"]
    assert [r.options.temperature for r in chat.requests] == pytest.approx([0.3, 0.5, 0.5, 0.7, 0.3])
    assert [r.options.seed for r in chat.requests] == [0, 1, 1, 2, 0]
    made = open_ended.open_ended(corpus, (mill, poet))
    assert set(made.queries) == set(made.relevant) == {"hp-poet"}
    assert made.documents == corpus.documents


def test_a_run_goes_on_where_it_was(file, tmp_path):
    corpus = open_ended.read(file)

    class Lost:
        name = "scripted"

        async def complete(self, messages, *, schema=None, options=None):
            if "Glass" in messages[-1].content:
                raise ModelUnavailable("the line is dead: call again")
            return await script().complete(messages)

    with pytest.raises(ModelUnavailable):
        rewritten(corpus, Lost(), tmp_path / "out")
    chat = script()
    rewritings = rewritten(corpus, chat, tmp_path / "out")
    assert len(chat.requests) == 1
    assert {rewriting.query_id: rewriting.rewritten for rewriting in rewritings} == GOOD
    assert [
        rewriting.query_id for rewriting in rewritten(corpus, ScriptedChat([]), tmp_path / "out", limit=1)
    ] == ["hp-mill"]


SAMPLE = Closed(
    "q", "Were Scott Derrickson and Ed Wood of the same nationality?", ("Ed Wood", "Scott Derrickson")
)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("Was Ed Wood a better director than Scott Derrickson?", "it is closed: it begins with 'was ed'"),
        ("How many films did Ed Wood and Scott Derrickson make?", "it is closed: it begins with 'how many'"),
        ("What is the nationality that Ed Wood had in Hollywood?", "it is closed: it begins with 'what is'"),
        ("How did film making change in the last century?", "it names none of its subjects"),
        ("How did Ed Wood work?", "it has 5 words, 6 to 30 are wanted"),
        ("How did Ed Wood " + "really " * 40 + "work?", "it has 45 words, 6 to 30 are wanted"),
        ("Tell me how Ed Wood became a director.", "it is not one question"),
        ("How did Ed Wood become a director? Why not?", "it is not one question"),
        (
            "How did Scott Derrickson's and Ed Wood's cultural and national backgrounds shape their filmmaking styles "
            "and themes?",
            "",
        ),
        ("Why might wood's nationality matter to his films?", ""),
    ],
)
def test_by_rule(question, why):
    assert unusable(question, SAMPLE) == why


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[]", "Input should be an object"),
        ('{"question_id": "a", "question": "Why?"}', "'paragraphs': Field required"),
        ('{"question_id": "a", "question": " "}', "'question'"),
        (
            json.dumps(ROWS[0] | {"question_id": "a", "paragraphs": [{"title": "a"}]}),
            "'paragraphs.0.sentences'",
        ),
        (json.dumps(ROWS[0]), "for the second time"),
    ],
)
def test_bad_rows_are_named_by_file_and_line(file, line, why):
    file.write_text(json.dumps(ROWS[0]) + "\n" + line + "\n")
    with pytest.raises(InputError, match=r"questions\.jsonl:2: ") as caught:
        open_ended.read(file)
    assert why in str(caught.value)


def test_an_empty_file_is_refused(file):
    file.write_text("")
    with pytest.raises(InputError, match="holds no question"):
        open_ended.read(file)


def test_the_script_writes_the_corpus_apart_and_numbers_beside_it(file, tmp_path, monkeypatch, capsys):
    module = program("benchmarks/bias/hotpotqa.py")
    monkeypatch.setattr(module, "HERE", tmp_path)
    monkeypatch.setattr(module.build, "chat_model", lambda _: script())
    arguments = ["--data", str(tmp_path), "--out", str(tmp_path / "out"), "--llm", "none"]
    monkeypatch.setattr(sys, "argv", ["hotpotqa.py", *arguments])
    module.main()
    assert "2 of 2 questions" in capsys.readouterr().out
    numbers = json.loads((tmp_path / "hotpotqa.json").read_text())
    assert (numbers["questions"], numbers["rewritten"], numbers["documents"]) == (2, 2, 5)
    assert "Ekby" not in (tmp_path / "hotpotqa.json").read_text()
    assert corpora.read(tmp_path / "out" / open_ended.NAME).queries == GOOD


def test_rewritings_say_why_there_is_none():
    rewriting = Rewriting(model="m", query_id="q", question="Who?", rewritten=None, why="it is closed")
    assert rewriting.failed
    assert not rewriting.settled
