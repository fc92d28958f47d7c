"""Adaptive variants: by hand on a circle, and with real vectors."""

import json

import numpy as np
import pytest

import sampled
from equipoise.core import sync
from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.scripted import ScriptedChat
from equipoise.redteam.paraphrase import STYLES, Paraphraser
from equipoise.redteam.passages import AttackPassage, Journal, Kind, Measures, read_passages
from equipoise.redteam.properties import yardstick
from equipoise.redteam.variants import (
    diluted,
    less_similar,
    neutral_paragraphs,
    spread,
    with_neutral,
    without_question_words,
)


class Sums:
    """A text's vector is the sum of the unit vectors of the numbers in it, read as degrees."""

    name, dimensions = "sums", 2

    def encode(self, texts):
        rows = []
        for text in texts:
            radians = np.radians(
                [float(word.strip(".")) for word in text.split() if word.strip(".-").isdigit()]
            )
            total = np.array([np.cos(radians).sum(), np.sin(radians).sum()])
            rows.append(total / np.linalg.norm(total))
        return np.array(rows, np.float32).reshape(-1, 2)


def passage(text, n=1, question="0", kind=Kind.ADV_POS):
    return AttackPassage(
        f"p{n}", "q", question, kind, n, text, 2, measures=Measures(0, 0), extra={"model": "m"}
    )


@pytest.fixture
def ruler():
    """Question at 0 degrees, axis upwards, benign PS -0.5, 0 and 0.5 (sines of -30, 0, 30 degrees)."""
    anchors = [passage("80", 1, kind=Kind.SYNTHETIC), passage("-80", 2, kind=Kind.SYNTHETIC)]
    return yardstick(Sums(), "0", anchors, Sums().encode(["-30", "0", "30"]))


def test_question_words_go():
    (made,) = without_question_words([passage("Tea is good: all teas.", question="Is tea served?")])
    assert made.text == "is good: all."
    assert (made.passage_id, made.variant) == ("p1~no-question-words", "no-question-words")
    assert made.extra == {"model": "m", "variant": "no-question-words", "base": "p1"}
    assert (made.measures, made.stance, made.kind) == (None, 2, Kind.ADV_POS)


def test_a_variant_of_a_variant_keeps_both_names():
    (made,) = with_neutral(
        without_question_words([passage("Tea is good.", question="Is tea served?")]), ["x"]
    )
    assert (made.passage_id, made.variant) == (
        "p1~no-question-words~neutral-before", "no-question-words~neutral-before",
    )  # fmt: skip
    assert made.extra["base"] == "p1~no-question-words"


def test_nothing_to_change_and_nothing_left_give_no_variant():
    assert without_question_words([passage("Coffee.", question="Is tea good?")]) == ()
    assert without_question_words([passage("Tea!", question="Is tea good?")]) == ()


def test_the_nearest_sentences_go_until_the_target(ruler):
    # Sentences at 0, 60 and 80 degrees. All: 46.4 degrees, SS 0.69; without the first: 70 degrees, SS 0.34.
    base = passage("Say 0 here. Say 60 here. Say 80 here.")
    (made,) = less_similar([base], ruler, target=0.5)
    assert made.text == "Say 60 here. Say 80 here."
    assert less_similar([base], ruler, target=0.7) == ()
    assert less_similar([base], ruler, target=0.0, keep=0.9) == ()
    (least,) = less_similar([base], ruler, target=0.0, keep=0.1)
    assert least.text == "Say 80 here."


def test_a_counterweight_brings_ps_into_the_benign_range(ruler):
    # 60 degrees: PS 0.87 beyond 0.5. With -60 in front: 0 degrees, PS 0, the benign median.
    (made,) = diluted([passage("Say 60 now.")], ["Take -60 too. Take -40 too.", "Take 70 too."], ruler)
    assert made.text == "Take -60 too. Say 60 now."
    (after,) = ruler.measure([made])
    assert (after.measures.ss, after.measures.ps) == (1.0, 0.0)
    assert (after.measures.property_1, after.measures.property_2) == (False, False)


def test_what_costs_too_much_relevance_is_not_taken(ruler):
    assert diluted([passage("Say 60 now.")], ["Take 200 too."], ruler, slack=0.05) == ()
    assert diluted([passage("Say 20 now.")], ["Take -60 too."], ruler) == ()  # in the range already
    assert diluted([passage("Say 60 now.")], [], ruler) == ()


def test_no_more_sentences_than_allowed(ruler):
    base = passage("Say 80 now. Say 80 now. Say 80 now.")
    texts = [
        diluted([base], ["Take -20 too. Take -20 too. Take -20 too."], ruler, most=most) for most in (0, 1, 2)
    ]
    assert [made[0].text.count("Take") if made else 0 for made in texts] == [0, 1, 2]


def test_diluting_wants_benign_passages():
    anchors = [passage("80", 1, kind=Kind.SYNTHETIC), passage("-80", 2, kind=Kind.SYNTHETIC)]
    with pytest.raises(InputError, match="benign passages"):
        diluted([passage("Say 60.")], ["Take -60."], yardstick(Sums(), "0", anchors))


