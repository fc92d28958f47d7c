// For admins: what the index holds, who may have written it, and handing more in.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { call, getJson } from "./api.js";
import { t, TRUSTS } from "./words.js";

const POLL_MS = 500;
const AT_ONCE = 1000; // rows that are fetched
const SHOWN = 100; // rows that are drawn

function Job({ job }) {
  const held = job.state === "done" && job.trust === "held";
  const words = job.error ? job.error.message : held ? "held back; its findings say why" : job.state;
  return html`<li class=${job.error ? "bad" : held ? "warn" : ""}>
    ${job.name}: ${words}${" "}
    ${job.state === "running" ? html`<progress aria-label=${`Progress of ${job.name}`} max=${job.total || 1} value=${job.done} />` : null}
  </li>`;
}

function Upload({ changed, fail }) {
  const [jobs, setJobs] = useState([]);
  const [trust, setTrust] = useState("trusted");
  const [over, setOver] = useState(false);
  const input = useRef(null);
  const timer = useRef(0);
  const watch = async () => {
    try {
      const found = (await getJson("/v1/jobs?limit=20")).data;
      setJobs(found);
      if (found.some((one) => ["waiting", "running"].includes(one.state))) timer.current = setTimeout(watch, POLL_MS);
      else changed();
    } catch (error) {
      fail(error.message);
    }
  };
  useEffect(() => {
    watch();
    return () => clearTimeout(timer.current);
  }, []);
  const send = async (event, files = input.current.files) => {
    event.preventDefault();
    setOver(false);
    fail("");
    for (const file of [...files]) {
      try {
        await call("POST", `/v1/documents?name=${encodeURIComponent(file.name)}&trust=${trust}`, { body: file });
      } catch (error) {
        fail(`${file.name}: ${error.message}`);
      }
    }
    input.current.value = "";
    clearTimeout(timer.current);
    watch();
  };
  const drag = (event) => {
    event.preventDefault();
    setOver(event.type === "dragover");
  };
  return html`<form class=${over ? "card over" : "card"} onSubmit=${send} onDragOver=${drag} onDragLeave=${drag}
      onDrop=${(event) => send(event, event.dataTransfer.files)}>
      <h3>Add documents</h3>
      <p class="quiet">Choose files, or drop them here.</p>
      <label>Files <input type="file" multiple required ref=${input} /></label>
      <label>Who may have written them?${" "}
        <select value=${trust} onChange=${(event) => setTrust(event.target.value)}>
          <option value="trusted">only us (trusted)</option>
          <option value="untrusted">anybody (untrusted)</option>
        </select>
      </label>
      <button class="main">Add</button>
    </form>
    ${jobs.length
      ? html`<h3>Handed in</h3><ul aria-live="polite">${jobs.map((one) => html`<${Job} key=${one.id} job=${one} />`)}</ul>`
      : null}`;
}

function Findings({ one }) {
  const [scan, setScan] = useState(undefined);
  const look = async () => {
    try {
      setScan((await getJson(`/v1/documents/${one.doc_id}`)).scan);
    } catch (error) {
      setScan({ findings: [], total: 0, failure: error.message, not_run: [] });
    }
  };
  if (scan === undefined) return html`<button onClick=${look} aria-label=${`Findings in ${one.source}`}>findings</button>`;
  if (scan === null) return html`<span>not scanned</span>`;
  return html`<div aria-live="polite">
    ${scan.failure ? html`<p class="bad">${scan.failure}</p>` : html`<p>${scan.total} found</p>`}
    <ul>
      ${scan.findings.map(
        (found, row) => html`<li key=${row} class=${found.severity === "high" ? "bad" : ""}>
          ${found.severity}, ${found.rule}${found.page ? `, page ${found.page}` : found.line ? `, line ${found.line}` : ""}: “${found.excerpt}” ${found.why}
        </li>`,
      )}
    </ul>
    ${scan.not_run.map((said) => html`<p key=${said}>not run: ${said}</p>`)}
  </div>`;
}

