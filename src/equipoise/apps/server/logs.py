"""The server's log: one line a minute for each kind of failure, so that no flood of them fills a disk."""

import logging
import time
from threading import Lock

MINUTE_S = 60.0
MOST_KINDS = 1_000


class OncePerMinute(logging.Filter):
    """Lets one warning or error of a kind through a minute; the next one says how many there were between."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._last: dict[tuple[str, str, str], float] = {}
        self._kept: dict[tuple[str, str, str], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """See logging.Filter. A kind is the message before its values, and the type of the error."""
        if record.levelno < logging.WARNING:
            return True
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        kind, now = (record.name, str(record.msg).partition("\n")[0], error), time.monotonic()
        with self._lock:
            if len(self._last) > MOST_KINDS:
                self._last.clear()
                self._kept.clear()
            if now - self._last.get(kind, -MINUTE_S) < MINUTE_S:
                self._kept[kind] = self._kept.get(kind, 0) + 1
                return False
            self._last[kind] = now
            more = self._kept.pop(kind, 0)
        if more:
            record.msg, record.args = f"{record.getMessage()} (and {more:,} more like it before)", ()
        return True


def log_to_stderr() -> None:
    """Set up the log of a server process."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    for handler in logging.getLogger().handlers:
        handler.addFilter(OncePerMinute())
    for name in ("httpx", "httpx2", "uvicorn"):
        logging.getLogger(name).setLevel(logging.WARNING)
