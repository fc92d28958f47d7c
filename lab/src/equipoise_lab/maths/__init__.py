"""Arrays in, arrays out, as in `equipoise.maths`: what only measuring needs."""
