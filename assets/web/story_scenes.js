import { clamp, element, fill, say, shape } from "./parts.js";
import { AXIS, axes, between, grid, growing, health, picture } from "./story_parts.js";

// The scenes. Each has its length in seconds, draws itself at a width, and shows itself at a time. The time alone
// determines what a scene shows, so without motion a scene simply shows its end.
const STEP = 0.3, TURN = 2, USER = 0.16, WAIT = 1.5, ROW = 0.22, RACE = 7, MOMENT = 0.75, SAME = 0.1;  // seconds
const BESIDE = 560;  // pixels of width from which on two pictures are side by side
const GUTTER = 46;  // pixels left of a grid
const SCALE = 44, BELOW = 26, TITLE = 22;  // heights of the scale of health, of its labels, and of a title
const NARROW = 140, CHART = 105;  // heights of a grid and a chart below each other
const LOUD = 2.5;  // standard deviations of the largest noise that make a cell as dark as possible
const CHANGED = 0.02;  // of the best reward: a moment with a smaller change passes quickly
const GROW = [5, 4.2, 3.4, 2.6, 1.8];  // the first users are shown this many times as long as others

const rows = () => clamp((innerHeight - 470) / 20, 9, 24);  // pixels
const titled = (svg, x, text) => shape(svg, "text", { x, y: 14, class: "title" }, text);

function counted(paths, run) {
  const counts = new Array(run.places * run.steps).fill(0);
  for (const path of paths) [...path].forEach((place, h) => { counts[h * run.places + Number(place)] += 1; });
  return counts;
}

const shades = (counts, most) => counts.map((n) => Math.sqrt(n / most));

function place(path, steps) {  // also between two steps
  const now = Math.floor(steps), from = Number(path[now]), to = Number(path[Math.min(now + 1, path.length - 1)]);
  return from + (to - from) * (steps - now);
}

// Returns the index of the moment at a time. begins: the start of each moment, and the end of the last.
export const momentOf = (begins, time) => clamp(begins.findLastIndex((begin) => begin <= time), 0, begins.length - 2);

function day(host, { run, words, wording }) {
  const draw = picture(host, wording.alt), caption = element(host, "p", "told");
  const far = String(run.places - 1), path = run.paths.at(-1);  // of Anna, whom the attack finds later
  let scale, field;
  return {
    length: run.steps * STEP,
    draw: (width) => {
      const high = rows() * run.steps, svg = draw(width, SCALE + BELOW + high + 4);
      const box = { x: GUTTER, width: width - GUTTER };
      field = grid(svg, { ...box, y: SCALE + BELOW, height: high }, run, words);
      scale = health(svg, { ...box, y: 2, height: SCALE - 4 }, run, words);
    },
    show: (time) => {
      const steps = Math.min(time / STEP, run.steps - 1), walked = [...path.slice(0, Math.floor(steps) + 1)];
      scale.move(place(path, steps));
      field.path(path, steps);
      say(caption, fill(wording.told, { times: walked.filter((at) => at === far).length }));
    },
  };
}

function count(host, { run, words, wording }) {
  const draw = picture(host, wording.alt), caption = element(host, "p", "told");
  const begins = [0];  // the time of each user
  run.paths.forEach((_, i) => begins.push(begins[i] + USER * (GROW[i] ?? 1)));
  const most = Math.max(...counted(run.paths, run));
  let field, shown = -1;
  return {
    length: begins.at(-1),
    draw: (width) => {
      const high = rows() * run.steps;
      field = grid(draw(width, high + 4), { x: GUTTER, width: width - GUTTER, y: 2, height: high }, run, words);
      shown = -1;
    },
    show: (time) => {
      const next = begins.findIndex((begin) => begin > time), users = next < 0 ? begins.length : next;
      if (users === shown) return;
      shown = users;
      const all = users > run.paths.length;
      const now = counted(run.paths.slice(0, users), run);
      field.cells(shades(now, most));
      field.path(all ? "" : run.paths[users - 1], run.steps);
      say(caption, fill(wording.users, { users: Math.min(users, run.paths.length), most: Math.max(...now) }));
    },
  };
}

