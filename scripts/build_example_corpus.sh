#!/usr/bin/env bash
# Makes examples/sqlite/ from SQLite's documentation (public domain; Debian package sqlite3-doc):
# some pages as they are, others turned into the other formats that `equipoise index` reads.
# Needs: sqlite3-doc, pandoc, chromium (to print PDF), python3.
set -euo pipefail
from=${1:-/usr/share/doc/sqlite3}
to=$(cd "$(dirname "$0")/.." && pwd)/examples/sqlite
mkdir -p "$to"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bare() { # the page without the site's menu and table of contents
  python3 - "$from/$1.html" > "$work/$1.html" <<'PY'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
page = re.sub(r'<div class=nosearch>.*?(?=<div class="?fancy"?>)', "", page, flags=re.S)
page = re.sub(r'<div class=nosearch>.*?(?=<h1|<h2|<p>)', "", page, flags=re.S)
page = re.sub(r"<script.*?</script>", "", page, flags=re.S)
page = re.sub(r'<div class="?fancy_toc"?>.*?(?=<h1|<h2)', "", page, flags=re.S)
title = re.search(r"<title>(.*?)</title>", page, re.S).group(1)
if title not in re.sub(r".*?</head>", "", page, flags=re.S):
    page = page.replace("<body>", f"<body><h1>{title}</h1>")
sys.stdout.write(page)
PY
}

for name in about whentouse serverless; do cp "$from/$name.html" "$to/$name.html"; done
for name in faq autoinc howtocorrupt limits wal isolation; do bare "$name"; done
for name in faq autoinc; do
  pandoc -f html-native_divs-native_spans -t gfm-raw_html --wrap=auto "$work/$name.html" -o "$to/$name.md"
done
pandoc -f html-native_divs-native_spans -t plain --wrap=auto --columns=90 "$work/howtocorrupt.html" -o "$to/howtocorrupt.txt"
pandoc -f html-native_divs-native_spans -t docx "$work/limits.html" -o "$to/limits.docx"
for name in wal isolation; do
  chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$work/chromium" --no-pdf-header-footer \
    --print-to-pdf="$to/$name.pdf" "file://$work/$name.html" 2>/dev/null
done
python3 - "$from/chronology.html" "$to/releases.csv" <<'PY'
import csv, html, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.S)
cells = [[html.unescape(re.sub(r"<[^>]+>", "", c)).strip() for c in re.findall(r"<t[dh][^>]*>(.*?)(?=<t[dh]|$)", r, re.S)] for r in rows]
with open(sys.argv[2], "w", encoding="utf-8", newline="") as out:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["date", "version"])
    for row in cells:
        row = [c for c in row if c]
        if len(row) >= 2 and re.fullmatch(r"\d{4}-\d\d-\d\d", row[0]):
            writer.writerow([row[0], row[-1]])
PY
