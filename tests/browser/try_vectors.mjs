/* node try_vectors.mjs MASK_JS: run the vectors against this file, and print what came of it. */

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { tryVectors } from "./vectors.js";

globalThis.isSecureContext = true; // node has no pages; mask.js refuses where it is not told that it is in a secure one
const mask = await import(pathToFileURL(process.argv[2]));
const readText = (path) => readFile(new URL(`../${path}`, import.meta.url), "utf8");
console.log(JSON.stringify(await tryVectors(mask, readText)));
