// What is opened is read from its beginning, wherever the page was scrolled to before.
export default function ({ data }) {
  if (window.dprlOpened !== undefined && window.dprlOpened !== data.opened) {
    document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
  }
  window.dprlOpened = data.opened;
}
