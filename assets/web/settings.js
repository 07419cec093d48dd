// Opens the sidebar of a phone at the settings, without the menu above them. Streamlit's own button opens it with both.
const OPENER = '[data-testid="stExpandSidebarButton"]';

/** @param {MouseEvent} press */
const byHand = (press) => {
  if (press.isTrusted && /** @type {Element} */ (press.target).closest(OPENER)) delete document.body.dataset.opened;
};

export default function ({ parentElement }) {
  document.addEventListener("click", byHand, true);  // the same function, so it is added once
  const button = parentElement.querySelector("button");
  button.onclick = () => {
    document.body.dataset.opened = "settings";
    document.querySelector(OPENER)?.click();
  };
  button.classList.remove("unready");
}
