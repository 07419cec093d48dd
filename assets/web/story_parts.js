import { setAttributes, shape } from "./parts.js";

// The parts of the story's pictures. A picture is drawn at its width in pixels, so that its words are as large as the
// words around it, and is redrawn when the width changes. All positions follow from the numbers in assets/start.json.

// Returns a function that clears the picture and sets its size.
export function picture(parent, alt) {
  const svg = shape(parent, "svg", { role: "img", "aria-label": alt });
  return (width, height) => {
    svg.replaceChildren();
    setAttributes(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    return svg;
  };
}

export const between = (a, b, share) => a + (b - a) * share;
export const AXIS = 58;  // pixels left of a chart
const pixels = (x, y) => `${x.toFixed(1)},${y.toFixed(1)}`;

// Draws the scale of health, a row of places, and a user on it. box: x, y, width, height.
export function health(svg, box, run, words) {
  const wide = box.width / run.places, middle = box.y + box.height / 2;
  const x = (place) => box.x + wide * (place + 0.5);
  shape(svg, "rect", { ...box, rx: box.height / 2, class: "scale" });
  for (let place = 0.5; place < run.places - 1; place += 1) {  // arrows of the current towards relapse
    shape(svg, "path", { d: `M${x(place) + 5} ${middle - 5}l-8 5 8 5`, class: "current" });
  }
  const most = Math.max(...run.rewards), ends = [[0, run.rewards[0]], [run.places - 1, run.rewards[1]]];
  for (const [place, reward] of ends) {  // the areas are proportional to the rewards
    const radius = Math.max(0.42 * box.height * Math.sqrt(reward / most), 2.5);
    shape(svg, "circle", { cx: x(place), cy: middle, r: radius, class: "reward" });
  }
  const below = box.y + box.height + 15;
  shape(svg, "text", { x: box.x + 2, y: below }, words.left);
  shape(svg, "text", { x: box.x + box.width - 2, y: below, "text-anchor": "end" }, words.right);
  shape(svg, "text", { x: box.x + box.width / 2, y: below, "text-anchor": "middle" }, `← ${words.current}`);
  const user = shape(svg, "g", { class: "person" });
  shape(user, "circle", { r: 6, cy: -5 });
  shape(user, "path", { d: "M-9 13a9 10 0 0 1 18 0z" });
  let at = null;
  return {
    x,
    move: (place) => {
      if (place !== at) user.setAttribute("transform", `translate(${x(place)} ${middle - 2})`);
      at = place;
    },
  };
}

// Draws a cell for each step, downwards, and each place. The values of cells are between -1 and 1.
export function grid(svg, box, run, words) {
  const wide = box.width / run.places, high = box.height / run.steps;
  const y = (step) => box.y + high * (step + 0.5), x = (place) => box.x + wide * (place + 0.5);
  shape(svg, "rect", { ...box, class: "ground" });
  const cells = [];
  for (let step = 0; step < run.steps; step += 1) {
    for (let place = 0; place < run.places; place += 1) {
      const at = { x: box.x + wide * place + 0.5, y: box.y + high * step + 0.5, width: wide - 1, height: high - 1 };
      cells.push(shape(svg, "rect", { ...at, class: "cell", "fill-opacity": 0 }));
    }
  }
  if (words) {
    for (const step of [0, run.steps - 1]) {
      const at = { x: box.x - 6, y: y(step) + 5, "text-anchor": "end" };
      shape(svg, "text", at, step ? String(step + 1) : `${words.steps} 1`);
    }
  }
  const areas = shape(svg, "g"), arrows = shape(svg, "g"), line = shape(svg, "polyline", { class: "path" });
  const drawn = new Array(cells.length).fill(0);
  let walked = {};  // the completed steps, as text
  return {
    cells: (values) => values.forEach((value, i) => {
      if (value === drawn[i]) return;
      drawn[i] = value;
      cells[i].setAttribute("fill-opacity", Math.min(Math.abs(value), 1).toFixed(3));
      cells[i].classList.toggle("less", value < 0);
    }),
    path: (path, steps) => {  // up to a number of steps, which may be fractional
      const whole = Math.floor(steps), moves = whole < path.length - 1 && steps >= 0;
      if (path !== walked.path || whole !== walked.whole) {
        const points = [...path].slice(0, whole + 1).map((to, h) => pixels(x(Number(to)), y(h)));
        walked = { path, whole, text: points.join(" ") };
      } else if (!moves) {
        return;
      }
      const here = moves ? between(Number(path[whole]), Number(path[whole + 1]), steps - whole) : 0;
      line.setAttribute("points", moves ? `${walked.text} ${pixels(x(here), y(steps))}` : walked.text);
    },
    policy: (actions) => {  // colours each cell by its action: 0 leads to the left, 1 to the right
      const outlines = ["", ""];
      [...actions].forEach((action, i) => {
        const at = `M${box.x + wide * (i % run.places)} ${box.y + high * Math.floor(i / run.places)}`;
        outlines[action] += `${at}h${wide}v${high}h${-wide}z`;
      });
      areas.replaceChildren();
      outlines.forEach((d, action) => shape(areas, "path", { d, class: `sent action${action}` }));
    },
    arrows: (actions, step) => {  // draws the actions of one step
      const half = Math.min(high, wide, 12) / 2 - 0.5;
      arrows.replaceChildren();
      [...actions.slice(step * run.places, (step + 1) * run.places)].forEach((action, i) => {
        const to = action === "1" ? half : -half, at = `M${x(i) - to} ${y(step) - half}`;
        shape(arrows, "path", { d: `${at}v${2 * half}l${2 * to} ${-half}z`, class: `action${action}` });
      });
    },
  };
}

// Draws a chart's title and axes, and returns the scale of the horizontal axis, which is logarithmic, from 1 to `most`
// users. y: the vertical scale. xs, ys: ticks, each a value and its text.
export function axes(svg, box, title, most, y, xs, ys) {
  const right = box.x + box.width, bottom = box.y + box.height;
  const x = (users) => box.x + box.width * Math.log(users) / Math.log(most);
  shape(svg, "text", { x: box.x - AXIS, y: box.y - 16, class: "title" }, title);
  for (const [value, words] of ys) {
    shape(svg, "line", { x1: box.x, x2: right, y1: y(value), y2: y(value), class: "tick" });
    shape(svg, "text", { x: box.x - 6, y: y(value) + 5, "text-anchor": "end" }, words);
  }
  xs.forEach(([value, words], i) => {
    shape(svg, "line", { x1: x(value), x2: x(value), y1: bottom, y2: bottom + 4, class: "axis" });
    shape(svg, "text", { x: x(value), y: bottom + 18, "text-anchor": i ? "middle" : "start" }, words);
  });
  shape(svg, "line", { x1: box.x, x2: right, y1: bottom, y2: bottom, class: "axis" });
  return x;
}

// Returns a function that draws a line through points [x, y] in pixels, up to a number of points, which may be
// fractional, and the line's head. The text of completed points is kept, because collecting garbage would skip frames.
export function growing(svg, kind) {
  const line = shape(svg, "polyline", { class: `curve ${kind}` });
  const head = shape(svg, "circle", { r: 5, class: `head ${kind}` });
  let grown = {};
  return (points, until) => {
    const whole = Math.min(Math.floor(until), points.length - 1), share = until - whole;
    if (points !== grown.points || whole !== grown.whole) {
      grown = { points, whole, text: points.slice(0, whole + 1).map(([x, y]) => pixels(x, y)).join(" ") };
    } else if (share === grown.share) {
      return;
    }
    grown.share = share;
    const [from, to] = [points[whole], points[whole + 1] ?? points[whole]];
    const x = between(from[0], to[0], share), y = between(from[1], to[1], share);
    line.setAttribute("points", to === from ? grown.text : `${grown.text} ${pixels(x, y)}`);
    setAttributes(head, { cx: x, cy: y });
  };
}
