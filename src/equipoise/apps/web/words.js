// What is said in words: those of the operator's language, and what of a result stands where.

export const NO_QUESTION = "no question"; // the reason of a refusal that only greets back
const ALONE = ["too many questions", "too many quotes"];
const FAILED = "model failed";

const said = { texts: {}, page: {} };

// The page's own words and settings, as the server told them.
export function speak(page) {
  said.page = page;
  said.texts = page.texts;
}

// A text with its values: t("page_of", { n: 1, all: 3 }).
export const t = (name, values = {}) =>
  (said.texts[name] ?? name).replace(/\{(\w+)\}/g, (all, key) => (key in values ? String(values[key]) : all));

export const may = () => said.page.may ?? {};

const ERRORS = {
  unreachable: "error_unreachable",
  broken: "error_broken",
  insufficient_quota: "error_budget",
  busy: "error_busy",
  starting: "error_busy",
  stopping: "error_busy",
  timeout: "error_busy",
  unusable_question: "error_question",
  too_large: "error_question",
  challenge: "error_challenge",
  no_answer: "error_feedback",
  no_document: "error_document",
  no_documents: "error_document",
  no_file: "error_document",
  no_page: "error_document",
  no_picture: "error_document",
  invalid_api_key: "key_wrong",
};

// What went wrong, for whoever asks; the server's own sentence is for experts.
export function failure(error) {
  if (!said.texts.error) return error.message; // the page has no words yet
  const own = error.code in ERRORS || error.code === "rate_limit_exceeded" || !may().expert;
  if (!own) return error.message;
  if (error.code === "rate_limit_exceeded") return t("error_fast", { n: error.seconds });
  return t(ERRORS[error.code] ?? "error");
}

// Why there is no answer.
export function refusal(result) {
  const { contact, reply, about, language } = said.page;
  if (may().expert || (result.reason === NO_QUESTION && (reply || language === "en"))) return result.detail;
  if (result.reason === NO_QUESTION) {
    const titles = (about ?? []).slice(0, 3).map((title) => `“${title}”`).join(", ");
    return titles ? t("hello_about", { titles }) : t("hello");
  }
  const reason = result.reason === FAILED ? "error" : ALONE.includes(result.reason) ? "ask_alone" : "no_answer";
  const words = (result.unheard ?? []).map((word) => `“${word}”`).join(", ");
  const absent = reason === "no_answer" && words ? t("unheard", { words }) : "";
  return [t(reason), absent, contact].filter(Boolean).join(" ");
}

export const notice = (result) => (may().expert ? result.notice : t("unread"));

const STAGES = { retrieved: "reading", filtered: "reading", highlighted: "reading", quotes: "writing", answer: "writing" };
export const stage = (names) => t(STAGES[names[names.length - 1]] ?? "searching");

// What was handed in lies in a folder of the server, which says nothing to a reader.
export const shownSource = (source) => source.replace(/^.*\.server\/uploads\//, "");

const corrected = (one) => one.corrected === one.source ? t("corrected_here") : t("corrected", { name: shownSource(one.corrected) });

export function place(one) {
  const dated = (one.date ? `, ${t("of_day", { day: one.date })}` : "") + (one.read ? `, ${t("as_of", { day: one.read })}` : "")
    + (one.newer ? `, ${t("older", { name: shownSource(one.newer) })}` : "")
    + (one.corrected ? `, ${corrected(one)}` : "") + (one.correction ? `, ${t("correction")}` : "");
  return where(one) + (one.trust === "untrusted" ? ` (${t("untrusted")})` : "") + dated;
}

// What a document is called: by its owner's title for whoever asks, by its file for experts.
export const named = (one) => (!may().expert && one.trust === "trusted" && one.title) || shownSource(one.source);

function where(one) {
  const source = named(one);
  if (one.page) return `${source}, ${t("page", { n: one.page })}`;
  if (one.line) return `${source}, ${t("line", { n: one.line })}`;
  const heading = one.heading ? `, “${one.heading}”` : "";
  return source + heading + (one.paragraph ? `, ${t("paragraph", { n: one.paragraph })}` : "");
}

export const TRUSTS = ["trusted", "untrusted", "held"];
const NAMED = 3;

function author(one) {
  const name = shownSource(one.highlights[0].source);
  return one.impersonates ? t("is_not", { name, other: shownSource(one.impersonates) }) : name;
}

// How many independent authors make a claim, and who they are.
export function support(claim) {
  const all = claim.side ? [] : claim.statements.slice(1).map(author);
  const some = all.slice(0, NAMED).join(", ");
  const names = all.length > NAMED ? t("and_more", { names: some, n: all.length - NAMED }) : some;
  if (claim.independent < 2) return names ? t("one_source_alike", { names }) : t("one_source");
  return t(names ? "sources_also" : "sources", { n: claim.independent, names });
}

// The quotes, best first.
export function inOrder(result) {
  const all = result.highlights ?? [];
  const order = result.best_first ?? [];
  return order.length === all.length ? order.map((row) => all[row]) : all;
}

// The text of a quote in parts, [words, whether they were chosen]; offsets are code points, strings here UTF-16.
export const parts = (one) => cut(one.text, one.marks ?? []);

// A text cut at ranges of code points: [words, whether they lie in one].
export function cut(text, ranges) {
  const letters = Array.from(text);
  const ends = [...ranges.flat(), letters.length];
  return ends.map((end, row) => [letters.slice(ends[row - 1] ?? 0, end).join(""), row % 2 === 1]).filter(([words]) => words);
}

// What was chosen of a quote, as ranges of its document.
export const spans = (one) => (one.spans?.length ? one.spans : [[one.start, one.end]]);

const BRIEF = 280;

// The beginning of a passage, which may be a page long.
export function brief(text) {
  const words = plain(text);
  return words.length > BRIEF ? `${words.slice(0, words.lastIndexOf(" ", BRIEF) + 1 || BRIEF).trimEnd()} …` : words;
}

export const plain = (text) => text.split(/\s+/).filter(Boolean).join(" ");
