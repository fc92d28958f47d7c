// Everything that goes to the server, which is the only host this page ever asks.

const KEY = "equipoise-key";
const WAIT_MS = 120_000; // for a test that a person is to pass

// A browser may keep storage from a page that is shown in another one.
export function kept(storage, work) {
  try {
    return work(window[storage]);
  } catch {
    return null;
  }
}

let key = kept("sessionStorage", (storage) => storage.getItem(KEY)) ?? "";
export const getKey = () => key;
export function setKey(wanted) {
  key = wanted;
  kept("sessionStorage", (storage) => (key ? storage.setItem(KEY, key) : storage.removeItem(KEY)));
}

// An error with the sentence of the server and its code, and in how many seconds to try again.
export class Failure extends Error {
  constructor(message, { code = "failed", status = 0, seconds = 5 } = {}) {
    super(message);
    Object.assign(this, { code, status, seconds });
  }
}

const headers = (more = {}) => (getKey() ? { Authorization: `Bearer ${getKey()}`, ...more } : more);

async function refused(response) {
  const { message, code } = await response.json().then((body) => body.error).catch(() => ({}));
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "5", 10);
  const said = message ?? `The server answered with ${response.status}.`;
  return new Failure(said, { code: code ?? "failed", status: response.status, seconds });
}

export async function call(method, address, { json, body, accept, signal, more = {} } = {}) {
  const sending = { ...more };
  if (json !== undefined) sending["Content-Type"] = "application/json";
  if (body !== undefined) sending["Content-Type"] = "application/octet-stream";
  if (accept) sending.Accept = accept;
  let response;
  try {
    const sent = json === undefined ? body : JSON.stringify(json);
    response = await fetch(address, { method, headers: headers(sending), body: sent, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("The server cannot be reached. Is it still running?", { code: "unreachable" });
  }
  if (!response.ok) throw await refused(response);
  return response;
}

export const getJson = async (address) => (await call("GET", address)).json();

// A file for whoever asked for it, which a browser keeps and never shows here.
export async function save(response, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const isFramed = window.parent !== window;
// The page around this one is one of the operator's: no other may show it (frame-ancestors).
export const tell = (what, text = "") => isFramed && window.parent.postMessage({ equipoise: what, text }, "*");

// What the page around this one answers; nothing where there is none, or it does not answer in time.
export function wish(what, answer, patience) {
  if (!isFramed) return Promise.resolve("");
  return new Promise((resolve) => {
    const heard = (event) => {
      if (event.source !== window.parent || event.data?.equipoise !== answer) return;
      window.removeEventListener("message", heard);
      resolve(String(event.data.text ?? ""));
    };
    window.addEventListener("message", heard);
    setTimeout(() => resolve(""), patience);
    tell(what);
  });
}

// The events of a question, as they come.
export async function* ask(question, before, others, { signal, challenge, expert }) {
  const json = { question, before, others, candidates: expert };
  const more = challenge ? { "X-Challenge": await wish("challenge", "token", WAIT_MS) } : {};
  const response = await call("POST", "/v1/ask", { json, accept: "text/event-stream", signal, more });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Failure("The connection to the server broke off.", { code: "broken" });
    }
    text += piece.value ?? "";
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const event = parsed(block);
      if (event) yield event;
    }
    if (piece.done) return;
  }
}

function parsed(block) {
  let name = "";
  let data = null;
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    if (line.startsWith("data: ")) data = JSON.parse(line.slice(6));
  }
  return data === null ? null : { name, data };
}
