/* node try_reveal.mjs MASK_JS REVEAL_JS: what the page says that each stored design of a JSON list reveals, exactly. */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { readJson } = await import(pathToFileURL(process.argv[2]));
const { compare, reveal } = await import(pathToFileURL(process.argv[3]));

const exact = (ratio) => (ratio === null || ratio === undefined ? null : ratio.join("/"));

function told(stored) {
  const { parity, own, guess, exposed } = reveal(readJson(stored));
  return { parity: exact(parity), own: exact(own), guess: exact(guess), exposed: exact(exposed) };
}

/** For the first report that is a row, a block or a hyperplane, how much likelier it is for one truth than another. */
function odds(stored) {
  const { row, member, other } = compare(readJson(stored), 0, null);
  return (row ?? [member, other]).map(exact);
}

const { all, coded } = JSON.parse(await text(process.stdin));
console.log(JSON.stringify({ told: all.map(told), odds: coded.map(odds) }));
