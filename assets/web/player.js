// A page that simulates its runs in the reader's browser, without a server. dprl/player writes its content.
import { add } from "./parts.js";
import { cards, ends, worlds } from "./player_below.js";
import { drawCounts, drawPolicy } from "./player_close.js";
import { regretFigure } from "./player_chart.js";
import { decode, encode } from "./player_link.js";
import { at, control, drawChart, loaded, unpacked } from "./player_parts.js";
import { inTurn, Pool } from "./player_pool.js";
import { percent, sentence } from "./player_sentence.js";
import { band, human } from "./player_words.js";
/**
 * @typedef {object} Curve also with its style, see player_chart.js
 * @property {string} title its title on the dashboard
 * @property {string} label the title with "{}" in place of epsilon
 * @property {Record<string, string>} pairs its spec, as the pairs of a link
 * @property {number | null} epsilon its own budget
 * @property {{episodes: number, text: string, family: number}[]} sizes the numbers of users, ascending
 * @property {number} size the index of its own number of users
 * @property {number} seeds its own number of seeds
 * @property {number} best V*, the expected reward of the best policy in one episode
 * @property {string} best_text V* as text
 * @property {string} place losses are compared only between curves of the same place
 * @typedef {{text: string, card: any, light: string, dark: string}} Shown epsilon as text, its guarantee, colors
 * @typedef {import("./player_pack.js").Family & {stops: Shown[]}} Family
 * @typedef {{curves: Curve[], families: Family[], measure: string, axes: {x: string, y: string}} & Record<string, any>}
 *   Head the content without its arrays, see dprl/player/content.py
 */
