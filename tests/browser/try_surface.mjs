/* node try_surface.mjs MASK_JS: everything that can be reached from outside. */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const mask = await import(pathToFileURL(process.argv[2]));

const isFrozen = (value) =>
  typeof value !== "object" || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
const surface = (stored) => {
  const design = mask.readDesign(stored);
  return { exports: Object.keys(mask).sort(), members: Object.keys(design).sort(), frozen: isFrozen(design) };
};

console.log(JSON.stringify(JSON.parse(await text(process.stdin)).map(surface)));
