"""Hostile documents in a real chat: how many make Open WebUI, or the browser that shows it, ask a foreign host.

    python tests/campaigns/real_client.py --client .venv/open-webui/bin/open-webui

`equipoise serve` answers over documents of `hostile_markdown`, text files and pages, some with a hostile name or title.
Open WebUI, as its package is, speaks to it; each question is typed into its page in chromium, and the source of each
answer is opened. Every name leads to a listener, for the browser and for Open WebUI's own process. A document counts
where the browser asks any host but the two servers for anything, or where somebody comes to the listener; what chromium
asks its maker for by itself is named apart.

First, some of the documents are asked for from a model that hands them on as they are: were none of these to count,
this program would see nothing. Exits with 1 then, and where a document of equipoise counts.
"""

import argparse
import html
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from playwright.sync_api import Error, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from raw_model import Listener, RawModel

from equipoise.apps.listening import bound
from hostile_markdown import HOST, documents
from processes import ENVIRONMENT

HEADS, VOWELS, TAILS = (
    ("Bel", "Cor", "Dan", "Fel", "Gor", "Hal", "Kel"),
    "aeiou",
    ("dun", "mont", "wick", "stad", "by", "ford"),
)
TOWNS = ["".join(parts) for parts in product(HEADS, VOWELS, TAILS)]
NAMES = ("{town}", f"http:{HOST} {{town}}", "![x](q) {town}", "<img src=x onerror=alert(1)> {town}")
HERE = "127.0.0.1"
MAKER = (".googleapis.com", "accounts.google.com")
BEGIN = "Okay, Let's Go!"
PATIENCE_S = 600
SETTLES_MS = 500
"""How long a page has to ask for what an answer makes it ask for."""
PLAIN = {
    "EQUIPOISE_MODEL_LLM": "none",
    "EQUIPOISE_HIGHLIGHT_NAME": "sentence",
    "EQUIPOISE_RETRIEVAL_RERANK": "false",
}


@dataclass
class Found:
    """What was seen of one model's answers."""

    asked: int = 0
    shown: int = 0
    opened: int = 0
    linked: int = 0
    foreign: dict[str, list[str]] = field(default_factory=dict)


def written(folder: Path, number: int) -> dict[str, str]:
    """Make files of so many documents; the text of each by its town."""
    texts = {}
    for row, (town, text) in enumerate(zip(TOWNS, documents(number), strict=False)):
        texts[town] = text.replace("The harbour", f"The harbour of {town}")
        name = NAMES[row % len(NAMES)].format(town=town)
        if "\n" in text or row % 2:
            (folder / f"{name}.txt").write_text(texts[town], "utf-8")
        else:
            page = f"<title>{html.escape(text)}</title><p>{html.escape(texts[town])}</p>"
            (folder / f"{name}.html").write_text(page, "utf-8")
    return texts


def free_port() -> int:
    """A port that nobody listens at."""
    with bound(HERE, 0) as listening:
        return listening.getsockname()[1]


@contextmanager
def running(url: str, *command: object, **environment: str) -> Iterator[None]:
    """A server process, from when `url` answers."""
    log = subprocess.DEVNULL
    process = subprocess.Popen([*map(str, command)], env=ENVIRONMENT | environment, stdout=log, stderr=log)
    try:
        last = time.monotonic() + PATIENCE_S
        while not _answers(url):
            assert process.poll() is None and time.monotonic() < last, f"{command[0]} does not answer"
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False


def client_environment(folder: Path, models: str, listener: int) -> dict[str, str]:
    """What Open WebUI is told: no account, our models, and a listener between it and everybody else."""
    return {
        "DATA_DIR": str(folder),
        "WEBUI_AUTH": "False",
        "WEBUI_SECRET_KEY": "campaign",
        "ENABLE_OLLAMA_API": "False",
        "OPENAI_API_BASE_URLS": models,
        "OPENAI_API_KEYS": "none;none",
        "OFFLINE_MODE": "True",  # without it the package fetches an encoder before it starts
        "RAG_EMBEDDING_ENGINE": "openai",
        "http_proxy": f"http://{HERE}:{listener}",
        "https_proxy": f"http://{HERE}:{listener}",
        "no_proxy": HERE,
        "PYTHONPATH": "",
    }


