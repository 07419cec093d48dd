// Scrolls to the top when something else is opened.
export default function ({ data }) {
  if (window.dprlOpened !== undefined && window.dprlOpened !== data.opened) {
    document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
  }
  window.dprlOpened = data.opened;
}
