"""Which lines of a mail say that an earlier one follows."""

LONGEST_LINE = 250
"""Characters that say who wrote what follows."""
_ON = frozenset(("On", "Am", "Le", "El", "Il", "Op", "Den"))
_VERBS = ("wrote", "schrieb", "a écrit", "escribió", "ha scritto", "schreef", "skrev")
_FORWARDED = ("original message", "forwarded message", "ursprüngliche nachricht", "message d'origine")


def says_who(text: str) -> bool:
    """Whether a line says who wrote what follows, and when."""
    if text.startswith("---"):
        return text.strip("- ").lower().startswith(_FORWARDED)
    is_on = len(text) < LONGEST_LINE and text.partition(" ")[0] in _ON and any(map(str.isdigit, text))
    return is_on and text.rstrip().endswith(":") and any(verb in text for verb in _VERBS)
