import { axes, between, clamp, element, fill, grid, growing, health, picture, shape } from "./story_parts.js";

// The scenes: each says how long it moves, draws itself at a width, and shows itself at a moment, in seconds. What is
// shown follows from the moment alone, so one that has no motion is shown as it is at its end.
const STEP = 0.3, TURN = 2, USER = 0.16, WAIT = 1.5, ROW = 0.22, RACE = 7, MOMENT = 0.75, SAME = 0.1;  // seconds
const BESIDE = 560;  // pixels from which on two pictures stand beside each other
const GUTTER = 46, AXIS = 58, SCALE = 44, BELOW = 26, TITLE = 22;  // pixels: left of a grid and of a chart, ...
const NARROW = 140, CHART = 105;  // heights of two that are below each other
const LOUD = 2.5;  // standard deviations of the largest noise, from which on a cell is as dark as can be
const CHANGED = 0.02;  // of the best reward: from which on a moment is shown as long as others
const GROW = [5, 4.2, 3.4, 2.6, 1.8];  // times as long as others the first users are seen

const rows = () => clamp((innerHeight - 470) / 20, 9, 24);  // pixels of a step
const say = (told, text) => { if (told.textContent !== text) told.textContent = text; };
const titled = (svg, x, text) => shape(svg, "text", { x, y: 14, class: "title" }, text);

function counted(paths, run) {
  const found = new Array(run.places * run.steps).fill(0);
  for (const path of paths) [...path].forEach((place, h) => { found[h * run.places + Number(place)] += 1; });
  return found;
}

const shades = (counts, most) => counts.map((n) => Math.sqrt(n / most));

function place(path, steps) {  // where a user is, between two steps too
  const now = Math.floor(steps), from = Number(path[now]), to = Number(path[Math.min(now + 1, path.length - 1)]);
  return from + (to - from) * (steps - now);
}

// Which moment it is. begins: when each begins, and when the last one ends.
export const momentOf = (begins, time) => clamp(begins.findLastIndex((begin) => begin <= time), 0, begins.length - 2);

function day(host, { run, words, said }) {
  const draw = picture(host, said.alt), told = element(host, "p", "told");
  const far = String(run.places - 1), path = run.paths.at(-1);  // Anna's, who is found later
  let scale, field, shown = -1;
  return {
    length: run.steps * STEP,
    draw: (width) => {
      const high = rows() * run.steps, svg = draw(width, SCALE + BELOW + high + 4);
      const box = { x: GUTTER, width: width - GUTTER };
      field = grid(svg, { ...box, y: SCALE + BELOW, height: high }, run, words);
      scale = health(svg, { ...box, y: 2, height: SCALE - 4 }, run, words);
      shown = -1;
    },
    show: (time) => {
      const steps = Math.min(time / STEP, run.steps - 1), step = Math.floor(steps);
      scale.move(place(path, steps));
      field.path(path, steps);
      if (step === shown) return;
      shown = step;
      say(told, fill(said.told, { times: [...path.slice(0, step + 1)].filter((at) => at === far).length }));
    },
  };
}

function count(host, { run, words, said }) {
  const draw = picture(host, said.alt), told = element(host, "p", "told");
  const begins = [0];  // of each user
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
      say(told, fill(said.users, { users: Math.min(users, run.paths.length), most: Math.max(...now) }));
    },
  };
}

function attack(host, { run, said }) {
  const draw = picture(host, said.alt), told = element(host, "p", "told");
  const all = counted(run.paths, run), others = counted(run.paths.slice(0, -1), run);
  const left = all.map((n, i) => n - others[i]), most = Math.max(...all);
  let fields, shown = NaN;
  return {
    length: WAIT + run.steps * ROW,
    draw: (width) => {
      const high = rows() * run.steps, sign = width < BESIDE ? 16 : 34, wide = (width - 2 * sign) / 3;
      const svg = draw(width, TITLE + high + 4), x = (i) => i * (wide + sign);
      fields = [said.all, said.others, said.left].map((text, i) => {
        titled(svg, x(i), text);
        return grid(svg, { x: x(i), width: wide, y: TITLE, height: high }, run);
      });
      for (const [i, text] of ["−", "="].entries()) {
        const at = { x: x(i + 1) - sign / 2, y: TITLE + high / 2 + 8, "text-anchor": "middle", class: "sign" };
        shape(svg, "text", at, text);
      }
      fields[0].cells(shades(all, most));
      fields[1].cells(shades(others, most));
      shown = NaN;
    },
    show: (time) => {
      const steps = Math.floor((time - WAIT) / ROW);
      if (steps === shown) return;
      shown = steps;
      fields[2].cells(left.map((n, i) => (Math.floor(i / run.places) <= steps ? n : 0)));
      say(told, steps >= run.steps ? said.only : "\u00a0");
    },
  };
}

