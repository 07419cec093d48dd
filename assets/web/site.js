// A page of the site: its sliders switch between charts and tables drawn in advance. website/document.py writes them.
import { add } from "./parts.js";
import { at, control, drawChart, loaded, unpacked } from "./player_parts.js";
import { ask } from "./site_guess.js";
/**
 * @typedef {object} Plot a chart in several versions, one for each stop of a slider
 * @property {number | null} turned the index of that slider
 * @property {number | null} upright of the slider whose stop is a vertical line in the chart
 * @property {number | null} level of the slider whose stop is a horizontal line
 * @property {number | null} guessed of the question whose prediction is a vertical line
 * @property {{figure: any, see: string, alt: string}[]} light
 * @property {{figure: any, see: string, alt: string}[]} dark
 * @typedef {object} Content
 * @property {{label: string, stops: number[], words: string[], at: number}[]} sliders
 * @property {Plot[]} plots
 * @property {string[][][][]} tables the rows of each table, for each combination of stops
 * @property {import("./site_guess.js").Guess[]} guesses one for each question
 * @property {{data: any, look: string, shape: string} | null} story five scenes, on the first page only
 * @property {Record<string, any>} config
 * @property {Record<string, string>} ink
 */
class Site {
  /** @param {Content} content */
  constructor(content) {
    this.content = content;
    this.at = content.sliders.map((slider) => slider.at);
    this.night = matchMedia("(prefers-color-scheme: dark)");
    this.night.addEventListener("change", () => this.show());
    /** Charts that have come near the window; the others are not drawn yet. @type {Set<number>} */
    this.seen = new Set();
    content.sliders.forEach(({ label, words }, i) => {
      const menu = label === "Environment";
      control(at("controls"), { id: `slider-${i}`, label, words, menu }, (place) => {
        this.at[i] = place;
        this.show();
      })(this.at[i]);
    });
    /** The stops that readers have predicted. @type {(number | undefined)[]} */
    this.guessed = [];
    content.guesses.forEach((guess, i) => ask(i, guess, (stop) => {
      this.guessed[i] = stop;
      for (const number of this.seen) if (content.plots[number].guessed === i) this.draw(number);
    }));
    const watch = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        const number = Number(target.id.split("-")[1]);
        watch.unobserve(target);
        this.seen.add(number);
        this.draw(number);
      }
    }, { rootMargin: "600px" });
    content.plots.forEach(({ light }, i) => {
      const plot = /** @type {HTMLElement} */ (at(`plot-${i}`).firstElementChild);
      plot.style.height = `${light[0].figure.layout.height}px`;  // keeps the page from moving when it is drawn
      watch.observe(at(`plot-${i}`));
    });
    this.show();
  }
  show() {
    this.fill();
    for (const number of this.seen) this.draw(number);
  }
  fill() {
    const place = this.at.reduce((sum, here, i) => sum * this.content.sliders[i].stops.length + here, 0);
    this.content.tables.forEach((places, i) => {
      const body = /** @type {HTMLElement} */ (at(`table-${i}`).querySelector("tbody"));
      body.replaceChildren();
      for (const cells of places[place]) {
        const row = add(body, "tr");
        cells.forEach((text, j) => add(row, j ? "td" : "th", text, j ? {} : { scope: "row" }));
      }
    });
  }
  /** Draws a chart by its number. */
  draw(/** @type {number} */ number) {
    const { turned, upright, level, guessed, ...themes } = this.content.plots[number];
    const theme = this.night.matches ? "dark" : "light";
    const { figure, see, alt } = themes[theme][turned === null ? 0 : this.at[turned]];
    const layout = { ...figure.layout, shapes: [...(figure.layout.shapes ?? [])] };
    const stop = (slider) => this.content.sliders[slider]?.stops[this.at[slider]];
    const line = { color: this.content.ink[theme], width: 1.5 }, y = stop(level);
    const vertical = (x, style) => x === undefined ? []
      : [{ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: style }];
    layout.shapes.push(...vertical(stop(upright), line), ...vertical(this.guessed[guessed], { ...line, dash: "dot" }));
    if (y !== undefined) layout.shapes.push({ type: "line", x0: 0, x1: 1, xref: "paper", y0: y, y1: y, line });
    drawChart(`plot-${number}`, figure.data, layout, this.content.config[theme]);
    at(`plot-${number}`).setAttribute("aria-label", alt);
    at(`plot-${number}`).lastElementChild.innerHTML = see;  // Python has escaped it
  }
}
/** Shows the story, unless the page was opened by a link or within another page. */
function showStory(/** @type {NonNullable<Content["story"]>} */ { data, look, shape }) {
  if (location.hash || window.self !== window.top) return;
  document.body.classList.add("told");
  const parentElement = at("story").attachShadow({ mode: "open" });
  parentElement.innerHTML = `<style>${look}</style>${shape}`;
  tellStory({ data, parentElement });
}
export async function open() {
  try {
    const content = JSON.parse(new TextDecoder().decode(await unpacked("packed-content")));
    if (content.story) showStory(content.story);
    await unpacked("packed-plotly").then(loaded);
    signPictures();
    window.site = new Site(content);
  } catch (error) {
    at("said").textContent = `This browser cannot draw the charts: ${error.message}.`;
  }
}
