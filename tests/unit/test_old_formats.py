"""Files of old kinds, by LibreOffice where it is there, and what is said where it is not."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from equipoise.core.errors import UnreadableFile
from equipoise.corpus import converting
from equipoise.corpus.limits import Limits
from equipoise.corpus.workers import Readers
from hostile_files import docx

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the program is a script here")
HERE = shutil.which("soffice")
TABLE = "<table><tr><td>Zone<td>Week<tr><td>Harbour<td>33.00<tr><td>Lake<td>21.50</table>"


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Makes a program called soffice, the only one of its kind: lines of a shell script, `$out` the folder."""

    def made(*lines):
        folder = tmp_path / "programs"
        folder.mkdir()
        script = ["#!/bin/sh", "while [ $# -gt 1 ]; do [ $1 = --outdir ] && out=$2; shift; done", *lines]
        (folder / "soffice").write_text("\n".join(script))
        (folder / "soffice").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    return made


def test_what_it_makes_is_read_under_the_name_of_the_file(program, tmp_path):
    (tmp_path / "made.docx").write_bytes(docx("<w:p><w:r><w:t>It hangs at the slipway.</w:t></w:r></w:p>"))
    program(f'[ "$(cat $1)" = old ] && cp {tmp_path}/made.docx $out/document.docx')
    with Readers(1) as readers:
        (document,) = readers.read("key.doc", b"old")
        assert (document.title, document.text) == ("key", "It hangs at the slipway.")
        assert "slipway" in readers.whole("key.doc", b"old")[0].text
        with pytest.raises(UnreadableFile, match="LibreOffice cannot read it"):
            readers.read("key.doc", b"no")


def test_without_it_the_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnreadableFile, match=r"a.xls.*only LibreOffice reads .* save this one as .xlsx"):
        converting.converted("a.xls", b"x")
    assert converting.converted("b/a.csv", b"x") == ("a.csv", b"x")


def test_it_gets_no_secret_and_a_profile_without_macros(program, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "mine-alone")
    program("(env; ulimit -v; cat $out/profile/user/*.xcu) > $out/document.pptx")
    name, said = converting.converted("a.ppt", b"x")
    assert name == "a.pptx"
    assert b"mine-alone" not in said
    assert b"\n3906250\n" in said  # kilobytes of memory
    assert b'"DisableMacrosExecution" oor:op="fuse"><value>true' in said


def test_what_takes_too_long_is_ended_with_all_it_started(program, tmp_path, monkeypatch):
    monkeypatch.setattr(converting, "limits_for", lambda size: Limits(0, 1, 0))
    program(f"sleep 60 & echo $! > {tmp_path}/number; wait")
    with pytest.raises(UnreadableFile, match="longer than 2 seconds"):
        converting.converted("a.doc", b"x")
    number = (tmp_path / "number").read_text().strip()
    state = Path(f"/proc/{number}/stat")
    while state.exists() and ") Z " not in state.read_text():  # killed, and not yet gone
        time.sleep(0.01)


@pytest.mark.skipif(HERE is None, reason="LibreOffice is not here")
@pytest.mark.parametrize(
    ("old", "text", "made", "says"),
    [
        ("doc", "a.html", TABLE, "Zone: Harbour; Week: 33.00"),
        ("xls", "a.csv", "Boat,Fee\nPunt,4.50\nHeron,9.25\n", "Boat: Heron; Fee: 9.25"),
    ],
)
def test_by_libreoffice_itself(old, text, made, says, tmp_path):
    (tmp_path / text).write_text(made)
    home = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    filters = {"doc": "doc:MS Word 97", "xls": "xls:MS Excel 97"}
    reads = ["--infilter=HTML (StarWriter)"] if old == "doc" else []
    command = [HERE, "--headless", home, *reads, "--convert-to", filters[old], "--outdir", tmp_path]
    subprocess.run([*command, tmp_path / text], check=True, capture_output=True, timeout=120)
    with Readers(1) as readers:
        assert says in readers.read(f"a.{old}", (tmp_path / f"a.{old}").read_bytes())[0].text
