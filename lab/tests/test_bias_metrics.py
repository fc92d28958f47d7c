"""Every measure of the bias benchmark against values computed by hand."""

import numpy as np
import pytest

from equipoise.core.errors import InputError
from equipoise.core.types import Passage
from equipoise_lab.attacks.passages import AttackPassage, Kind
from equipoise_lab.bench.bias import numbers as metrics
from equipoise_lab.bench.bias.numbers import PsSample, Truth
from equipoise_lab.bench.bias.planting import EmbeddedPassages, axis_of
from equipoise_lab.bench.bias.records import (
    ESTIMATOR,
    AnswerRecord,
    BiasPlan,
    BiasRecord,
    FactRecord,
    PassageRecord,
)
from equipoise_lab.bench.bias.said import shares, support_ratio
from equipoise_lab.maths.rates import Estimate


def row(
    kept,
    *,
    candidates=None,
    ps=None,
    injected=(),
    flagged=(),
    sign="adv_pos",
    query="q",
    name="none",
    first=0,
):
    candidates = list(candidates or kept)
    fields = {
        "query_id": query,
        "filter": name,
        "sign": sign,
        "injections": len(injected),
        "first": first,
        "injected": list(injected),
        "candidates": candidates,
        "ss": [0.5] * len(candidates),
        "ps": list(ps or [0.0] * len(candidates)),
        "kept": list(kept),
        "flagged": [{"id": doc_id, "reason": "max-kl", "score": 0.0} for doc_id in flagged],
    }
    return BiasRecord.model_validate(fields)


def passage(query="q", *, name="p", kind="adv_neg", ps=0.0, stance=None, first=None, second=None):
    return PassageRecord(
        query_id=query, id=name, kind=kind, ss=0.0, ps=ps, stance=stance, property_1=first, property_2=second
    )


TRUTH = Truth(frozenset({"d1", "d2", "d3", "d4"}), {"a1": True, "a2": False})


def test_the_worked_row():
    values = metrics.measured(row(["a1", "d1", "d2", "x", "y"], injected=["a1"]), TRUTH, 5)
    assert values == {
        "adversarial_share": pytest.approx(0.2),
        "relevant_share": pytest.approx(0.4),
        "empty_share": 0.0,
        "recall": pytest.approx(0.5),
    }


def test_a_share_is_of_all_seats_and_empty_ones_are_told():
    values = metrics.measured(row(["a1", "a2", "d1"], injected=["a1", "a2", "a3"], sign="adv_neg"), TRUTH, 5)
    assert values["adversarial_share"] == pytest.approx(2 / 5)  # three kept of five seats
    assert values["relevant_share"] == pytest.approx(1 / 5)
    assert values["empty_share"] == pytest.approx(2 / 5)


def test_what_cannot_be_measured_is_none():
    values = metrics.measured(row([], candidates=["d1"]), TRUTH, 5)
    assert (values["adversarial_share"], values["relevant_share"], values["recall"]) == (0.0, 0.0, 0.0)
    assert values["empty_share"] == 1.0
    assert metrics.kept_ps(row([], candidates=["d1"])) is None


def test_a_document_in_two_pieces_counts_once_for_recall():
    assert metrics.measured(row(["d1", "d1", "d2"]), TRUTH, 5)["recall"] == pytest.approx(0.5)


def test_ps_of_what_was_kept():
    sample = metrics.kept_ps(row(["a", "b"], candidates=["a", "b", "c"], ps=[0.1, -0.3, 0.5]))
    assert sample == PsSample(pytest.approx(-0.1), pytest.approx(0.2))


def test_shift_is_relative_to_the_unattacked_size():
    before = {"p": PsSample(0.1, 0.1), "q": PsSample(0.1, 0.3), "gone": PsSample(1.0, 1.0)}
    estimate = metrics.shift_interval({"p": 0.3, "q": -0.1}, before)
    assert estimate.value == pytest.approx(1.0)  # (0.2 + 0.2) / (0.1 + 0.3)
    assert estimate.n == 2
    assert estimate.low == pytest.approx(0.4 / 0.6)  # only q drawn
    assert estimate.high == pytest.approx(2.0)  # only p drawn
    assert metrics.shift_interval({}, before) is None


def test_signed_shift_keeps_the_direction():
    before = {"p": PsSample(0.1, 0.1), "q": PsSample(0.1, 0.3)}
    assert metrics.signed_shift_interval({"p": 0.3, "q": -0.1}, before).value == pytest.approx(0.0)
    assert metrics.signed_shift_interval({"p": 0.3, "q": 0.3}, before).value == pytest.approx(1.0)
    assert metrics.signed_shift_interval({}, before) is None


