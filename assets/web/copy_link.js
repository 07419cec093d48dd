export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const label = button.querySelector("span");
  const copy = async () => {
    const url = location.origin + location.pathname + "?" + data.query;
    try {
      await navigator.clipboard.writeText(url);
    } catch {  // no clipboard outside https and localhost: the old way
      const area = document.createElement("textarea");
      area.value = url;
      area.style.position = "fixed";
      document.body.appendChild(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    label.textContent = "Link copied";
    setTimeout(() => { label.textContent = data.label; }, 1800);
  };
  label.textContent = data.label;
  button.onclick = copy;
  button.classList.remove("unready");
  return () => { button.onclick = null; };
}
