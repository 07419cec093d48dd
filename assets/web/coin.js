import { fill } from "./parts.js";
import { draw, envelope, share } from "./report.js";

// The coin of a yes-or-no answer. It is tossed here, so the true answer never leaves the phone: only the report is
// sent. The taps are stored in this page alone, until it is left.
const taps = new Map();
export { draw, reported };

function reported(answer, drawn, opposites) {  // as in dprl/rooms/response.py
  return drawn < opposites ? { yes: "no", no: "yes" }[answer] : answer;
}

export default function ({ data, parentElement, setStateValue }) {
  const { opposites, open, words } = data, mail = envelope(data, setStateValue);
  const answers = parentElement.querySelector(".answers"), again = parentElement.querySelector(".again");
  const [yes, no] = answers.querySelectorAll("button"), status = parentElement.querySelector("p");

  const say = (refused = mail.refused()) => {
    const report = mail.read(), tap = taps.get(mail.entry);
    answers.hidden = Boolean(report) || !open || refused;
    again.hidden = !mail.waits();
    const template = refused ? words.refused : tap ? words.drew : report ? words.kept : "";
    status.textContent = fill(template, {
      report: words[report], answer: words[tap?.answer], drawn: share(tap?.drawn), flip: share(opposites),
    });
  };
  const press = (answer) => {
    if (!mail.read()) {
      const drawn = draw();
      if (!mail.keep(reported(answer, drawn, opposites))) return say(true);
      taps.set(mail.entry, { answer, drawn });
    }
    say();
    mail.send();
  };

  [yes.textContent, no.textContent, again.textContent] = [words.yes, words.no, words.again];
  yes.onclick = () => press("yes");
  no.onclick = () => press("no");
  again.onclick = mail.send;
  say();
  mail.late();
}
