// A page of the site: its slider switches between charts and tables drawn in advance. website/document.py writes them.
import { add } from "./parts.js";
import { at, control, drawChart, loaded, unpacked } from "./player_parts.js";
import { ask } from "./site_guess.js";
/**
 * @typedef {object} Plot a chart
 * @property {boolean} turned whether it has a version for each stop of the slider
 * @property {number | null} guessed of the question whose prediction is a vertical line
 * @property {{figure: any, see: string, alt: string}[]} light
 * @property {{figure: any, see: string, alt: string}[]} dark
 * @typedef {object} Content
 * @property {{label: string, words: string[], at: number} | null} slider
 * @property {Plot[]} plots
 * @property {string[][][][]} tables the rows of each table, for each stop
 * @property {import("./site_guess.js").Guess[]} guesses one for each question
 * @property {{data: any, look: string, shape: string} | null} story five scenes, on the first page only
 * @property {Record<string, any>} config
 * @property {Record<string, string>} ink
 */
class Site {
  /** @param {Content} content */
  constructor(content) {
    this.content = content;
    this.at = content.slider?.at ?? 0;
    this.night = matchMedia("(prefers-color-scheme: dark)");
    this.night.addEventListener("change", () => this.show());
    /** Charts that have come near the window; the others are not drawn yet. @type {Set<number>} */
    this.seen = new Set();
    if (content.slider) {
      control(at("controls"), { id: "slider", ...content.slider }, (place) => {
        this.at = place;
        this.show();
      })(this.at);
    }
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
    this.content.tables.forEach((places, i) => {
      const body = /** @type {HTMLElement} */ (at(`table-${i}`).querySelector("tbody"));
      body.replaceChildren();
      for (const cells of places[this.at]) {
        const row = add(body, "tr");
        cells.forEach((text, j) => add(row, j ? "td" : "th", text, j ? {} : { scope: "row" }));
      }
    });
  }
  /** Draws a chart by its number. */
  draw(/** @type {number} */ number) {
    const { turned, guessed, ...themes } = this.content.plots[number];
    const theme = this.night.matches ? "dark" : "light";
    const { figure, see, alt } = themes[theme][turned ? this.at : 0];
    const layout = { ...figure.layout, shapes: [...(figure.layout.shapes ?? [])] };
    const x = this.guessed[guessed], line = { color: this.content.ink[theme], width: 1.5, dash: "dot" };
    if (x !== undefined) layout.shapes.push({ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line });
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
