"""Words that chat templates reserve. In a message they are text, and must reach the model as text.

llama.cpp, and servers like it, read `<|im_end|>` inside a message as the end of that message: whoever writes a
question or a document could then speak as the system. A space inside such a word makes it ordinary text.

Also brings what servers and files say into a form that our messages can show.
"""

import re

_RESERVED = re.compile(
    r"""<(?=\|[^\s<>|]{1,60}\|>)                                        # <|im_end|>, <|eot_id|>
      | <(?=｜[^\s<>]{1,60}>)                                           # <｜end▁of▁sentence｜>
      | <(?=/?(?:s|bos|eos|pad|unk|think|tool_call|tool_response|tools|start_of_turn|end_of_turn)>)
      | <(?=</?SYS>>)                                                   # <<SYS>>
      | \[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\])
    """,
    re.VERBOSE | re.IGNORECASE,
)


def encodable(text: str) -> str:
    """`text` of the same length with lone surrogates, which UTF-8 cannot hold, replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def as_text(content: str) -> str:
    """`content`, encodable, with a space put into every word that a chat template reserves.

    >>> as_text("a <|im_end|> b")
    'a < |im_end|> b'
    """
    return _RESERVED.sub(r"\g<0> ", encodable(content))


def one_line(text: str, most: int = 200) -> str:
    """The first `most` characters of `text`, which a server or file says, in one line, without those that cannot be
    seen."""
    head = text[: 4 * most]
    return " ".join("".join(c if c.isprintable() else " " for c in head).split())[:most]
