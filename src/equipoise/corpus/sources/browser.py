"""A real browser for pages that are empty until their scripts have run. It has no network.

Chromium runs in an empty network namespace, if the system allows one; in any case it resolves no name and connects
through a proxy that does not exist. The requests of a page are answered here, with what the source's own `Fetcher`
gets: so the limits of host, robots.txt, size and pace hold for scripts as for pages.
"""

import asyncio
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, TypeVar

from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Page, Playwright, Route, async_playwright
from playwright.async_api import Error as BrowserError

from equipoise.core.closing import Closing
from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.corpus.sources.addresses import Address, parsed
from equipoise.corpus.sources.fetching import MOST_HOPS, REDIRECTS, Fetched, Fetcher
from equipoise.corpus.workers import environment

MOST_REQUESTS = 100
"""Of one page; what it asks for beyond that, or beyond MOST_BYTES, is refused."""
MOST_BYTES = 30_000_000
MOST_TEXT = 10_000_000
"""Characters of a page with all that its scripts wrote."""
SECONDS = 60.0
"""For one page, with all that it asks for."""
SETTLES_S = 20.0
"""After this time a page that still sends requests is taken as it is."""
_ENDS_WITHIN = 10.0
_WITHOUT_NETWORK = (
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
_CONFINED = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:; "
    "frame-src 'none'; form-action 'none'; sandbox allow-scripts allow-same-origin"
)
"""A Content-Security-Policy for all answers, beside the site's own: no windows, forms and downloads, either."""
_NO_WEBRTC = "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete globalThis[name]"
_SHARED = frozenset({"script", "stylesheet"})
"""Kinds of requests whose answers serve all pages of a run."""
_ASKED = _SHARED | {"xhr", "fetch"}

T = TypeVar("T")


