// Whatever is said again, as when a slider has moved the marker, comes to the functions that listen already: they
// belong to the module, which a page reads once. A press that does not move is left to Plotly, which has it as one
// on a point; of one that does it must not hear that it ended, or it would be that as well. A finger that goes up or
// down scrolls the page, as it does beside a chart.
const FAR = 5, EDGE = 14;  // pixels from which on a press is a drag; and by which a marker at an end stands out
const rule = document.createElement("style"), told = document.createElement("div");
[told.className, told.ariaHidden, told.hidden] = ["dprl-told", "true", true];  // the slider says it aloud
let now = null;  // what is asked, and how it is answered
let held = null;  // the chart, which pointer, where it was pressed, and whether it has moved

const drawn = (chart) => chart.querySelector(".nsewdrag");  // else it is being drawn anew, or is gone
const plot = (chart) => drawn(chart).getBoundingClientRect();
const across = (chart, x) => {  // pixels from the left of the plot
  const { type, range } = chart.layout.xaxis;
  return ((type === "log" ? Math.log10(x) : x) - range[0]) / (range[1] - range[0]) * plot(chart).width;
};
const nearest = (chart, pixels) => {
  const off = now.data.marks.map((mark) => Math.abs(across(chart, mark) - pixels));
  return off.indexOf(Math.min(...off));
};
const within = (chart, event) => {  // the marker goes no further than its slider does
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
const say = (chart, pixels) => {
  told.textContent = now.data.words[nearest(chart, pixels)];
  told.style.colorScheme = getComputedStyle(chart).colorScheme;  // day or night
  told.hidden = false;
  const box = plot(chart), left = box.left + pixels - told.offsetWidth / 2;
  told.style.left = `${Math.min(Math.max(left, 4), innerWidth - told.offsetWidth - 4)}px`;
  told.style.top = `${Math.max(box.top - told.offsetHeight - 4, 4)}px`;
};

const heard = {
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
    if (held.chart._dragging) held.chart._dragged = true;  // Plotly's own words for it
    const at = within(held.chart, event);
    move(held.chart, at);
    say(held.chart, at);
  },
  pointerup: (event) => {
    if (event.pointerId !== held?.id) return;
    const { chart, moved } = held;
    held = null;
    told.hidden = true;
    if (!moved || !drawn(chart)) return;
    const place = nearest(chart, within(chart, event));
    move(chart, across(chart, now.data.marks[place]));
    chart.once("plotly_afterplot", () => back(chart));  // it is drawn there
    now.setTriggerValue("dropped", place);
  },
  pointercancel: (event) => {
    if (event.pointerId !== held?.id) return;
    back(held.chart);
    [held, told.hidden] = [null, true];
  },
  touchstart: (event) => {  // Plotly would keep the page from scrolling
    if (event.target.closest?.(`.${now.data.chart} .nsewdrag`)) event.stopPropagation();
  },
};

export default function ({ data, setTriggerValue }) {
  now = { data, setTriggerValue };
  rule.textContent = `.${data.chart} .js-plotly-plot { touch-action: pan-y pinch-zoom; }
    .${data.chart} .js-plotly-plot .plotly .nsewdrag { cursor: ew-resize; }`;
  document.head.append(rule);
  document.body.append(told);
  for (const [name, hears] of Object.entries(heard)) document.addEventListener(name, hears, true);
  return () => {
    for (const [name, hears] of Object.entries(heard)) document.removeEventListener(name, hears, true);
    [held, told.hidden] = [null, true];
    rule.remove();
    told.remove();
  };
}
