/**
 * The page's texts, in the language of the survey.
 *
 * The page brings the survey's own texts, and the English ones for what the survey leaves out. An element with an
 * English text in a page of another language says so, for the sake of screen readers. Chances are told as counts of
 * people, "67 of 100", with a larger round number where 100 people would show none or all.
 */

import { above, minus, ONE, ratio, same, times, whole, ZERO } from "./ratio.js";

const BASES = Array.from({ length: 17 }, (_, power) => 10n ** BigInt(power + 2));
// A count may misstate a chance by an eighth of it.
const CLOSE = ratio(1n, 8n);
// Off by less than this part of a person, a count is not called approximate.
const AS_GOOD_AS_EXACT = ratio(1n, 1000n);
const FACTOR_DIGITS = 3;

const distance = (x, y) => (above(x, y) ? minus(x, y) : minus(y, x));

function fits({ value, rounding }, base) {
  if (same(value, ZERO) || same(value, ONE)) return true;
  const exact = times(value, [base, 1n]);
  const count = whole(exact, rounding);
  const rest = minus(ONE, value);
  const allowed = times(CLOSE, times(above(value, rest) ? rest : value, [base, 1n]));
  return count >= 2n && count < base && !above(distance([count, 1n], exact), allowed);
}

export class Words {
  /** `english` names the texts that the survey does not give in its own language. */
  constructor({ language, texts, english }) {
    this.language = language;
    this.texts = texts;
    this.english = new Set(english);
    this.format = new Intl.NumberFormat(language);
    this.factors = new Intl.NumberFormat(language, { maximumFractionDigits: FACTOR_DIGITS });
  }

  /** A text with its gaps filled in. */
  text(key, values = {}) {
    return this.texts[key].replace(/\{(\w+)\}/g, (gap, name) => (name in values ? values[name] : gap));
  }

  /** The same in an element, marked where its language is not that of the page. */
  into(element, key, values) {
    element.textContent = this.text(key, values);
    if (this.english.has(key)) {
      element.setAttribute("lang", "en");
      element.setAttribute("dir", "ltr");
    }
    return element;
  }

  /** Whether the survey or the page has something to say here. */
  has(key) {
    return this.texts[key] !== "";
  }

  number(value) {
    return this.format.format(value);
  }

  /** Labels in one sentence, the later ones counted if there are many. */
  listed(labels, most = 12) {
    const shown = labels.slice(0, most).map((label) => `“${label}”`);
    if (labels.length > most) shown.push(this.text("and_more", { number: this.number(labels.length - most) }));
    return new Intl.ListFormat(this.language, { type: "unit", style: "short" }).format(shown);
  }

  /** Chances as counts out of one round number, which comes along as `base`; `chances` has [fraction, rounding]. */
  frequencies(chances) {
    const given = Object.entries(chances).map(([name, [value, rounding = "nearest"]]) => ({ name, value, rounding }));
    const base = BASES.find((b) => given.every((chance) => fits(chance, b))) ?? BASES.at(-1);
    const counts = given.map((chance) => [chance.name, this.count(chance, base)]);
    return { ...Object.fromEntries(counts), base: this.number(base) };
  }

  count({ value, rounding }, base) {
    if (same(value, ZERO)) return this.text("none");
    if (same(value, ONE)) return this.text("all_of", { number: this.number(base) });
    const exact = times(value, [base, 1n]);
    const count = whole(exact, rounding);
    const off = distance([count, 1n], exact);
    const number = this.number(count);
    return rounding === "nearest" && !above(AS_GOOD_AS_EXACT, off) ? this.text("about", { number }) : number;
  }

  /** A factor to three digits, rounded up so that privacy is not promised too strongly. */
  factor(value) {
    let scale = 1n;
    while (scale < 1000n && above([100n, 1n], times(value, [scale, 1n]))) scale *= 10n;
    const digits = whole(times(value, [scale, 1n]), "up");
    return this.factors.format(Number(digits) / Number(scale));
  }
}
