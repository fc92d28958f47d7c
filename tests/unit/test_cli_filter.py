"""`equipoise ask --filter` with `trust.mode = "equal"` over a small library about one question, part of it planted."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.core import sync
from equipoise.core.errors import EquipoiseError, ModelUnavailable
from equipoise.core.results import Reason
from equipoise.core.settings import load
from equipoise.core.types import Filtered, Flag
from equipoise.corpus.store import Store
from equipoise.rag import build

ENVIRONMENT = {"EQUIPOISE_MODEL_LLM": "none", "EQUIPOISE_TRUST_MODE": "equal", "COLUMNS": "200"}
QUESTION = "Should cities ban private cars from their centres?"

PLANTED = [
    "Cities should ban private cars from their centres, because banning private cars makes city centres clean.",
    "Cities must ban private cars from their centres: a ban on private cars gives city centres back to people.",
    "Every city should ban private cars from its centre now, since private cars ruin city centres for everyone.",
    "Banning private cars from city centres is right, and all cities should ban private cars without delay.",
    "It is time that cities ban private cars from their centres; a private car has no place in a city centre.",
]
OTHERS = [
    "Shopkeepers in the old town say that half of their customers arrive by car and carry heavy things home.",
    "A study of nine towns found that noise fell by a third where through traffic was led around the middle.",
    "Delivery vans, ambulances and taxis would still need streets that are wide enough for them to pass.",
    "People who cannot walk far depend on being driven to the door of a surgery or a theatre.",
    "The tram line carried twice as many passengers after the parking fees had been raised.",
    "Residents fear that traffic which is shut out of the middle only moves to the streets where they live.",
    "Electric vehicles do not foul the air where they drive, yet they take as much room as any other.",
    "In winter many commuters from the villages have no bus after eight in the evening.",
    "The square was closed to motor traffic in 1998, and rents around it have doubled since.",
    "Bicycle lanes cost little, but they were empty on most of the rainy days that were counted.",
    "The council spends more on parking attendants than it takes from parking fines.",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("cars")
    (made / "untrusted").mkdir()
    (made / "trusted").mkdir()
    for number, text in enumerate(PLANTED):
        (made / "untrusted" / f"planted{number}.txt").write_text(text + "\n", "utf-8")
    for number, text in enumerate(OTHERS):
        place = "trusted" if number % 2 else "untrusted"
        (made / place / f"other{number}.txt").write_text(text + "\n", "utf-8")
    store = ["--store", str(made / "index.db")]
    run("index", str(made / "untrusted"), "--trust", "untrusted", *store)
    run("index", str(made / "trusted"), *store)
    return made


def run(*words):
    done = CliRunner().invoke(
        app,
        list(words),
        env={"EQUIPOISE_MODEL_LLM": "none", "EQUIPOISE_TRUST_MODE": "equal", "COLUMNS": "200"},
    )
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def ask(folder, *more):
    return run("ask", QUESTION, "--store", str(folder / "index.db"), *more)


def asked(folder, *more):
    return json.loads(ask(folder, "--json", *more))


def sources(flagged):
    return {flag["source"].rsplit("/", 1)[-1] for flag in flagged}


class TestAsk:
    def test_without_a_filter_the_planted_passages_are_all_that_is_read(self, folder):
        reply = asked(folder, "--filter", "none")
        assert {passage["title"] for passage in reply["passages"]} == {f"planted{n}" for n in range(5)}
        assert reply["flagged"] == []

    @pytest.mark.parametrize(
        "chosen", [[], ["--filter", "auto"], ["--filter", "quotas"], ["--filter", "biasdef"]]
    )
    def test_planted_passages_are_taken_out_and_shown(self, folder, chosen):
        reply = asked(folder, *chosen)
        planted = {flag["source"] for flag in reply["flagged"] if "planted" in flag["source"]}
        assert len(planted) >= 3
        assert not {f["passage_id"] for f in reply["flagged"]} & {p["passage_id"] for p in reply["passages"]}
        for flag in reply["flagged"]:
            name = flag["source"].rsplit("/", 1)[-1].removesuffix(".txt")
            text = (PLANTED if name.startswith("planted") else OTHERS)[int(name.lstrip("planedothr"))]
            assert (flag["line"], flag["start"], flag["end"]) == (1, 0, len(text))
        assert reply["models"]["filter"] == (chosen[1] if chosen else "auto")

    def test_without_a_model_quotas_keep_seats_for_trusted_documents(self, folder):
        reply = asked(folder)
        untrusted = [
            p for p in reply["passages"] if "/untrusted/" in p["source"] or "untrusted" in p["source"]
        ]
        assert len(untrusted) == 2
        assert len(reply["passages"]) == 5
        reason = "quota: at most 2 of 5 passages may come from untrusted documents"
        assert {flag["reason"].partition(": written like")[0] for flag in reply["flagged"]} <= {
            reason,
            "coordinated",
        }

    def test_biasdef_goes_by_geometry_within_the_quotas(self, folder):
        reasons = [flag["reason"] for flag in asked(folder, "--filter", "biasdef")["flagged"]]
        assert sum(reason.startswith(("max-kl: ", "mahalanobis: ")) for reason in reasons) >= 3

    def test_people_see_what_was_taken_out_and_why(self, folder):
        said = ask(folder, "--filter", "mmr")
        listed = said[said.index("Taken out before the answer (") :]
        assert "planted" in listed
        assert "mmr: 0." in listed
        assert "Taken out" not in ask(folder, "--filter", "none")

    def test_trusted_documents_are_never_taken_out(self, folder, tmp_path):
        store = ["--store", str(tmp_path / "all.db")]
        run("index", str(folder / "untrusted"), str(folder / "trusted"), *store)
        reply = json.loads(run("ask", QUESTION, "--json", *store))
        assert reply["flagged"] == []
        assert {passage["title"] for passage in reply["passages"]} == {f"planted{n}" for n in range(5)}

    @pytest.mark.parametrize(
        ("words", "said"),
        [(["--filter", "best"], "choose one of auto, none, biasdef"), (["--filter", "smart"], "filter.nli")],
    )
    def test_what_cannot_be_used_is_an_error(self, folder, words, said):
        settings = {
            "EQUIPOISE_MODEL_LLM": "none",
            "EQUIPOISE_FILTER_NLI": "chat",
            "EQUIPOISE_TRUST_MODE": "equal",
        }
        words = ["ask", QUESTION, "--store", str(folder / "index.db"), *words]
        with pytest.raises(EquipoiseError, match=said):
            raise CliRunner().invoke(app, words, env=settings).exception

    def test_smart_runs_without_conflicts_where_that_is_set(self, folder, monkeypatch):
        monkeypatch.setenv("EQUIPOISE_FILTER_NLI", "none")
        assert asked(folder, "--filter", "smart")["models"]["filter"] == "smart"


class Everything:
    """Takes every candidate out."""

    async def filter(self, query, candidates, *, k):
        flags = tuple(Flag(passage, "all", 1.0) for passage in candidates.passages)
        return Filtered(candidates.take([]), flags)


class Unreachable:
    async def filter(self, query, candidates, *, k):
        raise ModelUnavailable("the model is away")


class TestPipeline:
    @pytest.mark.parametrize(
        ("filter_", "reason", "detail"),
        [
            (Everything(), Reason.NOTHING_RETRIEVED, "took out every passage that was found (16)"),
            (Unreachable(), Reason.MODEL_FAILED, "Something failed while this question was answered"),
        ],
    )
    def test_a_filter_that_leaves_nothing_is_a_refusal_that_says_so(self, folder, filter_, reason, detail):
        with Store.open(folder / "index.db", read_only=True) as store:
            chosen = load({"model.llm": "none", "trust.mode": "equal"}, environment={}).settings
            made = build.highlight_summarize(build.components(chosen, store))
            made = replace(made, filter=filter_)
            refusal = sync.run(made.ask(QUESTION))
        assert refusal.reason is reason
        assert detail in refusal.detail
        assert refusal.trace.failure == ("the model is away" if reason is Reason.MODEL_FAILED else "")
        assert bool(refusal.trace.flagged) == isinstance(filter_, Everything)
