// Text with the numbers of its quotes: pointing at a number shows the quote, a click opens it in its document.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { may, parts, place, t } from "./words.js";

const STAYS_MS = 200; // so that the pointer can reach the quote
const EDGE = 8;

// A quote, what was chosen of it in bold where more is shown.
export function Words({ one }) {
  const all = parts(one);
  return all.map(([words, bold]) => (bold && all.length > 1 ? html`<b>${words}</b>` : words));
}

function Tip({ one, at, stay, leave }) {
  const box = useRef(null);
  useEffect(() => {
    const { width, height } = box.current.getBoundingClientRect();
    const left = Math.max(EDGE, Math.min(at.left, window.innerWidth - width - EDGE));
    const below = at.bottom + EDGE + height < window.innerHeight;
    box.current.style.left = `${left}px`;
    box.current.style.top = `${below ? at.bottom + 4 : Math.max(EDGE, at.top - height - 4)}px`;
  }, [one, at]);
  return html`<span class="tip" role="tooltip" id="tip" ref=${box} onMouseEnter=${stay} onMouseLeave=${leave}>
    <span class="words"><${Words} one=${one} /></span>
    <span class="place">${place(one)}</span>
  </span>`;
}

// `pieces`: [{ text, quotes: numbers from 1 }] of an answer whose quotes are `quotes`.
export function Cited({ pieces, quotes, open }) {
  const [shown, setShown] = useState(null);
  const timer = useRef(0);
  const stay = () => clearTimeout(timer.current);
  const leave = () => {
    stay();
    timer.current = setTimeout(() => setShown(null), STAYS_MS);
  };
  const show = (id, one) => (event) => {
    stay();
    setShown({ id, one, at: event.currentTarget.getBoundingClientRect() });
  };
  useEffect(() => {
    if (!shown) return undefined;
    const hide = (event) => (event.type !== "keydown" || event.key === "Escape") && setShown(null);
    for (const name of ["keydown", "scroll"]) window.addEventListener(name, hide, true);
    return () => ["keydown", "scroll"].forEach((name) => window.removeEventListener(name, hide, true));
  }, [shown]);
  useEffect(() => stay, []);
  const press = (id, one) => (event) => {
    const touched = window.matchMedia("(hover: none)").matches;
    if (!may().read || (touched && shown?.id !== id)) show(id, one)(event);
    else {
      setShown(null);
      open(one);
    }
  };
  const chip = (id, number) => {
    const one = quotes[number - 1];
    return html`<button class="cite" aria-label=${t("quote_at", { n: number, place: place(one) })}
      aria-describedby=${shown?.id === id ? "tip" : undefined}
      onPointerEnter=${(event) => event.pointerType === "mouse" && show(id, one)(event)} onMouseLeave=${leave}
      onFocus=${(event) => event.currentTarget.matches(":focus-visible") && show(id, one)(event)} onBlur=${leave}
      onClick=${press(id, one)}>${number}</button>`;
  };
  return html`<p class="answer">
    ${pieces.map((piece, row) => {
      const [, words, space] = /^([^]*?)(\s*)$/.exec(piece.text);
      return html`${words}${piece.quotes.filter((number) => quotes[number - 1]).map((number) => chip(`${row}-${number}`, number))}${space}`;
    })}
    ${shown ? html`<${Tip} ...${shown} stay=${stay} leave=${leave} />` : null}
  </p>`;
}
