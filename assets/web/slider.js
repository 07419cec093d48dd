// What the browser can do itself is done at once; what is sent follows at most every PACE ms, the last place always.
// The chart is turned by its own buttons (Plotly's `updatemenus`), because Streamlit can only replace a chart that
// has changed, which takes three times as long and blinks. The address goes ahead of what is sent: whatever the
// browser sends next carries it, and one that lags behind would be read as a link to where the slider was. It is
// written in place: what is written from Python becomes an entry of the Back button each time.
const PACE = 80, REST = 400;
export default function ({ data, parentElement, setStateValue }) {
  const input = parentElement.querySelector("input");
  if (input.dataset.ready) return;  // drawn again by its own move: the visitor's hand is ahead
  input.dataset.ready = "yes";
  const output = parentElement.querySelector("output");
  const ends = parentElement.querySelectorAll(".ends span");
  parentElement.querySelector("label").textContent = data.label;
  data.ends.forEach((words, i) => { ends[i].textContent = words; });
  input.max = data.words.length - 1;
  input.value = data.place;
  // The chart may not be there yet.
  const turn = () => {
    const buttons = document.querySelectorAll(data.chart + " .updatemenu-button");
    if (buttons.length === 0) { if (input.isConnected) setTimeout(turn, 50); return; }
    buttons[input.value].dispatchEvent(new MouseEvent("click"));
  };
  const say = () => {
    output.textContent = data.words[input.value];
    input.setAttribute("aria-valuetext", data.spoken[input.value]);
    input.style.setProperty("--share", input.value / input.max);
  };
  let sent = input.value, last = -PACE, waiting = null;
  const send = () => {
    waiting = null;
    if (input.value === sent) return;
    sent = input.value;
    last = performance.now();
    write();
    setStateValue("place", Number(sent));
  };
  const path = location.pathname;
  const write = () => {
    if (!input.isConnected || location.pathname !== path) return;  // another page is open by now
    const url = new URL(location.href);
    new URLSearchParams(data.queries[input.value]).forEach((value, key) => url.searchParams.set(key, value));
    // A browser refuses a hundred of these in a row; the one at rest comes through.
    try { history.replaceState(history.state, "", url); } catch {}
  };
  let resting = null;
  input.oninput = () => {
    say();
    turn();
    clearTimeout(resting);
    resting = setTimeout(write, REST);
    if (waiting !== null) return;
    const pause = last + PACE - performance.now();
    if (pause <= 0) send(); else waiting = setTimeout(send, pause);
  };
  say();
  if (data.write) write();
}
