"""The only room of the laboratory that talks to models, as `equipoise.models` is the product's."""
