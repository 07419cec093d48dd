import { element, fill } from "./parts.js";
import { draw, envelope, share } from "./report.js";

// A patient of the clinic. The phone simulates the episode and draws the report, as in dprl/rooms/clinic.py. The
// episode is stored in this page alone, until it is left. The report has the group of steps that the phone drew, and
// for each of these steps a part and bits, each flipped with a public probability.
const patients = new Map();
export { draw, report };

const outcome = (sums) => {  // draws an outcome from cumulative counts
  const drawn = draw();
  return sums.findIndex((sum) => drawn < sum);
};

function report(way, law) {  // way: the state, whether there was a reward, and the next state, for each step
  const group = draw() % law.groups, states = law.states.length, asked = [];
  for (let step = group; step < way.length; step += law.groups) {
    const { state, paid, next } = way[step], part = "mnr"[outcome(law.parts)];
    const hot = { m: state * states + next, n: state, r: paid ? state : -1 }[part];
    const bits = Array.from({ length: part === "m" ? states ** 2 : states }, (_, place) => {
      const bit = Number(place === hot);
      return draw() < law.turned ? 1 - bit : bit;
    });
    asked.push({ step, part, hot, bits });
  }
  const text = [group, ...asked.map(({ part, bits }) => part + bits.join(""))].join("-");
  return { text, asked };
}

export default function ({ data, parentElement, setStateValue }) {
  const { law, open, words } = data, mail = envelope(data, setStateValue);
  const find = (name) => parentElement.querySelector(name);
  const [list, go, box, again] = ["ol", ".go", ".asked", ".again"].map(find);
  const steps = law.moves.length;

  const tell = ({ step, part, hot, bits }, { state, paid, next }) => {
    const names = law.states, states = names.length;
    const fields = { step: step + 1, state: names[state], next: names[next], reward: Number(paid) };
    element(box, "p", "", fill(words[`asked_${part}`], fields));
    const row = element(box, "p", "bits");
    row.setAttribute("aria-label", fill(words.bits, { bits: bits.join("") }));
    for (let at = 0; at < bits.length; at += states) {
      const cells = element(row, "span");
      bits.slice(at, at + states).forEach((bit, i) => element(cells, at + i === hot ? "b" : "span", "", bit));
    }
  };
  const say = (refused = mail.refused()) => {
    const stored = mail.read(), patient = patients.get(mail.entry);
    list.replaceChildren();
    box.replaceChildren();
    patient?.way.forEach(({ state, paid, next }, step) => element(list, "li", "", fill(words.step, {
      state: law.states[state], advice: law.advice[step][state], next: law.states[next], reward: Number(paid),
    })));
    go.hidden = Boolean(stored) || !open || refused;
    again.hidden = !mail.waits();
    const step = patient?.way.length ?? 0, state = patient?.state;
    const fields = { step: step + 1, steps, state: law.states[state], advice: law.advice[step]?.[state] };
    if (!go.hidden) {
      if (patient) element(box, "p", "", fill(words.you, fields));
      go.textContent = fill(patient ? step + 1 < steps ? words.next : words.last : words.begin, fields);
    } else if (patient?.asked && !refused) {
      patient.asked.forEach((asked) => tell(asked, patient.way[asked.step]));
      element(box, "p", "", fill(words.drew, { turned: share(law.turned) }));
    } else element(box, "p", "", refused ? words.refused : stored ? words.kept : words.missed);
  };
  const press = () => {
    const patient = patients.get(mail.entry);
    if (!patient) patients.set(mail.entry, { state: outcome(law.start), way: [] });
    else if (patient.way.length < steps) {
      const { state, way } = patient, step = way.length;
      const paid = draw() < law.rewards[step][state];
      patient.state = outcome(law.moves[step][state]);
      way.push({ state, paid, next: patient.state });
    }
    const done = patient?.way.length === steps && !mail.read();
    if (done) {
      const { text, asked } = report(patient.way, law);
      if (!mail.keep(text)) return say(true);
      patient.asked = asked;
    }
    say();
    if (done) mail.send();
  };

  again.textContent = words.again;
  go.onclick = press;
  again.onclick = mail.send;
  say();
  mail.late();
}