function noise(host, { run, words, said, texts, place: stop }) {
  const draw = picture(host, texts.alts[stop()]), told = element(host, "p", "told");
  const { noise: drawn } = run, left = counted(run.paths.slice(-1), run);
  const top = Math.max(...drawn.users[0], ...drawn.noisy.flat()), loud = Math.log(1 + LOUD * Math.max(...drawn.std));
  // One scale for every epsilon, so that a larger one is seen to leave less noise. Without noise the path is all there
  // is, and is as dark as can be.
  const shade = (n, std) => (std ? Math.sign(n) * Math.log(1 + Math.abs(n)) / loud : n);
  let field, lines, placed, shown = -1, moment = -1;
  return {
    length: RACE,
    draw: (width) => {
      const beside = width >= BESIDE, high = beside ? rows() * run.steps : NARROW;
      const wide = beside ? 0.4 * width : width, chart = beside ? high - 32 : CHART;
      const svg = draw(width, TITLE + high + 4 + (beside ? 0 : chart + TITLE + 42));
      const box = beside
        ? { x: wide + 24 + AXIS, y: TITLE + 8, width: width - wide - 24 - AXIS - 8, height: chart }
        : { x: AXIS, y: high + 2 * TITLE + 16, width: width - AXIS - 8, height: chart };
      titled(svg, 0, said.seen);
      field = grid(svg, { x: 0, width: wide, y: TITLE, height: high }, run);
      shape(svg, "text", { x: box.x - AXIS, y: box.y - 16, class: "title" }, said.race);
      const x = (users) => box.x + box.width * Math.log(users) / Math.log(top);
      const y = (n) => box.y + box.height * (1 - Math.log(Math.max(n, 1)) / Math.log(top));
      axes(svg, box, x, y, texts.users, texts.counts);
      lines = [growing(svg, "noisy"), growing(svg, "true")];
      placed = drawn.users.map((users, i) => [drawn.noisy[i], drawn.true[i]].map(
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
        moment = -1;
      }
      lines.forEach((line, which) => line(placed[i][which], until));
      if (Math.floor(until) === moment) return;
      moment = Math.floor(until);
      say(told, `${texts.deviations[i]} ${texts.now[i][moment]}`);
    },
  };
}

function learn(host, { run, words, said, texts }) {
  const draw = picture(host, said.alt), told = element(host, "p", "told");
  const { learning } = run, last = learning.users.length - 1;
  const changed = (lost, now) => Math.abs(lost[now] - lost[now - 1]) > CHANGED;
  const begins = [0];  // of each moment: those in which nothing changes pass quickly
  learning.users.forEach((_, now) => {
    const long = now === last || changed(learning.lost, now) || changed(learning.baseline, now);
    begins.push(begins[now] + (long ? MOMENT : SAME));
  });
  let scale, field, lines, placed, shown = -1, row = -1;
  return {
    length: begins[last + 1],
    begins,
    draw: (width) => {
      const beside = width >= BESIDE, below = SCALE + BELOW + TITLE;
      const high = beside ? 0.85 * rows() * run.steps : NARROW;
      const wide = beside ? 0.55 * width : width, chart = beside ? high + BELOW + SCALE - 32 : CHART;
      const svg = draw(width, below + high + 4 + (beside ? 0 : chart + TITLE + 42));
      const box = beside
        ? { x: wide + 28 + AXIS, y: TITLE + 8, width: width - wide - 28 - AXIS - 8, height: chart }
        : { x: AXIS, y: below + high + TITLE + 16, width: width - AXIS - 8, height: chart };
      const part = { x: GUTTER, width: wide - GUTTER };
      titled(svg, 0, said.policy);
      field = grid(svg, { ...part, y: below, height: high }, run, words);
      scale = health(svg, { ...part, y: TITLE + 2, height: SCALE - 4 }, run, words);
      shape(svg, "text", { x: box.x - AXIS, y: box.y - 16, class: "title" }, said.loss);
      const x = (users) => box.x + box.width * Math.log(users) / Math.log(learning.users[last]);
      const y = (lost) => box.y + box.height * (1 - lost);
      axes(svg, box, x, y, texts.users, texts.lost);
      lines = [growing(svg, "bare"), growing(svg, "private")];
      placed = [learning.baseline, learning.lost].map((lost) => lost.map((n, m) => [x(learning.users[m]), y(n)]));
      shown = row = -1;
    },
    show: (time) => {
      const now = momentOf(begins, time), path = learning.paths[now], whole = begins[now + 1] - begins[now];
      const steps = clamp((time - begins[now]) / whole, 0, 0.999) * (run.steps - 1), step = Math.floor(steps);
      if (now !== shown) {
        field.policy(learning.policies[now]);
        say(told, texts.now[now]);
      }
      if (now !== shown || step !== row) field.arrows(learning.policies[now], step);
      shown = now;
      row = step;
      scale.move(place(path, steps));
      field.path(path, steps);
      // Who is at the end of an episode is at the moment that is told.
      lines.forEach((line, which) => line(placed[which], now));
    },
  };
}

// Three ways to add noise, one after another: users, whom they trust, and the app.
function trust(host, { said }) {
  const draw = picture(host, said.alt);
  let panels = [], shown = -1;
  const zigzag = (svg, x, y, size) => shape(svg, "path", {
    d: `M${x - 2 * size} ${y}l${size / 2} ${-size} ${size} ${2 * size} ${size} ${-2 * size} ${size} ${2 * size} `
      + `${size / 2} ${-size}`,
    class: "zigzag",
  });
  return {
    length: said.names.length * TURN,
    draw: (width) => {
      const beside = width >= BESIDE, wide = beside ? width / 3 : width, high = beside ? 200 : 128;
      const svg = draw(width, beside ? high : 3 * high), gap = beside ? 36 : 20, middle = beside ? 105 : 74;
      const [user, party, app] = [16, 0.47 * Math.min(wide, 260), Math.min(wide, 260) - 46];
      panels = said.names.map((name, way) => {
        const at = beside ? [way * wide, 0] : [0, way * high];
        const panel = shape(svg, "g", { transform: `translate(${at})` });
        titled(panel, 0, name);
        shape(panel, "text", { x: 0, y: 34 }, said.does[way]);
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
        shape(panel, "text", { x: app + 21, y: middle + 5, "text-anchor": "middle" }, said.app);
        shape(panel, "text", { x: 0, y: high - 8, class: "title" }, said.needs[way]);
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
