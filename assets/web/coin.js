import { draw, envelope, filled, share } from "./report.js";

// The coin of an answer by yes or no. It is drawn here, so the true answer never leaves the phone: what is sent is the
// report. What was tapped is known to this page alone, until it is left.
const taps = new Map();
export { draw, reported };

function reported(answer, drawn, opposites) {  // as dprl/rooms/response.py has it
  return drawn < opposites ? { yes: "no", no: "yes" }[answer] : answer;
}

export default function ({ data, parentElement, setStateValue }) {
  const { opposites, open, words } = data, mail = envelope(data, setStateValue);
  const answers = parentElement.querySelector(".answers"), again = parentElement.querySelector(".again");
  const [yes, no] = answers.querySelectorAll("button"), told = parentElement.querySelector("p");

  const say = (refused = mail.refused()) => {
    const report = mail.read(), tap = taps.get(mail.entry);
    answers.hidden = Boolean(report) || !open || refused;
    again.hidden = !mail.waits();
    const text = refused ? words.refused : tap ? words.drew : report ? words.kept : "";
    told.textContent = filled(text, {
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
