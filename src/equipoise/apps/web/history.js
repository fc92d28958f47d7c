// Earlier questions with their answers, in this browser and nowhere else.

const NAME = "equipoise-history";
const MOST = 30;

export function load() {
  try {
    const found = JSON.parse(localStorage.getItem(NAME) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

export function add(entry) {
  const all = [entry, ...load()].slice(0, MOST);
  try {
    localStorage.setItem(NAME, JSON.stringify(all));
  } catch {
    localStorage.removeItem(NAME); // no room: better no history than a page that fails
  }
  return load();
}

export function clear() {
  localStorage.removeItem(NAME);
  return [];
}
