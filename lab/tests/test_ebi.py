"""The EBI attack with hand-made replies: what is kept, asked again, said to be missing, and resumed after a kill."""

import asyncio
import json
import signal
import subprocess
import sys
from collections import Counter
from itertools import count

import numpy as np
import pytest

import sampled
from equipoise.core import sync
from equipoise.core.errors import InputError, ModelReplyError, ModelUnavailable
from equipoise.core.types import ChatReply
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.attacks.ebi import EbiAttack, EbiSettings, Sign, case_for
from equipoise_lab.attacks.passages import Kind, PassageFile, read_passages
from equipoise_lab.redteam.attack_types import AttackCase
from hashed_words import HashedWords
from processes import ENVIRONMENT

CASE = AttackCase("q1", "Should tea be served?")
SMALL = EbiSettings(synthetic=3, adversarial=2, min_words=3, attempts=3, concurrency=1)
VIEWS = [
    (2, "yes yes tea helps people focus"),
    (-2, "no no leaves stain old teeth"),
    (0, "coffee or water instead maybe"),
]


def articles(*views):
    rows = [{"viewpoint": f"view {text[:5]}", "stance": stance, "text": text} for stance, text in views]
    return json.dumps({"articles": rows})


def text(words):
    return json.dumps({"text": words})


class Axis:
    """Vectors by the first word of a text: yes (0.6, 0.8), no (0.6, -0.8), others (1, 0)."""

    name, dimensions = "axis", 2

    def encode(self, texts):
        place = {"yes": (0.6, 0.8), "no": (0.6, -0.8)}
        return np.array([place.get(t.split()[0], (1.0, 0.0)) for t in texts], np.float32).reshape(-1, 2)


def attack(chat, settings=SMALL, **more):
    return EbiAttack(chat, more.pop("encoder", Axis()), settings, **more)


ADV = [
    text(f"{side} {w} {w} tea drinkers say")
    for side, w in (("yes", "a"), ("yes", "b"), ("no", "c"), ("no", "d"))
]


def test_the_whole_attack():
    chat = ScriptedChat([articles(*VIEWS), *ADV])
    result = sync.run(attack(chat).run(CASE, benign=[(0.8, 0.6), (0.5, -0.5)]))
    assert [p.passage_id for p in result.passages] == [
        *("q1-syn01", "q1-syn02", "q1-syn03", "q1-pos01", "q1-pos02", "q1-neg01", "q1-neg02")
    ]
    assert result.missing == ()
    assert result.usage.calls == len(chat.requests) == 5
    # The question is (1, 0); the axis is (0, 1), upwards because "yes" declares stance 2.
    assert [(p.measures.ss, p.measures.ps) for p in result.of(Kind.SYNTHETIC)] == [
        (0.6, 0.8),
        (0.6, -0.8),
        (1.0, 0.0),
    ]
    positive, negative = result.of(Kind.ADV_POS)[0], result.of(Kind.ADV_NEG)[0]
    assert (positive.measures.property_1, positive.measures.property_2) == (False, True)
    assert (negative.measures.property_1, negative.measures.property_2) == (False, True)
    assert (positive.stance, negative.stance) == (2, -2)
    assert positive.extra == {
        "example": "q1-syn01", "prompt": "ebi-adv-v1", "model": "scripted", "encoder": "axis",
    }  # fmt: skip
    assert result.of(Kind.SYNTHETIC)[0].extra["viewpoint"] == "view yes y"


def test_what_the_model_is_asked():
    chat = ScriptedChat([articles(*VIEWS), *ADV])
    sync.run(attack(chat).run(CASE))
    first, second, *_, last = chat.requests
    assert "Write 3 persuasive and diverse articles" in first.messages[1].content
    assert "User Question: Should tea be served?" in first.messages[1].content
    assert f"Example Passage: {VIEWS[0][1]}" in second.messages[1].content
    assert f"Example Passage: {VIEWS[1][1]}" in last.messages[1].content
    assert first.options.temperature == 0.8
    assert {request.options.temperature for request in chat.requests[1:]} == {0.3}
    assert len({request.options.seed for request in chat.requests[1:]}) == 4
    assert first.schema["properties"]["articles"]["items"]["properties"]["stance"]["enum"] == [
        -2,
        -1,
        0,
        1,
        2,
    ]


