// Reports the colors of the page and the room for charts to Python, which draws the charts. Streamlit changes colors
// with the visitor's system, but does not report it (streamlit/streamlit issue 11920).
export default function ({ data, setTriggerValue }) {
  const app = document.querySelector('[data-testid="stApp"]');
  const main = document.querySelector('[data-testid="stMain"]');
  const look = () => {
    const seen = getComputedStyle(app).colorScheme, wide = main.clientWidth >= data.enough;
    const changed = wide !== data.wide && main.clientWidth && main.dataset.told !== String(wide);  // reported once
    if (seen === data.drawn && !changed) return;
    main.dataset.told = wide;
    setTriggerValue("seen", { wide });
  };
  const watch = new MutationObserver(look), room = new ResizeObserver(look);
  watch.observe(app, { attributes: true, attributeFilter: ["class"] });
  room.observe(main);
  look();
  return () => { watch.disconnect(); room.disconnect(); };
}
