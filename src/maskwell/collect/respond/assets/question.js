/**
 * A question of the survey: what its report reveals, practice, and the controls for the answer.
 *
 * The answer lives in the controls and nowhere else. `draw()` turns it into a report in one expression; `clear()`
 * empties the controls.
 */

import { canBeAsked, pickQuestion } from "./asking.js";
import { choice, choiceOfLabel } from "./choices.js";
import { freshId, make, ownText } from "./dom.js";
import { explanation, labelList } from "./explanation.js";
import { practice } from "./practice.js";
import { readParts } from "./reveal.js";

const NO_ANSWER = "none";
// Whoever answers about a list must see all of it.
const ALL = Infinity;

/** The questions of a survey; `readDesign` checks each design, and an error means that nothing may be asked. */
export function questionsOf(survey, readDesign, words) {
  return survey.questions.map((asked, i) => {
    const parts = readParts(asked.design, readDesign);
    const subset = asked.form === "subset";
    if (subset && !canBeAsked(asked.design)) throw new Error("this design cannot be carried out by asking");
    return new Question(asked, parts, subset, { number: i + 1, count: survey.questions.length }, words);
  });
}

class Question {
  constructor(asked, parts, subset, place, words) {
    this.name = asked.name;
    this.isProduct = asked.design.kind === "product";
    this.words = words;
    this.refusal = asked.optional && this.isProduct ? refusalBox(words) : null;
    const controls = (part) => (subset ? yesOrNo : chooseOne)(asked, part, words);
    this.parts = parts.map((part) => ({ ...part, ...controls(part) }));
    this.element = this.card(asked, subset, place);
  }

  card(asked, subset, { number, count }) {
    const { words } = this;
    const heading = freshId("question");
    const numbers = { number: words.number(number), count: words.number(count) };
    return make(
      "section",
      { class: "card question", "aria-labelledby": heading },
      count > 1 ? words.into(make("p", { class: "number" }), "question_number", numbers) : null,
      ownText("h2", asked.text, { id: heading }),
      ...this.parts.flatMap((part) => [
        this.isProduct ? ownText("h3", part.name, { class: "part" }) : null,
        make(
          "div",
          { class: "reveals" },
          ...explanation(part.stored, words, subset, this.isProduct ? "h4" : "h3").filter(Boolean),
          practice(part, words, subset),
        ),
        part.element,
      ]),
      this.refusal?.element,
    );
  }

  get refused() {
    return this.refusal?.refused() ?? false;
  }

  /** The first part that still lacks an answer, or null; each of them says so. */
  firstMissing() {
    const missing = this.refused ? [] : this.parts.filter((part) => !part.answered());
    for (const part of this.parts) part.complain(missing.includes(part) ? this.words.text("missing") : "");
    return missing[0] ?? null;
  }

  /** The report of the answer, drawn now. */
  draw() {
    if (this.refused) return null;
    const reports = this.parts.map((part) => part.draw());
    return this.isProduct ? reports : reports[0];
  }

  clear() {
    for (const part of this.parts) part.clear();
    this.refusal?.clear();
  }
}

function legendOf(asked, part, key, words) {
  const question = ownText("span", ` ${part.name ?? asked.text}`, { class: "visually-hidden" });
  return make("legend", {}, words.into(make("span"), key), question);
}

function refusalOption(words) {
  const note = words.into(make("span", { class: "note" }), "no_answer_sent");
  return make("span", {}, words.into(make("span"), "no_answer"), make("br"), note);
}

/** That no answer is given, as an option of a question of one part. */
function refusals(asked, words) {
  return asked.optional && asked.design.kind !== "product" ? [{ value: NO_ANSWER, label: refusalOption(words) }] : [];
}

/** The answer chosen among all categories. */
function chooseOne(asked, part, words) {
  const legend = legendOf(asked, part, "your_answer", words);
  const chosen = choiceOfLabel(legend, part.stored.categories, refusals(asked, words), words);
  const draw = () => (chosen.selected() === NO_ANSWER ? null : part.design.mask(Number(chosen.selected())));
  return { ...chosen, answered: () => chosen.selected() !== null, draw };
}

/** Yes or no to whether the answer is in a set that was picked before. */
function yesOrNo(asked, part, words) {
  const picked = pickQuestion(part.design, part.stored);
  const named = labelList(
    picked.members.map((position) => part.stored.categories[position]),
    words,
    ALL,
  );
  named.id = freshId("set");
  const options = ["yes", "no"].map((value) => ({ value, label: words.into(make("span"), value) }));
  const chosen = choice(legendOf(asked, part, "asked", words), [...options, ...refusals(asked, words)], named);
  const possible = make(
    "div",
    { class: "possible" },
    words.into(make("p"), "possible_answers"),
    labelList(part.stored.categories, words, ALL),
  );
  const reports = { yes: picked.ifYes, no: picked.ifNo, [NO_ANSWER]: null };
  return {
    ...chosen,
    element: make("div", {}, possible, chosen.element),
    answered: () => chosen.selected() !== null,
    draw: () => reports[chosen.selected()],
  };
}

/** For a question of several parts: one box that leaves all of it without an answer. */
function refusalBox(words) {
  const box = make("input", { type: "checkbox", autocomplete: "off" });
  return {
    element: make("label", { class: "option" }, box, refusalOption(words)),
    refused: () => box.checked,
    clear: () => (box.checked = false),
  };
}
