import { animation, clamp, element, fill, say, setAttributes, setColors, shape } from "./parts.js";

// A picture of one user of a learned policy, who walks through the environment while the states fill with the visits of
// all users so far. It moves once, when it first comes into view, unless the visitor prefers reduced motion, and then
// rests at the last moment. Its state survives when the page is redrawn.
const EPISODE = 2.4, REST = 0.6;  // seconds of an episode, and of the pause after it
const UNIT = 100, WORD = 3.4;  // units of the drawing: its width, and the height of a line
const still = matchMedia("(prefers-reduced-motion: reduce)");
const states = new Map(), began = new Set();  // the state of each run's picture, and the runs whose picture has moved

function drawPicture(host, data) {
  const svg = shape(host, "svg", { role: "img", viewBox: `0 0 ${UNIT} ${data.high + 1}` });
  const glasses = data.places.map(({ box: [x, y, width, height], lines }) => {
    const frame = shape(svg, "rect", { x, y, width, height, rx: 1.2, class: "glass" });
    const content = shape(svg, "rect", { x, y: y + height, width, height: 0, class: "content" });
    const tick = shape(svg, "line", { x1: x - 1, x2: x + width + 1, class: "tick" });
    lines.forEach((line, i) => {
      const above = 1.6 + WORD * (lines.length - 1 - i);
      shape(svg, "text", { x: x + width / 2, y: y + height - above, "text-anchor": "middle", "font-size": WORD }, line);
    });
    return { frame, content, tick, x: x + width / 2, top: y, y, height };
  });
  const user = shape(svg, "circle", { r: 3, class: "user" });
  return {
    alt: (text) => svg.setAttribute("aria-label", text),
    filled: ({ fills, ticks }) => glasses.forEach((glass, i) => {
      const high = glass.height * fills[i];
      setAttributes(glass.content, { y: glass.y + glass.height - high, height: high });
      const at = ticks ? glass.y + glass.height * (1 - ticks[i]) : 0;
      setAttributes(glass.tick, { y1: at, y2: at });
      glass.tick.style.display = ticks ? "" : "none";
    }),
    put: (from, to, share) => {  // a state without a glass is the end of the episode: the user has left
      const [a, b] = [glasses[from], glasses[to] ?? glasses[from]];
      const here = share < 0.5 || !glasses[to] ? from : to;
      glasses.forEach(({ frame }, i) => frame.classList.toggle("here", i === here));
      user.style.display = a ? "" : "none";
      if (!a) return;
      const hop = from === to ? 0 : 4 * Math.sin(Math.PI * share);
      setAttributes(user, { cx: a.x + (b.x - a.x) * share, cy: a.top + (b.top - a.top) * share - 4 - hop });
    },
  };
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".one-user"), { words, moments, id } = data, last = moments.length - 1;
  if (root.dataset.id === id) return;  // redrawn with the page: the visitor may be using it
  root.dataset.id = id;
  root.replaceChildren();
  setColors(root, data.colors);
  const state = states.get(id) ?? { at: last, time: EPISODE, which: 0 };
  state.at = Math.min(state.at, last);
  states.set(id, state);

  const picture = drawPicture(root, data), caption = element(root, "p", "told");
  const row = element(root, "div", "row"), play = element(row, "button", "play");
  const label = element(row, "label", "", words.users);
  const value = element(row, "output"), input = element(root, "input");
  Object.assign(play, { type: "button", hidden: still.matches });
  Object.assign(input, { type: "range", min: 0, max: last, step: 1, id: "one-user-users" });
  label.htmlFor = value.htmlFor = input.id;
  const choice = element(root, "div", "row choice");
  choice.hidden = moments[0].ways.length < 2;
  choice.setAttribute("role", "radiogroup");
  choice.setAttribute("aria-label", words.which);
  const policies = [words.learned, words.best].map((text) => {
    const around = element(choice, "label"), one = element(around, "input");
    Object.assign(one, { type: "radio", name: "one-user-policy" });
    around.append(text);
    return one;
  });
  const lost = element(root, "p", "lost"), legend = element(root, "p", "legend");
  for (const kind of data.private ? ["true", "noisy"] : ["true"]) {
    element(element(legend, "span", "", ` ${words[kind]}`), "i", kind);
  }
  element(legend, "span", "", words.scale);

  let seen = false, moves = false;
  const show = () => {
    const moment = moments[state.at], way = moment.ways[state.which], steps = way.states.length;
    const now = clamp(state.time / EPISODE, 0, 1) * (steps - 1), step = Math.floor(now);
    picture.filled(moment);
    picture.alt(way.alt);
    picture.put(way.states[step], way.states[Math.min(step + 1, steps - 1)], now - step);
    const place = way.states[step], fields = { step: step + 1, steps, state: data.names[place] };
    const template = place < data.places.length ? words.step : words.over;
    say(caption, fill(template, { ...fields, action: data.actions[way.actions[step]] }));
    say(lost, state.which ? words.nothing : moment.lost);
    say(value, moment.users);
    policies[state.which].checked = true;
    input.value = state.at;
    input.setAttribute("aria-valuetext", moment.users);
  };
  const going = () => moves && seen && root.isConnected && root.dataset.id === id;
  const frames = animation((passed) => {
    state.time += passed;
    if (state.time > EPISODE + REST) {
      if (state.at === last) return set(false);
      state.at += 1;
      state.time = 0;
    }
    show();
    return going();
  });
  const set = (on) => {
    moves = state.moves = on;
    play.textContent = on ? words.pause : words.play;
    play.dataset.moves = String(on);
    if (!on) frames.stop();
    show();
    if (going()) frames.start();
  };
  play.onclick = () => {
    if (!moves && state.at === last && state.time >= EPISODE) Object.assign(state, { at: 0, time: 0 });
    set(!moves);
  };
  input.oninput = () => { Object.assign(state, { at: Number(input.value), time: moves ? 0 : EPISODE }); show(); };
  policies.forEach((one, which) => {
    one.onchange = () => { Object.assign(state, { which, time: moves ? 0 : EPISODE }); show(); };
  });

  const first = !still.matches && !began.has(id);
  const sight = new IntersectionObserver(([entry]) => {
    if (root.dataset.id !== id) return sight.disconnect();  // the element shows another run now
    seen = entry.isIntersecting;
    if (seen && first && !began.has(id)) {
      began.add(id);
      Object.assign(state, { at: 0, time: 0 });
      set(true);
    }
    if (going()) frames.start();
  }, { threshold: 0.6 });
  set(Boolean(state.moves));
  sight.observe(root);
}