class Browser(Closing):
    """Chromium, started with the first page and gone at the end of the `with` block. Only what `allow` says may be
    asked for, at the origin of the page."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.fetcher = fetcher
        self.allow: Callable[[Address], bool] = lambda _: False
        self._kept: dict[Address, Fetched] = {}
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None
        self._folder = TemporaryDirectory(prefix="equipoise-")
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="equipoise-browser", daemon=True)
        self._thread.start()

    def rendered(self, answer: Fetched) -> Fetched:
        """A page as its scripts leave it, without ETag and Last-Modified: the same bytes may render otherwise later.
        Raises UnreadableFile where it takes too long or something that it asks for fails, CorpusError where there is
        no browser."""
        return self._run(self._rendered(answer))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _rendered(self, answer: Fetched) -> Fetched:
        chromium = await self._started()
        asked = _Asked(answer, self.fetcher, self.allow, self._kept)
        context: BrowserContext | None = None
        try:
            async with asyncio.timeout(SECONDS):
                context = await chromium.new_context(service_workers="block", accept_downloads=False)
                await context.add_init_script(_NO_WEBRTC)
                await context.route("**/*", asked.answer)
                page = await context.new_page()
                await page.goto(str(answer.address), wait_until="commit")
                with suppress(BrowserError):
                    await page.wait_for_load_state("networkidle", timeout=SETTLES_S * 1_000)
                text = await _text_of(page, answer.address)
        except TimeoutError as error:
            raise self._unread(answer, f"its scripts take longer than {SECONDS:.0f} seconds") from error
        except BrowserError as error:
            raise self._unread(answer, f"the browser could not show it ({error.message[:200]})") from error
        finally:
            await self._left(context)
        if asked.failed:
            raise self._unread(answer, f"what its scripts ask for cannot be read: {asked.failed}")
        if len(text) > MOST_TEXT:
            raise self._unread(answer, f"its scripts write more than {MOST_TEXT:,} characters")
        kept = {name: said for name, said in answer.headers.items() if name == "x-robots-tag"}
        headers = kept | {"content-type": "text/html; charset=utf-8"}
        return Fetched(answer.address, answer.status, headers, text.encode("utf-8", "replace"))

    @staticmethod
    def _unread(answer: Fetched, why: str) -> UnreadableFile:
        return UnreadableFile(str(answer.address), why)

    async def _started(self) -> Chromium:
        if self._chromium is None or not self._chromium.is_connected():
            try:
                self._playwright = self._playwright or await async_playwright().start()
                self._chromium = await self._playwright.chromium.launch(
                    executable_path=_offline(shutil.which("chromium"), Path(self._folder.name)),
                    args=list(_WITHOUT_NETWORK),
                    chromium_sandbox=getattr(os, "geteuid", lambda: 1)() != 0,  # as root Chromium has none
                    env=dict(environment(os.environ)),
                )
            except BrowserError as error:
                raise CorpusError(
                    "no browser can be started for pages that scripts write: install chromium, or run  playwright "
                    f"install chromium  (docs/sources.md); it said: {error.message.strip()[:500]}"
                ) from error
        return self._chromium

    async def _left(self, context: BrowserContext | None) -> None:
        """Close the page; a browser that does not is ended, and the next page starts another."""
        try:
            async with asyncio.timeout(_ENDS_WITHIN):
                if context is not None:
                    await context.unroute_all(behavior="ignoreErrors")
                    await context.close()
        except (TimeoutError, BrowserError):
            await self._ended()

    async def _ended(self) -> None:
        chromium, self._chromium = self._chromium, None
        if chromium is not None:
            with suppress(BrowserError):
                await chromium.close()

    async def _stopped(self) -> None:
        await self._ended()
        if self._playwright is not None:
            await self._playwright.stop()

    def close(self) -> None:
        """End the browser."""
        try:
            self._run(self._stopped())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._folder.cleanup()


@dataclass  # without slots: Playwright writes to the object whose method it is given
class _Asked:
    """Answers the requests of one page within its limits; `failed` says why one could not be answered that another try
    may bring."""

    page: Fetched
    fetcher: Fetcher
    allow: Callable[[Address], bool]
    kept: dict[Address, Fetched]
    failed: str = ""
    _requests: int = 0
    _bytes: int = 0
    _is_begun: bool = False

    async def answer(self, route: Route) -> None:
        """Answer a request, or refuse it: no document besides the page itself, no other method than GET."""
        request, got = route.request, None
        if request.is_navigation_request():
            got, self._is_begun = (None if self._is_begun else self.page), True
        elif request.method == "GET" and request.resource_type in _ASKED:
            try:
                got = await self._got(parsed(request.url), is_shared=request.resource_type in _SHARED)
            except CorpusError as error:
                self.failed = str(error)
        if got is None:
            await route.abort("aborted")  # the page that is there stays
            return
        own = got.headers.get("content-security-policy", "")
        headers = {
            "content-type": got.headers.get("content-type", ""),
            "content-security-policy": ", ".join(filter(None, (_CONFINED, own))),
        }
        await route.fulfill(status=got.status, headers=headers, body=got.data)

    async def _got(self, here: Address | None, *, is_shared: bool) -> Fetched | None:
        """The answer, redirects followed; None for what may not be requested. Raises CorpusError."""
        for _ in range(MOST_HOPS):
            if here is None or here.origin != self.page.address.origin or not self.allow(here):
                return None
            got = self.kept.get(here)
            if got is None:
                if self._requests >= MOST_REQUESTS or self._bytes > MOST_BYTES:
                    return None
                self._requests += 1
                got = await asyncio.to_thread(self.fetcher.get, here)
                self._bytes += len(got.data)
            if got.status not in REDIRECTS:
                return self._checked(here, got, is_shared=is_shared)
            here = got.leads_to
        return None

    def _checked(self, here: Address, got: Fetched, *, is_shared: bool) -> Fetched:
        if got.status >= 500 or got.status == 429:
            self.failed = f"{here} (status {got.status})"
        elif (
            is_shared and got.status == 200 and sum(len(one.data) for one in self.kept.values()) < MOST_BYTES
        ):
            self.kept[here] = got
        return got


def _offline(program: str | None, folder: Path) -> Path | str | None:
    """A script that starts `program` in an empty network namespace (`unshare`), or `program` if the system allows none.
    None is Playwright's own Chromium, which is in this process's network, but has no way to it."""
    if program is None:
        return None
    script = folder / "chromium"
    script.write_text(f'#!/bin/sh\nexec unshare --map-current-user --net -- {shlex.quote(program)} "$@"\n')
    script.chmod(0o700)
    try:
        done = subprocess.run([script, "--version"], capture_output=True, check=False, timeout=_ENDS_WITHIN)
    except (OSError, subprocess.TimeoutExpired):
        return program
    return program if done.returncode else script


async def _text_of(page: Page, address: Address) -> str:
    """The page as HTML, read in an isolated world, where scripts of the page cannot change the answer. Raises
    UnreadableFile where they have left the site."""
    session = await page.context.new_cdp_session(page)
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]
    there = parsed(frame["url"])
    if there is None or there.origin != address.origin:
        raise UnreadableFile(str(address), f"its scripts lead away, to {frame['url'][:200]}")
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame["id"]})
    said = await session.send(
        "Runtime.evaluate",
        {
            "contextId": world["executionContextId"],
            "expression": f"document.documentElement.outerHTML.slice(0, {MOST_TEXT + 1})",
            "returnByValue": True,
        },
    )
    return f"<!DOCTYPE html>{said['result'].get('value', '')}"
