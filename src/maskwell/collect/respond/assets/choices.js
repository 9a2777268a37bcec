/** Real radio buttons in a real fieldset, or a list box where there are too many of them. */

import { freshId, make, ownText } from "./dom.js";

const MOST_RADIOS = 20;

/**
 * A choice among options: [{value, label}], labels being elements; `about` is an element that belongs to the question.
 * `selected()` is the chosen value as text, or null; nothing but the controls themselves holds it.
 */
export function choice(legend, options, words, about = null) {
  const name = freshId("choice");
  const complaint = make("p", { class: "complaint", id: `${name}-complaint` });
  const controls = options.length > MOST_RADIOS ? listBox(options, words) : radios(name, options);
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

function radios(name, options) {
  const inputs = options.map(({ value }) => make("input", { type: "radio", name, value, autocomplete: "off" }));
  const labels = options.map(({ label }, i) => make("label", { class: "option" }, inputs[i], label));
  return {
    element: make("div", { class: "options" }, ...labels),
    selected: () => inputs.find((input) => input.checked)?.value ?? null,
    clear: () => inputs.forEach((input) => (input.checked = false)),
  };
}

function listBox(options, words) {
  const id = freshId("list");
  const entries = options.map(({ value, label }) => ownText("option", label.textContent, { value }));
  const first = words.into(make("option", { value: "" }), "choose_one");
  const select = make("select", { id, autocomplete: "off" }, first, ...entries);
  const label = words.into(make("label", { for: id, class: "visually-hidden" }), "your_answer");
  return {
    element: make("div", { class: "options" }, label, select),
    selected: () => select.value || null,
    clear: () => (select.value = ""),
  };
}
