// What whoever asked thinks of an answer: a thumb, and a comment.

import { html, useState } from "./vendor/preact.js";
import { call } from "./api.js";
import { failure, t } from "./words.js";

const Thumb = ({ down }) => html`<svg class=${down ? "down" : ""} viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" aria-hidden="true">
  <path d="M7 11v9H4v-9zM7 11l4-8c1.5 0 2.5 1 2.5 2.5V9H19a2 2 0 0 1 2 2.3l-1.2 7A2 2 0 0 1 17.8 20H7" />
</svg>`;

export function Feedback({ id }) {
  const [rating, setRating] = useState("");
  const [comment, setComment] = useState("");
  const [done, setDone] = useState("");
  const send = (wanted, words) =>
    call("POST", "/v1/feedback", { json: { id, rating: wanted, comment: words } })
      .then(() => setDone(words || wanted === "none" ? t("feedback_thanks") : ""))
      .catch((error) => {
        setRating(rating);
        setDone(failure(error));
      });
  const rate = (name) => {
    const wanted = rating === name ? "none" : name;
    setRating(wanted);
    send(wanted, wanted === "none" ? "" : comment.trim());
  };
  const submit = (event) => {
    event.preventDefault();
    send(rating, comment.trim());
  };
  const thumb = (name, said) => html`<button class="quiet small" aria-pressed=${rating === name} aria-label=${said} title=${said}
    onClick=${() => rate(name)}><${Thumb} down=${name === "down"} /></button>`;
  return html`<span class="thumbs">${thumb("up", t("feedback_up"))}${thumb("down", t("feedback_down"))}</span>
    ${["up", "down"].includes(rating) && !done
      ? html`<form class="row feedback" onSubmit=${submit}>
          <input type="text" maxlength="1000" aria-label=${t("feedback_comment")} placeholder=${t("feedback_comment")} value=${comment}
            onInput=${(event) => setComment(event.target.value)} />
          <button class="small" disabled=${!comment.trim()}>${t("feedback_send")}</button>
        </form>`
      : null}
    <span class="quiet fine" aria-live="polite">${done}</span>`;
}
