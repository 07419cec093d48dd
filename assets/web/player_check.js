// What a link claims of its result, compared with what was played here: as dprl/verify.py does it.
import { percent } from "./player_sentence.js";
import { human } from "./player_words.js";
const VALUES = 10, FORM = /^([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/;
/**
 * @typedef {{digest: string, values: number[], text: string}} Check
 * @typedef {{spec: [string, string], episodes: number[], rows: Float64Array[]}} Played a curve: its spec as JSON,
 *   before and behind the number of seeds, and the regret of each seed
 */
/**
 * The check that a link carries. Throws a sentence where it is damaged.
 * @param {string} text
 * @returns {Check}
 */
export function checkIn(text) {
  const [, digest, packed] = FORM.exec(text) ?? [];
  let bytes = "";
  try { bytes = atob((packed ?? "").replaceAll("-", "+").replaceAll("_", "/")); } catch { /* too short, below */ }
  if (bytes.length !== 8 * VALUES) throw new Error("its check values are damaged");
  const view = new DataView(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)).buffer);
  return { digest, values: Array.from({ length: VALUES }, (_, i) => view.getFloat64(8 * i, true)), text };
}
/** All digits of a number, as Python writes them. @param {number} value */
function exact(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const size = Math.abs(value);
  if (size >= 1e16 || (size > 0 && size < 1e-4)) return value.toExponential().replace(/([+-])(\d)$/, "$10$2");
  return (Object.is(value, -0) ? "-0" : String(value)) + (Number.isInteger(value) ? ".0" : "");
}
/**
 * What was found, in sentences, and whether all agrees.
 * @param {Played[]} curves
 * @param {Check} claimed
 * @param {string} tiny what is said of less than a hundredth of a percent
 * @returns {Promise<{same: boolean, says: string[]}>}
 */
export async function compared(curves, claimed, tiny) {
  const places = curves.flatMap(({ rows }, curve) =>
    rows.flatMap((row, seed) => Array.from(row, (_, point) => ({ curve, seed, point }))));
  const says = [];
  claimed.values.forEach((there, i) => {
    const { curve, seed, point } = places[Math.round(i * ((places.length - 1) / (VALUES - 1)))];
    const here = curves[curve].rows[seed][point];
    if (Object.is(here, there)) return;
    const share = Number.isFinite(there) && here ? Math.abs(there - here) / Math.abs(here) : NaN;
    const far = Number.isNaN(share) ? "" : `, ${percent(share, tiny)} ${there > here ? "more" : "less"}`;
    says.push(`Check value ${i + 1} of ${VALUES} differs: curve ${curve + 1}, seed ${seed}, after `
      + `${human(curves[curve].episodes[point])} episodes. `
      + `Here regret is ${exact(here)}, and the link says ${exact(there)}${far}.`);
  });
  if (says.length) return { same: false, says };
  const told = `${curves.length} run${curves.length > 1 ? "s" : ""}, ${human(places.length)} values`;
  const digest = await digestOf(curves);
  if (digest === "") return { same: true, says: [`All ${VALUES} check values of the link agree: ${told}. Without a `
    + "secure connection this browser cannot compare the others."] };
  if (digest === claimed.digest) return { same: true, says: [`The same bits as the author's: ${told}.`] };
  return { same: false, says: [`All ${VALUES} check values agree, and the digests differ: ${digest} here, `
    + `${claimed.digest} in the link. Another value differs, or a setting.`] };
}
/**
 * 16 hex digits of all settings, episodes and values; "" where the browser takes no digests.
 * @param {Played[]} curves
 */
async function digestOf(curves) {
  if (!globalThis.crypto?.subtle) return "";
  const parts = curves.flatMap(({ spec: [before, behind], episodes, rows }) => [
    new TextEncoder().encode(before + rows.length + behind), BigInt64Array.from(episodes, BigInt), ...rows,
  ]);
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(/** @type {any} */ (parts)).arrayBuffer());
  return Array.from(new Uint8Array(digest, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
