// A reader's prediction in a lesson of the site, and its verdict. website/lessons.py writes the questions.
import { at, control } from "./player_parts.js";
/**
 * @typedef {object} Guess
 * @property {string[]} menus their labels; if there are none, the question has a slider
 * @property {string[]} words the choices
 * @property {[string, string]} [ends] of the slider, in words
 * @property {number[]} [stops] the values of the slider on the chart
 * @property {number} [at] the first place of the slider
 * @property {Record<string, string>} verdicts of each setting
 */
const NONE = "–";
/** Adds the controls of a question before a fold. While the fold is open, it shows the verdict, and the controls are
 * disabled. `moved` is called with the chosen stop of a slider. */
export function ask(number, /** @type {Guess} */ guess, moved) {
  const box = at(`guess-${number}`), verdict = at(`verdict-${number}`);
  const fold = /** @type {HTMLDetailsElement} */ (verdict.closest("details"));
  let setting = "";
  fold.addEventListener("toggle", () => {
    verdict.textContent = fold.open ? guess.verdicts[setting] ?? "" : "";
    for (const one of box.querySelectorAll("input, select")) /** @type {any} */ (one).disabled = fold.open;
  });
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
      chosen.forEach((one, j) => {  // clears a menu that had the same choice
        if (one !== place - 1 || j === i) return;
        chosen[j] = "";
        set[j](0);
      });
      chosen[i] = place ? place - 1 : "";
      setting = chosen.join();
    }));
  for (const one of set) one(0);
}
