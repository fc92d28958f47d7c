// Everything that goes to the server, which is the only host this page ever asks.

const KEY = "equipoise-key";

export const getKey = () => sessionStorage.getItem(KEY) ?? "";
export const setKey = (key) => (key ? sessionStorage.setItem(KEY, key) : sessionStorage.removeItem(KEY));

// An error with the sentence of the server, or ours where it cannot be reached.
export class Failure extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

const headers = (more = {}) => (getKey() ? { Authorization: `Bearer ${getKey()}`, ...more } : more);

async function said(response) {
  try {
    return (await response.json()).error.message;
  } catch {
    return `The server answered with ${response.status}.`;
  }
}

export async function call(method, address, { json, body, accept, signal } = {}) {
  const more = {};
  if (json !== undefined) more["Content-Type"] = "application/json";
  if (body !== undefined) more["Content-Type"] = "application/octet-stream";
  if (accept) more.Accept = accept;
  let response;
  try {
    const sent = json === undefined ? body : JSON.stringify(json);
    response = await fetch(address, { method, headers: headers(more), body: sent, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("The server cannot be reached. Is it still running?");
  }
  if (!response.ok) throw new Failure(await said(response), response.status);
  return response;
}

export const getJson = async (address) => (await call("GET", address)).json();

// The events of a question, as they come.
export async function* ask(question, before, others, signal) {
  const json = { question, before, others, candidates: true };
  const response = await call("POST", "/v1/ask", { json, accept: "text/event-stream", signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Failure("The connection to the server broke off.");
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
