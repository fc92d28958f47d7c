"""Attacks on a deployment, from outside and from inside, in one run: `equipoise attack run`.

`cases` puts the cases together, `systems` the targets, `run` carries out what a folder does not hold yet, `tables`
counts and shows.
"""
