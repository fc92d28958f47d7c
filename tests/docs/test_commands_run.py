"""Every command of README and docs runs as it is printed, with both packages installed as wheels in an environment
of its own: no checkout on its path, no settings, no models, no network.

Folders of the reader's own (`handbook/`, `forum/`, `acme/`) are made here. What is not run stands in `ELSEWHERE` with
the reason.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from shutil import copytree

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
ELSEWHERE = {
    "pip install": "the wheels of this test take its place",
    "make": "continuous integration calls these",
    ". .venv/bin/activate": "the environment of this test takes its place",
    "equipoise mcp": "needs the extra mcp: tests/integrations/test_mcp.py",
    "equipoise models pull": "1.1 GB: tests/live",
    "equipoise models use": "needs these weights: tests/live",
    "equipoise attack run": "takes minutes: lab/tests/test_cli_attack_run.py",
    "equipoise bench qa --dataset mine.jsonl": "asks models elsewhere: lab/tests/test_qa_cli.py",
    "equipoise index https://": "asks a site: tests/unit/test_sites_cli.py",
    "equipoise worker": "needs Postgres: tests/stores/test_shared_sources.py",
    "equipoise train": "needs torch and a model of a hub",
    "python scripts/build_crossencoder.py": "its weights are compared when they are built",
    "python scripts/build_adapted.py": "needs what training leaves",
    "python benchmarks/reading": "needs the data sets of a checkout",
}
OWN_EXAMPLES = {
    "integrations-haystack.md": "tests/integrations/test_haystack_examples.py",
    "integrations-langchain.md": "tests/integrations/test_langchain_examples.py",
    "integrations-llamaindex.md": "tests/integrations/test_llamaindex_example.py",
    "extensions.md": "tests/docs/test_extensions.py",
    "python.md": "tests/docs/test_python_page.py",
    "serve.md": "tests/server/test_openai_clients.py",
}
"""Pages whose Python is no program by itself, and the test that has it."""
WITHOUT_END = ("equipoise watch", "equipoise serve")
"""These are stopped once they have said something."""
LONGEST = 600
"""Seconds: nothing takes so long on any machine."""
OWN_QUESTION = (
    '{"item_id": "q1", "question": "Who may approve a refund?", "documents": [{"doc_id": "handbook",'
    ' "text": "A refund is approved by the head of sales."}], "references": ["the head of sales"]}\n'
)


def blocks(kinds):
    """(page, lines) of each fenced block of these kinds, with lines that end in a backslash joined."""
    for page in PAGES:
        for kind, block in re.findall(r"(?ms)^```([a-z]*)[^\n]*\n(.*?)^```", page.read_text("utf-8")):
            if kind in kinds:
                yield page.name, block.replace("\\\n", " ").splitlines()


def commands():
    """(page, command) of every line of the shell blocks, each command once."""
    seen = set()
    for page, lines in blocks(("sh",)):
        for line in lines:
            bare = re.sub(r"(^|\s)#.*", "", line).strip()
            if bare.startswith(("equipoise ", "make ", ". ", "pip ", "python ")) and bare not in seen:
                seen.add(bare)
                yield page, bare


def expected():
    """(command, output) of the console blocks, each once."""
    outputs = {}
    for _, lines in blocks(("console",)):
        for said in re.split(r"(?m)^\$ ", "\n".join(lines))[1:]:
            command, _, output = said.partition("\n")
            outputs[command, " ".join(output.split())] = None
    return list(outputs)


def examples():
    """The Python of each page, all its blocks as one program."""
    pages = {}
    for page, lines in blocks(("python",)):
        if page not in OWN_EXAMPLES:
            pages[page] = "\n".join([pages.get(page, ""), *lines])
    return pages


def runs(command):
    return not any(command.startswith(start) for start in ELSEWHERE)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The folder of programs of an environment with both wheels; what they depend on is borrowed from ours."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT, ROOT / "lab"],
        check=True,
        timeout=LONGEST,
    )
    venv.create(folder / "env", with_pip=False, symlinks=True)
    python = folder / "env" / "bin" / "python"
    subprocess.run(
        [*pip, "--python", python, "install", "--no-deps", "--no-index", *folder.glob("*.whl")],
        check=True,
        timeout=LONGEST,
    )
    ours = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    (site / "borrowed.pth").write_text("\n".join(ours) + "\n", "utf-8")
    return python.parent


@pytest.fixture(scope="module")
def reader(programs, tmp_path_factory):
    """A reader's folder, and how a command is run in it."""
    folder = tmp_path_factory.mktemp("reader")
    copytree(ROOT / "examples", folder / "examples")
    copytree(ROOT / "tests" / "fixtures", folder / "tests" / "fixtures")
    for name in ("handbook", "forum", "acme", "globex"):
        (folder / name).mkdir()
        (folder / name / "refunds.md").write_text(
            "# Refunds\n\nThe head of sales may approve a refund.\n", "utf-8"
        )
    (folder / "mine.jsonl").write_text(OWN_QUESTION, "utf-8")
    kept = {
        name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL", "TMPDIR", "COLUMNS")
    }
    environment = kept | {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder / "home")}

    def run(arguments):
        return subprocess.Popen(
            arguments,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=_ends_on_interrupt,  # noqa: PLW1509
        )

    return run


def _ends_on_interrupt():
    """What runs in the background of a shell is started without it, and hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_it_is_the_wheel(reader):
    said, _ = reader(["python", "-c", "import equipoise; print(equipoise.__file__)"]).communicate(
        timeout=LONGEST
    )
    assert "site-packages" in said
    assert not Path(said.strip()).is_relative_to(ROOT)


@pytest.mark.long
def test_every_command_runs_in_its_order(reader):
    for page, command in commands():
        if not runs(command):
            continue
        process = reader(shlex.split(command.replace("--port 8080", "--port 0")))
        if command.startswith(WITHOUT_END):
            said = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=LONGEST)
            assert said.strip(), f"{page}: {command}"
            assert process.returncode in (0, 130), f"{page}: {command}"
            continue
        said, _ = process.communicate(timeout=LONGEST)
        assert process.returncode == 0, f"{page}: {command}\n{said}"


def test_the_output_is_the_one_shown(reader):
    for command, shown in expected():
        process = reader(shlex.split(command))
        output, _ = process.communicate(timeout=LONGEST)
        assert process.returncode == 0, output
        assert shown in " ".join(output.split())


def test_the_python_of_the_pages_runs(reader):
    said = {}
    for page, code in examples().items():
        process = reader(["python", "-c", code])
        said[page], _ = process.communicate(timeout=LONGEST)
        assert process.returncode == 0, f"{page}: {said[page]}"
    assert said["README.md"].strip().endswith("False")
    assert "limits.docx" in said["quick-start.md"]


def test_what_is_run_elsewhere_has_its_test_there():
    there = {page.name for page in PAGES}
    assert [test for page, test in OWN_EXAMPLES.items() if page in there and not (ROOT / test).exists()] == []


def test_nothing_is_left_out_that_is_not_there():
    """A reason of ELSEWHERE whose command no page has any more goes."""
    lines = [command for _, command in commands()]
    assert [start for start in ELSEWHERE if not any(line.startswith(start) for line in lines)] == []
