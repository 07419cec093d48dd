// What a link claims of its result, compared with what was played here: as dprl/verify.py does it.
import { sha256 } from "./player_digest.js";
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
 * @returns {{same: boolean, says: string[]}}
 */
export function compared(curves, claimed, tiny) {
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
  const digest = digestOf(curves);
  if (digest === claimed.digest) return { same: true, says: [`The same bits as the author's: ${told}.`] };
  return { same: false, says: [`All ${VALUES} check values agree, and the digests differ: ${digest} here, `
    + `${claimed.digest} in the link. Another value differs, or a setting.`] };
}
/** 16 hex digits of all settings, episodes and values. @param {Played[]} curves */
function digestOf(curves) {
  const parts = curves.flatMap(({ spec: [before, behind], episodes, rows }) => [
    new TextEncoder().encode(before + rows.length + behind), BigInt64Array.from(episodes, BigInt), ...rows,
  ]);
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let place = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), place);
    place += byteLength;
  }
  return sha256(bytes).slice(0, 16);
}
