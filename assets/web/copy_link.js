export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const label = button.querySelector("span");
  const copy = async () => {
    const url = location.origin + location.pathname + "?" + data.query;
    try {
      await navigator.clipboard.writeText(url);
    } catch {  // the clipboard needs https or localhost
      const area = document.createElement("textarea");
      area.value = url;
      area.style.position = "fixed";
      document.body.appendChild(area).select();
      document.execCommand("copy");
      area.remove();
    }
    label.textContent = "Link copied";
    setTimeout(() => { label.textContent = data.label; }, 1800);
  };
  // Only a toggle has changed the view, so Back returns to the previous comparison, not to the previous toggle.
  if (data.replace) history.replaceState(history.state, "", location.pathname + "?" + data.replace);
  [label.textContent, button.onclick] = [data.label, copy];
  button.classList.remove("unready");
  return () => { button.onclick = null; };
}
