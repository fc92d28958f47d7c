"""Keys: what they open, how fast, how much; and a server without any."""

import pytest

from equipoise.apps.server.book import Book
from equipoise.apps.server.keys import OWNER, Keys, OverLimit, Scope
from equipoise.core.errors import InputError
from serving import WAITS_S

NOON = 1_800_000_000.0
QUESTION = {"question": "Does logging work over a network?"}


@pytest.fixture
def keys(tmp_path):
    book = Book(tmp_path / "index.server")
    yield Keys(book)
    book.close()


def test_a_secret_is_shown_once_and_kept_as_a_hash(keys):
    made, secret = keys.create("website")
    assert keys.find(secret) == made
    assert keys.find(secret[:-1]) is None
    assert secret.encode() not in keys.book.path.read_bytes()


def test_a_revoked_key_opens_nothing_and_the_server_stays_closed(keys):
    made, secret = keys.create("website")
    keys.revoke(made.key_id)
    assert keys.find(secret) is None
    assert keys.exist()
    with pytest.raises(InputError):
        keys.revoke(made.key_id)


@pytest.mark.parametrize("name", ["", "  ", "a" * 101, "two\nlines"])
def test_a_name_is_one_short_line(keys, name):
    with pytest.raises(InputError):
        keys.create(name)


def test_a_rate_lets_a_burst_through_and_then_so_many_a_minute(keys):
    made, _ = keys.create("website", rate=60)
    for _ in range(15):
        keys.admit(made, NOON)
    with pytest.raises(OverLimit) as over:
        keys.admit(made, NOON)
    assert over.value.retry_after == 1
    keys.admit(made, NOON + 1.0)
    with pytest.raises(OverLimit):
        keys.admit(made, NOON + 1.0)


def test_a_slow_rate_lets_one_through(keys):
    made, _ = keys.create("website", rate=1)
    keys.admit(made, NOON)
    with pytest.raises(OverLimit) as over:
        keys.admit(made, NOON)
    assert over.value.retry_after == 60


def test_budgets_end_with_the_day(keys):
    made, _ = keys.create("website", questions=2, tokens=100)
    keys.admit(made, NOON)
    keys.charge(made, 99, NOON)
    keys.admit(made, NOON)
    with pytest.raises(OverLimit, match="questions"):
        keys.admit(made, NOON)
    keys.admit(made, NOON + 86_400)
    keys.charge(made, 100, NOON + 86_400)
    with pytest.raises(OverLimit, match="tokens") as over:
        keys.admit(made, NOON + 86_400)
    assert over.value.code == "insufficient_quota" and 0 < over.value.retry_after <= 86_400


def test_a_refused_question_is_not_counted(keys):
    made, _ = keys.create("website", questions=1)
    keys.admit(made, NOON)
    keys.give_back(made, NOON)
    assert keys.spent(made, NOON) == (0, 0)
    keys.give_back(made, NOON)
    assert keys.spent(made, NOON) == (0, 0)
    keys.admit(OWNER)


def test_over_the_rate_is_429_with_retry_after(served):
    _, secret = served.keys.create("slow", Scope.ASK, rate=1)
    headers = {"Authorization": f"Bearer {secret}"}
    assert served.client.post("/v1/ask", json=QUESTION, headers=headers).status_code == 200
    response = served.client.post("/v1/ask", json=QUESTION, headers=headers)
    assert response.status_code == 429 and 0 < int(response.headers["Retry-After"]) <= WAITS_S
    assert response.json()["error"]["code"] == "rate_limit_exceeded"


def test_tokens_are_charged(serve):
    from equipoise.models.scripted import ScriptedChat

    chat = ScriptedChat(
        lambda _: '{"answer": "Write-ahead logging does not work over a network filesystem."}'
    )
    served = serve(chat=chat, settings={"summarize": {"when": "always"}})
    made, secret = served.keys.create("small", tokens=1)
    headers = {"Authorization": f"Bearer {secret}"}
    assert served.client.post("/v1/ask", json=QUESTION, headers=headers).status_code == 200
    assert served.keys.spent(made)[1] > 1
    response = served.client.post("/v1/ask", json=QUESTION, headers=headers)
    assert response.status_code == 429 and response.json()["error"]["code"] == "insufficient_quota"


def test_without_keys_only_this_machine_asks_under_its_own_name(serve):
    served = serve(keys=False)
    assert served.client.post("/v1/ask", json=QUESTION).status_code == 200
    assert (
        served.client.post("/v1/ask", json=QUESTION, headers={"Authorization": "Bearer x"}).status_code == 200
    )
    rebound = {"Host": "evil.example"}
    assert served.client.post("/v1/ask", json=QUESTION, headers=rebound).status_code == 403
    secret = served.keys.create("first")[1]
    assert served.client.post("/v1/ask", json=QUESTION).status_code == 401
    opened = {"Authorization": f"Bearer {secret}"} | rebound
    assert served.client.post("/v1/ask", json=QUESTION, headers=opened).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}],
)
def test_pages_of_other_hosts_are_turned_away(served, headers):
    response = served.client.post("/v1/ask", json=QUESTION, headers=served.as_admin() | headers)
    assert response.status_code == 403


def test_the_own_page_is_let_in(served):
    own = {"Origin": "http://127.0.0.1:8080", "Sec-Fetch-Site": "same-origin"}
    assert served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker() | own).status_code == 200


@pytest.mark.parametrize("route", ["/v1/ask", "/v1/chat/completions"])
def test_a_greeting_is_answered_without_charge(served, route):
    made, secret = served.keys.create("small", questions=1)
    headers = {"Authorization": f"Bearer {secret}"}
    chat = {"model": "equipoise", "messages": [{"role": "user", "content": "Hello, who are you?"}]}
    for _ in range(2):
        body = {"question": "Hello, who are you?"} if route == "/v1/ask" else chat
        response = served.client.post(route, json=body, headers=headers)
        assert response.status_code == 200
        assert "Ask a question about the documents" in response.text and "no question" in response.text
    assert served.keys.spent(made) == (0, 0)


def test_each_question_of_a_message_is_charged_and_their_number_is_bounded(serve):
    served = serve()
    made, secret = served.keys.create("several", questions=9)
    headers = {"Authorization": f"Bearer {secret}"}
    several = " ".join(f"Does logging number {number} work over a network?" for number in range(40))
    parts = served.client.post("/v1/ask", json={"question": several}, headers=headers).json()["sub_answers"]
    asked = [part for part in parts if part["reason"] != "too many questions"]
    assert (len(parts), len(asked)) == (40, 4)
    assert served.keys.spent(made) == (4, 0)
    served.client.post("/v1/ask", json={"question": several}, headers=headers)
    refused = served.client.post("/v1/ask", json={"question": several}, headers=headers)
    assert refused.status_code == 429 and served.keys.spent(made) == (8, 0)
    served.client.post("/v1/ask", json=QUESTION, headers=headers)
    assert served.keys.spent(made) == (9, 0)


def test_a_clock_that_was_a_day_ahead_locks_nobody_out(keys):
    made, _ = keys.create("website", rate=60)
    keys.admit(made, NOON + 86_400)
    for _ in range(15):
        keys.admit(made, NOON)
    with pytest.raises(OverLimit):
        keys.admit(made, NOON)
