// Keys for the presenter; remote controls send Page keys. The focused element keeps the keys that it needs itself.
const BUTTONS = {
  ArrowRight: "next", PageDown: "next", ArrowLeft: "previous", PageUp: "previous",
  " ": "answer", Enter: "answer", ArrowDown: "answer", ArrowUp: "answer", Escape: "leave",
};
const OWN = 'input, textarea, select, [role="slider"], [role="radiogroup"], [role="listbox"], [contenteditable]';
const pressed = (event) => {
  const name = BUTTONS[event.key];
  if (!name || event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const at = event.target;
  if (!event.key.startsWith("Page") && event.key !== "Escape" && at.closest?.(OWN)) return;
  if ((event.key === " " || event.key === "Enter") && at.closest?.("button, a, summary")) return;
  const bar = document.querySelector('[class*="st-key-present_bar"]');
  if (!bar) return;
  event.preventDefault();  // also at the first and last question, where the page would scroll
  bar.querySelector(`[class*="st-key-present_${name}"] button:not(:disabled)`)?.click();
};
export default function () {
  // A redraw may remove this component and add it again. One listener stays in between, so that no press is lost.
  const keys = window.dprlKeys ??= { made: 0, pressed: null };
  keys.made += 1;
  if (!keys.pressed) document.addEventListener("keydown", keys.pressed = pressed);
  return () => {
    keys.made -= 1;
    setTimeout(() => {
      if (keys.made || !keys.pressed) return;
      document.removeEventListener("keydown", keys.pressed);
      keys.pressed = null;
    }, 2000);
  };
}
