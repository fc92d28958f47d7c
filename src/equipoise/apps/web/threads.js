// Conversations, in this browser and nowhere else, and the list of them.

import { html, useState } from "./vendor/preact.js";
import { kept, tell, wish } from "./api.js";
import { t } from "./words.js";

const NAME = "equipoise-threads";
const MOST = 100;
const DROPPED = ["passages", "flagged", "candidates", "summarizer_saw", "timings", "models"]; // long, and for experts at once
const RECALL_MS = 500;
let here = []; // where the browser keeps nothing

const isKept = () => kept("localStorage", (storage) => storage.length >= 0) === true;

function read(text) {
  try {
    const found = JSON.parse(text || "[]");
    return Array.isArray(found) ? found.filter((one) => Array.isArray(one?.turns)) : [];
  } catch {
    return [];
  }
}

// A thread: { id, at, turns: [{ id, question, result }] }; the newest first.
export const load = () => (isKept() ? read(kept("localStorage", (storage) => storage.getItem(NAME))) : here);

// What the page around a frame has kept for it.
export async function recall() {
  if (!isKept()) here = read(await wish("recall", "recalled", RECALL_MS));
  return load();
}

function save(all) {
  here = all.slice(0, MOST);
  if (!isKept()) {
    tell("remember", JSON.stringify(here));
    return here;
  }
  for (let most = here.length; most >= 0; most = Math.floor(most / 2) || most - 1) {
    const written = kept("localStorage", (storage) => storage.setItem(NAME, JSON.stringify(here.slice(0, most))) ?? true);
    if (written) break; // else there is no room: the older half goes
  }
  return load();
}

const short = (result) => Object.fromEntries(Object.entries(result).filter(([name]) => !DROPPED.includes(name)));

export function put(thread) {
  const turns = thread.turns.filter((one) => one.result).map((one) => ({ ...one, result: short(one.result) }));
  return save([{ ...thread, turns, at: Date.now() }, ...load().filter((one) => one.id !== thread.id)]);
}

export const remove = (id) => save(load().filter((one) => one.id !== id));
export const clear = () => save([]);
export const fresh = () => ({ id: `${Date.now()}-${Math.random().toString(36).slice(2)}`, at: Date.now(), turns: [] });
export const title = (thread) => thread.turns[0]?.question ?? "";

function has(thread, words) {
  const text = thread.turns.map((one) => `${one.question} ${one.result?.answer ?? ""}`).join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

export function Threads({ threads, current, choose, begin, changed, foot }) {
  const [wanted, setWanted] = useState("");
  const [sure, setSure] = useState(false);
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = threads.filter((one) => has(one, words));
  const empty = () => {
    if (sure) changed(clear());
    setSure(!sure);
  };
  return html`
    <button class="main wide" onClick=${begin}>${t("new_thread")}</button>
    ${threads.length
      ? html`<input type="search" aria-label=${t("search_threads")} placeholder=${t("search_threads")} value=${wanted}
          onInput=${(event) => setWanted(event.target.value)} />
        <ul class="plain threads">
          ${found.map((one) => html`<li key=${one.id} class="row">
            <button class="thread" aria-current=${one.id === current ? "true" : undefined} onClick=${() => choose(one)}>${title(one)}</button>
            <button class="small" aria-label=${t("delete_thread", { title: title(one) })} onClick=${() => changed(remove(one.id))}>×</button>
          </li>`)}
        </ul>
        <p class="unseen" role="status">${words.length && !found.length ? t("no_thread_found") : ""}</p>
        ${found.length ? null : html`<p class="quiet" aria-hidden="true">${t("no_thread_found")}</p>`}
        <button onClick=${empty}>${sure ? t("delete_sure") : t("delete_all")}</button>`
      : null}
    <div class="foot"><p class="quiet fine">${t("threads_here")}</p>${foot}</div>`;
}
