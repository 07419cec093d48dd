// What stands between an answer and the room. A report is drawn here and kept in localStorage before it is sent. A
// reload or a second press finds it there and sends it again, so nothing is drawn, and spent, twice. If the browser
// closes localStorage to the page (some private windows), a reload would draw again: then nothing is sent.
const reports = new Map(), sent = new Set();

export function draw() {  // a whole number from 0, all 2^53 of them equally likely
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high >>> 11) * 2 ** 32 + low;
}

export const filled = (text, fields) => text.replace(/\{(\w+)\}/g, (_, name) => fields[name]);
export const share = (outcomes) => (outcomes / 2 ** 53).toFixed(4);

export function envelope({ code, place, open, written }, setStateValue) {
  const entry = `dprl-room-${code}-${place}`;  // device.js clears these up after a day
  const read = () => {
    try { return JSON.parse(localStorage.getItem(entry))?.report ?? reports.get(entry); } catch {
      return reports.get(entry);
    }
  };
  const stores = (name, text) => {
    try { localStorage.setItem(name, text); return localStorage.getItem(name) === text; } catch { return false; }
  };
  const keep = (report) => {  // whether a reload will find it
    const kept = stores(entry, JSON.stringify({ at: Date.now(), report }));
    if (kept) reports.set(entry, report);
    return kept;
  };
  const refused = () => {  // whether a report would be lost
    if (!open || written || read()) return false;
    const kept = stores(`${entry}-probe`, "{}");
    try { localStorage.removeItem(`${entry}-probe`); } catch {}
    return !kept;
  };
  const send = () => {  // the one line that says anything to the server
    sent.add(entry);
    setStateValue("report", read());
  };
  const waits = () => Boolean(read()) && open && !written;
  const late = () => { if (waits() && !sent.has(entry)) send(); };  // the page was left before the room had it
  return { entry, read, keep, refused, send, waits, late };
}
