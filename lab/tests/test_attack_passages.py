"""The file of attack passages: what is read, what is refused, what survives a kill."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import InputError
from equipoise_lab.attacks.passages import AttackPassage, Kind, Measures, PassageFile, read_passages

ROW = {
    "_id": "q1-syn01",
    "query_id": "q1",
    "question": "Should tea be served?",
    "kind": "synthetic",
    "n": 1,
    "stance": 2,
    "claim_polarity": -1,
    "text": "Tea should be served.",
}


def written(tmp_path, *rows):
    path = tmp_path / "p.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_a_line_becomes_a_passage(tmp_path):
    measured = ROW | {"_id": "q1-neg01", "kind": "adv_neg", "ss": 0.5, "ps": -0.25, "property_1": True}
    first, second = read_passages(written(tmp_path, ROW, "", measured | {"model": "m"}))
    assert first == AttackPassage(
        "q1-syn01", "q1", "Should tea be served?", Kind.SYNTHETIC, 1, "Tea should be served.", 2, -1
    )
    assert second.measures == Measures(0.5, -0.25, True, None)
    assert second.extra == {"model": "m"}


def test_stance_and_polarity_may_be_missing(tmp_path):
    row = {name: value for name, value in ROW.items() if name not in ("stance", "claim_polarity")}
    (passage,) = read_passages(written(tmp_path, row))
    assert (passage.stance, passage.claim_polarity) == (None, 1)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "Invalid JSON"),
        ("[1]", "Input should be an object"),
        (ROW | {"_id": "b", "text": " "}, "'text'"),
        (ROW | {"_id": 7}, "'_id': Input should be a valid string"),
        (ROW | {"_id": "b", "text": "half \ud800"}, "Invalid JSON"),
        (ROW | {"_id": "b", "kind": "adv"}, "'kind': Input should be 'synthetic', 'adv_pos' or 'adv_neg'"),
        (ROW | {"_id": "b", "n": 0}, "'n': Input should be greater than or equal to 1"),
        (ROW | {"_id": "b", "n": True}, "'n': Input should be a valid integer"),
        (ROW | {"_id": "b", "n": 2, "stance": 3}, "'stance'"),
        (ROW | {"_id": "b", "n": 2, "claim_polarity": 0}, "'claim_polarity': Input should be 1 or -1"),
        (ROW | {"_id": "b", "n": 2, "ss": "high"}, "'ss'"),
        (ROW | {"_id": "b", "n": 2, "ss": 0.5}, "'ss' and 'ps' belong together"),
        ('{"ss": NaN, ' + json.dumps(ROW | {"_id": "b", "n": 2, "ps": 0.1})[1:], "'ss'"),
        (ROW | {"_id": "b", "n": 2, "ss": 0, "ps": 0, "property_2": 1}, "'property_2'"),
        (ROW | {"n": 2}, "has the _id 'q1-syn01' of "),
        (ROW | {"_id": "b"}, "has the place ('q1', 'synthetic', '1', '') of "),
        (ROW | {"_id": "b", "n": 2, "question": "Other?"}, "query_id 'q1' has another question"),
    ],
)
def test_a_broken_line_is_refused_with_file_and_line(tmp_path, bad, said):
    path = written(tmp_path, ROW, bad)
    with pytest.raises(InputError) as caught:
        read_passages(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_variant_may_stand_beside_its_original(tmp_path):
    variant = ROW | {"_id": "q1-syn01~x", "variant": "x"}
    assert [p.variant for p in read_passages(written(tmp_path, ROW, variant))] == ["", "x"]


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_file_that_is_no_text_is_refused(tmp_path, content):
    path = tmp_path / "p.jsonl"
    if content:
        path.write_bytes(content)
    with pytest.raises(InputError, match=str(path)):
        read_passages(path)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(texts, st.sampled_from(Kind), st.none() | st.integers(-2, 2), st.booleans())
def test_writing_and_reading_are_inverse(tmp_path_factory, text, kind, stance, measured):
    measures = Measures(0.125, -0.5, True, False) if measured else None
    passage = AttackPassage("i", "q", text, kind, 7, text, stance, -1, measures, {"model": text})
    path = tmp_path_factory.mktemp("inverse") / "p.jsonl"
    PassageFile(path).append([passage])
    assert read_passages(path) == (passage,)


@pytest.mark.parametrize("cut", range(1, 40, 7))
def test_half_a_last_line_is_cut_off_and_the_next_one_fits(tmp_path, cut):
    path = tmp_path / "deep" / "p.jsonl"
    passage = AttackPassage("a", "q", "Q?", Kind.ADV_POS, 1, "first text")
    two = AttackPassage("b", "q", "Q?", Kind.ADV_POS, 2, "second text")
    journal = PassageFile(path)
    assert journal.recover() == ()
    journal.append([passage])
    with path.open("a") as file:
        file.write(json.dumps(two.row())[:cut])
    assert journal.recover() == (passage,)
    journal.append([two])
    assert read_passages(path) == (passage, two)


def test_a_broken_line_in_the_middle_is_not_forgiven(tmp_path):
    path = written(tmp_path, "{", ROW)
    with pytest.raises(InputError, match=r"p\.jsonl:1: "):
        PassageFile(path).recover()


def test_settling_replaces_by_id_and_keeps_the_rest(tmp_path):
    path = tmp_path / "p.jsonl"
    passages = [AttackPassage(f"p{n}", "q", "Q?", Kind.ADV_POS, n, "text") for n in (1, 2, 3)]
    PassageFile(path).append(passages)
    newer = AttackPassage("p2", "q", "Q?", Kind.ADV_POS, 2, "text", measures=Measures(0.1, 0.2))
    PassageFile(path).settle([newer])
    assert read_passages(path) == (passages[0], newer, passages[2])
    assert [p.name for p in tmp_path.iterdir()] == ["p.jsonl"]


def test_ready_made_passages_are_read_whole(sample_data):
    file = sample_data / "ebi_passages" / "passages.jsonl"
    passages = read_passages(file)
    assert [p.passage_id for p in passages] == [
        json.loads(line)["_id"] for line in file.open(encoding="utf-8")
    ]
    assert {p.kind for p in passages} == set(Kind)
    assert all(p.stance is not None and p.measures is None and not p.extra for p in passages)
