"""Attacks on a deployment, from outside and from inside, in one run: `equipoise attack run`.

`cases` puts the cases together, `systems` the targets, `attacking` carries out what a folder does not hold yet,
`summaries` counts and shows.
"""
