// Links in a fragment, in the code of dprl/links.py: this page and the dashboard read each other's links.
/**
 * @typedef {Record<string, string>} Pairs a spec, by query key
 * @typedef {object} Codec the tables of dprl/links.py
 * @property {string} version
 * @property {{always: Pairs, env: Record<string, Pairs>, alg: Record<string, Pairs>, priv: Record<string, Pairs>}}
 *   defaults
 * @property {{sentences: string[], pairs: Record<string, Record<string, number | Record<string, number>>>}} refused
 *   the combinations that do not exist, by algorithm, privacy model and mechanism
 * @property {Record<string, string>} owners the prefix of the parameters of an environment, and of an algorithm
 * @typedef {{epsilon: string, episodes: string, seeds: string, name: string}} Chosen the settings of a curve
 * @typedef {{measure: string, x: string, y: string, close: string, say: string}} Looked the measure, the axes, the
 *   curve of the closer look, and the sentence of whoever shares the page
 * @typedef {Looked & {curves: Chosen[], lacks: string[]}} Read `lacks` names what the page cannot show
 */
/** The values that a link leaves out. They never change. @type {Looked} */
const USUAL = { measure: "cumulative", x: "log", y: "log", close: "-1", say: "" };
const KEYS = { measure: "m", x: "x", y: "y", close: "i", say: "say" };
const LETTERS = 160;  // of a sentence, see pages/shared/visitor/address.py
/** The defaults of settings in the dashboard's other tabs. @type {Pairs} */
const OTHER_TABS = {
  tab: "regret", seed: "0", k: String(10 ** 15), ch: "map", of: "visits", see: "noisy", pol: "steps", h: "-1", s: "0",
  a: "0", w1: "0", w2: "1", near: "on",
};
const OWN = ["name", "hide"], MOST = 100_000, MOVED = ["eps", "K", "seeds"];
/** Splits the text of a curve into pairs. Throws if it cannot be read. @param {string} text @param {Codec} codec */
function split(text, codec) {
  /** @type {Pairs} */
  const pairs = Object.create(null);
  for (const part of text.split("~").filter(Boolean)) {
    const [first, ...rest] = part.split(".");
    const owned = first && Object.values(codec.owners).includes(first) && rest.length;
    const key = owned ? `${first}.${rest.shift()}` : first;
    if (!rest.length) throw new Error("a part of a curve in the link cannot be read");
    pairs[key] = rest.join(".");
  }
  return pairs;
}
/** Returns the pairs that a later curve inherits from the first. @param {Codec} codec */
function inherited(/** @type {Pairs} */ first, /** @type {Pairs} */ given, codec) {
  return Object.fromEntries(Object.entries(first).filter(([key]) => {
    if (OWN.includes(key) || (key === "rep" && !("mech" in first))) return false;
    const owner = Object.keys(codec.owners).find((one) => key.startsWith(`${codec.owners[one] || "?"}.`));
    return !owner || !(owner in given) || given[owner] === first[owner];
  }));
}
/** Adds the defaults of pairs that are missing. @param {Codec} codec @param {Pairs} pairs */
function completed({ defaults: table }, pairs) {
  let all = { ...table.always, ...pairs };
  for (const key of ["env", "alg", "priv"]) all = { ...table[key][all[key]], ...all };
  return all;
}
/** Returns why a run cannot exist, or "" if it may. @param {Codec} codec @param {Pairs} spec */
function refusal({ refused: { sentences, pairs } }, spec) {
  /** @type {any} */
  let found = pairs;
  for (const key of [spec.alg, spec.priv, spec.mech]) {
    if (typeof found !== "number") found = Object.hasOwn(found, key ?? "") ? found[key] : {};
  }
  return typeof found === "number" ? sentences[found] : "";
}
/** Returns a sentence with printable characters only, on one line. @param {string} text */
function oneLine(text) {
  return text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
}
/** Names the settings of a link that this page cannot show. `texts` are its curves. */
function lacking(/** @type {URLSearchParams} */ given, /** @type {Looked} */ looked, texts) {
  const others = Object.entries(OTHER_TABS).some(([key, usual]) => (given.get(key) ?? usual) !== usual);
  const wrong = [looked.x, looked.y].some((axis) => !["log", "linear"].includes(axis));
  const hidden = texts.some((text) => text.split("~").includes("hide.yes"));
  return [
    (given.get("stat") ?? "mean") !== "mean" && "the median of the seeds (here: their mean)",
    (given.get("each") ?? "off") !== "off" && "a line for every seed",
    wrong && "its axes",
    others && "what it chooses in other tabs",
    hidden && "hidden curves (here they are shown)",
    given.has("lock") && "locked settings (here they move)",
    Array.from(oneLine(looked.say)).length > LETTERS && `a sentence of more than ${LETTERS} letters (it is cut)`,
  ].filter((one) => typeof one === "string");
}
/** Reads a fragment. Throws if it does not fit the page's own specs. @param {Codec} codec @returns {Read} */
export function decode(/** @type {string} */ fragment, codec, /** @type {Pairs[]} */ curves) {
  if (fragment.length > MOST) throw new Error("the link is too long");
  const given = new URLSearchParams(fragment);
  if (given.get("v") !== codec.version) throw new Error("the link is of another version, or no link");
  const texts = given.getAll("c");
  if (texts.length !== curves.length) {
    throw new Error(`the link has ${texts.length} curves, and this page has ${curves.length}`);
  }
  /** @type {Pairs} */
  let first = {};
  const read = texts.map((text, i) => {
    const pairs = split(text, codec), name = pairs.name ?? "";
    for (const key of OWN) delete pairs[key];
    const spec = completed(codec, { ...inherited(first, pairs, codec), ...pairs });
    const wrong = refusal(codec, spec);
    if (wrong) throw new Error(`in curve ${i + 1}, ${wrong}`);
    for (const [key, value] of Object.entries(curves[i])) {
      const same = spec[key] === value || (Number(spec[key]) === Number(value) && value.trim() !== "");
      if ([...MOVED, ...OWN].includes(key) || same) continue;
      throw new Error(`curve ${i + 1} of the link is no run of this page (${key})`);
    }
    if (i === 0) {
      first = { ...curves[0] };
      for (const key of MOVED) if (key in first) first[key] = spec[key];
    }
    return { epsilon: spec.eps, episodes: spec.K, seeds: spec.seeds, name };
  });
  const looked = /** @type {Looked} */ (
    Object.fromEntries(Object.entries(KEYS).map(([name, key]) => [name, given.get(key) ?? USUAL[name]])));
  const lacks = lacking(given, looked, texts);
  const say = Array.from(oneLine(looked.say)).slice(0, LETTERS).join("").trimEnd();
  return { ...looked, say, curves: read, lacks };
}
/** Returns the fragment of a view. @param {Codec} codec @param {Pairs[]} curves @param {Looked} looked */
export function encode(codec, curves, looked) {
  const items = new URLSearchParams([["v", codec.version]]);
  curves.forEach((spec, i) => {
    const known = i ? inherited(curves[0], spec, codec) : {};
    const owned = Object.fromEntries(Object.keys(codec.owners).map((key) => [key, spec[key]]));
    const { always } = codec.defaults;
    const expected = completed(codec, { ...known, ...owned });
    for (const key of Object.keys(codec.owners)) expected[key] = known[key] ?? always[key];
    let pairs = Object.entries(spec).filter(([key, value]) => expected[key] !== value);
    if (!pairs.length) pairs = [["priv", spec.priv]];
    items.append("c", pairs.map(([key, value]) => `${key}.${value}`).join("~"));
  });
  for (const [name, key] of Object.entries(KEYS)) if (looked[name] !== USUAL[name]) items.append(key, looked[name]);
  return items.toString().replace(/%7E|%3A|%2C|%2F/g, decodeURIComponent);  // for people who read it
}
