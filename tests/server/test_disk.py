"""A disk that is full, and an index that is damaged under a running server."""

from serving import made_index, wait_until

QUESTION = {"question": "Does logging work over a network?"}


def fill(service):
    """Let nothing more be written: the book may not grow, and the log is a device that is always full."""
    service.audit.path.unlink(missing_ok=True)
    service.audit.path.symlink_to("/dev/full")
    [(pages,)] = service.book.rows("PRAGMA page_count")
    service.book.rows(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_keeps_no_answer_back_and_readyz_tells(serve):
    served = serve()
    fill(served.service)
    for _ in range(3):
        assert served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker()).json()["answer"]
    wait_until(lambda: not served.service.is_recording)
    assert served.client.get("/readyz").json() == {"status": "ready", "record": "failing"}


def test_where_a_record_is_demanded_nothing_is_answered_without(serve):
    served = serve(record=True)
    assert served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker()).status_code == 200
    fill(served.service)
    reply = served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker())
    assert reply.status_code == 503 and reply.json()["error"]["code"] == "no_record"
    ready = served.client.get("/readyz")
    assert ready.status_code == 503 and ready.json()["status"] == "no record"
    served.service.audit.path.unlink()
    assert served.client.get("/readyz").status_code == 200
    assert served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker()).status_code == 200


def test_an_index_that_was_made_anew_is_read_without_a_restart(serve, tmp_path):
    (tmp_path / "anew").mkdir()
    served = serve(path=made_index(tmp_path))
    cats = {"question": "When does the lighthouse blink?"}
    assert served.client.post("/v1/ask", json=cats, headers=served.as_asker()).json()["refused"]
    anew = made_index(
        tmp_path / "anew", light="The lighthouse at the harbour blinks every seven seconds of the night."
    )
    for left in tmp_path.glob("index.db*"):
        left.unlink()
    assert served.client.get("/readyz").status_code == 200
    anew.replace(tmp_path / "index.db")
    assert (
        "seven seconds"
        in served.client.post("/v1/ask", json=cats, headers=served.as_asker()).json()["answer"]
    )
    assert served.client.get("/readyz").status_code == 200
