"""The laboratory of equipoise: the papers' methods, attacks and benchmarks, and training."""
