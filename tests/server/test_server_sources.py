"""The server keeps sources fresh: those that are due, and one at once when an admin asks."""

import pytest

from equipoise.apps.server import routes_sources
from equipoise.core.source_settings import SourceSettings
from equipoise.core.types import Trust
from equipoise.corpus.sources import memory
from equipoise.corpus.sources.memory import Memory, SourceTurn
from serving import wait_until
from site_server import serving


@pytest.fixture
def site():
    with serving() as made:
        made.put("/", "<p>We sell tea.</p><div id=comments>It is bad.</div>")
        yield made


@pytest.fixture(autouse=True)
def quick(monkeypatch, tmp_path):
    monkeypatch.setattr(routes_sources, "POLL_S", 0.05)
    monkeypatch.setattr(memory, "RETRY_S", 0.05)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def listed(site, **more):
    chosen = SourceSettings(address=f"http://localhost:{site.port}/", allow=("localhost",), **more)
    return {"sources": {"listed": [chosen.model_dump()]}}


def rows(served):
    return served.client.get("/v1/sources", headers=served.as_admin()).json()["data"]


def read(served):
    wait_until(lambda: rows(served)[0]["read"] and rows(served)[0]["state"] == "idle")
    return rows(served)[0]


def test_one_that_is_due_is_read_by_itself(serve, site):
    served = serve(settings=listed(site, every="1h"))
    row = read(served)
    assert (row["pages"], row["comments"], row["error"], row["trust"]) == (1, 1, "", "trusted")
    found = {one.source: one.trust for one in served.service.store.listing() if "localhost" in one.source}
    assert found[row["address"]] is Trust.TRUSTED and found[row["address"] + "#comments"] is Trust.UNTRUSTED
    asked = len(site.asked)
    assert read(served)["read"] == row["read"] and len(site.asked) == asked  # an hour has not passed


def test_one_is_read_at_once_when_an_admin_asks(serve, site):
    served = serve(settings=listed(site))
    row = rows(served)[0]
    assert row["state"] == "idle" and not row["read"] and not site.asked
    address = f"/v1/sources/{row['id']}/sync"
    assert served.client.post(address, headers=served.as_asker()).status_code == 403
    answer = served.client.post(address, headers=served.as_admin())
    assert answer.status_code == 202 and answer.json()["state"] in ("waiting", "running")
    assert read(served)["pages"] == 1
    site.put("/", "broken", status=500)
    served.client.post(address, headers=served.as_admin())
    wait_until(lambda: "500" in rows(served)[0]["error"])
    assert served.client.post(f"/v1/sources/{'0' * 16}/sync", headers=served.as_admin()).status_code == 404


def test_what_was_in_work_when_a_server_died_is_read_again(serve, site, opened):
    service = opened(settings=listed(site))
    one = routes_sources.known(service.settings)[0]
    with Memory(service.settings.store.path) as remembered:
        remembered.turn(one.address, SourceTurn(running=True, tries=1, said="far"))
    service.close()
    served = serve(settings=listed(site))
    assert read(served)["pages"] == 1


def test_one_that_failed_is_tried_again_and_not_at_once(serve, site, monkeypatch):
    site.put("/", "busy", status=500)
    served = serve(settings=listed(site, every="1h"))
    wait_until(lambda: "500" in rows(served)[0]["error"])
    site.put("/", "<p>We sell tea.</p>")
    wait_until(lambda: rows(served)[0]["pages"] == 1)
    assert read(served)["error"] == ""
    monkeypatch.setattr(memory, "RETRY_S", 1_000)
    site.put("/", "busy", status=500)
    served.client.post(f"/v1/sources/{rows(served)[0]['id']}/sync", headers=served.as_admin())
    wait_until(lambda: "500" in rows(served)[0]["error"])
    asked = len(site.asked)
    turns = routes_sources.Turns(served.service.settings, Memory(served.service.settings.store.path), None)
    assert not turns.next() and len(site.asked) == asked


def test_where_workers_do_so_the_server_reads_none(serve, site):
    served = serve(settings=listed(site, every="1h") | {"serve": {"sync": False}})
    row = rows(served)[0]
    answer = served.client.post(f"/v1/sources/{row['id']}/sync", headers=served.as_admin())
    assert answer.json()["state"] == "waiting"
    assert rows(served)[0]["state"] == "waiting" and not site.asked
