/** Numbers as every page of the studio writes them. */

const MINUS = "\u2212";
// A number stays on one line with its unit.
const SPACE = "\u00a0";

/** A number with this many digits after the point, and a true minus sign. */
export function decimal(value, digits) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", MINUS);
}

/** A share as a percentage. */
export function percent(share, digits = 1) {
  return `${decimal(100 * share, digits)}${SPACE}%`;
}

/** A half-width in percentage points, with two digits of it. */
export function points(halfWidth) {
  const value = 100 * halfWidth;
  return `±${SPACE}${decimal(value, value < 1 ? 2 : value < 10 ? 1 : 0)} points`;
}

/** A whole number with commas. */
export function count(value) {
  return Math.round(value).toLocaleString("en");
}

/** A limit on privacy with four digits: rounded up, so that it is not promised too strongly. */
export function limit(value, n = 4) {
  if (value >= 10 ** n) return count(Math.ceil(value));
  const scale = value > 0 ? 10 ** (n - 1 - Math.floor(Math.log10(value))) : 1;
  return String(Math.ceil(value * scale * (1 - 1e-12)) / scale);
}

/** A number with so many digits in all. */
export function digits(value, n = 3) {
  return value >= 10 ** n ? count(value) : String(Number(value.toPrecision(n)));
}
