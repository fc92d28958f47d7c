"""The commands that `equipoise` has with this package installed."""
