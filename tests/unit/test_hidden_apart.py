"""What LaTeX leaves out under a condition."""

import pytest
from test_hidden_text import document_of


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("seen \\iffalse SECRET\\fi{} seen", True),
        ("\\section{Fees \\iffalse SECRET \\fi} seen", True),
        ("seen \\iffalse \\ifx\\a\\b no \\else no \\fi SECRET \\fi", True),
        ("seen \\iffalse % \\fi\n SECRET \\fi", True),
        ("seen \\iffalse SECRET", True),
        ("\\iffalse no \\else SECRET \\fi seen", None),
        ("\\iffalse $a \\iff b$ \\ifthenelse{a}{b}{c} \\fi SECRET seen", None),
        ("seen $a \\iff b$ SECRET", False),
    ],
)
def test_latex(text, hidden):
    loaded = document_of("a.tex", text)
    assert "seen" in loaded.text
    assert ("SECRET" not in loaded.text) == bool(hidden)
    assert (loaded.hidden > 0) == (hidden is not False)
