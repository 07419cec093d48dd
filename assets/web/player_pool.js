// Workers that play runs: the newest wish first, and no run that nobody waits for any more.
const MOST_WORKERS = 4;  // each holds a seed's arrays, up to 50 MB
const MOST_KEPT = 4000;  // results of about 3 kB
const MOST_PLAYED = 200;  // runs of a worker before another replaces it, because browsers free module memory late
const PATIENCE = 20_000;  // ms until a run is given up
const LEFT = 500;  // ms until an unwanted run is ended: most end sooner, and their worker keeps its noise
// Requests that each worker gets at once while the page still loads and cannot hand out the next: enough for the eight
// curves of a full page on two cores.
const AT_FIRST = 4;
/** @typedef {{family: number, stop: number, seed: number, closely: boolean}} Wish */
export class Pool {
  /**
   * @param {string} script of the workers
   * @param {object} setup the first message to each worker
   * @param {(failure: string) => void} changed called with "" when a result arrives, and with the reason of a failure
   */
  constructor(script, setup, changed) {
    this.url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.setup = setup;
    this.changed = changed;
    /** @type {Map<string, any>} */
    this.found = new Map();
    /** @type {Wish[]} */
    this.wishes = [];
    /** The keys of all wishes, running or not. @type {Set<string>} */
    this.wanted = new Set();
    this.ahead = AT_FIRST;
    const many = Math.max(1, Math.min(MOST_WORKERS, navigator.hardwareConcurrency ?? 2));
    this.workers = Array.from({ length: many }, () => this.begun());
  }
  static key(/** @type {Wish} */ { family, stop, seed, closely }) { return `${family} ${stop} ${seed} ${closely}`; }
  /** Starts a worker, in the record of one that was ended or in a new record. */
  begun(/** @type {any} */ record = {}) {
    const worker = new Worker(this.url);
    Object.assign(record, { worker, /** @type {Wish[]} */ asked: [], timer: 0, played: 0, left: false });
    worker.onmessage = ({ data }) => this.ended(record, data);
    worker.onerror = (event) => this.ended(record, { failed: event.message });
    worker.postMessage(this.setup);
    return record;
  }
  /** Replaces all wishes. Unwanted runs are not started, and those that are running are soon ended.
   * @param {Wish[]} wishes */
  want(wishes) {
    this.wanted = new Set(wishes.map(Pool.key));
    const busy = this.busy();
    this.wishes = wishes.filter((wish) => !this.result(wish) && !busy.has(Pool.key(wish)));
    for (const worker of this.workers) {  // a further move of the slider does not give an unwanted run more time
      if (worker.asked.length && worker.left === this.wanted.has(Pool.key(worker.asked[0]))) this.wait(worker);
    }
    this.next();
  }
  /** Returns the keys of the wishes that workers have. */
  busy() { return new Set(this.workers.flatMap(({ asked }) => asked.map(Pool.key))); }
  result(wish) { return this.found.get(Pool.key(wish)); }
  /** Ends the first phase: from now on each worker has one wish at a time. */
  settled() { this.ahead = 1; this.next(); }
  next() {
    for (let deep = 1; deep <= this.ahead; deep += 1) {
      for (const [number, worker] of this.workers.entries()) {
        if (worker.asked.length < deep) this.give(worker, number);
      }
    }
  }
  give(worker, number) {
    const busy = this.busy();
    const free = (wish) => !busy.has(Pool.key(wish)) && (this.ahead === 1 || wish.seed === 0);
    const own = (wish) =>  // the worker may have kept the noise of this seed
      (wish.family + wish.seed) % this.workers.length === number && free(wish);
    let place = this.wishes.findIndex(own);
    if (place < 0) place = this.wishes.findIndex(free);
    if (place < 0) return;
    const [wish] = this.wishes.splice(place, 1);
    worker.asked.push(wish);
    if (worker.asked.length === 1) this.wait(worker);
    worker.worker.postMessage({ ...wish, key: Pool.key(wish) });
  }
  /** Starts the time after which the worker's run is given up. */
  wait(worker) {
    clearTimeout(worker.timer);
    worker.left = !this.wanted.has(Pool.key(worker.asked[0]));
    const failed = worker.left ? "" : "it took too long";
    worker.timer = setTimeout(() => this.ended(worker, { failed }, true), worker.left ? LEFT : PATIENCE);
  }
  ended(worker, data, givenUp = false) {
    clearTimeout(worker.timer);
    worker.asked.shift();
    worker.played += 1;
    if (givenUp || (worker.played >= MOST_PLAYED && !worker.asked.length)) {
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
/** Orders wishes by seed. The slowest runs of the last two seeds come first, so that all workers end together.
 * @param {Wish[]} wishes
 * @param {{seconds: number}[]} families */
export function inTurn(wishes, seeds, families) {
  const turn = ({ seed }) => Math.min(seed, Math.max(seeds - 2, 1)), long = ({ family }) => families[family].seconds;
  return [...wishes].sort((a, b) => turn(a) - turn(b) || long(b) - long(a));
}
