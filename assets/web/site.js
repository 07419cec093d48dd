// A page of the site: its sliders turn charts and tables that were all drawn before. website/document.py writes them.
import { add, at, control, loaded, unpacked } from "./player_parts.js";
import { ask } from "./site_guess.js";
/**
 * @typedef {object} Plot its pictures, one for each stop of the slider that turns it
 * @property {number | null} turned the place of that slider
 * @property {number | null} upright of the slider whose stop is a line across the chart
 * @property {number | null} level of the one whose stop is a line along it
 * @property {number | null} guessed the question whose prediction is a line across it
 * @property {{figure: any, see: string, alt: string}[]} light
 * @property {{figure: any, see: string, alt: string}[]} dark
 * @typedef {object} Content
 * @property {{label: string, stops: number[], words: string[], at: number}[]} sliders
 * @property {Plot[]} plots
 * @property {string[][][][]} tables of each the rows, at each place of all sliders
 * @property {import("./site_guess.js").Guess[]} guesses one for each question
 * @property {{data: any, look: string, shape: string} | null} story five scenes, of the first page
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
    /** The charts that were in sight; others are drawn when they come. @type {Set<number>} */
    this.seen = new Set();
    content.sliders.forEach(({ label, words }, i) => {
      const menu = label === "Environment";
      control(at("controls"), { id: `slider-${i}`, label, words, menu }, (place) => {
        this.at[i] = place;
        this.show();
      })(this.at[i]);
    });
    /** Where each prediction stands on its charts. @type {(number | undefined)[]} */
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
      plot.style.height = `${light[0].figure.layout.height}px`;  // so that nothing moves when it is drawn
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
  /** @param {number} number of the chart */
  draw(number) {
    const { turned, upright, level, guessed, ...pictures } = this.content.plots[number];
    const theme = this.night.matches ? "dark" : "light";
    const { figure, see, alt } = pictures[theme][turned === null ? 0 : this.at[turned]];
    const layout = { ...figure.layout, shapes: [...(figure.layout.shapes ?? [])] };
    const line = { color: this.content.ink[theme], width: 1.5 };
    const stop = (slider) => this.content.sliders[slider].stops[this.at[slider]];
    if (upright !== null) {
      layout.shapes.push({ type: "line", x0: stop(upright), x1: stop(upright), y0: 0, y1: 1, yref: "paper", line });
    }
    if (guessed !== null && this.guessed[guessed] !== undefined) {
      const x = this.guessed[guessed];
      layout.shapes.push({ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { ...line, dash: "dot" } });
    }
    if (level !== null) {
      layout.shapes.push({ type: "line", x0: 0, x1: 1, xref: "paper", y0: stop(level), y1: stop(level), line });
    }
    const [plot, caption] = /** @type {any} */ (at(`plot-${number}`).children);
    at(`plot-${number}`).setAttribute("aria-label", alt);
    plot.style.height = `${layout.height}px`;  // which Plotly forgets when the window changes
    Plotly.react(plot, figure.data, layout, this.content.config[theme]);
    caption.innerHTML = see;  // escaped where the page was made
  }
}
/** The story, for who comes by no link and not within another page. @param {NonNullable<Content["story"]>} story */
function told({ data, look, shape }) {
  if (location.hash || window.self !== window.top) return;
  document.body.classList.add("told");
  const parentElement = at("story").attachShadow({ mode: "open" });
  parentElement.innerHTML = `<style>${look}</style>${shape}`;
  tellStory({ data, parentElement });
}
export async function open() {
  try {
    const content = JSON.parse(new TextDecoder().decode(await unpacked("packed-content")));
    if (content.story) told(content.story);
    await unpacked("packed-plotly").then(loaded);
    signPictures();
    window.site = new Site(content);
  } catch (error) {
    at("said").textContent = `This browser cannot draw the charts: ${error.message}.`;
  }
}
