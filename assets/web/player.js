// A page that plays its runs live, in the reader's browser, without a server. dprl/player writes what it holds.
import { cards, ends, worlds } from "./player_below.js";
import { closeLook } from "./player_close.js";
import { regretFigure } from "./player_chart.js";
import { decode, encode } from "./player_link.js";
import { add, at, control, loaded, unpacked } from "./player_parts.js";
import { inTurn, Pool } from "./player_pool.js";
import { percent, sentence } from "./player_sentence.js";
import { band, human } from "./player_words.js";
/**
 * @typedef {object} Curve
 * @property {string} title as the dashboard called it
 * @property {string} label the same where its budget is another; "{}" stands for that
 * @property {Record<string, string>} pairs its spec, as a link says it
 * @property {number | null} epsilon its own budget
 * @property {{episodes: number, text: string, family: number}[]} sizes numbers of users, ascending
 * @property {number} size its own among them
 * @property {number} seeds its own number of seeds
 * @property {number} best V*, the value of an optimal episode, exactly; and in words
 * @property {string} best_text
 * @property {string} place losses are only compared within one
 * @property {string} dash
 * @property {string} symbol
 * @property {number} number
 * @typedef {object} Head what the page holds beside the arrays
 * @property {Curve[]} curves
 * @property {(import("./player_pack.js").Family & {stops:
 *   {text: string, spec: [string, string], card: any, light: string, dark: string}[]})[]}
 *   families
 * @property {import("./player_link.js").Codec} codec
 * @property {import("./player_below.js").World[]} worlds
 * @property {string[]} kernels
 * @property {number[]} quantiles
 * @property {Record<string, any>} charts
 * @property {string} measure
 * @property {{x: string, y: string}} axes
 * @property {{value: number, name: string, hover: string} | null} best V*, where all curves have the same
 * @property {any} said templates of sentences
 * @property {string} sentence what whoever shares the page says, "" for nothing
 */
