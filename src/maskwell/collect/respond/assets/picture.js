/** Small pictures of chances. Shape and length carry the meaning, never colour alone, and words stand beside them. */

import { draw, make } from "./dom.js";
import { above, larger, ONE, over, ratio, same, times, whole, ZERO } from "./ratio.js";

const PER_ROW = 20;
const STEP = 10;
const SIDE = 7;

/** Of 100 people how many, never none or all unless it is certain. */
function ofHundred(share) {
  if (same(share, ZERO)) return 0;
  if (same(share, ONE)) return 100;
  return Math.min(99, Math.max(1, Number(whole(times(share, [100n, 1n])))));
}

function square(x, y, kind) {
  return draw("rect", { x, y, width: SIDE, height: SIDE, rx: 1.5, class: kind });
}

function key(kind, text) {
  const sample = draw("svg", { class: "key", viewBox: "0 0 10 10", "aria-hidden": "true" }, square(1.5, 1.5, kind));
  return make("li", {}, sample, text);
}

/**
 * A hundred people as squares: full ones for the share, empty ones for the rest; `own` and `other` make an element from
 * how many they are.
 */
export function people(share, { title, own, other }) {
  const full = ofHundred(share);
  const squares = Array.from({ length: 100 }, (_, i) => {
    return square((i % PER_ROW) * STEP + 1.5, Math.floor(i / PER_ROW) * STEP + 1.5, i < full ? "own" : "other");
  });
  const picture = draw("svg", { viewBox: "0 0 200 50", class: "people", "aria-hidden": "true" }, ...squares);
  const keys = make("ul", { class: "keys" }, key("own", own(full)), key("other", other(100 - full)));
  return make("figure", {}, make("figcaption", {}, title), picture, keys);
}

/** All answers as squares: full ones for those on a list, empty ones for the others. */
export function answers(size, k, { title, on, off }) {
  const squares = Array.from({ length: k }, (_, i) => {
    return square((i % PER_ROW) * STEP + 1.5, Math.floor(i / PER_ROW) * STEP + 1.5, i < size ? "own" : "other");
  });
  const height = STEP * Math.ceil(k / PER_ROW);
  const picture = draw("svg", { viewBox: `0 0 200 ${height}`, class: "people", "aria-hidden": "true" }, ...squares);
  const keys = make("ul", { class: "keys" }, key("own", on(size)), key("other", off(k - size)));
  return make("figure", {}, make("figcaption", {}, title), picture, keys);
}

function bar(part) {
  // Tenths of a percent are finer than a screen; what is possible is never drawn as impossible.
  const width = same(part, ZERO) ? 0 : Math.max(0.4, Number(whole(times(part, [1000n, 1n]))) / 10);
  return draw(
    "svg",
    { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: "track", x: 0, y: 0, width: 100, height: 10 }),
    draw("rect", { class: "own", x: 0, y: 0, width, height: 10 }),
  );
}

/** Chances as bars below one another: rows of {label, number, chance}, label and number being elements. */
export function bars(title, rows, full = null) {
  const longest = full ?? rows.map((row) => row.chance).reduce(larger, ZERO);
  const items = rows.map(({ label, number, chance }) => {
    const part = above(longest, ZERO) ? over(chance, longest) : ZERO;
    return make("li", {}, make("span", { class: "what" }, label), make("span", { class: "much" }, number), bar(part));
  });
  return make("figure", {}, make("figcaption", {}, title), make("ul", { class: "bars" }, ...items));
}

/** The full length of bars that are shares of people. */
export const EVERYBODY = ratio(1n);
