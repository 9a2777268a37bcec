import { make } from "./dom.js";

/** Radio buttons of one group; several of them may share it. */
export function radios(name, options) {
  const inputs = options.map(({ value }) => make("input", { type: "radio", name, value, autocomplete: "off" }));
  const labels = options.map(({ label }, i) => make("label", { class: "option" }, inputs[i], label));
  return {
    element: make("div", { class: "options" }, ...labels),
    selected: () => inputs.find((input) => input.checked)?.value ?? null,
    clear: () => inputs.forEach((input) => (input.checked = false)),
  };
}
