"""/v1/documents: handed in, read in the background, listed, read, seen, relabelled, taken out."""

import io
import struct
import zipfile
from pathlib import Path

import pytest

from equipoise.apps.server.jobs import MOST_TRIES, Jobs
from equipoise.core.types import Trust
from serving import made_index, wait_until

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "sqlite"
DOGS = "Dogs of the lighthouse bark at every passing steamer, and nobody in the village minds. They sleep."


def put(served, name, content, **query):
    return served.client.post(
        "/v1/documents", params={"name": name} | query, content=content, headers=served.as_admin()
    )


def ended(served, job_id):
    def current():
        return served.client.get(f"/v1/jobs/{job_id}", headers=served.as_admin()).json()

    wait_until(lambda: current()["state"] in ("done", "failed"))
    return current()


def indexed(served, name, content, **query):
    given = put(served, name, content, **query)
    assert given.status_code == 202, given.text
    job = ended(served, given.json()["id"])
    assert job["state"] == "done", job
    return job["documents"]


def get(served, address, **params):
    return served.client.get(address, params=params, headers=served.as_asker())


def test_a_document_is_read_and_answers(served):
    question = {"question": "Which lighthouse has dogs?"}
    before = served.client.post("/v1/ask", json=question, headers=served.as_asker()).json()
    assert before["refused"]
    [doc_id] = indexed(served, "dogs.txt", DOGS.encode())
    body = served.client.post("/v1/ask", json=question, headers=served.as_asker()).json()
    [quote] = body["highlights"]
    assert quote["doc_id"] == doc_id and quote["source"] == "dogs.txt"
    about = get(served, f"/v1/documents/{doc_id}").json()
    assert about["trust"] == "trusted" and about["source"] == "dogs.txt" and about["pages"] == 0
    text = get(served, f"/v1/documents/{doc_id}/text", start=quote["start"], end=quote["end"]).json()
    assert text["text"] == quote["text"]


def test_the_same_name_takes_the_place_of_the_one_before(served):
    first = indexed(served, "dogs.txt", DOGS.encode())
    second = indexed(served, "dogs.txt", DOGS.replace("Dogs", "Wolves").encode())
    assert first == second
    assert "Wolves" in get(served, f"/v1/documents/{first[0]}/text").json()["text"]
    broken = put(served, "dogs.txt", b"\x00\x00\x01" * 50)
    job = ended(served, broken.json()["id"])
    assert job["state"] == "failed" and job["error"]["message"].endswith(".")
    assert str(served.service.folder) not in job["error"]["message"]
    assert "Wolves" in (served.service.folder / "uploads" / "dogs.txt").read_text()


@pytest.mark.parametrize("trust", ["untrusted", "held"])
def test_only_a_trusted_document_takes_the_place_of_a_trusted_one(served, trust):
    [doc_id] = indexed(served, "dogs.txt", DOGS.encode())
    wolves = DOGS.replace("Dogs", "Wolves").encode()
    refused = put(served, "dogs.txt", wolves, trust=trust)
    assert refused.status_code == 409 and not list((served.service.folder / "incoming").glob("*"))
    assert refused.json()["error"]["message"].endswith("delete the old one first, or use another name.")
    assert get(served, f"/v1/documents/{doc_id}").json()["trust"] == "trusted"
    assert "Dogs" in get(served, f"/v1/documents/{doc_id}/text").json()["text"]
    indexed(served, "dogs.txt", wolves, trust=trust, collection="acme")
    served.client.delete(f"/v1/documents/{doc_id}", headers=served.as_admin())
    indexed(served, "dogs.txt", wolves, trust=trust)
    indexed(served, "dogs.txt", DOGS.encode())


def test_nor_where_the_trusted_one_was_waiting(served, monkeypatch):
    monkeypatch.setattr(Jobs, "check_trust", lambda *_: None)
    [doc_id] = indexed(served, "dogs.txt", DOGS.encode())
    job = ended(served, put(served, "dogs.txt", b"Wolves howl at night.", trust="untrusted").json()["id"])
    assert job["state"] == "failed" and "A trusted document has this name" in job["error"]["message"]
    assert "Dogs" in get(served, f"/v1/documents/{doc_id}/text").json()["text"]
    assert "Dogs" in (served.service.folder / "uploads" / "dogs.txt").read_text()


def test_listing_goes_on_after_the_last_one_seen(served):
    first = served.client.get("/v1/documents", params={"limit": 1}, headers=served.as_admin()).json()
    assert first["has_more"] and len(first["data"]) == 1
    after = {"limit": 1, "after": first["data"][0]["doc_id"]}
    second = served.client.get("/v1/documents", params=after, headers=served.as_admin()).json()
    assert not second["has_more"]
    assert {document["source"] for document in first["data"] + second["data"]} == {"cats.txt", "wal.txt"}


