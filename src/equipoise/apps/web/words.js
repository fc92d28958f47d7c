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

// The quotes, best first.
export function inOrder(result) {
  const all = result.highlights ?? [];
  const order = result.best_first ?? [];
  return order.length === all.length ? order.map((row) => all[row]) : all;
}

// The text of a quote in parts, [words, whether they were chosen]; offsets are code points, strings here UTF-16.
export function parts(one) {
  const letters = Array.from(one.text);
  const ends = [...(one.marks ?? []).flat(), letters.length];
  return ends.map((end, row) => [letters.slice(ends[row - 1] ?? 0, end).join(""), row % 2 === 1]).filter(([words]) => words);
}

// Where a quote is opened: at what was chosen of it.
export const chosen = (one) => (one.spans?.length ? { ...one, start: one.spans[0][0], end: one.spans[0][1] } : one);

const BRIEF = 280;

// The beginning of a passage, which may be a page long.
export function brief(text) {
  const words = plain(text);
  return words.length > BRIEF ? `${words.slice(0, words.lastIndexOf(" ", BRIEF) + 1 || BRIEF).trimEnd()} …` : words;
}

export const plain = (text) => text.split(/\s+/).filter(Boolean).join(" ");
