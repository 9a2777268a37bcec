/** Real radio buttons in a real fieldset; a list box where there are too many of them, and a search beyond that. */

import { freshId, make, ownText } from "./dom.js";
import { radios } from "./radios.js";
import { searchBox } from "./search.js";

const MOST_RADIOS = 20;
const MOST_LISTED = 300;

/**
 * A choice among options: [{value, label}], labels being elements; `about` is an element that belongs to the question.
 * `selected()` is the chosen value as text, or null; nothing but the controls themselves holds it.
 */
export function choice(legend, options, about = null) {
  const group = freshId("choice");
  return framed(legend, radios(group, options), about);
}

/** A choice among labels, by their positions, and then among `more` options. */
export function choiceOfLabel(legend, labels, more, words) {
  const group = freshId("choice");
  if (labels.length > MOST_LISTED) return framed(legend, searchBox(group, labels, more, words));
  if (labels.length > MOST_RADIOS) return framed(legend, listBox(labels, more, words));
  const options = labels.map((label, value) => ({ value, label: ownText("span", label) }));
  return framed(legend, radios(group, [...options, ...more]));
}

function framed(legend, controls, about = null) {
  const complaint = make("p", { class: "complaint", id: freshId("complaint") });
  const described = about === null ? complaint.id : `${about.id} ${complaint.id}`;
  const attributes = { tabindex: "-1", "aria-describedby": described };
  const element = make("fieldset", attributes, legend, about, complaint, controls.element);
  return {
    element,
    selected: controls.selected,
    clear: controls.clear,
    complain(text) {
      complaint.textContent = text;
      element.classList.toggle("incomplete", text !== "");
    },
    focus: () => element.focus(),
  };
}

function listBox(labels, more, words) {
  const id = freshId("list");
  const entries = labels.map((label, value) => ownText("option", label, { value }));
  const others = more.map(({ value, label }) => ownText("option", label.textContent, { value }));
  const first = words.into(make("option", { value: "" }), "choose_one");
  const select = make("select", { id, autocomplete: "off" }, first, ...entries, ...others);
  const label = words.into(make("label", { for: id, class: "visually-hidden" }), "your_answer");
  return {
    element: make("div", { class: "options" }, label, select),
    selected: () => select.value || null,
    clear: () => (select.value = ""),
  };
}
