// The sentences below the chart of a page that simulates its runs, like dprl/sentences/regret.py.
import { fill } from "./parts.js";
import { human } from "./player_words.js";
/**
 * @typedef {import("./player.js").Curve & {episodes: ArrayLike<number>, center: ArrayLike<number>}} Seen a curve with
 *   the measure after each of `episodes`
 * @typedef {{curve: Seen, episodes: number, value: number}} End a curve's last point, or the point of comparison
 */
/** Rounds to two digits. @param {number} value */
const rough = (value) => human(Number(value.toPrecision(2)));
/** Formats a share as a percentage with two digits. `tiny` is the text for less than a hundredth of a percent, and
 * nothing below 100% is rounded up to it. */
export function percent(share, tiny) {
  const value = 100 * share;
  if (value > 0 && value < 0.01) return tiny;
  if (value > 99 && value < 100) return `${Math.floor(10 * value) / 10}%`;
  return `${Math.abs(value) < 99 ? Number(value.toPrecision(2)) : value.toFixed(0)}%`.replace("-", "−");
}
/** Returns the number of episodes after which the values stay at or below a target, interpolated linearly between
 * logarithms, or infinity if they never do. */
function staysBelow(episodes, values, target) {
  const last = Array.from(values).findLastIndex((value) => !(value <= target));
  if (last < 0) return episodes[0];
  if (last === episodes.length - 1) return Infinity;
  const falls = values[last + 1] > 0 && values[last] > values[last + 1];
  const share = falls ? Math.log(values[last] / target) / Math.log(values[last] / values[last + 1]) : 0.5;
  return episodes[last] * (episodes[last + 1] / episodes[last]) ** share;
}
/** Returns a curve's value after `at` episodes; totals are interpolated linearly, from 0. @param {End} end */
function endAt(end, at, averages) {
  const { episodes, center } = end.curve, total = (i) => averages ? center[i] * episodes[i] : center[i];
  if (at === end.episodes) return end;
  const after = Array.from(episodes).findIndex((k) => k >= at), before = after - 1;
  const [k, from] = after ? [episodes[before], total(before)] : [0, 0];
  const value = from + (total(after) - from) * (at - k) / (episodes[after] - k);
  return { ...end, value: averages ? value / at : value };
}
/** Describes the curves, with templates and thresholds of dprl/player/content.py. @param {Seen[]} curves */
export function sentence(curves, measure, seeds, templates) {
  const places = [...new Set(curves.map(({ place }) => place))];
  const sentences = places.map((place) =>
    ofOnePlace(curves.filter((curve) => curve.place === place), measure, templates));
  return [...sentences, seeds === 1 ? "One seed." : `Means over ${seeds} seeds.`].join(" ");
}
function ofOnePlace(curves, measure, templates) {
  const averages = measure !== "cumulative";
  const all = curves.map((curve) => {
    const last = curve.center.length - 1;
    return { curve, episodes: curve.episodes[last], value: curve.center[last] };
  });
  const at = all.map(({ episodes }) => episodes).sort((a, b) => a - b).slice(-2)[0];
  const ends = all.filter(({ episodes }) => episodes >= at).map((end) => endAt(end, at, averages));
  const short = all.filter(({ episodes }) => episodes < at).map(({ curve }) => quoted(curve.title));
  const left = short.length ? fill(templates.left_out, { runs: some(short) }) : "";
  const found = (averages && learned(ends, at, measure, templates)) || bestAndOthers(ends, at, measure, templates);
  return [found, left].filter(Boolean).join(" ");
}
const quoted = (title) => `“${title}”`;
/** Names the first two of many. @param {string[]} names */
const some = (names) =>
  names.length < 3 ? names.join(" and ") : `${names[0]}, ${names[1]} and ${names.length - 2} more`;
/** Returns all of a few, but only the last of many. @param {End[]} others */
const worthNaming = (others, { named }) => others.length > named ? others.slice(-1) : others;
const average = (end, at, measure) => measure === "cumulative" ? end.value / at : end.value;
function loss(end, at, measure, templates, short) {
  const { best, best_text } = end.curve, mean = average(end, at, measure), each = human(mean);
  if (measure === "share") {
    const share = percent(mean, templates.tiny);
    return short ? share : fill(templates.share_of_best, { share, best: best_text });
  }
  const share = best > 0 ? percent(mean / best, templates.tiny) : "–";
  if (short) return fill(templates.each_short, { each, share });
  const name = measure === "cumulative" ? "total_of_best" : "each_of_best";
  return fill(templates[name], { total: human(end.value), each, share, best: best_text });
}
/** Compares after how many episodes the curves have learned; "" if none has, or there is one curve only, or V* is 0. */
function learned(ends, at, measure, templates) {
  const unit = ({ best }) => measure === "share" ? 1 : best;
  const needed = new Map(ends.map((end) =>
    [end, staysBelow(end.curve.episodes, end.curve.center, templates.learned_at * unit(end.curve))]));
  const sorted = [...ends].sort((a, b) => needed.get(a) === needed.get(b)
    ? average(a, at, measure) - average(b, at, measure) : needed.get(a) - needed.get(b));
  const [first, ...others] = sorted, least = needed.get(first);
  if (!others.length || least === Infinity || !ends.every(({ curve }) => curve.best > 0)) return "";
  const more = worthNaming(others, templates).map((end) => {
    const run = quoted(end.curve.title), times = needed.get(end) / least;
    if (times === Infinity) {
      return fill(templates.not_learned, { run, users: human(at), loss: loss(end, at, measure, templates, true) });
    }
    return times < templates.alike ? fill(templates.learned_alike, { run })
      : fill(templates.learned_later, { run, times: rough(times) });
  });
  return fill(templates.learned, { run: quoted(first.curve.title), users: rough(least),
    share: percent(templates.learned_at, templates.tiny), others: more.join(" ") });
}
function bestAndOthers(ends, at, measure, templates) {
  const [first, ...others] = [...ends].sort((a, b) => average(a, at, measure) - average(b, at, measure));
  const further = ends.some(({ episodes }) => episodes > at);
  const sentences = [fill(templates[further ? "lost_where_compared" : "lost"],
    { users: human(at), run: quoted(first.curve.title), loss: loss(first, at, measure, templates, false) })];
  for (const end of worthNaming(others, templates)) {
    const times = average(end, at, measure) / average(first, at, measure);
    const fields = { run: quoted(end.curve.title), loss: loss(end, at, measure, templates, true), times: rough(times) };
    const larger = average(first, at, measure) > 0 && times >= 1.5;
    sentences.push(fill(larger ? templates.beside_times : templates.beside, fields));
  }
  return sentences.join(" ");
}
