// A document opened at a quote: the page of a PDF as a picture with the quote marked, else its text. Text is text:
// whatever a document holds, nothing of it is ever run.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { call, getJson } from "./api.js";
import { TRUSTS } from "./words.js";

const AROUND = 2000;

async function slice(docId, start, end) {
  return getJson(`/v1/documents/${docId}/text?start=${Math.max(0, start)}&end=${end}`);
}

async function loaded(quote) {
  const about = await getJson(`/v1/documents/${quote.doc_id}`);
  const around = await slice(quote.doc_id, quote.start - AROUND, quote.end + AROUND);
  const inside = await slice(quote.doc_id, quote.start, quote.end);
  return { about, around, page: about.pictures ? inside.page : null };
}

// Offsets are code points; strings here are UTF-16.
function cut(around, quote) {
  const letters = Array.from(around.text);
  const start = quote.start - around.start;
  const end = quote.end - around.start;
  return [letters.slice(0, start), letters.slice(start, end), letters.slice(end)].map((part) => part.join(""));
}

function Page({ quote, about, number, failed }) {
  const [shown, setShown] = useState(null);
  useEffect(() => {
    let address = null;
    let gone = false;
    setShown(null);
    const range = `start=${quote.start}&end=${quote.end}`;
    call("GET", `/v1/documents/${quote.doc_id}/pages/${number}.png?${range}`)
      .then(async (response) => {
        address = URL.createObjectURL(await response.blob());
        if (!gone) setShown({ address, marks: response.headers.get("X-Marks") ?? "" });
      })
      .catch((error) => failed(error.message));
    return () => {
      gone = true;
      if (address) URL.revokeObjectURL(address);
    };
  }, [quote, number]);
  if (!shown) return html`<p>Loading the page…</p>`;
  const toMark = (event) => {
    const top = Number.parseFloat(shown.marks.split(",")[1] ?? "0") || 0;
    const body = event.target.closest(".body");
    body.scrollTop = event.target.offsetTop - body.offsetTop + top * event.target.clientHeight - body.clientHeight / 3;
  };
  const marked = shown.marks ? "the quote marked" : "the quote is not on it";
  return html`<img src=${shown.address} alt=${`Page ${number} of ${about.source}, ${marked}`} data-marks=${shown.marks} onLoad=${toMark} />`;
}

function Text({ around, quote }) {
  const [before, words, after] = cut(around, quote);
  const mark = useRef(null);
  useEffect(() => mark.current?.scrollIntoView({ block: "center" }), [quote]);
  return html`<pre class="text" tabindex="0" aria-label="Text of the document">${before}<mark ref=${mark}>${words}</mark>${after}</pre>`;
}

// Where there is a picture of the page, the text waits behind a line.
function Around({ found, quote }) {
  const [wanted, setWanted] = useState(false);
  if (!found.page) return html`<${Text} around=${found.around} quote=${quote} />`;
  return html`<details onToggle=${(event) => setWanted(event.target.open)}>
    <summary>The same place as text</summary>
    ${wanted ? html`<${Text} around=${found.around} quote=${quote} />` : null}
  </details>`;
}

export function Reader({ quote, close }) {
  const dialog = useRef(null);
  const [found, setFound] = useState(null);
  const [number, setNumber] = useState(null);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    dialog.current.showModal();
    loaded(quote)
      .then((one) => {
        setFound(one);
        setNumber(one.page);
      })
      .catch((error) => setFailure(error.message));
  }, [quote]);
  const about = found?.about;
  const turn = (step) => () => setNumber(Math.min(Math.max(number + step, 1), about.pages));
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="reader-title">
    <div class="row apart">
      <h2 id="reader-title">${about ? (about.trust === "trusted" && about.title) || about.source : "Document"}</h2>
      <button onClick=${() => dialog.current.close()}>Close</button>
    </div>
    ${about ? html`<p class=${about.trust === "trusted" ? "quiet" : "warn"}>${about.source} · ${TRUSTS[about.trust]}</p>` : null}
    ${failure ? html`<p class="bad" role="alert">${failure}</p>` : null}
    ${number
      ? html`<div class="row">
          <button onClick=${turn(-1)} disabled=${number <= 1}>Previous page</button>
          <span>Page ${number} of ${about.pages}</span>
          <button onClick=${turn(1)} disabled=${number >= about.pages}>Next page</button>
        </div>`
      : null}
    <div class="body" tabindex="0" role="region" aria-label="Document">
      ${number ? html`<${Page} quote=${quote} about=${about} number=${number} failed=${setFailure} />` : null}
      ${found ? html`<${Around} found=${found} quote=${quote} />` : failure ? null : html`<p>Loading…</p>`}
    </div>
  </dialog>`;
}
