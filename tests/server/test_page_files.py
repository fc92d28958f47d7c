"""The files of the page: all of them are there, small enough to read, and ask no other host."""

import re
from importlib import resources

from equipoise.apps.server.routes_page import FILES, PACKAGE

HERE = resources.files(PACKAGE)
OWN = [name for name in FILES if not name.startswith("vendor/")]


def test_every_file_of_the_package_is_served_and_no_other(served):
    there = {file.name for file in HERE.iterdir() if file.name.endswith((".js", ".css", ".html", ".svg"))}
    assert there == set(OWN)
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
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|https?://", text), (
            name
        )
        assert not re.search(r"""\sstyle=|\son[a-z]+=["']""", text), name
