/**
 * The respondent's page: one state at a time, chosen from what this device keeps and what the survey says.
 *
 *   nothing kept   the questions                          pending    the reports are sent, the same ones until they arrive
 *   answered       the receipt                            otherwise  a notice that says why nothing is asked
 *
 * Answers live in the form's controls only. When the button is pressed, they become reports in one step, the reports
 * are kept, the controls are emptied and taken away, and only then is anything sent.
 */

import { readDesign, readJson } from "../../browser/mask.js";
import { make, ownText } from "./dom.js";
import { beliefCounts } from "./explanation.js";
import { newPass } from "./invitation.js";
import { keeperOf } from "./kept.js";
import { questionsOf } from "./question.js";
import { receipt } from "./receipt.js";
import { partsOf, reveal, together } from "./reveal.js";
import { Sender } from "./sending.js";
import { Words } from "./words.js";

const INVITATION = /^#(?:invitation=)?([A-Za-z0-9_.-]{8,4096})$/;

class Page {
  constructor() {
    this.main = document.querySelector("main");
    this.status = document.getElementById("status");
    const { survey, submissions, ...texts } = JSON.parse(document.getElementById("texts").textContent);
    this.addresses = { survey, submissions };
    this.words = new Words(texts);
    // In the fragment, which never leaves the browser with a request for a page.
    this.invitation = INVITATION.exec(location.hash)?.[1] ?? null;
    this.questions = [];
    this.shown = null;
  }

  async start() {
    if (!isSecureContext) return this.notice("insecure");
    try {
      const answer = await fetch(this.addresses.survey, { cache: "no-store", credentials: "omit" });
      if (answer.status === 404) return this.notice("not_found");
      if (!answer.ok) throw new Error("no survey");
      this.survey = readJson(await answer.text());
    } catch {
      return this.notice("cannot_load", () => location.reload());
    }
    this.keeper = await keeperOf(this.survey.id, this.invitation);
    const invited = this.survey.invitations
      ? {
          key: this.survey.invitation_key,
          code: this.invitation,
          address: `${this.addresses.survey}/invitations/redemptions`,
        }
      : null;
    this.sender = new Sender(this.keeper, this.addresses.submissions, invited, (outcome) => this.sent(outcome));
    this.keeper.onChange(() => this.route());
    addEventListener("pagehide", () => this.forget());
    addEventListener("pageshow", (event) => event.persisted && this.route());
    this.route();
  }

  /** Show what there is to show: called at the start, and whenever what is kept may have changed. */
  async route() {
    const record = await this.keeper.read();
    if (record?.state === "answered") return this.answered(record, "received_before");
    if (record?.state === "pending") {
      this.forget();
      this.showSending();
      return this.sender.send();
    }
    if (this.survey.state === "closed") return this.notice("closed");
    if (this.survey.state !== "open") return this.notice("not_open");
    if (this.survey.invitations && this.invitation === null) return this.notice("invitation_needed");
    return this.ask();
  }

  // The questions.

