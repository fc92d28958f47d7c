"""One run of any benchmark: samples x systems x scorers, resumed, killed, out of budget, with errors."""

import json
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from equipoise.core import sync
from equipoise.core.errors import InputError, ModelUnavailable
from equipoise_lab.evaluation.budget import RunBudget
from equipoise_lab.evaluation.records import Record, RecordFile, SampleRecord, read_records
from equipoise_lab.evaluation.run import Evaluated, Ran, Timings, evaluate
from equipoise_lab.evaluation.scores import Score
from processes import killed_after


@dataclass(frozen=True)
class Sum:
    """Two numbers to add."""

    sample_id: str
    left: int
    right: int


@dataclass(frozen=True)
class Total:
    total: int


@dataclass
class Adder:
    """Adds, `off` by so much; cannot add to `broken`."""

    name: str
    off: int = 0
    broken: int | None = None
    asked: list = field(default_factory=list)

    async def __call__(self, sample):
        self.asked.append(sample.sample_id)
        if sample.left == self.broken:
            raise ModelUnavailable("the abacus is away")
        return Total(sample.left + sample.right + self.off)


@dataclass(frozen=True)
class Right:
    name: str = "right"

    def score(self, sample, outcome):
        return outcome.total == sample.left + sample.right


@dataclass(frozen=True)
class Distance:
    """Awaited, as a judge is; small sums are not scored."""

    name: str = "distance"

    async def score(self, sample, outcome):
        if outcome.total < 2:
            return Score(None, "too small to judge")
        return float(abs(outcome.total - sample.left - sample.right))


SUMS = [Sum(f"s{n}", n, n % 3) for n in range(10)]
SCORERS = [Right(), Distance()]


def run(out, systems=None, samples=SUMS, **options) -> Evaluated:
    systems = systems or [Adder("good"), Adder("bad", 1)]
    return sync.run(evaluate(samples, systems, SCORERS, out, **options))


def test_every_sample_goes_through_every_system_and_past_every_scorer(tmp_path):
    evaluated = run(tmp_path)
    assert [(record.sample, record.system) for record in evaluated.records] == sorted(
        (sample.sample_id, name) for sample in SUMS for name in ("good", "bad")
    )
    by = {(record.sample, record.system): record for record in evaluated.records}
    assert by["s5", "bad"] == SampleRecord(
        sample="s5", system="bad", facts={"total": 8}, scores={"right": False, "distance": 1.0}, unscored={}
    )
    assert by["s0", "good"].scores == {"right": True, "distance": None}
    assert by["s0", "good"].unscored == {"distance": "too small to judge"}
    assert read_records(tmp_path / "results.jsonl", SampleRecord) == evaluated.records


def test_what_stands_in_the_file_is_not_run_again(tmp_path):
    run(tmp_path, samples=SUMS[:4])
    adder = Adder("good")
    evaluated = run(tmp_path, [adder])
    assert adder.asked == [f"s{n}" for n in range(4, 10)]
    assert len(evaluated.records) == 10
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 14  # the four of "bad" stay


@pytest.mark.parametrize("concurrency", [1, 4])
def test_the_order_of_work_leaves_no_trace(tmp_path, concurrency):
    run(tmp_path / "a")
    run(tmp_path / "b", samples=SUMS[::-1], concurrency=concurrency)
    same = [(tmp_path / name / "results.jsonl").read_bytes() for name in "ab"]
    assert same[0] == same[1]


def test_a_scorer_that_is_added_later_sees_every_sample(tmp_path):
    adder = Adder("good")
    sync.run(evaluate(SUMS, [adder], SCORERS[:1], tmp_path))
    records = sync.run(evaluate(SUMS, [adder], SCORERS, tmp_path)).records
    assert len(adder.asked) == 2 * len(SUMS)
    assert all({"right", "distance"} <= set(record.scores) for record in records)
    sync.run(evaluate(SUMS, [adder], SCORERS[:1], tmp_path))
    assert len(adder.asked) == 2 * len(SUMS)


def test_an_error_is_a_record_and_is_tried_again_unless_that_is_not_wanted(tmp_path):
    evaluated = run(tmp_path, [Adder("good", broken=3)])
    (failed,) = [record for record in evaluated.records if record.failed]
    assert (failed.sample, failed.error, failed.scores) == ("s3", "the abacus is away", {})
    kept = (tmp_path / "results.jsonl").read_bytes()
    mended = Adder("good")
    run(tmp_path, [mended], retry=False)
    assert (mended.asked, (tmp_path / "results.jsonl").read_bytes()) == ([], kept)
    assert not any(record.failed for record in run(tmp_path, [mended]).records)
    assert mended.asked == ["s3"]


