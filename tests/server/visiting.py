"""What the tests of a server that anybody may ask share: its settings, a question, and what it cost."""

from equipoise.apps.server.keys import VISITOR

ANSWER = '{"answer": "Write-ahead logging does not work over a network filesystem."}'
QUESTION = {"question": "Does logging work over a network?"}


def public(**wanted):
    return {"public": {"ask": True, "rate": 0, "all_rate": 0} | wanted}


def spent(service):
    """(questions, tokens) of every visitor, and of all together."""
    rows = service.keys.book.rows("SELECT key_id, questions, tokens FROM spent")
    each = {key: (questions, tokens) for key, questions, tokens in rows if key.startswith(VISITOR)}
    return each, each.pop(f"{VISITOR}all", (0, 0))


def asks(client, body=QUESTION, **how):
    return client.post("/v1/ask", json=body, **how)
