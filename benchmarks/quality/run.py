"""Quality of the pipelines on squad2: one line per (run, question) in first.jsonl, a table in first.md.

    python benchmarks/quality/run.py [--data ../shared/data] [--only NAME] [--table]

Resumes: a line that is there is not asked again. The questions come from articles nothing was fitted on
(benchmarks/splits.py).
"""

import argparse
import json
import re
import string
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from table import table

from equipoise.apps.render import as_json
from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.types import Answer, Document, Refusal
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.rag.parts import Parts

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from splits import Question, balanced, squad2  # noqa: E402


def main() -> None:
    """Run what is missing, then write the table."""
    arguments = _arguments()
    out = HERE / "first.jsonl"
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()] if out.exists() else []
    done = {(row["run"], row["question_id"]) for row in rows}
    runs = tomllib.loads((HERE / "config.toml").read_text("utf-8"))["runs"]
    if not arguments.table:
        questions = squad2(arguments.data, fit=False)
        with out.open("a", encoding="utf-8") as lines:
            for name, run in runs.items():
                if arguments.only in (None, name):
                    wanted = balanced(questions, run["questions"])
                    todo = [q for q in wanted if (name, q.question_id) not in done]
                    for row in measure(name, run, todo):
                        rows.append(row)
                        print(json.dumps(row, ensure_ascii=False), file=lines, flush=True)
    (HERE / "first.md").write_text(table(rows, list(runs)), "utf-8")


def measure(name: str, run: dict, questions: list[Question]) -> Iterator[dict]:
    """One row per question, asked through the real pipeline over a store that holds its paragraph."""
    flags = {
        "model.llm": run["llm"],
        "highlight.name": run.get("highlighter"),
        "summarize.name": run.get("summarizer"),
    }
    settings = layers.load(flags, environment={}).settings
    encoder, chat = EmbeddedEncoder(), build.chat_model(settings.model)
    encoder.encode(["warm up"])
    for number, question in enumerate(questions, 1):
        with paragraph_store(question, encoder) as store:
            pipeline = build.pipeline(run.get("pipeline", "hs"), Parts(settings, store, encoder, chat))
            begin = time.perf_counter()
            result = sync.run(pipeline.ask(question.question))
            seconds = time.perf_counter() - begin
        print(f"{name} {number}/{len(questions)} {seconds:.1f}s", file=sys.stderr)
        yield {"run": name, **outcome(question, result), "seconds": round(seconds, 4)}


@contextmanager
def paragraph_store(question: Question, encoder: EmbeddedEncoder) -> Iterator[Store]:
    """A store with one document: the question's paragraph under its article's title."""
    text = question.paragraph
    document = Document("paragraph", text, question.doc_id, question.title)
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "index.db", create=True) as store:
        store.bind_encoder(encoder)
        store.add_documents(prepare([document], encoder))
        yield store


def outcome(question: Question, result: Answer | Refusal) -> dict:
    """What is measured of one result; `evidence_hit` and `answer_hit` only where there is a gold answer.

    Offsets and counts only: the texts are the data's, and stay there.
    """
    shown = as_json(result)
    spans = [(item.start, item.end) for item in result.highlights.items]
    hit = any(start < end_ and start_ < end for start, end in spans for start_, end_, _ in question.gold)
    answer = normal(shown["answer"] or "")
    named = any(normal(text) in answer for _, _, text in question.gold)
    return {
        "question_id": question.question_id,
        "doc_id": question.doc_id,
        "answerable": question.answerable,
        "declined": shown["refused"] and shown["reason"] != "model failed",
        "reason": shown["reason"],
        "evidence_hit": hit if question.answerable else None,
        "answer_hit": named if question.answerable else None,
        "grounded": shown["grounded"],
        "answered": shown["answer"] is not None,
        "highlights": spans,
        "tokens": shown["tokens"],
    }


def normal(text: str) -> str:
    """SQuAD's normalisation: lower case, without punctuation, articles and repeated space."""
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    default = HERE.parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--only", help="one run of config.toml")
    parser.add_argument("--table", action="store_true", help="only write the table again")
    return parser.parse_args()


if __name__ == "__main__":
    main()
