// What was predicted in lessons and scores: the tab keeps it over a reload, and forgets it when it is closed. A session
// that is new to this tab is told first what was kept; from then on the tab keeps what the session has.
const NAME = "dprl-lessons";
let told = null;  // the session
export default function ({ data, setStateValue }) {
  try {
    const kept = sessionStorage.getItem(NAME);
    if (told !== data.session && !data.heard && kept) {
      setStateValue("kept", kept);
      return;
    }
    told = data.session;
    if (data.first) sessionStorage.setItem(NAME, data.first);
    else sessionStorage.removeItem(NAME);
  } catch {}  // closed to a page in some private windows
}
