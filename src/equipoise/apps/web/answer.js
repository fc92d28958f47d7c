// One result: the answer with its quotes, or the refusal with its reason, and everything that explains it.

import { html } from "./vendor/preact.js";
import { fromOthers, Others } from "./others.js";
import { Plot } from "./plot.js";
import { brief, chosen, inOrder, NO_QUESTION, parts, place, plain } from "./words.js";

// A quote, what was chosen of it in bold where more is shown.
export function Words({ one }) {
  const all = parts(one);
  return all.map(([words, bold]) => (bold && all.length > 1 ? html`<b>${words}</b>` : words));
}

export function Quote({ number, one, open }) {
  return html`<li>
    <button class="quote" onClick=${() => open(chosen(one))}>
      ${number ? html`<span class="number">[${number}]</span>` : null}
      <span class="words">${number ? html`<${Words} one=${one} />` : brief(one.text)}</span>
      <span class="place">${place(one)}</span>
    </button>
  </li>`;
}

export function Quotes({ result, open, start = 1 }) {
  if (fromOthers(result)) return html`<${Others} others=${result.others} open=${open} />`;
  const quotes = inOrder(result);
  if (!quotes.length) return null;
  return html`<h3>Quotes</h3>
    <ol class="quotes">
      ${quotes.map((one, row) => html`<${Quote} key=${one.doc_id + one.start} number=${row + start} one=${one} open=${open} />`)}
    </ol>`;
}

function Said({ result }) {
  const quotes = inOrder(result).map((one) => one.text).join(" ");
  if (!result.answer || plain(result.answer) === plain(quotes)) return null;
  return html`<p class="answer">${result.answer}</p>`;
}

function Refused({ result, open }) {
  const nearest = result.nearest ?? [];
  return html`${result.reason === NO_QUESTION ? null : html`<p class="answer">No answer.</p>`}
    <p>${result.detail}</p>
    ${result.failure ? html`<p class="bad">${result.failure}</p>` : null}
    ${nearest.length
      ? html`<h3>Nearest passages, to look for yourself</h3>
          <ul class="quotes plain">${nearest.map((one) => html`<${Quote} key=${one.passage_id} one=${one} open=${open} />`)}</ul>`
      : null}`;
}

export function Part({ question, result, open }) {
  return html`
    ${question ? html`<h3>${question}</h3>` : null}
    ${result.read_as ? html`<p class="quiet">Read together with an earlier question: ${result.read_as}</p>` : null}
    ${(result.spelling ?? []).map(([typed, meant]) => html`<p class="quiet">“${typed}” is read as “${meant}”.</p>`)}
    ${result.notice ? html`<p class="warn">${result.notice}</p>` : null}
    ${result.weak ? html`<p class="warn">Weak evidence: this may not be what was asked.</p>` : null}
    ${result.grounded === false
      ? html`<p class="warn">The written answer did not say what the quotes say: the quotes are the answer.</p>`
      : null}
    ${result.refused ? html`<${Refused} result=${result} open=${open} />` : fromOthers(result) ? null : html`<${Said} result=${result} />`}
    <${Quotes} result=${result} open=${open} />
    ${result.others && !fromOthers(result) ? html`<${Others} others=${result.others} open=${open} />` : null}`;
}

function TakenOut({ result, open }) {
  const flagged = result.flagged ?? [];
  const candidates = result.candidates ?? [];
  if (!flagged.length && !candidates.length) return null;
  return html`<details class="card" open=${flagged.length > 0}>
    <summary>What the filter took out (${flagged.length})</summary>
    ${flagged.length
      ? html`<ul class="quotes plain">
          ${flagged.map((one) => html`<li key=${one.passage_id}>
            <p class="warn">${one.reason}</p>
            <ul class="quotes plain"><${Quote} one=${one} open=${open} /></ul>
          </li>`)}
        </ul>`
      : html`<p>Nothing.</p>`}
    ${candidates.length > 1 ? html`<${Plot} candidates=${candidates} />` : null}
  </details>`;
}

function Saw({ question, result }) {
  const requests = result.summarizer_saw ?? [];
  const all = JSON.stringify(requests);
  return html`<details class="card">
    <summary>What the summarizer saw</summary>
    ${requests.length
      ? html`<p>
            The model that wrote the answer received this and nothing else.
            ${all.includes(JSON.stringify(question).slice(1, -1)) ? "" : " Your question is not in it."}
          </p>
          ${requests.map((one) => one.messages.map((said) => html`<p><strong>${said.role}</strong></p><pre>${said.content}</pre>`))}`
      : html`<p>No model was asked to write: what you read stands in the documents.</p>`}
  </details>`;
}

export function Result({ question, result, open, askOthers }) {
  const parts = result.sub_answers ?? [];
  const ended = parts.length ? parts : [result];
  const unheard = ended.some((one) => !one.refused) && ended.every((one) => !one.others);
  return html`
    ${parts.length
      ? parts.map((one) => html`<${Part} key=${one.question} question=${one.question} result=${one} open=${open} />`)
      : html`<${Part} result=${result} open=${open} />`}
    ${unheard && askOthers ? html`<button onClick=${askOthers}>What do others say?</button>` : null}
    <${TakenOut} result=${result} open=${open} />
    <${Saw} question=${question} result=${result} />`;
}
