"""What untrusted documents say, on every way out: apart, named without folders of the machine, and never in an answer
of trusted documents."""

import pytest

from equipoise.apps.server.completions import Written, numbered, written
from equipoise.apps.server.views import for_strangers
from equipoise.core.settings import Settings
from equipoise.core.types import Trust
from equipoise.rag import saying
from equipoise.rag.library import Library
from serving import WAL, add_forum, events_of, made_index

LOGGING = "Does logging work over a network?"
DOG = "How much is the dog on a ferry?"
TWO = "A ticket for a dog costs 2 euros on the ferry."
NINE = "A ticket for a dog costs 9 euros on the ferry."
AGAINST = "Logging over a network loses everything, so do not use it at all."
POSTS = {"anna": TWO, "carl": NINE, "dora": AGAINST}


@pytest.fixture
def forum(serve, tmp_path):
    """A server whose untrusted documents lie outside the folder of the index, as a path of this machine shows."""
    made_index(tmp_path)
    return serve(path=add_forum(tmp_path, **POSTS))


def ask(served, question, *, headers=None, **more):
    body = {"question": question} | more
    return served.client.post("/v1/ask", json=body, headers=headers or served.as_asker())


def stream(served, question, **more):
    headers = served.as_asker() | {"Accept": "text/event-stream"}
    return dict_of(events_of(ask(served, question, headers=headers, **more).text))


def dict_of(events):
    told = dict(events)
    told["text"] = "".join(data["text"] for name, data in events if name == "answer")
    return told


def chat(served, question, **more):
    body = {"model": "equipoise", "messages": [{"role": "user", "content": question}]} | more
    return served.client.post("/v1/chat/completions", json=body, headers=served.as_asker())


def quotes_of(others):
    return [
        item["text"]
        for claim in others["claims"]
        for one in claim["statements"]
        for item in one["highlights"]
    ]


def test_where_trusted_documents_do_not_answer_the_others_are_quoted(forum):
    body = ask(forum, DOG).json()
    assert body["trust"] == "untrusted" and not body["refused"]
    assert body["others"]["silent"] and body["others"]["contested"]
    assert quotes_of(body["others"]) == [TWO, NINE]
    assert body["answer"].startswith(saying.SILENT) and "(untrusted)" in body["answer"]
    assert {item["trust"] for item in body["highlights"]} == {"untrusted"}


def test_a_statement_quotes_one_document_which_it_is_named_after(tmp_path):
    (tmp_path / "anna.txt").write_text("The maximum number of attached databases is 4000. I have tried it.\n")
    (tmp_path / "bob.txt").write_text(
        "What is the maximum number of attached databases? It is 4000, believe me.\n"
    )
    with Library.create(tmp_path / "index.db", settings=Settings(), chat=None) as library:
        library.index(tmp_path, trust=Trust.UNTRUSTED)
        others = library.ask("What is the maximum number of attached databases?").others
    assert len({item.source for item in others.claims[0].statements[0].highlights}) == 1


def test_who_argues_without_naming_the_question_still_stands_for_a_side(serve, tmp_path):
    for_dogs = "Dogs should be allowed on ferries, because many people travel with them and they do no harm."
    against = "It is dangerous and unfair to other passengers on ferries. Ban them."
    made_index(tmp_path)
    served = serve(path=add_forum(tmp_path, eva=for_dogs, finn=against))
    others = ask(served, "Should dogs be allowed on ferries?").json()["others"]
    assert others["contested"] and [claim["side"] for claim in others["claims"]] == ["yes", "no"]
    nowhere_near = ask(served, "Should cars be banned from the island?").json()["others"]
    assert not nowhere_near or not nowhere_near["contested"]


def test_an_answer_of_trusted_documents_is_the_same_with_and_without_others(forum, serve, tmp_path):
    alone = tmp_path / "alone"
    alone.mkdir()
    without = ask(serve(path=made_index(alone)), LOGGING).json()
    plain, beside = ask(forum, LOGGING).json(), ask(forum, LOGGING, others=True).json()
    assert plain["others"] is None and quotes_of(beside["others"]) == [AGAINST]
    for body in (without, plain, beside):
        assert (body["answer"], body["trust"]) == (WAL, "trusted")
    for name in ("highlights", "passages", "best_first", "weak", "tags", "summarizer_saw"):
        shown = [str(body[name]).replace(str(tmp_path), "").replace("alone/", "") for body in (plain, beside)]
        assert shown[0] == shown[1]
    assert [item["text"] for item in without["highlights"]] == [item["text"] for item in plain["highlights"]]


def test_no_way_out_names_a_folder_of_this_machine(forum, tmp_path):
    raw = forum.service.library.ask(DOG)
    assert str(tmp_path) in raw.text or "../" in raw.text
    for said in (
        ask(forum, DOG).text,
        ask(forum, LOGGING, others=True).text,
        ask(forum, f"{DOG} {LOGGING}").text,
        str(stream(forum, DOG)),
        chat(forum, DOG).text,
        chat(forum, DOG, stream=True).text,
    ):
        assert tmp_path.name not in said and "../" not in said


