import type { Json } from "./mask.js";

/** What is needed of a survey-core SurveyModel. */
export interface Survey {
  getQuestionByName(name: string): any;
  toJSON(): any;
  setValue(name: string, value: any): void;
  clearValue(name: string): void;
  onCompleting: { add(handler: (sender: any, options: any) => any): void };
  onComplete: { add(handler: (sender: any, options: any) => any): void };
}

/**
 * Mask questions of a SurveyJS survey: when it is completed, its data hold `<name>_report` instead of the answer.
 * `designs` maps the name of a question to its stored design; a product stands under any name, and the names of its
 * variables are those of its questions. Throws a MaskError if a question does not match its design, if something else in
 * the survey depends on its answer, or if the survey sends anything before it is completed.
 */
export function maskSurvey(survey: Survey, designs: Record<string, string | Json>, options?: { suffix?: string }): void;
