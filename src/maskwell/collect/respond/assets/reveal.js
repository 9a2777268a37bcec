/**
 * What a report can be and what it reveals, computed from the integers that the report is drawn with.
 *
 * `reveal` speaks of a design before anything is drawn, `compare` of one report. A stored design is the object that
 * `readJson` gives, after `readDesign` accepted it; its kinds and members are those of the sampling format. Products
 * are asked part by part.
 */

import { above, larger, minus, ONE, over, plus, ratio, same, times, ZERO } from "./ratio.js";

const TOTAL = 2n ** 64n;

/** The design of a question, part by part: [{name, stored}], with one nameless part if it is no product. */
export function partsOf(stored) {
  if (stored.kind !== "product") return [{ name: null, stored }];
  return stored.weights.parts.map((part, i) => ({ name: stored.weights.names[i], stored: part }));
}

/** The same with what `readDesign` makes of each part; it throws where a design must not be used. */
export function readParts(stored, readDesign) {
  const design = readDesign(stored);
  return partsOf(stored).map((part, i) => ({ ...part, design: design.parts?.[i] ?? design }));
}

const isTable = ({ kind }) => kind === "matrix" || kind === "layered tables";
const isBits = ({ kind }) => kind === "bits" || kind === "layered bits";

/** Whether a report is one category ("one"), a list of categories ("list"), or a row of a table ("code"). */
export function shapeOf(stored) {
  if (isTable(stored)) return "code";
  if (stored.kind === "projective" || isBits(stored)) return "list";
  const [least, most] = sizes(stored);
  return least === 1 && most === 1 && stored.kind !== "conditional" ? "one" : "list";
}

/** The positions that a report of one category or a list holds. */
export function membersOf(stored, report) {
  if (Array.isArray(report)) return report.map(Number);
  if (stored.kind === "conditional") return stored.weights.subsets[Number(report)].map(Number);
  if (stored.kind === "blocks") return bits(stored.weights.blocks[Number(report)]);
  return [Number(report)];
}

function bits(hexadecimal) {
  const positions = [];
  [...hexadecimal].reverse().forEach((digit, place) => {
    for (let bit = 0; bit < 4; bit += 1) if ((Number.parseInt(digit, 16) >> bit) & 1) positions.push(4 * place + bit);
  });
  return positions;
}

function listSizes({ kind, weights }) {
  if (kind === "subsets") return weights.sizes.map(Number);
  if (kind === "conditional") return weights.subsets.map((subset) => subset.length);
  return weights.blocks.map((block) => bits(block).length);
}

function sizes(stored) {
  const found = listSizes(stored);
  return [found.reduce((a, b) => Math.min(a, b)), found.reduce((a, b) => Math.max(a, b))];
}

/** For each class of reports alike but for labels: its size, how many there are, its chance for a member, for others. */
function classes({ kind, categories, weights }) {
  const k = BigInt(categories.length);
  if (kind === "subsets") {
    // Of all sets of a size together, so that no binomial coefficient is needed: inside / s is k times one set's share.
    return weights.sizes.map((size, i) => {
      const s = BigInt(size);
      const member = s > 0n ? ratio(BigInt(weights.inside[i]) * k, s * TOTAL) : ZERO;
      const other = s < k ? ratio(BigInt(weights.outside[i]) * k, (k - s) * TOTAL) : ZERO;
      return { size: Number(s), member, other };
    });
  }
  if (kind === "conditional") {
    const total = BigInt(weights.total);
    return weights.subsets.map((subset, i) => {
      return { size: subset.length, member: ratio(BigInt(weights.weights[i]), total), other: ZERO };
    });
  }
  const copies = weights.copies.map(BigInt);
  const all = copies.reduce((a, b) => a + b);
  const holding = weights.blocks.reduce((sum, block, i) => sum + (bits(block).includes(0) ? copies[i] : 0n), 0n);
  return weights.blocks.map((block, i) => {
    const member = ratio(BigInt(weights.inside) * copies[i], TOTAL * holding);
    const other = all > holding ? ratio(BigInt(weights.outside) * copies[i], TOTAL * (all - holding)) : ZERO;
    return { size: bits(block).length, member, other };
  });
}

function ownChance({ kind, weights }) {
  if (kind === "conditional") return ONE;
  const inside = kind === "blocks" ? BigInt(weights.inside) : weights.inside.reduce((sum, w) => sum + BigInt(w), 0n);
  return ratio(inside, TOTAL);
}

