"""Every route: who may use it, and what stands in the headers of every answer."""

import re

import pytest
from fastapi.routing import APIRoute

OPEN = {"/healthz", "/readyz", "/v1/page"}
"""Beside the page's own files, which hold nothing of the documents."""
UNDESCRIBED = {"/openapi.json", "/mcp"}
"""The description itself, and a protocol that describes its own tools."""
DOCUMENT = "/v1/documents/{doc_id}"
ADMIN = {
    ("GET", "/metrics"),
    ("POST", "/v1/documents"),
    ("GET", "/v1/documents"),
    ("PATCH", DOCUMENT),
    ("DELETE", DOCUMENT),
    ("GET", "/v1/jobs"),
    ("GET", "/v1/questions"),
    ("GET", "/v1/usage"),
    ("GET", "/v1/keys"),
    ("GET", "/v1/jobs/{job_id}"),
    ("GET", "/v1/sources"),
    ("POST", "/v1/sources/{source_id}/sync"),
}


def routes_of(app):
    """(method, path) of every route, also of routers that are included."""
    for route in app.routes:
        if isinstance(route, APIRoute):
            yield from ((method, route.path) for method in sorted(route.methods - {"HEAD", "OPTIONS"}))
        elif hasattr(route, "routes") or hasattr(route, "original_router"):
            yield from routes_of(getattr(route, "original_router", route))
        elif not hasattr(route, "path"):
            pytest.fail(f"a route of an unknown kind: {route!r}")


def every(served):
    return sorted(set(routes_of(served.client.app.app)))


def is_page(path):
    return path in ("/", "/docs", "/widget.js", "/logo") or path.startswith("/static/")


def asked(served, method, path, headers):
    address = path.replace("{number}", "1").replace("{doc_id}", "0" * 16).replace("{job_id}", "0" * 16)
    address = address.replace("{source_id}", "0" * 16)
    return served.client.request(method, address, headers=headers)


def test_there_are_routes(served):
    assert ("POST", "/v1/ask") in every(served)


def test_every_route_but_health_refuses_a_missing_a_wrong_and_a_revoked_key(served):
    made, revoked = served.keys.create("gone")
    served.keys.revoke(made.key_id)
    for method, path in every(served):
        if path in OPEN or is_page(path):
            assert asked(served, method, path, {}).status_code in ((404,) if path == "/logo" else (200, 503))
            continue
        for secret in (None, "eqp_wrong", "", revoked):
            headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
            response = asked(served, method, path, headers)
            assert response.status_code == 401, (method, path, secret)
            assert response.json()["error"]["code"] == "invalid_api_key"
            assert response.headers["WWW-Authenticate"] == "Bearer"


def test_admin_routes_refuse_a_key_that_may_only_ask(served):
    for method, path in every(served):
        if path in OPEN or is_page(path):
            continue
        response = asked(served, method, path, served.as_asker())
        assert (response.status_code == 403) == ((method, path) in ADMIN), (method, path, response.text)


def test_every_answer_has_the_strict_headers(served):
    for address in ("/healthz", "/v1/ask", "/nowhere", "/openapi.json"):
        headers = served.client.get(address, headers=served.as_asker()).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "require-trusted-types-for 'script'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Request-Id"]
        assert "access-control-allow-origin" not in headers


def test_what_is_not_there_is_said_in_the_form_of_errors(served):
    for method, address, status in (("GET", "/nowhere", 404), ("GET", "/v1/ask", 405)):
        response = served.client.request(method, address, headers=served.as_asker())
        assert response.status_code == status
        assert set(response.json()["error"]) == {"message", "type", "param", "code"}


def test_the_description_names_every_route(served):
    described = served.client.get("/openapi.json", headers=served.as_asker()).json()
    for method, path in every(served):
        if path not in UNDESCRIBED and not is_page(path):
            assert method.lower() in described["paths"][path]
    assert "HTTPValidationError" not in str(described)


def test_a_parameter_that_a_route_does_not_know_is_refused_and_named(served):
    send = served.client.request
    upload = {"name": "dogs.txt", "turst": "untrusted"}
    refused = send("POST", "/v1/documents", params=upload, content=b"Dogs bark.", headers=served.as_admin())
    said = "The address holds 'turst', not known here; it may hold name, trust, collection."
    assert refused.status_code == 400 and refused.json()["error"]["message"] == said
    assert not send("GET", "/v1/jobs", headers=served.as_admin()).json()["data"]
    described = served.client.get("/openapi.json", headers=served.as_asker()).json()
    for method, path in every(served):
        if path.startswith("/v1/"):
            response = asked(served, method, f"{path}?wehre=team", served.as_admin())
            assert response.status_code == 400 and "'wehre'" in response.text, (method, path)
            assert "400" in described["paths"][path][method.lower()]["responses"]
    assert send("GET", "/?doc=1&utm_source=mail").status_code == 200
    assert send("GET", "/healthz?x=1").status_code == 200


def test_an_unknown_field_is_refused_as_an_unknown_parameter_is(served):
    body, headers = {"question": "Does logging work?"}, served.as_asker()
    field = served.client.post("/v1/ask", json=body | {"wehre": "team = hr"}, headers=headers)
    parameter = served.client.post("/v1/ask?wehre=hr", json=body, headers=headers)
    assert field.status_code == parameter.status_code == 400
    for response in (field, parameter):
        error = response.json()["error"]
        assert (error["code"], error["param"]) == (
            "unknown_parameter",
            "wehre",
        ) and "not known here" in error["message"]


def test_metrics_count_without_a_word_of_a_question(served):
    served.client.post("/v1/ask", json={"question": "Does logging work?"}, headers=served.as_asker())
    text = served.client.get("/metrics", headers=served.as_admin()).text
    assert 'equipoise_questions_total{outcome="answered"} 1.0' in text
    assert 'route="/v1/ask"' in text
    assert "logging" not in text


def test_while_draining_only_health_answers(served):
    served.service.is_draining = True
    assert served.client.get("/healthz").status_code == 200
    assert served.client.get("/readyz").json() == {"status": "stopping"}
    response = served.client.post("/v1/ask", json={"question": "Who?"}, headers=served.as_asker())
    assert response.status_code == 503 and response.headers["Retry-After"]


def test_the_api_is_described_for_people_without_a_key(served):
    page = served.client.get("/docs")
    assert page.headers["Content-Type"].startswith("text/html") and "default-src 'none'" in str(page.headers)
    for method, path in every(served):
        if not is_page(path) and path not in UNDESCRIBED:
            assert f"<code>{method} {path}</code>" in page.text, (method, path)
    links, names = re.findall(r'href="#(\w+)"', page.text), re.findall(r'id="(\w+)"', page.text)
    assert links and set(links) <= set(names)
    assert "src=" not in page.text and re.findall(r'href="([^#"]+)"', page.text) == ["static/style.css"]
