"""The common words of English: those that are a token by themselves in the embedded encoder's vocabulary."""

from collections.abc import Mapping
from functools import cache

from tokenizers import Tokenizer

from equipoise.models.encoder import DATA, TOKENIZER, checked


@cache
def english_words() -> Mapping[str, int]:
    """About 20,000 words in lower case with their rank from 0, the commonest first. Raises WeightsError."""
    tokens = Tokenizer.from_buffer(checked(DATA, TOKENIZER)).get_vocab()
    plain = (
        token
        for token in sorted(tokens, key=tokens.__getitem__)
        if token.isascii() and token.isalpha() and len(token) > 1
    )
    return {word: rank for rank, word in enumerate(plain)}
