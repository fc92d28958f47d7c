// The page: ask, read, and for admins the documents.

import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { Quotes, Result } from "./answer.js";
import { ask, call, getKey, setKey } from "./api.js";
import { Documents } from "./documents.js";
import * as history from "./history.js";
import { fromOthers } from "./others.js";
import { Reader } from "./reader.js";
import { NO_QUESTION, STAGES } from "./words.js";

function KeyForm({ needed, saved }) {
  const input = useRef(null);
  const save = (event) => {
    event.preventDefault();
    setKey(input.current.value.trim());
    saved();
  };
  return html`<form class="card" onSubmit=${save}>
    ${needed ? html`<p class="warn" role="alert">${needed}</p>` : null}
    <label for="key">Key (kept until this tab is closed)</label>
    <div class="row">
      <input id="key" type="password" autocomplete="off" ref=${input} value=${getKey()} />
      <button class="main">Use this key</button>
    </div>
  </form>`;
}

function Earlier({ entries, show, clear }) {
  if (!entries.length) return null;
  return html`<details>
    <summary>Earlier questions (${entries.length}, in this browser only)</summary>
    <ul>${entries.map((one) => html`<li key=${one.at}><button onClick=${() => show(one)}>${one.question}</button></li>`)}</ul>
    <button onClick=${clear}>Forget them</button>
  </details>`;
}

function sofar(stages) {
  const known = stages.filter((name) => STAGES[name]);
  return known.length ? `${STAGES[known[known.length - 1]]}…` : "searching…";
}

function Progress({ work, open }) {
  return html`<section class="card" aria-label="Answer in work">
    <p class="quiet">${sofar(work.stages)}</p>
    ${work.parts.map((one) => html`<${Quotes} key=${one.question} result=${one} open=${open} />`)}
    ${work.text && !work.parts.some(fromOthers) ? html`<p class="answer">${work.text}</p>` : null}
  </section>`;
}

const EARLIER = 20; // questions that the server takes with a new one
const EMPTY = { stages: [], parts: [], text: "" };

function ending(result) {
  if (result.refused) return result.reason === NO_QUESTION ? "" : "No answer.";
  return fromOthers(result) ? "Answered from untrusted documents." : "Answered.";
}

function next(work, { name, data }) {
  const stages = [...work.stages, name];
  if (name === "quotes") return { ...work, stages, parts: data.parts };
  if (name === "answer") return { ...work, stages, text: work.text + data.text };
  return { ...work, stages };
}

function Ask({ open, needKey }) {
  const [question, setQuestion] = useState("");
  const [work, setWork] = useState(null);
  const [found, setFound] = useState(null);
  const [failure, setFailure] = useState("");
  const [entries, setEntries] = useState(history.load());
  const earlier = useRef([]); // typed in this tab, for follow-ups
  const stop = useRef(null);
  const heading = useRef(null);
  useEffect(() => found && heading.current?.focus(), [found]);
  const begin = async (wanted, before, others) => {
    stop.current = new AbortController();
    setFailure("");
    setFound(null);
    let now = EMPTY;
    setWork(now);
    try {
      for await (const one of ask(wanted, before, others, stop.current.signal)) {
        if (one.name === "error") throw new Error(one.data.error.message);
        if (one.name === "done") {
          setFound({ question: wanted, result: one.data, before: others ? null : before });
          earlier.current = [...before, wanted].slice(-EARLIER);
          setEntries(history.add({ question: wanted, result: one.data, at: Date.now() }));
        }
        now = next(now, one);
        setWork(now);
      }
    } catch (error) {
      if (error.status === 401) needKey(error.message);
      else if (error.name !== "AbortError") setFailure(error.message);
    }
    setWork(null);
  };
  const submit = (event) => {
    event.preventDefault();
    begin(question, earlier.current, false);
  };
  const forget = () => {
    earlier.current = [];
    setEntries(history.clear());
  };
  const type = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
  };
  return html`
    <form onSubmit=${submit}>
      <label for="question"><strong>Your question</strong></label>
      <textarea id="question" required maxlength="4000" value=${question} onKeyDown=${type}
        onInput=${(event) => setQuestion(event.target.value)}></textarea>
      <div class="row">
        <button class="main" disabled=${work !== null}>Ask</button>
        ${work ? html`<button type="button" onClick=${() => stop.current.abort()}>Stop</button>` : null}
      </div>
    </form>
    <p class=${work ? "quiet" : "unseen"} role="status">${work ? sofar(work.stages) : found ? ending(found.result) : ""}</p>
    ${failure ? html`<p class="bad" role="alert">${failure}</p>` : null}
    ${work && !found ? html`<${Progress} work=${work} open=${open} />` : null}
    ${found
      ? html`<section aria-labelledby="answer-title">
          <h2 id="answer-title" tabindex="-1" ref=${heading}>${found.question}</h2>
          <${Result} ...${found} open=${open} askOthers=${found.before && (() => begin(found.question, found.before, true))} />
        </section>`
      : null}
    <${Earlier} entries=${entries} show=${setFound} clear=${forget} />`;
}

function fromAddress() {
  const wanted = new URLSearchParams(location.search);
  const [start, end] = ["start", "end"].map((name) => Number.parseInt(wanted.get(name) ?? "0", 10) || 0);
  const docId = wanted.get("doc") ?? "";
  return /^[0-9a-f]{16}$/.test(docId) ? { doc_id: docId, start, end } : null;
}

function App() {
  const [place, setPlace] = useState("ask");
  const [admin, setAdmin] = useState(false);
  const [needed, setNeeded] = useState("");
  const [asks, setAsks] = useState(false);
  const [quote, setQuote] = useState(null);
  const look = async () => {
    setNeeded("");
    try {
      await call("GET", "/v1/models");
      const documents = await call("GET", "/v1/documents?limit=1").catch((error) => error);
      setAdmin(!(documents instanceof Error));
      setAsks(false);
      setQuote(fromAddress());
    } catch (error) {
      setAdmin(false);
      setAsks(error.status === 401);
      setNeeded(error.message);
    }
  };
  useEffect(() => void look(), []);
  const needKey = (said) => {
    setNeeded(said);
    setAsks(true);
  };
  const tab = (name, words) => html`<button aria-current=${place === name ? "page" : undefined} onClick=${() => setPlace(name)}>${words}</button>`;
  return html`<div class="frame">
    <a class="skip" href="#main">To the content</a>
    <header>
      <h1>equipoise</h1>
      <nav aria-label="Parts of this page">
        ${tab("ask", "Ask")} ${admin ? tab("documents", "Documents") : null}
        <button onClick=${() => setAsks(!asks)} aria-expanded=${asks}>Key</button>
      </nav>
    </header>
    <main id="main">
      ${asks ? html`<${KeyForm} needed=${needed} saved=${look} />` : needed ? html`<p class="bad" role="alert">${needed}</p>` : null}
      ${place === "documents" && admin ? html`<${Documents} />` : null}
      <div hidden=${place === "documents" && admin}><${Ask} open=${setQuote} needKey=${needKey} /></div>
    </main>
    ${quote ? html`<${Reader} quote=${quote} close=${() => setQuote(null)} />` : null}
  </div>`;
}

render(html`<${App} />`, document.getElementById("app"));
