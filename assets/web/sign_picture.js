// Adds a footer to the pictures that Plotly's camera saves. Plotly copies the layout while it handles the click, so the
// layout is changed for that moment only. The picture also gets the page's color, because its text may be light.
export default function signPictures() {
  const signPicture = ({ target }) => {
    const camera = target.closest?.('.modebar-btn[data-title^="Download plot"]');
    const chart = camera?.closest(".js-plotly-plot");
    const { footer, ink, paper } = chart?._context?.toImageButtonOptions ?? {};
    if (!footer) return;
    const layout = chart.layout, { width, height, _size: size } = chart._fullLayout;
    const most = Math.max(30, Math.floor((width - 16) / 5.6)), lines = [""];
    for (const word of footer.split(" ")) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (longer.length > most) lines.push(word); else lines[lines.length - 1] = longer;
    }
    const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const more = 14 + 15 * lines.length, before = { ...layout };
    const words = {
      text: lines.map(plain).join("<br>"), align: "left", showarrow: false, font: { size: 11, color: ink },
      xref: "paper", x: 0, xanchor: "left", xshift: 8 - size.l,
      yref: "paper", y: 0, yanchor: "bottom", yshift: 2 - size.b - more,
    };
    Object.assign(layout, {
      width, height: height + more, paper_bgcolor: paper,
      margin: { l: size.l, r: size.r, t: size.t, b: size.b + more, autoexpand: false },
      legend: { ...layout.legend, y: more / (height + more) },
      annotations: [...(layout.annotations ?? []), words],
    });
    setTimeout(() => {
      for (const key of Object.keys(layout)) if (!(key in before)) delete layout[key];
      Object.assign(layout, before);
    });
  };
  document.addEventListener("click", signPicture, true);
  return () => document.removeEventListener("click", signPicture, true);
}
