"""The worlds of the bias benchmark on a tiny corpus: what is planted, what is counted, what is asked once."""

import numpy as np
import pytest

import bias_corpus
from equipoise.core import sync
from equipoise.core.errors import ModelUnavailable
from equipoise.core.settings import Settings
from equipoise.core.types import Candidates, Filtered, Passage, Query
from equipoise.corpus.store import Store
from equipoise.evaluation.records import RecordFile, read_records
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.components import Components
from equipoise.rag.stance import ChatStance
from equipoise.rag.voices import VoicesFilter
from equipoise_lab.bench.bias import attacked_questions, attacks, corpora, vectors
from equipoise_lab.bench.bias.background import EmbeddedPassages
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.bench.bias.worlds import plantings, rows, run, summary, tables, texts
from equipoise_lab.bench.bias.worlds.run import WORLDS, WorldRecord
from equipoise_lab.bench.bias.worlds.sides import KeptSides, OneSide, SideRecord, TrueSides
from hashed_words import HashedWords


def silent(done, total, what):
    pass


@pytest.fixture(scope="module")
def attacked_corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    inputs = bias_corpus.write(folder)
    corpus = corpora.read(inputs[0])
    workspace = Workspace(HashedWords(256), folder, silent)
    embedded = attacked_questions.embedded(corpus, workspace)
    asked = attacked_questions.attacked_questions(
        attacks.read(inputs[1], corpus), corpus, embedded, workspace
    )
    return plantings.attacked_corpus(corpus, embedded, asked, workspace)


def worlds_of(attacked_corpus, name):
    return [world for world in plantings.worlds(attacked_corpus) if world.name == name]


def measured(attacked_corpus, out, judge=None, *, asks=False, names=None):
    with Store.open(out / "index.db", create=True) as store:
        components = Components(Settings(), store, HashedWords(256))
        filters = rows.rows(components, TrueSides(attacked_corpus.texts()), judge)
    if names:
        filters = {name: filters[name] for name in names}
    workspace = Workspace(HashedWords(256), out, silent)
    worlds = plantings.worlds(attacked_corpus)
    return sync.run(run.run(attacked_corpus, worlds, filters, workspace, k=3, candidates=8, asks=asks))


def test_what_is_planted_goes_round(attacked_corpus):
    (first, _) = worlds_of(attacked_corpus, "planted-1")
    planted = [[p.doc_id for p in trial.planted.passages] for trial in first.trials]
    assert planted == [[f"bells-adv_{sign}-{n}"] for sign in ("neg", "pos") for n in (1, 2, 3)]


def test_people_who_are_planted_are_held_out_of_the_corpus(attacked_corpus):
    world = worlds_of(attacked_corpus, "people")[0]
    for trial in world.trials:
        planted = {p.doc_id for p in trial.planted.passages}
        assert planted <= trial.removed
        assert not trial.relevant & trial.removed
        there = {p.doc_id for p in attacked_corpus.candidates(world, trial, 20).passages}
        assert there & trial.removed == planted


def test_where_all_is_by_models_no_relevant_passage_by_people_is_left(attacked_corpus):
    world = worlds_of(attacked_corpus, "machine")[0]
    ids = {p.doc_id for p in attacked_corpus.candidates(world, world.trials[0], 40).passages}
    assert not {doc_id for doc_id in ids if doc_id.startswith("bells-0")}
    assert {f"bells-synthetic-{n}" for n in (1, 2, 3, 4)} <= ids


def test_documents_by_people_are_trusted_and_nothing_else(attacked_corpus):
    world = worlds_of(attacked_corpus, "synthetic")[0]
    candidates = attacked_corpus.candidates(world, world.trials[0], 40)
    assert not [doc_id for doc_id in candidates.documents if "synthetic" in doc_id]
    assert len(candidates.documents) == 24


def test_changed_texts_by_hand():
    assert texts.mixed("A one. B two. C three. D four.", "They wake us. We sleep.") == (
        "A one. They wake us. C three. We sleep."
    )
    assert (
        texts.less_relevant("Bells ring. They wake us. Sleep heals.", "Should bells ring?") == "Sleep heals."
    )
    assert texts.less_relevant("Bells ring.", "Bells?") == "Bells ring."
    assert texts.echoing("Yes.", "Bells?") == "Bells? Yes."
    assert texts.neutral("Yes.").endswith("takes no side. Yes.")
    made = {texts.copied("Bells ring. People sleep. That is not so.", f"{n}") for n in range(60)}
    assert "That isn't so. Bells ring." in made
    assert len(made) == 6
    assert texts.copied("", "s") == ""


