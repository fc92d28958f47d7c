"""The only package of the laboratory that talks to models, as `equipoise.models` is the product's."""
