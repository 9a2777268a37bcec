/** Exact fractions of whole numbers, as [numerator, denominator] with a denominator above 0. */

function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

/** The fraction n / d in lowest terms. */
export function ratio(n, d = 1n) {
  const common = gcd(n, d) || 1n;
  return [n / common, d / common];
}

export const ZERO = [0n, 1n];
export const ONE = [1n, 1n];

export const plus = ([a, b], [c, d]) => ratio(a * d + c * b, b * d);
export const minus = ([a, b], [c, d]) => ratio(a * d - c * b, b * d);
export const times = ([a, b], [c, d]) => ratio(a * c, b * d);
export const over = ([a, b], [c, d]) => ratio(a * d, b * c);
export const above = ([a, b], [c, d]) => a * d > c * b;
export const same = ([a, b], [c, d]) => a * d === c * b;
export const larger = (x, y) => (above(y, x) ? y : x);

// A weight that stands for 0.8 is not quite four fifths; this much is not rounded outward to the next digit.
const FLOAT_ERROR = ratio(1n, 10n ** 12n);

/** The whole number below, above or nearest to a fraction of 0 or more; of two that are as near, the even one. */
export function whole(value, rounding = "nearest") {
  if (rounding === "down") {
    const [n, d] = times(value, plus(ONE, FLOAT_ERROR));
    return n / d;
  }
  if (rounding === "up") {
    const [n, d] = times(value, minus(ONE, FLOAT_ERROR));
    return (n + d - 1n) / d;
  }
  const [n, d] = value;
  const twice = 2n * n + d;
  const nearest = twice / (2n * d);
  return twice % (2n * d) === 0n && nearest % 2n === 1n ? nearest - 1n : nearest;
}
