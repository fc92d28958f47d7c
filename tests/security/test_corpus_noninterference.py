"""Fact 3: no untrusted document moves what trusted ones answer; and the property notices when the code breaks it."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from beside import MODES, QUESTIONS, TRUSTED, WORDS, Planted, World, different, filled, run, shown
from corpus_leaks import FILES, LEAKS
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from plants import CLAIMS, CONTRADICTING, FOREIGN, INSTRUCTIONS, KNOWN, plants

from equipoise.core.errors import CorpusError
from equipoise.core.settings import Settings
from equipoise.core.types import Document, Trust
from equipoise.corpus import vectors
from equipoise.corpus.naming import document_id
from equipoise.models.adapted import DecisionModel
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.library import Library
from hashed_words import HashedWords
from overlap import Overlap
from stores_here import cluster, new_place  # noqa: F401
from verified import verified

KINDS = ["sqlite", "postgres"]
"""Kinds of stores, as `stores_here.new_place` has them."""
EXAMPLES, SEARCHED = 15, 60
"""Examples of the property; and of what catches a mutant, which nearly always takes fewer than ten."""
ANSWERED = 8
"""Of QUESTIONS, at least so many are answered by the trusted documents in every mode."""
SEARCH = {"phases": (Phase.explicit, Phase.generate), "derandomize": True, "report_multiple_bugs": False}
"""How a mutant is looked for: the first example that shows it is enough."""


@pytest.fixture
def words_decide(monkeypatch):
    """Words in place of the decision model, which takes half the time; the last tests have the package's models."""
    monkeypatch.setattr(DecisionModel, "scores", Overlap().scores)


@pytest.fixture(params=KINDS)
def new_world(request, new_place, words_decide):  # noqa: F811
    """A function of a mode: a world with an empty store of its own."""
    opened = []

    def made(mode, **more):
        opened.append(World.at(new_place(request.param), mode, **more))
        return opened[-1]

    yield made
    for world in opened:
        world.library.close()


@dataclass(frozen=True)
class Property:
    """Fact 3 over random planted documents, with `modes` of asking; KNOWN are planted in `known` modes."""

    new_world: object
    modes: tuple = MODES
    known: tuple | None = None

    def check(self, examples, **more):
        """Raises AssertionError where an untrusted document moves what trusted ones show."""
        alone = {}

        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            **more,
        )
        @given(plants, st.sampled_from(self.modes))
        def holds(planted, mode):
            if mode not in alone:
                alone[mode] = run(self.new_world(mode), Planted())
            world = self.new_world(mode)
            try:
                assert different(alone[mode], run(world, planted), mode) == ""
            finally:
                world.library.close()

        for planted in KNOWN[::-1]:  # the example that is added last is tried first
            for mode in self.known or self.modes:
                holds = example(planted, mode)(holds)
        holds()


@pytest.mark.long
@pytest.mark.parametrize(
    ("new_world", "known"),
    [
        ("sqlite", ("chat others", "others", "trusted-only")),
        ("postgres", ("chat others",)),
        pytest.param("sqlite", MODES, marks=pytest.mark.nightly),
        pytest.param("postgres", MODES, marks=pytest.mark.nightly),
    ],
    indirect=["new_world"],
    ids=["sqlite", "postgres", "sqlite-in-all-modes", "postgres-in-all-modes"],
)
def test_no_untrusted_document_moves_what_trusted_ones_answer(new_world, known):
    """A mode is of the way above the store: in CI the other ones meet random documents alone."""
    Property(new_world, known=known).check(EXAMPLES)