def test_several_choices_of_what_is_planted_are_one_question():
    before = {"p": PsSample(0.1, 0.1), "q": PsSample(0.1, 0.3)}
    estimate = metrics.shift_interval({"p": [0.3, -0.1], "q": [0.1]}, before)
    assert (estimate.value, estimate.n) == (pytest.approx(0.2 / 0.4), 2)
    assert metrics.signed_shift_interval({"p": [0.3, -0.1]}, before).value == pytest.approx(0.0)
    first = row(["d1"], candidates=["a1", "d1"], injected=["a1"], flagged=["a1"])
    other = row(["d1"], candidates=["a2", "d1"], injected=["a2"], first=1)
    pooled = metrics.evasion_interval([first, other], {"q": TRUTH}, both=True)
    assert pooled is None or pooled.n == 1


def test_moved_counts_questions_that_went_the_way_of_the_attack():
    before = {"p": PsSample(0.1, 0.1), "q": PsSample(0.1, 0.3)}
    estimate = metrics.moved({"p": 0.3, "q": [0.0, -0.1]}, before, "adv_pos")
    assert (estimate.hits, estimate.n) == (1, 2)
    assert metrics.moved({"p": 0.3, "q": 0.3}, before, "adv_neg").hits == 0
    assert metrics.moved({"p": 0.3}, before, "none") is None


def test_noise_is_what_equal_contexts_differ_by():
    estimate = metrics.noise_interval({"p": [0.1, 0.1, 0.4], "single": [5.0]})
    assert estimate.value == pytest.approx(0.2 / 3**0.5 / 0.2)
    assert estimate.n == 1
    assert metrics.noise_interval({"p": [0.2, 0.2, 0.2]}).value == 0.0
    assert metrics.noise_interval({"single": [5.0]}) is None


def test_evasion_counts_only_passages_that_met_the_filter():
    record = row(["d1"], candidates=["a1", "a2", "d1"], injected=["a1", "a2", "a3"], flagged=["a1"])
    assert metrics.evasion(record, TRUTH, both=True) == (0, 1)
    assert metrics.evasion(record, TRUTH, both=False) == (1, 1)
    rows = [record, row(["a1"], injected=["a1"], query="q2")]
    truths = {"q": TRUTH, "q2": TRUTH}
    assert metrics.evasion_interval(rows, truths, both=True).value == pytest.approx(0.5)
    assert metrics.evasion_interval([row(["d1"])], truths, both=True) is None


def test_worst_case_is_over_attacked_conditions():
    def shares_of(sign, injections, adversarial, relevant):
        two = (Estimate(share, share, share, 1) for share in (adversarial, relevant))
        return {"sign": sign, "injections": injections} | dict(
            zip(("adversarial_share", "relevant_share"), two, strict=True)
        )

    cells = [
        shares_of("none", 0, 0.9, 0.1),
        shares_of("adv_neg", 1, 0.2, 0.5),
        shares_of("adv_pos", 5, 0.9, 0.1),
    ]
    assert metrics.worst_case(cells) == {
        "ratio": pytest.approx(9.0), "sign": "adv_pos", "injections": 5,
    }  # fmt: skip
    cells.append(shares_of("adv_neg", 5, 0.4, 0.0))
    assert metrics.worst_case(cells) == {"ratio": "inf", "sign": "adv_neg", "injections": 5}
    assert metrics.worst_case([shares_of("none", 0, 0.0, 1.0)]) is None


def test_the_query_is_the_unit_of_intervals():
    estimate = ESTIMATOR.mean_by_unit([("p", 0.0), ("p", 1.0), ("q", 0.5), ("r", None)])
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (0.5, 0.5, 0.5, 2)
    assert estimate.unscored == 1
    assert ESTIMATOR.level == 0.99


def test_what_is_known_of_a_query_is_read_from_its_passages():
    rows = [
        passage(name="a1", first=True, second=False),
        passage(name="a2", first=True, second=True),
        passage(name="d1", kind="benign"),
    ]
    truth = metrics.truths_of(rows)["q"]
    assert truth.relevant == {"d1"}
    assert truth.satisfies == {"a1": False, "a2": True, "d1": None}


def test_property_table_by_hand():
    pairs = [(True, True), (True, False), (False, False), (True, True)]
    rows = [passage(first=a, second=b) for a, b in pairs]
    assert metrics.property_table(rows) == {
        "adv_neg": {"both": 0.5, "only_1": 0.25, "only_2": 0.0, "neither": 0.25, "count": 4}
    }


def test_support_ratio_and_shares():
    verdicts = ["SUPPORTS", "REFUTES", "SUPPORTS", "NOT ENOUGH INFO"]
    assert support_ratio(verdicts) == pytest.approx(2 / 3)
    assert support_ratio(["NOT ENOUGH INFO"]) is None
    rows = [
        FactRecord(checker="nli", id=name, sentence=number, kind="benign", verdict=verdict)
        for number, (name, verdict) in enumerate(
            [*(("d", verdict) for verdict in verdicts), ("e", "NOT ENOUGH INFO")]
        )
    ]
    benign = shares(rows)["benign"]
    assert benign["unknown"].value == pytest.approx((0.25 + 1.0) / 2)
    assert benign["support"].value == pytest.approx(2 / 3, abs=1e-6)
    assert benign["support"].n == 1
    assert benign["unknown_shares"] == [0.25, 1.0]


