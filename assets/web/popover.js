// Streamlit puts what is behind a button at the end of the page, where Tab comes last, from the button past
// everything else, and far from it. Here Tab leads in, on from its last control to what follows the button, and
// back.
export default function () {
  // Once the focus has left, all in it has a tabindex of -1, and keeps its own as data, until the focus is there again.
  const within = (one) => one.dataset?.tabindex === undefined ? one.tabIndex >= 0 : one.dataset.tabindex !== "-1";
  function* inside(root) {
    for (const one of root.querySelectorAll("*")) {
      if (within(one) && !one.disabled && one.checkVisibility({ visibilityProperty: true })) yield one;
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
      if (now === way.at(-1) && !back) button.focus();  // from where the browser goes on
      return;
    }
    event.preventDefault();
  };
  document.addEventListener("keydown", tabbed, true);
  return () => document.removeEventListener("keydown", tabbed, true);
}
