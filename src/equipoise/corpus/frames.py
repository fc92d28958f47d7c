"""Messages between `index` and its worker processes: a JSON object, then raw bytes, both with their length before.

Never pickle: a worker has read hostile bytes, so nothing it sends may do more than be data.
"""

import json
import struct
from typing import IO, Any

_LENGTHS = struct.Struct("<IQ")


class BrokenFrame(Exception):
    """The other side has gone, or sent what is no frame or a larger one than allowed."""


def send(stream: IO[bytes], header: dict[str, Any], *body: bytes) -> None:
    """Write one frame. Raises OSError where the other side has gone."""
    head = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(head), sum(map(len, body))))
    stream.write(head)
    for part in body:
        stream.write(part)
    stream.flush()


def receive_header(stream: IO[bytes], *, most: int) -> tuple[dict[str, Any], int]:
    """The JSON object of the next frame, at most `most` bytes, and the length of the body that follows.

    Raises BrokenFrame.
    """
    head_length, body_length = _LENGTHS.unpack(exactly(stream, _LENGTHS.size))
    if head_length > most:
        raise BrokenFrame(f"a header of {head_length} bytes")
    try:
        header = json.loads(exactly(stream, head_length))
    except (ValueError, RecursionError) as error:
        raise BrokenFrame("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise BrokenFrame("a header that is no object")
    return header, body_length


def exactly(stream: IO[bytes], length: int) -> bytes:
    """The next `length` bytes. Raises BrokenFrame where there are fewer."""
    data = stream.read(length)
    if len(data) < length:
        raise BrokenFrame("the stream ended")
    return data
