// The parts below the chart: the ends of the curves, the proved guarantees, and the environments.
import { add } from "./parts.js";
import { at } from "./player_parts.js";
import { percent } from "./player_sentence.js";
import { human } from "./player_words.js";
/**
 * Fills the table of the curves' last points. `shares`: whether it has the share of V* lost; `tiny`: see `percent`.
 * @param {any[]} curves
 */
export function ends(curves, seeds, shares, tiny) {
  const table = at("ends");
  table.replaceChildren();
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  const share = shares ? ["Share of V* lost"] : [];
  for (const name of ["Curve", ...share, "Regret so far", "95% interval", "Per episode", "Users", "Seeds"]) {
    add(head, "th", name, { scope: "col" });
  }
  for (const { title, color, all, episodes, best } of curves) {
    const row = add(body, "tr"), last = all.center.length - 1;
    const [center, low, high] = [all.center[last], all.low[last], all.high[last]];
    add(add(row, "th", "", { scope: "row" }), "span", "", { class: "swatch" }).style.background = color;
    row.firstChild.append(title);
    if (shares) add(row, "td", percent(center / episodes[last] / best, tiny));
    add(row, "td", human(center), { "data-exact": String(center) });
    add(row, "td", Number.isFinite(low) ? `${human(low)} to ${human(high)}` : "–");
    add(row, "td", human(center / episodes[last]));
    add(row, "td", human(episodes[last]));
    add(row, "td", String(seeds));
  }
}
/** Writes the guarantee of each curve. @param {any[]} curves */
export function cards(curves) {
  const box = at("cards");
  box.replaceChildren();
  for (const { title, stop: { card } } of curves) {
    const section = add(box, "section", "", { class: "card" });
    add(section, "h3", title);
    for (const text of card.says) add(section, "p").innerHTML = text;  // Python has escaped it
    const list = add(section, "dl");
    for (const [name, value] of card.rows) {
      add(list, "dt", name);
      add(list, "dd", value);
    }
  }
}
/**
 * Draws the environments, once for each theme, because no slider changes them. Each has a sentence and, for each theme,
 * a figure.
 * @param {any[]} environments
 */
export function worlds(environments, theme, config) {
  const box = at("worlds");
  if (box.dataset.theme === theme) return;
  box.dataset.theme = theme;
  box.replaceChildren();
  const plots = environments.map(({ says, [theme]: { layout } }) => {
    const figure = add(box, "figure", "", { "aria-label": says }), plot = add(figure, "div", "", { class: "plot" });
    add(figure, "figcaption", says);
    plot.style.height = `${layout.height}px`;
    return plot;
  });
  environments.forEach(({ [theme]: { data, layout } }, i) => {  // only now does each plot have its width
    Plotly.newPlot(plots[i], data, layout, { ...config, displayModeBar: false });
  });
}