class Chat:
    """Open WebUI's page in a browser, and every foreign address that it asks."""

    def __init__(self, browser, port: int, own: set[str]):
        self._context = browser.new_context(viewport={"width": 1280, "height": 900})
        self._own, self._port = own, port
        self.foreign: list[str] = []
        self._context.on("request", lambda request: self._note(request.url))
        self.page = self._context.new_page()
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.set_default_timeout(PATIENCE_S * 1000)
        self._begin("equipoise")
        self.page.get_by_text(BEGIN).click()

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob", "about"} and parts.netloc not in self._own:
            self.foreign.append(url)

    def _begin(self, model: str) -> None:
        self.page.goto(f"http://{HERE}:{self._port}/?models={model}")
        self.page.wait_for_selector("#chat-input")

    def ask(self, model: str, question: str, found: Found) -> None:
        """Ask in a new chat, open what the answer rests on, and note what there was to see."""
        self._begin(model)
        self.page.locator("#chat-input").fill(question)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(".copy-response-button")
        self.page.wait_for_timeout(SETTLES_MS)
        answer = self.page.locator(".chat-assistant").first
        found.asked += 1
        found.shown += HOST in answer.inner_text()
        for source in answer.locator("button[aria-label^='View source']").all()[:1]:
            source.click()
            self.page.get_by_label("Close citation modal").wait_for()
            self.page.wait_for_timeout(SETTLES_MS)
            found.opened += 1
            found.linked += self._is_linked("body")
            return
        found.linked += self._is_linked(".chat-assistant")

    def _is_linked(self, where: str) -> bool:
        """Whether something there leads to a foreign host, once it is clicked."""
        targets = self.page.locator(f"{where} a[href]").evaluate_all("all => all.map(one => one.href)")
        return any(not self._is_own(target) for target in targets)

    def _is_own(self, url: str) -> bool:
        return urlsplit(url).netloc in self._own


def asked_all(chat: Chat, listener: Listener, model: str, towns: list[str]) -> Found:
    """Ask for each document by its town."""
    found = Found()
    for town in towns:
        chat.foreign.clear()
        listener.names.clear()
        try:
            chat.ask(model, f"When does the harbour of {town} open?", found)
        except Error as error:
            print(f"{town}: {str(error).splitlines()[0]}")
        urls = [*chat.foreign, *(f"//{name}" for name in listener.names if not name.endswith(MAKER))]
        if urls:
            found.foreign[town] = urls
    return found


def said(name: str, found: Found, texts: dict[str, str]) -> None:
    """Print what was found."""
    hosts = Counter(urlsplit(url).netloc or url for urls in found.foreign.values() for url in {*urls})
    print(f"{name}: {len(found.foreign)} of {found.asked} documents asked a foreign host {dict(hosts)}")
    print(
        f"    {found.shown} answers showed the trick, {found.opened} sources opened, {found.linked} with a foreign link"
    )
    for town, urls in [*found.foreign.items()][:5]:
        print(f"    {texts[town]!r}: {urls[0][:100]}")


def main() -> None:
    """Run it and say what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--client", required=True, help="the program open-webui")
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--raw", type=int, default=50, help="so many are also asked for as they are")
    wanted = parser.parse_args()
    program, began = Path(sys.executable).with_name("equipoise"), time.monotonic()
    with TemporaryDirectory() as name, Listener() as listener, sync_playwright() as started:
        folder, store = Path(name) / "documents", {"EQUIPOISE_STORE_PATH": f"{name}/index.db"}
        folder.mkdir()
        texts, environment = written(folder, wanted.documents), PLAIN | store
        subprocess.run(
            [program, "index", folder], env=ENVIRONMENT | environment, check=True, capture_output=True
        )
        ours, theirs = free_port(), free_port()
        url = f"http://{HERE}:{ours}"
        with (
            RawModel(texts) as raw,
            running(f"{url}/readyz", program, "serve", "--port", ours, **environment),
            running(
                f"http://{HERE}:{theirs}/health", wanted.client, "serve", "--host", HERE, "--port", theirs,
                **client_environment(Path(name), f"{url}/v1;{raw.url}", listener.port),
            ),
        ):  # fmt: skip
            rules = f"MAP * {HERE}:{listener.port}, EXCLUDE {HERE}"
            browser = started.chromium.launch(
                executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
                args=["--no-sandbox", f"--host-resolver-rules={rules}"],
            )
            chat = Chat(browser, theirs, {f"{HERE}:{ours}", f"{HERE}:{theirs}"})
            print(f"before any question: {chat.foreign} asked by the page; at the listener {listener.names}")
            control = asked_all(chat, listener, "raw", [*texts][: wanted.raw])
            said("as they are", control, texts)
            result = asked_all(chat, listener, "equipoise", [*texts])
            said("equipoise", result, texts)
            browser.close()
    print(f"{time.monotonic() - began:.0f} s")
    sys.exit(0 if control.foreign and not result.foreign and result.asked == wanted.documents else 1)


if __name__ == "__main__":
    main()
