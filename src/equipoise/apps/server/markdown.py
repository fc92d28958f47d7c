"""Text for clients that read Markdown, HTML and formulas: shown there as it is, whoever wrote it."""

import re

_ADDRESS = re.compile(
    r"(?i)(?:\b[a-z][a-z0-9+.-]{0,30}:)?//[^\s`<>]+|\b(?:www\.|(?:javascript|data|vbscript|mailto):)[^\s`<>]*"
    r"|(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+"
)
_SIGNS = re.compile(
    r"""(?P<first>(?:^|(?<=[\n\r]))[^\S\n\r]*+(?:[-+*=#>|:~]|\d{1,9}(?=[.)])))
      | \\(?=[\W_]|$)
      | <(?![\s\d=])
      | &(?=[#\w]|$)
      | (?<!\w)_ | _(?!\w)
      | (?<!\ )\* | \*(?!\ )
      | [`\]~$]
    """,
    re.VERBOSE,
)


def as_text(text: str) -> str:
    r"""`text` so that a renderer of Markdown shows it and reads nothing in it: signs that could begin markup have a
    backslash, and addresses are code, which no client makes a link of. Pieces of a text may be written one by one.

    >>> as_text("![x](http://e.example/?q) <b>, a < b, snake_case")
    '![x\\](`http://e.example/?q)` \\<b>, a < b, snake_case'
    """
    pieces, at = [], 0
    for found in _ADDRESS.finditer(text):
        pieces += [_escaped(text[at : found.start()]), f"`{found.group()}`"]
        at = found.end()
    return "".join([*pieces, _escaped(text[at:])])


def as_name(text: str) -> str:
    r"""What a document is called, as `as_text`, but with an address as it is. None begins with `http`: for each source
    whose name does, Open WebUI lets the reader's browser ask Google for an icon, by that name.

    >>> as_name("https://e.example/a, line 3"), as_name("[x](y).txt")
    ('“https://e.example/a, line 3”', '[x\\](y).txt')
    """
    return _escaped(f"“{text}”" if text.startswith("http") else text)


def _escaped(text: str) -> str:
    return _SIGNS.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    said = found.group()
    if found["first"] and said[-1].isdigit():
        return said + "\\"  # before the point of a numbered list
    return f"{said[:-1]}\\{said[-1]}"
