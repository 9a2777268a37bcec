/**
 * Planning a question: what moves with the hand is drawn at once from closed forms, and the service's own figures,
 * computed from the integers of the design, follow within a moment.
 */

import { make, ownText } from "../../respond/assets/dom.js";
import { BreachPicture, finding } from "./breach.js";
import { DemandForm } from "./demand_form.js";
import { keepDraft, readDraft } from "./draft_store.js";
import { FrontierPicture } from "./frontier.js";
import { count, decimal, limit, percent, points } from "./numbers.js";
import { address, call, say } from "./service.js";

const PAUSE = 40;
const BOUNDED = new Set(["ldp", "beta-factor", "rho", "information"]);
const at = (id) => document.getElementById(id);

class PlanPage {
  constructor() {
    this.form = at("plan");
    this.breach = new BreachPicture(at("breach"));
    this.frontier = new FrontierPicture(at("frontier"));
    this.draft = readDraft();
    this.editing = this.edited();
    this.use = null;
    this.curves = { k: null, lines: [] };
    this.figures = null;
    if (this.editing !== null) this.restore(this.draft.questions[this.editing]);
    this.demand = this.demand ?? new DemandForm(this.form);
    this.form.addEventListener("input", (event) => this.changed(event.target));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.add();
    });
    this.changed(null);
  }

  /** Which question of the draft is planned again: `#2` in the address. */
  edited() {
    const number = Number(location.hash.slice(1));
    return Number.isInteger(number) && number >= 1 && number <= this.draft.questions.length ? number - 1 : null;
  }

  restore(question) {
    at("text").value = question.text;
    at("name").value = question.name;
    at("categories").value = question.asking.categories.join("\n");
    at("n").value = question.asking.n;
    at("width").value = Number((100 * question.asking.width).toPrecision(6));
    at("optional").checked = question.optional;
    at("subset").checked = question.form === "subset";
    this.demand = new DemandForm(this.form);
    this.demand.setCount(question.asking.categories.length);
    this.demand.write(question.asking.demand);
    this.use = question.asking.use ?? null;
    at("add").textContent = `Save question ${this.editing + 1}`;
  }

  asking() {
    const asking = {
      categories: at("categories").value.split("\n").map((label) => label.trim()).filter(Boolean),
      demand: this.demand.read(),
      n: Number(at("n").value.replaceAll(/[,\s]/g, "")),
      width: Number(at("width").value.trim().replace(",", ".")) / 100,
    };
    return this.use === null ? asking : { ...asking, use: this.use };
  }

  changed(field) {
    if (field === this.demand.kindField) this.use = null;
    const asking = this.asking();
    this.demand.setCount(asking.categories.length);
    this.demand.refresh();
    const parity = this.demand.parity();
    if (parity !== undefined) this.showBreach(parity, null);
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.ask(), PAUSE);
  }

  async ask() {
    this.asked?.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    try {
      const figures = await call("studio/plan/figures", { method: "POST", body: this.asking(), signal });
      this.show(figures);
      await this.showFrontier(figures, signal);
    } catch (error) {
      if (error.name !== "AbortError") this.refuse(error.message);
    }
  }

  refuse(message) {
    this.figures = null;
    at("problem").textContent = message;
    if (at("add")) at("add").disabled = true;
  }

  show(figures) {
    this.figures = figures;
    const asking = this.asking();
    const chosen = figures.compared.find((design) => design.chosen);
    at("problem").textContent = "";
    if (at("add")) at("add").disabled = false;
    at("title").textContent = figures.title;
    at("reason").textContent = `${figures.reason} A report is ${figures.reports}.`;
    at("people").textContent = count(asking.n);
    at("wanted").textContent = points(asking.width);
    at("half-width").textContent = figures.half_width === null ? "not estimable" : points(figures.half_width);
    at("needed").textContent = figures.needed === null ? "never enough" : count(figures.needed);
    at("parity").textContent = figures.parity === null ? "no limit" : `× ${limit(figures.parity)}`;
    at("guess").textContent = percent(chosen.guess);
    at("direct").textContent =
      `Asked directly: ${points(figures.direct_half_width)} with as many people, or ${count(figures.direct_needed)} people ` +
      `for ${points(asking.width)}; ${percent(1 / asking.categories.length)} of a stranger's guesses are right without any report. ` +
      "Half-widths are those of the widest interval.";
    at("warnings").textContent = figures.warnings.join(" ");
    at("sentences").replaceChildren(...figures.sentences.map((sentence) => ownText("p", sentence)));
    at("compared").replaceChildren(...figures.compared.map((design) => this.row(design)));
    at("subset-choice").hidden = !figures.can_be_asked;
    at("python").textContent = figures.python;
    at("command").textContent = figures.command;
    this.showBreach(figures.parity, figures.curves);
    say(`${figures.title}: ${at("half-width").textContent}`);
  }

  showBreach(parity, curves) {
    at("breach-title").textContent = finding(parity);
    this.breach.show(parity, curves);
  }

  row(design) {
    const radio = make("input", { type: "radio", name: "use", checked: design.chosen, disabled: !design.meets, "aria-label": `Use ${design.title}` });
    radio.addEventListener("change", () => {
      this.use = design.name;
      this.keepFocus = design.name;
      this.ask();
    });
    if (this.keepFocus === design.name) {
      // The table was made anew, and whoever chose by keyboard is still here.
      this.keepFocus = null;
      queueMicrotask(() => radio.focus());
    }
    const number = (value) => make("td", { class: "number" }, value);
    return make(
      "tr",
      { class: design.chosen ? "chosen" : undefined },
      make("td", {}, radio),
      make("th", { scope: "row" }, design.title, design.meets ? null : make("span", { class: "hint" }, " (another demand)")),
      number(design.half_width === null ? "–" : decimal(100 * design.half_width, 1)),
      number(design.needed === null ? "–" : count(design.needed)),
      number(design.epsilon === null ? "∞" : limit(design.epsilon, 3)),
      number(percent(design.guess, 0)),
      make("td", {}, design.reports),
    );
  }

  async showFrontier(figures, signal) {
    const k = this.asking().categories.length;
    if (this.curves.k !== k) this.curves = { k, lines: await call(`studio/plan/frontier?k=${k}`, { signal }) };
    this.frontier.show(this.curves.lines, figures.compared, !BOUNDED.has(this.demand.kind));
  }

  /** Put the question into the draft, and go on there. */
  add() {
    const name = at("name").value.trim();
    const text = at("text").value.trim();
    if (this.figures === null) return at("problem").scrollIntoView();
    if (!name || !text) return this.complain(name ? "text" : "name", "Write the question and a short name for it.");
    const twice = this.draft.questions.some((question, i) => question.name === name && i !== this.editing);
    if (twice) return this.complain("name", "Another question of the survey has this name.");
    const { design, title, privacy, half_width, can_be_asked, sentences } = this.figures;
    const question = {
      name,
      text,
      design,
      optional: at("optional").checked,
      form: can_be_asked && at("subset").checked ? "subset" : "choose",
      asking: this.asking(),
      shown: { title, privacy, half_width, sentences },
    };
    if (this.editing === null) this.draft.questions.push(question);
    else this.draft.questions[this.editing] = question;
    if (!keepDraft(this.draft)) return this.complain("name", "This browser keeps nothing for this page; allow it to store data.");
    location.assign(address("studio/draft"));
    return undefined;
  }

  complain(id, message) {
    at("problem").textContent = message;
    at("problem").scrollIntoView({ block: "center" });
    at(id).focus();
  }
}

new PlanPage();