function attack(host, { run, wording }) {
  const draw = picture(host, wording.alt), caption = element(host, "p", "told");
  const all = counted(run.paths, run), others = counted(run.paths.slice(0, -1), run);
  const left = all.map((n, i) => n - others[i]), most = Math.max(...all);
  let fields;
  return {
    length: WAIT + run.steps * ROW,
    draw: (width) => {
      const high = rows() * run.steps, sign = width < BESIDE ? 16 : 34, wide = (width - 2 * sign) / 3;
      const svg = draw(width, TITLE + high + 4), x = (i) => i * (wide + sign);
      fields = [wording.all, wording.others, wording.left].map((text, i) => {
        titled(svg, x(i), text);
        return grid(svg, { x: x(i), width: wide, y: TITLE, height: high }, run);
      });
      for (const [i, text] of ["−", "="].entries()) {
        const at = { x: x(i + 1) - sign / 2, y: TITLE + high / 2 + 8, "text-anchor": "middle", class: "sign" };
        shape(svg, "text", at, text);
      }
      fields[0].cells(shades(all, most));
      fields[1].cells(shades(others, most));
    },
    show: (time) => {
      const steps = Math.floor((time - WAIT) / ROW);
      fields[2].cells(left.map((n, i) => (Math.floor(i / run.places) <= steps ? n : 0)));
      say(caption, steps >= run.steps ? wording.only : "\u00a0");
    },
  };
}

// Returns the sizes of a grid and a chart, side by side if there is room: the grid then has this height, share of the
// width, and gap to the chart. above: the height above the grid.
function sideBySide(width, above, high, share, gap) {
  if (width < BESIDE) {
    const box = { x: AXIS, y: above + NARROW + TITLE + 16, width: width - AXIS - 8, height: CHART };
    return { wide: width, high: NARROW, height: above + NARROW + 4 + CHART + TITLE + 42, box };
  }
  const wide = share * width, left = wide + gap + AXIS;
  const box = { x: left, y: TITLE + 8, width: width - left - 8, height: above + high - TITLE - 32 };
  return { wide, high, height: above + high + 4, box };
}

function noise(host, { run, wording, texts, place: stop }) {
  const draw = picture(host, texts.alts[stop()]), caption = element(host, "p", "told");
  const { noise: drawn } = run, left = counted(run.paths.slice(-1), run);
  const top = Math.max(...drawn.users[0], ...drawn.noisy.flat()), loud = Math.log(1 + LOUD * Math.max(...drawn.std));
  // All epsilons share one scale, so a larger epsilon visibly leaves less noise. Without noise only the path is left,
  // as dark as possible.
  const shade = (n, std) => (std ? Math.sign(n) * Math.log(1 + Math.abs(n)) / loud : n);
  let field, lines, points, shown = -1;
  return {
    length: RACE,
    draw: (width) => {
      const { wide, high, height, box } = sideBySide(width, TITLE, rows() * run.steps, 0.4, 24);
      const svg = draw(width, height);
      titled(svg, 0, wording.seen);
      field = grid(svg, { x: 0, width: wide, y: TITLE, height: high }, run);
      const y = (n) => box.y + box.height * (1 - Math.log(Math.max(n, 1)) / Math.log(top));
      const x = axes(svg, box, wording.race, top, y, texts.users, texts.counts);
      lines = [growing(svg, "noisy"), growing(svg, "true")];
      points = drawn.users.map((users, i) => [drawn.noisy[i], drawn.true[i]].map(
        (counts) => counts.map((n, m) => [x(users[m]), y(n)]),
      ));
      shown = -1;
    },
    show: (time) => {
      const i = stop(), last = drawn.users[i].length - 1, until = clamp(time / RACE, 0, 1) * last;
      if (i !== shown) {
        field.cells(left.map((n, cell) => shade(n + drawn.cells[i][cell], drawn.std[i])));
        host.querySelector("svg").setAttribute("aria-label", texts.alts[i]);
        shown = i;
      }
      lines.forEach((line, j) => line(points[i][j], until));
      say(caption, `${texts.deviations[i]} ${texts.now[i][Math.floor(until)]}`);
    },
  };
}

