/*
 * node try_coincide.mjs MASK_JS: for each stored design of a JSON list, two truths, and words for each of them from which
 * both have the same report.
 */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { withWords } from "./sampling_words.js";

globalThis.isSecureContext = true;
const { readDesign } = await import(pathToFileURL(process.argv[2]));

/** Words that differ by seed and are as good as random for this purpose. */
function wordsOf(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return Array.from({ length: 2048 }, () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  });
}

/** Every truth of a design; of a product those that differ in every variable. */
function truthsOf(design) {
  if (!design.parts) return design.categories.map((_, position) => position);
  const least = Math.min(...design.parts.map((part) => part.categories.length));
  return Array.from({ length: least }, (_, i) => design.parts.map((part) => (i * 7 + 1) % part.categories.length));
}

/** The same words for both; if that cannot be, as where a report is the answer or the other one, words of their own. */
function coinciding(design) {
  const truths = truthsOf(design);
  const [first, second] = truths;
  const drawn = (truth, words) => {
    const { report, used } = withWords(words, () => design.mask(truth));
    return { outcome: JSON.stringify([report, used]), report, words: words.slice(0, used), truth };
  };
  for (let seed = 0; seed < 300; seed++) {
    const seen = new Map();
    for (const draw of truths.map((truth) => drawn(truth, wordsOf(seed)))) {
      const other = seen.get(draw.outcome);
      if (other) return { truths: [other.truth, draw.truth], words: [other.words, draw.words], report: draw.report };
      seen.set(draw.outcome, draw);
    }
  }
  const wanted = JSON.stringify(drawn(first, wordsOf(0)).report);
  for (let seed = 1; ; seed++) {
    const draw = drawn(second, wordsOf(seed));
    if (JSON.stringify(draw.report) === wanted)
      return { truths: [first, second], words: [drawn(first, wordsOf(0)).words, draw.words], report: draw.report };
  }
}

console.log(JSON.stringify(JSON.parse(await text(process.stdin)).map((stored) => coinciding(readDesign(stored)))));
