// On a phone the sidebar lies over the page. A button in the page opens it at the settings, without the menu above
// them; Streamlit's own button opens it with both.
const OPENER = '[data-testid="stExpandSidebarButton"]';

/** @param {MouseEvent} press */
const byHand = (press) => {
  if (press.isTrusted && /** @type {Element} */ (press.target).closest(OPENER)) delete document.body.dataset.opened;
};

export default function ({ parentElement }) {
  document.addEventListener("click", byHand, true);  // the same one: it is added once
  const button = parentElement.querySelector("button");
  button.onclick = () => {
    document.body.dataset.opened = "settings";
    document.querySelector(OPENER)?.click();
  };
  button.classList.remove("unready");
}
