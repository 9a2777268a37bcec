/**
 * What this device keeps of a survey: the reports until they are acknowledged, then that it has answered, with the
 * receipt. Never an answer, a draw or a seed.
 *
 * A record is {state: "pending" | "answered", body}: the body is the very text that is sent. All tabs of a browser
 * share it, one at a time; where the browser keeps nothing, this page's memory has to do.
 */

const STATES = ["pending", "answered"];

async function shortHash(text) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(digest.slice(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The keeper of a survey's record; each invitation has its own, so that two people can share a device. */
export async function keeperOf(survey, invitation) {
  const key = `maskwell/${survey}${invitation ? `/${await shortHash(invitation)}` : ""}`;
  return new Keeper(key, workingStorage());
}

function workingStorage() {
  const probe = "maskwell/probe";
  try {
    localStorage.setItem(probe, "1");
    localStorage.removeItem(probe);
    return localStorage;
  } catch {
    return null;
  }
}

class Keeper {
  constructor(key, storage) {
    this.key = key;
    this.storage = storage;
    this.memory = null;
  }

  /** Whether what is kept outlives this page. */
  get lasting() {
    return this.storage !== null;
  }

  /** The record, or null. */
  read() {
    const text = this.storage === null ? this.memory : this.storage.getItem(this.key);
    if (text === null) return null;
    try {
      const record = JSON.parse(text);
      return STATES.includes(record.state) ? record : null;
    } catch {
      return null;
    }
  }

  write(record) {
    this.memory = JSON.stringify(record);
    if (this.storage === null) return;
    try {
      this.storage.setItem(this.key, this.memory);
    } catch {
      // Full: this page's memory has to do from now on.
      this.storage = null;
    }
  }

  remove() {
    this.memory = null;
    this.storage?.removeItem(this.key);
  }

  /** Run something while no other tab runs the same for this survey. */
  alone(what, action) {
    return navigator.locks ? navigator.locks.request(`${this.key} ${what}`, action) : action();
  }

  /** Call back when another tab changed the record. */
  onChange(action) {
    addEventListener("storage", (event) => {
      if (event.key === this.key || event.key === null) action();
    });
  }
}
