/** A running survey: asked for again every few seconds while the page is looked at, and until the survey is closed. */

import { make, ownText } from "../../respond/assets/dom.js";
import { DaysPicture } from "./days.js";
import { between, decimalsFor, IntervalsPicture } from "./intervals.js";
import { count, digits, percent, points } from "./numbers.js";
import { call, say } from "./service.js";

const PAUSE = 3000;
const at = (id) => document.getElementById(id);

class QuestionCard {
  constructor(element) {
    const part = (name) => element.querySelector(`[data-part=${name}]`);
    this.picture = new IntervalsPicture(part("picture"));
    this.noise = part("noise");
    this.table = part("table");
  }

  show(figures) {
    if (figures.withheld) {
      this.noise.textContent = `Not shown: ${figures.withheld}`;
      return;
    }
    const { rows, noise } = figures;
    const decimals = decimalsFor(rows);
    this.picture.show(rows);
    this.table.replaceChildren(
      ...rows.map((row) =>
        make(
          "tr",
          {},
          ownText("th", row.label, { scope: "row" }),
          make("td", { class: "number" }, percent(row.estimate, decimals)),
          make("td", { class: "number" }, between(row, decimals)),
        ),
      ),
    );
    this.noise.textContent = words(figures, noise);
  }
}

function words({ answered, missing, left_out, rows }, noise) {
  const widest = Math.max(...rows.map(({ low, high }) => (high - low) / 2));
  const parts = [`${count(answered)} reports${missing ? `, ${count(missing)} left it out` : ""}; the widest interval is ${points(widest)}.`];
  if (noise.privacy_share !== null) {
    parts.push(
      `${percent(noise.privacy_share, 0)} of the variance is the noise of privacy, ${percent(1 - noise.privacy_share, 0)} that of sampling; ` +
        `${count(noise.equivalent_direct_n)} open answers would be as precise, so a report is worth ${digits(noise.worth)} of one.`,
    );
  }
  if (left_out) parts.push(`The ${rows.length} largest are shown; ${count(left_out)} more are in the export.`);
  return parts.join(" ");
}

class WatchPage {
  constructor() {
    this.element = at("watched");
    this.days = new DaysPicture(at("days"));
    this.cards = [...document.querySelectorAll("[data-question]")].map((element) => new QuestionCard(element));
    this.shown = null;
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
    this.look();
  }

  async look() {
    clearTimeout(this.waiting);
    try {
      const figures = await call(`studio/surveys/${this.element.dataset.survey}/figures`);
      at("problem").textContent = "";
      this.show(figures);
      const all = figures.received - (figures.received % figures.least_batch);
      if (figures.state === "closed" && figures.shown === all) return;
    } catch (error) {
      at("problem").textContent = error.message;
    }
    if (!document.hidden) this.waiting = setTimeout(() => this.look(), PAUSE);
  }

  show(figures) {
    at("state").textContent = figures.state;
    at("received").textContent = count(figures.received);
    at("shown").textContent = count(figures.shown);
    this.days.show(figures.by_day);
    at("counting").textContent = figures.counting ?? "";
    // Between two whole batches nothing changes, and nothing is drawn again.
    if (figures.counting || figures.shown === this.shown) return;
    if (this.shown !== null) say(`${count(figures.shown)} submissions are counted`);
    this.shown = figures.shown;
    figures.questions.forEach((question, i) => this.cards[i].show(question));
  }
}

new WatchPage();
