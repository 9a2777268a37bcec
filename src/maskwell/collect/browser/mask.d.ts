/** What is wrong with a design or a call, in one line. It never holds an answer. */
export class MaskError extends Error {}

/** A value that `readJson` gives: whole numbers are BigInt, other numbers are numbers. */
export type Json = string | bigint | number | boolean | null | Json[] | { [name: string]: Json };

/** A category's label, or that of a report. */
export type Label = string | number | boolean;

/**
 * What leaves the device: the position of a category, row or block; for sets the rising list of positions; for a
 * product one report for each variable.
 */
export type Report = number | number[] | Report[];

/** What a report stands for: a label, the labels of a set, or one of these for each variable of a product. */
export type Meaning = Label | Label[] | Meaning[];

/** A design of one variable. */
export interface SingleDesign {
  readonly kind:
    "subsets" | "matrix" | "conditional" | "blocks" | "projective" | "bits" | "layered bits" | "layered tables";
  /** The labels, in the order of their positions. */
  readonly categories: readonly Label[];
  /** SHA-256 of labels and integers, 64 hexadecimal digits. */
  readonly fingerprint: string;
  /** Draw a report of the answer at this position. Each call draws anew: mask an answer once. */
  mask(position: number): number | number[];
  /** What a report stands for, to show it to its sender. */
  meaning(report: Report): Meaning;
}

/** A design of several variables, each masked by its own design. */
export interface ProductDesign {
  readonly kind: "product";
  readonly categories: readonly [];
  readonly fingerprint: string;
  readonly names: readonly string[];
  readonly parts: readonly SingleDesign[];
  /** Draw a report of the answers at these positions, one for each variable. */
  mask(positions: readonly number[]): Report[];
  meaning(report: Report[]): Meaning;
}

export type Design = SingleDesign | ProductDesign;

/** Read JSON exactly: whole numbers of any size, no key twice, nothing that is not JSON. Throws a MaskError. */
export function readJson(text: string): Json;

/**
 * Read a stored design, as text or as `readJson` gave it, never as `JSON.parse` does. Throws a MaskError unless it is
 * whole, unchanged, and as private as it says.
 */
export function readDesign(stored: string | Json): Design;
