// Links in a fragment, by the codec of dprl/links.py: what the dashboard writes is read here, and the other way round.
/**
 * @typedef {Record<string, string>} Pairs a spec, by query key
 * @typedef {object} Codec what dprl/links.py goes by
 * @property {string} version
 * @property {{always: Pairs, env: Record<string, Pairs>, alg: Record<string, Pairs>, priv: Record<string, Pairs>}}
 *   defaults
 * @property {{sentences: string[], pairs: Record<string, Record<string, number | Record<string, number>>>}} refused
 *   what does not go together, by algorithm, privacy model and mechanism
 * @property {Record<string, string>} owners key of the parameters of an environment, and of an algorithm
 * @typedef {{epsilon: string, episodes: string, seeds: string, name: string}} Chosen what the sliders of a curve say,
 *   as a link does, and what it calls it
 * @typedef {{measure: string, x: string, y: string, close: string, say: string}} Looked what is drawn, on which axes,
 *   which curve is looked at closely, and what whoever shares it says
 * @typedef {Looked & {curves: Chosen[], lacks: string[]}} Read lacks: what is not taken over
 */
/** What a link leaves out: never changes. @type {Looked} */
const USUAL = { measure: "cumulative", x: "log", y: "log", close: "-1", say: "" };
const KEYS = { measure: "m", x: "x", y: "y", close: "i", say: "say" };
const LETTERS = 160;  // of a sentence, see pages/shared/visitor/address.py
/** What a dashboard shows in tabs that are not here, where a link leaves it out. @type {Pairs} */
const OTHER_TABS = {
  tab: "regret", seed: "0", k: String(10 ** 15), ch: "map", of: "visits", see: "noisy", pol: "steps", h: "-1", s: "0",
  a: "0", w1: "0", w2: "1", near: "on",
};
const OWN = ["name", "hide"], MOST = 100_000, MOVED = ["eps", "K", "seeds"];
/**
 * The pairs of one curve. Throws a sentence where it cannot be read.
 * @param {string} text
 * @param {Codec} codec
 */
function split(text, codec) {
  /** @type {Pairs} */
  const pairs = Object.create(null);
  for (const part of text.split("~").filter(Boolean)) {
    const [first, ...rest] = part.split(".");
    const owned = first && Object.values(codec.owners).includes(first) && rest.length;
    const inner = owned ? `${first}.${rest.shift()}` : first;
    if (!rest.length) throw new Error("a part of a curve in the link cannot be read");
    pairs[inner] = rest.join(".");
  }
  return pairs;
}
/**
 * What a later curve has from the first.
 * @param {Pairs} first
 * @param {Pairs} given
 * @param {Codec} codec
 */
function inherited(first, given, codec) {
  return Object.fromEntries(Object.entries(first).filter(([key]) => {
    if (OWN.includes(key) || (key === "rep" && !("mech" in first))) return false;
    const owner = Object.keys(codec.owners).find((one) => key.startsWith(`${codec.owners[one] || "?"}.`));
    return !owner || !(owner in given) || given[owner] === first[owner];
  }));
}
/**
 * The pairs, and the defaults of what they leave out.
 * @param {Codec} codec
 * @param {Pairs} pairs
 */
function completed({ defaults: table }, pairs) {
  let found = { ...table.always, ...pairs };
  for (const key of ["env", "alg", "priv"]) found = { ...table[key][found[key]], ...found };
  return found;
}
/** Why there is no such run; "" where there may be one. @param {Codec} codec @param {Pairs} told */
function refusal({ refused: { sentences, pairs } }, told) {
  /** @type {any} */
  let found = pairs;
  for (const key of [told.alg, told.priv, told.mech]) {
    if (typeof found !== "number") found = Object.hasOwn(found, key ?? "") ? found[key] : {};
  }
  return typeof found === "number" ? sentences[found] : "";
}
/** A sentence as it is shown: printable, on one line; whatever it holds, it is text. @param {string} text */
function oneLine(text) {
  return text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
}
/**
 * What a link asks for that this page has not, in words.
 * @param {URLSearchParams} given
 * @param {Looked} looked
 * @param {string[]} texts of its curves
 */
function lacking(given, looked, texts) {
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
/**
 * What a fragment chooses of the curves that are here. Throws a sentence if it does not fit them.
 * @param {string} fragment
 * @param {Codec} codec
 * @param {Pairs[]} curves what each is, by default
 * @returns {Read}
 */
export function decode(fragment, codec, curves) {
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
    const whole = split(text, codec), name = whole.name ?? "";
    for (const key of OWN) delete whole[key];
    const told = completed(codec, { ...inherited(first, whole, codec), ...whole });
    const wrong = refusal(codec, told);
    if (wrong) throw new Error(`in curve ${i + 1}, ${wrong}`);
    for (const [key, value] of Object.entries(curves[i])) {
      const same = told[key] === value || (Number(told[key]) === Number(value) && value.trim() !== "");
      if ([...MOVED, ...OWN].includes(key) || same) continue;
      throw new Error(`curve ${i + 1} of the link is no run of this page (${key})`);
    }
    if (i === 0) {
      first = { ...curves[0] };
      for (const key of MOVED) if (key in first) first[key] = told[key];
    }
    return { epsilon: told.eps, episodes: told.K, seeds: told.seeds, name };
  });
  const looked = /** @type {Looked} */ (
    Object.fromEntries(Object.entries(KEYS).map(([name, key]) => [name, given.get(key) ?? USUAL[name]])));
  const lacks = lacking(given, looked, texts);
  const say = Array.from(oneLine(looked.say)).slice(0, LETTERS).join("").trimEnd();
  return { ...looked, say, curves: read, lacks };
}
/**
 * The fragment that says what is seen.
 * @param {Codec} codec
 * @param {Pairs[]} curves what each is now
 * @param {Looked} looked
 */
export function encode(codec, curves, looked) {
  const items = new URLSearchParams([["v", codec.version]]);
  curves.forEach((whole, i) => {
    const known = i ? inherited(curves[0], whole, codec) : {};
    const owned = Object.fromEntries(Object.keys(codec.owners).map((key) => [key, whole[key]]));
    const { always } = codec.defaults;
    const expected = completed(codec, { ...known, ...owned });
    for (const key of Object.keys(codec.owners)) expected[key] = known[key] ?? always[key];
    let said = Object.entries(whole).filter(([key, value]) => expected[key] !== value);
    if (!said.length) said = [["priv", whole.priv]];
    items.append("c", said.map(([key, value]) => `${key}.${value}`).join("~"));
  });
  for (const [name, key] of Object.entries(KEYS)) if (looked[name] !== USUAL[name]) items.append(key, looked[name]);
  return items.toString().replace(/%7E|%3A|%2C|%2F/g, decodeURIComponent);  // people read it
}
