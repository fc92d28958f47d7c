"""Every published number comes out of the published rows again: same bytes, summaries and tables alike."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

pytest.importorskip("scipy")


def script(name):
    """The module benchmarks/NAME/run.py."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location(f"published_{name}", BENCHMARKS / name / "run.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(BENCHMARKS))


def same(folder, out, *names):
    for name in names:
        assert (out / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_tool_hijack_benchmark(tmp_path):
    folder, run = BENCHMARKS / "hijack", script("hijack")
    run.publish(run.kept(folder), tmp_path)
    same(folder, tmp_path, "summary.json", "table.md")


def test_the_bias_benchmark(tmp_path):
    folder, run = BENCHMARKS / "bias", script("bias")
    run.publish(folder, tmp_path)
    same(folder, tmp_path, "summary.json", "summary-reporting.json", "summary-answers.json", "table.md")
