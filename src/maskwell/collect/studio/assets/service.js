/** Calls to the service from a page of the studio, and its one line for the reader where a call fails. */

const ROOT = document.body.dataset.root;

/** The address of something, from where this page stands. */
export function address(path) {
  return `${ROOT}${path}`;
}

/** What the service answers to a call; an Error with one line if it refuses. */
export async function call(path, { method = "GET", body, signal } = {}) {
  let answer;
  try {
    answer = await fetch(address(path), {
      method,
      signal,
      cache: "no-store",
      credentials: "same-origin",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The service does not answer; try again.");
  }
  const content = await answer.json().catch(() => ({}));
  if (answer.ok) return content;
  if (answer.status === 401) throw new Error("The session has ended: sign in again.");
  throw new Error(content.detail ?? `The service refused this (${answer.status}).`);
}

/** For screen readers: said once, when it changes. */
export function say(text) {
  document.getElementById("status").textContent = text;
}
