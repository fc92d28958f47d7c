"""docs/public.md: as few commands as it says, settings that can be read, and limits that are the defaults."""

import re
from importlib import resources
from pathlib import Path

from command_tree import commands_in, root
from equipoise.apps.server.appearance import PACKAGE
from equipoise.core import settings
from equipoise.core.settings import PublicSettings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "public.md"
TEXT = PAGE.read_text("utf-8")
MOST = 8
"""Commands from an empty folder."""


def blocks(kind):
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```", TEXT)


def test_it_takes_at_most_eight_commands():
    lines = [line for block in (*blocks("sh"), blocks("text")[0]) for line in block.splitlines() if line]
    assert len(lines) == MOST and lines[-1].startswith("caddy ")
    options = {option for line in lines for option in re.findall(r" (--[a-z]+)", line) if "serve" in line}
    known = {name for param in commands_in(root())["serve"].params for name in param.opts}
    assert options and options <= known


def test_its_settings_can_be_read(tmp_path):
    [example] = blocks("toml")
    own = tmp_path / "own.toml"
    own.write_text(example)
    read = settings.load(folder=tmp_path, environment={}, own_file=own).settings
    assert read.public.origins == ("https://www.example.org",) and read.public.proxies == ("127.0.0.1/32",)
    assert read.page.name == "Harbour Books" and len(read.page.examples) == 2


def test_its_limits_are_the_defaults():
    for name, said in re.findall(r"`public\.(\w+)`, ([\d,]+)", TEXT):
        assert int(said.replace(",", "")) == getattr(PublicSettings(), name), name


def test_the_widget_is_as_small_as_it_says():
    [kilobytes] = re.findall(r"`widget\.js` \((\d+) KB\)", TEXT)
    size = len(resources.files(PACKAGE).joinpath("widget.js").read_bytes())
    assert size <= int(kilobytes) * 1024 + 1024


def test_every_key_exists():
    sections = "|".join(settings.Settings.model_fields)
    assert set(re.findall(rf"`((?:{sections})\.[a-z_]+)`", TEXT)) <= set(settings.keys())
