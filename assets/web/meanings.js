// Shows the meanings of terms (terms.py) for mouse, keyboard and touch.
export default function () {
  const box = document.body.appendChild(document.createElement("div"));
  [box.id, box.role, box.className, box.hidden] = ["dprl-meaning", "tooltip", "dprl-meaning", true];
  let shown = null, leaving = 0;
  const term = ({ target }) => target.closest?.('a[href="#term"]');
  const place = () => {
    if (!shown) return;
    const at = shown.isConnected ? shown.getClientRects()[0] : null;
    if (!at || at.bottom < 0 || at.top > innerHeight) return hide();
    const left = Math.min(at.left, innerWidth - box.offsetWidth - 12);
    const above = at.top - box.offsetHeight - 6;
    box.style.left = `${Math.max(12, left)}px`;
    box.style.top = `${above > 4 ? above : at.bottom + 6}px`;
  };
  const show = (one) => {
    clearTimeout(leaving);
    if (one === shown) return;
    hide();
    if (one.title) {  // the browser's own tooltip would cover the box, and needs a mouse
      one.dataset.meaning = one.title;
      one.removeAttribute("title");
    }
    shown = one;
    box.textContent = one.dataset.meaning;
    box.style.colorScheme = getComputedStyle(document.querySelector(".stApp")).colorScheme;
    box.hidden = false;
    one.setAttribute("aria-describedby", box.id);
    place();
  };
  const hide = () => {
    clearTimeout(leaving);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    box.hidden = true;
  };
  const later = () => { clearTimeout(leaving); leaving = setTimeout(hide, 200); };
  const listeners = {
    pointerover: (event) => {
      const one = term(event);
      if (one) show(one);
      else if (event.target === box) clearTimeout(leaving);
      else if (shown && shown !== document.activeElement) later();
    },
    focusin: (event) => { const one = term(event); if (one) show(one); else hide(); },
    focusout: (event) => { if (term(event)) hide(); },
    pointerdown: (event) => { if (!term(event) && event.target !== box) hide(); },
    click: (event) => { const one = term(event); if (one) { event.preventDefault(); show(one); } },
    keydown: ({ key }) => { if (key === "Escape") hide(); },
    scroll: place,
  };
  for (const [name, listen] of Object.entries(listeners)) document.addEventListener(name, listen, true);
  const watch = setInterval(place, 500);
  return () => {
    for (const [name, listen] of Object.entries(listeners)) document.removeEventListener(name, listen, true);
    clearInterval(watch);
    box.remove();
  };
}
