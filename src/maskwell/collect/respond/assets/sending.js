/** Sending the kept reports: always the same bytes, until the service says that it has them. */

import { finish } from "./invitation.js";

const FIRST_DELAY = 2000;
const LONGEST_DELAY = 60000;
// A request that outlives its page may carry 64 KiB.
const KEPT_ALIVE = 60000;

/** What became of one attempt: {state: "answered" | "waiting" | "refused" | "closed", …}. */
async function attempt(address, body, spent) {
  const headers = { "Content-Type": "application/json" };
  if (spent) headers.Authorization = `Invitation ${spent}`;
  let response;
  try {
    response = await fetch(address, {
      method: "POST",
      headers,
      body,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      keepalive: body.length < KEPT_ALIVE,
    });
  } catch {
    return { state: "waiting" };
  }
  if (response.status === 200 || response.status === 201) return { state: "answered", response };
  if (response.status === 410) return { state: "closed" };
  if (response.status === 429 || response.status >= 500) return { state: "waiting", after: retryAfter(response) };
  return { state: "refused", status: response.status };
}

function retryAfter(response) {
  const seconds = Number(response.headers.get("Retry-After"));
  return Number.isFinite(seconds) && seconds > 0 ? 1000 * seconds : 0;
}

/** Sends what a keeper keeps; `onOutcome` hears of every attempt. */
export class Sender {
  /** `invited` is null, or {key, code, address} of the invitation: the pass of a record is redeemed with it first. */
  constructor(keeper, address, invited, onOutcome) {
    this.keeper = keeper;
    this.address = address;
    this.invited = invited;
    this.onOutcome = onOutcome;
    this.delay = FIRST_DELAY;
    this.timer = null;
    this.busy = false;
    addEventListener("online", () => this.send());
  }

  /** Send the kept reports now, unless there are none or they are on their way. */
  async send() {
    if (this.busy) return;
    this.busy = true;
    clearTimeout(this.timer);
    const outcome = await this.keeper.alone(() => this.sendAlone());
    this.busy = false;
    if (outcome === null) return;
    if (outcome.state === "waiting") this.later(outcome.after ?? 0);
    this.onOutcome(outcome);
  }

  async sendAlone() {
    // Another tab may have sent them while this one waited for its turn.
    let record = await this.keeper.read();
    if (record?.state !== "pending") return record;
    if (record.ticket && !record.spent) {
      const outcome = await this.redeem(record.ticket);
      if (!outcome.spent) return outcome;
      record = await this.keeper.write({ ...record, spent: outcome.spent });
    }
    const outcome = await attempt(this.address, record.body, record.spent);
    if (outcome.state === "answered") return this.keeper.write({ state: "answered", body: record.body });
    if (outcome.state === "closed") await this.keeper.remove();
    return outcome;
  }

  /** Have the pass of a record signed: {spent} is what comes with the reports, otherwise what became of it. */
  async redeem(ticket) {
    const { key, code, address } = this.invited;
    const outcome = await attempt(address, JSON.stringify({ invitation: code, blinded: ticket.blinded }), null);
    if (outcome.state !== "answered") return outcome;
    const { signed } = await outcome.response.json();
    const spent = await finish(key, ticket, signed);
    return spent === null ? { state: "refused", status: 403 } : { spent };
  }

  later(least) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), Math.max(this.delay, least));
    this.delay = Math.min(2 * this.delay, LONGEST_DELAY);
  }
}
