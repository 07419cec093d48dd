// It closes by itself when what lies under it changes: another page, or a run that was just started.
export default function ({ data }) {
  const sidebar = document.querySelector('[data-testid="stSidebar"]');
  const open = sidebar?.getAttribute("data-collapsed") === "false";
  if (window.dprlUnder !== undefined && window.dprlUnder !== data.under && open && window.innerWidth < 768) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
  window.dprlUnder = data.under;
}
