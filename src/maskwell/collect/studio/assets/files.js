/** A file of true data: it stays in this page, and is sent along with each question about it. */

import { make, ownText } from "../../respond/assets/dom.js";
import { count, digits } from "./numbers.js";
import { address, say } from "./service.js";

const at = (id) => document.getElementById(id);
const ROLES = [
  ["stays", "stays as it is"],
  ["key", "key"],
  ["within", "key that no record leaves"],
  ["along", "moves along with the keys"],
  ["drop", "is left out"],
  ["accept", "stays although it shows who moved"],
];
const FILES = {
  released: "The released file, to give away",
  "external.html": "The report for its users, to give away",
  "internal.html": "The report for you alone",
  "plan.json": "The plan, secret as the original file",
  "risk.html": "The report on its risk, for you alone",
};

/** What the service answers to a question about the file. */
async function asked(what, file, options) {
  const said = new TextEncoder().encode(JSON.stringify({ name: file.name, ...options }));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, said.length);
  let answer;
  try {
    answer = await fetch(address(`studio/files/${what}`), {
      method: "POST",
      cache: "no-store",
      credentials: "same-origin",
      headers: { "Content-Type": "application/octet-stream" },
      body: new Blob([length, said, file]),
    });
  } catch {
    throw new Error("The service does not answer, or the file is too large; try again.");
  }
  const content = await answer.json().catch(() => ({}));
  if (answer.ok) return content;
  if (answer.status === 401) throw new Error("The session has ended: sign in again.");
  throw new Error(content.detail ?? `The service refused this (${answer.status}).`);
}

const shown = (value) => (typeof value !== "number" ? value : Number.isInteger(value) ? count(value) : digits(value, 4));

function table(header, lines) {
  const made = make("table");
  const row = (cells, heading) => {
    const line = make("tr");
    cells.forEach((text, i) => {
      const named = (heading && text) || (!heading && i === 0);
      const scope = named ? (heading ? "col" : "row") : undefined;
      line.append(make(named ? "th" : "td", { scope, class: i > 0 ? "number" : undefined }, shown(text)));
    });
    return line;
  };
  if (header) {
    const head = make("thead");
    head.append(row(header, true));
    made.append(head);
  }
  const body = make("tbody");
  body.append(...lines.map((cells) => row(cells, false)));
  made.append(body);
  return make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Figures" }, made);
}

class FilePage {
  constructor() {
    this.file = null;
    this.chosen = [];
    this.addresses = [];
    at("file").addEventListener("change", () => this.open(at("file").files[0]));
    at("work").addEventListener("submit", (event) => event.preventDefault());
    at("assess").addEventListener("click", () => this.assess());
    at("release-now").addEventListener("click", () => this.release());
  }

  /** One question at a time; what goes wrong is said in one line. */
  async work(what, options, words) {
    at("problem").textContent = "";
    say(words);
    at("work").inert = true;
    try {
      return await asked(what, this.file, options);
    } catch (error) {
      at("problem").textContent = error.message;
      at("problem").scrollIntoView({ block: "center" });
      return null;
    } finally {
      at("work").inert = false;
      say("");
    }
  }

  async open(file) {
    at("work").hidden = true;
    at("outcome").hidden = true;
    at("about").textContent = "";
    this.forget(at("risk"), at("released"));
    if (!file) return;
    this.file = file;
    const found = await this.work("columns", {}, "Reading the file");
    if (!found || this.file !== file) return;
    at("about").textContent = `${count(found.records)} records, ${count(found.columns.length)} columns.`;
    this.chosen = [];
    at("columns").replaceChildren(...found.columns.map(([name, values], i) => this.column(name, values, i)));
    at("work").hidden = false;
  }

  column(name, values, i) {
    const line = make("tr");
    const heading = ownText("th", name, { scope: "row", id: `column-${i}` });
    const choices = ROLES.map(([value, words]) => make("option", { value }, words));
    const role = make("select", { "aria-labelledby": heading.id }, ...choices);
    const about = { size: 8, autocomplete: "off", disabled: true, "aria-label": `Cut points of ${name}` };
    const cuts = make("input", about);
    role.addEventListener("change", () => {
      cuts.disabled = role.value !== "within";
      cuts.placeholder = cuts.disabled ? "" : "18, 65";
    });
    line.append(heading, make("td", { class: "number" }, count(values)), make("td", {}, role), make("td", {}, cuts));
    this.chosen.push({ column: name, role, cuts });
    return line;
  }

  options() {
    const lines = this.chosen;
    const having = (...roles) => lines.filter((line) => roles.includes(line.role.value)).map((line) => line.column);
    const kept = lines.filter((line) => line.role.value === "within");
    return {
      keys: having("key", "within"),
      within: Object.fromEntries(kept.map((line) => [line.column, line.cuts.value.trim()])),
      along: having("along"),
      drop: having("drop"),
      accept: having("accept"),
    };
  }

  async assess() {
    const people = at("population").value.replace(/[\s,.]/g, "");
    const population = people ? Number(people) : null;
    this.forget(at("risk"));
    const found = await this.work("risk", { keys: this.options().keys, population }, "Measuring the risk");
    if (found) at("risk").replaceChildren(table(null, found.figures), this.downloads(found.files));
  }

  async release() {
    this.forget(at("released"));
    at("outcome").hidden = true;
    const options = { ...this.options(), xi: at("xi").value.trim() };
    const found = await this.work("release", options, "Releasing the file");
    if (!found) return;
    const figures = table(["", "before", "after"], found.figures);
    const words = (text, kind) => make("p", { class: kind }, text);
    const parts = found.stops.length
      ? [words(`Stopped: ${found.why}`, "notice"), words("Choose another part for it above. If nothing stopped it, this would be so:"), figures]
      : [words(`${found.verdict[0].toUpperCase()}${found.verdict.slice(1)}.`), figures, this.downloads(found.files), ...found.warnings.map((text) => words(text, "notice"))];
    at("released").replaceChildren(...parts);
    at("outcome").hidden = false;
    at("outcome").scrollIntoView({ block: "start" });
  }

  downloads(files) {
    const list = make("ul");
    for (const [name, content] of Object.entries(files)) {
      const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
      const href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
      this.addresses.push(href);
      const words = FILES[name] ?? FILES[name.split(".")[0]];
      list.append(make("li", {}, make("a", { href, download: name }, `${words} (${name})`)));
    }
    return list;
  }

  forget(...places) {
    for (const place of places) place.replaceChildren();
    this.addresses.splice(0).forEach((href) => URL.revokeObjectURL(href));
  }
}

new FilePage();
