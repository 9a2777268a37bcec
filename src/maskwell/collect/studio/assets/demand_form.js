/** The part of a form that states a demand: its kind, and the fields of that kind. */

import { percent } from "./numbers.js";

const BELIEFS = new Set(["rho1", "rho2"]);

export class DemandForm {
  constructor(form) {
    this.kindField = form.querySelector("#kind");
    this.groups = [...form.querySelectorAll("fieldset.demand")];
    this.refresh();
  }

  get kind() {
    return this.kindField.value;
  }

  get group() {
    return this.groups.find((group) => group.dataset.kind === this.kind);
  }

  /** Show the fields of the kind, and beside each slider where it stands. */
  refresh() {
    for (const group of this.groups) group.hidden = group.dataset.kind !== this.kind;
    for (const slider of this.group.querySelectorAll("input[type=range]")) {
      const value = Number(slider.value);
      const shown = BELIEFS.has(slider.dataset.name) ? percent(value, 0) : String(value);
      this.group.querySelector(`#${slider.id}-shown`).textContent = shown;
      slider.setAttribute("aria-valuetext", shown);
    }
  }

  /** How many answers there are, which limits l. */
  setCount(k) {
    const field = this.groups.find((group) => group.dataset.kind === "local-diversity").querySelector("input");
    field.max = String(Math.max(2, k - 1));
  }

  /** The demand as the service reads it. */
  read() {
    if (this.kind === "information") return { kind: this.kind, rises: this.limits("rises"), falls: this.limits("falls") };
    const fields = [...this.group.querySelectorAll("input")].map((field) => [field.dataset.name, field.value]);
    return { kind: this.kind, ...Object.fromEntries(fields) };
  }

  limits(direction) {
    return [...this.group.querySelectorAll(`[data-limit=${direction}]`)]
      .map((row) => [...row.querySelectorAll("input")].map((field) => field.value.trim().replace(",", ".")))
      .filter(([before, after]) => before || after)
      .map((pair) => pair.map((value) => `${value || "?"}e-2`));
  }

  /** Put a demand back into the fields. */
  write(demand) {
    this.kindField.value = demand.kind;
    if (demand.kind === "information") {
      for (const direction of ["rises", "falls"]) {
        [...this.group.querySelectorAll(`[data-limit=${direction}]`)].forEach((row, i) => {
          const pair = demand[direction][i] ?? ["", ""];
          [...row.querySelectorAll("input")].forEach((field, j) => (field.value = pair[j].replace("e-2", "")));
        });
      }
    } else {
      for (const field of this.group.querySelectorAll("input")) field.value = demand[field.dataset.name];
    }
    this.refresh();
  }

  /** The largest parity that the demand allows, by its closed form, so that the picture moves with the hand. */
  parity() {
    const demand = this.read();
    const odds = (p) => p / (1 - p);
    switch (demand.kind) {
      case "ldp":
        return Math.exp(Number(demand.epsilon));
      case "beta-factor":
        return Number(demand.beta);
      case "rho":
        return Number(demand.rho2) > Number(demand.rho1) ? odds(Number(demand.rho2)) / odds(Number(demand.rho1)) : undefined;
      case "information": {
        const bounds = [
          ...demand.rises.map(([before, after]) => odds(Number(after)) / odds(Number(before))),
          ...demand.falls.map(([before, after]) => odds(Number(before)) / odds(Number(after))),
        ];
        const least = Math.min(...bounds);
        return least > 1 && least < Infinity ? least : undefined;
      }
      default:
        return undefined;
    }
  }
}
