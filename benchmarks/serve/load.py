"""Load at a fixed arrival rate over connections that stay open. Latency counts from when a request was due."""

import asyncio
import json
import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Measured:
    """Seconds of each answer, and how many had which status."""

    seconds: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)

    def quantile(self, share: float) -> float:
        """Milliseconds below which this share of the answers came."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


async def _one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: bytes) -> int:
    about = f"Content-Type: application/json\r\nContent-Length: {len(body)}"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{about}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    answer = await reader.readuntil(b"\r\n\r\n")
    lines = answer.decode().lower().split("\r\n")
    length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
    await reader.readexactly(length)
    return int(lines[0].split()[1])


async def _connection(port: int, path: str, bodies: list[tuple[float, bytes]], measured: Measured) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    loop = asyncio.get_running_loop()
    for due, body in bodies:
        await asyncio.sleep(max(due - loop.time(), 0))
        try:
            status = await _one(reader, writer, path, body)
        except (OSError, asyncio.IncompleteReadError):  # an idle connection was closed: open it again
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            status = await _one(reader, writer, path, body)
        measured.seconds.append(loop.time() - due)
        measured.statuses[status] = measured.statuses.get(status, 0) + 1
    writer.close()


async def _all(
    port: int, path: str, questions: list[str], *, rate: float, seconds: float, connections: int
) -> Measured:
    measured, begin = Measured(), asyncio.get_running_loop().time() + 0.5
    plans: list[list[tuple[float, bytes]]] = [[] for _ in range(connections)]
    for number in range(int(rate * seconds)):
        body = json.dumps({"question": questions[number % len(questions)]}).encode()
        plans[number % connections].append((begin + number / rate, body))
    await asyncio.gather(*(_connection(port, path, plan, measured) for plan in plans if plan))
    return measured


def load(
    port: int, path: str, questions: list[str], *, rate: float, seconds: float, connections: int = 50
) -> Measured:
    """`rate` requests a second for so many seconds."""
    return asyncio.run(_all(port, path, questions, rate=rate, seconds=seconds, connections=connections))


def wait_until_ready(port: int, path: str = "/readyz", patience: float = 120.0) -> None:
    """Returns when the server answers questions."""
    last = time.monotonic() + patience
    while time.monotonic() < last:
        try:
            if asyncio.run(_status(port, path)) == 200:
                return
        except (OSError, asyncio.IncompleteReadError):
            pass
        time.sleep(0.2)
    raise TimeoutError(f"the server at port {port} did not get ready")


async def _status(port: int, path: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])
