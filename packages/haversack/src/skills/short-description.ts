/** Checks the line shown for a deferred skill: 20 to 50 characters are good, more than 100 is an error, and a generic line says nothing. */
import { type Problem, reporter } from "./types.ts";

export function lintShortDescription(text: string, { file, where }: { file: string; where: string }): Problem[] {
  const problems: Problem[] = [];
  const report = reporter(file, problems, { whereOf: () => where });
  const length = [...text].length;
  if (length > 100) {
    const text = `the short description has ${length} characters: at most 100, better 20 to 50`;
    report.error("short-description-too-long", text);
  } else if (length > 50)
    report.suggestion("short-description-long", `the short description has ${length} characters: 20 to 50 are good`);
  else if (length < 20)
    report.suggestion("short-description-short", `the short description has ${length} characters: 20 to 50 are good`);
  if (isGeneric(text)) {
    report.warning("short-description-generic", `“${text}” fits any skill: say what this one does, and on what`);
  }
  return problems;
}

/** Words that say nothing about a skill's purpose. A line of only such words is generic. */
const EMPTY_WORDS = new Set(
  (
    "a an the this that and or of for to with in on your you it is are be can will when use used using useful skill skills guidance guide guides " +
    "guideline guidelines help helps helper helping helpful assist assists assistance assistant available various general generic stuff things " +
    "task tasks work tool tools utility utilities description brief short support supports provides provide best practice practices misc todo tbd " +
    "information info related common operations operation"
  ).split(" "),
);

function isGeneric(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.every((word) => EMPTY_WORDS.has(word));
}
