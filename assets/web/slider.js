// Updates the page at once, and sends the place to Python at most every PACE ms, always including the last place. The
// chart changes by its own buttons (Plotly's `updatemenus`), because Streamlit would replace it, which takes three
// times as long and flickers. The address is updated before sending: Streamlit sends it along, and would read an old
// address as a link to the old place. It is replaced here, because Python would add an entry to the Back button.
const PACE = 80, REST = 400;
export default function ({ data, parentElement, setStateValue }) {
  const input = parentElement.querySelector("input");
  if (input.dataset.ready) return;  // redrawn by its own move: the visitor may have moved on
  input.dataset.ready = "yes";
  const output = parentElement.querySelector("output");
  const ends = parentElement.querySelectorAll(".ends span");
  parentElement.querySelector("label").textContent = data.label;
  data.ends.forEach((words, i) => { ends[i].textContent = words; });
  input.max = data.words.length - 1;
  input.value = data.place;
  const turn = () => {
    const buttons = document.querySelectorAll(data.chart + " .updatemenu-button");
    if (buttons.length === 0) { if (input.isConnected) setTimeout(turn, 50); return; }  // the chart is not there yet
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
    if (!input.isConnected || location.pathname !== path) return;  // another page is open now
    const url = new URL(location.href);
    new URLSearchParams(data.queries[input.value]).forEach((value, key) => url.searchParams.set(key, value));
    // A browser refuses a hundred of these in a row, but accepts the one after the pause.
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
