import { animation, clamp, element, fill, setColors } from "./parts.js";
import { SCENES, momentOf } from "./story_scenes.js";

// The story: scenes below each other, and the page's chart as the last one. The scene in view moves, unless the visitor
// prefers reduced motion. The state of scenes and sliders survives when the page is redrawn.
const SEEN = 0.5;  // of the window's height: the scene that covers this line is the current one
const FIELDS = "input, textarea, select, [contenteditable], [role=slider], [role=tab], [role=radio], [role=dialog]";
const HOME = ".st-key-home_scene, #home";  // of the dashboard, and of the site that needs no server
const memory = { times: {}, places: {}, motion: null, height: 0, held: false };
const still = matchMedia("(prefers-reduced-motion: reduce)");

function addSlider(parent, { label, ends, words, spoken, at, moved }) {
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
    if (place === shown) return;  // called in each frame
    shown = place;
    input.value = place;
    value.textContent = words[place];
    input.setAttribute("aria-valuetext", spoken[place]);
  };
  input.oninput = () => { put(Number(input.value)); moved(Number(input.value)); };
  put(at);
  return put;
}

// Adds a text in which each [words](kind) highlights the shapes of that kind while it is hovered or focused.
function addText(section, parent, text) {
  const line = element(parent, "p");
  text.split(/(\[[^\]]*\]\(\w+\))/).forEach((part) => {
    const [, name, kind] = part.match(/^\[(.*)\]\((\w+)\)$/) ?? [];
    if (!name) return line.append(part);
    const word = element(line, "span", "word", name);
    const light = (on) => section.querySelectorAll(`svg .${kind}`).forEach((one) => one.classList.toggle("lit", on));
    word.tabIndex = 0;
    word.onpointerenter = word.onfocus = () => light(true);
    word.onpointerleave = word.onblur = () => light(false);
  });
}

function addScene(root, data, name) {
  const section = element(root, "section"), text = element(section, "div", "text"), wording = data.words[name];
  const heading = element(text, "h2", "", wording.title);
  heading.id = `story-${name}`;
  section.setAttribute("aria-labelledby", heading.id);
  addText(section, text, wording.say);
  element(text, "p", "take", wording.take);
  const host = element(section, "div", "picture");
  memory.places[name] ??= data.first;
  const scene = SCENES[name](host, {
    run: data.run, words: data.words.picture, wording, texts: data[name], place: () => memory.places[name],
  });
  return { ...scene, name, section, host, text, wording };
}

function addControls(scenes, data, show) {
  const [noise, learn] = ["noise", "learn"].map((name) => scenes.find((scene) => scene.name === name));
  addSlider(noise.text, {
    ...data.noise.slider,
    at: memory.places.noise,
    moved: (place) => { memory.places.noise = place; show(noise, memory.times.noise); },
  });
  learn.put = addSlider(learn.text, {
    ...data.learn.slider,
    at: learn.begins.length - 2,
    moved: (place) => {
      memory.held = true;
      show(learn, learn.begins[place + 1] - 0.001);
    },
  });
  addLegend(learn, { action0: "left", action1: "right", private: "private", bare: "bare" });
  addLegend(noise, { count: "more", less: "less", true: "true", noisy: "noisy" });
}

function addLegend({ host, wording }, names) {
  const row = element(host, "p", "legend");
  for (const [kind, name] of Object.entries(names)) {
    const one = element(row, "span");
    element(one, "i", kind);
    one.append(wording[name]);
  }
}

export default function tellStory({ data, parentElement }) {
  const root = parentElement.querySelector(".story"), { bar: wording } = data.words;
  root.style.minHeight = `${memory.height}px`;  // keeps the content below from jumping upwards
  root.replaceChildren();
  setColors(root, data.colors);
  const scenes = data.order.map((name) => addScene(root, data, name)), bar = element(root, "nav", "bar");
  const status = element(root, "p", "heard"), last = scenes.length + 1;
  status.setAttribute("aria-live", "polite");
  bar.ariaLabel = wording.name;
  bar.title = wording.keys;
  memory.motion ??= !still.matches;
  let current = 0;

  const show = (scene, time) => {
    memory.times[scene.name] = time;
    scene.show(time);
    if (scene.put) scene.put(momentOf(scene.begins, time));
  };
  addControls(scenes, data, show);
  const draw = () => scenes.forEach((scene) => {
    const width = Math.floor(scene.host.clientWidth);
    if (!width) return;
    scene.draw(width);
    show(scene, memory.times[scene.name] ?? (memory.motion ? 0 : scene.length));
  });

  // --- motion of the current scene ---
  const frames = animation((passed) => {
    const scene = scenes[current];
    if (!scene || !memory.motion || (memory.held && scene.name === "learn")) return false;
    const time = memory.times[scene.name] + passed;
    show(scene, Math.min(time, scene.length));
    return time < scene.length;
  });
  const move = () => { if (root.isConnected) frames.start(); };

  // --- the visitor's place in the story ---
  const stops = () => [...scenes.map(({ section }) => section), document.querySelector(HOME)].filter(Boolean);
  const addButton = (kind, text, press) => {
    const button = element(bar, "button", kind, text);
    button.type = "button";
    button.onclick = press;
    return button;
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
  const back = addButton("", wording.back, () => go(-1));
  const where = element(bar, "span", "where");
  addButton("next", wording.next, () => go(1));
  const motion = addButton("motion", "", () => {
    memory.motion = !memory.motion;
    const scene = scenes[current];
    if (memory.motion && scene && memory.times[scene.name] >= scene.length) show(scene, 0);
    if (memory.motion) memory.held = false;
    update();
    move();
  });
  if (data.own) element(bar, "a", "own", wording.own).href = data.own;
  addButton("skip", wording.skip, () => go(scenes.length));
  const update = () => {
    where.textContent = fill(wording.place, { place: current + 1, last });
    back.disabled = current === 0;
    motion.ariaLabel = memory.motion ? wording.pause : wording.play;
    motion.title = motion.ariaLabel;
    motion.dataset.moves = memory.motion;
  };
  const look = () => {
    const line = innerHeight * SEEN, place = stops().findLastIndex((one) => one.getBoundingClientRect().top < line);
    if (place === current || place < 0) return;
    current = place;
    const scene = scenes[current];
    if (scene) status.textContent = fill(wording.said, { place: place + 1, last, title: scene.wording.title });
    update();
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
  const page = new ResizeObserver(look);  // the chart appears, and is redrawn, without a scroll event

  draw();
  root.style.minHeight = "";
  memory.height = root.offsetHeight;
  update();
  look();
  move();
  room.observe(root);
  page.observe(document.querySelector("[data-testid=stMainBlockContainer]") ?? document.body);
  document.addEventListener("scroll", look, { capture: true, passive: true });
  document.addEventListener("keydown", keys);
  return () => {
    room.disconnect();
    page.disconnect();
    frames.stop();
    document.removeEventListener("scroll", look, { capture: true });
    document.removeEventListener("keydown", keys);
  };
}
