// What a test sees from inside a page: whether it is at rest, what can be used on it, and what a visitor must never see.
// Runs in every page before anything else does.
(() => {
  // --- what is said to the server and back; Streamlit's messages are protobuf ---

  const RERUN = 11, AUTOMATIC = 6; // BackMsg.rerun_script, its is_auto_rerun
  const BEGUN = 4, FINISHED = 6, EARLY = 2; // ForwardMsg.new_session, script_finished, and that of one that gave way to the next
  const talk = { asked: 0, askedAt: -1, begunAt: 0, answeredAt: 0 }; // answeredAt: when the last script that finished had begun

  function* fields(bytes) {
    let at = 0;
    const number = () => {
      let value = 0, scale = 1, byte;
      do { byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte & 128);
      return value;
    };
    while (at < bytes.length) {
      const tag = number(), field = Math.floor(tag / 8), wire = tag % 8;
      if (wire === 0) yield [field, number()];
      else if (wire === 2) { const length = number(); yield [field, bytes.subarray(at, at += length)]; }
      else at += wire === 1 ? 8 : 4;
    }
  }
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    for (const [field, rerun] of data instanceof Uint8Array ? fields(data) : [])
      if (field === RERUN && ![...fields(rerun)].some(([name, on]) => name === AUTOMATIC && on)) {
        talk.asked += 1;
        talk.askedAt = performance.now();
      }
    return send.call(this, data);
  };
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", ({ data }) => {
        for (const [field, value] of data instanceof ArrayBuffer ? fields(new Uint8Array(data)) : [])
          if (field === BEGUN) talk.begunAt = performance.now();
          else if (field === FINISHED && value !== EARLY) talk.answeredAt = talk.begunAt;
      });
    }
  };
  delete window.showSaveFilePicker; // so that every download is one, not a window of the system

  // --- at rest ---

  const QUIET = 50, LOOK = 15; // ms
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  // What slides or fades is at its end at once.
  const hasten = () => {
    for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime < Infinity) one.finish();
  };
  // Streamlit says on its root element whether a script runs; a chart is there once Plotly has drawn into it, and what a
  // component's button says and does once its script has run.
  const still = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    return app !== null
      && app.dataset.testConnectionState === "CONNECTED"
      && app.dataset.testScriptState === "notRunning"
      && talk.askedAt <= talk.answeredAt
      && document.querySelector('[data-testid="stMain"]')?.textContent.trim()
      && document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]') === null
      && [...document.querySelectorAll('[data-testid="stPlotlyChart"]')].every(
        (chart) => chart.offsetParent === null || chart.querySelector(".main-svg") !== null)
      && [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')].every(
        (component) => !component.shadowRoot?.querySelector(".unready"));
  };
  // When something came or went last: what a script no longer draws goes a moment after its end.
  let changed = 0;
  new MutationObserver(() => { changed = performance.now(); }).observe(document, { subtree: true, childList: true });
  // Whether it came to rest within `limit` ms. A page that redraws itself is at rest between two redraws.
  const rest = async (limit) => {
    const end = performance.now() + limit;
    for (const _ of "12") await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))); // React's effects
    for (let since = null; performance.now() < end; await pause(LOOK)) {
      hasten();
      if (!still()) since = null;
      else if (performance.now() - Math.max(since ??= performance.now(), changed) >= QUIET) return true;
    }
    return false;
  };
  // The sentences that say that something is still to come, but for those that were waited for in vain; null without any.
  const waits = (vain) => {
    const lines = document.querySelector('[data-testid="stMain"]')?.innerText.split("\n") ?? [];
    const found = lines.filter((line) => /in a moment|Estimating how large/.test(line) && !vain.includes(line));
    return found.length ? found : null;
  };
  // What a visitor must never see.
  const trouble = () => {
    const boxes = [...document.querySelectorAll('[data-testid="stException"], [data-testid="stAlert"]')];
    const said = boxes.filter((box) => box.dataset.testid === "stException" || box.innerText.includes("Something went wrong"));
    const main = document.querySelector('[data-testid="stMain"]');
    return [...said.map((box) => box.innerText), ...(main?.innerText.trim() ? [] : ["a white page"])];
  };

  // --- controls ---

  const ROLES = ["button", "checkbox", "combobox", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio",
    "scrollbar", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem"];
  const USABLE = `a[href], button, input:not([type=hidden]), select, textarea, summary, iframe, video, audio, object, embed,
    canvas, [contenteditable=true], [tabindex]:not([tabindex="-1"]), ${ROLES.map((role) => `[role=${role}]`)}`;
  const POINTER = /pointer|grab|resize|copy|cell|crosshair/; // looks of a mouse over something that it can use
  const UNSEEN = "input[type=checkbox], input[type=radio], input[type=range]"; // drawn by what is around them
  // What lies over the page, the uppermost last.
  const LAYERS = ["[role=dialog]:not([data-testid=stPopoverBody])",
    "[data-floating-ui-portal] > :not([data-floating-ui-focus-guard], [role=tooltip], :has([role=tooltip]))"];
  const PLACES = { dialog: "[role=dialog]:not([data-testid=stPopoverBody])", popover: "[data-testid=stPopoverBody]",
    "a section's menu": "[data-testid=stTopNavPopoverBody]", "a table's menu": "[data-floating-ui-portal]", sidebar: "[data-testid=stSidebar]", header: "header", page: "*" };
  const OWNER = "[data-testid=stPlotlyChart], [data-testid=stDataFrame], [data-testid=stCode]"; // brings tools of its own

  // Charts and tables, the tools of which are the same everywhere.
  const TOOLED = [["[data-testid=stPlotlyChart]", "a chart"], ["[data-testid=stDataFrame]", "a table"]];

  function* all(root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* all(element.shadowRoot);
    }
  }
  const around = (element) => element.parentElement ?? element.getRootNode().host ?? null;
  const nearest = (element, selector) => {
    while (element && !element.matches(selector)) element = around(element);
    return element;
  };
  const there = (element, hovered = true) => { // some are shown only while the mouse is near
    const box = (element.matches(UNSEEN) ? around(element) : element).getBoundingClientRect();
    return box.width > 0 && box.height > 0 && box.right > 0 && box.left < innerWidth
      && element.checkVisibility({ visibilityProperty: !hovered || !element.matches("button") });
  };
  const middle = (element) => { // of its first line, where it has several
    const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const words = (node) => node.nodeType === Node.TEXT_NODE ? node.data
    : node.nodeType !== Node.ELEMENT_NODE || node.matches("[data-testid=stIconMaterial], [aria-hidden=true], style, kbd") ? ""
    : [...node.childNodes].map(words).join(" ");
  const first = new WeakMap(); // names of what says "done" in its own place
  const named = (element) => {
    if (element.matches(`canvas, ${OWNER}`)) return "";
    if (first.has(element)) return first.get(element);
    const text = element.getAttribute("aria-label") || element.getAttribute("data-title")
      || words(element.labels?.[0] ?? element.closest("label") ?? element) || element.getAttribute("title") || "";
    const name = element.matches("[class*=st-key-chip_] button") ? "a curve" : text.replace(/\s+/g, " ").trim().slice(0, 60);
    if (element.matches(":has([aria-live]), [data-testid=stCode] button")) first.set(element, name);
    return name;
  };
  const key = (element) => { // of the nearest element that has one, without what changes from visit to visit
    const name = [...(nearest(element, "[class*=st-key-]")?.classList ?? [])].find((one) => one.startsWith("st-key-")) ?? "";
    return /^st-key-[\d-]*([a-z_]+(-[a-z]+)?)/i.exec(name)?.[1] ?? "";
  };
  const placed = (element) => {
    const place = Object.keys(PLACES).find((one) => nearest(element, PLACES[one]));
    if (element.matches("[data-testid=stTooltipIcon] *")) return place; // what is said about a field is none of it
    const panel = element.matches("[role=combobox]") && element.closest("[role=tabpanel]");
    if (panel) return `${place}, tab ${words(document.getElementById(panel.getAttribute("aria-labelledby"))).trim()}`;
    const owner = nearest(element, `${OWNER}, [data-testid=stPopover], [class*=_params]:has(input, textarea)`);
    if (!owner || place === "a table's menu") return place;
    const tool = TOOLED.find(([one]) => owner.matches(one) && owner !== element && !element.matches("canvas"));
    return `${place}, ${tool ? tool[1] : key(element)}`;
  };

  const seen = (selector) => [...document.querySelectorAll(selector)].find((one) => there(one, false)) ?? null;

  const lying = () => LAYERS.flatMap((kind) => [...document.querySelectorAll(kind)]).filter((one) => there(one));
  // Where a mouse presses to close the uppermost layer: in the corner of the one below it, or of the page.
  const beside = () => {
    const below = lying().at(-2)?.getBoundingClientRect();
    return below ? [below.x + 12, below.y + 12] : [innerWidth - 8, 70];
  };

  // What can be used now: in the uppermost layer, where something lies over the page. kinds: names and selectors; parts: a
  // selector for what belongs to one of them. What looks usable and is neither is of the kind null.
  let found = [];
  const controls = (kinds, parts) => {
    const layers = lying(), over = (one) => one.matches("[data-floating-ui-portal] *");
    const known = Object.entries(kinds), any = Object.values(kinds).join(), count = {}, rows = [];
    const usable = (element) => {
      if (element.matches(parts)) return false;
      if (element.matches(USABLE)) return true;
      const cursor = getComputedStyle(element).cursor, outer = around(element);
      return POINTER.test(cursor) && !(outer && getComputedStyle(outer).cursor === cursor)
        && !nearest(element, any) && ![...all(element)].some((inner) => inner.matches(any));
    };
    found = [];
    for (const element of all(layers.at(-1) ?? document)) {
      const kind = known.find(([, selector]) => element.matches(selector))?.[0] ?? null;
      if (kind === null && (element.ownerSVGElement || !usable(element))) continue;
      if (!there(element)) continue;
      const at = placed(element), place = at === "a table's menu" && layers.filter(over).length > 1 ? `${at}, within` : at;
      const row = { kind, place, name: named(element), layers: layers.length,
        off: element.matches(":disabled, [aria-disabled=true]"), html: element.outerHTML.slice(0, 200) };
      const same = [kind, row.place, row.name].join();
      rows.push({ ...row, nth: count[same] = (count[same] ?? 0) + 1 });
      found.push(element);
    }
    return rows;
  };

  // All that using a control may change.
  const FACTS = ["aria-expanded", "aria-checked", "aria-selected", "aria-pressed", "aria-valuetext", "aria-label", "class"];
  const state = (element) => JSON.stringify([talk.asked, location.href, document.querySelectorAll(LAYERS.join()).length, element.isConnected,
    element.value, String(element.checked), element.closest("details")?.open, words(element), ...FACTS.map((fact) => element.getAttribute(fact))]);

  // --- by mouse ---

  const drawn = async () => { for (const _ of "12") await new Promise(requestAnimationFrame); };
  const bring = async (element, block = "center") => {
    element.scrollIntoView({ block, behavior: "instant" });
    await drawn(); // a menu closes when its page scrolls: let that be over
  };
  // Where to press an element, which is scrolled to unless it can be pressed where it is; or why it cannot be pressed.
  const LOST = 1500; // ms for what moves or fades in
  const spot = async (element) => {
    const over = () => {
      if (!element.isConnected) return "another is in its place";
      let top = document.elementFromPoint(...middle(element));
      while (top?.shadowRoot) top = top.shadowRoot.elementFromPoint(...middle(element));
      for (let at = top; at; at = around(at)) if (at === element) return null;
      return `${top?.outerHTML.slice(0, 150) ?? "the edge of the window"} lies over it`;
    };
    for (const block of ["center", "start", "center"]) if (over()) await bring(element, block); // what stays below may be high
    const end = performance.now() + LOST;
    for (let before = null; element.isConnected && performance.now() < end; await pause(LOOK)) {
      hasten();
      const now = over() ?? middle(element).join();
      if (now === before && !over()) return middle(element);
      before = now;
    }
    return over() ?? "it moves";
  };

  // --- by keyboard ---

  const active = () => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
  };
  // The group of a control in which arrows lead from one to the next; Tab stops at one of them.
  const group = (element) => element.matches("[data-testid=stMultiSelect] button") ? element // Tab alone leads there
    : nearest(element, "[role=tablist], [role=radiogroup], [role=group], [role=menu]") ?? element;
  // Where the focus is: at the control, in its group, or elsewhere.
  const focus = (element) => active() === element || (element.matches("canvas") && element.contains(active())) ? "there" : group(element).contains(active()) ? "near" : "elsewhere";
  const before = (element) => {
    const way = [...all(document)].filter((one) => one === group(element) || (one.tabIndex >= 0 && !one.disabled && there(one, false)));
    return way[way.indexOf(group(element)) - 1] ?? null;
  };

  window.dprlTest = { rest, waits, trouble, controls, seen, beside, state, spot, bring, drawn, active, focus, before, talk,
    element: (i) => found[i] };
})();