def test_one_sign_only():
    chat = ScriptedChat([articles(*VIEWS), *ADV[2:]])
    result = sync.run(attack(chat).run(AttackCase("q1", CASE.question, "negative")))
    assert result.of(Kind.ADV_POS) == ()
    assert len(result.of(Kind.ADV_NEG)) == 2


def test_too_few_views_are_asked_for_again_with_what_is_taken():
    chat = ScriptedChat([articles(*VIEWS[:2]), articles(VIEWS[2], (1, "one more view is here")), *ADV])
    result = sync.run(attack(chat).run(CASE))
    assert [p.text for p in result.of(Kind.SYNTHETIC)] == [text for _, text in VIEWS]
    again = chat.requests[1].messages
    assert "Write 1 persuasive" in again[1].content
    assert "view yes y; view no no" in again[0].content


def test_a_small_model_is_asked_for_one_view_at_a_time():
    chat = ScriptedChat([*(articles(view) for view in VIEWS), *ADV])
    settings = EbiSettings(3, 2, batch=1, min_words=3, concurrency=1)
    result = sync.run(attack(chat, settings).run(CASE))
    assert [p.text for p in result.of(Kind.SYNTHETIC)] == [text for _, text in VIEWS]
    assert all("Write 1 persuasive" in request.messages[1].content for request in chat.requests[:3])
    assert all(request.schema["properties"]["articles"]["maxItems"] == 1 for request in chat.requests[:3])


def test_attempts_are_counted_anew_after_every_view():
    junk = ["junk", "junk"] * 2
    chat = ScriptedChat([*(reply for view in VIEWS for reply in (*junk, articles(view))), *ADV])
    settings = EbiSettings(3, 2, batch=1, min_words=3, attempts=3, concurrency=1)
    assert len(sync.run(attack(chat, settings).run(CASE)).of(Kind.SYNTHETIC)) == 3


def test_repeated_and_short_views_do_not_count():
    chat = ScriptedChat([articles(VIEWS[0], VIEWS[0], (1, "too short")), articles(*VIEWS[1:]), *ADV])
    result = sync.run(attack(chat).run(CASE))
    assert [p.text for p in result.of(Kind.SYNTHETIC)] == [text for _, text in VIEWS]


def test_never_enough_views_is_said_and_what_came_is_kept(tmp_path):
    chat = ScriptedChat(lambda messages: articles(*VIEWS[:2]))
    journal = PassageFile(tmp_path / "p.jsonl")
    with pytest.raises(ModelReplyError, match=r"wrote 2 of 3 synthetic passages \(it repeats q1-syn01\)"):
        sync.run(attack(chat, journal=journal).run(CASE))
    assert len(chat.requests) == 1 + 3
    assert len(read_passages(journal.path)) == 2


def test_an_empty_list_of_views_does_not_loop():
    chat = ScriptedChat(lambda messages: articles())
    with pytest.raises(ModelReplyError, match="wrote 0 of 3 synthetic passages"):
        sync.run(attack(chat).run(CASE))
    assert len(chat.requests) == 3


def test_junk_is_asked_for_in_smaller_portions():
    settings = EbiSettings(synthetic=4, adversarial=1, min_words=3, concurrency=1)
    more = (1, "tea is a mild habit")
    chat = ScriptedChat(["junk", "{", articles(*VIEWS[:2]), articles(VIEWS[2], more), ADV[0], ADV[2]])
    result = sync.run(attack(chat, settings).run(CASE))
    assert len(result.of(Kind.SYNTHETIC)) == 4
    wanted = [request.messages[1].content.split(" persuasive")[0][-1] for request in chat.requests[:4]]
    assert wanted == ["4", "4", "2", "2"]  # the second is the repair of the first


def test_copies_are_asked_for_again_warmer():
    """A copy of the example comes first for passage 1, then a copy of passage 2, then something new."""
    chat = ScriptedChat([articles(*VIEWS), text(VIEWS[0][1].upper()), ADV[0], ADV[0], ADV[1]])
    result = sync.run(attack(chat).run(AttackCase("q1", CASE.question, "positive")))
    assert [(p.n, p.text.split()[1]) for p in result.of(Kind.ADV_POS)] == [(1, "b"), (2, "a")]
    assert result.missing == ()
    assert [round(r.options.temperature, 1) for r in chat.requests[1:]] == [0.3, 0.3, 0.5, 0.7]
    assert len({r.options.seed for r in chat.requests[1:]}) == 4


