// Functions for tests inside a page: whether it is at rest, and where the focus is. Runs before all other scripts.
(() => {
  // --- messages to and from the server: Streamlit's protobuf ---
  const RERUN = 11, AUTOMATIC = 6; // BackMsg.rerun_script, its is_auto_rerun
  const BEGUN = 4, FINISHED = 6, EARLY = 2; // ForwardMsg.new_session, script_finished, and its value for an early end
  const talk = { asked: 0, askedAt: -1, begunAt: 0, answeredAt: 0 }; // answeredAt: start of the last finished script

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
  delete window.showSaveFilePicker; // so that downloads open no window of the system

  // --- rest ---
  const QUIET = 50, LOOK = 15; // ms
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  // Ends all animations.
  const hasten = () => {
    for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime < Infinity) one.finish();
  };
  // Streamlit's root element has the state of the script. A chart is ready when Plotly has drawn it, and a component's
  // button when its script has run.
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
  // The time of the last change: Streamlit removes outdated elements shortly after a script ends.
  let changed = 0;
  new MutationObserver(() => { changed = performance.now(); }).observe(document, { subtree: true, childList: true });
  // Returns whether the page comes to rest within `limit` ms. A page that redraws itself rests between two redraws.
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
  const drawn = async () => { for (const _ of "12") await new Promise(requestAnimationFrame); };
  const bring = async (element, block = "center") => {
    element.scrollIntoView({ block, behavior: "instant" });
    await drawn(); // a scroll closes menus, so wait for its end
  };
  const active = () => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
  };

  window.dprlTest = { rest, bring, drawn, active, talk };
})();
