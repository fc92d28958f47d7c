"""The fuzz target in short: some cases of every target find nothing, and what is planted is found."""

import sys
from pathlib import Path

import pytest

CAMPAIGNS = Path(__file__).resolve().parents[1] / "campaigns"


@pytest.fixture(scope="module")
def fuzz():
    sys.path.insert(0, str(CAMPAIGNS))
    import fuzz

    yield fuzz
    sys.path.remove(str(CAMPAIGNS))


def test_some_cases_of_every_target_find_nothing(fuzz):
    report = fuzz.campaign(fuzz.Plan([*fuzz.fuzzed.TARGETS], seed=13, cases=3))
    assert set(report.ran.values()) == {3}
    assert len(report.ran) == 28
    assert not report.kinds


def test_every_kind_of_finding_is_noticed_kept_and_run_again(fuzz, tmp_path, capsys):
    report = fuzz.campaign(fuzz.Plan([*fuzz.fuzzed.TRAPS], seed=1, cases=1, seconds=1))
    assert dict(report.kinds) == {
        ("trap-endless", "too slow"): 1,
        ("trap-greedy", "MemoryError targets.py:_greedy"): 1,
        ("trap-dying", "died with 7"): 1,
        ("trap-broken", "AssertionError targets.py:_broken an invariant"): 1,
    }
    fuzz.keep(report, 1, tmp_path)
    kept = tmp_path / "trap-broken-1-0.bin"
    assert f"--replay {kept}" in capsys.readouterr().out
    assert kept.read_bytes() == fuzz.made("trap-broken", 1, 0)
    assert "an invariant" in kept.with_suffix(".txt").read_text()
    with pytest.raises(AssertionError, match="an invariant"):
        fuzz.fuzzed.target_of("trap-broken").check(kept.read_bytes())


def test_a_case_is_a_function_of_target_seed_and_number(fuzz):
    for target in fuzz.fuzzed.TARGETS:
        assert fuzz.made(target, 5, 1) == fuzz.made(target, 5, 1)
    assert len({fuzz.made("sentences", 5, number) for number in range(20)}) > 15
