"""Whether a loader leaves out what nobody sees in a file."""

from blocks_of import document_of


def hides(name, data):
    """True where SECRET is left out and counted; what is `seen` must always stay."""
    loaded = document_of(name, data)
    assert "seen" in loaded.text
    gone = "SECRET" not in loaded.text
    assert (loaded.hidden > 0) == gone
    return gone


def run(text, properties=""):
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"