const REST = 100;  // ms
// The chart is first drawn with the seeds that are ready after LATE ms, and again every NEXT ms, unless the rest would
// arrive sooner than that. A drawing takes a tenth of a second from the workers.
const LATE = 300, NEXT = 1000;
const DIM = 500;  // ms until an outdated chart is dimmed and the page says which run is playing
const MEASURES = { share: "Share of V* lost", cumulative: "Regret so far", "per-episode": "Regret per episode" };
const AXES = { "log log": "both", "log linear": "users", "linear log": "what is lost", "linear linear": "neither" };
class Player {
  /**
   * @param {Head} head
   * @param {Uint8Array} data the arrays
   * @param {WebAssembly.Module} module
   * @param {string} script of the workers
   */
  constructor(head, data, module, script) {
    this.head = head;
    const slim = head.families.map(({ stops, ...family }) => ({
      ...family, stops: stops.map(({ words, buffers }) => ({ words, buffers })),
    }));
    const setup = { module, kernels: head.kernels, families: slim, data };
    this.pool = new Pool(script, setup, (failure) => this.draw(failure));
    this.night = matchMedia("(prefers-color-scheme: dark)");
    this.night.addEventListener("change", () => this.draw());
    addEventListener("hashchange", () => { this.follow(); this.play(); });
    /** The measures on offer. If V* is 0, there is no share of it. */
    this.measures = Object.keys(MEASURES).filter((one) => one !== "share" || head.curves.every(({ best }) => best > 0));
    /** The curves that have a privacy budget. */
    this.private = head.curves.flatMap(({ epsilon }, i) => epsilon === null ? [] : [i]);
    this.first = this.private[0] ?? 0;
    /** The curve that the slider of epsilon moves, counted from 1 among the private curves; 0 for all of them. */
    this.which = 0;
    this.written = "";  // the fragment that this page wrote last
    this.asked = 0;  // when the current settings were chosen
    this.drawn = 0;  // seeds of the current settings that are drawn
    this.due = 0;  // when more seeds may be drawn
    this.held = false;  // while a slider is dragged, only the chart follows it
    /** Updates the page below the chart. @type {(() => void) | null} */
    this.follows = null;
    this.charts = false;  // whether Plotly is loaded
    this.reset();
    this.controls();
    this.follow();
    this.play();
  }
  /** Restores the page's own settings. */
  reset() {
    const { curves } = this.head;
    this.sizes = curves.map(({ size }) => size);  // for each curve, the index of its number of users
    this.stops = curves.map(({ epsilon }, i) => Math.max(0, this.stopOf(i, epsilon)));  // the index of its epsilon
    this.look(this.head);
    this.looked = this.first;
    this.sentence = this.head.sentence;
    this.seeds = Math.min(Math.max(...curves.map(({ seeds }) => seeds)), this.mostSeeds());
  }
  /** Sets the measure and the axes. Returns whether the page has this measure. */
  look({ measure, axes }) {
    const known = this.measures.includes(measure), axis = (one) => one === "linear" ? one : "log";
    this.measure = known ? measure : this.measures[0];
    this.axes = { x: axis(axes.x), y: axis(axes.y) };
    return known;
  }
  /** Returns the index of a curve's current family. */
  family(i) { return this.head.curves[i].sizes[this.sizes[i]].family; }
  /** Returns the stops of a curve's slider of epsilon. */
  own(i) { return this.head.families[this.family(i)].stops; }
  /** Returns the index of a curve's stop at an epsilon, or -1. */
  stopOf(i, wanted) { return this.own(i).findIndex(({ epsilon }) => epsilon === wanted); }
  stop(i) { return this.own(i)[this.stops[i]]; }
  mostSeeds() {
    return Math.min(...this.head.curves.flatMap(({ sizes }) =>
      sizes.map(({ family }) => this.head.families[family].seeds.length)));
  }
  /** Returns the title of a curve at its current epsilon. */
  title(i) {
    const { title, label, epsilon } = this.head.curves[i], now = this.stop(i).epsilon;
    return now === epsilon ? title : label.replace("{}", String(now));
  }
  /** Returns the curves that the slider of epsilon moves. */
  moved() { return this.which === 0 ? this.private : [this.private[this.which - 1]]; }
  /** Returns the budgets that all of these curves have, ascending. */
  common(curves) {
    const sets = curves.map((i) => this.own(i).map(({ epsilon }) => epsilon));
    return sets.length ? sets[0].filter((one) => sets.every((set) => set.includes(one))) : [];
  }
  controls() {
    const { curves } = this.head, box = at("controls");
    const whose = control(box, { id: "whose", label: "Curves to move", menu: true }, (place) => {
      this.which = place;
      this.show();
    });
    const epsilon = control(box, {
      id: "epsilon", label: "Privacy budget ε",
      note: "More privacy, and more noise, to the left. Noise was calibrated for each position of the slider. At "
        + "each position, your browser plays the runs again.",
    }, (place) => {
      const chosen = this.common(this.moved())[place];
      for (const i of this.moved()) this.stops[i] = this.stopOf(i, chosen);
      this.play();
    });
    const episodes = control(box, { id: "episodes", label: "Number of users K" }, (place) => {
      for (const i of curves.keys()) {
        const before = this.stop(i).epsilon;
        this.sizes[i] = place;
        this.stops[i] = this.stopOf(i, before);
      }
      this.play();
    });
    const words = Array.from({ length: this.mostSeeds() }, (_, i) => i ? `${i + 1} seeds` : "1 seed");
    const seeds = control(box, { id: "seeds", label: "Average over", words,
      note: "A seed is one repetition of the run, with random draws of its own." }, (place) => {
      this.seeds = place + 1;
      this.play();
    });
    const measure = control(box, { id: "measure", label: "Measure shown", menu: true }, (place) => {
      this.measure = this.measures[place];
      this.draw();
    });
    const axes = control(box, { id: "axes", label: "Logarithmic axes", words: Object.values(AXES), menu: true },
      (place) => {
        const [x, y] = Object.keys(AXES)[place].split(" ");
        this.axes = { x, y };
        this.draw();
      });
    box.addEventListener("input", ({ target }) => {
      this.held = /** @type {HTMLInputElement} */ (target).type === "range";
    }, true);
    box.addEventListener("change", () => { this.held = false; this.follows?.(); });
    const last = add(box, "div", "", { class: "control" });
    const back = add(last, "button", "Restore the first settings", { type: "button" });
    back.onclick = () => { this.reset(); this.which = 0; this.play(); };
    const close = control(at("close"), { id: "looked", label: "Curve", menu: true }, (place) => {
      this.looked = place;
      this.play();
    });
    const sizes = curves.map((curve) => curve.sizes.map((size) => size.episodes));
    const sameSizes = sizes.every((own) => own.join() === sizes[0].join());
    /** Updates all controls. */
    this.show = () => {
      at("sentence").textContent = this.sentence && `Whoever shared this says: ${this.sentence}`;
      const names = curves.map((_, i) => this.title(i));
      whose(this.which, this.private.length > 1 ? ["all private curves", ...this.private.map((i) => names[i])] : []);
      const common = this.common(this.moved());
      const now = new Set(this.moved().map((i) => this.stop(i).epsilon));
      const place = now.size === 1 ? common.indexOf([...now][0]) : Math.floor(common.length / 2);
      epsilon(Math.max(place, 0), common.map((one) => now.size > 1 ? "each its own" : `ε = ${one}`));
      episodes(this.sizes[0], sameSizes ? sizes[0].map(human) : []);
      seeds(this.seeds - 1);
      measure(this.measures.indexOf(this.measure), this.measures.map((one) => MEASURES[one]));
      axes(Object.keys(AXES).indexOf(`${this.axes.x} ${this.axes.y}`));
      close(this.looked, names);
    };
    this.show();
  }
  /** Applies the settings in the fragment, or reports why that is impossible. */
  follow() {
    const fragment = location.hash.slice(1);
    if (fragment === this.written) return;
    at("said").textContent = "";
    this.sentence = this.head.sentence;
    if (!fragment) return;
    const known = (place, name) => {
      if (place < 0) throw new Error(`this page has no curve ${name}`);
      return place;
    };
    try {
      const { curves, codec, families } = this.head;
      const view = decode(fragment, codec, curves.map(({ pairs }) => pairs)), { curves: chosen, lacks } = view;
      const sizes = curves.map((curve, i) => known(
        curve.sizes.findIndex((one) => one.episodes === Number(chosen[i].episodes)),
        `${i + 1} with that number of users`));
      const stops = curves.map((curve, i) => curve.epsilon === null ? 0 : known(
        families[curve.sizes[sizes[i]].family].stops.findIndex((one) => one.epsilon === Number(chosen[i].epsilon)),
        `${i + 1} at that ε`));
      const seeds = Number(chosen[0].seeds);
      if (!(Number.isInteger(seeds) && seeds >= 1 && seeds <= this.mostSeeds())) {
        throw new Error(`this page has 1 to ${this.mostSeeds()} seeds`);
      }
      const looked = curves[view.close] ? Number(view.close) : this.first;
      Object.assign(this, { sizes, stops, seeds, sentence: view.say, looked });
      if (!this.look({ ...view, axes: view })) lacks.unshift(`its measure (here: ${MEASURES[this.measure]})`);
      if (chosen.some(({ name }, i) => name && name !== this.title(i))) lacks.push("names of curves");
      if (lacks.length) at("said").textContent = `This page cannot show everything in the link: ${lacks.join(", ")}.`;
    } catch (error) {
      this.reset();
      at("said").textContent = `The link could not be used, and the page's own settings are shown: ${error.message}.`;
    } finally {
      this.show();
    }
  }
  /** Returns the fragment of the current view. */
  link() {
    const { curves, codec } = this.head;
    return encode(codec, curves.map(({ pairs, sizes }, i) => {
      const stop = this.stop(i);
      /** @type {import("./player_link.js").Pairs} */
      const moved = { ...pairs, K: sizes[this.sizes[i]].text, seeds: String(this.seeds) };
      if (stop.epsilon !== null) moved.eps = stop.text;
      if (stop.epsilon !== curves[i].epsilon) delete moved.name;
      return moved;
    }), { measure: this.measure, ...this.axes, say: this.sentence,
      close: this.looked === this.first ? "-1" : String(this.looked) });
  }
  /** Returns the runs that a curve needs. @returns {import("./player_pool.js").Wish[]} */
  wishes(i) {
    return Array.from({ length: this.seeds }, (_, seed) => ({
      family: this.family(i), stop: this.stops[i], seed, closely: i === this.looked && seed === 0,
    }));
  }
  /** Plays the current settings. */
  play() {
    this.show();
    this.asked = performance.now();
    if (this.due) this.due = this.asked + LATE;  // the first chart of the page does not wait
    this.drawn = 0;
    clearTimeout(this.resting);
    this.follows = null;
    clearTimeout(this.dims);
    this.dims = setTimeout(() => this.dim(true), DIM);
    const wishes = inTurn(this.head.curves.flatMap((_, i) => this.wishes(i)), this.seeds, this.head.families);
    this.missing = wishes.filter((wish) => !this.pool.result(wish)).length;
    this.failure = "";
    this.pool.want(wishes);
    this.draw();
  }
  /** Draws the results so far if that is worthwhile, and reports progress. */
  draw(failure = "") {
    const { curves } = this.head;
    if (failure) this.failure = failure;
    const results = curves.map((_, i) => this.wishes(i).map((wish) => this.pool.result(wish)));
    const runs = results.flat(), known = runs.filter(Boolean).length, waiting = known < runs.length;
    const there = Math.min(...results.map((own) => [...own, undefined].indexOf(undefined)));  // seeds of all curves
    const now = performance.now(), left = runs.length - known;
    const long = !this.due || (now >= this.due && (now - this.asked) * left > NEXT * (this.missing - left));
    const fresh = this.charts && (!waiting || (there > this.drawn && long));
    if (fresh && !this.failure) {
      this.paint(results.map((own) => own.slice(0, there)));
      this.drawn = there;
      this.due = performance.now() + NEXT;
    }
    document.body.classList.toggle("waiting", waiting);
    if (!waiting) this.dim(false);
    document.body.classList.toggle("partly", waiting && this.drawn > 0);
    if (this.failure) at("played").textContent = this.failure;
    else if (waiting && (this.drawn || now - this.asked > DIM)) {
      at("played").textContent = `Playing run ${known + 1} of ${runs.length} … `
        + (this.drawn ? `The chart has ${this.drawn} of ${this.seeds} seeds so far.` : "");
    }
    if (this.failure || waiting || !fresh) return;
    const took = ((performance.now() - this.asked) / 1000).toFixed(2);
    const users = human(Math.max(...curves.map(({ sizes }, i) => sizes[this.sizes[i]].episodes)));
    at("played").textContent = `Your browser has played ${runs.length} runs of up to ${users} users.`
      + (this.missing ? ` The last ${this.missing} took ${took} s.` : "");
    this.missing = 0;
  }
  /** Dims the charts, or ends that: repainting them is slow, so brief waits do not dim them. */
  dim(now) {
    clearTimeout(this.dims);
    document.body.classList.toggle("dim", now);
  }
  /** Writes the current view into the address. */
  write() {
    this.written = this.link();
    try { history.replaceState(null, "", `#${this.written}`); } catch { /* a browser refuses too many in a row */ }
  }
  /** Draws results: for each curve, those of the same number of seeds. @param {any[][]} results */
  paint(results) {
    const { head, measure, looked } = this, seeds = results[0].length;
    const theme = this.night.matches ? "dark" : "light", dress = head.charts[theme];
    const shown = head.curves.map((curve, i) => {
      const stop = this.stop(i), { episodes } = results[i][0], regret = results[i].map((result) => result.regret);
      const unit = measure === "share" ? curve.best : 1;
      const rows = measure === "cumulative" ? regret
        : regret.map((row) => row.map((value, j) => value / episodes[j] / unit));
      return { ...curve, title: this.title(i), color: stop[theme], stop, episodes, all: band(regret, head.quantiles),
        ...band(rows, head.quantiles) };
    });
    const share = (value) => percent(value, head.said.tiny);
    const { data, layout } = regretFigure(shown, dress, measure, this.axes, head.best,
      measure === "share" ? share : human);
    drawChart("regret", data, layout, dress.config);
    const [, caption] = at("regret").children;
    caption.textContent = sentence(shown, measure, seeds, head.said);
    clearTimeout(this.resting);
    const whole = seeds === this.seeds;
    this.follows = () => {
      this.follows = null;
      at("regret").setAttribute("aria-label", `Line chart. ${caption.textContent}`);
      ends(shown, seeds, this.measures.includes("share"), head.said.tiny);
      cards(shown);
      if (whole) this.write();
    };
    if (!this.held) this.follows();
    this.resting = setTimeout(() => {  // the rest of the page follows when the slider rests
      this.follows?.();
      if (!whole) return;
      const first = [shown[looked], results[looked][0], head.families[this.family(looked)], dress];
      drawCounts(...first);
      drawPolicy(...first);
      worlds(head.worlds, theme, dress.config);
    }, REST);
  }
}
export async function start() {
  try {
    const [runs, engine, worker] = await Promise.all(["packed-runs", "packed-engine", "packed-worker"].map(unpacked));
    document.body.classList.toggle("within", window.self !== window.top);
    const size = new DataView(runs).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(runs, 4, size)));
    const module = await WebAssembly.compile(engine);
    window.player = new Player(head, new Uint8Array(runs, 4 + size), module, new TextDecoder().decode(worker));
    await unpacked("packed-plotly").then(loaded);  // the workers play meanwhile
    signPictures();
    window.player.charts = true;
    window.player.draw();
    window.player.pool.settled();
  } catch (error) {
    at("played").textContent = `This browser cannot play the runs: ${error.message}.`;
  }
}
