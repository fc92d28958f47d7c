"""No regular expression of ours backtracks: each one is found in the source, and attacked."""

import ast
import importlib
import re
from collections import defaultdict
from pathlib import Path

import pytest

from patterns import weakness

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (ROOT / "src", ROOT / "lab" / "src")
MODULES = {
    path.relative_to(source).as_posix(): path for source in SOURCES for path in sorted(source.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}
USES = {"match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"}

MADE_IN_FUNCTIONS = {
    "equipoise/corpus/loaders/markdown.py": 1,
    "equipoise_lab/redteam/rules.py": 1,
    "equipoise_lab/text/calls.py": 2,
}
"""Patterns put together from arguments: tests/hostile_text.py and hostile_files.py have texts for them."""


def calls_of_re(tree):
    """(call, name of the function in `re`) of each call of the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            base = node.func.value
            if isinstance(base, ast.Name) and base.id == "re":
                yield node, node.func.attr


def same(tree):
    """(name, other name) where a loop goes over the other, or a call of this module passes it."""
    parameters = {
        node.name: [argument.arg for argument in node.args.args]
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name):
            yield ast.unparse(node.target), node.iter.id
        elif isinstance(node, ast.Call):
            names = parameters.get(ast.unparse(node.func), [])
            yield from ((name, ast.unparse(value)) for name, value in zip(names, node.args, strict=False))


def uses():
    """(module, variable, method) of every use of a method of a pattern, under each name the variable goes by."""
    for module, tree in TREES.items():
        names = defaultdict(list)
        for alias, name in same(tree):
            names[alias].append(name)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in USES:
                base = ast.unparse(node.value).split("[")[0].split(".")[-1]
                yield from ((module, variable, node.attr) for variable in (base, *names[base]))


EVERY_USE = set(uses())


def methods(name):
    """How each variable of a module is used, by its name; a public one also in other modules."""
    used = defaultdict(set)
    for module, variable, method in EVERY_USE:
        if module == name or not variable.startswith("_"):
            used[variable].add(method)
    return used


def patterns():
    """(place, pattern, method) of every pattern in a module's variables, and of every literal in a function."""
    seen = set()
    for name, tree in TREES.items():
        if not any(isinstance(node, ast.Name) and node.id == "re" for node in ast.walk(tree)):
            continue
        module = importlib.import_module(name.removesuffix(".py").replace("/", "."))
        used = methods(name)
        for variable, value in vars(module).items():
            for pattern in value if isinstance(value, tuple) else [value]:
                if isinstance(pattern, re.Pattern) and pattern not in seen:
                    seen.add(pattern)
                    for method in sorted(used[variable] or {"search"}):
                        yield f"{name}::{variable}", pattern, method
        for call, method in calls_of_re(tree):
            first = call.args[0]
            if method != "compile" and isinstance(first, ast.Constant):
                yield f"{name}::{method}({first.value!r})", re.compile(first.value), method


FOUND = list(patterns())


@pytest.mark.parametrize(
    ("place", "pattern", "method"), FOUND, ids=[f"{place} {method}" for place, _, method in FOUND]
)
def test_no_pattern_backtracks(place, pattern, method):
    said = weakness(pattern, method)
    assert said is None, f"{place}: {said}"


def test_every_pattern_is_seen():
    """Each `re.compile` outside a function is among FOUND; those inside are counted one by one."""
    assert len({place for place, _, _ in FOUND}) > 40
    made = defaultdict(int)
    for name, tree in TREES.items():
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        inside = {id(call) for function in functions for call, _ in calls_of_re(function)}
        for call, method in calls_of_re(tree):
            literal = call.args and isinstance(call.args[0], ast.Constant)
            if method != "escape" and id(call) in inside and (method == "compile" or not literal):
                made[name] += 1
    assert made == MADE_IN_FUNCTIONS


BACKTRACKING = [
    (r"(?:a+)+$", "match"),
    (r"\A\s*```[A-Za-z]*[ \t]*\n(.*?)\n?[ \t]*```\s*\Z", "match"),
    *(
        pytest.param(pattern, method, marks=pytest.mark.nightly)
        for pattern, method in (
            (r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$", "match"),  # cubic: a Markdown heading and 2,000 spaces
            (r"([^\W\d_]+)[-\u00ad\u2010]$", "search"),  # a word of 20,000 letters
            (r"""[\s"'.,;:!?)\]*]+\Z""", "search"),
            (r"""\?[?!]*(?:["'”’»)\]]+(?!\s+[a-z]))?(?=\s|\Z)""", "search"),
            (r"\s+(?=[,.;:!?)])", "sub"),
            (r"\bit (?:takes?|costs?)\b.*\bto\b", "sub"),
            (r"(?:^|[:;,.]\s+)(?:is|are)\b[^?]*\?*$", "search"),
            (r"(?:page\s*)?[-–]?\s*\d{1,4}", "fullmatch"),
            (r"(a|b)*c|(?:a|b)*d", "search"),
            (r"(?:\w|\w\w)+!", "match"),
        )
    ),
]
"""One exponential, one quadratic; the others take seconds each."""


@pytest.mark.parametrize(("pattern", "method"), BACKTRACKING)
def test_patterns_that_backtrack_are_caught(pattern, method):
    assert weakness(re.compile(pattern), method, rounds=2) is not None


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(?<!\s)\s+(?=[,.;:!?)])", "sub"),
        (r"\s*+\|", "match"),
        (r"[^|]*\S \| [^|]* \| ", "match"),
        (r"(?:a++)++$", "match"),
        (r"\bit takes\b.{0,600}\bto\b", "sub"),
    ],
)
def test_patterns_that_do_not_are_let_through(pattern, method):
    assert weakness(re.compile(pattern), method) is None
