// The page: conversations, and for admins the documents.

import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { getJson, getKey, isFramed, setKey, tell } from "./api.js";
import { Chat } from "./chat.js";
import { Documents } from "./documents.js";
import { Operation } from "./operation.js";
import { Reader } from "./reader.js";
import * as threads from "./threads.js";
import { failure, speak, t } from "./words.js";

function KeyForm({ needed, saved }) {
  const input = useRef(null);
  const save = (event) => {
    event.preventDefault();
    setKey(input.current.value.trim());
    saved();
  };
  return html`<form class="card" onSubmit=${save}>
    ${needed ? html`<p class="warn" role="alert">${needed}</p>` : null}
    <label for="key">${t("key_label")}</label>
    <div class="row">
      <input id="key" type="password" autocomplete="off" ref=${input} value=${getKey()} />
      <button class="main">${t("key_use")}</button>
    </div>
  </form>`;
}

function fromAddress() {
  const wanted = new URLSearchParams(location.search);
  const numbers = (name) => wanted.getAll(name).map((value) => Number.parseInt(value, 10) || 0);
  const [starts, ends] = [numbers("start"), numbers("end")];
  const docId = wanted.get("doc") ?? "";
  if (!/^[0-9a-f]{16}$/.test(docId)) return null;
  const spans = starts.map((start, row) => [start, ends[row] ?? start]);
  return { doc_id: docId, start: starts[0] ?? 0, end: ends[0] ?? 0, spans };
}

// The operator's colours; a page without inline styles sets them one by one.
function paint(page) {
  const root = document.documentElement;
  root.lang = page.language;
  root.classList.toggle("framed", isFramed);
  document.title = page.name;
  for (const [scheme, colours] of Object.entries(page.colours)) {
    for (const [name, value] of Object.entries(colours)) root.style.setProperty(`--${name}-${scheme}`, value);
  }
  if (page.scheme !== "auto") root.style.colorScheme = page.scheme;
}

async function learnt() {
  const language = new URLSearchParams(location.search).get("language") ?? "";
  const page = await getJson(`/v1/page?language=${encodeURIComponent(language)}`);
  speak(page);
  paint(page);
  return page;
}

// A frame closes with Escape, and where it gets the focus the question's field does.
function framed() {
  const type = (event) => event.key === "Escape" && !event.defaultPrevented && !document.querySelector("dialog[open], #tip") && tell("close");
  const focus = () => document.activeElement === document.body && document.getElementById("question")?.focus();
  if (!isFramed) return undefined;
  window.addEventListener("keydown", type);
  window.addEventListener("focus", focus);
  return () => {
    window.removeEventListener("keydown", type);
    window.removeEventListener("focus", focus);
  };
}

function App() {
  const [page, setPage] = useState(null);
  const [place, setPlace] = useState("chat");
  const [needed, setNeeded] = useState("");
  const [asks, setAsks] = useState(false);
  const [quote, setQuote] = useState(null);
  const [all, setAll] = useState(threads.load());
  const [thread, setThread] = useState(threads.fresh());
  const [listed, setListed] = useState(false);
  const shown = useRef(thread.id);
  shown.current = thread.id;
  const look = async () => {
    setNeeded("");
    try {
      const found = await learnt();
      setPage(found);
      const link = fromAddress();
      setAsks(!found.may.ask && !(link && found.may.read));
      setNeeded(found.may.ask ? "" : t("key_needed"));
      setQuote(link);
    } catch (error) {
      setAsks(error.status === 401 || Boolean(getKey()));
      setNeeded(failure(error));
      if (error.status === 401 && !page) {
        setKey(""); // without it the page at least has its words
        await look();
        setNeeded(failure(error));
        setAsks(true);
      }
    }
  };
  useEffect(() => {
    threads.recall().then(setAll);
    look();
  }, []);
  useEffect(framed, []);
  const changed = (one) => {
    setAll(one.turns.some((turn) => turn.result) ? threads.put(one) : threads.load());
    if (one.id === shown.current) setThread(one);
  };
  const choose = (one) => {
    setThread(one);
    setPlace("chat");
    setListed(false);
  };
  const forget = (left) => {
    setAll(left);
    if (thread.turns.length && !left.some((one) => one.id === thread.id)) setThread(threads.fresh());
  };
  if (!page) {
    return html`<main><h1 class="unseen">equipoise</h1>${needed ? html`<p class="bad" role="alert">${needed}</p>` : null}
      ${asks ? html`<${KeyForm} needed="" saved=${look} />` : null}</main>`;
  }
  const { manage, ask } = page.may;
  const tab = (name, words) => html`<button aria-current=${place === name ? "page" : undefined} onClick=${() => setPlace(name)}>${words}</button>`;
  const chats = place === "chat" || !manage;
  const toKey = () => {
    setAsks(!asks);
    setListed(false);
  };
  const foot = isFramed ? null : html`<button class="quiet small" onClick=${toKey} aria-expanded=${asks}>${t("key")}</button>`;
  return html`<div class="frame">
    <a class="skip" href="#main">${t("to_content")}</a>
    <header>
      ${ask && chats ? html`<button class="menu" aria-label=${t("threads")} aria-expanded=${listed} aria-controls="threads" onClick=${() => setListed(!listed)}>
            <svg viewBox="0 0 24 24" width="22" height="22" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" aria-hidden="true"><path d="M4 7h16M4 12h16M4 17h16" /></svg>
          </button>` : null}
      ${page.logo ? html`<img class="logo" src=${page.logo} alt="" />` : null}
      <h1>${page.name}</h1>
      ${manage ? html`<nav aria-label=${t("parts")}>${tab("chat", t("chat"))} ${tab("documents", t("documents"))} ${tab("operation", t("operation"))}</nav>` : null}
    </header>
    <div class=${listed ? "body listed" : "body"}>
      ${ask && chats
        ? html`<aside id="threads" aria-label=${t("threads")}>
            <${threads.Threads} threads=${all} current=${thread.id} choose=${choose} begin=${() => choose(threads.fresh())} changed=${forget} foot=${foot} />
          </aside>`
        : null}
      <main id="main" tabindex="-1">
        ${asks ? html`<${KeyForm} needed=${needed} saved=${look} />` : needed ? html`<p class="bad" role="alert">${needed}</p>` : null}
        ${chats ? null : place === "documents" ? html`<${Documents} show=${(one) => setQuote({ doc_id: one.doc_id, start: 0, end: 0, asRead: true })} />` : html`<${Operation} />`}
        ${ask ? html`<div class="holder" hidden=${!chats}>
          <${Chat} page=${page} thread=${thread} changed=${changed} open=${setQuote} needKey=${() => setAsks(true)} />
        </div>` : null}
      </main>
    </div>
    ${quote ? html`<${Reader} quote=${quote} originals=${page.may.originals} close=${() => setQuote(null)} />` : null}
  </div>`;
}

render(html`<${App} />`, document.getElementById("app"));
