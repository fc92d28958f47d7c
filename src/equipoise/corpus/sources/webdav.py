"""The HTTP client of WebDAV: it asks one host, at an address that was checked, and no other wherever it is led."""

from collections.abc import Callable

import httpx

from equipoise.corpus.sources.fetching import user_agent
from equipoise.corpus.sources.guard import Forbidden


class _Checked(httpx.HTTPTransport):
    """Connects to addresses that `check` gives for the port of one origin."""

    def __init__(self, base: httpx.URL, check: Callable[[int], str]) -> None:
        super().__init__(trust_env=False)
        self._base, self._check = base, check

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer. Raises Forbidden for another origin."""
        url = request.url
        if (url.scheme, url.host, url.port) != (self._base.scheme, self._base.host, self._base.port):
            raise Forbidden(f"it leads away, to {url.host}: nothing was asked there")
        ip = self._check(url.port or (443 if url.scheme == "https" else 80))
        said = request.extensions | {"sni_hostname": url.host}
        return super().handle_request(
            httpx.Request(
                request.method,
                url.copy_with(host=ip),
                headers=request.headers,
                stream=request.stream,
                extensions=said,
            )
        )


def client(
    base: str, auth: tuple[str, str] | None, check: Callable[[int], str], timeout: float
) -> httpx.Client:
    """A client for the server at `base`."""
    return httpx.Client(
        base_url=base,
        auth=auth,
        transport=_Checked(httpx.URL(base), check),
        trust_env=False,
        timeout=timeout,
        headers={"User-Agent": user_agent()},
    )
