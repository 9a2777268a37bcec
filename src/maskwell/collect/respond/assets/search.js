/**
 * An answer found among thousands by typing a part of it. What is typed stays in its box: nothing is asked of a server,
 * spelling is not checked, and no browser is to remember it.
 */

import { freshId, make, ownText } from "./dom.js";
import { radios } from "./radios.js";

const MOST_SHOWN = 10;

/** Text as it is compared: without case, accents and spaces around it. */
const plain = (text) => String(text).normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();

/** A box to type in, and radio buttons for the answers that match; `more` options stand below at all times. */
export function searchBox(group, labels, more, words) {
  const ids = { box: freshId("search"), said: freshId("found") };
  const box = make("input", {
    type: "search",
    id: ids.box,
    autocomplete: "off",
    autocapitalize: "off",
    autocorrect: "off",
    spellcheck: "false",
    enterkeyhint: "search",
    "aria-describedby": ids.said,
  });
  const hint = { k: words.number(labels.length) };
  const label = words.into(make("label", { for: ids.box, class: "search" }), "search", hint);
  const said = make("p", { id: ids.said, class: "note", role: "status" });
  const place = make("div");
  const others = radios(group, more);
  let found = radios(group, []);
  let compared = null;

  function show() {
    compared ??= labels.map(plain);
    const chosen = found.selected();
    const { positions, count } = matches(plain(box.value), compared);
    // What was chosen stays in sight until something else is.
    const shown = chosen === null || positions.includes(Number(chosen)) ? positions : [Number(chosen), ...positions];
    found = radios(
      group,
      shown.map((value) => ({ value, label: ownText("span", labels[value]) })),
    );
    place.replaceChildren(found.element);
    if (chosen !== null) found.element.querySelector(`[value="${chosen}"]`).checked = true;
    const numbers = { number: words.number(count), shown: words.number(positions.length) };
    const key = count === 0 ? "search_none" : count > positions.length ? "search_many" : "search_all";
    if (box.value.trim() === "") said.textContent = "";
    else words.into(said, key, numbers);
  }

  box.addEventListener("input", show);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // which would send the form
    found.element.querySelector("input")?.focus();
  });

  return {
    element: make("div", {}, label, box, said, place, others.element),
    selected: () => found.selected() ?? others.selected(),
    clear() {
      box.value = "";
      said.textContent = "";
      found = radios(group, []);
      place.replaceChildren();
      others.clear();
    },
  };
}

/** The positions of the first labels that hold the text, the nearest ones first, and how many there are in all. */
function matches(text, compared) {
  const ranked = [[], [], []];
  let count = 0;
  if (text !== "") {
    compared.forEach((label, position) => {
      if (!label.includes(text)) return;
      count += 1;
      const rank = ranked[label === text ? 0 : label.startsWith(text) ? 1 : 2];
      if (rank.length < MOST_SHOWN) rank.push(position);
    });
  }
  return { positions: ranked.flat().slice(0, MOST_SHOWN), count };
}
