"""What outlives a question in the process, by name: nothing of it may be keyed by what somebody asked.

A cache that a question fills tells by time, to whoever asks next, what was asked before: a reader's scores once did,
14 ms instead of 400. What is kept here is keyed by documents, by the program's own constants, or by who asks.
"""

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "equipoise"
READERS_OF_FILES = "corpus/loaders/"
"""These run in processes of their own, one for each file, and never see a question."""
DECORATORS = {"cache", "lru_cache", "cached_property"}
EMPTY = {"dict", "OrderedDict", "defaultdict", "WeakKeyDictionary", "WeakValueDictionary"}
ALLOWED = {
    "apps/server/fair_queue.py _queues": "keys of the server, while they wait",
    "apps/server/logs.py _kept": "messages of the log, before their values",
    "apps/server/logs.py _last": "messages of the log, before their values",
    "apps/server/pages.py _kept": "places in documents",
    "corpus/converting.py _offline": "nothing",
    "corpus/fulltext.py _read": "terms of one question, in a scope that ends with it",
    "corpus/schema.py _our_objects": "nothing",
    "corpus/sources/browser.py _kept": "addresses of scripts and styles, in one run of a source",
    "corpus/partition.py _kept": "names of what is read of all documents that a filter means, until the store changes",
    "integrations/parts.py dimensions": "an object",
    "integrations/parts.py _parts": "whether calls block",
    "maths/grid.py _masks": "a grid of numbers, in certify",
    "models/encoder.py english_words": "nothing",
    "models/encoder.py tokenizer_of": "a folder of weights and a number of tokens",
    "models/mpnet.py _held": "names of weights",
    "models/openai.py _clients": "event loops",
    "models/openai.py _roles": "roles of a model",
    "models/replay.py _claims": "requests; a server takes no replies from a file (apps/server/service.py)",
    "models/transport.py _authorities": "nothing",
    "prompts/__init__.py _templates": "names of prompts and packages",
    "rag/calls.py kept": "who asks, and what their calls choose, filters included",
    "rag/highlighters/abstention.py calibrations": "names of models",
    "rag/highlighters/evidence.py calibration": "nothing",
    "rag/highlighters/indexed.py reply_schema": "a number that is set",
    "rag/highlighters/sentence.py calibration": "names of encoders",
    "rag/quotable.py _numbers": "texts of documents, in certify",
    "rag/summarizers/llm.py reply_schema": "a number that is set",
    "rag/coordinated.py _known": "places of one question's candidates, in an object that ends with it",
    "rag/coordinated.py shipped_author_model": "nothing",
    "text/small_talk.py _phrases": "nothing",
    "text/support.py stems_of": "lists of common words",
    "text/support.py common_words": "nothing",
}
"""File and name, and what the entries are keyed by."""
WITHOUT_QUESTIONS = ("audit/", "testing/")
"""Rooms that no question of a user reaches."""


def kept(tree):
    """Names of functions whose results are kept, and of attributes that begin as an empty mapping."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = {
                ast.unparse(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list
            }
            if {name.rpartition(".")[2] for name in named} & DECORATORS:
                yield node.name
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_empty(node.value):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Attribute):
                yield target.attr
        if isinstance(node, ast.ClassDef | ast.Module):
            yield from (made.target.id for made in node.body if fills(made))


def fills(node):
    """Whether it is a field of a class, or a name of a module, that begins as an empty mapping."""
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name) or node.value is None:
        return False
    value = node.value
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        return any(
            word.arg == "default_factory" and ast.unparse(word.value) in EMPTY - {"dict"}
            for word in value.keywords
        )
    return is_empty(value)


def is_empty(value):
    if isinstance(value, ast.Dict):
        return not value.keys
    return (
        isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in EMPTY and not value.args
    )


def test_every_cache_is_named_with_what_it_is_keyed_by():
    found = {
        f"{name} {what}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not (name := path.relative_to(SOURCE).as_posix()).startswith(
            (READERS_OF_FILES, *WITHOUT_QUESTIONS)
        )
        for what in kept(ast.parse(path.read_text("utf-8")))
    }
    assert found == set(ALLOWED)


def test_a_cache_that_a_question_fills_is_seen():
    code = """
from functools import lru_cache
class Reader:
    last: "OrderedDict[str, float]" = field(default_factory=OrderedDict)
    def __init__(self):
        self._known: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._vectors = {}
@lru_cache(maxsize=1024)
def clauses(text): ...
"""
    assert set(kept(ast.parse(code))) == {"last", "_known", "_vectors", "clauses"}
