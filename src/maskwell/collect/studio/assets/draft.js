/** Putting a survey together: its questions in order, its texts and dates, a trial, and publishing. */

import { make, ownText } from "../../respond/assets/dom.js";
import { forgetDraft, keepDraft, readDraft } from "./draft_store.js";
import { digits, points } from "./numbers.js";
import { address, call, say } from "./service.js";

const FIELDS = ["title", "introduction", "language", "least_batch", "opens", "closes", "texts"];
const at = (id) => document.getElementById(id);

class DraftPage {
  constructor() {
    this.draft = readDraft();
    for (const id of FIELDS) at(id).value = this.draft[id] ?? "";
    at("invitations").checked = this.draft.invitations;
    at("survey").addEventListener("input", () => this.keep());
    at("survey").addEventListener("submit", (event) => {
      event.preventDefault();
      this.publish();
    });
    at("preview").addEventListener("click", () => this.preview());
    this.showQuestions();
  }

  keep() {
    for (const id of FIELDS) this.draft[id] = at(id).value;
    this.draft.invitations = at("invitations").checked;
    keepDraft(this.draft);
  }

  showQuestions() {
    const { questions } = this.draft;
    at("questions").replaceChildren(...questions.map((question, i) => this.card(question, i)));
    at("no-questions").hidden = questions.length > 0;
    at("preview").disabled = at("publish").disabled = questions.length === 0;
    at("together").textContent =
      questions.length > 1 ? "The questions of one respondent add up: whoever sees all reports learns more than from each alone." : "";
  }

  card(question, i) {
    const last = this.draft.questions.length - 1;
    const button = (words, action, attributes = {}) => {
      const made = make("button", { type: "button", class: "quiet", "aria-label": `${words}: ${question.name}`, ...attributes }, words);
      made.addEventListener("click", action);
      return made;
    };
    return make(
      "li",
      {},
      ownText("h3", question.text),
      make("p", { class: "note" }, ownText("b", question.name), `: ${question.asking.categories.length} answers, ${question.shown.title}; ${question.shown.privacy}`,
        question.shown.half_width === null ? "" : `; ${points(question.shown.half_width)} with ${digits(question.asking.n)} people`,
        question.optional ? "; may be left out" : "", "."),
      make(
        "p",
        { class: "buttons" },
        make("a", { class: "button", href: address(`studio/plan#${i + 1}`), "aria-label": `Change: ${question.name}` }, "Change"),
        button("Up", () => this.move(i, i - 1), { disabled: i === 0 }),
        button("Down", () => this.move(i, i + 1), { disabled: i === last }),
        button("Remove", () => this.remove(i)),
      ),
    );
  }

  move(from, to) {
    const [question] = this.draft.questions.splice(from, 1);
    this.draft.questions.splice(to, 0, question);
    this.changed(`${question.name} is now number ${to + 1}`);
  }

  remove(i) {
    const [question] = this.draft.questions.splice(i, 1);
    this.changed(`${question.name} was removed`);
  }

  changed(words) {
    keepDraft(this.draft);
    this.showQuestions();
    at("questions-title").tabIndex = -1;
    at("questions-title").focus();
    say(words);
  }

  /** The survey document; an Error with one line if something in the form is missing. */
  document() {
    this.keep();
    const { draft } = this;
    if (!draft.title.trim()) throw new Error("Give the survey a title.");
    let texts = {};
    if (draft.texts?.trim()) {
      try {
        texts = JSON.parse(draft.texts);
      } catch {
        throw new Error("The texts are no JSON object.");
      }
    }
    if (draft.introduction.trim()) texts = { ...texts, introduction: draft.introduction };
    return {
      title: draft.title.trim(),
      language: draft.language.trim() || "en",
      texts,
      opens: draft.opens || null,
      closes: draft.closes || null,
      least_batch: Number(draft.least_batch),
      invitations: draft.invitations,
      questions: draft.questions.map(({ name, text, design, form, optional }) => ({ name, text, design, form, optional })),
    };
  }

  async preview() {
    // Opened while the click still counts, for no window opens after a slow answer; it can reach nothing of this page.
    const opened = window.open("", "_blank");
    if (opened) opened.opener = null;
    await this.trying(async () => {
      try {
        const { id } = await call("studio/previews", { method: "POST", body: this.document() });
        (opened ?? window).location.assign(address(`studio/previews/${id}`));
      } catch (error) {
        opened?.close();
        throw error;
      }
    });
  }

  async publish() {
    await this.trying(async () => {
      const made = await call("api/surveys", { method: "POST", body: this.document() });
      at("link").textContent = made.respond_url;
      at("link").hidden = at("link-title").hidden = this.draft.invitations;
      at("invite").hidden = !this.draft.invitations;
      at("make-invitations").href = address(`studio/surveys/${made.id}/invitations`);
      at("token").textContent = made.owner_token;
      at("watch").href = address(`studio/surveys/${made.id}`);
      at("drafting").hidden = true;
      at("published").hidden = false;
      at("published-title").focus();
      forgetDraft();
      // This browser may open the survey at once; others need the token.
      await call("api/session", { method: "POST", body: { token: made.owner_token } });
    });
  }

  async trying(action) {
    at("problem").textContent = "";
    try {
      await action();
    } catch (error) {
      at("problem").textContent = error.message;
    }
  }
}

new DraftPage();