def test_planting_merges_by_cosine_and_leaves_ties_to_the_corpus():
    def embedded(names, cosines, first):
        vectors = np.array([[c, np.sqrt(1 - c * c)] for c in cosines], np.float32)
        return EmbeddedPassages(tuple(Passage(first + i, n, 0, 1, "x") for i, n in enumerate(names)), vectors)

    question = np.array([1.0, 0.0], np.float32)
    corpus, planted = embedded(["a", "b", "c"], [0.5, 0.9, 0.1], 0), embedded(["p", "q"], [0.5, 0.7], 3)
    candidates = corpus.search(question, planted, k=4)
    assert [p.doc_id for p in candidates.passages] == ["b", "q", "a", "p"]
    assert candidates.scores == pytest.approx([0.9, 0.7, 0.5, 0.5])
    assert candidates.embeddings[1] == pytest.approx(planted.vectors[1])
    assert [p.doc_id for p in corpus.search(question, planted.first(0), k=2).passages] == ["b", "a"]


def test_the_axis_is_that_of_the_anchors_and_else_of_the_relevant_passages():
    from equipoise_lab.bench.bias.attacks import WrittenAttack

    def passage(name, kind, stance):
        return AttackPassage(name, "q", "?", kind, 1, "x", stance)

    rows = {
        "s1": np.array([0.0, 1.0]),
        "s2": np.array([1.0, 0.0]),
        "pos": np.array([0.6, 0.8]),
        "neg": np.array([0.8, 0.6]),
    }
    kinds = {
        Kind.SYNTHETIC: (passage("s1", Kind.SYNTHETIC, 2), passage("s2", Kind.SYNTHETIC, -2)),
        Kind.ADV_POS: (passage("pos", Kind.ADV_POS, 2),),
        Kind.ADV_NEG: (passage("neg", Kind.ADV_NEG, -2),),
    }
    half = np.sqrt(0.5)
    with_anchors = axis_of(WrittenAttack("q", "?", 1, kinds), rows, np.empty((0, 2)))
    assert with_anchors == pytest.approx([-half, half])  # towards s1, whose stance is 2
    relevant = np.array([[1.0, 0.0], [0.0, 1.0]])
    without = axis_of(WrittenAttack("q", "?", 1, kinds | {Kind.SYNTHETIC: ()}), rows, relevant)
    assert without == pytest.approx([-half, half])  # from neg to pos


def test_a_plan_knows_its_conditions_and_refuses_nonsense():
    plan = BiasPlan(("none",), (5, 0, 1, 5))
    assert plan.conditions() == (
        ("none", 0),
        ("adv_neg", 1),
        ("adv_neg", 5),
        ("adv_pos", 1),
        ("adv_pos", 5),
    )
    for wrong in ({"filters": ()}, {"k": 0}, {"candidates": 4}, {"injections": (-1,)}):
        with pytest.raises(InputError):
            BiasPlan(**({"filters": ("none",)} | wrong))


def test_answers_are_averaged_before_they_are_compared():
    plan = BiasPlan(("none",), (0, 1))
    results = [
        row(["d1"], sign="none", ps=[0.1]),
        row(["a1"], injected=["a1"], ps=[0.4]),
        row(["d1"], sign="none", ps=[0.1], query="r"),
        row(["a1"], injected=["a1"], ps=[0.3], query="r"),
    ]
    answered = {("q", "none", 0): [0.1, -0.1], ("q", "adv_pos", 1): [0.4, 0.2], ("r", "none", 0): [0.2, None]}
    answers = [
        AnswerRecord(query_id=q, filter="none", sign=sign, injections=n, generation=g, model="m", ps=ps)
        for (q, sign, n), values in answered.items()
        for g, ps in enumerate(values)
    ]
    passages = [passage(query, name="d1", kind="benign") for query in ("q", "r")]
    run = metrics.BiasRun(plan, {}, results, [], passages, answers)
    (answered,) = metrics.summarise(run)["answers"]
    cell = next(c for c in answered["cells"] if c["sign"] == "adv_pos")
    assert cell["ps_shift"].value == pytest.approx(3.0)  # |0.3 - 0| over mean |PS| 0.1, query q only
    assert answered["points"] == [("q", 0.1, 0.0), ("q", 0.4, pytest.approx(0.3)), ("r", 0.1, 0.2)]
    unattacked = next(c for c in answered["cells"] if c["sign"] == "none")
    assert unattacked["declined"].value == pytest.approx(0.25)
    assert metrics.summarise(run.only({"r"}))["queries"] == 1
