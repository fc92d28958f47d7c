"""A language model that fails in every way: each request gets an answer or an error in the right form, and its own."""

import re
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest

from chat_server import KEY, ChatServer, Say, completion, error
from equipoise.models.openai import OpenAIChat
from serving import made_index

WAYS = {
    "busy": Say(429, error("slow down"), {"Retry-After": "0"}),
    "broken": Say(500, error("it broke")),
    "junk": Say(200, "<html>not what was asked for</html>", content_type="text/html"),
    "empty": Say(200, {}),
    "half": Say(200, '{"id": "chatcmpl-1", "choi'),
    "gone": Say(hang_up=True),
    "drip": Say(200, completion("slow"), pause=0.5),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_request_gets_an_answer_or_an_error_of_the_right_form(live, tmp_path, way):
    with ChatServer() as endpoint:
        endpoint.answer = lambda _body: WAYS[way]
        chat = OpenAIChat(
            "tiny-1", api_key=KEY, base_url=endpoint.url, timeout_s=1.0, max_retries=1, backoff_s=0.001
        )
        url, service = live(
            path=made_index(tmp_path), chat=chat, settings={"summarize": {"when": "always"}}, timeout=30.0
        )

        def asked(number):
            client = openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)
            said = [{"role": "user", "content": f"Does logging work over a network? mark{number}"}]
            try:
                if number % 2:
                    return client.chat.completions.create(model="equipoise", messages=said).model_dump_json()
                chunks = client.chat.completions.create(model="equipoise", messages=said, stream=True)
                return " ".join(chunk.model_dump_json() for chunk in chunks)
            except openai.APIError as failure:
                return failure

        with ThreadPoolExecutor(6) as pool:
            results = list(pool.map(asked, range(6)))
        for number, result in enumerate(results):
            if isinstance(result, openai.APIError):
                assert result.code == "model_failed", result
                assert KEY not in str(result) and endpoint.url not in str(result)
            else:
                assert not set(re.findall(r"mark\d", result)) - {f"mark{number}"}
        assert not service.active and service.queue.running == 0
        assert len(service.audit.path.read_text("utf-8").splitlines()) == 6
