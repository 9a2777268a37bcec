/*
 * mask.js: a respondent's device masks an answer by a stored Maskwell design.
 *
 *   import { readDesign } from "./mask.js";
 *   const design = readDesign(text);    // refused with a MaskError unless it is whole, unchanged and true
 *   const report = design.mask(2);      // of the answer at position 2, from crypto.getRandomValues
 *
 * This file is all there is to audit: it imports nothing, stores nothing, sends nothing, and logs nothing. Sections:
 * 1 reads JSON exactly, 2 draws reports, 3 reads each kind of design, 4 holds what a design says of its privacy against
 * its integers, 5 is the door. What leaves the device is decided in 2 and 5 alone, from integers that 1 and 3 read; 4, a
 * third of the file, can only refuse. The rules of drawing are those of docs/sampling_format.md; numbers in brackets, as
 * in [4], are its sections. Every chance is a whole number over a whole number: nothing is rounded.
 */

/** What is wrong with a design or a call, in one line. It never holds an answer. */
export class MaskError extends Error {
  name = "MaskError";
}

function refuse(reason) {
  throw new MaskError(reason);
}

const TOTAL = 1n << 64n;

// Bounds on what is read, checked before anything of that size is made; those of maskwell/limits.py.
const MOST_CHARACTERS = 2 ** 26;
const MOST_NUMBER_CHARACTERS = 40;
const MOST_DEPTH = 100;
const MOST_CATEGORIES = 1_000_000;
const MOST_SET_CATEGORIES = 65_536;
const MOST_BIT_CATEGORIES = 4096;
const MOST_LABEL_CHARACTERS = 10_000;
const MOST_WEIGHTS = 2 ** 20;
const MOST_CELLS = 10_000_000;
const MOST_POINTS = 2 ** 26;
const MOST_COLUMNS = 2048;
const MOST_STEPS = 2_000_000;
const MOST_BITS = 4096n;
const MOST_DIGITS = 1233; // of a number of that many bits
const MOST_RESPONDENTS = 10n ** 18n;

/* 1. JSON ---------------------------------------------------------------------------------------------------------- */

const SPACE = " \t\n\r";
const NUMBER = /^-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/;

/**
 * The value of a JSON text, with whole numbers as BigInt: JSON.parse would round those beyond 2^53, and take the last
 * of two members with one name where another reader takes the first.
 */
export function readJson(text) {
  if (typeof text !== "string") refuse(`JSON must be text; got ${typeof text}.`);
  if (text.length > MOST_CHARACTERS) refuse(`JSON of ${text.length} characters; at most ${MOST_CHARACTERS} are read.`);
  let at = 0;

  const wrong = () => refuse(`not valid JSON at character ${at + 1}.`);

  function skipSpace() {
    while (at < text.length && SPACE.includes(text[at])) at++;
    return text[at];
  }

  function string() {
    let end = at + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    let value;
    try {
      value = JSON.parse(text.slice(at, end + 1)); // a single string, which JSON.parse reads strictly
    } catch {
      wrong();
    }
    if (/\p{Cs}/u.test(value)) refuse("JSON holds half of a character (a lone surrogate).");
    at = end + 1;
    return value;
  }

  function numeral() {
    const found = NUMBER.exec(text.slice(at, at + MOST_NUMBER_CHARACTERS + 1));
    if (found === null || found[0].length > MOST_NUMBER_CHARACTERS || found[0] === "-0") wrong();
    const whole = found[1] === undefined && found[2] === undefined;
    const value = whole ? BigInt(found[0]) : Number(found[0]);
    if (!whole && !Number.isFinite(value)) wrong();
    at += found[0].length;
    return value;
  }

  // Whatever stands between two brackets, item by item.
  function items(close, readItem) {
    at++;
    if (skipSpace() === close) return void at++;
    for (;;) {
      readItem();
      const next = skipSpace();
      at++;
      if (next === close) return;
      if (next !== ",") wrong();
    }
  }

  function value(depth) {
    if (depth > MOST_DEPTH) refuse(`JSON is nested more than ${MOST_DEPTH} deep.`);
    const first = skipSpace();
    if (first === '"') return string();
    if (first === "[") {
      const list = [];
      items("]", () => list.push(value(depth + 1)));
      return list;
    }
    if (first === "{") {
      const object = Object.create(null); // without inherited members, "__proto__" is a name like any other
      items("}", () => {
        if (skipSpace() !== '"') wrong();
        const name = string();
        if (name in object) refuse("JSON gives a key twice in one object.");
        if (skipSpace() !== ":") wrong();
        at++;
        object[name] = value(depth + 1);
      });
      return object;
    }
    for (const [word, meaning] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ]) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return meaning;
      }
    }
    return numeral();
  }

  const whole = value(0);
  if (skipSpace() !== undefined) wrong();
  return whole;
}

