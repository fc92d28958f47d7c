// What is said in words.

export const NO_QUESTION = "no question"; // the reason of a refusal that only greets back

export const STAGES = {
  retrieved: "passages found",
  filtered: "one-sided ones taken out",
  highlighted: "quotes chosen",
  quotes: "quotes read from the documents",
  answer: "answer checked against its quotes",
  done: "done",
};

// What was handed in lies in a folder of the server, which says nothing to a reader.
export const shownSource = (source) => source.replace(/^.*\.server\/uploads\//, "");

export function place(one) {
  return where(one) + (one.trust === "untrusted" ? " (untrusted)" : "");
}

function where(one) {
  const source = shownSource(one.source);
  if (one.page) return `${source}, page ${one.page}`;
  if (one.line) return `${source}, line ${one.line}`;
  const heading = one.heading ? `, “${one.heading}”` : "";
  return source + heading + (one.paragraph ? `, paragraph ${one.paragraph}` : "");
}

export const SIDES = { yes: "For yes", no: "For no" };
export const TRUSTS = { trusted: "trusted", untrusted: "untrusted", held: "held back" };
const NAMED = 3;

function named(one) {
  const source = shownSource(one.highlights[0].source);
  return one.impersonates ? `${source}, which is not ${shownSource(one.impersonates)}` : source;
}

// How many independent authors make a claim, and who they are.
export function support(claim) {
  const names = claim.side ? [] : claim.statements.slice(1).map(named);
  const listed = names.slice(0, NAMED).join(", ") + (names.length > NAMED ? ` and ${names.length - NAMED} more` : "");
  if (claim.independent < 2) {
    return `Only one independent source says so${listed ? ` (alike, but not independent of it: ${listed})` : ""}.`;
  }
  return `${claim.independent} independent sources say so${listed ? ` (also ${listed})` : ""}.`;
}

// The quotes, best first; a line that only leads to the next one ("The exceptions are:") stands in one with it.
export function inOrder(result) {
  const order = result.best_first ?? [];
  const all = result.highlights ?? [];
  const sorted = order.length === all.length ? order.map((row) => all[row]) : all;
  const shown = [];
  for (const one of sorted) {
    const before = shown[shown.length - 1];
    const leads = before && before.doc_id === one.doc_id && before.end <= one.start && /[:：]$/.test(before.text.trimEnd());
    if (leads) shown.pop();
    shown.push(leads ? { ...one, lead: `${before.lead ? `${before.lead} … ` : ""}${before.text}` } : one);
  }
  return shown;
}

const BRIEF = 280;

// The beginning of a passage, which may be a page long.
export function brief(text) {
  const words = plain(text);
  return words.length > BRIEF ? `${words.slice(0, words.lastIndexOf(" ", BRIEF) + 1 || BRIEF).trimEnd()} …` : words;
}

export const plain = (text) => text.split(/\s+/).filter(Boolean).join(" ");
