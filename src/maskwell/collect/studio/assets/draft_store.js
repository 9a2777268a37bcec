/** The survey that is being put together, kept in this browser until it is published or its author signs out. */

const KEY = "maskwell-studio-draft";

/** A survey without questions. */
export function emptyDraft() {
  return { title: "", language: "en", introduction: "", opens: "", closes: "", least_batch: 10, texts: "", invitations: false, questions: [] };
}

/** The draft as it was left. */
export function readDraft() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return kept && Array.isArray(kept.questions) ? { ...emptyDraft(), ...kept } : emptyDraft();
  } catch {
    return emptyDraft();
  }
}

/** Keep the draft; gives whether the browser allowed it. */
export function keepDraft(draft) {
  try {
    localStorage.setItem(KEY, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

/** Keep nothing. */
export function forgetDraft() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing can have been kept.
  }
}
