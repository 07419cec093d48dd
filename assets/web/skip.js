// A link past all settings, visible when Tab reaches it.
export default function () {
  const link = document.createElement("a");
  [link.className, link.href, link.textContent] = ["dprl-skip", "#run", "Skip to Run"];
  link.onclick = (event) => {
    event.preventDefault();
    document.querySelector(".st-key-run button:enabled, .st-key-reset button")?.focus();
  };
  document.body.prepend(link);
  return () => link.remove();
}