def test_trust_and_taking_out(served):
    [doc_id] = indexed(served, "dogs.txt", DOGS.encode())
    address = f"/v1/documents/{doc_id}"
    changed = served.client.patch(address, json={"trust": "untrusted"}, headers=served.as_admin())
    assert changed.json() == {"documents": 1}
    assert get(served, address).json()["trust"] == "untrusted"
    assert served.client.delete(address, headers=served.as_admin()).json() == {"documents": 1}
    assert get(served, address).status_code == 404
    assert served.client.delete(address, headers=served.as_admin()).status_code == 404
    assert not (served.service.folder / "uploads" / "dogs.txt").exists()


def test_a_file_of_the_operator_is_never_deleted(served, tmp_path):
    [row, *_] = served.client.get("/v1/documents", headers=served.as_admin()).json()["data"]
    served.client.delete(f"/v1/documents/{row['doc_id']}", headers=served.as_admin())
    assert len(list((tmp_path / "docs").iterdir())) == 2


def a_zip(**parts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return file.getvalue()


@pytest.mark.parametrize(
    "name",
    ["../up.txt", "a/b.txt", "a\\b.txt", "/etc/x.txt", ".hidden.txt", "nul\0.txt", "two\nlines.txt", " x.txt",
     "x.txt ", "c:x.txt", "~x.txt", "a" * 300 + ".txt", "..", "", "\u202etxt.txt"],
)  # fmt: skip
def test_tricks_in_names_are_refused(served, name):
    response = put(served, name, b"text")
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == "name"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.pdf", a_zip(word__document_xml=b"<w:p>"), "This is a Word file called .pdf; rename it to .docx."),
        (
            "x.xlsx",
            bytes.fromhex("d0cf11e0a1b11ae1"),
            "This is an old format or has a password; save it as .xlsx ",
        ),
    ],
)
def test_what_is_called_by_a_wrong_name_is_refused_with_what_it_is(served, name, content, says):
    response = put(served, name, content)
    assert response.status_code == 415
    assert response.json()["error"]["message"].startswith(says)


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("x.exe", b"MZ", 415),
        ("x", b"text", 415),
        ("x.pdf", b"this is none", 415),
        ("x.docx", b"this is none", 415),
        ("x.txt", b"", 400),
        ("x.txt", b"  \n ", 400),
    ],
)
def test_what_cannot_be_read_is_refused_at_once(served, name, content, status):
    response = put(served, name, content)
    assert response.status_code == status
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    assert not list((served.service.folder / "incoming").glob("*"))


def test_a_zip_bomb_fails_with_one_sentence(served):
    bomb = a_zip(word__document_xml=b"<w:p>" + b"0" * 40_000_000)
    assert len(bomb) < 100_000
    job = ended(served, put(served, "bomb.docx", bomb).json()["id"])
    assert job["state"] == "failed" and 10 < len(job["error"]["message"]) < 300
    assert str(served.service.folder) not in str(job)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.pdf", b"%PDF-1.7\nthis is none"),
        ("x.pdf", (EXAMPLES / "wal.pdf").read_bytes()[:3_000]),
        ("x.docx", b"PK\x03\x04this is none"),
        ("x.docx", a_zip(other_xml=b"<p>not a document of a word processor</p>")),
    ],
    ids=["only a head", "half a PDF", "no zip", "another zip"],
)
def test_what_turns_out_to_be_none_fails_with_one_sentence(served, name, content):
    given = put(served, name, content)
    assert given.status_code == 202
    job = ended(served, given.json()["id"])
    said = job["error"]["message"]
    assert job["state"] == "failed" and 10 < len(said) < 300 and said.endswith(".") and "\n" not in said
    assert str(served.service.folder) not in str(job) and not job["documents"]
    assert not list((served.service.folder / "uploads").iterdir())


def test_a_document_over_the_limit_is_refused(serve):
    served = serve(upload=1_000)
    assert put(served, "x.txt", b"a" * 1_001).status_code == 413

    def chunks():
        for _ in range(4):
            yield b"a" * 500

    assert put(served, "x.txt", chunks()).status_code == 413
    assert not list((served.service.folder / "incoming").glob("*"))


def test_a_document_with_too_many_passages_is_refused_and_says_so(serve):
    served = serve(passages=10)
    parts = [f"# Part {row}\n\nOf part {row} there is this much to be said." for row in range(300)]
    job = ended(served, put(served, "many.md", "\n\n".join(parts).encode()).json()["id"])
    assert job["state"] == "failed"
    assert (
        job["error"]["message"].startswith("It has ") and "more than 10: split it" in job["error"]["message"]
    )
    assert indexed(served, "few.md", "\n\n".join(parts[:5]).encode())


def test_text_comes_in_slices(served):
    [doc_id] = indexed(served, "long.txt", ("word " * 10_000).encode())
    address = f"/v1/documents/{doc_id}/text"
    body = get(served, address).json()
    assert (body["start"], body["end"]) == (0, 20_000)
    assert get(served, address, start=5, end=9).json()["text"] == "word"
    beyond = get(served, address, start=10**9).json()
    assert beyond["text"] == "" and beyond["start"] == beyond["characters"]
    assert get(served, address, start=-1).status_code == 400
    assert get(served, "/v1/documents/ffffffffffffffff/text").status_code == 404


