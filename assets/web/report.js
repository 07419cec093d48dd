// Draws a report on the phone, and keeps it in localStorage before it is sent. A reload or a second press sends the
// same report again, so privacy is never spent twice. If the browser denies localStorage to the page (some private
// windows), nothing is sent, because a reload would draw again.
const reports = new Map(), sent = new Set();

export function draw() {  // returns a uniform whole number below 2^53
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high >>> 11) * 2 ** 32 + low;
}

export const share = (outcomes) => (outcomes / 2 ** 53).toFixed(4);

export function envelope({ code, place, open, written }, setStateValue) {
  const entry = `dprl-room-${code}-${place}`;  // device.js deletes these after a day
  const read = () => {
    try { return JSON.parse(localStorage.getItem(entry))?.report ?? reports.get(entry); } catch {
      return reports.get(entry);
    }
  };
  const stores = (name, text) => {
    try { localStorage.setItem(name, text); return localStorage.getItem(name) === text; } catch { return false; }
  };
  const keep = (report) => {  // returns whether a reload will find the report
    const stored = stores(entry, JSON.stringify({ at: Date.now(), report }));
    if (stored) reports.set(entry, report);
    return stored;
  };
  const refused = () => {  // returns whether a report would be lost
    if (!open || written || read()) return false;
    const stored = stores(`${entry}-probe`, "{}");
    try { localStorage.removeItem(`${entry}-probe`); } catch {}
    return !stored;
  };
  const send = () => {  // nothing else in this file reaches the server
    sent.add(entry);
    setStateValue("report", read());
  };
  const waits = () => Boolean(read()) && open && !written;
  const late = () => { if (waits() && !sent.has(entry)) send(); };  // if the page was left before the room had it
  return { entry, read, keep, refused, send, waits, late };
}
