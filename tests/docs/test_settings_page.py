"""docs/settings.md says what is there: keys, commands, variables, and which keys need consent."""

import re
from pathlib import Path

import pytest

from command_tree import commands_in, root
from equipoise.apps import guard
from equipoise.core import guarded, settings, tomlfile

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
KEYS = settings.keys()
ELSEWHERE = "/elsewhere"


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text("utf-8")


def test_every_key_exists(text):
    sections = "|".join(settings.Settings.model_fields)
    named = re.findall(rf"`((?:{sections})\.[a-z_]+)`", text)
    assert named
    assert set(named) <= set(KEYS)


def test_the_table_of_consent_is_the_rule(text, tmp_path):
    table = text.split("| key | free without consent |")[1].split("\n\n")[0]
    free = {}
    for line in table.splitlines()[2:]:
        keys, values = line.strip("|").split("|")
        free |= dict.fromkeys(re.findall(r"`([^`]+)`", keys), re.findall(r"`([^`]+)`", values))
    fields = {key: settings._field(key) for key in KEYS}
    assert set(free) == {k for k in KEYS if guarded.needs_consent(fields[k], ELSEWHERE, tmp_path)}
    for key, values in free.items():
        assert not any(guarded.needs_consent(fields[key], value, tmp_path) for value in values), key


def test_every_command_exists(text):
    for block in re.findall(r"(?ms)^```sh\n(.*?)^```", text):
        for line in block.splitlines():
            command = root()
            for word in line.split("#")[0].split()[1:]:
                command = commands_in(command)[word]


def test_every_variable_exists(text):
    known = {settings.PREFIX + key.replace(".", "_").upper() for key in KEYS} | {guard.DEBUG}
    assert set(re.findall(r"`(EQUIPOISE_[A-Z_]+)", text)) <= known


def test_the_example_can_be_read(text, tmp_path):
    [example] = re.findall(r"(?ms)^```toml\n(.*?)^```", text)
    (tmp_path / settings.FILE_NAME).write_text(example)
    assert settings.load(folder=tmp_path, environment={}).settings.retrieval.k == 8


def test_numbers_are_those_of_the_code(text):
    assert f"{tomlfile.MAX_BYTES // 1024} KB" in text
    for code in (guard.BAD_INPUT, guard.FAILED, guard.INTERRUPTED):
        assert re.search(rf"\b{code} \w+", text)
