// Streamlit changes its own colours with the visitor's system, but does not tell the script, which draws the charts
// (streamlit/streamlit issue 11920); nor does it tell how much room they have.
export default function ({ data, setTriggerValue }) {
  const app = document.querySelector('[data-testid="stApp"]');
  const main = document.querySelector('[data-testid="stMain"]');
  const look = () => {
    const seen = getComputedStyle(app).colorScheme, wide = main.clientWidth >= data.enough;
    const news = wide !== data.wide && main.clientWidth && main.dataset.told !== String(wide);  // said once
    if (seen === data.drawn && !news) return;
    main.dataset.told = wide;
    setTriggerValue("seen", { wide });
  };
  const watch = new MutationObserver(look), room = new ResizeObserver(look);
  watch.observe(app, { attributes: true, attributeFilter: ["class"] });
  room.observe(main);
  look();
  return () => { watch.disconnect(); room.disconnect(); };
}