def test_without_documents_an_asker_reads_quotes_only(serve):
    served = serve(documents=False)
    [doc_id] = indexed(served, "dogs.txt", DOGS.encode())
    for ending in ("", "/text", "/pages/1.png"):
        response = get(served, f"/v1/documents/{doc_id}{ending}")
        assert response.status_code == 403
    about = served.client.get(f"/v1/documents/{doc_id}", headers=served.as_admin())
    assert about.status_code == 200


def test_a_page_of_a_pdf_with_a_quote_marked(served):
    [doc_id] = indexed(served, "wal.pdf", (EXAMPLES / "wal.pdf").read_bytes())
    about = get(served, f"/v1/documents/{doc_id}").json()
    assert about["pictures"] and about["pages"] > 1
    text = get(served, f"/v1/documents/{doc_id}/text").json()["text"]
    sentence = "WAL does not work over a network filesystem"
    start = text.index(sentence)
    span = {"start": start, "end": start + len(sentence)}
    page = get(served, f"/v1/documents/{doc_id}/text", **span).json()["page"]
    plain = get(served, f"/v1/documents/{doc_id}/pages/{page}.png")
    marked = get(served, f"/v1/documents/{doc_id}/pages/{page}.png", **span)
    assert plain.content[:8] == marked.content[:8] == b"\x89PNG\r\n\x1a\n"
    assert plain.headers["X-Marks"] == "" and plain.content != marked.content
    for mark in marked.headers["X-Marks"].split(";"):
        left, top, right, bottom = map(float, mark.split(","))
        assert 0 < left < right < 1 and 0 < top < bottom < 1
    width, height = struct.unpack(">II", plain.content[16:24])
    assert 500 < width < 3000 and 500 < height < 4000
    other = get(served, f"/v1/documents/{doc_id}/pages/{page + 1}.png", **span)
    assert other.headers["X-Marks"] == ""


def test_pages_that_are_not_there(served):
    [doc_id] = indexed(served, "wal.pdf", (EXAMPLES / "wal.pdf").read_bytes())
    assert get(served, f"/v1/documents/{doc_id}/pages/999.png").status_code == 404
    assert get(served, f"/v1/documents/{doc_id}/pages/0.png").status_code == 400
    (served.service.folder / "uploads" / "wal.pdf").write_bytes(b"%PDF-changed")
    response = get(served, f"/v1/documents/{doc_id}/pages/1.png")
    assert response.status_code == 404 and response.json()["error"]["code"] == "no_file"
    [other] = indexed(served, "dogs.txt", DOGS.encode())
    assert get(served, f"/v1/documents/{other}/pages/1.png").status_code == 404


def test_what_was_in_work_when_the_server_died_is_begun_again(opened, serve, tmp_path):
    path = made_index(tmp_path)
    dead = opened(path=path)
    for number in range(3):
        job_id, place = dead.jobs.room()
        place.write_text(DOGS.replace("Dogs", f"Dogs{number}"))
        dead.jobs.accept(job_id, f"dogs{number}.txt", Trust.TRUSTED)
    stuck = dead.jobs._next()  # in work, and its file already moved: the process dies here
    dead.jobs._put(stuck)
    dead.close()
    served = serve(path=path)

    def states():
        return {
            job["name"]: job["state"]
            for job in served.client.get("/v1/jobs", headers=served.as_admin()).json()["data"]
        }

    wait_until(lambda: set(states().values()) == {"done"})
    names = {document.source.rpartition("/")[2] for document in served.service.library.documents()}
    assert {"dogs0.txt", "dogs1.txt", "dogs2.txt"} <= names


def test_a_file_that_ends_the_server_again_and_again_is_given_up(opened, serve, tmp_path):
    path = made_index(tmp_path)
    dead = opened(path=path)
    job_id, place = dead.jobs.room()
    place.write_text(DOGS)
    dead.jobs.accept(job_id, "dogs.txt", Trust.TRUSTED)
    for _ in range(MOST_TRIES):
        assert dead.jobs._next().job_id == job_id
        dead.jobs._set(job_id, "waiting")
    dead.jobs._set(job_id, "running")
    dead.close()
    served = serve(path=path)
    assert ended(served, job_id)["state"] == "failed"
    assert not (served.service.folder / "uploads" / "dogs.txt").exists()


def test_keys_take_turns_with_what_they_hand_in(serve, monkeypatch):
    done = []
    monkeypatch.setattr(Jobs, "run", never)
    monkeypatch.setattr(Jobs, "_indexed", lambda self, job: done.append(job.name) or [])
    jobs = serve().service.jobs
    for number in range(4):
        jobs.accept(f"{number:016}", f"mine-{number}.txt", Trust.TRUSTED, "mine")
    jobs.accept("f" * 16, "other.txt", Trust.TRUSTED, "other")
    while job := jobs._next():
        jobs._do(job)
    assert done.index("other.txt") == 1 and len(done) == 5


async def never(self):
    """Nobody works but the test."""
