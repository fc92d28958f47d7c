"""Strings in, offsets out, as in `equipoise.text`: what only data sets need."""
