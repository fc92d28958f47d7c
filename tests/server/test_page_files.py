"""The files of the page: all of them are there, small enough to read, and ask no other host."""

import json
import re
from importlib import resources

from equipoise.apps.server.appearance import LANGUAGES, PACKAGE
from equipoise.apps.server.routes_page import FILES, WIDGET

HERE = resources.files(PACKAGE)
OWN = [*(name for name in FILES if not name.startswith("vendor/")), WIDGET]
LARGEST_WIDGET = 30_000


def test_every_file_of_the_package_is_served_and_no_other(served):
    there = {file.name for file in HERE.iterdir() if file.name.endswith((".js", ".css", ".html", ".svg"))}
    assert there == set(OWN)
    assert served.client.get("/widget.js").status_code == 200
    for name, kind in FILES.items():
        address = "/" if name == "index.html" else f"/static/{name}"
        response = served.client.get(address)
        assert response.status_code == 200 and response.headers["content-type"] == kind
        tag = {"If-None-Match": response.headers["etag"]}
        assert served.client.get(address, headers=tag).status_code == 304
    assert served.client.get("/static/../keys.py").status_code == 404


def test_files_are_small_and_import_only_what_is_served():
    for name in OWN:
        text = HERE.joinpath(name).read_text("utf-8")
        assert len(text.splitlines()) <= 250, name
        for path in re.findall(r'from "\./([^"]+)"', text):
            assert path in FILES, (name, path)


def test_no_file_writes_markup_or_names_another_host():
    for name in OWN:
        text = HERE.joinpath(name).read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        text = text.replace('<script src="https://bot.example.org/widget.js"', "")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|https?://", text), (
            name
        )
        assert not re.search(r"""\sstyle=|\son[a-z]+=["']""", text), name


def test_the_widget_is_small_and_knows_how_it_looks(serve):
    served = serve(
        settings={"page": {"name": "Ferries </script>", "accent": "#ff0000", "examples": ["Who?"] * 6}}
    )
    response = served.client.get("/widget.js")
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "set-cookie" not in response.headers
    assert len(response.content) < LARGEST_WIDGET
    assert "Ferries <\\/script>" in response.text and "__LOOK__" not in response.text
    for language in LANGUAGES:
        texts = json.loads(HERE.joinpath(f"texts/{language}.json").read_text("utf-8"))
        assert json.dumps(texts["open_chat"]) in response.text


def test_every_language_says_everything_with_the_same_values():
    every = {
        language: json.loads(HERE.joinpath(f"texts/{language}.json").read_text("utf-8"))
        for language in LANGUAGES
    }
    code = "".join(HERE.joinpath(name).read_text("utf-8") for name in OWN)
    for language in LANGUAGES:
        assert list(every[language]) == list(every["en"])
        for name, said in every[language].items():
            assert said.strip() and sorted(re.findall(r"{\w+}", said)) == sorted(
                re.findall(r"{\w+}", every["en"][name])
            ), (language, name)
    for name in re.findall(r'\bt\("(\w+)"', code):
        assert name in every["en"], name
    unused = {name for name in every["en"] if f'"{name}"' not in code and f"text.{name}" not in code}
    assert not unused - {"side_yes", "side_no"}
