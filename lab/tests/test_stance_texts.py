"""What the model of stance learns from: wordings of a claim, and what each does to a side."""

import pytest

from checkout import program

stance_texts = program("benchmarks/stance/stance_texts.py")


@pytest.mark.parametrize(
    ("claim", "form", "sign"),
    [
        ("We should ban bells", "Should we ban bells?", 1),
        ("We should ban bells", "We should not ban bells", -1),
        ("Bells should not be banned", "Should Bells be banned?", -1),
        ("Bells should not be banned", "Bells should not be banned", 1),
        ("Bells are loud", "It is not true that Bells are loud", -1),
        ("Should bells ring?", "Should bells ring?", 1),
    ],
)
def test_a_denied_claim_turns_the_side_round(claim, form, sign):
    assert dict(stance_texts.forms(claim))[form] == sign


def test_the_claim_itself_comes_first():
    for claim in ("We should ban bells", "Bells are loud", "Should bells ring?"):
        assert stance_texts.forms(claim)[0] == (claim, 1)
