"""Benchmarks and examples, which no type checker reads, use only what the packages have."""

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from equipoise.core.errors import MissingExtra

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("equipoise", "equipoise_lab")
FOLDERS = ("benchmarks", "scripts", "examples")
EXTRAS = ("torch", "transformers", "haystack", "langchain_core", "llama_index", "mcp", "faiss")
"""What a module may need that is not installed here."""


def scripts():
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def imported(tree):
    """(line, module, name, local name) of everything that is imported from the packages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            for alias in node.names:
                yield node.lineno, node.module, alias.name, alias.asname or alias.name


def value(module, name):
    """What a module has under a name, a module below it included; None where there is nothing."""
    try:
        owner = import_module(module)
    except MissingExtra as error:
        pytest.skip(str(error))
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in EXTRAS:
            pytest.skip(f"needs {error.name}")
        return None
    if hasattr(owner, name):
        return getattr(owner, name)
    try:
        return import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return None


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_it_uses_of_the_package_is_there(path):
    tree = ast.parse(path.read_text("utf-8"))
    modules, missing = {}, []
    for line, module, name, local in imported(tree):
        owner = value(module, name)
        if owner is None:
            missing.append(f"line {line}: {module} has no {name}")
        elif isinstance(owner, ModuleType):
            modules[local] = owner
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            module = modules[node.value.id]
            if not hasattr(module, node.attr):
                missing.append(f"line {node.lineno}: {module.__name__} has no {node.attr}")
    assert not missing, "; ".join(missing)
