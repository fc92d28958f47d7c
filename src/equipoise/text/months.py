"""Names of months and weekdays in English and German, and how a text may shorten or spell a month.

The standard library's names are those of the process's locale, which an application may have set.
"""

ENGLISH = tuple(
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
GERMAN = tuple(
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()  # noqa: SIM905
)
WEEKDAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())  # noqa: SIM905
_WOCHENTAGE = "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonnabend Sonntag".split()  # noqa: SIM905
_MORE = (
    "jan jänner janvier",
    "feb februar février fevrier",
    "mar märz maerz mars",
    "apr avril",
    "mai",
    "jun juin",
    "jul juillet",
    "aug août aout",
    "sep sept septembre",
    "oct octobre",
    "nov novembre",
    "dec décembre decembre",
)

NUMBERS = {name.casefold(): number for names in (ENGLISH, GERMAN) for number, name in enumerate(names, 1)}
"""A month's number, 1 to 12, by its name in lower case."""
SPELLINGS = NUMBERS | {name: number for number, names in enumerate(_MORE, 1) for name in names.split()}
"""The same, with short names, other spellings and French."""
CALENDAR = frozenset(NUMBERS) | {name.casefold() for name in (*WEEKDAYS, *_WOCHENTAGE, "Jänner")}
"""Names of months and weekdays in lower case: a text may also write them as numbers, or abbreviate them."""
