"""Judges of answers (H&S, section 5.2, Table 1) and of stance, and what is computed from what they say.

`rating` scores one answer, `comparison` two against each other, `stance` tells where a text stands; `ranking`, `paired`
and `agreement` turn many verdicts into tables with intervals.
"""
