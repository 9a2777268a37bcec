/*
 * mask.js: a respondent's device masks an answer by a stored Maskwell design.
 *
 *   import { readDesign } from "./mask.js";
 *   const design = readDesign(text);    // refused with a MaskError unless it is whole, unchanged and true
 *   const report = design.mask(2);      // of the answer at position 2, from crypto.getRandomValues
 *
 * This file is all there is to audit: it imports nothing, stores nothing, sends nothing, and logs nothing. Sections:
 * 1 reads JSON exactly, 2 draws reports, 3 reads each kind of design, 4 holds what a design says of its privacy against
 * its integers, 5 is the door. The rules of drawing are those of docs/sampling_format.md; numbers in brackets, as in
 * [4], are its sections. Every chance is a whole number over a whole number: nothing is rounded.
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
const MOST_LABEL_CHARACTERS = 10_000;
const MOST_WEIGHTS = 2 ** 20;
const MOST_BLOCK_CELLS = 10_000_000;

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
    for (const [word, meaning] of [["true", true], ["false", false], ["null", null]]) {
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
  if (reports * k > most) refuse(`a design that lists its reports may have up to ${most} cells; got ${reports} x ${k}.`);
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
  return { draw, meaning };
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
  const columns = Array.from({ length: k }, (_, j) => rows.map((row) => row[j]));
  if (columns.some((column) => sum(column) !== total)) refuse("the chances of each truth must sum to 1.");
  return { draw: (j, word) => drawRow(total, columns[j], word), meaning };
}

/** Blocks of a balanced block design, of which only whether they hold the truth matters. */
function blocks(stored, k) {
  const [listedInside, listedOutside, masks, listedCopies] = fields(stored, "inside", "outside", "blocks", "copies");
  const [inside, outside] = [weight(listedInside), weight(listedOutside)];
  const copies = wholeNumbers(listedCopies, "copies", 1n);
  const b = copies.reduce((a, c) => a + c, 0);
  refuseManyCells(Math.max(b, list(masks, "blocks").length), k, MOST_BLOCK_CELLS);
  const spelled = new RegExp(`^[0-9a-f]{${Math.ceil(k / 4)}}$`);
  if (!masks.every((mask) => typeof mask === "string" && spelled.test(mask))) {
    refuse("blocks are stored as bit masks in lower-case hexadecimal, all of the same length.");
  }
  if (masks.length < k || masks.length !== copies.length) refuse("there must be k blocks or more, each with its copies.");
  const bit = (mask, j) => (parseInt(mask.at(-1 - (j >> 2)), 16) >> (j & 3)) & 1;
  const members = masks.map((mask) => Array.from({ length: 4 * mask.length }, (_, j) => j).filter((j) => bit(mask, j)));
  if (members.some((block) => block.at(-1) >= k)) refuse(`blocks must be sets of the ${k} categories.`);
  refuseDisorder(members, "blocks");
  if (inside === 0n || inside + outside !== TOTAL) refuse("inside and outside must sum to 2^64, inside above 0.");
  if (outside === 0n && members[0].length === 0) refuse("a block without members cannot hold the truth.");
  refuseUnbalanced(members, copies, b, k);
  const codes = copies.flatMap((times, code) => new Array(times).fill(code));
  return {
    draw: (j, word) => drawBlock(inside, codes, (code) => bit(masks[code], j) === 1, word),
    meaning: (report, labels) => members[report].map((c) => labels[c]),
  };
}

/** Each category must be in r blocks and each pair in fewer, as in a balanced design with k points or more. */
function refuseUnbalanced(members, copies, b, k) {
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
}

const KINDS = { __proto__: null, subsets, matrix, conditional, blocks };

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

/** The names and designs of the variables of a product. */
function readParts(categories, stored) {
  const [names, parts] = fields(stored, "names", "parts");
  if (list(categories, "categories").length > 0) refuse("a product's categories stand in its parts; its own list is empty.");
  if (list(parts, "parts").some((part) => isObject(part) && part.kind === "product")) refuse("a part is no product.");
  const designs = parts.map(readDocument);
  if (!list(names, "names").every((name) => typeof name === "string")) refuse("the names of a product are text.");
  if (designs.length < 2 || designs.length !== names.length || new Set(names).size < names.length) {
    refuse("a product has two designs or more, and as many different names.");
  }
  const cells = designs.reduce((product, part) => Math.min(product * part.categories.length, Infinity), 1);
  if (cells > MOST_CATEGORIES) refuse(`a product may have up to ${MOST_CATEGORIES} joint categories.`);
  return [Object.freeze([...names]), Object.freeze(designs)];
}

/* 5. The door ------------------------------------------------------------------------------------------------------- */

const MEMBERS = ["maskwell", "version", "kind", "name", "categories", "parameters", "demand", "weights", "fingerprint"];

/** A stored design, as text or as readJson gave it. */
export function readDesign(stored) {
  return readDocument(typeof stored === "string" ? readJson(stored) : stored);
}

function readDocument(document) {
  if (!isObject(document) || document.maskwell !== "design") refuse('a design is an object with "maskwell": "design".');
  if (document.version !== 1n) refuse("this design is of another format version; version 1 is read, by readJson.");
  const { kind, name, categories, parameters, weights, fingerprint } = document;
  if (typeof kind !== "string" || !(kind === "product" || kind in KINDS)) refuse("this kind of design is unknown.");
  if (!MEMBERS.every((member) => member in document)) refuse("this design is incomplete.");
  if (typeof name !== "string" || !isObject(parameters)) refuse("a design has a name and an object of parameters.");
  const design = kind === "product" ? productOf(categories, weights) : singleOf(kind, categories, weights);
  if (design.fingerprint !== fingerprint) refuse("this design was changed: it does not match its fingerprint.");
  return Object.freeze(design);
}

function singleOf(kind, stored, weights) {
  const categories = readCategories(stored);
  const { draw, meaning } = KINDS[kind](weights, categories.length);
  return {
    kind,
    categories,
    fingerprint: sha256(canonicalText({ categories: stored, kind, weights })),
    mask: (position) => draw(checkedPosition(position, categories.length), secureWords()),
    meaning: (report) => meaning(report, categories),
  };
}

function productOf(categories, weights) {
  const [names, parts] = readParts(categories, weights);
  const fingerprints = parts.map((part) => part.fingerprint);
  return {
    kind: "product",
    categories: Object.freeze([]),
    names,
    parts,
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
