// Makes Tab lead from a popover's button into the popover, from its last control to the content after the button, and
// back. Streamlit puts the popover at the end of the page, where Tab would reach it last.
export default function () {
  // While the focus is elsewhere, Streamlit sets each tabindex to -1 and keeps the original one in data-tabindex.
  const tabbable = (one) => one.dataset?.tabindex === undefined ? one.tabIndex >= 0 : one.dataset.tabindex !== "-1";
  function* inside(root) {
    for (const one of root.querySelectorAll("*")) {
      if (tabbable(one) && !one.disabled && one.checkVisibility({ visibilityProperty: true })) yield one;
      if (one.shadowRoot) yield* inside(one.shadowRoot);
    }
  }
  const focused = () => {
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    return one;
  };
  const tabbed = (event) => {
    if (event.key !== "Tab" || event.altKey || event.ctrlKey || event.metaKey) return;
    const button = document.querySelector('[data-testid="stPopoverButton"][aria-expanded="true"]');
    const body = document.querySelector('[data-testid="stPopoverBody"]');
    const way = button && body ? [...inside(body)] : [];
    if (!way.length) return;
    const [now, back] = [focused(), event.shiftKey];
    if (now === button && !back) way[0].focus();
    else if (now === way[0] && back) button.focus();
    else {
      if (now === way.at(-1) && !back) button.focus();  // the browser moves on from there
      return;
    }
    event.preventDefault();
  };
  document.addEventListener("keydown", tabbed, true);
  return () => document.removeEventListener("keydown", tabbed, true);
}
