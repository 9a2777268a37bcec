/** The receipt: what was sent, in words and byte for byte, made from nothing but the bytes themselves. */

import { make, ownText } from "./dom.js";
import { reportInWords } from "./explanation.js";
import { readParts } from "./reveal.js";

/** The receipt of a body that was sent, as an element. */
export function receipt(survey, body, words, { readDesign, invited }) {
  const { reports } = JSON.parse(body);
  const entries = survey.questions.map((question) => {
    return make("div", { class: "entry" }, ownText("h3", question.text), ...sent(question, reports, readDesign, words));
  });
  return make(
    "section",
    { class: "card receipt" },
    words.into(make("h2"), "receipt_title"),
    ...entries,
    words.into(make("h3"), "receipt_exact"),
    make("pre", { dir: "ltr", tabindex: "0", id: "sent-bytes" }, body),
    words.into(make("p", { class: "note" }), "receipt_exact_more"),
    invited ? words.into(make("p", { class: "note" }), "receipt_invitation") : null,
  );
}

function sent(question, reports, readDesign, words) {
  const report = reports[question.name] ?? null;
  if (report === null) return [words.into(make("p", { class: "sent-label" }), "receipt_none")];
  const each = question.design.kind === "product" ? report : [report];
  return readParts(question.design, readDesign).flatMap((part, i) => [
    part.name === null ? null : ownText("h4", part.name),
    reportInWords(part, each[i], words),
  ]);
}
