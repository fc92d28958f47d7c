// The conversation: its questions and answers, the one in work, and the field for the next.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { Quotes, Result } from "./answer.js";
import { ask } from "./api.js";
import { fromOthers } from "./others.js";
import * as threads from "./threads.js";
import { failure, may, NO_QUESTION, stage, t } from "./words.js";

const EARLIER = 20; // questions that the server takes with a new one
const EMPTY = { stages: [], parts: [], text: "" };
const LINES = 8; // of the field, before it scrolls

function Welcome({ page, choose }) {
  return html`<section class="welcome">
    <h2>${page.welcome || t("welcome")}</h2>
    <p class="quiet">${t("welcome_more")}</p>
    ${page.examples.length
      ? html`<h3>${t("examples")}</h3>
          <ul class="plain examples">${page.examples.map((one) => html`<li key=${one}><button onClick=${() => choose(one)}>${one}</button></li>`)}</ul>`
      : null}
    ${page.about.length ? html`<h3>${t("about")}</h3><ul class="about">${page.about.map((one) => html`<li key=${one}>${one}</li>`)}</ul>` : null}
    ${page.contact ? html`<p class="quiet">${page.contact}</p>` : null}
  </section>`;
}

function Work({ work, open }) {
  return html`<p class="quiet waiting"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span> ${stage(work.stages)}</p>
    ${work.text && !work.parts.some(fromOthers) ? html`<p class="answer">${work.text}</p>` : null}
    ${work.parts.map((one) => html`<${Quotes} key=${one.question} result=${one} open=${open} />`)}`;
}

function Turn({ turn, place, work, open, again, askOthers }) {
  const words = html`<h2 class="bubble" id=${`q-${turn.id}`}><span class="unseen">${t("you")}: </span>${turn.question}</h2>`;
  return html`<section class="turn" ref=${place} aria-labelledby=${`q-${turn.id}`}>
    ${words}
    <div class="reply">
      ${work ? html`<${Work} work=${work} open=${open} />` : null}
      ${turn.failure ? html`<p class="bad" role="alert">${turn.failure}</p>` : null}
      ${turn.failure || turn.stopped
        ? html`<div class="row actions">
            ${turn.stopped ? html`<span class="quiet">${t("stopped")}</span>` : null}
            <button class="quiet small" onClick=${again}>${t("again")}</button>
          </div>`
        : null}
      ${turn.result ? html`<${Result} question=${turn.question} result=${turn.result} open=${open} askOthers=${askOthers} />` : null}
    </div>
  </section>`;
}

function Composer({ busy, send, stop, note, field }) {
  const [question, setQuestion] = useState("");
  useEffect(() => {
    const area = field.current;
    area.style.height = "auto";
    const line = Number.parseFloat(getComputedStyle(area).lineHeight);
    area.style.height = `${Math.min(area.scrollHeight, line * LINES) + 2}px`;
  }, [question]);
  const submit = (event) => {
    event?.preventDefault();
    if (busy || !question.trim()) return;
    send(question.trim());
    setQuestion("");
  };
  const type = (event) => {
    const plain = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (plain) submit(event);
  };
  return html`<form class="composer" onSubmit=${submit}>
    <label class="unseen" for="question">${t("question")}</label>
    <div class="field">
      <textarea id="question" ref=${field} rows="1" maxlength="4000" placeholder=${t("question")} aria-describedby="hint"
        value=${question} onKeyDown=${type} onInput=${(event) => setQuestion(event.target.value)}></textarea>
      ${busy
        ? html`<button type="button" onClick=${stop}>${t("stop")}</button>`
        : html`<button class="main" disabled=${!question.trim()}>${t("send")}</button>`}
    </div>
    <p class="unseen" id="hint">${t("send_hint")}</p>
    ${note ? html`<p class="quiet fine">${note}</p>` : null}
  </form>`;
}

