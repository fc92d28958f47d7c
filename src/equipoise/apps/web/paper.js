// A document as it is laid out: headings, paragraphs, lists, code and tables, all that was chosen marked. The server says
// where they stand (apps/server/layout.py), and text is text: whatever a document holds, nothing of it is ever run.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { cut, failure, t } from "./words.js";

const MOST = 20_000;
const STYLES = { strong: "strong", em: "em", code: "code" };
const DEEPEST = 6;

// The text from `start` to `end`, what is marked of it marked.
function words(slice, marked, start, end) {
  const text = slice.letters.slice(start - slice.start, end - slice.start).join("");
  const inside = marked.map(([from, to]) => [Math.max(from, start) - start, Math.min(to, end) - start]).filter(([from, to]) => from < to);
  return cut(text, inside).map(([said, chosen]) => (chosen ? html`<mark>${said}</mark>` : said));
}

const runs = (slice, marked, all) =>
  all.map(([start, end, style]) => {
    const said = words(slice, marked, start, end);
    return STYLES[style] ? html`<${STYLES[style]}>${said}<//>` : said;
  });

function Table({ node, slice, marked }) {
  const name = ([start, end]) => (start < end ? html`<th scope="col">${words(slice, marked, start, end)}</th>` : html`<td></td>`);
  const wide = Math.max(node.head.length, ...node.rows.map((cells) => cells.length));
  const row = (cells) => html`<tr>${cells.map((cell) => html`<td colspan=${cells.length < wide ? wide : undefined}>${runs(slice, marked, cell)}</td>`)}</tr>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${t("table")}>
    <table>${node.head.length ? html`<thead><tr>${node.head.map(name)}</tr></thead>` : null}<tbody>${node.rows.map(row)}</tbody></table>
  </div>`;
}

// A heading is at most one level below the one before it, which the first is the reader's own.
function drawn(slice, marked, asRead) {
  const parts = [];
  let deep = 2;
  let list = null;
  for (const node of slice.layout) {
    const said = runs(slice, marked, node.runs);
    if (node.kind === "item") {
      if (!list) parts.push((list = []));
      list.push(html`<li class=${`l${Math.min(Math.max(node.level, 1), DEEPEST)}`}>${node.bullet ? "• " : ""}${said}</li>`);
      continue;
    }
    list = null;
    if (node.kind === "heading") deep = Math.min(node.level + 2, deep + 1, DEEPEST);
    if (node.kind === "heading") parts.push(html`<${`h${deep}`}>${said}<//>`);
    else if (node.kind === "table") parts.push(html`<${Table} node=${node} slice=${slice} marked=${marked} />`);
    else if (node.kind === "code") parts.push(html`<pre>${said}</pre>`);
    else parts.push(html`<p class=${node.kind === "note" ? "quiet" : ""}>${asRead && node.kind === "note" ? `${t("never_quoted")} ` : null}${said}</p>`);
  }
  return parts.map((one) => (Array.isArray(one) ? html`<ul class="plain">${one}</ul>` : one));
}

const lettered = (slice) => ({ ...slice, letters: Array.from(slice.text) });

// `read(docId, from, to)` fetches what else there is of the text.
export function Paper({ found, read }) {
  const box = useRef(null);
  const [slices, setSlices] = useState([lettered(found.around)]);
  const [broken, setBroken] = useState("");
  const [first, last] = [slices[0], slices[slices.length - 1]];
  useEffect(() => box.current.querySelector("mark")?.scrollIntoView({ block: "center" }), []);
  const more = (from, to, put) => () =>
    read(found.about.doc_id, from, to)
      .then((slice) => setSlices(put(lettered(slice))))
      .catch((error) => setBroken(failure(error)));
  const before = more(first.start - MOST, first.start, (slice) => [slice, ...slices]);
  const after = more(last.end, last.end + MOST, (slice) => [...slices, slice]);
  return html`<div class="paper" ref=${box} role="group" aria-label=${t("text_of")}>
    ${first.start > 0 ? html`<button class="quiet small" onClick=${before}>${t("text_before")}</button>` : null}
    ${slices.map((slice) => html`<div key=${slice.start}>${drawn(slice, found.marked, found.asRead)}</div>`)}
    ${last.end < last.characters ? html`<button class="quiet small" onClick=${after}>${t("text_after")}</button>` : null}
    ${broken ? html`<p class="bad" role="alert">${broken}</p>` : null}
  </div>`;
}
