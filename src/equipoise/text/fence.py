"""A fence for text that somebody else wrote and a prompt has to show."""

import re

BAR = "| "

_MARK = re.compile(
    r"""<(?=[|｜/!A-Za-z_])     # <|im_end|>, </s>, <start_of_turn>
      | \|(?=>)
      | \[(?=/?[A-Z_]+\])       # [INST], [/INST]
    """,
    re.VERBOSE,
)


def fenced(text: str) -> str:
    """`text` with every line behind a bar, so that no line of it can pass for a line of the prompt.

    Whatever breaks lines (str.splitlines) begins a new fenced line. Where `text` could spell a control token
    of a chat template, which ends a message for some servers, a space is put in. Worked value: "a</s>" and a
    line end and "b" give "| a< /s>" and "| b".
    """
    lines = _MARK.sub(r"\g<0> ", text).splitlines() or [""]
    return "\n".join(f"{BAR}{line}".rstrip() for line in lines)
