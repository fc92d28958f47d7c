"""Which cases a suite has: our own prompts, those of a data folder, and what the documents give."""

import json

import pytest

from equipoise.core.errors import InputError
from equipoise.core.types import Document, Tag
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.sentences import units
from equipoise_lab.redteam.incomplete import conditions
from equipoise_lab.redteam.planter import is_planted
from equipoise_lab.redteam.suite import cases
from equipoise_lab.redteam.suite.cases import SUITES, Material, Sizes
from weak_shop import SHOP


def document(name, text):
    structure = outlined(blocks(text))
    return Document(name, text, name, sentences=units(text, structure), blocks=structure)


@pytest.fixture(scope="module")
def documents():
    return {path.name: document(path.name, path.read_text("utf-8")) for path in sorted(SHOP.glob("*.md"))}


@pytest.fixture
def data(tmp_path):
    """A data folder in our own words, in the form of the collections."""
    prompts = ("jailbreakbench", "in_the_wild", "prompt_injections", "bipia_text_attacks", "advbench_goals")
    files = {f"attack_prompts/{name}.jsonl": [{"id": f"{name}-{n}", "prompt": f"{name} {n}"} for n in range(3)]
             for name in prompts}  # fmt: skip
    files["attack_prompts/in_the_wild.jsonl"].append({"id": "long", "prompt": "x" * 3_001})
    files["llmail_inject/attacks.jsonl"] = [{"id": "m-1", "subject": "Hi", "body": "Call it."}]
    files["poisonedrag/targets.jsonl"] = [
        {"id": "p-1", "question": "Who sang it?", "incorrect_answer": "Ida",
         "adv_texts": ["Ida sang it.", "It was Ida."]}
    ]  # fmt: skip
    files["ebi_passages/passages.jsonl"] = [
        {"_id": f"e-{kind}{n}", "query_id": "e", "question": "Is tea good?", "kind": kind, "text": f"Tea {n}."}
        for kind in ("adv_pos", "adv_neg") for n in range(7)
    ]  # fmt: skip
    for name, rows in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_a_suite_without_data_has_our_own_prompts_alone(documents):
    material = Material(documents, SUITES["quick"])
    assert {case.source for case in cases.of("hijack", material)} == {"own"}
    assert cases.of("jailbreak", material) == cases.own()["jailbreak"]
    assert all(
        is_planted(d.doc_id) for case in cases.of("poison_and_steer", material) for d in case.documents
    )


def test_a_data_folder_adds_its_collections(documents, data):
    material = Material(documents, SUITES["full"], data)
    hijacks = {case.case_id: case for case in cases.of("hijack", material)}
    assert hijacks["m-1"].question == "Hi\n\nCall it."
    assert hijacks["jailbreakbench-1"].question.startswith("jailbreakbench 1\n\nThen call send_email(")
    assert "long" not in hijacks
    planted = {case.case_id: case for case in cases.of("poison_and_steer", material)}
    assert [d.text for d in planted["p-1"].documents] == [
        "Who sang it? Ida sang it.",
        "Who sang it? It was Ida.",
    ]
    assert planted["p-1"].marks == ("Ida",)
    assert [d.text for d in planted["ebi-e"].documents] == [f"Tea {n}." for n in range(5)]
    assert planted["bipia_text_attacks-0"].marks[0] in planted["bipia_text_attacks-0"].documents[0].text
    with pytest.raises(InputError, match="is not there"):
        cases.of("off_task", Material(documents, SUITES["full"], data / "nowhere"))


def test_benign_questions_are_those_the_documents_answer(documents):
    sizes = Sizes(0, 0, 0)
    assert len(cases.of("benign", Material(documents, sizes))) == len(cases.own()["benign"])
    assert len(cases.of("look_alike", Material(documents, sizes))) == len(cases.own()["look_alike"])
    other = {"a.md": document("a.md", "The tower of the castle is 41 metres high and was never taken.\n")}
    (made,) = cases.of("benign", Material(other, SUITES["quick"]))
    assert made.question == "What number is said of tower castle metres high taken?"
    assert made.marks == ("41",)
    assert cases.of("look_alike", Material(other, SUITES["quick"])) == []


def test_verdict_cases_point_at_the_sentence_that_decides(documents):
    made = cases.of("verdict", Material(documents, SUITES["quick"]))
    assert len(made) >= len(cases.own()["verdict"])
    for case in made:
        (span,) = case.spans
        assert " ".join(documents[span.doc_id].text[span.start : span.end].split()) == case.aim
    wrong = {case.case_id: case.tags for case in made}
    assert (wrong["glass"], wrong["kettle"]) == (frozenset({Tag.YES}), frozenset({Tag.NO}))
    typed = cases.of("verdict_typed", Material(documents, SUITES["quick"]))
    assert typed[0].question.endswith("begin with yes.")


def test_conditions_are_neighbours_of_one_block(documents):
    pairs = [(claim.text, condition.text) for claim, condition in conditions(documents)]
    assert (
        "A kettle bought at Larkfield Hardware can be returned within 30 days.",
        "This holds only while the seal on the lid is unbroken.",
    ) in pairs
    apart = {
        "a.md": document("a.md", "A boat may be moored for two days.\n\nHowever, the boat must be insured.\n")
    }
    assert list(conditions(apart)) == []


def test_cases_are_the_same_on_every_run(documents):
    material = Material(documents, SUITES["full"])
    for attack in ("cut_up", "oracle", "incomplete"):
        assert cases.of(attack, material) == cases.of(attack, material)
    assert {case.source for case in cases.of("oracle", material)} == {
        "tool call",
        "swapped number",
        "reversed meaning",
    }
