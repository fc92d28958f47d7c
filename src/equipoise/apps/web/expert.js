// What explains a result to an expert: what the filter took out, and the very message that the summarizer received.

import { html } from "./vendor/preact.js";
import { Plot } from "./plot.js";
import { brief, place } from "./words.js";

function Flag({ one, open }) {
  return html`<li>
    <p class="warn">${one.reason}</p>
    <button class="quote" onClick=${() => open(one)}>
      <span class="words">${brief(one.text)}</span>
      <span class="place">${place(one)}</span>
    </button>
  </li>`;
}

export function TakenOut({ result, open }) {
  const flagged = result.flagged ?? [];
  const candidates = result.candidates ?? [];
  if (!flagged.length && !candidates.length) return null;
  return html`<details class="card" open=${flagged.length > 0}>
    <summary>What the filter took out (${flagged.length})</summary>
    ${flagged.length
      ? html`<ul class="quotes plain">${flagged.map((one) => html`<${Flag} key=${one.passage_id} one=${one} open=${open} />`)}</ul>`
      : html`<p>Nothing.</p>`}
    ${candidates.length > 1 ? html`<${Plot} candidates=${candidates} />` : null}
  </details>`;
}

export function Saw({ question, result }) {
  if (!result.summarizer_saw) return null; // a conversation of before does not keep it
  const all = JSON.stringify(result.summarizer_saw);
  return html`<details class="card">
    <summary>What the summarizer saw</summary>
    ${result.summarizer_saw.length
      ? html`<p>
            The model that wrote the answer received this and nothing else.
            ${all.includes(JSON.stringify(question).slice(1, -1)) ? "" : " Your question is not in it."}
          </p>
          ${result.summarizer_saw.map((one) => one.messages.map((said) => html`<p><strong>${said.role}</strong></p><pre>${said.content}</pre>`))}`
      : html`<p>No model was asked to write: what you read stands in the documents.</p>`}
  </details>`;
}
