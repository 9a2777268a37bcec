/* node try_designs.mjs MASK_JS: read the texts of a JSON list, one design each, and print what mask.js says of each. */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { readDesign, MaskError } = await import(pathToFileURL(process.argv[2]));

function verdict(stored) {
  try {
    return { fingerprint: readDesign(stored).fingerprint };
  } catch (error) {
    return error instanceof MaskError ? { refused: error.message } : { crashed: String(error.stack) };
  }
}

console.log(JSON.stringify(JSON.parse(await text(process.stdin)).map(verdict)));