def test_neutral_paragraphs_are_taken_in_turn():
    bases = [passage(text, n) for n, text in enumerate("ABC", 1)]
    assert [p.text for p in with_neutral(bases, ["x", "y"])] == ["x A", "y B", "x C"]
    assert [p.text for p in with_neutral(bases, ["x", "y"], before=False)] == ["A x", "B y", "C x"]
    assert {p.variant for p in with_neutral(bases, ["x"], before=False)} == {"neutral-after"}
    assert with_neutral(bases, []) == ()


def test_neutral_is_nearest_to_the_median(ruler):
    assert neutral_paragraphs(["at -30", "at 6", "at 12"], ruler, 1) == ("at 6",)
    assert neutral_paragraphs(["at -30", "at 6", "at 12"], ruler, 2) == ("at 6", "at 12")
    assert neutral_paragraphs([], ruler, 2) == ()


def test_the_spread_ones_lie_apart():
    bases = [passage(text, n) for n, text in enumerate(("0", "10", "90", "180"), 1)]
    assert [p.text for p in spread(bases, Sums(), keep=2)] == ["0", "180"]
    assert [p.text for p in spread(bases, Sums(), keep=3)] == ["0", "90", "180"]
    assert spread(bases, Sums(), keep=9) == tuple(bases)
    assert spread(bases, Sums(), keep=1) == (bases[0],)
    assert spread(bases, Sums(), keep=0) == ()


def test_real_passages_move_as_meant(sample_data):
    """Each variant on real text: less similar ones are less similar, diluted ones less far out, spread ones apart."""
    encoder = EmbeddedEncoder()
    mine = sampled.attack(sample_data)
    anchors, bases = ([p for p in mine if p.kind is kind] for kind in (Kind.SYNTHETIC, Kind.ADV_POS))
    benign = sampled.benign(sample_data, mine[0].query_id)
    ruler = yardstick(encoder, mine[0].question, anchors, encoder.encode(benign))
    before = {p.passage_id: p.measures for p in ruler.measure(bases)}

    def change(passages, name):
        return [
            getattr(p.measures, name) - getattr(before[p.extra["base"]], name)
            for p in ruler.measure(passages)
        ]

    lowered = less_similar(bases[:4], ruler, target=min(m.ss for m in before.values()) - 0.1)
    assert lowered
    assert max(change(lowered, "ss")) < 0
    assert np.mean(change(without_question_words(bases), "ss")) < -0.1
    assert (
        max(change(diluted(bases[:4], [p.text for p in anchors if p.stance < 0], ruler), "ps"), default=-1)
        < 0
    )
    vectors = encoder.encode([p.text for p in spread(bases, encoder, keep=4)])
    every = encoder.encode([p.text for p in bases])
    apart, all_apart = ((m @ m.T)[np.triu_indices(len(m), 1)] for m in (vectors, every))
    assert apart.mean() < all_apart.mean()


BASE = "one two three four five six"


def reply(text):
    return json.dumps({"text": text})


def test_paraphrases_in_every_style_with_what_failed():
    def script(messages):
        if STYLES[1] in messages[0].content:
            return reply(BASE.upper())
        return reply(
            f"{messages[0].content.split('Rewrite the passage you get as ')[1].split(':')[0]} of much the same"
        )

    chat = ScriptedChat(script)
    made, missing = sync.run(Paraphraser(chat, STYLES[:3]).rewrite([passage(BASE)]))
    assert [p.passage_id for p in made] == ["p1~style-1", "p1~style-3"]
    assert [p.text for p in made] == [f"{STYLES[n]} of much the same" for n in (0, 2)]
    assert missing == ("p1~style-2: it repeats the passage (2 tries)",)
    assert len(chat.requests) == 4


def test_junk_and_short_paraphrases_are_missing():
    chat = ScriptedChat(["junk", "junk", reply("no")])
    _, missing = sync.run(Paraphraser(chat, STYLES[:1]).rewrite([passage(BASE)]))
    assert missing == ("p1~style-1: it has 1 words, the passage has 6 (2 tries)",)


def test_paraphrasing_goes_on_where_it_stopped(tmp_path):
    journal = Journal(tmp_path / "v.jsonl")
    lines = [reply("first told in some other way"), ModelUnavailable("gone")]
    with pytest.raises(ModelUnavailable):
        sync.run(
            Paraphraser(ScriptedChat(lines), STYLES[:2], journal, concurrency=1).rewrite([passage(BASE)])
        )
    assert len(read_passages(journal.path)) == 1
    chat = ScriptedChat([reply("second told in some other way")])
    made, _ = sync.run(Paraphraser(chat, STYLES[:2], journal).rewrite([passage(BASE)]))
    assert [p.text.split()[0] for p in made] == ["first", "second"]
    assert len(chat.requests) == 1
