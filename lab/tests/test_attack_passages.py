"""The file of attack passages: what is read, what is refused, what survives a kill."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import UnreadableFile
from equipoise_lab.attacks.passages import AttackPassage, Journal, Kind, Measures, read_passages, to_line

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
        ("{", "line 2 is not valid JSON"),
        ("[1]", "line 2 holds a list"),
        (ROW | {"_id": "b", "text": " "}, "line 2 has no text in 'text'"),
        (ROW | {"_id": 7}, "line 2 has no text in '_id'"),
        (ROW | {"_id": "b", "text": "half \ud800"}, "line 2 has half a surrogate pair in 'text'"),
        (ROW | {"_id": "b", "kind": "adv"}, "line 2 has the kind 'adv'"),
        (ROW | {"_id": "b", "n": 0}, "line 2 has 0 in 'n'"),
        (ROW | {"_id": "b", "n": True}, "line 2 has True in 'n'"),
        (ROW | {"_id": "b", "n": 2, "stance": 3}, "line 2 has 3 in 'stance'"),
        (ROW | {"_id": "b", "n": 2, "claim_polarity": 0}, "which must be an integer, -1 or 1"),
        (ROW | {"_id": "b", "n": 2, "ss": "high"}, "line 2 has 'high' in 'ss'"),
        ('{"ss": NaN, ' + json.dumps(ROW | {"_id": "b", "n": 2, "ps": 0.1})[1:], "line 2 has nan in 'ss'"),
        (ROW | {"_id": "b", "n": 2, "ss": 0, "ps": 0, "property_2": 1}, "line 2 has 1 in 'property_2'"),
        (ROW | {"n": 2}, "line 2 has the _id 'q1-syn01' of line 1"),
        (ROW | {"_id": "b"}, "line 2 is synthetic number 1 of 'q1', as line 1"),
        (ROW | {"_id": "b", "n": 2, "question": "Other?"}, "line 2 gives query_id 'q1' another question"),
    ],
)
def test_a_broken_line_is_refused_with_file_and_line(tmp_path, bad, said):
    path = written(tmp_path, ROW, bad)
    with pytest.raises(UnreadableFile) as caught:
        read_passages(path)
    assert str(caught.value).startswith(f"{path}: line 2 ")
    assert said in str(caught.value)


def test_a_variant_may_stand_beside_its_original(tmp_path):
    variant = ROW | {"_id": "q1-syn01~x", "variant": "x"}
    assert [p.variant for p in read_passages(written(tmp_path, ROW, variant))] == ["", "x"]


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_file_that_is_no_text_is_refused(tmp_path, content):
    path = tmp_path / "p.jsonl"
    if content:
        path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=str(path)):
        read_passages(path)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(texts, st.sampled_from(Kind), st.none() | st.integers(-2, 2), st.booleans())
def test_writing_and_reading_are_inverse(tmp_path_factory, text, kind, stance, measured):
    measures = Measures(0.125, -0.5, True, False) if measured else None
    passage = AttackPassage("i", "q", text, kind, 7, text, stance, -1, measures, {"model": text})
    path = tmp_path_factory.mktemp("inverse") / "p.jsonl"
    Journal(path).append([passage])
    assert read_passages(path) == (passage,)


@pytest.mark.parametrize("cut", range(1, 40, 7))
def test_half_a_last_line_is_cut_off_and_the_next_one_fits(tmp_path, cut):
    path = tmp_path / "deep" / "p.jsonl"
    passage = AttackPassage("a", "q", "Q?", Kind.ADV_POS, 1, "first text")
    two = AttackPassage("b", "q", "Q?", Kind.ADV_POS, 2, "second text")
    journal = Journal(path)
    assert journal.recover() == ()
    journal.append([passage])
    with path.open("a") as file:
        file.write(to_line(two)[:cut])
    assert journal.recover() == (passage,)
    journal.append([two])
    assert read_passages(path) == (passage, two)


def test_a_whole_last_line_without_its_end_is_kept(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(ROW))
    assert len(Journal(path).recover()) == 1
    assert path.read_text().endswith("}\n")


def test_a_broken_line_in_the_middle_is_not_forgiven(tmp_path):
    path = written(tmp_path, "{", ROW)
    with pytest.raises(UnreadableFile, match="line 1"):
        Journal(path).recover()


def test_settling_replaces_by_id_and_keeps_the_rest(tmp_path):
    path = tmp_path / "p.jsonl"
    passages = [AttackPassage(f"p{n}", "q", "Q?", Kind.ADV_POS, n, "text") for n in (1, 2, 3)]
    Journal(path).append(passages)
    newer = AttackPassage("p2", "q", "Q?", Kind.ADV_POS, 2, "text", measures=Measures(0.1, 0.2))
    Journal(path).settle([newer])
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
