// Numbers as text, like dprl/words.py, and means over seeds, like dprl/metrics/seeds.py.
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const GROUPED = new Intl.NumberFormat("en-US");  // toLocaleString would make one for each number
/** Formats a number to three digits: 0.0571, 12,300, 1.2 million, 3.4 trillion, 1.5×10¹⁵. @param {number} value */
export function human(value) {
  if (!Number.isFinite(value)) return "unknown";
  const sign = value < 0 ? "−" : "", size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 9.995e14) {
    const [digits, power] = size.toExponential(2).split("e");
    const factor = String(Number(digits)), ten = `10${[...String(Number(power))].map((d) => RAISED[d]).join("")}`;
    return sign + (factor === "1" ? ten : `${factor}×${ten}`);
  }
  const units = /** @type {[number, string][]} */ ([[1e12, "trillion"], [1e9, "billion"], [1e6, "million"]]);
  for (const [unit, word] of units) {
    if (size >= 0.9995 * unit) return `${sign}${Number((size / unit).toPrecision(3))} ${word}`;
  }
  const rounded = Number(size.toPrecision(3));
  if (size >= 1000) return sign + GROUPED.format(size === Math.round(size) ? size : rounded);
  return sign + (size < 0.01 ? String(Number(rounded.toFixed(4))) : String(rounded));
}
/** Returns the mean over seeds at each point, and its 95% t interval, which is NaN for one seed. There is one row for
 * each seed. `quantiles` of Student's t are in the order of the degrees of freedom. */
export function band(/** @type {Float64Array[]} */ rows, quantiles) {
  const count = rows.length, points = Math.min(...rows.map((row) => row.length));
  const center = new Float64Array(points), low = center.slice(), high = center.slice();
  for (let i = 0; i < points; i++) {
    let sum = rows[0][i];  // added in NumPy's order, for the same bits
    for (let j = 1; j < count; j++) sum += rows[j][i];
    center[i] = sum / count;
    let squares = 0;
    for (let j = 0; j < count; j++) squares += (rows[j][i] - center[i]) ** 2;
    const half = count > 1 ? quantiles[count - 1] * Math.sqrt(squares / (count - 1)) / Math.sqrt(count) : NaN;
    low[i] = center[i] - half;
    high[i] = center[i] + half;
  }
  return { center, low, high };
}
