// Helpers that several scripts share: templates, elements and motion.
const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 0.1;  // seconds by which one frame advances a motion at most, however late it comes

/** Fills the placeholders of a template, such as {name}. @param {string} text @param {Record<string, any>} fields */
export const fill = (text, fields) => text.replace(/\{(\w+)\}/g, (_, name) => fields[name]);
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

/** Sets the text of an element unless it is there already, because a change costs time. */
export const say = (node, text) => { if (node.textContent !== text) node.textContent = text; };

function appended(parent, node, text, attributes) {
  setAttributes(node, attributes);
  node.textContent = text;
  parent.append(node);
  return node;
}

/** Appends an HTML element. @returns {any} */
export const add = (parent, tag, text = "", attributes = {}) =>
  appended(parent, document.createElement(tag), text, attributes);

/** Appends an HTML element with a class. */
export const element = (parent, tag, kind = "", text = "") => add(parent, tag, text, kind ? { class: kind } : {});

/** Appends an SVG element. */
export const shape = (parent, tag, attributes = {}, text = "") =>
  appended(parent, document.createElementNS(SVG, tag), text, attributes);

/** Defines each color as a CSS variable that follows the theme. */
export function setColors(root, colors) {
  for (const [name, [day, night]] of Object.entries(colors)) {
    root.style.setProperty(`--${name}`, `light-dark(${day}, ${night})`);
  }
}

/** Returns functions that start and stop a motion. In each frame, `step` gets the seconds since the last frame; the
 * motion ends when it returns false. */
export function animation(step) {
  let frame = 0, before = 0;
  const tick = (now) => {
    const passed = clamp((now - before) / 1000, 0, LONGEST);
    before = now;
    frame = 0;
    if (step(passed)) frame = requestAnimationFrame(tick);
  };
  const start = () => {
    if (frame) return;
    before = performance.now();
    frame = requestAnimationFrame(tick);
  };
  const stop = () => { cancelAnimationFrame(frame); frame = 0; };
  return { start, stop };
}