function ending(turn) {
  if (!turn) return "";
  if (turn.failure) return ""; // an alert says it
  if (!turn.result) return t("stopped");
  if (turn.result.refused) return turn.result.reason === NO_QUESTION ? "" : t("refused");
  return t(fromOthers(turn.result) ? "answered_untrusted" : "answered");
}

function next(work, { name, data }) {
  const stages = [...work.stages, name];
  if (name === "quotes") return { ...work, stages, parts: data.parts };
  if (name === "answer") return { ...work, stages, text: work.text + data.text };
  return { ...work, stages };
}

// `thread` is shown; `changed` is told of every turn of it or of the one in which a question is still in work.
export function Chat({ page, thread, changed, open, needKey }) {
  const [work, setWork] = useState(null);
  const [ended, setEnded] = useState(null);
  const stop = useRef(null);
  const field = useRef(null);
  const turns = useRef(null);
  const last = useRef(null);
  const shown = work?.thread === thread.id ? work : null;
  const count = thread.turns.length;
  useEffect(() => {
    const [box, turn] = [turns.current, last.current];
    if (count && turn) box.scrollTop += turn.getBoundingClientRect().top - box.getBoundingClientRect().top;
  }, [thread.id, count, shown?.stages.length, work === null]);
  useEffect(() => field.current?.focus({ preventScroll: true }), [thread.id]);

  const run = async (into, turn, before, others) => {
    stop.current = new AbortController();
    const put = (more) => {
      const done = { ...turn, ...more };
      setEnded(done);
      changed({ ...into, turns: into.turns.map((one) => (one.id === turn.id ? done : one)) });
    };
    let now = { ...EMPTY, thread: into.id, turn: turn.id };
    setWork(now);
    changed(into);
    try {
      for await (const one of ask(turn.question, before, others, { signal: stop.current.signal, challenge: page.challenge, expert: may().expert })) {
        if (one.name === "error") throw Object.assign(new Error(one.data.error.message), one.data.error);
        if (one.name === "done") put({ result: one.data, before, others });
        now = next(now, one);
        setWork(now);
      }
    } catch (error) {
      if (error.name === "AbortError") put({ stopped: true });
      else put({ failure: failure(error) });
      if (error.status === 401) needKey();
    }
    setWork(null);
  };
  const earlier = (turns) => turns.filter((one) => one.result).map((one) => one.question).slice(-EARLIER);
  const send = (question) => {
    const turn = { id: threads.fresh().id, question };
    run({ ...thread, turns: [...thread.turns, turn] }, turn, earlier(thread.turns), false);
  };
  // The same question once more, in its place: what was asked before it stays.
  const repeat = (turn, others) => {
    const at = thread.turns.findIndex((one) => one.id === turn.id);
    const bare = { id: turn.id, question: turn.question, ...(others ? { result: turn.result } : {}) };
    const turns = thread.turns.map((one, row) => (row === at ? bare : one));
    run({ ...thread, turns }, bare, turn.before ?? earlier(thread.turns.slice(0, at)), others);
  };
  const heard = (turn) => turn.others || !page.others || work;
  return html`<div class="chat">
    <div class="turns" role="log" ref=${turns} aria-label=${t("chat")} tabindex="0">
      ${thread.turns.length ? null : html`<${Welcome} page=${page} choose=${send} />`}
      ${thread.turns.map(
        (turn, row) => html`<${Turn} key=${turn.id} place=${row === count - 1 ? last : null} turn=${turn} work=${shown?.turn === turn.id && shown} open=${open}
          again=${work ? null : () => repeat(turn, false)} askOthers=${heard(turn) ? null : () => repeat(turn, true)} />`,
      )}
    </div>
    <p class="unseen" role="status">${work ? stage(work.stages) : ending(ended)}</p>
    <${Composer} busy=${work !== null} send=${send} stop=${() => stop.current.abort()} note=${page.note} field=${field} />
  </div>`;
}
