"""Numbers for Prometheus. Nothing of a question, and no key, is in a label."""

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that says where several processes keep their numbers."""
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """The numbers of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        kept = self.registry
        self._requests = Counter(
            "equipoise_requests", "Requests answered.", ["method", "route", "status"], registry=kept
        )
        self._seconds = Histogram(
            "equipoise_request_seconds", "How long requests took.", ["route"], buckets=_SECONDS, registry=kept
        )
        self._questions = Counter(
            "equipoise_questions", "Questions by how they ended.", ["outcome"], registry=kept
        )
        self._tokens = Counter("equipoise_tokens", "Tokens that answers have cost.", registry=kept)
        self._running = Gauge(
            "equipoise_answers_running",
            "Questions being answered.",
            multiprocess_mode="livesum",
            registry=kept,
        )
        self._waiting = Gauge(
            "equipoise_answers_waiting", "Questions in the queue.", multiprocess_mode="livesum", registry=kept
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request; status 0 is a client that left before the answer began."""
        known = method if method in {"GET", "POST", "DELETE", "PATCH"} else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def question(self, outcome: str, tokens: int) -> None:
        """Count one question."""
        self._questions.labels(outcome).inc()
        self._tokens.inc(tokens)

    def watch(self, running: int, waiting: int) -> None:
        """Take the state of the queue as it is now."""
        self._running.set(running)
        self._waiting.set(waiting)

    def page(self) -> bytes:
        """What Prometheus reads."""
        if not os.environ.get(FOLDER):
            return generate_latest(self.registry)
        every = CollectorRegistry()
        MultiProcessCollector(every)  # type: ignore[no-untyped-call]
        return generate_latest(every)
