// Closes the sidebar of a narrow window when the content under it changes: another page opens, or a run starts.
export default function ({ data }) {
  const sidebar = document.querySelector('[data-testid="stSidebar"]');
  const open = sidebar?.getAttribute("data-collapsed") === "false";
  if (window.dprlUnder !== undefined && window.dprlUnder !== data.under && open && window.innerWidth < 768) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
  window.dprlUnder = data.under;
}
