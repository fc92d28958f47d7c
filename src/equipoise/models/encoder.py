"""The embedded encoder: all-MiniLM-L6-v2 from a file inside the package, on the CPU, without torch.

Also the optional abilities of encoders beyond `core.protocols.Encoder`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from tokenizers import Tokenizer

from equipoise.core.errors import WeightsError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array
from equipoise.models.control import encodable
from equipoise.models.hashes import sha256_of
from equipoise.models.sessions import AtFirstUse, Session, session

DATA = Path(__file__).parent / "data"
MODEL, TOKENIZER, MANIFEST = "minilm-l6-v2-int8.onnx", "tokenizer.json", "manifest.toml"
DIMENSIONS = 384
MAX_TOKENS = 256  # max_seq_length of the published model; also the number of positions in the file
MAX_CHARACTERS = 16_384  # what is tokenised of a text: 256 words of 64 characters
BATCH_TOKENS = 512  # 15 MB of working memory for each thread; 128 to 1,024 take the same time a token


class EmbeddedEncoder(AtFirstUse):
    """Encoder of the package: 384 dimensions, English, texts are read up to 256 tokens.

    A text's vector is a function of the text alone, bit for bit on one machine: whoever can put passages
    beside it in a batch cannot move it. Products are sums of whole numbers with one scale for each token (one for a
    batch, as ONNX Runtime's dynamic quantisation has it, moved vectors by up to .036 with their neighbours). And only
    texts with equally many tokens share a batch, so nothing is ever padded.

    A batch is read by one thread, several batches beside each other: parts of one batch wait for each other, by
    spinning, which took twice the work for each text, and half the speed where the processors are shared.

    Objects are thread safe and load their files at the first use (about 0.12 s and 75 MB of memory; at work 15 MB more
    for each thread). Nothing is kept from one call to the next.
    """

    name = "all-MiniLM-L6-v2/int8-2"
    """The vector space: changes whenever vectors would."""
    dimensions = DIMENSIONS

    def __init__(self, *, folder: Path = DATA, threads: int | None = None) -> None:
        """`threads` batches are read at a time; by default one for each processor, at most 8."""
        super().__init__(threads)
        self._folder = folder

    def encode(self, texts: Sequence[str]) -> Array:
        """(n, 384) float32 rows of length 1, in the order of `texts`; (0, 384) for none.

        An empty text has a vector too. Raises WeightsError when a file is missing or is not the one this
        version was made with, TypeError for a single string.
        """
        if isinstance(texts, str):
            raise TypeError("encode() takes a sequence of texts: pass [text] for one")
        rows = np.empty((len(texts), DIMENSIONS), np.float32)
        if not texts:
            return rows
        tokenizer, running, pool = self._load()
        encodings = tokenizer.encode_batch([encodable(text[:MAX_CHARACTERS]) for text in texts])
        ids = [encoding.ids for encoding in encodings]

        def read(group: list[int]) -> None:
            feed = {"input_ids": np.array([ids[row] for row in group], np.int64)}
            rows[group] = running.run(["embedding"], feed)[0]

        list(pool.map(read, batches([len(each) for each in ids], BATCH_TOKENS)))
        return rows

    def _tokenizer(self) -> Tokenizer:
        return tokenizer_of(self._folder, MAX_TOKENS)

    def _session(self) -> Session:
        return session(checked(self._folder, MODEL))


def batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Rows, longest first so that no long batch is left to the end: at most `most` tokens, all of one length."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    for length, same in groupby(order, key=lambda row: lengths[row]):
        while batch := list(islice(same, max(1, most // length))):
            yield batch


def checked(folder: Path, name: str, manifest: str = MANIFEST, script: str = "build_encoder.py") -> Path:
    """The path of an embedded model's file, if its sha256 is the manifest's; else raises WeightsError.

    `script` in scripts/ is what made it, for the message.
    """
    remedy = f"reinstall equipoise, or in a checkout run  python scripts/{script}"
    try:
        expected = tomllib.loads((folder / manifest).read_text("utf-8"))[name]
        digest = sha256_of(folder / name, expected)
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise WeightsError(f"{folder / name} of the encoder cannot be read ({error}): {remedy}") from error
    if digest != expected:
        raise WeightsError(
            f"{folder / name} of the encoder is damaged or was replaced (sha256 {digest[:12]}..., expected "
            f"{expected[:12]}...): {remedy}"
        )
    return folder / name


@cache
def tokenizer_of(folder: Path, most: int) -> Tokenizer:
    """The tokenizer of the package's models, which cuts at `most` tokens: one shared object. Raises WeightsError."""
    tokenizer = Tokenizer.from_file(str(checked(folder, TOKENIZER)))
    tokenizer.enable_truncation(most)
    return tokenizer


@cache
def english_words() -> Mapping[str, int]:
    """About 20,000 common words of English, those that are a token by themselves here, in lower case with their rank
    from 0, the commonest first. Raises WeightsError."""
    tokens = tokenizer_of(DATA, MAX_TOKENS).get_vocab()
    plain = (
        token
        for token in sorted(tokens, key=tokens.__getitem__)
        if token.isascii() and token.isalpha() and len(token) > 1
    )
    return {word: rank for rank, word in enumerate(plain)}


_E5 = re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])")


@runtime_checkable
class EncodesQuestions(Protocol):
    """An Encoder that reads a question otherwise than a text that may answer it, as E5 does."""

    def encode_questions(self, questions: Sequence[str]) -> Array:
        """(n, d) float32, every row of length 1, to be compared with rows of `encode`; (0, d) for none."""
        ...


def encode_questions(encoder: Encoder, questions: Sequence[str]) -> Array:
    """(n, d) unit vectors of questions, encoded as any text where the encoder makes no difference."""
    return (
        encoder.encode_questions(questions)
        if isinstance(encoder, EncodesQuestions)
        else encoder.encode(questions)
    )


def is_multilingual(encoder: Encoder) -> bool:
    """Whether the encoder says of itself that it reads other languages than English (`multilingual = True`)."""
    return bool(getattr(encoder, "multilingual", False))


def is_e5(name: str) -> bool:
    """Whether a model is one of the E5 family by the last part of its name: "e5" stands in it as a word.

    >>> is_e5("intfloat/multilingual-e5-small"), is_e5("e5/other"), is_e5("some/me5")
    (True, False, False)
    """
    return bool(_E5.search(name.rstrip("/").rpartition("/")[2].lower()))
