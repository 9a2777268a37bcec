/** Whoever signs out leaves no draft behind. */

import { forgetDraft } from "./draft_store.js";

forgetDraft();
