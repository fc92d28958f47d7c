"""What every Judge promises, over every rubric there is: with a scripted model, and `live`.

A new row of RUBRICS needs a line in SCRIPTS.
"""

import pytest

from equipoise.core import sync
from equipoise.core.errors import ModelReplyError, ModelUnavailable
from equipoise.core.types import Usage
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.bench.judges.rating import RUBRICS, make
from equipoise_lab.evaluation.scores import Judge, Score

QUESTION, GOLD, GIVEN = "How long is the Harlow bridge?", "212 metres", "The bridge is 212 metres long."
SCRIPTS = {
    "correctness": '{"explanation": "the same length", "correct": true}',
    "relevance": '{"explanation": "it says how long", "relevance": 3}',
    "quality": '{"explanation": "short and right", "rating": 8}',
}


def judged(judge, *, prediction=GIVEN, reference=GOLD):
    return sync.run(judge.judge(question=QUESTION, prediction=prediction, reference=reference))


def assert_lawful(score, rubric):
    """On the scale, or None; always with a reason."""
    assert score.value is None or rubric.worst <= score.value <= rubric.best
    assert score.explanation.strip()


def test_no_script_is_left_over():
    assert set(SCRIPTS) == set(RUBRICS)


@pytest.mark.parametrize("name", RUBRICS)
class TestEveryJudge:
    def test_is_a_judge_and_its_arguments_have_names(self, name):
        judge = make(name, ScriptedChat([]))
        assert isinstance(judge, Judge)
        with pytest.raises(TypeError):
            judge.judge(QUESTION, GIVEN, GOLD)

    def test_scores(self, name):
        score = judged(make(name, ScriptedChat([SCRIPTS[name]])))
        assert_lawful(score, RUBRICS[name])
        assert score.value is not None
        assert score.usage.calls == 1

    def test_equal_arguments_give_equal_requests(self, name):
        chats = [ScriptedChat([SCRIPTS[name]]) for _ in range(2)]
        first, again = (judged(make(name, chat)) for chat in chats)
        assert first == again
        assert chats[0].requests == chats[1].requests

    @pytest.mark.parametrize(
        "lines", [["good", "very good"], ["{}", "null"], [ModelReplyError("the reply was cut off")]]
    )
    def test_a_judge_that_answers_junk_leaves_the_answer_unscored(self, name, lines):
        score = judged(make(name, ScriptedChat(lines)))
        assert score.value is None
        assert score.explanation.startswith("not scored: ")

    def test_a_model_that_is_not_there_is_an_error(self, name):
        with pytest.raises(ModelUnavailable):
            judged(make(name, ScriptedChat([ModelUnavailable("no endpoint: start it")])))

    @pytest.mark.parametrize(
        ("prediction", "reference", "end"),
        [
            (None, None, "best"),
            (" ", None, "best"),
            (None, GOLD, "worst"),
            ("...", GOLD, "worst"),
            (GIVEN, None, "worst"),
        ],
    )
    def test_declining_is_judged_by_rule(self, name, prediction, reference, end):
        chat = ScriptedChat([])
        score = judged(make(name, chat), prediction=prediction, reference=reference)
        assert score == Score(getattr(RUBRICS[name], end), score.explanation, Usage())
        assert "without a model" in score.explanation
        assert not chat.requests


@pytest.mark.live
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "name",
    [name if name == "correctness" else pytest.param(name, marks=pytest.mark.nightly) for name in RUBRICS],
)
def test_with_the_local_model(name, local_chat):
    right, wrong = (judged(make(name, local_chat), prediction=text) for text in (GIVEN, "Bees dance."))
    assert_lawful(right, RUBRICS[name])
    assert_lawful(wrong, RUBRICS[name])
    print(name, right, wrong)
    assert right.value > wrong.value
