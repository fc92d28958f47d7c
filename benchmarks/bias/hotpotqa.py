"""HotpotQA for the bias benchmark: a corpus of its paragraphs, and its questions as open-ended ones by a chat model.

    python benchmarks/bias/hotpotqa.py --llm local[/NAME] [--data data] [--out .equipoise/bench-bias/hotpotqa]
        [--questions N]

Resumes question by question. The folder `hotpotqa-open-ended` in the output folder is one for `own.py --corpus`, which
writes the attack, and for `equipoise bench bias`. It holds questions and paragraphs of HotpotQA (CC BY-SA 4.0),
so it is not put beside this file; hotpotqa.json is: how many questions were rewritten, and why others were not.
"""

import json
from argparse import Namespace
from collections import Counter
from pathlib import Path

from equipoise.core import sync
from equipoise.core.errors import ModelUnavailable
from equipoise.rag import build
from equipoise_lab.bench import scripts
from equipoise_lab.bench.bias import open_ended

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Rewrite what is missing, write the corpus, and say how many there are."""
    arguments = _arguments()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    flags = {"model.llm": arguments.llm, "model.replay": str(out / "replies.db")}
    settings = scripts.settings(flags)
    chat = build.chat_model(settings.model)
    if chat is None:
        raise ModelUnavailable("rewriting needs a language model: name one with --llm")
    corpus = open_ended.read(arguments.data / "hotpotqa_distractor" / "questions.jsonl")
    found = sync.run(open_ended.rewrite(corpus, chat, out, progress=scripts.say, limit=arguments.questions))
    made = open_ended.open_ended(corpus, found)
    open_ended.write(made, out / open_ended.NAME)
    reasons = Counter(one.why.partition(":")[0] for one in found if one.rewritten is None)
    numbers = {
        "model": chat.name,
        "prompt": open_ended.PROMPT,
        "questions": len(found),
        "rewritten": len(made.queries),
        "documents": len(made.documents),
        "left_out": dict(sorted(reasons.items())),
    }
    (HERE / "hotpotqa.json").write_text(json.dumps(numbers, indent=1) + "\n", "utf-8")
    print(f"{len(made.queries)} of {len(found)} questions in {out / open_ended.NAME}")


def _arguments() -> Namespace:
    parser = scripts.parser(__file__, __doc__, "bench-bias/hotpotqa")
    parser.add_argument("--llm", required=True, help="local[/NAME], openai/NAME: who rewrites the questions")
    parser.add_argument("--questions", type=int, help="only the first so many")
    return parser.parse_args()


if __name__ == "__main__":
    main()
