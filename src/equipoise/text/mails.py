"""Which lines of a mail say that an earlier one follows, and which say nothing: how it greets and ends."""

import re

LONGEST_LINE = 250
"""Characters below which a line may say who wrote what follows."""
_ON = frozenset(("On", "Am", "Le", "El", "Il", "Op", "Den"))
_VERBS = ("wrote", "schrieb", "a écrit", "escribió", "ha scritto", "schreef", "skrev")
_FORWARDED = ("original message", "forwarded message", "ursprüngliche nachricht", "message d'origine")


def says_who(text: str) -> bool:
    """Whether a line says who wrote what follows, and when."""
    if text.startswith("---"):
        return text.strip("- ").lower().startswith(_FORWARDED)
    is_on = len(text) < LONGEST_LINE and text.partition(" ")[0] in _ON and any(map(str.isdigit, text))
    return is_on and text.rstrip().endswith(":") and any(verb in text for verb in _VERBS)


_GREETING = re.compile(
    r"(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|hallo|guten (?:morgen|tag|abend)|moin|lieber?"
    r"|sehr geehrte[rs]?|bonjour|chere?s?|chères?|hola|buenos d[ií]as|estimad[oa]s?)\b"
    r"(?:[^.?!:\n]{0,60}[,!:]|(?: \w+){0,2})",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"(?:(?:with )?(?:kind|best|warm|many)?(?: regards| wishes| thanks)|regards|best|thanks|cheers|yours \w+|sincerely"
    r"|(?:mit )?(?:freundlichen|viele[n]?|beste[n]?|liebe[n]?|herzliche[n]?) gr[uü](?:ß|ss)en?|cordialement|bien à vous"
    r"|saludos|un saludo)[,.!]?(?:\n[^\n]{1,60}){0,3}",
    re.IGNORECASE,
)


def is_greeting(text: str) -> bool:
    """Whether a paragraph of a mail only greets, or only ends it, with whoever signs.

    >>> is_greeting("Dear all,"), is_greeting("Kind regards\\nUna"), is_greeting("Dear guests pay twice as much.")
    (True, True, False)
    """
    return bool(_GREETING.fullmatch(text) or _ENDING.fullmatch(text))
