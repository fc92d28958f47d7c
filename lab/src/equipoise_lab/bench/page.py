"""The frame of a report: one HTML page that needs nothing but itself; every text in it is escaped."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from equipoise.evaluation.results import write_atomically
from equipoise_lab.bench.charts import XMLNS
from equipoise_lab.bench.layouts import as_json
from equipoise_lab.bench.tables import Line, Table

SUMMARY, TABLES, REPORT = "summary.json", "tables.md", "report.html"

STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2.2rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.86rem}
th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid #e4e4e4}
th:first-child,td:first-child{text-align:left}thead th{border-bottom:2px solid #999}
tr.paper{color:#8a8a8a;font-style:italic}.note{color:#555;font-size:.86rem;max-width:60rem}
.missing{color:#8a4b00}figure{display:inline-block;margin:1rem 1rem 1rem 0;max-width:34rem}
figure.chart{max-width:100%}figcaption{font-size:.86rem;color:#333}figure img,figure svg{max-width:100%;height:auto}
dl{display:grid;grid-template-columns:auto 1fr}
dt{color:#666;padding-right:1rem}dd{margin:0}
@media(prefers-color-scheme:dark){body{background:#16181d;color:#e6e6e6}th,td{border-color:#33373f}
thead th{border-color:#777}tr.paper{color:#9a9a9a}.note,figcaption{color:#b8b8b8}.missing{color:#ffbe5c}dt{color:#aaa}}
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure by a name for its file; `svg` is None where it could not be drawn, for the reason `missing`.

    One of `charts` stands in the page itself, where its title and text are read aloud and its colours follow the page's
    (`inline`); any other is an image.
    """

    name: str
    caption: str
    svg: str | None
    missing: str
    inline: bool = False


def page(title: str, heading: str, parts: Sequence[str]) -> str:
    """A whole page: `parts` are HTML already, the title and the heading are text."""
    opening = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>",
        f"<style>{STYLE}</style></head><body><h1>{escape(heading)}</h1>",
    ]
    return "\n".join([*opening, *parts, "</body></html>\n"])


def paragraph(text: str) -> str:
    """`text` as a paragraph."""
    return f"<p>{escape(text)}</p>"


def definitions(values: Mapping[str, object]) -> str:
    """Names and what they stand for."""
    rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in values.items())
    return f"<dl>{rows}</dl>"


def table(table: Table) -> str:
    """A table under its title, with what is missing above it and the note below."""
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    body = "".join(_line(line) for line in table.lines)
    missing = f"<p class='missing'>{escape(table.missing)}</p>" if table.missing else ""
    note = f"<p class='note'>{escape(table.note)}</p>" if table.note else ""
    grid = f"<div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    return f"<h2>{escape(table.title)}</h2>{missing}{grid if table.lines else ''}{note}"


def figure(figure: Figure) -> str:
    """A figure inside the page, or why it could not be drawn."""
    text = f"<figcaption>{escape(figure.caption)}</figcaption>"
    if figure.svg is None:
        return f"<figure>{text}<p class='missing'>{escape(figure.missing)}</p></figure>"
    if figure.inline:
        return f"<figure class='chart'>{figure.svg.replace(XMLNS, '', 1)}{text}</figure>"
    data = b64encode(figure.svg.encode("utf-8")).decode("ascii")
    return f"<figure><img alt='{escape(figure.name)}' src='data:image/svg+xml;base64,{data}'>{text}</figure>"


def _line(line: Line) -> str:
    label = f"{line.label} (paper)" if line.paper else line.label
    cells = "".join(f"<td>{escape(value)}</td>" for value in line.cells)
    return f"<tr{' class=paper' if line.paper else ''}><td>{escape(label)}</td>{cells}</tr>"


def as_text(summary: object) -> str:
    """The numbers of a run as the text of summary.json."""
    return json.dumps(as_json(summary), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write(out: Path, summary: object, markdown: str, html: str) -> None:
    """Write summary.json, tables.md and report.html into `out`, each at once or not at all."""
    for name, text in ((SUMMARY, as_text(summary)), (TABLES, markdown), (REPORT, html)):
        write_atomically(out / name, text.encode("utf-8"))
