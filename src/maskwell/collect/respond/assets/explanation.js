/** What is sent and what it reveals: sentences and a picture, all of it from the design's integers. */

import { make, ownText } from "./dom.js";
import { answers, bars, EVERYBODY, people } from "./picture.js";
import { above, minus, ONE, over, ratio, same, whole, ZERO } from "./ratio.js";
import { belief, compare, reveal, rowsOf } from "./reveal.js";

// Above this factor, evidence is usually called strong.
const USUAL_CEILING = ratio(20n);
// More reports than this are counted, and more bars than this are not read.
const MOST_NAMED = 8;
const MOST_BARS = 12;
const MOST_SQUARES = 200;

/** The sentences about a design, as [key, values]: what is sent, and what that reveals; `asked` for yes or no. */
export function sentences(stored, words, asked = false) {
  const facts = reveal(stored);
  const sent = [howSent(stored, facts, words, asked)];
  if (same(facts.parity ?? ZERO, ONE)) return { sent, reveals: [["nothing", {}]] };
  if (isOpen(facts)) return { sent, reveals: [["open", {}]] };
  if (facts.own && !asked) sent.push(howOften(facts, words));
  const guess = words.frequencies({ guess: [facts.guess], blind: [ratio(1n, BigInt(facts.k))] });
  return { sent, reveals: [...limits(facts, words), ["guess", guess]] };
}

function isOpen({ shape, own }) {
  return shape === "one" && same(own, ONE);
}

function howSent(stored, facts, words, asked) {
  if (asked) return ["sent_asked", {}];
  if (isOpen(facts)) return ["sent_as_it_is", {}];
  const k = words.number(facts.k);
  if (facts.shape === "one") return ["sent_one", { k }];
  if (facts.lists) {
    const size = words.number(whole(facts.average));
    return ["sent_listed", { k, size, m: words.number(facts.lists) }];
  }
  if (facts.shape === "list") {
    const [least, most] = [words.number(facts.least), words.number(facts.most)];
    return facts.least === facts.most ? ["sent_list", { k, size: least }] : ["sent_lists", { k, least, most }];
  }
  const labels = stored.weights.reports;
  if (labels.length > MOST_NAMED) return ["sent_codes", { m: words.number(labels.length) }];
  return [facts.certain ? "sent_coarse" : "sent_code", { reports: words.listed(labels) }];
}

function howOften({ shape, own }, words) {
  if (shape === "list" && same(own, ONE)) return ["own_always", {}];
  const counts = words.frequencies({ hit: [own], miss: [minus(ONE, own)] });
  return [shape === "one" ? "own_one" : "own_list", counts];
}

function limits(facts, words) {
  if (facts.parity !== null) {
    return [
      ["belief", beliefCounts(facts.parity, words)],
      [above(facts.parity, USUAL_CEILING) ? "weak" : "unsure", {}],
    ];
  }
  if (facts.open === 1) return [["given_away", words.frequencies({ exposed: [facts.exposed, "up"] })]];
  const always = facts.shape === "list" && same(facts.own, ONE);
  return [[always ? "ruled_out_list" : "ruled_out", { open: words.number(facts.open) }]];
}

/** The numbers of a sentence about belief, limits rounded outward. */
export function beliefCounts(parity, words) {
  const { even, most, least } = belief(parity);
  return words.frequencies({ most: [most, "up"], least: [least, "down"], even: [even] });
}

/** Sentences and picture of one design, as elements below headings of a level such as "h3". */
export function explanation(stored, words, asked, heading) {
  const told = sentences(stored, words, asked);
  const said = (list) => list.map(([key, values]) => words.into(make("p"), key, values));
  return [
    words.into(make(heading), "sent_title"),
    ...said(told.sent),
    picture(stored, words),
    words.into(make(heading), "reveals_title"),
    ...said(told.reveals),
  ];
}

function picture(stored, words) {
  const { shape, own, parity, k, least } = reveal(stored);
  const says = (key, values) => words.into(make("span"), key, values);
  const counted = (key) => (number) => says(key, { number: words.number(number) });
  if (shape === "code") return tablePicture(stored, words);
  if (same(parity ?? ZERO, ONE) || (shape === "one" && same(own, ONE))) return null;
  if (same(own, ONE)) {
    const keys = { title: says("picture_list"), on: counted("picture_on"), off: counted("picture_off") };
    return k > MOST_SQUARES ? null : answers(least, k, keys);
  }
  const about = shape === "one" ? ["picture_own", "picture_other"] : ["picture_own_list", "picture_other_list"];
  return people(own, { title: says("picture_title"), own: counted(about[0]), other: counted(about[1]) });
}

