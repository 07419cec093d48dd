// A reader's own prediction in a lesson of the site, and what the answer makes of it. website/lessons.py writes them.
import { add, at, control } from "./player_parts.js";
/**
 * @typedef {object} Guess
 * @property {string[]} menus their labels; without any there is a slider
 * @property {string[]} words what can be chosen
 * @property {[string, string]} [ends] what the ends of the slider mean
 * @property {number[]} [stops] where the words of the slider stand on the chart
 * @property {number} [at] where it waits
 * @property {Record<string, string>} verdicts of each setting
 */
const NONE = "–";
/**
 * Puts in the controls before a fold. The verdict is seen when the fold opens, and until it is closed nothing is moved.
 * @param {number} number of the question
 * @param {Guess} guess
 * @param {(stop: number) => void} moved is told where the slider stands on the chart
 */
export function ask(number, guess, moved) {
  const box = at(`guess-${number}`), verdict = at(`verdict-${number}`);
  const fold = /** @type {HTMLDetailsElement} */ (verdict.closest("details"));
  let setting = "";
  const say = () => {
    verdict.textContent = fold.open ? guess.verdicts[setting] ?? "" : "";
    for (const one of box.querySelectorAll("input, select")) /** @type {any} */ (one).disabled = fold.open;
  };
  fold.addEventListener("toggle", say);
  if (guess.stops) {
    const { stops, words, ends } = guess;
    const id = `own-${number}`, label = "Your prediction";
    control(box, { id, label, words, note: `Left: ${ends[0]}. Right: ${ends[1]}.` }, (place) => {
      setting = String(place);
      moved(stops[place]);
    })(guess.at);
    return;
  }
  /** @type {(number | "")[]} */
  const chosen = guess.menus.map(() => "");
  const set = guess.menus.map((label, i) =>
    control(box, { id: `own-${number}-${i}`, label, words: [NONE, ...guess.words], menu: true }, (place) => {
      chosen.forEach((one, j) => {  // no name is given twice
        if (one !== place - 1 || j === i) return;
        chosen[j] = "";
        set[j](0);
      });
      chosen[i] = place ? place - 1 : "";
      setting = chosen.join();
    }));
  for (const one of set) one(0);
}
