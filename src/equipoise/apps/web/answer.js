// One result: the answer with its quotes, or the refusal with its reason.

import { html, useState } from "./vendor/preact.js";
import { Cited, Words } from "./cited.js";
import { Saw, TakenOut } from "./expert.js";
import { Feedback } from "./feedback.js";
import { fromOthers, Others } from "./others.js";
import { brief, inOrder, may, NO_QUESTION, notice, parts, place, plain, refusal, t } from "./words.js";

const COPIED_MS = 2000;

// What was chosen of a quote, without what stands around it.
const picked = (one) => parts(one).filter(([, chosen], _, all) => chosen || all.length === 1).map(([words]) => words).join(" … ") || one.text;

export function Quote({ number, one, open, small }) {
  return html`<li>
    <button class=${small ? "quote small" : "quote"} disabled=${!may().read} onClick=${() => open(one)}>
      ${number ? html`<span class="number">[${number}]</span>` : null}
      <span class="words">${number && !small ? html`<${Words} one=${one} />` : brief(small ? picked(one) : one.text)}</span>
      <span class="place">${place(one)}</span>
    </button>
  </li>`;
}

const isWritten = (result) => {
  const quotes = inOrder(result).map((one) => one.text).join(" ");
  return Boolean(result.answer) && plain(result.answer) !== plain(quotes);
};

export function Quotes({ result, open }) {
  if (fromOthers(result)) return html`<${Others} others=${result.others} open=${open} />`;
  const quotes = inOrder(result);
  if (!quotes.length) return null;
  const small = isWritten(result);
  return html`${small ? html`<h3>${t("quotes")}</h3>` : null}
    <ol class="quotes">
      ${quotes.map((one, row) => html`<${Quote} key=${one.doc_id + one.start} number=${row + 1} one=${one} small=${small} open=${open} />`)}
    </ol>`;
}

function Refused({ result, open }) {
  const nearest = result.nearest ?? [];
  const expert = may().expert;
  return html`<p class="answer">${refusal(result)}</p>
    ${expert && result.failure ? html`<p class="bad">${result.failure}</p>` : null}
    ${nearest.length && result.reason !== NO_QUESTION
      ? html`<h3>${t("nearest")}</h3>
          <ul class="quotes plain">${nearest.map((one) => html`<${Quote} key=${one.passage_id} one=${one} open=${open} />`)}</ul>`
      : null}`;
}

function Said({ result, open }) {
  if (!isWritten(result)) return null;
  const pieces = result.cited ?? [{ text: result.answer, quotes: [] }];
  return html`<${Cited} pieces=${pieces} quotes=${inOrder(result)} open=${open} />`;
}

function Part({ question, result, open }) {
  const expert = may().expert;
  return html`
    ${question ? html`<h3>${question}</h3>` : null}
    ${result.read_as ? html`<p class="quiet">${t("read_with", { question: result.read_as })}</p>` : null}
    ${(result.spelling ?? []).map(([typed, meant]) => html`<p class="quiet">${t("spelling", { typed, meant })}</p>`)}
    ${result.notice ? html`<p class="warn">${notice(result)}</p>` : null}
    ${result.weak ? html`<p class="warn">${t("weak")}</p>` : null}
    ${expert && result.grounded === false ? html`<p class="warn">${t("ungrounded")}</p>` : null}
    ${result.refused ? html`<${Refused} result=${result} open=${open} />` : fromOthers(result) ? null : html`<${Said} result=${result} open=${open} />`}
    <${Quotes} result=${result} open=${open} />
    ${result.others && !fromOthers(result) ? html`<${Others} others=${result.others} open=${open} />` : null}`;
}

// What is copied: the words, and where they stand.
function asText(result) {
  return [result.answer, ...inOrder(result).map((one, row) => `[${row + 1}] ${place(one)}`)].join("\n");
}

function Copy({ result }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(asText(result));
    setDone(true);
    setTimeout(() => setDone(false), COPIED_MS);
  };
  return html`<button class="quiet small" onClick=${copy}>${done ? t("copied") : t("copy")}</button>`;
}

export function Result({ question, result, open, askOthers }) {
  const several = result.sub_answers ?? [];
  const ended = several.length ? several : [result];
  const unheard = ended.some((one) => !one.refused) && ended.every((one) => !one.others);
  return html`
    ${several.length
      ? several.map((one) => html`<${Part} key=${one.question} question=${one.question} result=${one} open=${open} />`)
      : html`<${Part} result=${result} open=${open} />`}
    <div class="row actions">
      ${result.refused ? null : html`<${Copy} result=${result} />`}
      ${unheard && askOthers ? html`<button class="quiet small" onClick=${askOthers}>${t("ask_others")}</button>` : null}
      ${may().feedback && result.id && result.reason !== NO_QUESTION ? html`<${Feedback} key=${result.id} id=${result.id} />` : null}
    </div>
    ${may().expert ? html`<${TakenOut} result=${result} open=${open} /><${Saw} question=${question} result=${result} />` : null}`;
}
