"""Sites on the command line and in the settings."""

import json
import sys
from datetime import UTC, datetime

import pytest

from equipoise import Library
from equipoise.core import settings
from equipoise.core.errors import CorpusError, InputError, SettingsError
from equipoise.core.source_settings import SourceSettings
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from site_server import serving


@pytest.fixture
def shop():
    """A site at an address that this machine knows by itself."""
    with serving() as made:
        made.put("/", '<h1>Shop</h1><p>We sell tea.</p><a href="/refunds">Refunds</a>')
        made.put(
            "/refunds",
            "<p>Refunds are paid within 14 days.</p><div id=comments>Refunds are never paid.</div>",
        )
        yield made


@pytest.fixture
def address(shop):
    return f"http://localhost:{shop.port}/"


def test_one_command_and_an_answer(run, address):
    code, out, _ = run("index", address, "--allow", "localhost")
    assert code == 0 and "3 documents" in out and "(pages: 2 added; comments: 1 added)" in out
    code, out, _ = run("ask", "When are refunds paid?")
    assert "Refunds are paid within 14 days." in out and "never" not in out and f"{address}refunds" in out


def test_an_answer_says_as_of_when_it_is_and_a_question_may_want_younger_pages(run, shop, address):
    shop.put(
        "/refunds", "<p>Refunds are paid within 14 days.</p>", Last_Modified="Tue, 02 Jan 2024 00:00:00 GMT"
    )
    run("index", address, "--allow", "localhost")
    today = datetime.now(UTC).date()
    code, out, _ = run("ask", "When are refunds paid?")
    assert code == 0 and f"{address}refunds, paragraph 1, of 2024-01-02, as of {today}" in " ".join(
        out.split()
    )
    quote = json.loads(run("ask", "When are refunds paid?", "--json")[1])["highlights"][0]
    assert (quote["date"], quote["read"]) == ("2024-01-02", str(today))
    asked = json.loads(run("ask", "When are refunds paid?", "--where", "date >= 2024-02-01", "--json")[1])
    assert asked["refused"]
    assert not json.loads(run("ask", "When are refunds paid?", "--where", f"read >= {today}", "--json")[1])[
        "refused"
    ]


def test_the_same_from_python(address, tmp_path):
    chosen = SourceSettings(address=address, allow=("localhost",))
    with Library.create(tmp_path / "index.db") as library:
        assert library.sync(chosen, metadata={"team": "shop"}).added == 3
        assert library.sync(chosen, gone="keep").unchanged == 3
        with pytest.raises(CorpusError, match="localhost is at"):
            library.sync(address)
        with pytest.raises(InputError, match="no address"):
            library.sync("shop")


def test_a_site_of_ones_own_network_needs_its_name(run, address):
    code, _, err = run("index", address)
    assert code == 3 and "--allow localhost" in err
    assert run("sources", "list")[1].startswith("There is no source")


def test_a_site_and_a_folder_in_one_index(run, address, tmp_path):
    (tmp_path / "a.md").write_text("Milk is white.")
    code, out, _ = run("index", address, "a.md", "--allow", "localhost")
    assert code == 0 and "(pages: 2 added; comments: 1 added)" in out and "(files: 1 added)" in out


def test_sources_are_listed_synced_and_removed(run, address, shop):
    run("index", address, "--allow", "localhost", "--meta", "team=shop")
    row = json.loads(run("sources", "list", "--json")[1])["sources"][0]
    known = {
        "address": address,
        "trust": "trusted",
        "pages": 2,
        "comments": 1,
        "error": "",
        "in_settings": False,
    }
    assert row | known == row
    shop.put("/refunds", "<p>Refunds are paid within 30 days.</p>")
    code, out, _ = run("sources", "sync")
    assert code == 0 and "(pages: 1 changed, 1 unchanged; comments: 1 removed)" in out
    assert "team=shop" in run("documents", "list")[1]
    shop.put("/", "broken", status=500)
    code, _, err = run("sources", "sync", address)
    assert code == 3 and "500" in err
    assert "500" in json.loads(run("sources", "list", "--json")[1])["sources"][0]["error"]
    assert run("sources", "sync", "https://other.example/")[0] == 2
    assert "2 documents removed" in run("sources", "remove", address)[1]
    assert "There is no source" in run("sources", "list")[1]


def test_a_folder_of_somebody_else_brings_no_sources(run, address, monkeypatch, tmp_path):
    """Nor the secrets that they are asked with."""
    run("index", address, "--allow", "localhost")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of another user"))
    assert "There is no source" in run("sources", "list")[1]
    assert run("sources", "sync", address)[0] == 2


def test_sources_of_the_settings(run, address, monkeypatch, tmp_path):
    written = (
        f'[[sources]]\naddress = "{address}"\ntrust = "untrusted"\nevery = "1h"\nallow = ["localhost"]\n'
    )
    (tmp_path / settings.FILE_NAME).write_text(written)
    assert "needs your consent" in run("sources", "sync")[2]
    assert "sources.listed" in run("config", "trust")[1]
    code, out, _ = run("sources", "sync", "--due")
    assert code == 0 and "3 documents" in out
    assert run("sources", "sync", "--due")[1] == ""  # an hour has not passed
    assert "untrusted" in run("documents", "list")[1] and " trusted" not in run("documents", "list")[1]
    code, out, _ = run("index", address)
    assert code == 0 and "(pages: 2 unchanged; comments: 1 unchanged)" in out


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("address", "ftp://a/", "no address of a source"),
        ("address", "https://u:p@a/", "without a user"),
        ("every", "often", "15m"),
        ("authorization", "Bearer x", "never stands in settings"),
        ("unknown", "x", "not permitted"),
    ],
)
def test_settings_that_cannot_be_used(field, value, why, tmp_path):
    row = {"address": '"https://a.example/"'} | {field: json.dumps(value)}
    text = "[[sources]]\n" + "".join(f"{name} = {said}\n" for name, said in row.items())
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(SettingsError, match=why):
        settings.load(folder=tmp_path, environment={}, own_file=tmp_path / "own.toml")


def test_a_variable_names_addresses_alone(tmp_path):
    told = {"EQUIPOISE_SOURCES_LISTED": "https://a.example/ https://b.example/"}
    listed = settings.load(folder=tmp_path, environment=told).settings.sources.listed
    assert [one.address for one in listed] == ["https://a.example/", "https://b.example/"]


def test_times_and_secrets():
    chosen = SourceSettings(address="https://a.example/", every="6h", authorization="env:SHOP")
    assert chosen.seconds == 21_600
    assert chosen.secret({"SHOP": "Bearer x"}) == "Bearer x"
    for bad in ({}, {"SHOP": "a\r\nHost: b"}):
        with pytest.raises(SettingsError, match="SHOP"):
            chosen.secret(bad)


def test_a_browser_that_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    monkeypatch.delitem(sys.modules, "equipoise.corpus.sources.browser", raising=False)
    with (
        serving() as site,
        Store.open(tmp_path / "index.db", create=True) as store,
        pytest.raises(InputError, match=r"pip install 'equipoise\[browser\]'"),
    ):
        site.sync(store, HashedWords(), browser=True)
    assert site.asked == []
