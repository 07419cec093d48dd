// Lets the visitor drag the marker of a chart. The listeners belong to the module, which a page loads once, and use the
// data of the latest call. A press without a move is left to Plotly, which reads it as a click on a point. After a drag
// Plotly must not see a click. A vertical swipe scrolls the page.
const FAR = 5, EDGE = 14;  // pixels: a longer move is a drag; a marker at an end of the plot stands out this far
const rule = document.createElement("style"), label = document.createElement("div");
[label.className, label.ariaHidden, label.hidden] = ["dprl-told", "true", true];  // screen readers read the slider
let now = null;  // the latest data, and the function that answers
let held = null;  // the chart of the drag, its pointer, where it started, and whether it has moved

const drawn = (chart) => chart.querySelector(".nsewdrag");  // missing while Plotly redraws the chart
const plot = (chart) => drawn(chart).getBoundingClientRect();
const across = (chart, x) => {  // pixels from the left of the plot
  const { type, range } = chart.layout.xaxis;
  return ((type === "log" ? Math.log10(x) : x) - range[0]) / (range[1] - range[0]) * plot(chart).width;
};
const nearest = (chart, pixels) => {
  const off = now.data.marks.map((mark) => Math.abs(across(chart, mark) - pixels));
  return off.indexOf(Math.min(...off));
};
const within = (chart, event) => {  // the marker stays within the range of its slider
  const { marks } = now.data, at = event.clientX - plot(chart).left;
  return Math.min(Math.max(at, across(chart, marks[0])), across(chart, marks.at(-1)));
};
const put = (chart, transform) => {
  const place = chart.data.findIndex(({ meta }) => meta === now.data.held);
  const marker = place < 0 ? null : chart.querySelector(`.trace${chart._fullData[place].uid}`);
  if (marker) marker.style.transform = transform;
};
const move = (chart, pixels) => put(chart, `translateX(${pixels - across(chart, now.data.at)}px)`);
const back = (chart) => put(chart, "");
const release = () => { [held, label.hidden] = [null, true]; };
const say = (chart, pixels) => {
  label.textContent = now.data.words[nearest(chart, pixels)];
  label.style.colorScheme = getComputedStyle(chart).colorScheme;
  label.hidden = false;
  const box = plot(chart), left = box.left + pixels - label.offsetWidth / 2;
  label.style.left = `${Math.min(Math.max(left, 4), innerWidth - label.offsetWidth - 4)}px`;
  label.style.top = `${Math.max(box.top - label.offsetHeight - 4, 4)}px`;
};

const listeners = {
  pointerdown: (event) => {
    const chart = event.target.closest?.(`.${now.data.chart} .js-plotly-plot`);
    if (!chart || !drawn(chart) || held || event.button || event.target.closest(".modebar")) return;
    const { left, right, top, bottom } = plot(chart), { clientX: x, clientY: y } = event;
    if (x < left - EDGE || x > right + EDGE || y < top || y > bottom) return;
    held = { chart, id: event.pointerId, from: x, moved: false };
  },
  pointermove: (event) => {
    if (event.pointerId !== held?.id || !drawn(held.chart)) return;
    if (!held.moved && Math.abs(event.clientX - held.from) < FAR) return;
    held.moved = true;
    if (held.chart._dragging) held.chart._dragged = true;  // fields of Plotly
    const at = within(held.chart, event);
    move(held.chart, at);
    say(held.chart, at);
  },
  pointerup: (event) => {
    if (event.pointerId !== held?.id) return;
    const { chart, moved } = held;
    release();
    if (!moved || !drawn(chart)) return;
    const place = nearest(chart, within(chart, event));
    move(chart, across(chart, now.data.marks[place]));
    chart.once("plotly_afterplot", () => back(chart));  // the redrawn marker is there
    now.setTriggerValue("dropped", place);
  },
  pointercancel: (event) => {
    if (event.pointerId !== held?.id) return;
    back(held.chart);
    release();
  },
  touchstart: (event) => {  // otherwise Plotly would keep the page from scrolling
    if (event.target.closest?.(`.${now.data.chart} .nsewdrag`)) event.stopPropagation();
  },
};

export default function ({ data, setTriggerValue }) {
  now = { data, setTriggerValue };
  rule.textContent = `.${data.chart} .js-plotly-plot { touch-action: pan-y pinch-zoom; }
    .${data.chart} .js-plotly-plot .plotly .nsewdrag { cursor: ew-resize; }`;
  document.head.append(rule);
  document.body.append(label);
  for (const [name, listen] of Object.entries(listeners)) document.addEventListener(name, listen, true);
  return () => {
    for (const [name, listen] of Object.entries(listeners)) document.removeEventListener(name, listen, true);
    release();
    rule.remove();
    label.remove();
  };
}
