// Workers that play runs: the newest wish first, and none of those that nobody waits for any more.
const MOST_WORKERS = 4;  // of which each holds a seed's arrays, up to 50 MB
const MOST_KEPT = 4000;  // results, of about 3 kB
const MOST_PLAYED = 200;  // runs of one worker, after which another takes its place: memory of modules goes late
const PATIENCE = 20_000;  // ms, after which a run is given up
const LEFT = 500;  // ms, after which one is that nobody waits for any more: most end before, and the worker keeps noise
// First seeds that a worker has at once while the page is still read and cannot hand out the next: the eight curves of
// a full page on two cores.
const AT_FIRST = 4;
/**
 * @typedef {{family: number, stop: number, seed: number, closely: boolean}} Wish
 */
export class Pool {
  /**
   * @param {string} script of the workers
   * @param {object} setup what each is told first
   * @param {(said: string) => void} changed is called when a result is there ("") or a run has failed (why)
   */
  constructor(script, setup, changed) {
    this.url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.setup = setup;
    this.changed = changed;
    /** @type {Map<string, any>} */
    this.found = new Map();
    /** @type {Wish[]} */
    this.wishes = [];
    /** Keys of all that are waited for. @type {Set<string>} */
    this.wanted = new Set();
    this.ahead = AT_FIRST;
    const many = Math.max(1, Math.min(MOST_WORKERS, navigator.hardwareConcurrency ?? 2));
    this.workers = Array.from({ length: many }, () => this.begun());
  }
  /** @param {Wish} wish */
  static key({ family, stop, seed, closely }) { return `${family} ${stop} ${seed} ${closely}`; }
  /** A worker that has begun, in the place of one that was ended. */
  begun(/** @type {any} */ made = {}) {
    const worker = new Worker(this.url);
    Object.assign(made, { worker, /** @type {Wish[]} */ asked: [], timer: 0, played: 0, left: false });
    worker.onmessage = ({ data }) => this.ended(made, data);
    worker.onerror = (event) => this.ended(made, { failed: event.message });
    worker.postMessage(this.setup);
    return made;
  }
  /**
   * What is wanted now; all else is not begun any more, and a worker that goes on with it is ended soon.
   * @param {Wish[]} wishes
   */
  want(wishes) {
    this.wanted = new Set(wishes.map(Pool.key));
    const asked = new Set(this.workers.flatMap((worker) => worker.asked.map(Pool.key)));
    this.wishes = wishes.filter((wish) => !this.found.has(Pool.key(wish)) && !asked.has(Pool.key(wish)));
    for (const worker of this.workers) {  // one that is left is not given more time by each move of a hand
      if (worker.asked.length && worker.left === this.wanted.has(Pool.key(worker.asked[0]))) this.wait(worker);
    }
    this.next();
  }
  /** @param {Wish} wish */
  result(wish) { return this.found.get(Pool.key(wish)); }
  /** All have been read: what is wished now comes next. */
  settled() { this.ahead = 1; this.next(); }
  next() {
    for (let deep = 1; deep <= this.ahead; deep += 1) {
      for (const [number, worker] of this.workers.entries()) {
        if (worker.asked.length < deep) this.give(worker, number);
      }
    }
  }
  give(worker, number) {
    const busy = new Set(this.workers.flatMap(({ asked }) => asked.map(Pool.key)));
    const free = (wish) => !busy.has(Pool.key(wish)) && (this.ahead === 1 || wish.seed === 0);
    const own = (wish) =>  // it has kept that seed's noise
      (wish.family + wish.seed) % this.workers.length === number && free(wish);
    let place = this.wishes.findIndex(own);
    if (place < 0) place = this.wishes.findIndex(free);
    if (place < 0) return;
    const [wish] = this.wishes.splice(place, 1);
    worker.asked.push(wish);
    if (worker.asked.length === 1) this.wait(worker);
    worker.worker.postMessage({ ...wish, key: Pool.key(wish) });
  }
  /** Until its run ends, or is given up. */
  wait(worker) {
    clearTimeout(worker.timer);
    worker.left = !this.wanted.has(Pool.key(worker.asked[0]));
    const failed = worker.left ? "" : "it took too long";
    worker.timer = setTimeout(() => this.ended(worker, { failed }, true), worker.left ? LEFT : PATIENCE);
  }
  /**
   * @param {any} worker
   * @param {any} data
   */
  ended(worker, data, given_up = false) {
    clearTimeout(worker.timer);
    worker.asked.shift();
    worker.played += 1;
    if (given_up || (worker.played >= MOST_PLAYED && !worker.asked.length)) {
      worker.worker.terminate();
      this.wishes.unshift(...worker.asked.filter((wish) => this.wanted.has(Pool.key(wish))));
      this.begun(worker);
    }
    if (worker.asked.length) this.wait(worker);
    if (data.key && !data.failed) {
      if (this.found.size >= MOST_KEPT) this.found.delete(this.found.keys().next().value);
      this.found.set(data.key, data);
    }
    this.next();
    this.changed(data.failed ? `A run could not be played: ${data.failed}.` : "");
  }
}
/**
 * All curves, seed by seed. Of the last two seeds what takes longest comes first, so that all workers end together.
 * @param {Wish[]} wishes
 * @param {number} seeds of each curve
 * @param {{seconds: number}[]} families
 */
export function inTurn(wishes, seeds, families) {
  const turn = ({ seed }) => Math.min(seed, Math.max(seeds - 2, 1)), long = ({ family }) => families[family].seconds;
  return [...wishes].sort((a, b) => turn(a) - turn(b) || long(b) - long(a));
}
