// On a phone the sidebar lies over the page: a button in the page opens it.
export default function ({ parentElement }) {
  parentElement.querySelector("button").onclick = () =>
    document.querySelector('[data-testid="stExpandSidebarButton"]')?.click();
}
