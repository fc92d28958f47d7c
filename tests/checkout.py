"""The programs of a checkout, of `benchmarks/` and `scripts/`, as modules."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def program(place):
    """The module of a file such as "benchmarks/qa/run.py", which finds those beside it as when it is run."""
    file = ROOT / place
    spec = importlib.util.spec_from_file_location("program_" + file.with_suffix("").as_posix(), file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(file.parent), str(file.parents[1]), *sys.path])
        spec.loader.exec_module(module)
    return module