/** The text that a fingerprint is taken of: members in rising order, no white space [3]. */
function canonicalText(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (typeof value !== "object") return typeof value === "string" ? JSON.stringify(value) : String(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join()}}`;
}

/** SHA-256 in hexadecimal (FIPS 180-4); the browser's own is asynchronous. A wrong digest can only refuse a design. */
function sha256(text) {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const fraction = (root) => (root % 1) * 2 ** 32; // the first 32 bits; a double holds them with 18 to spare
  const constants = primes.map((p) => fraction(Math.cbrt(p)) | 0);
  const state = Int32Array.from(primes.slice(0, 8), (p) => fraction(Math.sqrt(p)) | 0);
  const message = new TextEncoder().encode(text);
  const padded = new DataView(new ArrayBuffer(Math.ceil((message.length + 9) / 64) * 64));
  message.forEach((byte, i) => padded.setUint8(i, byte));
  padded.setUint8(message.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, 8n * BigInt(message.length));
  const turned = (x, n) => (x >>> n) | (x << (32 - n));
  const w = new Int32Array(64);
  for (let start = 0; start < padded.byteLength; start += 64) {
    for (let i = 0; i < 64; i++) {
      const [x, y] = [w[i - 15], w[i - 2]];
      const small0 = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3);
      const small1 = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
      w[i] = i < 16 ? padded.getInt32(start + 4 * i) : w[i - 16] + small0 + w[i - 7] + small1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const sum1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const t1 = (h + sum1 + ((e & f) ^ (~e & g)) + constants[i] + w[i]) | 0;
      const sum0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const t2 = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(t1 + t2) | 0, a, b, c, (d + t1) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => (state[i] += x));
  }
  return Array.from(state, (x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
}

/* 2. Samplers: an answer's position and random words become a report [1, 4] ------------------------------------------ */

// `word` is always a function that gives the next 32-bit word.

/** A number below 2^64: two words, the low one first. */
function number(word) {
  const low = BigInt(word());
  return low + (BigInt(word()) << 32n);
}

/** A value in 0 ... r-1, each exactly as likely, from words (32 bits) or their halves (16 bits). */
function pick(read, bits, r) {
  const rejected = 2 ** bits % r;
  for (;;) {
    const product = BigInt(read()) * BigInt(r);
    if (Number(BigInt.asUintN(bits, product)) >= rejected) return Number(product >> BigInt(bits));
  }
}

/** The halves of the next words, the low one of a word before its high one. */
function halves(word) {
  let high = null;
  return () => {
    if (high === null) {
      const both = word();
      high = both >>> 16;
      return both & 0xffff;
    }
    const half = high;
    high = null;
    return half;
  };
}

/** The place of the first weight that, added to those before it, exceeds u. */
function firstAbove(u, weights) {
  let sum = 0n;
  return weights.findIndex((weight) => (sum += weight) > u);
}

/** One category: the truth, or any other one. */
function drawCategory(k, stay, j, word) {
  if (number(word) < stay) return j;
  const p = pick(word, 32, k - 1);
  return p < j ? p : p + 1;
}

/** With which chance start / 2^bits a mask is filled before it is mended to `wanted` members. */
function startOfSet(k, wanted) {
  if (8 * wanted <= k - 1 || k < 16) return [0, 0];
  let bits = k < 256 ? 4 : k < 1024 ? 5 : 6;
  let start = Math.floor((wanted * 2 ** bits) / (k - 1));
  for (; start % 2 === 0; bits--) start /= 2;
  return [start, bits];
}

/** A set of categories, as the rising list of their positions. An outcome is a size, whether the truth is in, a weight. */
function drawSet(k, outcomes, j, word) {
  const weights = outcomes.map((outcome) => outcome.weight);
  const { size, inside } = outcomes[outcomes.length === 1 ? 0 : firstAbove(number(word), weights)];
  const others = inside ? size - 1 : size;
  const inverted = 2 * others > k - 1; // then those that are absent are drawn
  const wanted = inverted ? k - 1 - others : others;
  const [start, bits] = startOfSet(k, wanted);
  const mask = new Uint32Array(2 * Math.ceil(k / 64));
  for (let digit = 0; digit < bits; digit++) {
    const or = (start >> digit) & 1;
    for (let i = 0; i < mask.length; i++) mask[i] = or ? mask[i] | word() : mask[i] & word();
  }
  const held = Uint8Array.from({ length: k }, (_, c) => (c === j ? 0 : (mask[c >> 5] >>> (c & 31)) & 1));
  let count = held.reduce((sum, bit) => sum + bit, 0);
  const half = halves(word);
  while (count < wanted) {
    const p = pick(half, 16, k);
    if (p === j || held[p]) continue;
    held[p] = 1;
    count++;
  }
  for (; count > wanted; count--) {
    let c = held.indexOf(1);
    for (let p = pick(half, 16, count); p > 0; p--) c = held.indexOf(1, c + 1);
    held[c] = 0;
  }
  const report = [];
  for (let c = 0; c < k; c++) if (c === j ? inside : held[c] === (inverted ? 0 : 1)) report.push(c);
  return report;
}

/** A row of a matrix, by the weights of the truth's column, which sum to `total`. */
function drawRow(total, column, word) {
  const limit = TOTAL - (TOTAL % total);
  let u = number(word);
  while (u >= limit) u = number(word);
  return firstAbove(u % total, column);
}

/** A block that holds the truth, or one that does not; `codes` names each block as often as it has copies. */
function drawBlock(inside, codes, holds, word) {
  const within = inside === TOTAL || number(word) < inside;
  const chosen = codes.filter((code) => holds(code) === within);
  return chosen[pick(word, 32, chosen.length)];
}

/** A hyperplane of the space that holds the truth, or one that does not [9]. */
function drawHyperplane({ field, dimension, points, pointOf, digitsOf, codeOf }, inside, j, word) {
  const within = number(word) < inside;
  const x = pointOf(j, dimension);
  const p = x.indexOf(1); // its first element that is not 0
  const past = field.q ** (dimension - 1);
  const code = pick(word, 32, within ? points - past : past);
  const y = (within ? pointOf : digitsOf)(code, dimension - 1);
  y.splice(p, 0, 0);
  y[p] = field.minus(within ? 0 : 1, field.inner(x, y));
  return codeOf(y);
}

/** A set of categories, from a bit for each: every layer masks each bit by itself, by the weights of a 1 after 1 and 0. */
function drawBits(k, layers, j, word) {
  let bits = Array.from({ length: k }, (_, c) => c === j);
  for (const [afterOne, afterZero] of layers) bits = bits.map((bit) => number(word) < (bit ? afterOne : afterZero));
  return Array.from({ length: k }, (_, c) => c).filter((c) => bits[c]);
}

/** A row of a second table, by its column for the row of a first one [10]. */
function drawTwice(first, second, j, word) {
  const kept = firstAbove(number(word), first[j]);
  return firstAbove(number(word), second[kept]);
}

const isPowerOfTwo = (q) => (q & (q - 1)) === 0;

/** The field with q elements, the numbers below q. If q = 2^e, they are polynomials by their bits. */
function fieldOf(q) {
  const isBinary = isPowerOfTwo(q);
  const modulus = [, 0x3, 0x7, 0xd, 0x19, 0x29, 0x61, 0xc1, 0x171, 0x221, 0x481, 0xa01, 0x1941][Math.log2(q)];
  const plus = (a, b) => (isBinary ? a ^ b : (a + b) % q);
  const minus = (a, b) => plus(a, isBinary ? b : q - b);
  const times = (a, b) => {
    if (!isBinary) return (a * b) % q; // below 2^32, since q is below 2^16
    let product = 0;
    for (; b > 0; b >>= 1) {
      if (b & 1) product ^= a;
      a <<= 1;
      if (a >= q) a ^= modulus;
    }
    return product;
  };
  const inner = (x, y) => x.reduce((total, element, i) => plus(total, times(element, y[i])), 0);
  const inverse = (a) => {
    let power = 1; // a^(q-2), from the binary digits of the exponent
    for (const digit of (q - 2).toString(2)) power = times(times(power, power), digit === "1" ? a : 1);
    return power;
  };
  return { q, minus, times, inner, inverse };
}

/** A projective space: points and hyperplanes are lists of elements whose first one that is not 0 is 1. */
function spaceOf(q, dimension) {
  const field = fieldOf(q);
  const digitsOf = (value, length) => {
    const digits = new Array(length);
    for (let i = length - 1; i >= 0; i--, value = Math.floor(value / q)) digits[i] = value % q;
    return digits;
  };
  const pointOf = (code, length) => {
    let [after, size] = [0, 1]; // how many elements follow the 1, and how many points have that many
    for (; code >= size; after++, size *= q) code -= size;
    return [...new Array(length - 1 - after).fill(0), 1, ...digitsOf(code, after)];
  };
  const codeOf = (elements) => {
    const first = elements.findIndex((element) => element !== 0);
    const scale = field.inverse(elements[first]);
    const digits = elements.slice(first + 1).map((element) => field.times(element, scale));
    const before = digits.reduce((sum) => sum * q + 1, 0); // the points with fewer elements after their 1
    return digits.reduce((value, digit) => value * q + digit, 0) + before;
  };
  const points = new Array(dimension).fill(0).reduce((sum) => sum * q + 1, 0);
  return { field, dimension, points, digitsOf, pointOf, codeOf };
}

/* 3. Kinds of designs: each reads its weights, refuses what is no design, and returns how it is drawn and shown ----- */

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function fields(stored, ...names) {
  if (!isObject(stored) || Object.keys(stored).length !== names.length || !names.every((name) => name in stored)) {
    refuse(`weights must be an object with the keys ${names.join(", ")}, and no others.`);
  }
  return names.map((name) => stored[name]);
}

function list(stored, what) {
  return Array.isArray(stored) ? stored : refuse(`${what} must be a list.`);
}

/** A weight or a total: decimal text in its only spelling, so that no reader takes it for another number. */
function weight(stored) {
  if (typeof stored !== "string" || !/^(?:0|[1-9][0-9]{0,19})$/.test(stored)) {
    refuse("weights are whole numbers in decimal digits, as text, without sign or spaces.");
  }
  return BigInt(stored);
}

/** A list of positions, sizes or counts, as JSON whole numbers that fit a double. */
function wholeNumbers(stored, what, least = 0n) {
  const whole = (value) => typeof value === "bigint" && value >= least && value <= Number.MAX_SAFE_INTEGER;
  if (!list(stored, what).every(whole)) refuse(`${what} must be a list of whole numbers, ${least} or more.`);
  return stored.map(Number);
}

const isRising = (values) => values.every((value, i) => i === 0 || values[i - 1] < value);
const sum = (weights) => weights.reduce((a, b) => a + b, 0n);

function refuseManyCells(reports, k, most = MOST_WEIGHTS) {
  if (reports * k > most)
    refuse(`a design that lists its reports may have up to ${most} cells; got ${reports} x ${k}.`);
}

/** Sets of categories of which only the size and whether they hold the truth matter. */
function subsets(stored, k) {
  const [listedSizes, listedInside, listedOutside] = fields(stored, "sizes", "inside", "outside");
  const sizes = wholeNumbers(listedSizes, "sizes");
  const inside = list(listedInside, "inside").map(weight);
  const outside = list(listedOutside, "outside").map(weight);
  if (sizes.length === 0 || sizes.length !== inside.length || sizes.length !== outside.length) {
    refuse("weights must give an inside and an outside weight for each size.");
  }
  if (!isRising(sizes) || sizes.at(-1) > k) refuse(`sizes must rise within 0 to ${k}.`);
  if (sum(inside) + sum(outside) !== TOTAL) refuse("weights inside and outside must sum to 2^64.");
  const impossible = (size, i) => (size === 0 && inside[i] > 0n) || (size === k && outside[i] > 0n);
  if (sizes.some((size, i) => inside[i] + outside[i] === 0n || impossible(size, i))) {
    refuse("a size has no weight, or the empty set holds the truth, or the full set does not.");
  }
  const single = sizes.length === 1 && sizes[0] === 1;
  if (!single && k > MOST_SET_CATEGORIES) refuse(`sets are drawn from at most ${MOST_SET_CATEGORIES} categories.`);
  const outcomes = sizes
    .flatMap((size, i) => [
      { size, inside: true, weight: inside[i] },
      { size, inside: false, weight: outside[i] },
    ])
    .filter((outcome) => outcome.weight > 0n);
  const draw = single
    ? (j, word) => (outside[0] === 0n ? j : drawCategory(k, inside[0], j, word))
    : (j, word) => drawSet(k, outcomes, j, word);
  const meaning = (report, labels) => (single ? labels[report] : report.map((c) => labels[c]));
  return { draw, meaning, channel: symmetricChannel(k, sizes, inside, outside) };
}

/** Any matrix of chances, row by row. */
function matrix(stored, k) {
  const [listedTotal, listedRows, reports] = fields(stored, "total", "rows", "reports");
  refuseManyCells(list(listedRows, "rows").length, k);
  const rows = listedRows.map((row) => list(row, "a row").map(weight));
  if (rows.length === 0 || rows.some((row) => row.length !== k)) refuse(`rows must have ${k} weights each.`);
  const labels = readLabels(reports, "reports");
  if (labels.length !== rows.length) refuse("there must be one report label for each row.");
  return fromRows(rows, weight(listedTotal), k, (report) => labels[report]);
}

/** A listed set that holds the truth: a matrix whose rows have one weight, for the members of the set. */
function conditional(stored, k) {
  const [listedTotal, listedSubsets, listedWeights] = fields(stored, "total", "subsets", "weights");
  refuseManyCells(list(listedSubsets, "subsets").length, k);
  const sets = listedSubsets.map((subset) => wholeNumbers(subset, "a subset"));
  const weights = list(listedWeights, "weights").map(weight);
  if (sets.length === 0 || sets.length !== weights.length || weights.some((w) => w === 0n)) {
    refuse("each subset must have a weight above 0.");
  }
  if (sets.some((set) => set.length === 0 || !isRising(set) || set.at(-1) >= k)) {
    refuse(`a subset must list different positions within 0 to ${k - 1}, in rising order.`);
  }
  refuseDisorder(sets, "subsets");
  const rows = sets.map((set, i) => {
    const row = new Array(k).fill(0n);
    for (const j of set) row[j] = weights[i];
    return row;
  });
  return fromRows(rows, weight(listedTotal), k, (report, labels) => sets[report].map((c) => labels[c]));
}

/** Sets must be listed once each, by size and then as numbers whose bits are the members: the highest decides. */
function refuseDisorder(sets, what) {
  const isBefore = (a, b) => {
    if (a.length !== b.length) return a.length < b.length;
    const at = a.findLastIndex((member, i) => member !== b[i]);
    return at >= 0 && a[at] < b[at];
  };
  if (sets.some((set, i) => i > 0 && !isBefore(sets[i - 1], set))) {
    refuse(`${what} must be listed once each, by size and then by bit mask.`);
  }
}

function fromRows(rows, total, k, meaning) {
  if (total < 1n || total > TOTAL) refuse("total must be a whole number between 1 and 2^64.");
  const columns = columnsOf(rows, k);
  if (columns.some((column) => sum(column) !== total)) refuse("the chances of each truth must sum to 1.");
  const channel = tableChannel(k, rows.length, total, () => columns);
  return { draw: (j, word) => drawRow(total, columns[j], word), meaning, channel };
}

/** Blocks of a balanced block design, of which only whether they hold the truth matters. */
function blocks(stored, k) {
  const [listedInside, listedOutside, masks, listedCopies] = fields(stored, "inside", "outside", "blocks", "copies");
  const [inside, outside] = [weight(listedInside), weight(listedOutside)];
  const copies = wholeNumbers(listedCopies, "copies", 1n);
  const b = copies.reduce((a, c) => a + c, 0);
  refuseManyCells(Math.max(b, list(masks, "blocks").length), k, MOST_CELLS);
  const spelled = new RegExp(`^[0-9a-f]{${Math.ceil(k / 4)}}$`);
  if (!masks.every((mask) => typeof mask === "string" && spelled.test(mask))) {
    refuse("blocks are stored as bit masks in lower-case hexadecimal, all of the same length.");
  }
  if (masks.length < k || masks.length !== copies.length)
    refuse("there must be k blocks or more, each with its copies.");
  const bit = (mask, j) => (parseInt(mask.at(-1 - (j >> 2)), 16) >> (j & 3)) & 1;
  const members = masks.map((mask) => Array.from({ length: 4 * mask.length }, (_, j) => j).filter((j) => bit(mask, j)));
  if (members.some((block) => block.at(-1) >= k)) refuse(`blocks must be sets of the ${k} categories.`);
  refuseDisorder(members, "blocks");
  if (inside === 0n || inside + outside !== TOTAL) refuse("inside and outside must sum to 2^64, inside above 0.");
  if (outside === 0n && members[0].length === 0) refuse("a block without members cannot hold the truth.");
  const balance = balanceOf(members, copies, b, k);
  const codes = copies.flatMap((times, code) => new Array(times).fill(code));
  return {
    draw: (j, word) => drawBlock(inside, codes, (code) => bit(masks[code], j) === 1, word),
    meaning: (report, labels) => members[report].map((c) => labels[c]),
    channel: blockChannel(
      k,
      members.length,
      members.map((block) => block.length),
      inside,
      outside,
      balance,
    ),
  };
}

/** [b, r, pair]: each category must be in r of b blocks and each pair in fewer, as in a balanced design. */
function balanceOf(members, copies, b, k) {
  const together = new Uint32Array(k * k);
  members.forEach((block, code) => {
    for (const i of block) for (const j of block) together[i * k + j] += copies[code];
  });
  const [r, pair] = [together[0], together[1]];
  const balanced = together.every((count, at) => count === (at % (k + 1) === 0 ? r : pair));
  // From b q = v r and pair (v - 1) = r (q - 1), which are as true of the blocks with all their v points.
  const excess = r * r - pair * b;
  const points = (b * (r - pair)) / excess; // whole numbers below 2^53, so that a whole quotient is exact
  if (!balanced || r === pair || excess <= 0 || !Number.isInteger(points) || points < k || (points * r) % b !== 0) {
    refuse("blocks must be balanced: each category in r of them and each pair in fewer.");
  }
  return [b, r, pair];
}

/** Hyperplanes of a finite space whose first points are the categories; only whether they hold the truth matters. */
function projective(stored, k) {
  const [listedQ, listedT, listedInside, listedOutside] = fields(stored, "q", "t", "inside", "outside");
  const [q, t] = wholeNumbers([listedQ, listedT], "q and t", 2n);
  const [inside, outside] = [weight(listedInside), weight(listedOutside)];
  if (!isOrder(q)) refuse("q must be a prime up to 65521 or a power of 2 up to 4096.");
  if (t > 64 || q ** (t - 1) > MOST_POINTS) refuse(`the space has more than ${MOST_POINTS} points.`);
  const space = spaceOf(q, t);
  if (space.points > MOST_POINTS) refuse(`the space has more than ${MOST_POINTS} points.`);
  if (k > space.points) refuse(`${k} categories need as many points; the space has ${space.points}.`);
  if (inside === 0n || outside === 0n || inside + outside !== TOTAL) refuse("inside and outside must sum to 2^64.");
  const [through, throughTwo] = [t - 1, t - 2].map((dimension) => spaceOf(q, dimension).points);
  const holds = (report) => {
    const y = space.pointOf(report, t);
    return (_, j) => space.field.inner(space.pointOf(j, t), y) === 0;
  };
  return {
    draw: (j, word) => drawHyperplane(space, inside, j, word),
    meaning: (report, labels) => labels.filter(holds(report)),
    channel: blockChannel(k, space.points, [1], inside, outside, [space.points, through, throughTwo]),
  };
}

function isOrder(q) {
  if (q > 65521 || isPowerOfTwo(q)) return q <= 4096;
  for (let divisor = 3; divisor * divisor <= q; divisor += 2) if (q % divisor === 0) return false;
  return q % 2 === 1;
}

/** A bit for each category, masked once, or twice as a permanent and an instantaneous report are [10]. */
function bits(stored, k) {
  return fromLayers([readLayer(fields(stored, "own", "other"))], k);
}

function layeredBits(stored, k) {
  return fromLayers(fields(stored, "first", "second").map(readLayer), k);
}

function readLayer(stored) {
  const layer = list(stored, "a layer").map(weight);
  const [own, other] = layer;
  if (layer.length !== 2 || other < 1n || other >= own || own >= TOTAL) {
    refuse("a layer of bits has two weights: of a 1 after a 1, below 2^64, and a smaller one after 0.");
  }
  return layer;
}

function fromLayers(layers, k) {
  if (k > MOST_BIT_CATEGORIES) refuse(`reports of bits are for up to ${MOST_BIT_CATEGORIES} categories.`);
  return {
    draw: (j, word) => drawBits(k, layers, j, word),
    meaning: (report, labels) => report.map((c) => labels[c]),
    channel: bitChannel(k, layers),
  };
}

/** A table of chances, and another one for its rows [10]. */
function layeredTables(stored, k) {
  const [listedFirst, listedSecond, reports] = fields(stored, "first", "second", "reports");
  const first = readColumns(listedFirst, k, "first");
  const second = readColumns(listedSecond, first[0].length, "second");
  const labels = readLabels(reports, "reports");
  if (labels.length !== second[0].length) refuse("there must be one report label for each row of the second layer.");
  const draw = (j, word) => drawTwice(first, second, j, word);
  return { draw, meaning: (report) => labels[report], channel: composedChannel(first, second) };
}

/** The columns of a table that is stored row by row. */
function readColumns(stored, k, which) {
  refuseManyCells(list(stored, which).length, k);
  const rows = stored.map((row) => list(row, "a row").map(weight));
  if (rows.length === 0 || rows.some((row) => row.length !== k)) refuse(`the ${which} layer must have ${k} columns.`);
  if (rows.some((row) => row.includes(0n))) refuse(`the weights of the ${which} layer must be 1 or more.`);
  const columns = columnsOf(rows, k);
  if (columns.some((column) => sum(column) !== TOTAL)) refuse(`columns of the ${which} layer must sum to 2^64.`);
  return columns;
}

const columnsOf = (rows, k) => Array.from({ length: k }, (_, j) => rows.map((row) => row[j]));

const KINDS = {
  __proto__: null,
  subsets,
  matrix,
  conditional,
  blocks,
  projective,
  bits,
  "layered bits": layeredBits,
  "layered tables": layeredTables,
};

/** Labels that are text, whole numbers or booleans, all different. */
function readLabels(stored, what) {
  const known = ["string", "bigint", "boolean"];
  const edge = BigInt(Number.MAX_SAFE_INTEGER);
  if (!list(stored, what).every((label) => known.includes(typeof label))) {
    refuse(`${what} must be text, whole numbers or true/false. (Read the file with readJson, not with JSON.parse.)`);
  }
  if (stored.some((label) => typeof label === "bigint" && (label > edge || label < -edge))) {
    refuse(`${what} that are whole numbers must lie within 2^53.`);
  }
  // As everywhere in the format, true is 1 and false is 0.
  const different = new Set(stored.map((label) => (typeof label === "boolean" ? BigInt(label) : label)));
  if (different.size < stored.length) refuse(`${what} must differ.`);
  return Object.freeze(stored.map((label) => (typeof label === "bigint" ? Number(label) : label)));
}

function readCategories(stored) {
  if (list(stored, "categories").length > MOST_CATEGORIES) refuse(`categories may be ${MOST_CATEGORIES} at most.`);
  if (stored.length < 2) refuse("categories must name at least 2 categories.");
  const labels = readLabels(stored, "categories");
  if (new Set(labels.map((label) => typeof label)).size > 1) refuse("categories must be all of one type.");
  if (labels.some((label) => label.length > MOST_LABEL_CHARACTERS && [...label].length > MOST_LABEL_CHARACTERS)) {
    refuse(`categories must be labels of at most ${MOST_LABEL_CHARACTERS} characters each.`);
  }
  return labels;
}

/* 4. Claims: what a design says of its privacy, held against its integers. Nothing here draws: it can only refuse. --- */

// Exact numbers are pairs [numerator, denominator] of BigInts, the denominator above 0.

const isLess = ([a, b], [c, d]) => a * d < c * b;
const greatest = (values) => values.reduce((a, b) => (b > a ? b : a));
const least = (values) => values.reduce((a, b) => (b < a ? b : a));
const magnitude = (a) => (a < 0n ? -a : a);
const gcd = (a, b) => (b === 0n ? a : gcd(b, a % b));

function fractionOfDouble(x) {
  let denominator = 1n;
  for (; !Number.isInteger(x); x *= 2) denominator *= 2n; // exact: a double with digits after the point is below 2^53
  return [BigInt(x), denominator];
}

/** A fraction as text in its only spelling: whole, or in lowest terms. */
function fractionOfText(text) {
  const fits = typeof text === "string" && text !== "-0" && text.length <= 2 * MOST_DIGITS;
  const found = fits ? /^(-?(?:0|[1-9][0-9]*))(?:\/([1-9][0-9]*))?$/.exec(text) : null;
  if (found === null) refuse("a fraction is stored as a whole number or in lowest terms, as text.");
  const [n, d] = [BigInt(found[1]), BigInt(found[2] ?? 1)];
  if (gcd(magnitude(n), d) !== 1n || found[2] === "1") refuse("a fraction is not in lowest terms.");
  if ((magnitude(n) | d) >> MOST_BITS) refuse(`a fraction has more than ${MOST_BITS} bits.`);
  return [n, d];
}

/** A decimal number as text, spelled as Python spells it; null if it is too long to be used. */
function fractionOfDecimal(text) {
  const found = /^(-?)([0-9]{1,1000})(?:\.([0-9]{1,1000}))?(?:E([+-][0-9]{1,3}))?$/.exec(text);
  if (typeof text !== "string" || found === null) refuse("a decimal parameter is no plain decimal number.");
  const [, sign, whole, part = "", power = "0"] = found;
  const digits = (whole + part).replace(/^0+(?=.)/, "");
  const exponent = Number(power) - part.length;
  const adjusted = exponent + digits.length - 1;
  const padded = digits.padStart(1 - exponent, "0");
  const spelled =
    exponent > 0 || adjusted < -6
      ? digits.replace(/^.(?=.)/, "$&.") + `E${adjusted < 0 ? "" : "+"}${adjusted}`
      : exponent < 0
        ? `${padded.slice(0, exponent)}.${padded.slice(exponent)}`
        : digits;
  if (sign + spelled !== text) refuse("a parameter is not stored as it is written.");
  if (Math.abs(adjusted) + digits.length > MOST_DIGITS || !Number.isFinite(Number(text))) return null;
  const scale = 10n ** BigInt(Math.abs(exponent));
  return exponent < 0 ? [BigInt(sign + digits), scale] : [BigInt(sign + digits) * scale, 1n];
}

/** Whether value < e^exponent. The power of a fraction other than 0 is irrational, so that enough bits always decide. */
function isBelowExp([n, d], [a, b]) {
  const halvings = (a / b).toString(2).length + 1; // e^x is the square of e^(x/2); below 1/2 the series converges fast
  for (let bits = 128n; ; bits *= 2n) {
    const one = 1n << bits;
    const x = (a * one) / (b << BigInt(halvings));
    let [low, high] = [expSeries(x, one, 0n), expSeries(x + 1n, one, 1n) + 2n]; // the terms left out are below 2 units
    for (let i = 0; i < halvings; i++) [low, high] = [(low * low) / one, (high * high) / one + 1n];
    if (n * one <= low * d) return true;
    if (n * one >= high * d) return false;
  }
}

/** The series of e^(x / one) in units of 1 / one, with terms rounded down (up = 0) or up (up = 1). */
function expSeries(x, one, up) {
  let [series, term] = [0n, one];
  for (let i = 1n; term > up; i++) [series, term] = [series + term, (term * x) / (one * i) + up];
  return series;
}

const parityAtMost = (limit, { parity }) => parity() !== null && !isLess(limit, parity());

/** The members of each demand, the numbers that it may have, and when a channel meets it. */
const DEMANDS = {
  __proto__: null,
  ldp: {
    members: ["epsilon"],
    allows: (epsilon) => epsilon[0] > 0n && !isLess([10_000n, 1n], epsilon),
    holds: ({ parity }, epsilon) => parity() !== null && isBelowExp(parity(), epsilon),
  },
  "beta-factor": {
    members: ["beta"],
    allows: (beta) => isLess([1n, 1n], beta),
    holds: (channel, beta) => parityAtMost(beta, channel),
  },
  rho: {
    members: ["rho1", "rho2"],
    allows: (rho1, rho2) => rho1[0] > 0n && isLess(rho1, rho2) && isLess(rho2, [1n, 1n]),
    holds: (channel, [a, b], [c, d]) => parityAtMost([c * (b - a), a * (d - c)], channel),
  },
  "average-security": {
    members: ["phi"],
    allows: (phi) => isLess([1n, 1n], phi) && isLess(phi, [2n, 1n]),
    holds: ({ distance }, [n, d]) => !isLess([2n * (n - d), d], distance()),
  },
  "local-diversity": {
    members: ["l"],
    allows: ([l]) => l >= 2n && l < 1n << 63n,
    holds: ({ diversity }, [l]) => diversity() >= l,
  },
};

// Parameters that promise what a demand asks.
const STATED = { epsilon: "ldp", gamma: "beta-factor", l: "local-diversity", phi: "average-security" };

function meets(channel, kind, numbers) {
  const { allows, holds } = DEMANDS[kind];
  if (numbers.includes(null) || !allows(...numbers))
    refuse(`the numbers of a demand of kind ${kind} are out of range.`);
  return holds(channel, ...numbers);
}

function meetsDemand(channel, stored) {
  if (!isObject(stored) || typeof stored.kind !== "string") refuse("the demand of a design is no object with a kind.");
  if (stored.kind === "information") {
    const [, bound] = fields(stored, "kind", "parity_bound");
    if (bound === null) return true;
    if (bound === 1n || bound === 1) return parityAtMost([1n, 1n], channel);
    return meets(channel, "beta-factor", [demandNumber(bound)]);
  }
  if (!(stored.kind in DEMANDS)) refuse("the demand of a design is unknown.");
  const [, ...given] = fields(stored, "kind", ...DEMANDS[stored.kind].members);
  if (stored.kind === "local-diversity" && typeof given[0] !== "bigint") refuse("l is a whole number.");
  return meets(channel, stored.kind, given.map(demandNumber));
}

function demandNumber(value) {
  if (typeof value === "bigint") return [value, 1n];
  if (typeof value === "number") return fractionOfDouble(value);
  return fractionOfText(value);
}

/** The number that a parameter is, or null; whatever stands below it is looked through for fractions spelled wrong. */
function parameterNumber(value) {
  if (typeof value === "bigint" || typeof value === "number") return demandNumber(value);
  if (typeof value !== "object" || value === null) return null;
  const only = isObject(value) && Object.keys(value).length === 1 ? Object.keys(value)[0] : "";
  if (only === "fraction") return fractionOfText(value.fraction);
  if (only === "decimal") return fractionOfDecimal(value.decimal);
  Object.values(value).forEach(parameterNumber);
  return null;
}

function refuseFalseClaims({ demand, parameters, categories }, channel) {
  if (demand !== null && !meetsDemand(channel, demand))
    refuse("this design claims a demand that its integers do not meet.");
  parameterNumber({ parameters });
  for (const [name, kind] of Object.entries(STATED).filter(([name]) => name in parameters)) {
    const number = name === "l" && typeof parameters.l !== "bigint" ? null : parameterNumber(parameters[name]);
    if (!meets(channel, kind, [number])) refuse(`this design states ${name}, which its integers do not give.`);
  }
  const isCount = (n) => typeof n === "bigint" && n >= 1n && n <= MOST_RESPONDENTS;
  if ("planned_n" in parameters && !isCount(parameters.planned_n)) refuse("planned_n is no number of people.");
  const areTwo = (two) =>
    Array.isArray(two) && two.length === 2 && two[0] !== two[1] && two.every((c) => categories.includes(c));
  if ("dummies" in parameters && !areTwo(parameters.dummies)) refuse("dummies are no two categories.");
}

/** Figures that `maskwell plan --json` writes beside a design. */
function refuseFalseFigures(document, { k, parity }) {
  const reduced = ([n, d]) => [n / gcd(n, d), d / gcd(n, d)];
  const checks = {
    exact_parity: (given, [n, d]) => given === (d === 1n ? `${n}` : `${n}/${d}`),
    parity: (given, ratio) => given === doubleOf(ratio),
    epsilon: isLogarithm,
  };
  const isFalse = (name) =>
    name in document &&
    (parity() === null ? document[name] !== null : !checks[name](document[name], reduced(parity())));
  if (("k" in document && document.k !== BigInt(k)) || Object.keys(checks).some(isFalse)) {
    refuse("this design states a privacy that its integers do not give.");
  }
}

/** The double nearest to a fraction of 1 or more: 66 bits or more and a last one for all that follow, rounded once. */
function doubleOf([n, d]) {
  const shift = d.toString(2).length - n.toString(2).length + 66;
  const [above, below] = shift >= 0 ? [n << BigInt(shift), d] : [n, d << BigInt(-shift)];
  return Number((above / below) | (above % below === 0n ? 0n : 1n)) * 2 ** -shift;
}

/** Whether x is the least double that is at least the logarithm of a fraction of 1 or more. */
function isLogarithm(x, ratio) {
  if (ratio[0] === ratio[1]) return Object.is(x, 0);
  if (typeof x !== "number" || x <= 0 || !isBelowExp(ratio, fractionOfDouble(x))) return false;
  const bits = new BigUint64Array(new Float64Array([x]).buffer);
  bits[0] -= 1n; // the double before it
  return !isBelowExp(ratio, fractionOfDouble(new Float64Array(bits.buffer)[0]));
}

/*
 * A channel is what the claims are about: the matrix of chances. `rows` lists its rows, each as [weight, how many truths
 * have it]; rows that are alike stand there once. `pairs` lists pairs of different truths, each as [p, q] for every
 * report: its chances for either truth, in units of 1 / unit; reports and pairs that are alike stand there once.
 */
function channelOf({ k, reports, rows, unit, pairs, kindsOfPairs }) {
  const present = () => rows().map((row) => row.filter(([, times]) => times > 0));
  const channel = { k, reports, unit, pairs, kindsOfPairs };
  /** The largest ratio between two entries of a row; null if it is not finite. */
  channel.parity = () => {
    let highest = [1n, 1n];
    for (const row of present()) {
      const weights = row.map(([weight]) => weight);
      const ratio = [greatest(weights), least(weights)];
      if (ratio[0] > 0n && ratio[1] === 0n) return null;
      if (ratio[0] > 0n && isLess(highest, ratio)) highest = ratio;
    }
    return highest;
  };
  /** The least number of truths that a report leaves possible; 0 unless all that it leaves are alike. */
  channel.diversity = () => {
    const possible = present()
      .map((row) => row.filter(([weight]) => weight > 0n))
      .filter((row) => row.length > 0);
    if (possible.some((row) => row.some(([weight]) => weight !== row[0][0]))) return 0n;
    return least(possible.map((row) => sum(row.map(([, times]) => BigInt(times)))));
  };
  channel.distance = () => distanceOf([channel]);
  return channel;
}

/** Where only whether a report holds the truth matters, four kinds of reports tell two truths apart. */
const fourWays = (both, one, other, none) => [
  [both, both],
  [one, other],
  [other, one],
  [none, none],
];

function symmetricChannel(k, sizes, inside, outside) {
  const n = BigInt(k);
  const weighted = sizes.map((size, i) => [BigInt(size), inside[i], outside[i], size]);
  return channelOf({
    k,
    reports: () => sizes.reduce((total, size) => total + setsOfSize(k, size), 0),
    rows: () =>
      weighted.map(([s, a, b, size]) =>
        s === 0n || s === n
          ? [[1n, k]]
          : [
              [a * (n - s), size],
              [b * s, k - size],
            ],
      ),
    unit: (n - 1n) * TOTAL,
    pairs: () => [weighted.flatMap(([s, a, b]) => fourWays(a * (s - 1n), a * (n - s), b * s, b * (n - 1n - s)))],
    kindsOfPairs: 3,
  });
}

/** How many sets there are, or infinity where nobody would list them. */
function setsOfSize(k, size) {
  let count = 1;
  for (let i = 0; i < Math.min(size, k - size) && count <= MOST_CELLS; i++) count = (count * (k - i)) / (i + 1);
  return count <= MOST_CELLS ? count : Infinity;
}

function tableChannel(k, reports, total, columnsOfTruths) {
  const paired = (a, b) => a.flatMap((p, i) => (p || b[i] ? [[p, b[i]]] : []));
  const channel = channelOf({
    k,
    reports: () => reports,
    rows: () => columnsOf(columnsOfTruths(), reports).map((row) => row.map((weight) => [weight, 1])),
    unit: total,
    *pairs() {
      const columns = columnsOfTruths();
      for (const a of columns) for (const b of columns) if (a !== b) yield paired(a, b);
    },
    kindsOfPairs: 1 + k * (k - 1),
  });
  channel.distance = () => {
    const different = [...new Map(columnsOfTruths().map((column) => [column.join(), column])).values()];
    if (different.length > MOST_COLUMNS) refuse(`a distance is found by comparing ${MOST_COLUMNS} columns at most.`);
    let farthest = 0n;
    different.forEach((a, i) =>
      different.slice(i + 1).forEach((b) => (farthest = greatest([farthest, apart(paired(a, b))]))),
    );
    return [farthest, total];
  };
  return channel;
}

/** One table after another; the joint table is worked out only where a claim is to be held against it. */
function composedChannel(first, second) {
  let joint = null;
  const columns = () => (joint ??= composed(first, second));
  return tableChannel(first.length, second[0].length, TOTAL * TOTAL, columns);
}

function composed(first, second) {
  const [once, again] = [first, second].map(oneOrOther);
  if (once === null || again === null) {
    return first.map((column) => second[0].map((_, z) => sum(column.map((weight, y) => weight * second[y][z]))));
  }
  // Where each layer keeps a category or moves to any other alike, so do both together.
  const moves =
    once.moves * again.stays + once.stays * again.moves + BigInt(first.length - 2) * once.moves * again.moves;
  const stays = TOTAL * TOTAL - BigInt(first.length - 1) * moves;
  return first.map((_, j) => first.map((_, z) => (z === j ? stays : moves)));
}

/** The two weights of a square table that has no others, one of them on its diagonal; else null. */
function oneOrOther(columns) {
  const [stays, moves] = columns[0];
  const alike = (column, j) =>
    column.length === columns.length && column.every((w, i) => w === (i === j ? stays : moves));
  return columns.every(alike) ? { stays, moves } : null;
}

/** Independent bits: whatever the others are, those of two truths tell them apart, in four ways. */
function bitChannel(k, layers) {
  let [own, other, unit] = [1n, 0n, 1n];
  for (const [afterOne, afterZero] of layers) {
    [own, other] = [own, other].map((one) => one * afterOne + (unit - one) * afterZero);
    unit *= TOTAL;
  }
  const [mine, others] = [own * (unit - other), other * (unit - own)];
  return channelOf({
    k,
    reports: () => 2 ** k,
    rows: () => [
      [
        [mine, 1],
        [others, k - 1],
      ],
    ],
    unit: unit * unit,
    pairs: () => [fourWays(own * other, mine, others, (unit - own) * (unit - other))],
    kindsOfPairs: 3,
  });
}

/** Of blocks or hyperplanes: `sizes` are those that occur, and each truth is in r of b blocks, each pair in `pair`. */
function blockChannel(k, reports, sizes, inside, outside, [b, r, pair]) {
  const [member, other] = [inside * BigInt(b - r), outside * BigInt(r)]; // of one block, in units of 1 / unit
  const [both, one, none] = [pair, r - pair, b - 2 * r + pair].map(BigInt);
  return channelOf({
    k,
    reports: () => reports,
    rows: () =>
      sizes.map((size) => [
        [member, size],
        [other, k - size],
      ]),
    unit: BigInt(r) * BigInt(b - r) * TOTAL,
    pairs: () => [fourWays(both * member, one * member, one * other, none * other)],
    kindsOfPairs: 1 + k * (k - 1), // all alike, but counted as if they were not, as Python does
  });
}

function productChannel(channels) {
  const product = (of) => channels.map(of).reduce((a, b) => a * b);
  const k = product((channel) => channel.k);
  const parity = () => {
    const parities = channels.map((channel) => channel.parity());
    return parities.includes(null) ? null : parities.reduce(([a, b], [c, d]) => [a * c, b * d]);
  };
  const distance = () => {
    const reports = product((channel) => channel.reports());
    const steps = reports * product((channel) => channel.kindsOfPairs);
    if (reports * k > MOST_CELLS || steps > MOST_STEPS) refuse("the distance of so large a product is not computed.");
    return distanceOf(channels);
  };
  return { k, parity, distance, diversity: () => product((channel) => channel.diversity()) };
}

const apart = (pair) => sum(pair.map(([p, q]) => magnitude(p - q)));

/** The largest L1 distance between two columns of a joint matrix; equal truths of a variable add nothing to it. */
function distanceOf(channels) {
  let farthest = 0n;
  const extend = (joint, [channel, ...others]) => {
    if (channel === undefined) {
      farthest = greatest([farthest, apart(joint)]);
      return;
    }
    for (const pair of [[[channel.unit, channel.unit]], ...channel.pairs()]) {
      extend(
        joint.flatMap(([p, q]) => pair.map(([r, s]) => [p * r, q * s])),
        others,
      );
    }
  };
  extend([[1n, 1n]], channels);
  return [farthest, channels.reduce((unit, channel) => unit * channel.unit, 1n)];
}

/* 5. The door ------------------------------------------------------------------------------------------------------- */

const MEMBERS = ["maskwell", "version", "kind", "name", "categories", "parameters", "demand", "weights", "fingerprint"];
// Members that a file may have besides: those of `maskwell plan --json`, or those beside a file of reports.
const OF_PLANS = ["k", "epsilon", "parity", "exact_parity", "added_variance", "worth", "precision"];
const OF_REPORTS = ["report_file", "randomness", "question", "reports", "digest"];

/** A stored design, as text or as readJson gave it; frozen, with no way to its inside but mask and meaning. */
export function readDesign(stored) {
  return readDocument(typeof stored === "string" ? readJson(stored) : stored).design;
}

function readDocument(document) {
  if (!isObject(document) || document.maskwell !== "design") refuse('a design is an object with "maskwell": "design".');
  if (typeof document.version === "number")
    refuse(
      "this design was read by JSON.parse, which rounds its integers: pass its text, or what readJson makes of it.",
    );
  if (document.version !== 1n) refuse("this design is of another format version; version 1 is read, by readJson.");
  const { kind, name, categories, parameters, weights, fingerprint } = document;
  if (typeof kind !== "string" || !(kind === "product" || kind in KINDS)) refuse("this kind of design is unknown.");
  if (!MEMBERS.every((member) => member in document)) refuse("this design is incomplete.");
  const known = [...MEMBERS, ...("report_file" in document ? OF_REPORTS : OF_PLANS)];
  if (!Object.keys(document).every((member) => known.includes(member)))
    refuse("this design has a member that no design has.");
  if (typeof name !== "string" || !isObject(parameters)) refuse("a design has a name and an object of parameters.");
  const read = kind === "product" ? product(categories, weights) : single(kind, categories, weights);
  if (read.design.fingerprint !== fingerprint) refuse("this design was changed: it does not match its fingerprint.");
  refuseFalseClaims(document, read.channel);
  refuseFalseFigures(document, read.channel);
  return read;
}

function single(kind, stored, weights) {
  const categories = readCategories(stored);
  const { draw, meaning, channel } = KINDS[kind](weights, categories.length);
  const design = {
    kind,
    categories,
    fingerprint: sha256(canonicalText({ categories: stored, kind, weights })),
    mask: (position) => draw(checkedPosition(position, categories.length), secureWords()),
    meaning: (report) => meaning(report, categories),
  };
  return { design: Object.freeze(design), channel };
}

/** Several variables, each masked by its own design and from its own words [5]. */
function product(categories, stored) {
  const [names, listedParts] = fields(stored, "names", "parts");
  if (list(categories, "categories").length > 0)
    refuse("a product's categories stand in its parts; its own list is empty.");
  if (!list(names, "names").every((name) => typeof name === "string")) refuse("the names of a product are text.");
  if (list(listedParts, "parts").some((part) => isObject(part) && part.kind === "product"))
    refuse("a part is no product.");
  if (names.length < 2 || names.length !== listedParts.length || new Set(names).size < names.length) {
    refuse("a product has two designs or more, and as many different names.");
  }
  const read = listedParts.map(readDocument);
  const parts = read.map((part) => part.design);
  const channel = productChannel(read.map((part) => part.channel));
  if (channel.k > MOST_CATEGORIES) refuse(`a product may have up to ${MOST_CATEGORIES} joint categories.`);
  const fingerprints = parts.map((part) => part.fingerprint);
  const design = {
    kind: "product",
    categories: Object.freeze([]),
    names: Object.freeze([...names]),
    parts: Object.freeze(parts),
    fingerprint: sha256(canonicalText({ kind: "product", names, parts: fingerprints })),
    mask: (positions) => {
      if (!Array.isArray(positions) || positions.length !== parts.length) {
        refuse(`the answer to a product is a list of ${parts.length} positions, one for each variable.`);
      }
      positions.forEach((position, i) => checkedPosition(position, parts[i].categories.length));
      return parts.map((part, i) => part.mask(positions[i]));
    },
    meaning: (reports) => parts.map((part, i) => part.meaning(reports[i])),
  };
  return { design: Object.freeze(design), channel };
}

function checkedPosition(position, k) {
  if (!Number.isInteger(position) || position < 0 || position >= k) {
    refuse(`an answer is given by its position, a whole number from 0 to ${k - 1}.`); // and never repeated here
  }
  return position;
}

/** Fresh words, one at a time: none is kept, so that nothing is left from which a report could be drawn again. */
function secureWords() {
  // Elsewhere the page itself may have been changed on its way, and there is no telling who reads along.
  if (globalThis.isSecureContext !== true) refuse("answers are masked in a secure context only (https or localhost).");
  return () => globalThis.crypto.getRandomValues(new Uint32Array(1))[0];
}
