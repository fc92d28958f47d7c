"""/docs: the API for people, generated from the OpenAPI description. Like the page's files it holds nothing of the
documents, of the settings or of a key, and loads nothing from another host."""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter()

Schema = dict[str, Any]


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """Every route with its parameters, bodies and answers."""
    return HTMLResponse("\n".join(_page(request.app.openapi())))


def _page(described: Schema) -> Iterator[str]:
    info = described["info"]
    yield '<!doctype html><html lang="en"><meta charset="utf-8"><title>The API of equipoise</title>'
    yield '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="static/style.css">'
    yield f'<main class="api"><h1>The API of equipoise {escape(info["version"])}</h1>'
    yield f"<p>{escape(info['description'])} The same for programs: <code>/openapi.json</code>, with a key.</p>"
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            yield from _operation(method, path, operation)
    yield '<h2 id="errors">Errors</h2>'
    operations = [one for path in described["paths"].values() for one in path.values()]
    meant = {
        status: answer["description"] for one in operations for status, answer in one["responses"].items()
    }
    for status in sorted(status for status in meant if not status.startswith("2")):
        yield f"<p>{escape(status)}: {_said(meant[status])}</p>"
    yield "<h2>What is sent and answered</h2>"
    for name, schema in described["components"]["schemas"].items():
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{_said(schema.get("description", ""))}</p>'
        needed = schema.get("required", ())
        yield from _table(
            (field, _kind(one), field in needed, one.get("description", ""))
            for field, one in schema.get("properties", {}).items()
        )
    yield "</main></html>"


def _operation(method: str, path: str, operation: Schema) -> Iterator[str]:
    yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
    yield f"<p><strong>{escape(operation.get('summary', ''))}.</strong> {_said(operation.get('description', ''))}</p>"
    yield from _table(
        (one["name"], _kind(one.get("schema", {})), one.get("required", False), one.get("description", ""))
        for one in operation.get("parameters", ())
    )
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<p>Body: {escape(kind)}, {_kind(content.get('schema', {}))}</p>"
    answers = operation["responses"]
    failing = [status for status in answers if not status.startswith("2")]
    if failing:
        yield f'<p>Errors: <a href="#errors">{escape(", ".join(failing))}</a></p>'
    for status in answers.keys() - {*failing}:
        answer = answers[status]
        kinds = {_kind(one.get("schema", {})) for one in answer.get("content", {}).values()} - {"any"}
        yield f"<p>{escape(status)}: {_said(answer.get('description', ''))} {', '.join(sorted(kinds))}</p>"


def _said(text: str) -> str:
    """A sentence as HTML, with what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _table(rows: Iterator[tuple[str, str, bool, str]]) -> Iterator[str]:
    """Rows of a name, a type that is HTML already, whether it is needed, and what it is."""
    lines = [
        f"<tr><td><code>{escape(name)}</code></td><td>{kind}</td><td>{'yes' if needed else ''}</td>"
        f"<td>{_said(said)}</td></tr>"
        for name, kind, needed, said in rows
    ]
    if lines:
        head = "<thead><tr><th>name</th><th>type</th><th>needed</th><th>what it is</th></tr></thead>"
        yield f'<div class="scroll" tabindex="0"><table>{head}<tbody>{"".join(lines)}</tbody></table></div>'


def _kind(schema: Schema) -> str:
    """The type as HTML."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "enum" in schema:
        return " | ".join(escape(str(one)) for one in schema["enum"])
    if some := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return " | ".join(dict.fromkeys(map(_kind, some)))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return escape(str(schema.get("type", "any")))
