#!/usr/bin/env bash
# Index a few pages of SQLite's documentation and ask three questions; the last one is not answered there.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-.venv/bin}
export EQUIPOISE_STORE_PATH=.equipoise/demo.db EQUIPOISE_MODEL_LLM=${LLM:-none}
rm -f "$EQUIPOISE_STORE_PATH"*  # one of an earlier version may have another format
ask() {
  printf '\n\033[1m$ equipoise ask "%s"\033[0m\n' "$1"
  "$bin/equipoise" ask "$1"
}

printf '\033[1m$ equipoise index examples/sqlite\033[0m\n'
"$bin/equipoise" index examples/sqlite
ask "Can WAL mode be used over a network filesystem?"
ask "What is the maximum number of attached databases?"
ask "How much does a ticket for the Paris metro cost?"

if [ "${LLM:-none}" = none ]; then
  cat <<'END'

These answers are quotes, chosen without a language model. To have them written out as an answer:
  make demo-llm                                 pulls a local 1.5B model once (1.1 GB), asks the same questions
  OPENAI_API_KEY=... .venv/bin/equipoise ask    or OPENAI_BASE_URL=... for an endpoint of your own
Ask your own documents:
  .venv/bin/equipoise ask "..." --docs PATH
END
fi
