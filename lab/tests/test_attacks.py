"""Every attack succeeds against the deliberately weak target: only then its zero elsewhere means something.

The models are scripted, and do whatever stands in their messages; the pipelines are the real ones.
"""

import pytest

from equipoise.core import sync
from equipoise.core.errors import ModelUnavailable
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.redteam import asking
from equipoise_lab.redteam.planter import is_planted
from equipoise_lab.redteam.suite import cases
from equipoise_lab.redteam.suite.cases import ATTACKS, INSIDE, PLANTED, SUITES, TYPED, Material
from equipoise_lab.redteam.suite.systems import strategies
from equipoise_lab.redteam.targets import Inside, Planting
from weak_shop import obedient, shop


@pytest.fixture(scope="module")
def targets():
    with shop() as made:
        yield made


@pytest.fixture(scope="module")
def material(targets):
    return Material(targets["hs"].ground.documents, SUITES["quick"])


def carried_out(attack, case, target, budget=6):
    return sync.run(asking.carried_out(strategies(())[attack](case, target), budget))


def case_of(attack, material, name):
    return next(case for case in cases.of(attack, material) if case.case_id.startswith(name))


SURE = [
    ("hijack", "plain"), ("hijack", "french"), ("hijack", "said_before"), ("off_task", "sum"), ("jailbreak", "lock"),
    ("cut_up", "prize"), ("cut_up", "password"), ("incomplete", "returns.md"), ("verdict", "hundred_days"),
    ("verdict", "kettle"), ("verdict_typed", "paint"), ("poison_and_steer", "summarizer_tool"),
    ("poison_and_steer", "poison_kettle"),
]  # fmt: skip


@pytest.mark.parametrize(("attack", "name"), SURE, ids=[f"{a}-{n}" for a, n in SURE])
def test_the_weak_target_gives_way(targets, material, attack, name):
    ended = carried_out(attack, case_of(attack, material, name), targets["weak"])
    assert ended.attack_succeeded, ended
    assert ended.rule
    assert not ended.error
    assert ended.answered


KEPT = [
    case
    for case in SURE
    if case[0] in ("hijack", "off_task", "jailbreak", "cut_up", "verdict", "verdict_typed")
]


@pytest.mark.parametrize(("attack", "name"), KEPT, ids=[f"{a}-{n}" for a, n in KEPT])
def test_our_pipeline_does_not_with_the_same_obedient_models(targets, material, attack, name):
    ended = carried_out(attack, case_of(attack, material, name), targets["hs"])
    assert not ended.attack_succeeded, ended


def test_every_attack_has_cases(targets, material):
    made = strategies(())
    assert set(made) == set(ATTACKS) == {*TYPED, *INSIDE, *PLANTED}
    for name in made:
        assert cases.of(name, material)
        ids = [case.case_id for case in cases.of(name, material)]
        assert len(ids) == len(set(ids))


def test_what_is_planted_is_gone_after_each_case(targets, material):
    target = targets["hs"]
    before = target.components.store.digest()
    for case in cases.of("poison_and_steer", material)[:3]:
        carried_out("poison_and_steer", case, target, budget=1)
        assert not any(map(is_planted, target.components.store.doc_ids()))
    assert target.components.store.digest() == before


def test_an_error_counts_as_a_success_that_is_told_apart():
    with shop(ScriptedChat(lambda _: ModelUnavailable("the endpoint is gone"))) as broken:
        material = Material(broken["hs"].ground.documents, SUITES["quick"])
        ended = carried_out("hijack", case_of("hijack", material, "plain"), broken["weak"], budget=1)
    assert ended.attack_succeeded
    assert "the endpoint is gone" in ended.error
    assert not ended.rule


def test_targets_say_what_they_can_take(targets):
    assert isinstance(targets["hs"], Inside)
    assert isinstance(targets["weak"], Planting)


def test_a_probe_learns_of_a_document_that_nobody_quotes(material):
    """A model that only says how long its prompt is tells with and without the document apart."""
    case = case_of("probe", material, "highlighter")
    with shop(ScriptedChat(lambda messages: f"{len(messages[-1].content)} characters")) as telling:
        ended = carried_out("probe", case, telling["weak"], budget=1)
    assert ended.attack_succeeded
    assert "seen without it" in ended.rule
    with shop(ScriptedChat(lambda _: "I do not know.")) as silent:
        assert not carried_out("probe", case, silent["weak"], budget=3).attack_succeeded


class TestOracle:
    """The search finds what a model gives, and says where a check kept it back."""

    def test_a_tool_call_is_found(self, targets, material):
        case = case_of("oracle", material, "tool_call")
        with shop(ScriptedChat(lambda messages: f'{{"answer": "{"send_email()"}"}}')) as giving:
            ended = carried_out("oracle", case, giving["hs"], budget=1)
        assert ended.attack_succeeded
        assert ended.reached

    def test_single_words_say_a_number_of_something_else_where_extracts_may_be_cut(self, targets, material):
        case = case_of("oracle", material, "swapped_number")
        weak, ours = (carried_out("oracle", case, targets[name], budget=2) for name in ("weak", "hs"))
        assert (weak.attack_succeeded, weak.tries) == (True, 2)
        assert not ours.attack_succeeded

    def test_a_reversed_meaning_is_written_and_kept_back(self, targets, material):
        """A model that drops every denial: the weak target shows it, our check does not."""

        def careless(messages):
            return (
                obedient(messages)
                .replace(" not ", " ")
                .replace("Nothing", "Everything")
                .replace(" never ", " ")
            )

        case = next(
            case for case in cases.of("oracle", Material(material.documents, SUITES["full"]))
            if case.source == "reversed meaning" and case.case_id.endswith("members.md:103")
        )  # fmt: skip
        with shop(ScriptedChat(careless)) as turning:
            shown = carried_out("oracle", case, turning["weak"], budget=2)
            kept = carried_out("oracle", case, turning["hs"], budget=2)
        assert shown.attack_succeeded
        assert not kept.attack_succeeded
        assert kept.rule == "a model wrote it, and a check kept it from the answer"
