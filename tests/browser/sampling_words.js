/*
 * Words of the sampling format for tests of mask.js: given, seeded and keyed (docs/sampling_format.md, sections 2, 5, 6).
 *
 * mask.js has no door for words that somebody chose. The tests put them where it looks for random ones: in place of
 * crypto.getRandomValues, for as long as one report is drawn. So it is the shipped file that is tested, to the letter.
 */

export class OutOfWords extends Error {}

/** What `draw` returns when random words are these, and how many of them it read. */
export function withWords(words, draw) {
  let used = 0;
  const own = Object.getOwnPropertyDescriptor(crypto, "getRandomValues");
  crypto.getRandomValues = (array) => {
    for (let i = 0; i < array.length; i++) {
      if (used >= words.length) throw new OutOfWords();
      array[i] = words[used++];
    }
    return array;
  };
  try {
    return { report: draw(), used };
  } finally {
    if (own) Object.defineProperty(crypto, "getRandomValues", own);
    else delete crypto.getRandomValues;
  }
}

/** The report of one variable from a stream of which `first(n)` gives the first n words. */
export async function drawnFrom(first, draw) {
  for (let n = 256; ; n *= 4) {
    const words = await first(n);
    try {
      const { report, used } = withWords(words, draw);
      return { report, words: words.slice(0, used) };
    } catch (error) {
      if (!(error instanceof OutOfWords)) throw error;
    }
  }
}

const utf8 = (text) => new TextEncoder().encode(text);
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));

function wordsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength / 4 }, (_, i) => view.getUint32(4 * i, true));
}

async function keystream(key, counter, length, bytes) {
  const imported = await crypto.subtle.importKey("raw", key, "AES-CTR", false, ["encrypt"]);
  const algorithm = { name: "AES-CTR", counter, length };
  return new Uint8Array(await crypto.subtle.encrypt(algorithm, imported, new Uint8Array(bytes)));
}

// Seeded streams.

async function blocksOfDomain(key, domain, firstBlock, blocks) {
  const counter = new DataView(new ArrayBuffer(16));
  counter.setBigUint64(0, BigInt(domain));
  counter.setBigUint64(8, BigInt(firstBlock));
  return wordsOf(await keystream(key, new Uint8Array(counter.buffer), 64, 16 * blocks));
}

/** The first n words of a record of a seeded stream; `record` is a BigInt. */
export async function seededWords(seed, part, question, width, record, n) {
  const text = `maskwell seed 1 ${seed}${part}` + (question === null ? "" : `\n${question}`);
  const key = new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text)));
  const start = record * BigInt(width);
  const slot = await blocksOfDomain(key, 0n, start / 4n, Math.ceil((width + 3) / 4));
  const skipped = Number(start % 4n);
  const more = await blocksOfDomain(key, record + 1n, 0n, Math.ceil(n / 4));
  return [...slot.slice(skipped, skipped + width), ...more].slice(0, n);
}

/** How many words a record has in domain 0, by the stored document of a design that is no product [6]. */
export function slotWidth({ kind, categories, weights }) {
  const up = (a, b) => -(-a / b) + (a > 0n && a % b !== 0n ? 1n : 0n);
  if (kind === "projective") return 3;
  if (kind === "bits") return 2 * categories.length;
  if (kind === "layered bits") return 4 * categories.length;
  if (kind === "layered tables") return 4;
  if (kind === "blocks") return BigInt(weights.inside) === 1n << 64n ? 1 : 3;
  if (kind !== "subsets") {
    const total = BigInt(weights.total);
    return total === 1n << 64n || total < 1n << 40n ? 2 : 16;
  }
  const k = BigInt(categories.length);
  if (weights.sizes.length === 1 && weights.sizes[0] === 1n) return weights.outside[0] === "0" ? 0 : 3;
  const widths = [];
  weights.sizes.forEach((size, i) => {
    for (const [weight, others] of [
      [weights.inside[i], size - 1n],
      [weights.outside[i], size],
    ]) {
      if (weight === "0") continue;
      const wanted = 2n * others > k - 1n ? k - 1n - others : others;
      let [start, bits] = [0n, 0n];
      if (8n * wanted > k - 1n && k >= 16n) {
        bits = k < 256n ? 4n : k < 1024n ? 5n : 6n;
        start = (wanted << bits) / (k - 1n);
        for (; start % 2n === 0n; bits--) start /= 2n;
      }
      const filled = ((k - 1n) * start) >> bits;
      const spread = up(3n * isqrt((k - 1n) * start * ((1n << bits) - start)), 1n << bits);
      const toAdd = wanted - filled + spread;
      const toPick = up(toAdd * k * 65536n, (k - wanted) * (65536n - (65536n % k)));
      widths.push(2n * bits * up(k, 64n) + up(toPick + isqrt(4n * toPick), 2n));
    }
  });
  const largest = widths.reduce((a, b) => (a > b ? a : b));
  return Number(largest) + (widths.length > 1 ? 2 : 0);
}

function isqrt(n) {
  let root = BigInt(Math.floor(Math.sqrt(Number(n))));
  while (root * root > n) root--;
  while ((root + 1n) * (root + 1n) <= n) root++;
  return root;
}

// Keyed streams.

async function encrypted(key, block) {
  return keystream(key, block, 128, 16);
}

const joined = (a, b) => a.map((byte, i) => byte ^ b[i]);

async function idBlock(idKey, id) {
  if ("number" in id) {
    const value = BigInt(id.number);
    const block = new DataView(new ArrayBuffer(16));
    block.setBigUint64(0, BigInt.asUintN(64, value), true);
    block.setUint8(11, value < 0n ? 128 : 0);
    return new Uint8Array(block.buffer);
  }
  const [data, kind] = "text" in id ? [utf8(id.text), 0] : [fromHex(id.bytes), 1];
  const message = new Uint8Array(Math.ceil((4 + data.length) / 16) * 16);
  new DataView(message.buffer).setUint32(0, 2 * data.length + kind, true);
  message.set(data, 4);
  let block = new Uint8Array(16);
  for (let at = 0; at < message.length; at += 16)
    block = await encrypted(idKey, joined(block, message.slice(at, at + 16)));
  return block;
}

/** The first n words of the record with this id: the counter is the last four bytes, and wraps around. */
export async function keyedWords(key, fingerprint, part, question, id, code, n) {
  const imported = await crypto.subtle.importKey("raw", fromHex(key), { name: "HMAC", hash: "SHA-512" }, false, [
    "sign",
  ]);
  const text = `maskwell keyed 1 ${fingerprint}${part}\n${question}`;
  const derived = new Uint8Array(await crypto.subtle.sign("HMAC", imported, utf8(text)));
  const codes = new Uint8Array(16);
  new DataView(codes.buffer).setUint32(8, code, true);
  const counter = joined(await idBlock(derived.slice(32), id), codes);
  return wordsOf(await keystream(derived.slice(0, 32), counter, 32, 4 * Math.ceil(n / 4) * 4));
}