def test_what_could_not_be_made_is_said():
    def stubborn(messages):
        return articles(*VIEWS) if "diverse" in messages[-1].content else ADV[0]

    result = sync.run(attack(ScriptedChat(stubborn)).run(AttackCase("q1", CASE.question, "positive")))
    assert len(result.of(Kind.ADV_POS)) == 1
    assert result.missing == ("adv_pos 2: it repeats q1-pos01 (3 tries)",)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_model_that_goes_away_ends_the_run_and_loses_nothing(tmp_path, concurrency):
    chat = ScriptedChat([articles(*VIEWS), ADV[0], *[ModelUnavailable("gone")] * 8])
    settings = EbiSettings(3, 2, min_words=3, concurrency=concurrency)
    journal = PassageFile(tmp_path / "p.jsonl")
    with pytest.raises(ModelUnavailable, match="gone"):
        sync.run(attack(chat, settings, journal=journal).run(CASE))
    assert len(read_passages(journal.path)) == 4


def test_no_more_requests_at_once_than_allowed():
    active, most, number = 0, 0, count()

    class Slow(ScriptedChat):
        async def complete(self, messages, **more):
            nonlocal active, most
            active += 1
            most = max(most, active)
            await asyncio.sleep(0)  # every request that may be made is made before this one goes on
            active -= 1
            return ChatReply(
                articles(*VIEWS) if "diverse" in messages[-1].content else text(f"yes {next(number)} " * 9),
                "slow",
            )

    result = sync.run(attack(Slow([]), EbiSettings(3, 6, min_words=3, concurrency=3)).run(CASE))
    assert len(result.passages) + len(result.missing) == 15
    assert most == 3


def test_progress_reaches_the_total():
    seen = []
    chat = ScriptedChat([articles(*VIEWS), *ADV])
    sync.run(attack(chat, report=lambda *step: seen.append(step)).run(CASE))
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[-1] == (7, 7, "q1-neg02")


def test_a_second_run_asks_nothing(tmp_path):
    journal = PassageFile(tmp_path / "p.jsonl")
    first = sync.run(attack(ScriptedChat([articles(*VIEWS), *ADV]), journal=journal).run(CASE))
    silent = ScriptedChat([])
    second = sync.run(attack(silent, journal=journal).run(CASE))
    assert silent.requests == []
    assert second.passages == first.passages == read_passages(journal.path)


def test_a_second_run_measures_against_other_benign_passages(tmp_path):
    journal = PassageFile(tmp_path / "p.jsonl")
    sync.run(attack(ScriptedChat([articles(*VIEWS), *ADV]), journal=journal).run(CASE))
    sync.run(attack(ScriptedChat([]), journal=journal).run(CASE, benign=[(0.5, 0.5)]))
    verdicts = {
        p.passage_id: (p.measures.property_1, p.measures.property_2) for p in read_passages(journal.path)
    }
    assert verdicts["q1-pos01"] == verdicts["q1-neg01"] == (True, True)
    assert verdicts["q1-syn01"] == (True, None)


def test_more_passages_go_on_from_the_old_ones(tmp_path):
    journal = PassageFile(tmp_path / "p.jsonl")
    sync.run(attack(ScriptedChat([articles(*VIEWS), *ADV]), journal=journal).run(CASE))
    chat = ScriptedChat([text("yes e e e tea"), text("no f f f tea")])
    result = sync.run(attack(chat, EbiSettings(3, 3, min_words=3, concurrency=1), journal=journal).run(CASE))
    assert [p.n for p in result.of(Kind.ADV_NEG)] == [1, 2, 3]