def test_a_stream_tells_them_with_the_quotes_and_at_the_end(forum):
    told = stream(forum, DOG)
    [part] = told["quotes"]["parts"]
    assert part["trust"] == "untrusted" and part["others"] == told["done"]["others"]
    assert told["text"] == told["done"]["answer"] == ask(forum, DOG).json()["answer"]
    beside = stream(forum, LOGGING, others=True)
    assert beside["quotes"]["parts"][0]["trust"] == "trusted"
    assert quotes_of(beside["quotes"]["parts"][0]["others"]) == [AGAINST]


def test_an_admin_gets_the_sources_as_they_are(forum):
    body = ask(forum, DOG, headers=forum.as_admin()).json()
    direct = forum.service.library.ask(DOG).to_dict()
    assert (body["answer"], body["others"]) == (direct["answer"], direct["others"])


def test_each_of_several_questions_says_whose_its_answer_is(forum):
    body = ask(forum, f"{DOG} {LOGGING}").json()
    first, second = body["sub_answers"]
    assert (first["trust"], second["trust"]) == ("untrusted", "trusted")
    assert quotes_of(first["others"]) == [TWO, NINE] and second["others"] is None
    assert second["answer"] == WAL
    assert body["answer"] == f"{second['answer']}\n\n{first['answer']}"  # nothing trusted under the heading
    assert [item["trust"] for item in body["highlights"]].count("trusted") == 1


def test_untrusted_quotes_take_no_place_of_trusted_ones_in_a_message(serve, tmp_path):
    made_index(tmp_path)
    served = serve(path=add_forum(tmp_path, **POSTS), settings={"highlight": {"max_spans": 1}})
    alone = ask(served, LOGGING).json()["highlights"]
    whole = ask(served, f"{DOG} {LOGGING}").json()["highlights"]
    assert [item for item in whole if item["trust"] == "trusted"] == alone and len(whole) == 3


def test_the_audit_log_says_so_too(forum):
    ask(forum, DOG)
    assert forum.audit()[-1]["trust"] == "untrusted"


class TestOpenAi:
    def test_the_text_says_so_and_each_line_has_its_numbers(self, forum):
        body = chat(forum, DOG).json()
        message = body["choices"][0]["message"]
        head, two, nine = message["content"].split("\n\n")
        assert head == f"{saying.SILENT} {saying.CONTESTED} {saying.HEADING}"
        assert two.splitlines()[0] == f"According to anna.txt (untrusted): “{TWO}” [1]"
        assert nine.splitlines()[0] == f"According to carl.txt (untrusted): “{NINE}” [2]"
        for note in message["annotations"]:
            cited = note["url_citation"]
            assert cited["title"].endswith("(untrusted)")
            assert message["content"][cited["start_index"] : cited["end_index"]] in ("[1]", "[2]")
        assert body["equipoise"] == {"refused": False, "reason": None, "trust": "untrusted"}

    def test_source_events_of_a_stream_say_so(self, forum):
        chunks = [data for _, data in events_of(chat(forum, DOG, stream=True).text) if data != "[DONE]"]
        names = [chunk["event"]["data"]["source"]["name"] for chunk in chunks if "event" in chunk]
        assert names == ["anna.txt, line 1 (untrusted)", "carl.txt, line 1 (untrusted)"]
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
        text = "".join(delta.get("content", "") for delta in deltas)
        assert text == chat(forum, DOG).json()["choices"][0]["message"]["content"]

    def test_an_answer_of_trusted_documents_is_as_it_was(self, forum):
        body = chat(forum, LOGGING).json()
        assert body["choices"][0]["message"]["content"] == f"{WAL} [1]"
        assert body["equipoise"] == {"refused": False, "reason": None}
        [note] = body["choices"][0]["message"]["annotations"]
        assert note["url_citation"]["title"].endswith("wal.txt, line 1")

    def test_a_trusted_sentence_never_has_the_number_of_an_untrusted_quote(self, serve, tmp_path):
        made_index(tmp_path)
        copied = f"{WAL} A dog on the ferry pays nothing."
        served = serve(path=add_forum(tmp_path, anna=TWO, copy=copied))
        result = served.service.library.ask(f"{DOG} {LOGGING}")
        text = Written(numbered(result, ""))
        for _ in written(result, text):
            continue
        trusted, *_ = text.text.split("\n\n")
        [number] = [quote.number for quote in text.quotes if quote.item.trust == "trusted"]
        assert trusted == f"{WAL} [{number}]"
        assert text.text.replace(f" [{number}]", "").startswith(for_strangers(result).text.split("\n\n")[0])
