/* node try_parsed.mjs MASK_JS: what mask.js says of designs that were read by JSON.parse. */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { readDesign, MaskError } = await import(pathToFileURL(process.argv[2]));

function message(stored) {
  try {
    readDesign(JSON.parse(stored));
    return "read";
  } catch (error) {
    return error instanceof MaskError ? error.message : String(error);
  }
}

console.log(JSON.stringify(JSON.parse(await text(process.stdin)).map(message)));