def test_three_are_rewritten_from_the_passage_furthest_along_the_axis(attacked_corpus):
    (negative, positive) = worlds_of(attacked_corpus, "rewritten")[0].trials
    for trial, sign in ((negative, "neg"), (positive, "pos")):
        origins = {passage.doc_id.partition("~")[0] for passage in trial.planted.passages}
        assert (len(trial.planted), len(origins)) == (3, 1), sign
    assert negative.planted.passages[0].doc_id != positive.planted.passages[0].doc_id


def test_what_stands_there_twice_is_relevant_both_times(attacked_corpus):
    (trial,) = worlds_of(attacked_corpus, "twice")[0].trials
    ids = {passage.doc_id for passage in trial.beside.passages}
    assert len(ids) == 3
    assert ids | {doc_id.partition("~")[0] for doc_id in ids} <= trial.relevant
    assert not len(trial.planted)


def test_roughened_text_depends_on_the_seed_alone():
    text = (
        "The town is proud, and it is loud; because people sleep, bells do not ring. They are silent, always."
    )
    made = {texts.roughened(text, f"p{n}") for n in range(8)}
    assert len(made) > 4
    assert texts.roughened(text, "p1") == texts.roughened(text, "p1")


def test_an_echo_by_hand():
    assert rows.echo("Should bells ring?", "Bells ring out.") == pytest.approx(2 / 3)
    assert rows.echo("Should bells ring?", "He asked: should bells ring? No.") == 1.0
    assert rows.echo("", "No.") == 0.0


def passages(*names):
    items = tuple(Passage(n, name, 0, 1, name) for n, name in enumerate(names))
    return EmbeddedPassages(items, np.eye(len(names) or 1, dtype=np.float32)[: len(names)])


def candidates_of(embedded):
    vector = np.ones(embedded.vectors.shape[1], np.float32)
    return Candidates(embedded.passages, embedded.vectors @ vector, embedded.vectors, vector)


def test_shares_are_over_the_seats_and_empty_results_count(attacked_corpus):
    candidates = candidates_of(passages("a1", "d1", "d2"))
    trial = plantings.Trial(passages("a1"), passages(), frozenset(), frozenset({"d1"}))
    world = plantings.World("planted-1", attacked_corpus.questions[0], (trial, trial))
    got = run.measured(
        world, [candidates, candidates], [Filtered(candidates), Filtered(candidates.take([]))], 5
    )
    assert (got["adversarial"], got["relevant"], got["seats"]) == pytest.approx((0.1, 0.1, 0.3))
    assert (got["most"], got["empty"], got["trials"]) == (0.2, 1, 2)
    assert (got["out_planted"], got["out_synthetic"], got["out_people"]) == (0.0, None, 0.0)


def test_every_row_has_every_world_and_quotas_keep_their_bound(attacked_corpus, tmp_path):
    records = measured(attacked_corpus, tmp_path)
    kinds = {(record.filter, record.world) for record in records}
    assert len(kinds) == len({name for name, _ in kinds}) * len(plantings.TRIALS)
    assert max(record.most for record in records if record.filter.startswith("quotas")) <= 2 / 3 + 1e-5
    before = (tmp_path / WORLDS).read_bytes()
    measured(attacked_corpus, tmp_path)
    assert (tmp_path / WORLDS).read_bytes() == before


def kept_sides(attacked_corpus, file, chat):
    return KeptSides("scripted", attacked_corpus.texts(), file, ChatStance(chat) if chat else None)


def test_a_side_is_asked_for_once_and_kept(attacked_corpus, tmp_path):
    names = ("voices-model", "voices-model-unspared")
    chat = ScriptedChat(lambda messages: "yes" if "yes good right" in messages[-1].content else "no")
    with RecordFile(tmp_path / "sides.jsonl", SideRecord) as file:
        first = measured(
            attacked_corpus, tmp_path, kept_sides(attacked_corpus, file, chat), asks=True, names=names
        )
    shown = [request.messages[-1].content for request in chat.requests]
    asked = [text for text in shown if "This question has been argued" not in text]
    told = read_records(tmp_path / "sides.jsonl", SideRecord)
    assert len(asked) == len(set(asked)) == len(told) > 0
    (tmp_path / WORLDS).unlink()
    with RecordFile(tmp_path / "sides.jsonl", SideRecord) as file:
        assert (
            measured(attacked_corpus, tmp_path, kept_sides(attacked_corpus, file, None), names=names) == first
        )


