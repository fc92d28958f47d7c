"""Tags of Jinja, Liquid and Django in a text or page (`{% include nav.html %}`), of which readers see nothing."""

import re

_TAGS = r"[ \t\r]*+(?:\{%(?:[^%\n<`~]|%(?!\}))*+%\}[ \t\r]*+)++"  # what may hide more in Markdown is no tag
_ALONE = re.compile(rf"^{_TAGS}$", re.MULTILINE)


def without_tags(text: str) -> str:
    """`text` without what is in lines that consist of such tags only; a tag among words is what the text is about.

    >>> without_tags("Tea\\n{% if milk %}\\nUse {% if %}.")
    'Tea\\n\\nUse {% if %}.'
    """
    return _ALONE.sub("", text) if "{%" in text else text