const REST = 100;  // ms
// ms, after which the seeds that are there are drawn, and the next of them: those that will not wait for so long are
// drawn with the others. A drawing takes a tenth of a second from the workers.
const LATE = 300, NEXT = 1000;
const DIM = 500;  // ms, after which what is drawn is marked as old, and what is played is said
const MEASURES = { share: "Share of V* lost", cumulative: "Regret so far", "per-episode": "Regret per episode" };
const AXES = { "log log": "both", "log linear": "users", "linear log": "what is lost", "linear linear": "neither" };
class Player {
  /**
   * @param {Head} head
   * @param {Uint8Array} data
   * @param {WebAssembly.Module} module which all workers share
   * @param {string} script of the workers
   */
  constructor(head, data, module, script) {
    this.head = head;
    const slim = head.families.map(({ stops, ...family }) => ({
      ...family, stops: stops.map(({ words, buffers }) => ({ words, buffers })),
    }));
    this.pool = new Pool(script, { module, kernels: head.kernels, families: slim, data }, (said) => this.draw(said));
    this.night = matchMedia("(prefers-color-scheme: dark)");
    this.night.addEventListener("change", () => this.draw());
    addEventListener("hashchange", () => { this.follow(); this.play(); });
    /** What can be drawn: where nothing can be lost, there is no share of it. */
    this.measures = Object.keys(MEASURES).filter((one) => one !== "share" || head.curves.every(({ best }) => best > 0));
    this.written = "";
    this.asked = 0;
    this.which = 0;
    /** How many seeds are drawn of what is played, and when the next may be. */
    this.drawn = 0;
    this.due = 0;
    /** Whether a hand holds a slider: then nothing but the chart follows it. */
    this.held = false;
    /** What follows the chart once it is let go. @type {(() => void) | null} */
    this.follows = null;
    /** Whether Plotly is there. */
    this.charts = false;
    this.first = Math.max(0, head.curves.findIndex(({ epsilon }) => epsilon !== null));
    this.reset();
    this.controls();
    this.follow();
    this.play();
  }
  /** The page's own curves. */
  reset() {
    const { curves } = this.head;
    /** Of each curve the places of its size and its stop. */
    this.sizes = curves.map(({ size }) => size);
    this.stops = curves.map(({ epsilon }, i) => Math.max(0, this.own(i).findIndex((one) => one.epsilon === epsilon)));
    this.look(this.head);
    this.looked = this.first;
    this.sentence = this.head.sentence;
    this.seeds = Math.min(Math.max(...curves.map(({ seeds }) => seeds)), this.mostSeeds());
  }
  /**
   * Takes over what is drawn, on which axes; whether that can be.
   * @param {{measure: string, axes: {x: string, y: string}}} wanted
   */
  look({ measure, axes }) {
    const known = this.measures.includes(measure), axis = (one) => one === "linear" ? one : "log";
    this.measure = known ? measure : this.measures[0];
    this.axes = { x: axis(axes.x), y: axis(axes.y) };
    return known;
  }
  /** What is played of a curve now. @param {number} i */
  family(i) { return this.head.curves[i].sizes[this.sizes[i]].family; }
  /** Its budgets. @param {number} i */
  own(i) { return this.head.families[this.family(i)].stops; }
  mostSeeds() {
    return Math.min(...this.head.curves.flatMap(({ sizes }) =>
      sizes.map(({ family }) => this.head.families[family].seeds.length)));
  }
  /** What a curve is called at its budget. @param {number} i */
  title(i) {
    const { title, label, epsilon } = this.head.curves[i];
    const now = this.own(i)[this.stops[i]].epsilon;
    return now === epsilon ? title : label.replace("{}", String(now));
  }
  /** Which curves a move of the budget moves: one, or all that have one. */
  moved() {
    const all = this.head.curves.flatMap(({ epsilon }, i) => epsilon === null ? [] : [i]);
    return this.which === 0 ? all : [all[this.which - 1]];
  }
  /** The budgets that all of these have, ascending. @param {number[]} curves */
  common(curves) {
    const sets = curves.map((i) => this.own(i).map(({ epsilon }) => epsilon));
    return sets.length ? sets[0].filter((one) => sets.every((set) => set.includes(one))) : [];
  }
  controls() {
    const { curves } = this.head, box = at("controls");
    const whose = control(box, { id: "whose", label: "Curves to move", words: [], menu: true }, (place) => {
      this.which = place;
      this.show();
    });
    const epsilon = control(box, {
      id: "epsilon", label: "Privacy budget ε", words: [],
      note: "More privacy, and more noise, to the left. Noise was calibrated for each position of the slider. At "
        + "each position, your browser plays the runs again.",
    }, (place) => {
      const chosen = this.common(this.moved())[place];
      for (const i of this.moved()) this.stops[i] = this.own(i).findIndex((one) => one.epsilon === chosen);
      this.play();
    });
    const episodes = control(box, { id: "episodes", label: "Number of users K", words: [] }, (place) => {
      for (const i of curves.keys()) {
        const before = this.own(i)[this.stops[i]].epsilon;
        this.sizes[i] = place;
        this.stops[i] = this.own(i).findIndex((one) => one.epsilon === before);
      }
      this.play();
    });
    const many = Array.from({ length: this.mostSeeds() }, (_, i) => i ? `${i + 1} seeds` : "1 seed");
    const seeds = control(box, { id: "seeds", label: "Average over", words: many,
      note: "A seed is one repetition of the run, with random draws of its own." }, (place) => {
      this.seeds = place + 1;
      this.play();
    });
    const measure = control(box, { id: "measure", label: "Measure shown", words: [], menu: true }, (place) => {
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
    back.onclick = () => { this.reset(); this.which = 0; this.show(); this.play(); };
    const close = control(at("close"), { id: "looked", label: "Curve", words: [], menu: true }, (place) => {
      this.looked = place;
      this.play();
    });
    const sameSizes = curves.every(({ sizes }) => sizes.map(({ episodes }) => episodes).join() ===
      curves[0].sizes.map(({ episodes }) => episodes).join());
    /** Everything that is moved, as it stands. */
    this.show = () => {
      at("sentence").textContent = this.sentence && `Whoever shared this says: ${this.sentence}`;
      const names = curves.map((_, i) => this.title(i));
      const all = this.head.curves.flatMap(({ epsilon }, i) => epsilon === null ? [] : [i]);
      whose(this.which, all.length > 1 ? ["all private curves", ...all.map((i) => names[i])] : []);
      const common = this.common(this.moved());
      const now = new Set(this.moved().map((i) => this.own(i)[this.stops[i]].epsilon));
      const words = common.map((one) => now.size > 1 ? "each its own" : `ε = ${one}`);
      const place = now.size === 1 ? common.indexOf([...now][0]) : Math.floor(common.length / 2);
      epsilon(Math.max(place, 0), words);
      episodes(this.sizes[0], sameSizes ? curves[0].sizes.map((one) => human(one.episodes)) : []);
      seeds(this.seeds - 1);
      measure(this.measures.indexOf(this.measure), this.measures.map((one) => MEASURES[one]));
      axes(Object.keys(AXES).indexOf(`${this.axes.x} ${this.axes.y}`));
      close(this.looked, names);
    };
    this.show();
  }
  /** Takes over what the fragment says; one sentence where it cannot be. */
  follow() {
    const fragment = location.hash.slice(1);
    if (fragment === this.written) return;
    at("said").textContent = "";
    this.sentence = this.head.sentence;
    if (!fragment) return;
    try {
      const { curves, codec } = this.head;
      const told = decode(fragment, codec, curves.map(({ pairs }) => pairs)), { curves: chosen, lacks } = told;
      const sizes = curves.map((curve, i) =>
        curve.sizes.findIndex((one) => one.episodes === Number(chosen[i].episodes)));
      const wrong = sizes.findIndex((place) => place < 0);
      if (wrong >= 0) throw new Error(`this page has no curve ${wrong + 1} with that number of users`);
      const stops = curves.map((curve, i) => curve.epsilon === null ? 0
        : this.head.families[curve.sizes[sizes[i]].family].stops.findIndex((one) =>
          one.epsilon === Number(chosen[i].epsilon)));
      const missing = stops.findIndex((place) => place < 0);
      if (missing >= 0) throw new Error(`this page has no curve ${missing + 1} at that ε`);
      const seeds = Number(chosen[0].seeds);
      if (!(Number.isInteger(seeds) && seeds >= 1 && seeds <= this.mostSeeds())) {
        throw new Error(`this page has 1 to ${this.mostSeeds()} seeds`);
      }
      const looked = curves[told.close] ? Number(told.close) : this.first;
      Object.assign(this, { sizes, stops, seeds, sentence: told.say, looked });
      if (!this.look({ ...told, axes: told })) lacks.unshift(`its measure (here: ${MEASURES[this.measure]})`);
      if (chosen.some(({ name }, i) => name && name !== this.title(i))) lacks.push("names of curves");
      if (lacks.length) at("said").textContent = `This page cannot show everything in the link: ${lacks.join(", ")}.`;
    } catch (error) {
      this.reset();
      at("said").textContent = `The link could not be used, and the page's own settings are shown: ${error.message}.`;
    } finally {
      this.show();
    }
  }
  /** The fragment that says what is seen. */
  link() {
    const { curves, codec } = this.head;
    return encode(codec, curves.map(({ pairs, sizes }, i) => {
      const stop = this.own(i)[this.stops[i]];
      /** @type {import("./player_link.js").Pairs} */
      const moved = { ...pairs, K: sizes[this.sizes[i]].text, seeds: String(this.seeds) };
      if (stop.epsilon !== null) moved.eps = stop.text;
      if (stop.epsilon !== curves[i].epsilon) delete moved.name;
      return moved;
    }), { measure: this.measure, ...this.axes, say: this.sentence,
      close: this.looked === this.first ? "-1" : String(this.looked) });
  }
  /** @param {number} i @returns {import("./player_pool.js").Wish[]} */
  wishes(i) {
    return Array.from({ length: this.seeds }, (_, seed) => ({
      family: this.family(i), stop: this.stops[i], seed, closely: i === this.looked && seed === 0,
    }));
  }
  /** Asks for what is to be seen, and draws when it is there. */
  play() {
    this.show();
    this.asked = performance.now();
    if (this.due) this.due = this.asked + LATE;  // what the page opens with is drawn as it comes
    this.drawn = 0;
    clearTimeout(this.resting);
    this.follows = null;
    clearTimeout(this.dims);
    this.dims = setTimeout(() => this.dim(true), DIM);
    const each = this.head.curves.map((_, i) => this.wishes(i));
    const wishes = inTurn(each.flat(), this.seeds, this.head.families);
    this.missing = wishes.filter((wish) => !this.pool.result(wish)).length;
    this.said = "";
    this.pool.want(wishes);
    this.draw();
  }
  /** @param {string} [said] what went wrong */
  draw(said = "") {
    const { curves } = this.head;
    if (said) this.said = said;
    const results = curves.map((_, i) => this.wishes(i).map((wish) => this.pool.result(wish)));
    const runs = results.flat(), known = runs.filter(Boolean).length, waiting = known < runs.length;
    const there = Math.min(...results.map((those) => [...those, undefined].indexOf(undefined)));  // seeds of all curves
    const now = performance.now(), left = runs.length - known;
    const long = !this.due || (now >= this.due && (now - this.asked) * left > NEXT * (this.missing - left));
    const fresh = this.charts && (!waiting || (there > this.drawn && long));
    if (fresh && !this.said) {
      this.paint(results.map((those) => those.slice(0, there)));
      this.drawn = there;
      this.due = performance.now() + NEXT;
    }
    document.body.classList.toggle("waiting", waiting);
    if (!waiting) this.dim(false);
    document.body.classList.toggle("partly", waiting && this.drawn > 0);
    if (this.said) {
      at("played").textContent = this.said;
      return;
    }
    if (waiting && (this.drawn || now - this.asked > DIM)) {
      at("played").textContent = `Playing run ${known + 1} of ${runs.length} … `
        + (this.drawn ? `The chart has ${this.drawn} of ${this.seeds} seeds so far.` : "");
    }
    if (waiting || !fresh) return;
    const took = ((performance.now() - this.asked) / 1000).toFixed(2);
    const users = human(Math.max(...curves.map(({ sizes }, i) => sizes[this.sizes[i]].episodes)));
    at("played").textContent = `Your browser has played ${runs.length} runs of up to ${users} users.`
      + (this.missing ? ` The last ${this.missing} took ${took} s.` : "");
    this.missing = 0;
  }
  /** What is drawn is of other settings than the controls say: charts are painted anew for it, so not in each drag. */
  dim(now) {
    clearTimeout(this.dims);
    document.body.classList.toggle("dim", now);
  }
  /** The address, which says what is seen. */
  write() {
    this.written = this.link();
    try { history.replaceState(null, "", `#${this.written}`); } catch { /* too many in a row */ }
  }
  /**
   * Draws the seeds that are there.
   * @param {any[][]} results of each curve those of its seeds, as many of each
   */
  paint(results) {
    const { curves } = this.head, seeds = results[0].length;
    const theme = this.night.matches ? "dark" : "light";
    const shown = curves.map((curve, i) => {
      const stop = this.own(i)[this.stops[i]];
      const { episodes } = results[i][0];
      const unit = this.measure === "share" ? curve.best : 1;
      const rows = results[i].map(({ regret }) => this.measure === "cumulative" ? regret
        : regret.map((value, j) => value / episodes[j] / unit));
      const all = band(results[i].map(({ regret }) => regret), this.head.quantiles);
      return { ...curve, title: this.title(i), color: stop[theme], stop, episodes, rows, all,
        ...band(rows, this.head.quantiles) };
    });
    const share = (value) => percent(value, this.head.said.tiny);
    const { figure, config } = regretFigure(shown, this.head.charts[theme], this.measure, this.axes, this.head.best,
      this.measure === "share" ? share : human);
    const chart = /** @type {any} */ (at("regret").querySelector(".plot"));
    chart.style.height = `${figure.layout.height}px`;
    Plotly.react(chart, figure.data, figure.layout, config);
    const [, caption] = at("regret").children;
    caption.textContent = sentence(shown, this.measure, seeds, this.head.said);
    clearTimeout(this.resting);
    const whole = seeds === this.seeds;
    this.follows = () => {
      this.follows = null;
      at("regret").setAttribute("aria-label", `Line chart. ${caption.textContent}`);
      ends(shown, seeds, this.measures.includes("share"), this.head.said.tiny);
      cards(shown);
      if (whole) this.write();
    };
    if (!this.held) this.follows();
    this.resting = setTimeout(() => {  // what is below the chart follows when the hand rests
      this.follows?.();
      if (!whole) return;
      const looked = this.looked, family = this.head.families[this.family(looked)];
      closeLook(shown[looked], results[looked][0], family, this.head.charts[theme]);
      worlds(this.head.worlds, theme, this.head.charts[theme].config);
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
    await unpacked("packed-plotly").then(loaded);  // meanwhile its workers play
    signPictures();
    window.player.charts = true;
    window.player.draw();
    window.player.pool.settled();
  } catch (error) {
    at("played").textContent = `This browser cannot play the runs: ${error.message}.`;
  }
}