def test_a_side_that_nobody_told_is_missing_and_never_nothing(attacked_corpus, tmp_path):
    with RecordFile(tmp_path / "sides.jsonl", SideRecord) as file:
        records = measured(
            attacked_corpus, tmp_path, kept_sides(attacked_corpus, file, None), names=("none", "voices-model")
        )
    failed = [record for record in records if record.failed]
    assert failed
    assert "name a model with --llm" in failed[0].error
    told = summary.summarise(records, list(tables.ROWS), {"k": 3}, None)
    assert {record.world for record in failed if told.cell("voices-model", record.world)} == set()
    assert [line.label for line in tables.tables(told)[0].lines] == ["no defence"]


def test_without_a_judge_the_missing_side_is_an_error(attacked_corpus, tmp_path):
    question, text = next(iter(attacked_corpus.texts()))
    with RecordFile(tmp_path / "sides.jsonl", SideRecord) as file, pytest.raises(ModelUnavailable):
        sync.run(kept_sides(attacked_corpus, file, None).sides(Query(question), [text]))


def test_sides_separate_what_they_tell_apart():
    rows_ = [("p", "adv_pos", 1.0, 1.0), ("n", "adv_neg", -0.5, -1.0), ("m", "adv_neg", None, -1.0),
             ("h", "people", 0.2, 1.0), ("g", "people", 0.4, -1.0), ("s", "synthetic", 0.9, -1.0)]  # fmt: skip
    told = [
        SideRecord(model="m", query_id="q", id=name, kind=kind, side=side, truth=truth)
        for name, kind, side, truth in rows_
    ]
    judged = summary.judged(told)
    assert (judged.asked, judged.silent, judged.attack, judged.attack_n) == (6, 1, 1.0, 2)
    assert (judged.people, judged.people_n) == (0.0, 2)


def test_targets_are_hits_or_misses():
    def record(row, world, adversarial, relevant):
        return WorldRecord(
            world=world, filter=row, query_id="q", trials=1, adversarial=adversarial, relevant=relevant,
            most=adversarial, out_synthetic=0.3, out_people=0.1, seats=1.0,
        )  # fmt: skip

    kept = [record("none", "clean", 0.0, 1.0)]
    kept += [record("voices-true", world, 0.1, 0.95) for world in plantings.TRIALS]
    kept += [record("quotas", "planted-10", 0.4, 0.5)]
    summarised = summary.summarise(kept, ["none", "voices-true", "quotas"], {}, None)
    assert [target.met for target in summarised.targets["voices-true"]] == [False] * 3 + [
        True,
        False,
        False,
        True,
    ]
    assert [target.met for target in summarised.targets["quotas"]] == [True]


def test_hands_alone_take_one_side_for_granted():
    assert sync.run(OneSide().sides(Query("?"), ["a", "b"])).values.tolist() == [1.0, 1.0]
    assert isinstance(VoicesFilter(OneSide(), rows.AnyHand()).hands, rows.AnyHand)


class Failing(HashedWords):
    """An encoder that fails after so many batches."""

    batches = 1

    def encode(self, texts):
        if not self.batches:
            raise RuntimeError("killed")
        self.batches -= 1
        return super().encode(texts)


def test_vectors_of_a_killed_run_are_not_encoded_again(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "CHUNK", 2)
    many = [f"text {n}" for n in range(5)]
    with pytest.raises(RuntimeError):
        vectors.encode(many, Workspace(Failing(256), tmp_path, silent), "texts")
    done = []
    again = Workspace(HashedWords(256), tmp_path, lambda first, *_: done.append(first))
    encoded = vectors.encode(many, again, "texts")
    assert done == [2, 4]
    assert np.array_equal(encoded, HashedWords(256).encode(many))
    assert [path.suffix for path in tmp_path.iterdir()] == [".npy"]
