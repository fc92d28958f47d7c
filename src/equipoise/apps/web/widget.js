// A button that opens the chat over any page: <script src="https://bot.example.org/widget.js" async></script>
// The chat itself is the server's page in a frame, so that neither page disturbs the other.
(() => {
  const KEPT = "equipoise-threads";
  const look = __LOOK__;
  const script = document.currentScript;
  const base = new URL(script.src).origin;
  const told = script.dataset;
  if (window.equipoise) return;
  if (!look.origins.includes(location.origin)) {
    console.error(`equipoise: write ${location.origin} into the server's setting public.origins`);
    return;
  }
  const wanted = look.language === "auto" ? told.language || document.documentElement.lang || navigator.language : look.language;
  const language = look.texts[wanted.slice(0, 2).toLowerCase()] ? wanted.slice(0, 2).toLowerCase() : "en";
  const text = look.texts[language];
  const label = text.chat_of.replace("{name}", look.name);

  function colours(scheme) {
    const { accent, on } = look.colours[scheme];
    return `--accent:${accent};--on:${on};--panel:${scheme === "dark" ? "#14181b" : "#fbfbf9"};--edge:${scheme === "dark" ? "#4d5a62" : "#b9c1c6"};`;
  }
  const schemes =
    look.scheme === "auto"
      ? `:host{${colours("light")}}@media(prefers-color-scheme:dark){:host{${colours("dark")}}}`
      : `:host{${colours(look.scheme)}}`;
  const side = told.position === "left" ? "left" : "right";
  const style = `${schemes}
:host{all:initial}
*{box-sizing:border-box}
button{font:600 1rem/1.2 system-ui,sans-serif;cursor:pointer;border:0}
button:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
.open{position:fixed;${side}:max(1rem,env(safe-area-inset-${side}));bottom:max(1rem,env(safe-area-inset-bottom));z-index:2147483000;
display:flex;align-items:center;gap:.6rem;min-height:3rem;max-width:calc(100vw - 2rem);padding:.7rem 1.1rem;border-radius:1.6rem;
background:var(--accent);color:var(--on);box-shadow:0 .2rem .9rem rgb(0 0 0/.3)}
.open svg{flex:none}
.open span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
dialog{position:fixed;inset:auto;${side}:1rem;bottom:1rem;width:min(26rem,calc(100vw - 2rem));height:min(42rem,calc(100dvh - 2rem));
max-width:none;max-height:none;margin:0;padding:0;border:1px solid var(--edge);border-radius:1rem;overflow:hidden;background:var(--panel);
box-shadow:0 .5rem 2rem rgb(0 0 0/.35)}
dialog::backdrop{background:none}
iframe{display:block;width:100%;height:100%;border:0;color-scheme:normal}
.close{position:absolute;top:.5rem;right:.5rem;width:2.6rem;height:2.6rem;padding:.5rem;border-radius:.6rem;background:none;color:var(--accent)}
.close svg{display:block;width:100%;height:100%}
@media(max-width:36rem),(max-height:30rem){dialog{inset:0;width:100vw;height:100dvh;border:0;border-radius:0}
dialog::backdrop{background:var(--panel)}}
@media(prefers-reduced-motion:no-preference){dialog[open]{animation:up .15s ease-out}}
@keyframes up{from{transform:translateY(1rem);opacity:0}}
@media print{.open{display:none}}`;

  function made(name, attributes, ...inside) {
    const drawing = ["svg", "path"].includes(name);
    const element = drawing ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  }
  const icon = (path) =>
    made("svg", { viewBox: "0 0 24 24", width: "24", height: "24", fill: "none", stroke: "currentColor", "stroke-width": "2", "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true", focusable: "false" },
      made("path", { d: path }));

  const open = made("button", { type: "button", class: "open", "aria-haspopup": "dialog", "aria-expanded": "false" },
    icon("M4 5h16v11H9l-5 4z"), made("span", {}, told.label || text.open_chat));
  const close = made("button", { type: "button", class: "close", "aria-label": text.close_chat }, icon("M6 6l12 12M18 6L6 18"));
  const dialog = made("dialog", { "aria-label": label });
  const host = made("div", { lang: language });
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  root.append(open, dialog);
  let frame = null;

  function show() {
    if (!frame) {
      frame = made("iframe", { title: label, allow: "clipboard-write", src: `${base}/?language=${language}` });
      dialog.append(frame, close); // the frame is loaded when it is first wanted
    }
    if (!dialog.open) dialog.showModal(); // the browser keeps the focus inside, and gives it back
    open.setAttribute("aria-expanded", "true");
    frame.focus();
  }
  const hide = () => dialog.close();

  // The operator's test for people: data-challenge names a function of the page that promises a token.
  async function token() {
    const test = window[told.challenge];
    return typeof test === "function" ? String((await test()) ?? "") : "";
  }
  // Where a browser lets a frame keep nothing, this page keeps its conversations, if it may itself.
  function kept(work) {
    try {
      return work(localStorage) ?? "";
    } catch {
      return "";
    }
  }
  async function heard(event) {
    if (!frame || event.source !== frame.contentWindow || event.origin !== base) return;
    const { equipoise: what, text: said } = event.data ?? {};
    const answer = (name, words) => frame.contentWindow.postMessage({ equipoise: name, text: words }, base);
    if (what === "close") hide();
    if (what === "challenge") answer("token", await token().catch(() => ""));
    if (what === "recall") answer("recalled", kept((storage) => storage.getItem(KEPT)));
    if (what === "remember") kept((storage) => storage.setItem(KEPT, String(said)));
  }
  open.addEventListener("click", show);
  close.addEventListener("click", hide);
  dialog.addEventListener("click", (event) => event.target === dialog && hide());
  dialog.addEventListener("close", () => open.setAttribute("aria-expanded", "false"));
  window.addEventListener("message", heard);
  window.equipoise = { open: show, close: hide };

  const begin = () => document.body.append(host);
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();
