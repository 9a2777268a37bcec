/* node try_json.mjs MASK_JS: read the texts of a JSON list by readJson, and print their values with numbers tagged. */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { readJson, MaskError } = await import(pathToFileURL(process.argv[2]));

function tagged(value) {
  if (typeof value === "bigint") return `whole ${value}`;
  if (typeof value === "number") return `double ${Buffer.from(new Float64Array([value]).buffer).toString("hex")}`;
  if (Array.isArray(value)) return value.map(tagged);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.create(null);
  for (const name of Object.keys(value)) copy[name] = tagged(value[name]);
  return copy;
}

function answer(given) {
  try {
    return { value: tagged(readJson(given)) };
  } catch (error) {
    return error instanceof MaskError ? { refused: error.message } : { crashed: String(error) };
  }
}

console.log(JSON.stringify(JSON.parse(await text(process.stdin)).map(answer)));