const Trusts = () => TRUSTS.map((name) => html`<option key=${name} value=${name}>${t(name)}</option>`);

function Row({ one, show, change, remove }) {
  const [sure, setSure] = useState(false);
  return html`<tr>
    <td>${one.source}</td>
    <td class="wide">${one.title}</td>
    <td>
      <select class=${one.trust === "trusted" ? "" : "warn"} value=${one.trust} aria-label=${`Trust of ${one.source}`}
        onChange=${(event) => change(one, event.target.value)}><${Trusts} /></select>
    </td>
    <td class="wide">${one.passages}</td>
    <td><${Findings} one=${one} /></td>
    <td>
      <button onClick=${() => show(one)} aria-label=${`Show ${one.source} as it was read`}>show</button>${" "}
      ${sure
        ? html`<button class="bad" onClick=${() => remove(one)} aria-label=${`Really take out ${one.source}`}>really?</button>`
        : html`<button onClick=${() => setSure(true)} aria-label=${`Take out ${one.source}`}>take out</button>`}
    </td>
  </tr>`;
}

export function Documents({ show }) {
  const [rows, setRows] = useState([]);
  const [more, setMore] = useState(false);
  const [failure, setFailure] = useState("");
  const [wanted, setWanted] = useState("");
  const [most, setMost] = useState(SHOWN);
  const only = useRef("");
  const newest = useRef(0); // a list that was asked for before the newest one comes too late
  const load = async (after = "") => {
    newest.current += 1;
    const mine = newest.current;
    try {
      const [from, trust] = [after ? `&after=${after}` : "", only.current ? `&trust=${only.current}` : ""];
      const found = await getJson(`/v1/documents?limit=${AT_ONCE}${from}${trust}`);
      if (mine !== newest.current) return;
      setRows((before) => (after ? [...before, ...found.data] : found.data));
      setMore(found.has_more);
    } catch (error) {
      setFailure(error.message);
    }
  };
  useEffect(() => void load(), []);
  const choose = (event) => {
    only.current = event.target.value;
    load();
  };
  const done = (work) => work.then(() => load()).catch((error) => setFailure(error.message));
  const change = (one, trust) => done(call("PATCH", `/v1/documents/${one.doc_id}`, { json: { trust } }));
  const remove = (one) => done(call("DELETE", `/v1/documents/${one.doc_id}`));
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((one) => words.every((word) => `${one.source} ${one.title}`.toLowerCase().includes(word)));
  const further = () => {
    setMost(most + SHOWN);
    if (more && most + SHOWN > found.length) load(rows[rows.length - 1].doc_id);
  };
  return html`
    <h2>Documents</h2>
    ${failure ? html`<p class="bad" role="alert">${failure}</p>` : null}
    <${Upload} changed=${() => load()} fail=${setFailure} />
    <h3>In the index</h3>
    <div class="row">
      <label>Show${" "}
        <select onChange=${choose}>
          <option value="">all documents</option>
          <${Trusts} />
        </select>
      </label>
      <label>Search${" "}<input type="search" value=${wanted} onInput=${(event) => setWanted(event.target.value)} /></label>
      <span class="quiet" role="status">${found.length}${more ? "+" : ""} found</span>
    </div>
    <div class="scroll" tabindex="0" role="region" aria-label="Documents in the index">
      <table>
        <thead><tr><th>source</th><th class="wide">title</th><th>trust</th><th class="wide">passages</th><th>scan</th><th>change</th></tr></thead>
        <tbody>${found.slice(0, most).map((one) => html`<${Row} key=${one.doc_id} one=${one} show=${show} change=${change} remove=${remove} />`)}</tbody>
      </table>
    </div>
    ${more || found.length > most ? html`<button onClick=${further}>More</button>` : null}`;
}
