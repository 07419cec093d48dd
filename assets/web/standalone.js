// Of a page that is taken along (dprl/figures/standalone_html.py); signPictures stands before it.
signPictures();
const { sliders, charts, columns, cells, config, ink } = JSON.parse(document.getElementById("content").textContent);
const add = (parent, name, attributes = {}) => {
  const made = parent.appendChild(document.createElement(name));
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const at = sliders.map((slider) => slider.at);
const drawn = charts.map((chart) => {
  const figure = add(document.getElementById("charts"), "figure", { "aria-label": chart.alt });
  return { plot: add(figure, "div"), see: add(figure, "figcaption") };
});
const controls = sliders.map((slider, i) => {
  if (!slider.shown) return null;
  const box = add(document.getElementById("sliders"), "div", { class: "slider" });
  add(box, "label", { for: `slider-${i}` }).textContent = slider.label;
  const output = add(box, "output", { for: `slider-${i}` });
  const input = add(box, "input", { id: `slider-${i}`, type: "range", min: 0, max: slider.stops.length - 1, step: 1 });
  input.value = slider.at;
  input.oninput = () => { at[i] = Number(input.value); show(); };
  return { input, output };
});
const heads = add(document.querySelector("thead"), "tr");
for (const column of columns) add(heads, "th", { scope: "col" }).textContent = column;
const show = () => {
  controls.forEach((control, i) => {
    if (!control) return;
    control.output.textContent = sliders[i].words[at[i]];
    control.input.setAttribute("aria-valuetext", sliders[i].words[at[i]]);
  });
  const place = at.reduce((sum, here, i) => sum * sliders[i].stops.length + here, 0);
  const body = document.querySelector("tbody");
  body.replaceChildren();
  for (const row of cells[place]) {
    const line = add(body, "tr");
    row.forEach((text, i) => { add(line, i ? "td" : "th", i ? {} : { scope: "row" }).textContent = text; });
  }
  charts.forEach((chart, i) => {
    const { figure, see } = chart.pictures[chart.turned === null ? 0 : at[chart.turned]];
    const layout = { ...figure.layout };
    if (chart.marked !== null && sliders[chart.marked].shown) {
      const x = sliders[chart.marked].stops[at[chart.marked]];
      const line = { color: ink, width: 1.5 };
      layout.shapes = [...(layout.shapes ?? []), { type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line }];
    }
    drawn[i].plot.style.height = `${layout.height}px`;  // which Plotly forgets when the window changes
    Plotly.react(drawn[i].plot, figure.data, layout, config);
    drawn[i].see.innerHTML = see;
  });
};
show();