/** Answer by answer, how often which report is sent; nothing where that would be too long to read. */
function tablePicture(stored, words) {
  const labels = stored.weights.reports;
  const rows = rowsOf(stored);
  if (labels.length * stored.categories.length > MOST_BARS) return null;
  const figures = stored.categories.map((truth, j) => {
    const possible = labels.flatMap((label, z) => (same(rows[z][j], ZERO) ? [] : [{ label, chance: rows[z][j] }]));
    const counts = words.frequencies(Object.fromEntries(possible.map(({ chance }, i) => [i, [chance]])));
    const shown = possible.map(({ label, chance }, i) => {
      return { label: words.into(make("span"), "picture_sends", { report: label }), number: counts[i], chance };
    });
    return bars(words.into(make("span"), "picture_truth", { base: counts.base, truth }), shown, EVERYBODY);
  });
  return make("div", { class: "figures" }, ...figures);
}

/** A report in words: the answers that it holds, and what it says about whoever sends it. */
export function reportInWords({ stored, design }, report, words) {
  const labels = design.meaning(report);
  const size = Array.isArray(labels) ? labels.length : 1;
  const { row, member, other } = compare(stored, report, size);
  const told = row ? meaningOfRow(stored, row, words) : meaningOfSet(stored, size, member, other, words);
  const shown = row ? rowLikelihoods(stored, row, words) : setLikelihoods(stored, size, member, other, words);
  return make("div", { class: "report" }, named(labels, words), words.into(make("p"), ...told), shown);
}

function named(labels, words) {
  if (!Array.isArray(labels)) return ownText("p", labels, { class: "sent-label" });
  if (labels.length === 0) return words.into(make("p", { class: "sent-label" }), "empty_list");
  return labelList(labels, words);
}

/** Answers as a list; a long one is cut, and says so. */
export function labelList(labels, words, most = 24) {
  const items = labels.slice(0, most).map((label) => ownText("li", label));
  if (labels.length > most) {
    items.push(words.into(make("li", { class: "more" }), "and_more", { number: words.number(labels.length - most) }));
  }
  return make("ul", { class: "labels" }, ...items);
}

function saysNothing(stored, size, member, other) {
  return size === 0 || size === stored.categories.length || same(member, other);
}

function meaningOfSet(stored, size, member, other, words) {
  const one = reveal(stored).shape === "one";
  if (saysNothing(stored, size, member, other)) return ["means_nothing", {}];
  if (same(other, ZERO)) return [one ? "means_open" : "means_only_list", {}];
  if (above(member, other)) return [one ? "means_one" : "means_list", { factor: words.factor(over(member, other)) }];
  const factor = same(member, ZERO) ? "∞" : words.factor(over(other, member));
  return [one ? "means_other" : "means_off_list", { factor }];
}

function meaningOfRow(stored, row, words) {
  const possible = row.flatMap((chance, j) => (same(chance, ZERO) ? [] : [j]));
  const named = (j) => stored.categories[j];
  if (possible.length < row.length) return ["means_only_code", { answers: words.listed(possible.map(named)) }];
  const likely = row.reduce((best, chance, j) => (above(chance, row[best]) ? j : best), 0);
  const unlikely = row.reduce((worst, chance, j) => (above(row[worst], chance) ? j : worst), 0);
  if (same(row[likely], row[unlikely])) return ["means_nothing", {}];
  const factor = words.factor(over(row[likely], row[unlikely]));
  return ["means_code", { likely: named(likely), unlikely: named(unlikely), factor }];
}

/** How many times as often as the least likely; nothing where that is never. */
function timesLeast(chance, least, words) {
  return same(least, ZERO) ? "" : `${words.factor(over(chance, least))} ×`;
}

/** Two bars: how often people with an answer on the list send it, beside the others. */
function setLikelihoods(stored, size, member, other, words) {
  if (saysNothing(stored, size, member, other)) return null;
  const one = reveal(stored).shape === "one";
  const says = (key) => words.into(make("span"), key);
  const least = above(member, other) ? other : member;
  return bars(says("compare_title"), [
    { label: says(one ? "compare_own" : "compare_on"), number: timesLeast(member, least, words), chance: member },
    { label: says("compare_other"), number: timesLeast(other, least, words), chance: other },
  ]);
}

/** A bar for each answer, if they are few. */
function rowLikelihoods(stored, row, words) {
  if (row.length > MOST_NAMED || row.every((chance) => same(chance, row[0]))) return null;
  const least = row.reduce((a, b) => (above(a, b) ? b : a));
  const rows = row.map((chance, j) => {
    const label = words.into(make("span"), "compare_code", { truth: stored.categories[j] });
    return { label, number: timesLeast(chance, least, words), chance };
  });
  return bars(words.into(make("span"), "compare_title"), rows);
}
