// What there is to see in the chart of a page that plays its runs, as dprl/sentences/regret.py says it.
import { human } from "./player_words.js";
/**
 * @typedef {object} Seen a curve as it is drawn
 * @property {string} title
 * @property {number} best V*, the value of an optimal episode
 * @property {string} best_text
 * @property {string} place losses are only compared within one
 * @property {ArrayLike<number>} episodes
 * @property {ArrayLike<number>} center of the measure that is drawn, at each
 * @typedef {{curve: Seen, episodes: number, value: number}} End its last point, or where curves are compared
 */
/** @param {string} text @param {Record<string, string>} fields */
const filled = (text, fields) => text.replace(/\{(\w+)\}/g, (_, name) => fields[name]);
/** To two digits. @param {number} value */
const rough = (value) => human(Number(value.toPrecision(2)));
/**
 * A share of one as a percentage, to two digits; extremes stay truthful.
 * @param {number} share
 * @param {string} tiny what is said of less than a hundredth of a percent
 */
export function percent(share, tiny) {
  const value = 100 * share;
  if (value > 0 && value < 0.01) return tiny;
  if (value > 99 && value < 100) return `${Math.floor(10 * value) / 10}%`;
  return Math.abs(value) < 99 ? `${Number(value.toPrecision(2))}%` : `${value.toFixed(0)}%`;
}
/**
 * From how many episodes on a curve stays at most at a target, by straight lines between logarithms; NaN if never.
 * @param {ArrayLike<number>} at
 * @param {ArrayLike<number>} values
 * @param {number} target
 */
function staysBelow(at, values, target) {
  const last = Array.from(values).findLastIndex((value) => !(value <= target));
  if (last < 0) return at[0];
  if (last === at.length - 1) return NaN;
  const falls = values[last + 1] > 0 && values[last] > values[last + 1];
  const share = falls ? Math.log(values[last] / target) / Math.log(values[last] / values[last + 1]) : 0.5;
  return at[last] * (at[last + 1] / at[last]) ** share;
}
/** The same curve after so many episodes: totals by straight lines, from 0 before any. @param {End} end */
function lostAfter(end, at, averages) {
  const { episodes, center } = end.curve, total = (i) => averages ? center[i] * episodes[i] : center[i];
  if (at === end.episodes) return end;
  const after = Array.from(episodes).findIndex((k) => k >= at), before = after - 1;
  const [k, from] = after ? [episodes[before], total(before)] : [0, 0];
  const value = from + (total(after) - from) * (at - k) / (episodes[after] - k);
  return { ...end, value: averages ? value / at : value };
}
/**
 * @param {Seen[]} curves
 * @param {string} measure
 * @param {number} seeds
 * @param {any} said templates, and what they go by
 */
export function sentence(curves, measure, seeds, said) {
  const places = [...new Set(curves.map(({ place }) => place))];
  const found = places.map((place) =>
    ofOnePlace(curves.filter((curve) => curve.place === place), measure, said));
  return [...found, seeds === 1 ? "One seed." : `Means over ${seeds} seeds.`].join(" ");
}
/** @param {Seen[]} curves */
function ofOnePlace(curves, measure, said) {
  const averages = measure !== "cumulative";
  const all = curves.map((curve) => {
    const last = curve.center.length - 1;
    return { curve, episodes: curve.episodes[last], value: curve.center[last] };
  });
  const at = all.map(({ episodes }) => episodes).sort((a, b) => a - b).slice(-2)[0];
  const ends = all.filter(({ episodes }) => episodes >= at).map((end) => lostAfter(end, at, averages));
  const short = all.filter(({ episodes }) => episodes < at).map(({ curve }) => quoted(curve.title));
  const left = short.length ? filled(said.left_out, { runs: some(short) }) : "";
  const found = (averages && learned(ends, at, measure, said)) || bestAndOthers(ends, at, measure, said);
  return [found, left].filter(Boolean).join(" ");
}
const quoted = (title) => `“${title}”`;
/** The first two of many. @param {string[]} parts */
const some = (parts) =>
  parts.length < 3 ? parts.join(" and ") : `${parts[0]}, ${parts[1]} and ${parts.length - 2} more`;
/** All of a few, of many the last. @param {End[]} others */
const worthNaming = (others, { named }) => others.length > named ? others.slice(-1) : others;
const average = (end, at, measure) => measure === "cumulative" ? end.value / at : end.value;
/** @param {End} end @param {number} at @param {boolean} short */
function loss(end, at, measure, said, short) {
  const { best, best_text } = end.curve, mean = average(end, at, measure), each = human(mean);
  if (measure === "share") {
    const share = percent(mean, said.tiny);
    return short ? share : filled(said.share_of_best, { share, best: best_text });
  }
  const share = best > 0 ? percent(mean / best, said.tiny) : "–";
  if (short) return filled(said.each_short, { each, share });
  const name = measure === "cumulative" ? "total_of_best" : "each_of_best";
  return filled(said[name], { total: human(end.value), each, share, best: best_text });
}
/** From how many episodes on each has learned, where one has. @param {End[]} ends @param {number} at */
function learned(ends, at, measure, said) {
  const unit = ({ best }) => measure === "share" ? 1 : best;
  const needed = new Map(ends.map((end) => {
    const found = staysBelow(end.curve.episodes, end.curve.center, said.learned_at * unit(end.curve));
    return [end, Number.isNaN(found) ? Infinity : found];
  }));
  const sorted = [...ends].sort((a, b) => needed.get(a) === needed.get(b)
    ? average(a, at, measure) - average(b, at, measure) : needed.get(a) - needed.get(b));
  const [first, ...others] = sorted, least = needed.get(first);
  if (!others.length || least === Infinity || !ends.every(({ curve }) => curve.best > 0)) return "";
  const more = worthNaming(others, said).map((end) => {
    const run = quoted(end.curve.title), times = needed.get(end) / least;
    if (times === Infinity) {
      return filled(said.not_learned, { run, users: human(at), loss: loss(end, at, measure, said, true) });
    }
    return times < said.alike ? filled(said.learned_alike, { run })
      : filled(said.learned_later, { run, times: rough(times) });
  });
  return filled(said.learned, { run: quoted(first.curve.title), users: rough(least),
    share: percent(said.learned_at, said.tiny), others: more.join(" ") });
}
/** @param {End[]} ends @param {number} at */
function bestAndOthers(ends, at, measure, said) {
  const [first, ...others] = [...ends].sort((a, b) => average(a, at, measure) - average(b, at, measure));
  const further = ends.some(({ episodes }) => episodes > at);
  const lost = [filled(said[further ? "lost_where_compared" : "lost"],
    { users: human(at), run: quoted(first.curve.title), loss: loss(first, at, measure, said, false) })];
  for (const end of worthNaming(others, said)) {
    const run = quoted(end.curve.title), times = average(end, at, measure) / average(first, at, measure);
    const told = { run, loss: loss(end, at, measure, said, true) };
    lost.push(average(first, at, measure) > 0 && times >= 1.5
      ? filled(said.beside_times, { ...told, times: rough(times) }) : filled(said.beside, told));
  }
  return lost.join(" ");
}