/** The rows of a table as fractions; two layers are one table after the other. */
export function rowsOf({ kind, weights }) {
  if (kind === "layered tables") {
    const [first, second] = [weights.first, weights.second].map((rows) => rows.map((row) => row.map(BigInt)));
    const both = (row, j) => row.reduce((sum, weight, y) => sum + weight * first[y][j], 0n);
    return second.map((row) => first[0].map((_, j) => ratio(both(row, j), TOTAL * TOTAL)));
  }
  const total = BigInt(weights.total);
  return weights.rows.map((row) => row.map((weight) => ratio(BigInt(weight), total)));
}

/**
 * What a report of this design reveals at most. `parity` is the largest factor by which a report can shift anybody's
 * odds, null where there is no limit; `open` is how many answers every report leaves possible; `exposed` is the chance
 * of a report that proves the answer, for the answer that is worst off; `guess` is how often a stranger's best guess
 * is right.
 */
export function reveal(stored) {
  const by = {
    matrix: revealTable,
    "layered tables": revealTable,
    projective: revealSpace,
    bits: revealBits,
    "layered bits": revealBits,
  };
  return (by[stored.kind] ?? revealSets)(stored);
}

function revealSets(stored) {
  const k = stored.categories.length;
  const found = classes(stored);
  const [least, most] = sizes(stored);
  let parity = ONE;
  let open = k;
  let guess = ZERO;
  let exposed = ZERO;
  for (const { size, member, other } of found) {
    if (size > 0 && size < k) {
      parity = widest(parity, [member, other]);
      if (same(other, ZERO)) open = Math.min(open, size);
      if (same(member, ZERO)) open = Math.min(open, k - size);
    }
    guess = plus(guess, over(larger(member, other), [BigInt(k), 1n]));
  }
  if (open === 1) exposed = exposure(stored, found);
  return { k, shape: shapeOf(stored), least, most, own: ownChance(stored), parity, open, exposed, guess };
}

/** The chance of a report that leaves one answer possible, for the answer that is worst off. */
function exposure(stored, found) {
  const k = stored.categories.length;
  const proving = (size, { member, other }) =>
    (size === 1 && same(other, ZERO)) || (size === k - 1 && same(member, ZERO));
  if (stored.kind === "subsets") {
    // A class speaks of all sets of a size; of these, the truth decides which one it is.
    return found
      .filter((one) => proving(one.size, one))
      .map((one) => over(same(one.other, ZERO) ? one.member : one.other, [BigInt(k), 1n]))
      .reduce(plus, ZERO);
  }
  const chances = Array(k).fill(ZERO);
  found.forEach((one, report) => {
    if (!proving(one.size, one)) return;
    const members = membersOf(stored, report);
    const truth = one.size === 1 && same(one.other, ZERO) ? members[0] : absent(members, k);
    chances[truth] = plus(chances[truth], same(one.other, ZERO) ? one.member : one.other);
  });
  return chances.reduce(larger);
}

function absent(members, k) {
  const held = new Set(members);
  return Array.from({ length: k }, (_, j) => j).find((j) => !held.has(j));
}

function widest(parity, values) {
  const most = values.reduce(larger);
  const least = values.reduce((a, b) => (above(a, b) ? b : a));
  if (same(most, ZERO) || parity === null) return parity;
  return same(least, ZERO) ? null : larger(parity, over(most, least));
}

function revealTable(stored) {
  const k = stored.categories.length;
  const rows = rowsOf(stored).filter((row) => row.some((chance) => !same(chance, ZERO)));
  let open = k;
  let guess = ZERO;
  const exposed = Array(k).fill(ZERO);
  for (const row of rows) {
    const possible = row.flatMap((chance, j) => (same(chance, ZERO) ? [] : [j]));
    open = Math.min(open, possible.length);
    guess = plus(guess, over(row.reduce(larger), [BigInt(k), 1n]));
    if (possible.length === 1) exposed[possible[0]] = plus(exposed[possible[0]], row[possible[0]]);
  }
  const certain = rows.every((row) => row.every((chance) => same(chance, ZERO) || same(chance, ONE)));
  const parity = rows.reduce(widest, ONE);
  return { k, shape: "code", certain, parity, open, exposed: exposed.reduce(larger), guess };
}

/** How many points a space of this dimension over q elements has. */
function pointsOf(q, dimension) {
  return (q ** dimension - 1n) / (q - 1n);
}

