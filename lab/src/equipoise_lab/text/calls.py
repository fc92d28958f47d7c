"""Tool calls that a model wrote into its text: `send_email("a@b.example", "Hello")` and its relatives.

Calls inside calls take quadratic time by nature, hence the limits.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

_ESCAPED = re.compile(r"\\+([nrt\"'`/\\])")
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}
_BETWEEN = re.compile(r"(?:\s|\\+[nrt]|[,;{}\[\]])+")
_KEYWORD = re.compile(
    r"(?P<quote>\\*[\"'`]?)(?P<name>[A-Za-z_]\w*)(?P=quote)\s*(?:=(?!=)|:(?=\s*\\*[\"'“‘`]|\s))\s*"
)
_OPENING = re.compile(r"[fFrRbBuU]{0,2}(?P<mark>\\*(?:\"\"\"|'''|[\"'`“‘]))")
_CLOSING = {"“": "”", "‘": "’"}
_AFTER = r"(?=(?:\s|\\+[nrt]|[}\]])*(?:[,;)]|\Z))"
_MOST_CALLS = 1_000
_MOST_ARGUMENTS = 100
_REACH = 10_000  # characters behind an opening bracket in which its arguments are looked for
_BARE = re.compile(r"[^,)\r\n]*")


def calls(text: str, name: str, parameters: Sequence[str]) -> list[Mapping[str, str]]:
    """The arguments of every call of `name` in `text`, by parameter, in the order of the text.

    A call is the name with an opening bracket; it may stand anywhere, be unfinished, or be empty. Arguments are
    keyword (`to=...`, `"to": ...`) or positional, quoted in any common way, also with the backslashes of JSON,
    or bare. A keyword that is no parameter counts by its place. What is not given is not in the result.
    Calls may stand inside one another, so they are limited: the first _MOST_CALLS, and of each at most
    _MOST_ARGUMENTS within _REACH.

    >>> calls("Sure: send_email('a@b.example', body='Hi')", "send_email", ("to", "body"))
    [{'to': 'a@b.example', 'body': 'Hi'}]
    """
    matches = islice(_named(name).finditer(text), _MOST_CALLS)
    return [_bound(_arguments(text[match.end() : match.end() + _REACH]), parameters) for match in matches]


def _named(name: str) -> re.Pattern[str]:
    """The name as a whole word before a bracket; Markdown may escape its underscores or put marks around it."""
    bare = r"\\*_".join(re.escape(part) for part in name.split("_"))
    return re.compile(rf"(?<![^\W_])(?<!_){bare}[`*]*\s*\(")


def _bound(arguments: Iterator[tuple[str, str]], parameters: Sequence[str]) -> dict[str, str]:
    """Values by parameter: keywords first, the others in order where there is room."""
    given = list(islice(arguments, _MOST_ARGUMENTS))
    named = {keyword: value for keyword, value in given if keyword in parameters}
    free = [parameter for parameter in parameters if parameter not in named]
    others = [value for keyword, value in given if keyword not in parameters]
    values = named | dict(zip(free, others, strict=False))
    return {parameter: values[parameter] for parameter in parameters if parameter in values}


def _arguments(text: str) -> Iterator[tuple[str, str]]:
    """(keyword or "", value) of each argument in `text`, which begins behind the opening bracket."""
    at = 0
    while True:
        if between := _BETWEEN.match(text, at):
            at = between.end()
        if at >= len(text) or text[at] == ")":
            return
        keyword = _KEYWORD.match(text, at)
        value, end = _value(text, keyword.end() if keyword else at)
        if value or end > at:
            yield keyword["name"] if keyword else "", value
        at = max(end, at + 1)


def _value(text: str, at: int) -> tuple[str, int]:
    """The value that begins at `at`, and where it ends. A quotation that is never closed goes on to the end."""
    opening = _OPENING.match(text, at)
    if opening is None:
        bare = _BARE.match(text, at)
        end = bare.end() if bare else at
        return _plain(text[at:end]).strip(" \t[]{}"), end
    mark = opening["mark"]
    closing = _CLOSING.get(mark, mark)
    close = re.compile(r"(?<!\\)" + re.escape(closing) + _AFTER).search(text, opening.end())
    if close is None:
        return _plain(text[opening.end() :]), len(text)
    return _plain(text[opening.end() : close.start()]), close.end()


def _plain(value: str) -> str:
    """`value` without the backslashes of JSON and Python."""
    return _ESCAPED.sub(lambda match: _CONTROL.get(match[1], match[1]), value)
