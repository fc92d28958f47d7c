// What untrusted documents say: apart from every answer, each quote with its source and the word untrusted.

import { html } from "./vendor/preact.js";
import { may, place, shownSource, support, t } from "./words.js";

function Words({ one, open }) {
  return html`<button class="quote" disabled=${!may().read} onClick=${() => open(one)}>
    <span class="words">“${one.text}”</span>
    <span class="place">${place(one)}</span>
  </button>`;
}

function Statement({ one, open }) {
  return html`<div class="statement">
    ${one.highlights.map((quote) => html`<${Words} key=${quote.doc_id + quote.start} one=${quote} open=${open} />`)}
    ${one.impersonates ? html`<p class="bad">${t("not_it", { name: shownSource(one.impersonates) })}</p>` : null}
  </div>`;
}

function Claim({ claim, open }) {
  const shown = claim.side ? claim.statements : claim.statements.slice(0, 1);
  return html`<li class="claim">
    ${claim.side ? html`<h4>${t(`side_${claim.side}`)}</h4>` : null}
    ${shown.map((one) => html`<${Statement} key=${one.author} one=${one} open=${open} />`)}
    <p class="quiet">${support(claim)}</p>
  </li>`;
}

export function Others({ others, open }) {
  return html`<section class="others" aria-label=${t("others")}>
    ${others.silent ? html`<p><strong>${t("others_silent")}</strong></p>` : null}
    <h3>${t("others_title")}</h3>
    ${others.contested ? html`<p class="warn">${t("others_contested")}</p>` : null}
    ${others.claims.length
      ? html`<ul class=${others.contested ? "plain sides" : "plain"}>
          ${others.claims.map((one, row) => html`<${Claim} key=${row} claim=${one} open=${open} />`)}
        </ul>`
      : html`<p>${t("others_nothing")}</p>`}
  </section>`;
}

// Whether what untrusted documents say is all there is.
export const fromOthers = (result) => result.trust === "untrusted" && Boolean(result.others);
