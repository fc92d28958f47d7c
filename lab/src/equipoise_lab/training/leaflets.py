"""Short texts of our own with rows of tables and rules with bounds, and questions that they answer or nearly answer.

Questions that people wrote about documents rarely ask for a cell, or whether 37 kg are allowed; these do.
"""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from random import Random
from typing import Any

ROWS, LINES = 5, 4
"""Rows of a table, lines of rules, that a text has."""
FURTHER = 0.4
"""A number that is asked for lies at most this share away from the rule's."""
PLACES = ("Elmsworth", "Tarn", "Oberwald", "Port Adair", "Mirefield", "Santa Ola", "Brantholm", "Ludd Cross")


def questions(count: int, draw: Random) -> Iterator[dict[str, Any]]:
    """So many questions as `asked.ask` gives them; of each two one has no answer."""
    kinds = tomllib.loads(files(__package__).joinpath("leaflets.toml").read_text("utf-8"))
    for _ in range(count // 2):
        which = draw.choice(("tables", "rules"))
        yield from (_table if which == "tables" else _rules)(draw.choice(kinds[which]), draw)


def _table(kind: dict[str, Any], draw: Random) -> Iterator[dict[str, Any]]:
    """A question for a cell, and one for a row or a column that the table lacks."""
    title = draw.choice(kind["titles"]).format(place=draw.choice(PLACES))
    *names, other = draw.sample(kind["names"], min(ROWS, len(kind["names"]) - 1) + 1)
    *columns, absent = draw.sample(kind["columns"], draw.randint(2, len(kind["columns"]) - 1) + 1)
    rows = [
        "; ".join([f"{kind['key']}: {name}", *(f"{c['label']}: {_value(c, draw)}" for c in columns)])
        for name in names
    ]
    at, wanted = draw.randrange(len(names)), draw.choice(columns)
    asked = draw.choice(wanted["ask"]).format(name=names[at])
    yield _row(title, asked, rows, rows[at], draw)
    name, column = draw.choice(((other, wanted), (names[at], absent)))
    yield _row(title, draw.choice(column["ask"]).format(name=name), rows, None, draw)


def _value(column: dict[str, Any], draw: Random) -> str:
    if "values" in column:
        return str(draw.choice(column["values"]))
    return f"{draw.uniform(column['low'], column['high']):.{column['digits']}f}{column.get('unit', '')}"


def _rules(kind: dict[str, Any], draw: Random) -> Iterator[dict[str, Any]]:
    """A question for a rule, and one for a rule that the text lacks."""
    title = draw.choice(kind["titles"]).format(place=draw.choice(PLACES))
    *rules, absent = draw.sample(kind["lines"], LINES + 1)
    numbers = [draw.randint(rule["low"], rule["high"]) if "low" in rule else 0 for rule in rules]
    lines = [rule["line"].format(n=n) for rule, n in zip(rules, numbers, strict=True)]
    at = draw.randrange(LINES)
    yield _row(title, _asked(rules[at], numbers[at], draw), lines, lines[at], draw)
    near = draw.randint(absent["low"], absent["high"]) if "low" in absent else 0
    yield _row(title, _asked(absent, near, draw), lines, None, draw)


def _asked(rule: dict[str, Any], number: int, draw: Random) -> str:
    near = round(number * draw.uniform(1 - FURTHER, 1 + FURTHER))
    return str(draw.choice(rule["ask"])).format(x=near)


def _row(title: str, asked: str, lines: list[str], gold: str | None, draw: Random) -> dict[str, Any]:
    """The line that answers is mostly the best window, the title stands above each, as in what the product reads."""
    order = draw.sample(lines, len(lines))
    if gold:
        order.remove(gold)
        order.insert(draw.choice((0, 0, 0, 1, 2)), gold)
    windows = [{"text": f"{title}\n{line}", "gold": line == gold} for line in order]
    return {"set": f"leaflets/{title}", "question": asked, "answerable": gold is not None, "windows": windows}
