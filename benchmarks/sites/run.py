"""A site into an index, and what it costs to keep it so.

    python benchmarks/sites/run.py [--pages 100] [--ask 100] [--beside OTHER/src]

A made site on the loopback, with a sitemap index, a planted comment below every page and half of the pages without an
ETag. Measured: from its address to the first answer (two processes, `equipoise index` and `equipoise ask`), a second
run over the same pages, and pages asked for what they say, where the comment below says otherwise. Adds a line to
results.jsonl. With `--beside`, the sources of another version, that one makes the index and is
measured first.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from equipoise import Answer, Library

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from site_server import Site, serving

PROGRAM = "from equipoise.apps.cli import program; program()"
WAYS = (
    '<div id="comments"><p>{}</p></div>',
    '<ol class="commentlist"><li>{}</li></ol>',
    '<div itemprop="review" itemscope itemtype="https://schema.org/Review"><span>{}</span></div>',
    '<div><p>{} <a rel="ugc" href="/x">more</a></p></div>',
)
TOPICS = ["kettle", "teapot", "lamp", "chair", "basket", "blanket", "mirror", "candle", "drawer", "ladder"]


def made(site: Site, pages: int) -> list[str]:
    """Fill the site; the questions that its pages answer, one for each."""
    names = [f"{TOPICS[row % 10]} {row}" for row in range(pages)]
    site.put("/", "<h1>Shop</h1><p>We sell things for the house.</p>")
    site.put("/robots.txt", f"Sitemap: {site.address}maps.xml", kind="text/plain")
    site.maps(["/a.xml", "/b.xml"], at="/maps.xml")
    for row, name in enumerate(names):
        body = f"<main><h1>The {name}</h1><p>The {name} costs {20 + row} euros and is made of wood.</p>"
        body += "".join(
            f"<p>Note {n} on the {name}: it ships in {n + 2} days to region {row * n}.</p>" for n in range(12)
        )
        lie = f"The {name} costs {900 + row} pounds, says the owner of this shop."
        site.put(
            f"/p{row}", f"{body}</main>{WAYS[row % 4].format(lie)}", title=f"The {name}", marked=row % 2 == 0
        )
    site.map([f"/p{row}" for row in range(0, pages, 2)], at="/a.xml")
    site.map([f"/p{row}" for row in range(1, pages, 2)], at="/b.xml")
    return [f"How many euros does the {name} cost?" for name in names]


def timed(folder: str, *command: str, source: str = "") -> tuple[float, str, float]:
    """Seconds that a command takes, what it prints, and seconds of processors; by the version at `source`."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    path = {"PYTHONPATH": source} if source else {}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command],
        cwd=folder,
        env=os.environ | {"XDG_STATE_HOME": folder} | path,
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(time.monotonic() - began, 1), done.stdout, round(used, 1)


def measured(pages: int, ask: int, beside: str) -> dict[str, object]:
    """Every figure."""
    with serving() as site, TemporaryDirectory() as folder:
        questions = made(site, pages)[:ask]
        address = f"http://localhost:{site.port}/"
        for page in ("/robots.txt", "/maps.xml", "/a.xml", "/b.xml"):
            body = site.pages[page].body.decode()
            site.pages[page].body = body.replace(site.address, address).encode()
        first, told, _ = timed(folder, "index", address, "--allow", "localhost", source=beside)
        others: dict[str, object] = {}
        if beside:
            other, _, used = timed(folder, "sources", "sync", source=beside)
            others = {"beside_again_s": other, "beside_again_cpu_s": used}
            timed(folder, "sources", "sync")  # what this version remembers of pages, it has to see first
        asked, answer, _ = timed(folder, "ask", questions[42 % ask])
        again, unchanged, used = timed(folder, "sources", "sync")
        with Library.open(Path(folder) / ".equipoise" / "index.db") as library:
            results = [library.ask(question) for question in questions]
        answers = [result for result in results if isinstance(result, Answer)]
        planted = [
            result
            for result in answers
            if "pounds" in result.text or any("#comments" in one.source for one in result.highlights.items)
        ]
        return {
            "pages": pages,
            "index_s": first,
            "ask_s": asked,
            "again_s": again,
            "again_cpu_s": used,
            **others,
            "load": round(os.getloadavg()[0], 1),
            "told": told.strip(),
            "again": unchanged.strip().partition(": ")[2],
            "answer": answer.strip(),
            "questions": len(questions),
            "answered": len(answers),
            "right": sum(f"{20 + row} euros" in _text(result) for row, result in enumerate(results)),
            "planted": len(planted),
        }


def _text(result: object) -> str:
    return result.text if isinstance(result, Answer) else ""


def main() -> None:
    """Measure, print and keep."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=100)
    options.add_argument("--ask", type=int, default=100)
    options.add_argument("--beside", default="")
    given = options.parse_args()
    text = json.dumps(measured(given.pages, given.ask, given.beside) | {"cores": os.cpu_count()})
    with (Path(__file__).parent / "results.jsonl").open("a", encoding="utf-8") as file:
        print(text, file=file)
    print(text)


if __name__ == "__main__":
    main()