def test_an_error_that_is_no_record_ends_the_run_and_keeps_what_was_done(tmp_path):
    with pytest.raises(ModelUnavailable):
        run(tmp_path, [Adder("good", broken=3)], errors=())
    kept = [record.sample for record in read_records(tmp_path / "results.jsonl", SampleRecord)]
    assert kept == ["s0", "s1", "s2"]


def test_a_budget_leaves_out_and_says_how_many(tmp_path):
    class Three(RunBudget):
        def stop(self):
            return "enough" if self.seen >= 3 else ""

        seen = 0

        def saw(self, *, failed):
            self.seen += 1

    evaluated = run(tmp_path, budget=Three())
    assert (len(evaluated.records), evaluated.skipped) == (3, 17)
    assert (len(run(tmp_path).records), run(tmp_path).skipped) == (20, 0)


def test_a_group_has_what_it_needs_while_its_systems_run_and_only_then(tmp_path):
    opened, log = set(), []

    @asynccontextmanager
    async def setup(samples, systems):
        (group,) = {sample.right for sample in samples}
        opened.add(group)
        log.append((group, len(samples), sorted(system.name for system in systems)))
        yield
        opened.remove(group)

    class Looking(Adder):
        async def __call__(self, sample):
            assert opened == {sample.right}
            return await super().__call__(sample)

    run(tmp_path, [Looking("good")], group=lambda sample: sample.right, setup=setup)
    assert log == [(0, 4, ["good"]), (1, 3, ["good"]), (2, 3, ["good"])]
    run(tmp_path, [Looking("good")], group=lambda sample: sample.right, setup=setup)
    assert len(log) == 3  # nothing was left to do


def test_times_stand_apart(tmp_path):
    class Seconds(Record):
        KEY = ("sample", "system")
        sample: str
        system: str
        seconds: float

    def made(sample, system, ran: Ran):
        return (
            None
            if system.name == "bad"
            else Seconds(sample=sample.sample_id, system=system.name, seconds=1.5)
        )

    evaluated = run(tmp_path, timings=Timings("timings.jsonl", Seconds, made))
    assert {timing.system for timing in evaluated.timings} == {"good"}
    assert len(read_records(tmp_path / "timings.jsonl", Seconds)) == 10


def test_another_configuration_and_a_name_used_twice_are_refused(tmp_path):
    run(tmp_path, config={"seed": 1})
    with pytest.raises(InputError, match="another configuration"):
        run(tmp_path, config={"seed": 2})
    with pytest.raises(InputError, match="twice: names must be distinct"):
        run(tmp_path / "other", [Adder("good"), Adder("good")])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"sample":"s1"}', "a row without 'system'"),
        ('{"sample":"s1","system":"x","colour":"red"}', "'colour' is no field of a row of this version"),
        ('{"sample":7,"system":"x"}', r"not a row of results \(sample: "),
    ],
)
def test_records_of_another_form_are_refused_in_one_sentence(tmp_path, line, why):
    (tmp_path / "results.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=f"results.jsonl:1: {why}") as caught:
        run(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_record_that_is_read_and_written_keeps_its_bytes(tmp_path):
    line = '{"sample":"s","system":"x","scores":{"a":1,"b":1.0,"c":true,"d":null,"e":"yes"}}\n'
    (tmp_path / "r.jsonl").write_text(line)
    with RecordFile(tmp_path / "r.jsonl", SampleRecord) as records:
        records.finish()
    assert (tmp_path / "r.jsonl").read_text() == line


CHILD = """
import test_evaluation_run
test_evaluation_run.run(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("lines", [1, 7, 19])
def test_a_killed_run_ends_with_the_same_bytes(tmp_path, lines):
    run(tmp_path / "whole")
    killed_after(lines, CHILD, tmp_path / "killed")
    with (tmp_path / "killed" / "results.jsonl").open("ab") as file:
        file.write(b'{"sample":"s9","sys')  # what a kill in the middle of a line leaves
    systems = [Adder("good"), Adder("bad", 1)]
    run(tmp_path / "killed", systems)
    same = [(tmp_path / name / "results.jsonl").read_bytes() for name in ("whole", "killed")]
    assert same[0] == same[1]
    assert sum(Counter(systems[0].asked + systems[1].asked).values()) == 20 - lines
    assert all(json.loads(line) for line in same[0].splitlines())
