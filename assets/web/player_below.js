// What stands below the chart: where the curves end, what is proved for the noise, and the environments.
import { add, at } from "./player_parts.js";
import { percent } from "./player_sentence.js";
import { human } from "./player_words.js";
/**
 * @typedef {{says: string, light: any, dark: any}} World an environment: in words, and its picture by day and by night
 */
/**
 * @param {any[]} shown
 * @param {number} seeds
 * @param {boolean} shares whether there is something of which a share can be lost
 * @param {string} tiny what is said of less than a hundredth of a percent
 */
export function ends(shown, seeds, shares, tiny) {
  const table = at("ends");
  table.replaceChildren();
  const line = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  const share = shares ? ["Share of V* lost"] : [];
  for (const name of ["Curve", ...share, "Regret so far", "95% interval", "Per episode", "Users", "Seeds"]) {
    add(line, "th", name, { scope: "col" });
  }
  for (const { title, color, all, episodes, best } of shown) {
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
/** @param {any[]} shown */
export function cards(shown) {
  const box = at("cards");
  box.replaceChildren();
  for (const { title, stop: { card } } of shown) {
    const made = add(box, "section", "", { class: "card" });
    add(made, "h3", title);
    for (const text of card.says) add(made, "p").innerHTML = text;  // escaped where the page was made
    const list = add(made, "dl");
    for (const [name, value] of card.rows) {
      add(list, "dt", name);
      add(list, "dd", value);
    }
  }
}
/**
 * Environments are drawn once a theme: no slider changes them.
 * @param {World[]} given
 * @param {"light" | "dark"} theme
 * @param {any} config of charts
 */
export function worlds(given, theme, config) {
  const box = at("worlds");
  if (box.dataset.theme === theme) return;
  box.dataset.theme = theme;
  box.replaceChildren();
  const plots = given.map(({ says, [theme]: { layout } }) => {
    const figure = add(box, "figure", "", { "aria-label": says }), plot = add(figure, "div", "", { class: "plot" });
    add(figure, "figcaption", says);
    plot.style.height = `${layout.height}px`;
    return plot;
  });
  given.forEach(({ [theme]: { data, layout } }, i) => {  // now that each has its width
    Plotly.newPlot(plots[i], data, layout, { ...config, displayModeBar: false });
  });
}
