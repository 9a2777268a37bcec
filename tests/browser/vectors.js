/* The frozen vectors against mask.js, in node and in a browser alike. */

import { drawnFrom, keyedWords, OutOfWords, seededWords, slotWidth, withWords } from "./sampling_words.js";

const FILES = ["one_category", "sets", "rows", "blocks", "products", "hyperplanes", "layers"];

/** A report as bytes in hexadecimal (section 7 of the format). */
function hexOf(document, report) {
  const { kind, categories, weights } = document;
  if (Array.isArray(report)) {
    const bytes = new Uint8Array(Math.ceil(categories.length / 8));
    for (const c of report) bytes[c >> 3] |= 1 << (c & 7);
    return hex(bytes);
  }
  const counts = {
    subsets: () => categories.length,
    matrix: () => weights.rows.length,
    conditional: () => weights.subsets.length,
    blocks: () => weights.blocks.length,
    "layered tables": () => weights.second.length,
    projective: () => Number((weights.q ** weights.t - 1n) / (weights.q - 1n)),
  };
  const codes = counts[kind]();
  const width = codes <= 256 ? 1 : codes <= 65536 ? 2 : 4;
  return hex(Array.from({ length: width }, (_, i) => (report >>> (8 * i)) & 255));
}

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The variables of a stored design with what their streams are called; a design of one variable is one of them. */
function variablesOf(design, document) {
  if (document.kind !== "product") return [{ design, document, part: "" }];
  const named = (i) => `/${design.fingerprint}/${i}`;
  return document.weights.parts.map((part, i) => ({ design: design.parts[i], document: part, part: named(i) }));
}

async function reportsOf({ readDesign }, vector) {
  const design = readDesign(vector.design);
  const variables = variablesOf(design, vector.design);
  const reports = [];
  for (const [i, truth] of vector.truths.entries()) {
    const codes = (Array.isArray(truth) ? truth : [truth]).map(Number);
    let [bytes, read, joint] = ["", [], []];
    for (const [v, variable] of variables.entries()) {
      const first = (n) => streams[vector.mode](vector, i, variable, codes[v], n);
      const drawn = await drawnFrom(first, () => variable.design.mask(codes[v]));
      refusesFewerWords(variable.design, codes[v], drawn.words);
      bytes += hexOf(variable.document, drawn.report);
      read.push(...drawn.words);
      joint.push(drawn.report);
    }
    // The words that the variables read, one after the other, give the report of the product.
    const whole = withWords(read, () => design.mask(design.parts ? codes : codes[0]));
    const same = JSON.stringify(whole.report) === JSON.stringify(design.parts ? joint : joint[0]);
    if (!same || whole.used !== read.length) throw new Error("a product is not drawn variable by variable");
    reports.push(bytes);
  }
  return reports;
}

const streams = {
  words: async (vector, i, variable, code, n) => {
    const words = vector.words[i].map(Number);
    if (n > 4 * words.length && n > 1024) throw new Error("the given words do not suffice");
    return words;
  },
  seeded: (vector, i, { document, part }, code, n) =>
    seededWords(vector.seed, part, vector.question, slotWidth(document), vector.records[i], n),
  keyed: (vector, i, { design, part }, code, n) =>
    keyedWords(vector.key, design.fingerprint, part, vector.question, vector.ids[i], code, n),
};

/** A report is never made from fewer words than it read. */
function refusesFewerWords(design, code, words) {
  if (words.length === 0) return;
  try {
    withWords(words.slice(0, -1), () => design.mask(code));
  } catch (error) {
    if (error instanceof OutOfWords) return;
    throw error;
  }
  throw new Error("a report was drawn without its last word");
}

/** All vectors: how many there are of each file, and which reports differ. */
export async function tryVectors(mask, readText) {
  const result = { cases: 0, reports: 0, different: [], modes: {} };
  for (const file of FILES) {
    const vectors = mask.readJson(await readText(`vectors/${file}.json`)).cases;
    for (const [number, vector] of vectors.entries()) {
      let reports;
      try {
        reports = await reportsOf(mask, vector);
      } catch (error) {
        reports = [String(error)];
      }
      result.cases++;
      result.reports += vector.reports.length;
      result.modes[vector.mode] = (result.modes[vector.mode] ?? 0) + 1;
      const wrong = vector.reports.findIndex((report, i) => report !== reports[i]);
      if (wrong >= 0 || reports.length !== vector.reports.length) {
        result.different.push(`${file} case ${number}: ${reports[wrong] ?? reports[0]}`);
      }
    }
  }
  return result;
}
