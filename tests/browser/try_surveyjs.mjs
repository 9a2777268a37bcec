/* node try_surveyjs.mjs SURVEYJS_PLUG_IN: surveys of survey-core with masked questions, and what becomes of them. */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { SurveyModel } from "survey-core";
import { withWords } from "./sampling_words.js";

globalThis.isSecureContext = true;
const { maskSurvey } = await import(pathToFileURL(process.argv[2]));
const { surveys, designs } = JSON.parse(await text(process.stdin));

/** Answer a survey, page by page, and note everything that a handler could have sent; words are fixed. */
function answered({ json, masked, answers }) {
  const survey = new SurveyModel(json);
  const sent = [];
  survey.onPartialSend.add = () => sent.push("a partial save");
  maskSurvey(survey, Object.fromEntries(masked.map((name) => [name, designs[name]])));
  survey.onComplete.add((sender) => sent.push(JSON.stringify([sender.data, sender.getPlainData()])));
  const words = Array.from({ length: 64 }, (_, i) => (i * 0x9e3779b1) >>> 0);
  const { used } = withWords(words, () => {
    for (const [name, value] of Object.entries(answers)) survey.setValue(name, value);
    while (!survey.isLastPage) survey.nextPage();
    survey.completeLastPage();
  });
  const questions = survey.getAllQuestions().map((question) => question.value ?? null);
  return { state: survey.state, sent, questions, used };
}

function refusal({ json, masked, before, after }) {
  const survey = new SurveyModel(json);
  try {
    for (const event of before ?? []) survey[event].add(() => {});
    maskSurvey(survey, Object.fromEntries(masked.map((name) => [name, designs[name]])));
    for (const event of after?.events ?? []) survey[event].add(() => {});
    for (const name of after?.switches ?? []) survey[name] = true;
    return null;
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

/** Completing is called off by somebody else, and tried again with another answer: the first draw stands. */
function calledOff({ json, masked, answers }) {
  const survey = new SurveyModel(json);
  maskSurvey(survey, Object.fromEntries(masked.map((name) => [name, designs[name]])));
  let off = true;
  survey.onCompleting.add((_, options) => (options.allow = !off));
  const draws = [];
  for (let i = 0; i < 20; i++) {
    for (const [name, value] of Object.entries(answers)) survey.setValue(name, value);
    off = i < 19;
    survey.completeLastPage();
    draws.push(JSON.stringify(survey.data));
  }
  return { draws, state: survey.state };
}

/** Where the page is not secure, the form must not even be shown. */
function insecure({ json, masked }) {
  globalThis.isSecureContext = false;
  try {
    return refusal({ json, masked });
  } finally {
    globalThis.isSecureContext = true;
  }
}

const todo = { answered, refusal, calledOff, insecure };
console.log(JSON.stringify(surveys.map((survey) => todo[survey.try](survey))));
