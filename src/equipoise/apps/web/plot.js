// Where the candidates of a question stand: relevance against polarization, and which were taken out.

import { html } from "./vendor/preact.js";
import { shownSource } from "./words.js";

const WIDTH = 520;
const HEIGHT = 300;
const EDGE = 45;

function scale(values, low, high) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const span = most - least || 1;
  return (value) => low + ((value - least) / span) * (high - low);
}

function Point({ one, x, y }) {
  const said = html`<title>${`${shownSource(one.source)}: ${one.text}`}</title>`;
  if (one.reason) {
    return html`<path class="out" d=${`M${x - 6} ${y - 6}L${x + 6} ${y + 6}M${x + 6} ${y - 6}L${x - 6} ${y + 6}`}>${said}</path>`;
  }
  return html`<circle class=${one.kept ? "kept" : "other"} cx=${x} cy=${y} r="6">${said}</circle>`;
}

export function Plot({ candidates }) {
  const across = scale(candidates.map((one) => one.relevance), EDGE, WIDTH - 15);
  const down = scale(candidates.map((one) => one.polarization), HEIGHT - EDGE, 15);
  const out = candidates.filter((one) => one.reason).length;
  const label = `${candidates.length} candidates by relevance and polarization; ${out} were taken out.`;
  return html`
    <figure>
      <svg class="plot" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${label}>
        <path class="axis" fill="none" d=${`M${EDGE} 10V${HEIGHT - EDGE + 15}H${WIDTH - 5}`} />
        <text x=${WIDTH / 2} y=${HEIGHT - 8} text-anchor="middle">relevance to the question</text>
        <text x="14" y=${HEIGHT / 2} text-anchor="middle" transform=${`rotate(-90 14 ${HEIGHT / 2})`}>polarization</text>
        ${candidates.map((one) => html`<${Point} one=${one} x=${across(one.relevance)} y=${down(one.polarization)} />`)}
      </svg>
      <figcaption class="quiet">● read  ○ not read  ✕ taken out</figcaption>
    </figure>
    <details>
      <summary>The same as a table</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Candidates">
        <table>
          <thead><tr><th>source</th><th>relevance</th><th>polarization</th><th>what became of it</th></tr></thead>
          <tbody>
            ${candidates.map((one) => html`<tr>
              <td>${shownSource(one.source)}</td><td>${one.relevance.toFixed(2)}</td><td>${one.polarization.toFixed(2)}</td>
              <td>${one.reason ?? (one.kept ? "read" : "not read")}</td>
            </tr>`)}
          </tbody>
        </table>
      </div>
    </details>`;
}