function learn(host, { run, words, wording, texts }) {
  const draw = picture(host, wording.alt), caption = element(host, "p", "told");
  const { learning } = run, last = learning.users.length - 1;
  const changed = (lost, now) => Math.abs(lost[now] - lost[now - 1]) > CHANGED;
  const begins = [0];  // the time of each moment
  learning.users.forEach((_, now) => {
    const long = now === last || changed(learning.lost, now) || changed(learning.baseline, now);
    begins.push(begins[now] + (long ? MOMENT : SAME));
  });
  let scale, field, lines, points, shown = -1, row = -1;
  return {
    length: begins[last + 1],
    begins,
    draw: (width) => {
      const above = SCALE + BELOW + TITLE;
      const { wide, high, height, box } = sideBySide(width, above, 0.85 * rows() * run.steps, 0.55, 28);
      const svg = draw(width, height), part = { x: GUTTER, width: wide - GUTTER };
      titled(svg, 0, wording.policy);
      field = grid(svg, { ...part, y: above, height: high }, run, words);
      scale = health(svg, { ...part, y: TITLE + 2, height: SCALE - 4 }, run, words);
      const y = (lost) => box.y + box.height * (1 - lost);
      const x = axes(svg, box, wording.loss, learning.users[last], y, texts.users, texts.lost);
      lines = [growing(svg, "bare"), growing(svg, "private")];
      points = [learning.baseline, learning.lost].map((lost) => lost.map((n, m) => [x(learning.users[m]), y(n)]));
      shown = row = -1;
    },
    show: (time) => {
      const now = momentOf(begins, time), path = learning.paths[now], whole = begins[now + 1] - begins[now];
      const steps = clamp((time - begins[now]) / whole, 0, 0.999) * (run.steps - 1), step = Math.floor(steps);
      if (now !== shown) {
        field.policy(learning.policies[now]);
        say(caption, texts.now[now]);
      }
      if (now !== shown || step !== row) field.arrows(learning.policies[now], step);
      shown = now;
      row = step;
      scale.move(place(path, steps));
      field.path(path, steps);
      lines.forEach((line, j) => line(points[j], now));  // up to the moment that the caption describes
    },
  };
}

// Shows three ways to add noise, one after another. Each has users, the party that they trust, and the app.
function trust(host, { wording }) {
  const draw = picture(host, wording.alt);
  let panels = [], shown = -1;
  const zigzag = (svg, x, y, size) => shape(svg, "path", {
    d: `M${x - 2 * size} ${y}l${size / 2} ${-size} ${size} ${2 * size} ${size} ${-2 * size} ${size} ${2 * size} `
      + `${size / 2} ${-size}`,
    class: "zigzag",
  });
  return {
    length: wording.names.length * TURN,
    draw: (width) => {
      const beside = width >= BESIDE, wide = beside ? width / 3 : width, high = beside ? 200 : 128;
      const svg = draw(width, beside ? high : 3 * high), gap = beside ? 36 : 20, middle = beside ? 105 : 74;
      const [user, party, app] = [16, 0.47 * Math.min(wide, 260), Math.min(wide, 260) - 46];
      panels = wording.names.map((name, way) => {
        const at = beside ? [way * wide, 0] : [0, way * high];
        const panel = shape(svg, "g", { transform: `translate(${at})` });
        titled(panel, 0, name);
        shape(panel, "text", { x: 0, y: 34 }, wording.does[way]);
        [-1, 0, 1].forEach((one) => {
          const y = middle + one * gap, to = middle + (way === 1 ? -one * gap / 3 : one * gap / 3);
          const line = way === 2 ? `M${user} ${y}L${app} ${to}` : `M${user} ${y}L${party} ${to}L${app} ${to}`;
          shape(panel, "path", { d: line, class: "way" });
          shape(panel, "circle", { cx: user, cy: y, r: 7, class: "user" });
          if (way) zigzag(panel, between(user, party, 0.5), between(y, to, way === 1 ? 0.5 : 0.35), way === 1 ? 4 : 8);
        });
        const box = { y: middle - gap, height: 2 * gap, rx: 6, class: "party" };
        if (way < 2) shape(panel, "rect", { ...box, x: party - 12, width: 24 });
        if (!way) zigzag(panel, between(party, app, 0.5), middle, 8);
        shape(panel, "rect", { ...box, x: app, width: 42, class: "app" });
        shape(panel, "text", { x: app + 21, y: middle + 5, "text-anchor": "middle" }, wording.app);
        shape(panel, "text", { x: 0, y: high - 8, class: "title" }, wording.needs[way]);
        return panel;
      });
      shown = -1;
    },
    show: (time) => {
      const now = Math.floor(time / TURN);
      if (now === shown) return;
      shown = now;
      panels.forEach((panel, way) => panel.setAttribute("opacity", way <= now ? 1 : 0.15));
    },
  };
}

export const SCENES = { day, count, attack, noise, learn, trust };
