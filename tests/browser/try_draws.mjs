/*
 * node try_draws.mjs MASK_JS: draw reports for whoever asks. A line {"design": text} chooses the design, a line
 * {"truths": [...]} is answered by a line with a report for each.
 */

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

globalThis.isSecureContext = true;
const { readDesign } = await import(pathToFileURL(process.argv[2]));

let design = null;
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  if (asked.design) design = readDesign(asked.design);
  else console.log(JSON.stringify(asked.truths.map((truth) => design.mask(truth))));
}
