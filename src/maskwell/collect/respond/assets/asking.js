/**
 * The yes/no form of a question: "is your answer one of these?"
 *
 * A design whose reports always hold the truth, and that reports a set and its complement equally often, can be carried
 * out by asking: chance picks a set and its complement together, and the respondent's yes or no decides between the
 * two. How often a pair is picked does not depend on the truth, so the report that the design draws for any fixed
 * answer, the first category here, picks the pair with exactly the right chance; its set or complement is then reported
 * by the answer, and nobody, this page included, learns more than that.
 */

import { membersOf } from "./reveal.js";

/** A set to ask about, and the reports that yes and no lead to; null if the design cannot be carried out by asking. */
export function pickQuestion(design, stored) {
  const report = design.mask(0);
  const members = membersOf(stored, report);
  const rest = complement(members, stored.categories.length);
  const opposite = reportOf(stored, rest);
  if (opposite === null) return null;
  // Which of the two is named in the question is as good as the other; chance decides, so that no answer is always named.
  return coin() ? { members, ifYes: report, ifNo: opposite } : { members: rest, ifYes: opposite, ifNo: report };
}

function coin() {
  return (crypto.getRandomValues(new Uint8Array(1))[0] & 1) === 1;
}

function complement(members, k) {
  const held = new Set(members);
  return Array.from({ length: k }, (_, position) => position).filter((position) => !held.has(position));
}

/** The report of a set: itself, or its place in the design's list; null if it is not there. */
function reportOf(stored, members) {
  if (stored.kind === "subsets") return members;
  const wanted = members.join();
  const count = stored.kind === "conditional" ? stored.weights.subsets.length : stored.weights.blocks.length;
  const found = Array.from({ length: count }, (_, i) => i).find((i) => membersOf(stored, i).join() === wanted);
  return found ?? null;
}

/** Whether a design can be carried out by asking, decided from its integers. */
export function canBeAsked(stored) {
  if (stored.kind === "product") return stored.weights.parts.every(canBeAsked);
  if (stored.kind === "subsets") return symmetricSizes(stored);
  const { weights } = stored;
  const k = stored.categories.length;
  if (stored.kind === "blocks" && BigInt(weights.outside) !== 0n) return false;
  if (!["blocks", "conditional"].includes(stored.kind)) return false;
  const given = stored.kind === "conditional" ? weights.weights : weights.copies;
  const chances = new Map(given.map((weight, i) => [membersOf(stored, i).join(), BigInt(weight)]));
  return given.every((weight, i) => chances.get(complement(membersOf(stored, i), k).join()) === BigInt(weight));
}

/** A set of size s has the weight inside[s] / C(k-1, s-1); its complement must have the same. */
function symmetricSizes({ categories, weights }) {
  const k = BigInt(categories.length);
  if (weights.outside.some((weight) => BigInt(weight) !== 0n)) return false;
  const inside = new Map(weights.sizes.map((size, i) => [BigInt(size), BigInt(weights.inside[i])]));
  // C(k-1, s-1) / C(k-1, k-s-1) = s / (k - s)
  return [...inside].every(([s, weight]) => s < k && weight * (k - s) === (inside.get(k - s) ?? -1n) * s);
}
