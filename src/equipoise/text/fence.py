"""A fence for text that somebody else wrote and a prompt has to show."""

BAR = "| "


def fenced(text: str) -> str:
    """`text` with every line behind a bar, so that no line of it can pass for a line of the prompt.

    Whatever breaks lines (str.splitlines) begins a new fenced line. "a", a line end and "b" give "| a" and "| b".
    """
    lines = text.splitlines() or [""]
    return "\n".join(f"{BAR}{line}".rstrip() for line in lines)
