/** Practice on a pretend answer, as often as one likes: drawn like a real report, and shown, never kept or sent. */

import { pickQuestion } from "./asking.js";
import { choiceOfLabel } from "./choices.js";
import { make } from "./dom.js";
import { labelList, reportInWords } from "./explanation.js";

/** A closed box with the practice for one design. */
export function practice(part, words, subset) {
  const result = make("div", { class: "practice-result", role: "status" });
  let number = 0;
  const show = (report) => {
    number += 1;
    const title = words.into(make("p", { class: "practice-number" }), "practice_result", {
      number: words.number(number),
    });
    const again = words.into(make("p", { class: "note" }), "practice_again");
    result.replaceChildren(title, reportInWords(part, report, words), again);
  };
  const controls = subset ? pretendYesOrNo(part, words, show, result) : pretendChoice(part, words, show, result);
  return make(
    "details",
    { class: "practice" },
    words.into(make("summary"), "practice"),
    words.into(make("p"), "practice_apart"),
    ...controls,
    result,
  );
}

function button(words, key, action) {
  const element = words.into(make("button", { type: "button", class: "secondary" }), key);
  element.addEventListener("click", action);
  return element;
}

function pretendChoice(part, words, show, result) {
  const pretend = choiceOfLabel(words.into(make("legend"), "practice_choose"), part.stored.categories, [], words);
  const draw = () => {
    const selected = pretend.selected();
    if (selected === null) result.replaceChildren(words.into(make("p"), "practice_first"));
    else show(part.design.mask(Number(selected)));
  };
  return [pretend.element, button(words, "practice_try", draw)];
}

function pretendYesOrNo(part, words, show, result) {
  const place = make("div", { role: "status" });
  const pick = () => {
    const picked = pickQuestion(part.design, part.stored);
    const names = picked.members.map((position) => part.stored.categories[position]);
    const answer = (report) => () => {
      place.replaceChildren();
      show(report);
    };
    result.replaceChildren();
    place.replaceChildren(
      words.into(make("p"), "practice_asked"),
      labelList(names, words, Infinity),
      button(words, "yes", answer(picked.ifYes)),
      button(words, "no", answer(picked.ifNo)),
    );
  };
  return [button(words, "practice_list", pick), place];
}
