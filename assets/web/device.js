// Names the phone in a room. If the browser denies localStorage to the page (some private windows), the name lasts as
// long as the page.
export default function ({ data, setStateValue }) {
  const day = 24 * 3600 * 1000, prefix = "dprl-room-", name = prefix + data.code;
  const read = (entry) => { try { return JSON.parse(localStorage.getItem(entry)); } catch { return null; } };
  const hex = (byte) => byte.toString(16).padStart(2, "0");
  const draw = () => [...crypto.getRandomValues(new Uint8Array(16))].map(hex).join("");
  try {
    for (const entry of Object.keys(localStorage))
      if (entry.startsWith(prefix) && !(Date.now() - read(entry)?.at < day)) localStorage.removeItem(entry);
  } catch {}
  window.dprlRooms ??= {};
  const entry = read(name) ?? window.dprlRooms[name] ?? { at: Date.now(), device: draw(), key: "" };
  if (data.key) entry.key = data.key;
  window.dprlRooms[name] = entry;
  try { localStorage.setItem(name, JSON.stringify(entry)); } catch {}
  const message = `${data.code} ${entry.device} ${entry.key}`;
  if (message !== data.said) setStateValue("said", message);
}
