"""README.md, docs/guide.md and docs/serve.md say what is there: commands, options, settings, make targets and files."""

import re
from pathlib import Path

import pytest

from command_tree import commands_in, root
from equipoise.core import settings

ROOT = Path(__file__).resolve().parents[2]
README, GUIDE, SERVE = ROOT / "README.md", ROOT / "docs" / "guide.md", ROOT / "docs" / "serve.md"
LONGEST = 700
"""Words of README.md."""
SHELL = ("", "console", "sh", "bash", "shell")
SECTIONS = tuple(settings.Settings.model_fields)
KEYS = settings.keys()


@pytest.fixture(scope="module", params=[README, GUIDE, SERVE], ids=lambda path: path.name)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def text(path):
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def commands(text):
    """Every line of the shell blocks, without prompts and comments, and every inline `equipoise ...`."""
    blocks = re.findall(r"(?ms)^```([a-z]*)[^\n]*\n(.*?)^```", text)
    lines = [line for kind, block in blocks if kind in SHELL for line in block.splitlines()]
    bare = [re.sub(r"(^|\s)#.*", "", line).strip().removeprefix("$ ") for line in lines]
    prose = re.sub(r"(?ms)^```.*?^```", "", text)
    return [line for line in [*bare, *re.findall(r"`((?:equipoise|make) [^`\n]+)`", prose)] if line]


def command_of(words):
    """The command that `words` (after `equipoise`) names, and its name."""
    command, name = root(), "equipoise"
    for word in words:
        inner = commands_in(command)
        if word.startswith("-") or not inner:
            break
        assert word in inner, f"there is no command  {name} {word}"
        command, name = inner[word], f"{name} {word}"
    return command, name


def options_of(command):
    return {option for p in command.params for option in (*p.opts, *p.secondary_opts)} | {"--help"}


def all_options():
    def walk(command):
        yield from options_of(command)
        for inner in commands_in(command).values():
            yield from walk(inner)

    return set(walk(root()))


def outside_quotes(line):
    return re.sub(r"\"[^\"]*\"|'[^']*'", "QUOTED", line)


def make_targets():
    return set(re.findall(r"(?m)^([a-z][\w-]*):", (ROOT / "Makefile").read_text("utf-8")))


def test_it_names_commands_at_all(commands):
    assert any(line.startswith("equipoise ") for line in commands)


def test_readme_is_short():
    assert len(README.read_text("utf-8").split()) <= LONGEST


def test_every_make_target_exists(text):
    code = "\n".join(re.findall(r"(?ms)^```.*?^```|`[^`\n]+`", text))
    assert set(re.findall(r"\bmake ([a-z][\w-]*)", code)) <= make_targets()


def test_every_command_and_option_exists(commands):
    for line in commands:
        words = outside_quotes(line).split()
        if "equipoise" not in words:
            continue
        command, name = command_of(words[words.index("equipoise") + 1 :])
        given = {word.split("=")[0] for word in words if word.startswith("-")}
        assert given <= options_of(command), f"in the line {line!r}: {name} has no such option"


def test_every_option_in_the_prose_exists(text):
    prose = re.sub(r"(?ms)^```.*?^```", "", text)
    for code in re.findall(r"`([^`\n]+)`", prose):
        if code.startswith("--"):
            assert code.split()[0].split("=")[0] in all_options(), f"no command has the option {code!r}"


def test_every_path_in_inline_code_exists(text):
    """Paths into this repository's own folders; others are the reader's."""
    ours = {p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith(".")}
    for code in re.findall(r"`([\w.-]+(?:/[\w.-]+)+/?)`", text):
        if code.split("/")[0] in ours:
            assert (ROOT / code).exists(), f"there is no {code}"


def test_every_setting_exists(text):
    for key in re.findall(rf"`((?:{'|'.join(SECTIONS)})\.[a-z_]+)(?: = [^`]*)?`", text):
        assert key in KEYS, f"there is no setting {key}"


def test_every_variable_of_ours_exists(text):
    known = {settings.PREFIX + key.replace(".", "_").upper() for key in KEYS} | set(settings.NOT_SETTINGS)
    for name in re.findall(rf"`({settings.PREFIX}[A-Z_]+[A-Z])`", text):
        assert name in known, f"no setting is read from {name}"
