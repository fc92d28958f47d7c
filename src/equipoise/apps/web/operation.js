// For admins: what was asked and not answered, what was rated down, what is asked most, and what was spent.

import { html, useEffect, useState } from "./vendor/preact.js";
import { call, getJson, save } from "./api.js";

const VIEWS = {
  unanswered: ["Without an answer", "/v1/questions?view=unanswered"],
  worst: ["Rated worst", "/v1/questions?view=worst"],
  asked: ["Asked most", "/v1/questions?view=asked"],
  spent: ["Spent", "/v1/usage?days=30"],
};
const BRIEF = 12; // of a hash

function Asked({ rows }) {
  return html`<table>
    <thead><tr><th>question</th><th>asked</th><th class="wide">not answered</th><th>up</th><th>down</th><th class="wide">last</th></tr></thead>
    <tbody>${rows.map((one) => html`<tr key=${one.question_hash}>
      <td>${one.question ?? html`<code title="serve.trace keeps texts">${one.question_hash.slice(0, BRIEF)}</code>`}
        ${one.comments.map((words, row) => html`<p key=${row} class="quiet fine">“${words}”</p>`)}</td>
      <td>${one.asked}</td><td class="wide">${one.refused}</td><td>${one.up}</td><td>${one.down}</td><td class="wide">${one.last.slice(0, 10)}</td>
    </tr>`)}</tbody>
  </table>`;
}

function Spent({ rows }) {
  return html`<table>
    <thead><tr><th>day</th><th>key</th><th>questions</th><th>tokens</th></tr></thead>
    <tbody>${rows.map((one) => html`<tr key=${one.day + one.key}><td>${one.day}</td><td>${one.name || one.key}</td><td>${one.questions}</td><td>${one.tokens}</td></tr>`)}</tbody>
  </table>`;
}

// What /readyz says: also where it is not ready, which is no error of this page.
function State() {
  const [said, setSaid] = useState(null);
  useEffect(() => {
    fetch("/readyz").then((response) => response.json()).then(setSaid, () => setSaid({ status: "not reached" }));
  }, []);
  if (!said) return null;
  const good = said.status === "ready" && !said.record;
  return html`<p class=${good ? "quiet" : "bad"} role="status">Server: ${said.status}${said.record ? `, record ${said.record}` : ""}</p>`;
}

export function Operation() {
  const [view, setView] = useState("unanswered");
  const [found, setFound] = useState(null);
  const [failed, setFailed] = useState("");
  const address = VIEWS[view][1];
  useEffect(() => {
    let gone = false;
    setFound(null);
    setFailed("");
    getJson(address).then((list) => gone || setFound({ view, rows: list.data }), (error) => gone || setFailed(error.message));
    return () => {
      gone = true;
    };
  }, [view]);
  const sheet = () =>
    call("GET", `${address}&format=csv`)
      .then((response) => save(response, `${view}.csv`))
      .catch((error) => setFailed(error.message));
  const Table = view === "spent" ? Spent : Asked;
  return html`
    <h2>Questions</h2>
    <${State} />
    ${failed ? html`<p class="bad" role="alert">${failed}</p>` : null}
    <div class="row">
      <label>Show${" "}
        <select value=${view} onChange=${(event) => setView(event.target.value)}>
          ${Object.entries(VIEWS).map(([name, [words]]) => html`<option key=${name} value=${name}>${words}</option>`)}
        </select>
      </label>
      <span class="quiet" role="status">${found ? `${found.rows.length} in 30 days` : ""}</span>
      <button class="small" onClick=${sheet}>CSV</button>
    </div>
    <div class="scroll" tabindex="0" role="region" aria-label="Questions">
      ${found?.view === view ? html`<${Table} rows=${found.rows} />` : null}
    </div>`;
}
