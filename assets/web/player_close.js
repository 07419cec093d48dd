// The closer look at one seed at its end: noisy counts against true counts, and the policy.
import { at, drawChart } from "./player_parts.js";
import { human } from "./player_words.js";
const MOST_POINTS = 1500;  // counts that a phone can draw at once
function caption(id, text) {
  /** @type {HTMLElement} */ (at(id).lastElementChild).textContent = text;
  at(id).setAttribute("aria-label", text);
}
/** Draws the visit counts, which are the last but one number of each row, see dprl/mdp/counts.py. */
export function drawCounts({ title, color }, result, family, dress) {
  const shape = family.shapes["state.sums"] ?? family.shapes["state.counts"];
  const width = shape[shape.length - 1], rows = result.counts.length / width;
  const step = Math.max(1, Math.ceil(rows / MOST_POINTS));
  const truth = [], noisy = [];
  for (let i = 0; i < rows; i += step) {
    truth.push(result.counts[i * width + width - 2]);
    noisy.push(result.noisy[i * width + width - 2]);
  }
  const high = Math.max(...truth, ...noisy, 10), low = Math.min(...truth, ...noisy, 0);
  const linear = Math.max(high * 1e-6, 1);  // the axes are linear up to here, and logarithmic beyond
  const place = (value) => Math.asinh(value / linear);
  const ticks = [0];
  for (let power = Math.ceil(Math.log10(linear)); 10 ** power <= high; power++) ticks.push(10 ** power);
  const thin = ticks.filter((_, i) => i % Math.ceil(ticks.length / 6) === 0);
  const axis = (values) => ({ tickmode: "array", tickvals: values.map(place), ticktext: values.map(human) });
  const below = thin.filter((value) => value > 0 && value <= -low).map((value) => -value);  // noisy counts only
  const layout = structuredClone(dress.layouts.counts);
  layout.xaxis = { ...layout.xaxis, ...axis(thin) };
  layout.yaxis = { ...layout.yaxis, ...axis([...below, ...thin]) };
  const ends = [0, high].map(place);
  const data = [
    { type: "scatter", mode: "lines", x: ends, y: ends, name: "noisy = true",
      line: { color: dress.muted, width: 1, dash: "dot" }, hoverinfo: "skip" },
    { type: "scatter", mode: "markers", x: truth.map(place), y: noisy.map(place),
      name: "an action in a state at a step", marker: { color, size: 6, opacity: 0.7 },
      customdata: truth.map((value, i) => [human(value), human(noisy[i])]),
      hovertemplate: "%{customdata[0]} visits<br>%{customdata[1]} with noise<extra></extra>" },
  ];
  drawChart("counts", data, layout, dress.config);
  const off = truth.map((value, i) => Math.abs(noisy[i] - value)).sort((a, b) => a - b);
  const negative = noisy.filter((value) => value < 0).length;
  caption("counts", `Visit counts of “${title}” at the last policy update, true and noisy: half of them are off by at `
    + `most ${human(off[Math.floor(off.length / 2)])} visits, and ${negative} of ${noisy.length} are below zero.`);
}
/** Draws the action, or the likeliest action, in each state at each step. */
export function drawPolicy({ title, environment }, result, family, dress) {
  const shape = family.shapes["state.policy"], [H, S] = shape;
  const z = Array.from({ length: S }, () => new Array(H));
  if (shape.length === 2) {
    new BigInt64Array(result.policy).forEach((action, i) => { z[i % S][Math.floor(i / S)] = Number(action); });
  } else {
    const chances = new Float64Array(result.policy), A = shape[2];
    for (let i = 0; i < H * S; i++) {
      const row = chances.subarray(i * A, (i + 1) * A);
      z[i % S][Math.floor(i / S)] = row.indexOf(Math.max(...row));
    }
  }
  const { states, actions } = environment, last = Math.max(actions.length - 1, 1);
  const colors = actions.map((_, i) => dress.actions[i % dress.actions.length]);
  const scale = actions.flatMap((_, i) => [[i / actions.length, colors[i]], [(i + 1) / actions.length, colors[i]]]);
  const layout = structuredClone(dress.layouts.policy);
  layout.height = 150 + 22 * Math.min(S, 30);
  layout.xaxis = { ...layout.xaxis, tick0: 1, dtick: Math.ceil(H / 12) };  // steps are whole
  layout.yaxis = { ...layout.yaxis, automargin: true, autorange: "reversed", ...(S <= 30 ? { tickmode: "array",
    tickvals: states.map((_, i) => i), ticktext: states } : {}) };
  const data = [{ type: "heatmap", z, x: Array.from({ length: H }, (_, h) => h + 1), zmin: -0.5, zmax: last + 0.5,
    colorscale: scale, showscale: false, xgap: 1, ygap: 1,
    text: z.map((row) => row.map((action) => actions[action])), customdata: states.map((s) => new Array(H).fill(s)),
    hovertemplate: "%{customdata}, step %{x}: %{text}<extra></extra>" }];
  actions.forEach((name, i) => data.push(/** @type {any} */ ({ type: "scatter", mode: "markers", x: [null], y: [null],
    name, marker: { symbol: "square", size: 12, color: colors[i] } })));
  drawChart("policy", data, layout, dress.config);
  caption("policy", `The policy of “${title}” after its last update: the action in each state at each step.`);
}
