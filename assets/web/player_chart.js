// The chart of regret of a page that plays its runs, in the dress that dprl/figures gave it.
import { human } from "./player_words.js";
const MARKS = 7;  // of a curve, evenly spread, as dprl/figures/lines.py has them
/**
 * Which points carry a curve's marker.
 * @param {Float64Array} x
 * @param {boolean} log
 * @param {number} phase out of step between curves, from 0 to 1
 */
function marks(x, log, phase) {
  if (x.length <= 2) return [...x.keys()];
  const place = log ? x.map(Math.log) : x;
  const [first, last] = [place[0], place[place.length - 1]];
  const found = new Set();
  for (let i = 0; i < MARKS; i++) {
    const wanted = first + (last - first) * (i + phase) / MARKS;
    let best = 0;
    place.forEach((value, j) => { if (Math.abs(value - wanted) < Math.abs(place[best] - wanted)) best = j; });
    found.add(best);
  }
  return [...found];
}
/** Text without signs that Plotly would read as markup. @param {string} text */
const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
/** A long name in rows that a telephone has room for. @param {string} name */
const folded = (name) => plain(name).replace(/(.{30,44}?) /g, "$1<br>");
/** @param {string} color #RRGGBB @param {string} opacity two hex digits */
const translucent = (color, opacity) => color + opacity;
/** How far apart the powers of ten stand that an axis names. @param {number} low @param {number} high */
const decades = (low, high) => Math.max(1, Math.ceil(Math.log10(high / low) / 6));
/**
 * @param {any[]} shown curves, each with title, color, dash, symbol, number, episodes, center, low, high
 * @param {any} dress of the theme
 * @param {string} measure
 * @param {{x: string, y: string}} axes log or linear
 * @param {{value: number, name: string, hover: string} | null} best the most that an episode can lose, as theory says
 * @param {(value: number) => string} words of a value of the measure
 */
export function regretFigure(shown, dress, measure, axes, best, words) {
  const layout = structuredClone(dress.layouts[measure]);
  const log = { x: axes.x === "log", y: axes.y === "log" };
  const values = shown.flatMap(({ center }) => [...center]).filter((value) => value > 0);
  if (!values.length) log.y = false;
  const top = !best || measure === "cumulative" ? 0 : measure === "share" ? 1 : best.value;
  const lowest = Math.min(...values), highest = Math.max(...values);
  const ticklabeloverflow = "allow";  // else all are measured each time, for a fifth of what drawing takes; they fit
  layout.xaxis = { ...layout.xaxis, type: log.x ? "log" : "linear", nticks: 7, tickangle: 0, ticklabeloverflow };
  layout.yaxis = { ...layout.yaxis, type: log.y ? "log" : "linear", nticks: 6, ticklabeloverflow };
  if (log.x) {
    layout.xaxis.dtick = decades(Math.min(...shown.map(({ episodes }) => episodes[0])),
      Math.max(...shown.map(({ episodes }) => episodes[episodes.length - 1])));
  } else layout.xaxis.exponentformat = "B";
  if (log.y) {
    Object.assign(layout.yaxis, { dtick: decades(lowest, highest),
      range: [Math.log10(lowest / 2), Math.log10(Math.max(highest * 1.6, top * 1.3))] });
  } else {
    Object.assign(layout.yaxis, { exponentformat: "B", rangemode: "tozero" });
    if (measure === "share") Object.assign(layout.yaxis, { minallowed: 0, maxallowed: dress.shares });
  }
  const floor = lowest / 2;
  const lifted = (row) => [...row].map((value) => log.y ? Math.max(value, floor) : value);
  const data = [];
  shown.forEach((curve, i) => {
    const { title, color, episodes, center, low, high, dash, symbol, number } = curve;
    const x = [...episodes], legendgroup = String(i);
    if (Number.isFinite(low[low.length - 1])) {
      data.push({ type: "scatter", mode: "lines", x: [...x, ...[...x].reverse()],
        y: [...lifted(high), ...lifted(low).reverse()], fill: "toself", fillcolor: translucent(color, "2e"),
        line: { width: 0 }, hoverinfo: "skip", showlegend: false, legendgroup, name: `${plain(title)}: interval` });
    }
    const line = { color, width: 2.5, dash };
    data.push({ type: "scatter", mode: "lines", x, y: [...center], line, showlegend: false, legendgroup,
      name: plain(title), customdata: x.map((k, j) => [human(k), words(center[j]),
        Number.isFinite(low[j]) ? ` (${words(low[j])} to ${words(high[j])})` : ""]),
      hovertemplate: `<b>${plain(title)}</b><br>after %{customdata[0]} episodes<br>%{customdata[1]}%{customdata[2]}`
        + "<extra></extra>" });
    const places = marks(episodes, log.x, (i + 0.5) / shown.length);
    const gapped = (row) => places.flatMap((j) => [row[j], null]);
    const prefix = number > 1 ? `${number}: ` : "";
    data.push({ type: "scatter", mode: "lines+markers", x: gapped(x), y: gapped(center), line, legendgroup,
      marker: { symbol, size: number > 1 ? 14 : 8, color }, name: folded(prefix + title), hoverinfo: "skip" });
    if (number > 1) {
      data.push({ type: "scatter", mode: "text", x: places.map((j) => x[j]), y: places.map((j) => center[j]),
        text: places.map(() => String(number)), textfont: { size: 10, weight: 700, color: dress.paper },
        showlegend: false, legendgroup, hoverinfo: "skip" });
    }
  });
  if (data.some(({ fill }) => fill)) {
    data.push({ type: "scatter", mode: "markers", x: [null], y: [null], name: dress.band,
      marker: { symbol: "square", size: 14, color: translucent(dress.muted, "59") } });
  }
  if (top) {
    const ends = [Math.min(...shown.map(({ episodes }) => episodes[0])),
      Math.max(...shown.map(({ episodes }) => episodes[episodes.length - 1]))];
    data.push({ type: "scatter", mode: "lines", x: ends, y: [top, top], line: dress.bound, name: best.name,
      hovertemplate: best.hover });
  }
  return { figure: { data, layout }, config: dress.config };
}
