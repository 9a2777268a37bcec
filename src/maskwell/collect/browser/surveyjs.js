/*
 * Masking in a SurveyJS form (survey-core): when the respondent completes the survey, the answers to the masked questions
 * are replaced by reports before anything is handed on.
 *
 *   import { maskSurvey } from "./surveyjs.js";
 *   maskSurvey(survey, { drugs: storedDesign });   // once, before the form is shown
 *   survey.onComplete.add((sender) => send(sender.data));   // holds drugs_report, and nothing of drugs
 *
 * It refuses, with a MaskError and before the form is shown, what it cannot vouch for: a question that does not ask for
 * the design's categories, and a survey in which something else depends on the answer.
 */

import { MaskError, readDesign } from "./mask.js";

const refuse = (reason) => {
  throw new MaskError(reason);
};

/**
 * Mask questions of a survey. `designs` maps the name of a question to its stored design (text, or what readJson gave);
 * a product stands under any name, and the names of its variables are those of its questions.
 */
export function maskSurvey(survey, designs, { suffix = "_report" } = {}) {
  const masked = Object.entries(designs).map(([name, stored]) => {
    const design = readDesign(stored);
    const names = design.parts ? [...design.names] : [name];
    const parts = design.parts ?? [design];
    const questions = names.map((question, i) => matchingQuestion(survey, question, parts[i].categories));
    // A trial, thrown away: whether this page may mask shows now and not when somebody has answered.
    design.mask(design.parts ? parts.map(() => 0) : 0);
    return { design, questions, reportName: name + suffix };
  });
  const questions = masked.flatMap((entry) => entry.questions);
  if (new Set(questions).size < questions.length) refuse("a question is masked twice.");
  for (const { reportName } of masked) {
    if (survey.getQuestionByName(reportName))
      refuse(`a question is called ${reportName}, which is the name of a report.`);
  }
  for (const question of questions) refuseDependents(survey, question);
  neverSendBefore(survey);

  // Between a draw and the end of the survey. If completing is called off in between, the first draw stands: a second
  // report of the same answer would tell more about it.
  let drawn = null;

  survey.onCompleting.add((_, options) => {
    try {
      drawn ??= masked.map((entry) => [entry.reportName, reportOf(entry)]);
    } catch (error) {
      options.allow = false;
      throw error;
    } finally {
      for (const question of questions) forget(survey, question);
    }
    for (const [name, report] of drawn) survey.setValue(name, report);
  });

  survey.onComplete.add(() => {
    for (const question of questions) {
      forget(survey, question);
      question.readOnly = false;
    }
    drawn = null;
  });
}

/** The report of an answer; null if there is none. */
function reportOf({ design, questions }) {
  const answers = questions.map((question) => (question.isVisible && !question.isEmpty() ? question.value : undefined));
  if (answers.includes(undefined)) return null;
  const parts = design.parts ?? [design];
  const positions = parts.map((part, i) => part.categories.indexOf(answers[i]));
  return design.mask(design.parts ? positions : positions[0]);
}

/** The answer leaves the survey with its comment, and no other one can be given. */
function forget(survey, question) {
  survey.clearValue(question.getValueName());
  question.readOnly = true;
}

function matchingQuestion(survey, name, categories) {
  const question = survey.getQuestionByName(name);
  if (!question) refuse(`the survey has no question called ${name}.`);
  const type = question.getType();
  if (!["radiogroup", "dropdown", "boolean"].includes(type)) {
    refuse(`question ${name} is of type ${type}; a masked one is a radiogroup, a dropdown or a boolean.`);
  }
  const asked = type === "boolean" ? [question.getValueTrue(), question.getValueFalse()] : listedChoices(question);
  const same = asked.length === categories.length && asked.every((value) => categories.includes(value));
  if (!same) refuse(`question ${name} does not ask for the design's categories, or for more.`);
  if (question.valueName && question.valueName !== name) refuse(`question ${name} is stored under another name.`);
  for (const prefilled of ["defaultValue", "defaultValueExpression", "setValueExpression", "correctAnswer"]) {
    const value = question[prefilled];
    if (value !== undefined && value !== null && value !== "") refuse(`question ${name} has a ${prefilled}.`);
  }
  if (!question.isEmpty()) refuse(`question ${name} is answered already; mask a survey before it is shown.`);
  return question;
}

function listedChoices(question) {
  const fetched = question.choicesFromQuestion || question.choicesByUrl?.url || question.choicesLazyLoadEnabled;
  const free = question.hasOther || question.hasNone || question.showRefuseItem || question.showDontKnowItem;
  if (fetched || free) refuse(`question ${question.name} has answers that are no category of the design.`);
  return question.choices.map((item) => item.value);
}

/** Nothing else in the survey may depend on the answer: what is shown, asked or filled in would give it away. */
function refuseDependents(survey, question) {
  const name = question.name;
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const variable = new RegExp(`\\{\\s*[#$!-]?${escaped}\\s*[}.\\[-]`, "i");
  const quoted = new RegExp(`['"]${escaped}['"]`, "i");
  const refersTo = (key, text) =>
    variable.test(text) ||
    (/(?:if|expression)$/i.test(key) && quoted.test(text)) ||
    (/(?:Name|FromQuestion)$/.test(key) && text === name);
  const look = (key, value) => {
    if (typeof value === "string" && refersTo(key, value)) {
      refuse(`something in the survey depends on question ${name}, which would give its answer away (${key}).`);
    }
    if (typeof value === "object" && value !== null) {
      for (const [inner, item] of Object.entries(value)) look(Array.isArray(value) ? key : inner, item);
    }
  };
  look("survey", survey.toJSON());
}

/** Partial saves and checks by a server would send answers before they are masked: they are off, and stay off. */
function neverSendBefore(survey) {
  const early = "a survey with masked questions sends nothing before it is completed";
  for (const name of ["partialSendEnabled", "sendResultOnPageNext"]) {
    survey[name] = false;
    Object.defineProperty(survey, name, {
      get: () => false,
      set: (on) => on && refuse(`${early}; leave ${name} off.`),
    });
  }
  for (const name of ["onPartialSend", "onServerValidateQuestions"]) {
    if (!survey[name].isEmpty) refuse(`${early}; remove the handler of ${name}.`);
    survey[name].add = () => refuse(`${early}; ${name} takes no handler.`);
  }
}
