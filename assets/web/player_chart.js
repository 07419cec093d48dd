// The chart of regret on a page that simulates its runs, styled as in dprl/figures.
import { human } from "./player_words.js";
const MARKS = 7;  // markers of a curve, evenly spread, as in dprl/figures/lines.py
/** Returns the points that carry a curve's markers. `phase`, from 0 to 1, keeps the markers of curves apart. */
function marks(/** @type {Float64Array} */ x, log, phase) {
  if (x.length <= 2) return [...x.keys()];
  const places = log ? x.map(Math.log) : x;
  const [first, last] = [places[0], places[places.length - 1]];
  const points = new Set();
  for (let i = 0; i < MARKS; i++) {
    const wanted = first + (last - first) * (i + phase) / MARKS;
    let best = 0;
    places.forEach((value, j) => { if (Math.abs(value - wanted) < Math.abs(places[best] - wanted)) best = j; });
    points.add(best);
  }
  return [...points];
}
/** Escapes the characters that Plotly would read as markup. @param {string} text */
const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
/** Breaks a long name into lines that fit on a phone. @param {string} name */
const folded = (name) => plain(name).replace(/(.{30,44}?) /g, "$1<br>");
/** Returns how many powers of ten apart the labels of an axis are. */
const decades = (low, high) => Math.max(1, Math.ceil(Math.log10(high / low) / 6));
/**
 * @param {any[]} curves each with title, color, dash, symbol, number, episodes, center, low and high
 * @param {any} dress the settings of the theme
 * @param {string} measure
 * @param {{x: string, y: string}} axes "log" or "linear"
 * @param {{value: number, name: string, hover: string} | null} best the line of the largest possible loss
 * @param {(value: number) => string} words formats a value of the measure
 */
export function regretFigure(curves, dress, measure, axes, best, words) {
  const layout = structuredClone(dress.layouts[measure]);
  const log = { x: axes.x === "log", y: axes.y === "log" };
  const values = curves.flatMap(({ center }) => [...center]).filter((value) => value > 0);
  if (!values.length) log.y = false;
  const top = !best || measure === "cumulative" ? 0 : measure === "share" ? 1 : best.value;
  const lowest = Math.min(...values), highest = Math.max(...values);
  const first = Math.min(...curves.map(({ episodes }) => episodes[0]));
  const last = Math.max(...curves.map(({ episodes }) => episodes[episodes.length - 1]));
  const ticklabeloverflow = "allow";  // measuring all labels would take a fifth of the drawing time, and they fit
  layout.xaxis = { ...layout.xaxis, type: log.x ? "log" : "linear", nticks: 7, tickangle: 0, ticklabeloverflow };
  layout.yaxis = { ...layout.yaxis, type: log.y ? "log" : "linear", nticks: 6, ticklabeloverflow };
  Object.assign(layout.xaxis, log.x ? { dtick: decades(first, last) } : { exponentformat: "B" });
  if (log.y) {
    Object.assign(layout.yaxis, { dtick: decades(lowest, highest),
      range: [Math.log10(lowest / 2), Math.log10(Math.max(highest * 1.6, top * 1.3))] });
  } else {
    Object.assign(layout.yaxis, { exponentformat: "B", rangemode: "tozero" });
    if (measure === "share") Object.assign(layout.yaxis, { minallowed: 0, maxallowed: dress.shares });
  }
  const lifted = (row) => [...row].map((value) => log.y ? Math.max(value, lowest / 2) : value);
  const data = [];
  curves.forEach((curve, i) => {
    const { title, color, episodes, center, low, high, dash, symbol, number } = curve;
    const x = [...episodes], legendgroup = String(i);
    if (Number.isFinite(low[low.length - 1])) {
      data.push({ type: "scatter", mode: "lines", x: [...x, ...[...x].reverse()],
        y: [...lifted(high), ...lifted(low).reverse()], fill: "toself", fillcolor: `${color}2e`,
        line: { width: 0 }, hoverinfo: "skip", showlegend: false, legendgroup, name: `${plain(title)}: interval` });
    }
    const line = { color, width: 2.5, dash };
    data.push({ type: "scatter", mode: "lines", x, y: [...center], line, showlegend: false, legendgroup,
      name: plain(title), customdata: x.map((k, j) => [human(k), words(center[j]),
        Number.isFinite(low[j]) ? ` (${words(low[j])} to ${words(high[j])})` : ""]),
      hovertemplate: `<b>${plain(title)}</b><br>after %{customdata[0]} episodes<br>%{customdata[1]}%{customdata[2]}`
        + "<extra></extra>" });
    const points = marks(episodes, log.x, (i + 0.5) / curves.length);
    const gapped = (row) => points.flatMap((j) => [row[j], null]);
    const prefix = number > 1 ? `${number}: ` : "";
    data.push({ type: "scatter", mode: "lines+markers", x: gapped(x), y: gapped(center), line, legendgroup,
      marker: { symbol, size: number > 1 ? 14 : 8, color }, name: folded(prefix + title), hoverinfo: "skip" });
    if (number > 1) {
      data.push({ type: "scatter", mode: "text", x: points.map((j) => x[j]), y: points.map((j) => center[j]),
        text: points.map(() => String(number)), textfont: { size: 10, weight: 700, color: dress.paper },
        showlegend: false, legendgroup, hoverinfo: "skip" });
    }
  });
  if (data.some(({ fill }) => fill)) {
    data.push({ type: "scatter", mode: "markers", x: [null], y: [null], name: dress.band,
      marker: { symbol: "square", size: 14, color: `${dress.muted}59` } });
  }
  if (top) {
    data.push({ type: "scatter", mode: "lines", x: [first, last], y: [top, top], line: dress.bound, name: best.name,
      hovertemplate: best.hover });
  }
  return { data, layout };
}
