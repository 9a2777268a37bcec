/* The types as a reader of the documentation uses them; the compiler must accept this and refuse what is marked. */

import { MaskError, readDesign, readJson, type Design, type Json, type Report } from "maskwell";
import { maskSurvey } from "maskwell/surveyjs";
import { SurveyModel } from "survey-core";

export function everything(text: string): Report {
  const stored: Json = readJson(text);
  const design: Design = readDesign(stored);
  maskSurvey(new SurveyModel({}), { drugs: text, other: stored }, { suffix: "_sent" });
  if (design.kind === "product") {
    const parts: readonly string[] = design.parts.map((part) => part.fingerprint);
    // @ts-expect-error a product has an answer for each variable
    design.mask(0);
    return design.mask(parts.map(() => 0));
  }
  const spaces: boolean = design.kind === "projective";
  // @ts-expect-error a design is frozen
  design.kind = "blocks";
  // @ts-expect-error an answer is given by its position
  design.mask("yes");
  const report = design.mask(0);
  design.meaning(report);
  if (!spaces) throw new MaskError("not of hyperplanes");
  return report;
}