  ask() {
    try {
      this.questions = questionsOf(this.survey, readDesign, this.words);
    } catch {
      return this.notice("broken");
    }
    const { words } = this;
    const button = words.into(make("button", { type: "submit", class: "primary" }), "send");
    this.button = button;
    // A form that never goes anywhere by itself (method "dialog"), and that browsers do not fill in again.
    const form = make(
      "form",
      { method: "dialog", autocomplete: "off", novalidate: true },
      ...this.questions.map((question) => question.element),
      this.togetherCard(),
      make(
        "section",
        { class: "card send" },
        words.into(make("h2"), "send_title"),
        words.into(make("p"), "send_once"),
        this.keeper.lasting ? null : words.into(make("p", { class: "warning" }), "no_memory"),
        button,
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.form = form;
    this.show(this.introduction(), form);
  }

  introduction() {
    const { words } = this;
    const steps = ["how_device", "how_chance", "how_sent"].map((key) => words.into(make("li"), key));
    return make(
      "section",
      { class: "introduction" },
      words.has("introduction") ? words.into(make("p", { class: "lead" }), "introduction") : null,
      words.into(make("h2"), "how_title"),
      make("ol", { class: "steps" }, ...steps),
      words.into(make("p", { class: "note" }), "purpose"),
    );
  }

  /** What several reports reveal together, which is more than each of them. */
  togetherCard() {
    const { words } = this;
    const parities = this.survey.questions.flatMap(({ design }) =>
      partsOf(design).map((part) => reveal(part.stored).parity),
    );
    if (parities.length < 2) return null;
    const parity = together(parities);
    const told = parity === null ? ["unlimited_together"] : ["belief_together", beliefCounts(parity, words)];
    return make(
      "section",
      { class: "card together" },
      words.into(make("h2"), "together_title"),
      words.into(make("p"), ...told),
    );
  }

  /** Draw once, keep, forget, send. */
  async submit() {
    const missing = this.questions.map((question) => question.firstMissing()).find(Boolean);
    if (missing) {
      this.say(this.words.text("missing_title"));
      missing.focus();
      return;
    }
    this.button.disabled = true;
    // Another tab may have been faster; then its reports count, and nothing is drawn here.
    const ticket = this.survey.invitations ? { ticket: await newPass(this.survey.invitation_key) } : {};
    await this.keeper.keepFirst(() => ({ state: "pending", body: this.drawBody(), ...ticket }));
    this.forget();
    this.route();
  }

  drawBody() {
    const reports = Object.fromEntries(this.questions.map((question) => [question.name, question.draw()]));
    this.forget();
    return JSON.stringify({ submission: crypto.randomUUID(), reports });
  }

  /** Empty the controls, so that no answer outlives the page in memory, in history or in a restored session. */
  forget() {
    for (const question of this.questions) question.clear();
    this.form?.reset();
  }

  // Sending.

  showSending() {
    this.questions = [];
    this.form = null;
    this.state("sending", "sending_more");
  }

  sent(outcome) {
    const { words } = this;
    if (outcome.state === "answered") return this.answered(outcome, "received");
    if (outcome.state === "closed") {
      this.survey.state = "closed";
      return this.state("too_late", "too_late_more");
    }
    // One more attempt in vain changes nothing, and must not take the focus away.
    if (outcome.state === this.shown) return undefined;
    const again = words.into(make("button", { type: "button", class: "primary" }), "send_now");
    again.addEventListener("click", () => this.route());
    if (outcome.state === "waiting") {
      return this.state(
        "waiting",
        "waiting_more",
        {},
        this.keeper.lasting ? null : words.into(make("p", { class: "warning" }), "no_memory"),
        again,
      );
    }
    const byInvitation = this.invitation !== null && [401, 403, 409].includes(outcome.status);
    const status = words.number(outcome.status);
    return this.state("refused", byInvitation ? "refused_invitation" : "refused_more", { status }, again);
  }

  // The receipt.

  answered(record, title) {
    this.forget();
    this.questions = [];
    this.form = null;
    const { words } = this;
    if (!record.body) return this.state(title, "received_removed");
    const remove = words.into(make("button", { type: "button", class: "secondary" }), "receipt_remove");
    remove.addEventListener("click", async () => {
      await this.keeper.write({ state: "answered" });
      this.route();
    });
    const invited = this.invitation !== null;
    const paper = receipt(this.survey, record.body, words, { readDesign, invited });
    return this.state(title, "received_more", {}, paper, remove);
  }

  // Showing.

  /** A reason why nothing is asked. */
  notice(key, retry) {
    const text = this.words.into(make("p", { class: "notice", tabindex: "-1" }), key);
    const again = retry ? this.words.into(make("button", { type: "button", class: "primary" }), "try_again") : null;
    again?.addEventListener("click", retry);
    this.show(make("section", { class: "card" }, text, again));
  }

  /** A state with its heading, which takes the focus, so that nobody is left at a control that is gone. */
  state(title, text, values = {}, ...more) {
    const heading = this.words.into(make("h2", { tabindex: "-1" }), title);
    this.show(
      make("section", { class: "card state" }, heading, this.words.into(make("p"), text, values)),
      ...more.filter(Boolean),
    );
    this.shown = title;
    this.say(heading.textContent);
    heading.focus();
  }

  show(...elements) {
    const title = this.survey ? ownText("h1", this.survey.title) : this.main.querySelector("h1");
    this.main.replaceChildren(title, ...elements);
  }

  /** For screen readers: said once, when it changes. */
  say(text) {
    this.status.textContent = text;
  }
}

new Page().start();
