// Page keys are what a remote control sends. What has the focus keeps the keys that it needs itself.
const BUTTONS = {
  ArrowRight: "next", PageDown: "next", ArrowLeft: "previous", PageUp: "previous",
  " ": "answer", Enter: "answer", ArrowDown: "answer", ArrowUp: "answer", Escape: "leave",
};
const OWN = 'input, textarea, select, [role="slider"], [role="radiogroup"], [role="listbox"], [contenteditable]';
export default function () {
  const pressed = (event) => {
    const name = BUTTONS[event.key];
    if (!name || event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const at = event.target;
    if (!event.key.startsWith("Page") && event.key !== "Escape" && at.closest?.(OWN)) return;
    if ((event.key === " " || event.key === "Enter") && at.closest?.("button, a, summary")) return;
    event.preventDefault();  // before the first question and after the last one, too, where the page would scroll
    document.querySelector(`[class*="st-key-present_${name}"] button:not(:disabled)`)?.click();
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}
