import { clamp, element, fill } from "./story_parts.js";
import { SCENES, momentOf } from "./story_scenes.js";

// Start: scenes below each other, and the page's chart as the last one. The scene that is seen moves, unless the
// visitor's system asks for no motion. Where a scene and a slider stand outlives the page being drawn anew.
const SEEN = 0.5;  // of a window's height: what reaches over it is the scene that is looked at
const FIELDS = "input, textarea, select, [contenteditable], [role=slider], [role=tab], [role=radio], [role=dialog]";
const HOME = ".st-key-home_scene, #home";  // of the dashboard, and of the site that needs no server
const LONGEST = 0.1;  // seconds that a picture goes on by, whatever the browser was busy with
const kept = { times: {}, places: {}, motion: null, height: 0 };
const still = matchMedia("(prefers-reduced-motion: reduce)");

function slider(parent, { label, ends, words, spoken, at, moved }) {
  const box = element(parent, "div", "slider"), head = element(box, "div", "top");
  const name = element(head, "label", "", label), value = element(head, "output");
  const input = element(box, "input");
  Object.assign(input, { type: "range", min: 0, max: words.length - 1, step: 1, id: `story-${label.length}` });
  name.htmlFor = input.id;
  if (ends) {
    const row = element(box, "div", "ends");
    ends.forEach((end) => element(row, "span", "", end));
  }
  let shown = -1;
  const put = (place) => {
    if (place === shown) return;  // a scene that moves says it in each frame
    shown = place;
    input.value = place;
    value.textContent = words[place];
    input.setAttribute("aria-valuetext", spoken[place]);
  };
  input.oninput = () => { put(Number(input.value)); moved(Number(input.value)); };
  put(at);
  return put;
}

// A text whose words light up what they name: [words](kind). Only while they are pointed at, or focused.
function speaking(section, parent, text) {
  const words = element(parent, "p");
  text.split(/(\[[^\]]*\]\(\w+\))/).forEach((part) => {
    const [, name, kind] = part.match(/^\[(.*)\]\((\w+)\)$/) ?? [];
    if (!name) return words.append(part);
    const word = element(words, "span", "word", name);
    const light = (on) => section.querySelectorAll(`svg .${kind}`).forEach((one) => one.classList.toggle("lit", on));
    word.tabIndex = 0;
    word.onpointerenter = word.onfocus = () => light(true);
    word.onpointerleave = word.onblur = () => light(false);
  });
}

function built(root, data) {
  const { words, run, order } = data, scenes = [];
  for (const [at, name] of order.entries()) {
    const section = element(root, "section"), text = element(section, "div", "text"), said = words[name];
    const heading = element(text, "h2", "", said.title);
    heading.id = `story-${name}`;
    section.setAttribute("aria-labelledby", heading.id);
    speaking(section, text, said.say);
    element(text, "p", "take", said.take);
    const host = element(section, "div", "picture");
    kept.places[name] ??= data.first;
    const given = { run, words: words.picture, said, texts: data[name], place: () => kept.places[name] };
    const scene = SCENES[name](host, given);
    scenes.push({ ...scene, name, section, host, text, said, at, end: scene.still ?? scene.length });
  }
  return scenes;
}

// Sliders of the two scenes that have one.
function controlled(scenes, data, show) {
  const [noise, learn] = ["noise", "learn"].map((name) => scenes.find((scene) => scene.name === name));
  slider(noise.text, {
    ...data.noise.slider,
    at: kept.places.noise,
    moved: (place) => { kept.places.noise = place; show(noise, kept.times.noise); },
  });
  const put = slider(learn.text, {
    ...data.learn.slider,
    at: learn.begins.length - 2,
    moved: (place) => {
      kept.held = true;
      show(learn, learn.begins[place + 1] - 0.001);
    },
  });
  legend(learn, data.words.learn);
  legend(noise, data.words.noise);
  learn.put = put;
}

function legend({ host, name }, said) {
  const row = element(host, "p", "legend");
  const signs = name === "noise"
    ? [["count", said.more], ["less", said.less], ["true", said.true], ["noisy", said.noisy]]
    : [["action0", said.left], ["action1", said.right], ["private", said.private], ["bare", said.bare]];
  for (const [kind, text] of signs) {
    const one = element(row, "span");
    element(one, "i", kind);
    one.append(text);
  }
}

