"""Words of servers and files, as they may stand in a message of ours."""

_LENGTH = 200


def one_line(text: str, most: int = _LENGTH) -> str:
    """The first `most` characters of `text` in one line, without those that cannot be seen."""
    head = text[: 4 * most]
    return " ".join("".join(c if c.isprintable() else " " for c in head).split())[:most]
