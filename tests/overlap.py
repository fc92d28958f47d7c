"""Words in place of a cross-encoder, for tests that ask many questions and are not about its scores."""

import numpy as np

from equipoise.text.tokens import content_words


class Overlap:
    """A reranker that counts the question's words in a text, and how few others there are."""

    name = "overlap"

    def scores(self, question, texts):
        asked = set(content_words(question))
        found = [(len(asked & set(words)), len(words)) for words in map(content_words, texts)]
        return np.array([14.0 * hits / max(1, len(asked)) - 7.0 - many / 1000 for hits, many in found])