export default function tellStory({ data, parentElement }) {
  const root = parentElement.querySelector(".story"), { words } = data;
  root.style.minHeight = `${kept.height}px`;  // else who is below is thrown upwards now
  root.replaceChildren();
  for (const [name, [day, night]] of Object.entries(data.colors)) {
    root.style.setProperty(`--${name}`, `light-dark(${day}, ${night})`);
  }
  const scenes = built(root, data), bar = element(root, "nav", "bar");
  const heard = element(root, "p", "heard");
  heard.setAttribute("aria-live", "polite");
  bar.ariaLabel = words.bar.name;
  bar.title = words.bar.keys;
  kept.motion ??= !still.matches;
  let current = 0;

  const show = (scene, time) => {
    kept.times[scene.name] = time;
    scene.show(time);
    if (scene.put) scene.put(momentOf(scene.begins, time));
  };
  controlled(scenes, data, show);
  const draw = () => scenes.forEach((scene) => {
    const width = Math.floor(scene.host.clientWidth);
    if (!width) return;
    scene.draw(width);
    show(scene, kept.times[scene.name] ?? (kept.motion ? 0 : scene.end));
  });

  // --- motion: of the scene that is looked at, one frame after another ---
  let frame = 0, before = 0;
  const tick = (now) => {
    const scene = scenes[current], passed = clamp((now - before) / 1000, 0, LONGEST);
    before = now;
    frame = 0;
    if (!scene || !kept.motion || (kept.held && scene.name === "learn")) return;
    const time = kept.times[scene.name] + passed;
    show(scene, Math.min(time, scene.length));
    if (time < scene.length) frame = requestAnimationFrame(tick);
  };
  const move = () => {
    if (frame || !root.isConnected) return;
    before = performance.now();
    frame = requestAnimationFrame(tick);
  };

  // --- where the visitor is ---
  const home = () => document.querySelector(HOME);
  const stops = () => [...scenes.map(({ section }) => section), home()].filter(Boolean);
  const button = (kind, text, press) => {
    const made = element(bar, "button", kind, text);
    made.type = "button";
    made.onclick = press;
    return made;
  };
  const go = (way) => {
    look();
    const to = stops()[clamp(current + way, 0, scenes.length)], at = stops().indexOf(to);
    if (!to) return;
    to.scrollIntoView({ behavior: still.matches ? "auto" : "smooth", block: "start" });
    if (at < scenes.length) return;
    const title = to.querySelector("h2");
    title.tabIndex = -1;
    title.focus({ preventScroll: true });
  };
  const back = button("", words.bar.back, () => go(-1));
  const where = element(bar, "span", "where");
  const next = button("next", words.bar.next, () => go(1));
  const motion = button("motion", "", () => {
    kept.motion = !kept.motion;
    const scene = scenes[current];
    if (kept.motion && scene && kept.times[scene.name] >= scene.end) show(scene, 0);
    if (kept.motion) kept.held = false;
    told();
    move();
  });
  if (data.own) element(bar, "a", "own", words.bar.own).href = data.own;
  button("skip", words.bar.skip, () => go(scenes.length));
  const told = () => {
    const last = scenes.length + 1, place = current + 1;
    where.textContent = fill(words.bar.place, { place, last });
    back.disabled = current === 0;
    motion.ariaLabel = kept.motion ? words.bar.pause : words.bar.play;
    motion.title = motion.ariaLabel;
    motion.dataset.moves = kept.motion;
  };
  const look = () => {
    const line = innerHeight * SEEN, found = stops().findLastIndex((one) => one.getBoundingClientRect().top < line);
    if (found === current || found < 0) return;
    current = found;
    const scene = scenes[current];
    const place = current + 1, last = scenes.length + 1;
    if (scene) heard.textContent = fill(words.bar.said, { place, last, title: scene.said.title });
    told();
    move();
  };
  const keys = (event) => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key], [target] = event.composedPath();
    if (!way || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
    if (target.closest?.(FIELDS) || document.querySelector("[role=dialog]")) return;
    event.preventDefault();
    go(way);
  };
  const room = new ResizeObserver(draw);
  const whole = new ResizeObserver(look);  // the chart comes, or is drawn anew, without a scroll

  draw();
  root.style.minHeight = "";
  kept.height = root.offsetHeight;
  told();
  look();
  move();
  room.observe(root);
  whole.observe(document.querySelector("[data-testid=stMainBlockContainer]") ?? document.body);
  document.addEventListener("scroll", look, { capture: true, passive: true });
  document.addEventListener("keydown", keys);
  return () => {
    room.disconnect();
    whole.disconnect();
    cancelAnimationFrame(frame);
    document.removeEventListener("scroll", look, { capture: true });
    document.removeEventListener("keydown", keys);
  };
}
