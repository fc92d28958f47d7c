"""ONNX Runtime keeps no device id and no events to send."""

import os
import re
import subprocess
import sys
from pathlib import Path

import equipoise

MAKE = "import equipoise.models.{}; from equipoise.models import encoder; encoder.EmbeddedEncoder().encode(['a'])"


def test_loading_the_models_writes_nothing_for_telemetry(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    for module in ("crossencoder", "bge", "encoder"):
        home = tmp_path / module
        home.mkdir()
        own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
        subprocess.run(
            [sys.executable, "-c", MAKE.format(module)], env=environment | own, check=True, cwd=home
        )
        ours = home / "cache" / "equipoise" / "verified"
        assert [path for path in home.rglob("*") if path.is_file() and path.parent != ours] == []


def test_one_module_alone_imports_the_runtime():
    package = Path(equipoise.__file__).parent
    imports = re.compile(r"(?m)^\s*(import|from) onnxruntime\b")
    importing = [path.name for path in package.rglob("*.py") if imports.search(path.read_text("utf-8"))]
    assert importing == ["sessions.py"]