/** The chance of a hyperplane for a truth that it holds, and for another one. */
function hyperplaneChances({ weights: { q, t, inside, outside } }) {
  const [all, through] = [pointsOf(q, t), pointsOf(q, t - 1n)];
  return {
    member: ratio(BigInt(inside), TOTAL * through),
    other: ratio(BigInt(outside), TOTAL * (all - through)),
  };
}

function revealSpace(stored) {
  const k = BigInt(stored.categories.length);
  const { q, t } = stored.weights;
  const { member, other } = hyperplaneChances(stored);
  const likely = larger(member, other);
  const unlikely = same(likely, member) ? other : member;
  // A guess is as good as for any other report, unless all answers are as unlikely to lead to this one.
  const silent = same(likely, member) ? holdingNone(k, q, t) : holdingAll(k, q, t);
  const all = pointsOf(q, t);
  const guess = over(plus(times(likely, ratio(all - silent)), times(unlikely, ratio(silent))), ratio(k));
  return {
    k: Number(k),
    shape: "list",
    lists: Number(all),
    average: ratio(k * pointsOf(q, t - 1n), all),
    own: ratio(BigInt(stored.weights.inside), TOTAL),
    parity: over(likely, unlikely),
    open: Number(k),
    exposed: ZERO,
    guess,
  };
}

/** Hyperplanes that hold none of the first k points: the first q + 1 are a line, and a hyperplane meets every line. */
function holdingNone(k, q, t) {
  return k > q ? 0n : (q + 1n - k) * q ** (t - 2n);
}

/** Hyperplanes that hold all of the first k points, which span the least space with room for them. */
function holdingAll(k, q, t) {
  let dimension = 1n;
  while (pointsOf(q, dimension) < k) dimension += 1n;
  return pointsOf(q, t - dimension);
}

/** The chance of a bit to be 1 for the true category, and for another one. */
function bitChances({ kind, weights }) {
  const layers = kind === "bits" ? [[weights.own, weights.other]] : [weights.first, weights.second];
  return layers.reduce(
    (chances, layer) => {
      const [afterOne, afterZero] = layer.map((weight) => ratio(BigInt(weight), TOTAL));
      return chances.map((one) => plus(times(one, afterOne), times(minus(ONE, one), afterZero)));
    },
    [ONE, ZERO],
  );
}

/** How a report is shared between people with an answer that it holds and others, as far as it depends on that. */
function bitOdds(stored) {
  const [own, other] = bitChances(stored);
  return { member: times(own, minus(ONE, other)), other: times(other, minus(ONE, own)) };
}

function revealBits(stored) {
  const k = stored.categories.length;
  const [own, other] = bitChances(stored);
  const odds = bitOdds(stored);
  // The best guess is any answer that the report holds; of a report that holds none, any.
  const none = power(minus(ONE, other), k - 1);
  const some = minus(ONE, times(none, minus(ONE, other)));
  const guess = plus(times(over(own, other), some), times(minus(ONE, own), none));
  return {
    k,
    shape: "list",
    least: 0,
    most: k,
    own,
    parity: over(odds.member, odds.other),
    open: k,
    exposed: ZERO,
    guess: over(guess, ratio(BigInt(k))),
  };
}

// Beyond so many bits a fraction is cut: nobody is shown so many digits.
const MOST_BITS = 4096n;

function power(base, exponent) {
  let result = ONE;
  for (const digit of exponent.toString(2)) {
    result = cut(times(result, result));
    if (digit === "1") result = cut(times(result, base));
  }
  return result;
}

function cut([n, d]) {
  return d >> MOST_BITS === 0n ? [n, d] : ratio((n << MOST_BITS) / d, 1n << MOST_BITS);
}

/** The factors of several reports multiply; null if one of them has no limit. */
export function together(parities) {
  return parities.includes(null) ? null : parities.reduce(times, ONE);
}

/** How far a report can move somebody who thinks that an answer is as likely yours as not. */
export function belief(parity) {
  const most = over(parity, plus(ONE, parity));
  return { even: ratio(1n, 2n), most, least: minus(ONE, most) };
}

/**
 * How often people send this report, by their answer, as chances to be compared with each other: {row} for a row of a
 * table, else {member, other}; `size` is how many answers the report holds.
 */
export function compare(stored, report, size) {
  if (isTable(stored)) return { row: rowsOf(stored)[report] };
  if (isBits(stored)) return bitOdds(stored);
  if (stored.kind === "projective") return hyperplaneChances(stored);
  return classes(stored)[stored.kind === "subsets" ? listSizes(stored).indexOf(size) : report];
}
