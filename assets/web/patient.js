import { draw, envelope, filled, share } from "./report.js";

// A patient of the clinic: what happens is drawn here, and so is the report, as dprl/rooms/clinic.py has it. The way
// is known to this page alone, until it is left. What is sent is the group of steps that the phone drew, a part for
// each of them, and bits that were each turned over with a chance that everybody knows.
const ways = new Map();
export { draw, report };

const outcome = (sums) => {  // which of several, by the outcomes up to which each is drawn
  const drawn = draw();
  return sums.findIndex((sum) => drawn < sum);
};

function report(way, law) {  // way: at each step the state, whether it paid, and the next state
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

function walk(law, state, step) {
  const paid = draw() < law.rewards[step][state], next = outcome(law.moves[step][state]);
  return { state, paid, next };
}

export default function ({ data, parentElement, setStateValue }) {
  const { law, open, words } = data, mail = envelope(data, setStateValue);
  const find = (name) => parentElement.querySelector(name);
  const [list, go, box, again] = ["ol", ".go", ".asked", ".again"].map(find);
  const steps = law.moves.length;
  const add = (parent, tag, text = "", name = "") => {
    const made = document.createElement(tag);
    [made.textContent, made.className] = [text, name];
    return parent.appendChild(made);
  };
  const now = () => ways.get(mail.entry);

  const tell = ({ step, part, hot, bits }) => {
    const { state, paid, next } = now().way[step], names = law.states;
    const fields = { step: step + 1, state: names[state], next: names[next], reward: Number(paid) };
    add(box, "p", filled(words[`asked_${part}`], fields));
    const row = add(box, "p", "", "bits"), states = names.length;
    row.setAttribute("aria-label", filled(words.bits, { bits: bits.join("") }));
    for (let at = 0; at < bits.length; at += states) {
      const some = add(row, "span");
      bits.slice(at, at + states).forEach((bit, i) => add(some, at + i === hot ? "b" : "span", bit));
    }
  };
  const say = (refused = mail.refused()) => {
    const kept = mail.read(), mine = now();
    list.replaceChildren();
    box.replaceChildren();
    mine?.way.forEach(({ state, paid, next }, step) => add(list, "li", filled(words.step, {
      state: law.states[state], advice: law.advice[step][state], next: law.states[next], reward: Number(paid),
    })));
    go.hidden = Boolean(kept) || !open || refused;
    again.hidden = !mail.waits();
    const step = mine?.way.length ?? 0;
    const fields = { step: step + 1, steps, state: law.states[mine?.state], advice: law.advice[step]?.[mine?.state] };
    if (!go.hidden) {
      if (mine) add(box, "p", filled(words.you, fields));
      go.textContent = filled(mine ? step + 1 < steps ? words.next : words.last : words.begin, fields);
    } else if (refused) add(box, "p", words.refused);
    else if (mine?.asked) {
      mine.asked.forEach(tell);
      add(box, "p", filled(words.drew, { turned: share(law.turned) }));
    } else if (kept) add(box, "p", words.kept);
    else add(box, "p", words.missed);
  };
  const press = () => {
    const mine = now();
    if (!mine) ways.set(mail.entry, { state: outcome(law.start), way: [] });
    else if (mine.way.length < steps) {
      mine.way.push(walk(law, mine.state, mine.way.length));
      mine.state = mine.way.at(-1).next;
    }
    const done = mine?.way.length === steps && !mail.read();
    if (done) {
      const { text, asked } = report(mine.way, law);
      if (!mail.keep(text)) return say(true);
      mine.asked = asked;
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
