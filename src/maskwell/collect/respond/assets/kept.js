/**
 * What this device keeps of a survey: the reports until they are acknowledged, then that it has answered, with the
 * receipt. Never an answer, a draw or a seed.
 *
 * A record is {state: "pending" | "answered", body}: the body is the very text that is sent. It is kept in IndexedDB,
 * whose transactions are the only storage that two tabs see alike at every moment (in localStorage one of them can read
 * what the other has just replaced, and draw a second report). Where the browser keeps nothing, this page's memory has
 * to do.
 */

const DATABASE = "maskwell";
const RECORDS = "records";

async function shortHash(text) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(digest.slice(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The keeper of a survey's record; each invitation has its own, so that two people can share a device. */
export async function keeperOf(survey, invitation) {
  const key = invitation ? `${survey}/${await shortHash(invitation)}` : survey;
  return new Keeper(key, await openDatabase());
}

function openDatabase() {
  return new Promise((resolve) => {
    try {
      const opening = indexedDB.open(DATABASE, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(RECORDS);
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => resolve(null);
      opening.onblocked = () => resolve(null);
    } catch {
      resolve(null);
    }
  });
}

class Keeper {
  constructor(key, database) {
    this.key = key;
    this.database = database;
    this.memory = null;
    this.channel = new BroadcastChannel(`${DATABASE}/${key}`);
  }

  /** Whether what is kept outlives this page. */
  get lasting() {
    return this.database !== null;
  }

  /** The record, or null. */
  read() {
    return this.change((record) => record);
  }

  /** Keep the record that `make` makes, unless there is one already; nobody else can come in between. */
  keepFirst(make) {
    return this.change((record) => record ?? make());
  }

  write(record) {
    return this.change(() => record);
  }

  remove() {
    return this.change(() => null);
  }

  /** Replace the record by what `next` makes of it, in one transaction; gives the record as it is now. */
  async change(next) {
    if (this.database === null) {
      this.advance(next);
    } else {
      try {
        if (await this.transact(next)) this.channel.postMessage("changed");
      } catch {
        // Nothing can be kept, or no more of it: this page's memory has to do from now on, with what was made already.
        this.database = null;
      }
    }
    return this.memory === null ? null : JSON.parse(this.memory);
  }

  advance(next) {
    const record = next(this.memory === null ? null : JSON.parse(this.memory));
    this.memory = record === null ? null : JSON.stringify(record);
  }

  /** The database's record is brought into memory, changed there, and put back; gives whether it was changed. */
  transact(next) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(RECORDS, "readwrite", { durability: "strict" });
      const records = transaction.objectStore(RECORDS);
      const reading = records.get(this.key);
      let changed = false;
      reading.onsuccess = () => {
        const found = reading.result ?? null;
        this.memory = found;
        this.advance(next);
        changed = this.memory !== found;
        if (changed && this.memory === null) records.delete(this.key);
        else if (changed) records.put(this.memory, this.key);
      };
      transaction.oncomplete = () => resolve(changed);
      transaction.onerror = transaction.onabort = () => reject(new Error("not kept"));
    });
  }

  /** Run something while no other tab runs the same for this survey. */
  alone(action) {
    return navigator.locks ? navigator.locks.request(`${DATABASE}/${this.key}`, action) : action();
  }

  /** Call back when another tab changed the record. */
  onChange(action) {
    this.channel.onmessage = action;
  }
}
