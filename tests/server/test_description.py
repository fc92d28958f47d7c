"""The OpenAPI description is true: schemathesis asks every route by it and finds no failure."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from equipoise.apps.server.keys import Scope

EXAMPLES = 5
CONFIG = Path(__file__).with_name("schemathesis.toml")


@pytest.mark.long
@pytest.mark.skipif(find_spec("schemathesis") is None, reason="pip install 'equipoise[serve-test]'")
def test_every_route_does_what_its_description_says(live, tmp_path):
    url, service = live(upload=50_000, body=50_000)
    secret = service.keys.create("admin", Scope.ADMIN)[1]
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "run", f"{url}/openapi.json",
        "--header", f"Authorization: Bearer {secret}", "--max-examples", str(EXAMPLES), "--seed", "1",
        "--generation-database", "none", "--suppress-health-check", "all", "--no-color",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
