// The coin of an answer by yes or no. It is drawn here, so the true answer never leaves the phone: what is sent is the
// report, by the one line with setStateValue. The report is kept before it is sent. A reload or a second press finds it
// there and sends it again; nothing is drawn twice. What was tapped is known to this page alone, until it is left.
// localStorage may be closed to a page (some private windows): then a report is kept as long as the page, as is the
// name of the device.
const taps = new Map(), reports = new Map(), sent = new Set();

export function draw() {  // a whole number from 0, all 2^53 of them equally likely
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high >>> 11) * 2 ** 32 + low;
}

export function reported(answer, drawn, opposites) {  // as dprl/rooms/response.py has it
  return drawn < opposites ? { yes: "no", no: "yes" }[answer] : answer;
}

const read = (entry) => {
  try { return JSON.parse(localStorage.getItem(entry))?.report ?? reports.get(entry); } catch {
    return reports.get(entry);
  }
};
const keep = (entry, report) => {
  reports.set(entry, report);
  try { localStorage.setItem(entry, JSON.stringify({ at: Date.now(), report })); } catch {}
};
const filled = (text, fields) => text.replace(/\{(\w+)\}/g, (_, name) => fields[name]);
const share = (outcomes) => (outcomes / 2 ** 53).toFixed(4);

export default function ({ data, parentElement, setStateValue }) {
  const { code, place, opposites, open, written, words } = data;
  const entry = `dprl-room-${code}-${place}`;  // device.js clears these up after a day
  const answers = parentElement.querySelector(".answers"), again = parentElement.querySelector(".again");
  const [yes, no] = answers.querySelectorAll("button"), told = parentElement.querySelector("p");

  const send = () => {
    sent.add(entry);
    setStateValue("report", read(entry));
  };
  const say = () => {
    const report = read(entry), tap = taps.get(entry);
    answers.hidden = Boolean(report) || !open;
    again.hidden = !report || !open || Boolean(written);
    const text = tap ? words.drew : report ? words.kept : "";
    told.textContent = filled(text, {
      report: words[report], answer: words[tap?.answer], drawn: share(tap?.drawn), flip: share(opposites),
    });
  };
  const press = (answer) => {
    if (!read(entry)) {
      const drawn = draw();
      keep(entry, reported(answer, drawn, opposites));
      taps.set(entry, { answer, drawn });
    }
    say();
    send();
  };

  [yes.textContent, no.textContent, again.textContent] = [words.yes, words.no, words.again];
  yes.onclick = () => press("yes");
  no.onclick = () => press("no");
  again.onclick = send;
  say();
  if (read(entry) && open && !written && !sent.has(entry)) send();  // the page was left before the room had it
}
