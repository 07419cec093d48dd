// Keeps a chart full screen while runs go on. To Streamlit a redrawn chart is a new one, which would not fill the
// screen, so a rule of CSS holds it there and its button is clicked again.
export default function () {
  const rule = document.head.appendChild(document.createElement("style"));
  let chart = "", page = "";  // the class of the full-screen chart, and its page
  const hold = (name) => {
    [chart, page] = [name, location.pathname];
    rule.textContent = name && `.${name} [data-testid="stFullScreenFrame"] {
      position: fixed; inset: 0; z-index: 1000050; background: light-dark(#ffffff, #0e1117); }`;
  };
  const pressed = ({ target }) => {
    const tool = target.closest?.(".modebar-btn")?.dataset.title;
    if (tool === "Fullscreen")
      hold([...target.closest("[class*=st-key-]").classList].find((name) => name.startsWith("st-key-")));
    else if (tool === "Close fullscreen") hold("");
  };
  const escaped = ({ key }) => { if (key === "Escape") hold(""); };
  const watch = new MutationObserver(() => {
    if (chart && page !== location.pathname) hold("");
    if (chart) document.querySelector(`.${chart} .modebar-btn[data-title="Fullscreen"]`)
      ?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  });
  document.addEventListener("click", pressed, true);
  document.addEventListener("keydown", escaped, true);
  watch.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener("click", pressed, true);
    document.removeEventListener("keydown", escaped, true);
    watch.disconnect();
    rule.remove();
  };
}