@pytest.mark.parametrize(
    ("new_world", "number"),
    [
        ("sqlite", 3_000),
        ("postgres", 1_000),
        pytest.param("sqlite", 10_000, marks=pytest.mark.nightly),
        pytest.param("postgres", 10_000, marks=pytest.mark.nightly),  # a minute of two processes
    ],
    indirect=["new_world"],
)
def test_thousands_of_untrusted_documents_move_nothing(new_world, number):
    texts = [one.text.replace("1", "2") for one in TRUSTED] + [*CLAIMS, *INSTRUCTIONS, *FOREIGN]
    crowd = tuple(
        Document(f"crowd-{n}", f"{texts[n % len(texts)]} {n}", f"crowd/{n}.md", "", Trust.UNTRUSTED)
        for n in range(number)
    )
    alone = run(new_world("extractive"), Planted())
    assert (
        different(alone, run(new_world("extractive"), Planted(crowd, (0, 3) * (number // 2))), "extractive")
        == ""
    )


@pytest.mark.parametrize("mode", MODES)
def test_the_trusted_documents_answer_most_of_the_questions(new_world, mode):
    answers = run(new_world(mode), Planted()).answers
    assert sum(not data["refused"] for data, _ in answers.values()) >= ANSWERED


@pytest.mark.parametrize("new_world", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", LEAKS)
def test_every_leak_is_caught(new_world, monkeypatch, name):
    LEAKS[name](monkeypatch)
    with pytest.raises(AssertionError):
        Property(new_world, ("chat others", "others")).check(SEARCHED, **SEARCH)


@dataclass
class Folders:
    """Two libraries over files: `docs` are trusted files, `crowd` untrusted ones of the same names."""

    root: Path
    chdir: object

    def world(self, name, mode="extractive"):
        """A folder with its own `docs` and `crowd`, and a world whose store lies in it."""
        for part in ("docs", "crowd", "docs/uploads"):
            (self.root / name / part).mkdir(parents=True)
        for document in TRUSTED:
            (self.root / name / document.source).write_text(document.text, "utf-8")
        return World.at(self.root / name / "index.db", mode, HashedWords(64))

    def index(self, world, folder, paths, trust):
        """Index the paths as somebody who works in the folder."""
        self.chdir(world.library.store.path.parent / folder)
        return world.library.index(paths, trust=trust)


@pytest.fixture
def folders(tmp_path, monkeypatch, words_decide):
    return Folders(tmp_path, monkeypatch.chdir)


def names_first(folders, world):
    """An untrusted file has the relative source of a trusted one, and was indexed first."""
    for document in TRUSTED:
        name = Path(document.source).name
        (folders.root / "beside" / "crowd" / name).write_text(document.text.replace("8:30", "9:45"), "utf-8")
    folders.index(world, "crowd", ["."], Trust.UNTRUSTED)


def ids_first(folders, world):
    """Untrusted documents that are no files have the ids of trusted ones, and of what those would be called else."""
    names = [Path(document.source).name for document in TRUSTED]
    for source in (*names, *(f"{name} (untrusted)" for name in names)):
        world.library.add([Document(document_id(source), CLAIMS[0], source, "", Trust.UNTRUSTED)])


def nested(folders, world):
    """An untrusted folder lies in the trusted one, and its files are embedded together with the trusted ones."""
    for number, claim in enumerate((*CLAIMS, *INSTRUCTIONS, *FOREIGN)):
        (folders.root / "beside" / "docs" / "uploads" / f"{number}.md").write_text(claim, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "make", lambda *args: [])  # a run that was ended before
        folders.index(world, "docs", ["uploads"], Trust.UNTRUSTED)


def from_files(folders, *before):
    """What is shown by a world of trusted files, and by one in which `before` did something first."""
    alone, beside = folders.world("alone"), folders.world("beside")
    for step in before:
        step(folders, beside)
    reports = [folders.index(world, "docs", ["."], Trust.TRUSTED) for world in (alone, beside)]
    assert [report.failed for report in reports] == [(), ()]
    assert beside.library.store.counts().trusted == alone.library.store.counts().trusted
    results = [shown(world) for world in (alone, beside)]
    for world in (alone, beside):
        world.library.close()
    return results


@pytest.mark.parametrize("steps", [(names_first,), (ids_first,), (names_first, nested), (ids_first, nested)])
def test_no_untrusted_file_moves_what_trusted_ones_answer(folders, steps):
    assert different(*from_files(folders, *steps), "extractive") == ""


@pytest.mark.parametrize("name", FILES)
def test_every_leak_between_files_is_caught(folders, monkeypatch, name):
    FILES[name](monkeypatch)
    with pytest.raises((AssertionError, CorpusError)):
        for number, steps in enumerate(((names_first, nested), (ids_first,))):
            apart = replace(folders, root=folders.root / f"{number}")
            assert different(*from_files(apart, *steps), "extractive") == ""


def test_an_untrusted_file_keeps_its_documents_under_another_name(folders):
    world = folders.world("beside")
    names_first(folders, world)
    folders.index(world, "docs", ["."], Trust.TRUSTED)
    crowd = {listed.source for listed in world.library.documents() if listed.trust is Trust.UNTRUSTED}
    assert crowd == {
        (folders.root / "beside" / "crowd" / Path(one.source).name).as_posix() for one in TRUSTED
    }
    folders.index(world, "crowd", ["."], Trust.UNTRUSTED)
    assert world.library.store.counts().documents == 2 * len(TRUSTED)
    verified(world.library.store)
    world.library.close()


def test_an_id_that_is_taken_is_said_and_nothing_moves(new_world):
    """Who adds documents chooses their ids: one that an untrusted document has is an error until that is taken out."""
    alone, world = run(new_world("extractive"), Planted()), new_world("extractive")
    world.library.add([Document(TRUSTED[0].doc_id, CLAIMS[0], "mine.md", "", Trust.UNTRUSTED)])
    with pytest.raises(CorpusError, match="in the store already"):
        world.library.add(TRUSTED)
    assert world.library.store.counts().trusted == 0
    world.library.remove(TRUSTED[0].doc_id)
    world.library.add(TRUSTED)
    assert different(alone, shown(world), "extractive") == ""


@pytest.mark.parametrize("mode", ["extractive", "chat others"])
def test_trust_that_is_given_and_taken_back_restores_everything(new_world, mode):
    world = new_world(mode)
    planted = CONTRADICTING
    filled(world, planted)
    before = shown(world)
    ids = [document.doc_id for document in planted.documents]
    world.library.store.set_trust(ids, Trust.TRUSTED)
    assert different(before, shown(world), mode) != ""
    world.library.store.set_trust(ids[::-1], Trust.HELD)
    held = shown(world)
    world.library.store.set_trust(ids, Trust.UNTRUSTED)
    after = shown(world)
    assert (different(held, before, mode), different(held, after, mode)) == ("", "")
    assert {question: data for question, (data, _) in held.answers.items()} == {
        question: data for question, (data, _) in run(new_world(mode), Planted()).answers.items()
    }
    verified(world.library.store)


def test_documents_that_are_held_are_never_read(new_world):
    held = [replace(document, trust=Trust.HELD) for document in CONTRADICTING.documents]
    alone, world = new_world("chat others"), new_world("chat others")
    assert run(world, replace(CONTRADICTING, documents=tuple(held))) == run(alone, Planted())
    assert not any(passage.trust is Trust.HELD for passage in world.library.search(WORDS[0]).passages)


def test_a_vector_is_a_function_of_its_text_whatever_is_embedded_beside_it(tmp_path):
    """By the encoder of the package: for 40 untrusted passages, the same lengths among them."""
    encoder = EmbeddedEncoder()
    beside = tuple(
        Document(f"{name}{n}", text, "x.md", "", Trust.UNTRUSTED)
        for n, one in enumerate(TRUSTED)
        for name, text in (
            ("0", one.text),
            ("zz", one.text.replace("1", "2")),
            ("a", f"{one.text} {CLAIMS[3]}"),
        )
    )
    matrices = []
    for number, documents in enumerate(((), beside)):
        world = World.at(tmp_path / f"{number}.db", "extractive", encoder)
        filled(world, Planted(documents, tuple(range(len(documents))), at_once=True))
        matrices.append(world.library.store.partition(Trust.TRUSTED).matrix()[1].tobytes())
        world.library.close()
    assert matrices[0] == matrices[1]


GIRAFFES = (
    "The zoo of Lima sells marmalade of oranges on Mondays. It opens to visitors at nine and has a gift shop. The zoo "
    "of Lima keeps nine giraffes in a small paddock. The giraffes eat leaves of acacia trees every evening. A keeper "
    "washes the giraffes on Sundays with warm water. The keeper of the giraffes is called Ramon and came from Cusco. "
    "Ramon came to the zoo in 1998 on a bicycle."
)
"""Of which the shipped reader quotes overlapping stretches for two questions of one message."""


OF_EACH_KIND = tuple(QUESTIONS[n] for n in (0, 5, 7, 8, 10, 11, 13))
"""One that is answered, one with slips, one after another, two at once, one that nobody trusted answers, one of both,
three at once: the models take half a second for each."""


def with_the_models_of_the_package(folder, planted):
    """What is shown with encoder, reranker, reader, stance and all defaults, as they are shipped."""
    world = World(Library.create(folder / "index.db", settings=Settings(), chat=None), "others")
    try:
        return shown(filled(world, planted), OF_EACH_KIND)
    finally:
        world.library.close()


@pytest.fixture(scope="module")
def alone_with_the_models(tmp_path_factory):
    shown_alone = with_the_models_of_the_package(tmp_path_factory.mktemp("alone"), Planted())
    assert sum(not data["refused"] for data, _ in shown_alone.answers.values()) >= len(OF_EACH_KIND) - 1
    return shown_alone


@pytest.mark.parametrize(
    "planted",
    [
        *KNOWN[:3],
        Planted((Document("x", GIRAFFES, "x.md", "", Trust.UNTRUSTED),), (0,)),
        *(pytest.param(planted, marks=pytest.mark.nightly) for planted in KNOWN[3:]),
    ],
)
def test_nothing_moves_with_the_models_of_the_package(tmp_path, alone_with_the_models, planted):
    assert different(alone_with_the_models, with_the_models_of_the_package(tmp_path, planted), "others") == ""