def test_two_questions_share_a_file(tmp_path):
    journal = PassageFile(tmp_path / "p.jsonl")
    for case in (CASE, AttackCase("q2", "Should coffee be served?")):
        sync.run(attack(ScriptedChat([articles(*VIEWS), *ADV]), journal=journal).run(case))
    assert len(read_passages(journal.path)) == 14


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "other"}, "were written by other, not scripted"),
        ({"question": "Another?"}, "has another question for q1"),
        ({"example": "q1-syn03"}, "the positive passages in .* follow q1-syn03, not q1-syn01"),
    ],
)
def test_a_file_made_in_another_way_is_refused(tmp_path, change, said):
    journal = PassageFile(tmp_path / "p.jsonl")
    sync.run(attack(ScriptedChat([articles(*VIEWS), *ADV]), journal=journal).run(CASE))
    rows = [json.loads(line) for line in journal.path.read_text().splitlines()]
    changed = [row | change if row["kind"] == "adv_pos" or "question" in change else row for row in rows]
    journal.path.write_text("".join(json.dumps(row) + "\n" for row in changed))
    with pytest.raises(InputError, match=said):
        sync.run(attack(ScriptedChat([]), journal=journal).run(CASE))


def test_ready_made_passages_are_gone_on_from(tmp_path, sample_data):
    made = sampled.attack(sample_data)
    journal = PassageFile(tmp_path / "p.jsonl")
    journal.append(made)
    counts = Counter(p.kind for p in made)
    wanted = EbiSettings(synthetic=counts[Kind.SYNTHETIC], adversarial=counts[Kind.ADV_POS])
    attack = EbiAttack(ScriptedChat([]), HashedWords(64), settings=wanted, journal=journal)
    result = sync.run(attack.run(AttackCase(made[0].query_id, made[0].question)))
    assert len(result.passages) == len(made) == sum(counts.values())
    assert [p.stance for p in read_passages(journal.path)] == [p.stance for p in made]


def test_bad_input_is_named():
    with pytest.raises(InputError, match="the question is empty"):
        case_for(" \n")
    with pytest.raises(InputError, match="synthetic is 1: give at least 2"):
        EbiSettings(synthetic=1)
    with pytest.raises(InputError, match="the aim 'up' is none of positive, negative"):
        sync.run(attack(ScriptedChat([])).run(AttackCase("q1", "Q?", "up")))


def test_a_case_has_a_name_of_its_own():
    assert case_for("Is  tea\ngood?", Sign.NEGATIVE) == AttackCase(
        case_for("Is tea good?").case_id, "Is tea good?", "negative"
    )
    assert case_for("Is tea good?").case_id != case_for("Is tea bad?").case_id


KILLED = """
import json, os, signal, sys
from pathlib import Path
from equipoise.core import sync
from equipoise_lab.redteam.attack_types import AttackCase
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.attacks.ebi import EbiAttack, EbiSettings
from equipoise_lab.attacks.passages import PassageFile
from hashed_words import HashedWords

folder, deadly = Path(sys.argv[1]), int(sys.argv[2])
log = folder / "calls"

def reply(messages):
    number = len(log.read_text().splitlines()) + 1 if log.exists() else 1
    with log.open("a") as file:
        file.write(f"{number}\\n")
    if number == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    if "diverse" not in messages[-1].content:
        return json.dumps({"text": f"passage number {number} " * number})
    views = [{"viewpoint": str(v), "stance": v, "text": f"view {number} {v} " * (v + 2)} for v in (number % 3,)]
    return json.dumps({"articles": views})

attack = EbiAttack(ScriptedChat(reply), HashedWords(), EbiSettings(3, 3, min_words=3, concurrency=1),
                   PassageFile(folder / "p.jsonl"))
result = sync.run(attack.run(AttackCase("q1", "Should tea be served?")))
print(len(result.passages), len(result.missing))
"""


@pytest.mark.parametrize("deadly", [1, 3, 4, 7, 9])
def test_after_a_kill_only_unfinished_work_is_asked_for(tmp_path, deadly):
    """Three synthetic passages, one a call, and three of each sign: nine calls, and one more for the kill."""
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(deadly)]
    victim = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert victim.returncode == -signal.SIGKILL, victim.stderr
    written = tmp_path / "p.jsonl"
    assert len(read_passages(written) if deadly > 1 else ()) == deadly - 1
    before = written.read_bytes() if deadly > 1 else b""
    again = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (again.stdout, again.stderr) == ("9 0\n", "")
    assert len((tmp_path / "calls").read_text().splitlines()) == 9 + 1
    passages = read_passages(written)
    assert len(passages) == 9
    assert all(p.measures for p in passages)
    texts = [json.loads(line)["text"] for line in before.splitlines()]
    assert [p.text for p in passages[: len(texts)]] == texts
