// A document opened at a quote, or by admins as it was read: the page of a PDF as a picture with all that was chosen marked, else the document as it
// is laid out.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { call, getJson, save } from "./api.js";
import { Paper } from "./paper.js";
import { failure, may, spans, t } from "./words.js";

const BEFORE = 4000;
const MOST = 20_000; // characters of one answer of the server

const textOf = (docId, from, to) => getJson(`/v1/documents/${docId}/text?start=${Math.max(0, from)}&end=${to}&layout=true`);

async function loaded(quote) {
  const marked = [...spans(quote)].sort((one, other) => one[0] - other[0]);
  const about = await getJson(`/v1/documents/${quote.doc_id}`);
  const around = await textOf(quote.doc_id, marked[0][0] - BEFORE, marked[0][0] - BEFORE + MOST);
  const page = about.pictures && !quote.asRead ? (await textOf(quote.doc_id, marked[0][0], marked[0][0] + 1)).page : null;
  return { about, around, page, marked, asRead: quote.asRead };
}

const range = (marked) => marked.map(([start, end]) => `start=${start}&end=${end}`).join("&");

function Page({ quote, found, number, failed }) {
  const [shown, setShown] = useState(null);
  useEffect(() => {
    let address = null;
    let gone = false;
    setShown(null);
    call("GET", `/v1/documents/${quote.doc_id}/pages/${number}.png?${range(found.marked)}`)
      .then(async (response) => {
        address = URL.createObjectURL(await response.blob());
        if (!gone) setShown({ address, marks: response.headers.get("X-Marks") ?? "" });
      })
      .catch((error) => failed(failure(error)));
    return () => {
      gone = true;
      if (address) URL.revokeObjectURL(address);
    };
  }, [quote, number]);
  if (!shown) return html`<p>${t("loading")}</p>`;
  const toMark = (event) => {
    const top = Number.parseFloat(shown.marks.split(",")[1] ?? "0") || 0;
    const body = event.target.closest(".pages");
    body.scrollTop = event.target.offsetTop - body.offsetTop + top * event.target.clientHeight - body.clientHeight / 3;
  };
  const words = t(shown.marks ? "page_marked" : "page_unmarked", { n: number, source: found.about.source });
  return html`<img src=${shown.address} alt=${words} data-marks=${shown.marks} onLoad=${toMark} />`;
}

// Where there is a picture of the page, the text waits behind a line.
function Around({ found }) {
  const [wanted, setWanted] = useState(false);
  if (!found.page) return html`<${Paper} found=${found} read=${textOf} />`;
  return html`<details onToggle=${(event) => setWanted(event.target.open)}>
    <summary>${t("as_text")}</summary>
    ${wanted ? html`<${Paper} found=${found} read=${textOf} />` : null}
  </details>`;
}

function Links({ quote, found, originals, failed }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(`${location.origin}/?doc=${quote.doc_id}&${range(found.marked)}`);
    setDone(true);
  };
  const name = found.about.source.replace(/^.*\//, "").replace(/#.*$/, "");
  const original = () =>
    call("GET", `/v1/documents/${quote.doc_id}/original`)
      .then((response) => save(response, name))
      .catch((error) => failed(failure(error)));
  return html`
    <button class="quiet small" onClick=${copy}>${done ? t("copied") : t("copy_link")}</button>
    ${originals ? html`<button class="quiet small" onClick=${original}>${t("original")}</button>` : null}`;
}

export function Reader({ quote, originals, close }) {
  const dialog = useRef(null);
  const [found, setFound] = useState(null);
  const [number, setNumber] = useState(null);
  const [broken, setBroken] = useState("");
  useEffect(() => {
    dialog.current.showModal();
    loaded(quote)
      .then((one) => {
        setFound(one);
        setNumber(one.page);
      })
      .catch((error) => setBroken(failure(error)));
  }, [quote]);
  const about = found?.about;
  const turn = (step) => () => setNumber(Math.min(Math.max(number + step, 1), about.pages));
  return html`<dialog class="reader" ref=${dialog} onClose=${close} aria-labelledby="reader-title">
    <div class="row apart">
      <h2 id="reader-title">${about ? (about.trust === "trusted" && about.title) || about.source : t("document")}</h2>
      <button onClick=${() => dialog.current.close()}>${t("close")}</button>
    </div>
    ${about ? html`<p class=${about.trust === "trusted" ? "quiet fine" : "warn"}>${about.source}${may().expert || about.trust !== "trusted" ? ` · ${t(about.trust)}` : ""}</p>` : null}
    ${broken ? html`<p class="bad" role="alert">${broken}</p>` : null}
    <div class="row">
      ${number
        ? html`<button class="small" onClick=${turn(-1)} disabled=${number <= 1}>${t("previous_page")}</button>
            <span>${t("page_of", { n: number, all: about.pages })}</span>
            <button class="small" onClick=${turn(1)} disabled=${number >= about.pages}>${t("next_page")}</button>`
        : null}
      ${found ? html`<${Links} quote=${quote} found=${found} originals=${originals} failed=${setBroken} />` : null}
    </div>
    <div class="pages" tabindex="0" role="region" aria-label=${t("document")}>
      ${number ? html`<${Page} quote=${quote} found=${found} number=${number} failed=${setBroken} />` : null}
      ${found ? html`<${Around} found=${found} />` : broken ? null : html`<p>${t("loading")}</p>`}
    </div>
  </dialog>`;
}
