/** Two questions together: the test, the shares within groups, and all pairs. */

import { make, ownText } from "../../respond/assets/dom.js";
import { IntervalsPicture } from "./intervals.js";
import { count, decimal, digits, percent } from "./numbers.js";
import { call } from "./service.js";

const at = (id) => document.getElementById(id);
const USUAL = 0.05;
const PAUSE = 3000;

class JointPage {
  constructor(form) {
    this.survey = form.dataset.survey;
    form.addEventListener("change", () => this.ask());
    form.addEventListener("submit", (event) => event.preventDefault());
    this.ask();
  }

  async ask() {
    clearTimeout(this.waiting);
    at("problem").textContent = "";
    at("verdict").textContent = "Counting…";
    const query = String(new URLSearchParams({ first: at("first").value, second: at("second").value }));
    this.asked = query;
    try {
      const figures = await call(`studio/surveys/${this.survey}/joint/figures?${query}`);
      if (this.asked !== query) return; // other questions were chosen meanwhile
      if (figures.counting) this.wait(figures.counting);
      else this.show(figures);
    } catch (error) {
      if (this.asked !== query) return;
      at("problem").textContent = error.message;
      this.clear();
    }
  }

  wait(words) {
    this.clear();
    at("verdict").textContent = words;
    this.waiting = setTimeout(() => this.ask(), PAUSE);
  }

  clear() {
    for (const id of ["verdict", "association", "reference", "unclear"]) at(id).textContent = "";
    for (const id of ["groups", "cells"]) at(id).replaceChildren();
  }

  show(figures) {
    const { test, association } = figures;
    const p = test.p_value < 0.0001 ? "p < 0.0001" : `p = ${digits(test.p_value, 2)}`;
    at("verdict").textContent =
      test.p_value < USUAL
        ? `They go together: if they were independent, reports so far apart would be rare (${p}).`
        : `No sign that they go together: reports like these are common if they are independent (${p}).`;
    at("association").textContent = association
      ? `Cramér's V, corrected for noise: ${decimal(association.cramers_v, 2)} (95\u00a0% interval ${decimal(association.interval[0], 2)} to ${decimal(association.interval[1], 2)}; 0 none, 1 complete). ${count(figures.n)} people answered both.`
      : `${count(figures.n)} people answered both.`;
    at("reference").textContent = `Test of independence: ${test.method}, statistic ${digits(test.statistic)}, ${test.reference}; ${test.choice}.`;
    this.showGroups(figures);
    this.showCells(figures);
  }

  showGroups({ groups, unclear, given, shown }) {
    at("groups").replaceChildren();
    for (const group of groups) {
      const holder = make("div");
      const heading = ownText("h3", `${given}: ${group.label}`);
      at("groups").append(make("section", { class: "group" }, heading, make("p", { class: "note" }, `${percent(group.share)} of all people`), holder));
      new IntervalsPicture(holder, [0, 1]).show(group.rows);
    }
    at("unclear").textContent = [
      groups.length ? `Shares of the answers to ${shown}, with 95\u00a0% intervals; what lies outside 0 to 100\u00a0% is cut off.` : "",
      unclear.length ? `Too rare to be seen as a group: ${unclear.join(", ")}.` : "",
    ].join(" ");
  }

  showCells({ cells, given, shown, first_labels, second_labels }) {
    const head = make("tr", {}, ownText("th", `${given} \\ ${shown}`, { scope: "col" }), ...second_labels.map((label) => ownText("th", label, { scope: "col", class: "number" })));
    const rows = cells.map((row, i) =>
      make(
        "tr",
        {},
        ownText("th", first_labels[i], { scope: "row" }),
        ...row.map(({ estimate, margin }) => make("td", { class: "number" }, `${decimal(100 * estimate, 1)} ± ${decimal(100 * margin, 1)}`)),
      ),
    );
    at("cells").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
  }
}

const form = at("pair");
if (form) new JointPage(form);
