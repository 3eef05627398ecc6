/** The line shown for a skill that is not loaded, and its check: 20 to 50 characters are good, more than 100 is an error. */
import { briefOf } from "./showing/disclosure.ts";
import { wantedText } from "./skill-text.ts";
import { type Problem, reporter } from "./types.ts";

/** Made once, when the skill is indexed. */
export function briefOfSkill({ shortDescription, description }: SkillLines): string {
  // Not what the skill is not for: "Do not use this for gas boilers. Use it for radiators."
  return shortDescription ?? briefOf(withoutLeadIn(wantedText(description).trim() || description));
}

interface SkillLines {
  shortDescription?: string | undefined;
  description: string;
}

/**
 * "Use this skill when the user wants to build forms" → "build forms". A name is shown with five or six words of this, and with the lead-in
 * they would all say the same.
 */
export function withoutLeadIn(description: string): string {
  const line = description.trim();
  let rest = line;
  for (let before = ""; before !== rest; ) {
    before = rest;
    for (const pattern of LEAD_INS) rest = rest.replace(pattern, "");
  }
  return rest.split(/\s+/, LEAST_WORDS).length < LEAST_WORDS ? line : rest;
}

/** What would say less than this is not a lead-in. */
const LEAST_WORDS = 2;

const LEAD_INS: readonly RegExp[] = [
  /^(?:this|the) skill (?:(?:should|must|can|is) (?:to )?(?:be )?(?:used|invoked|triggered|loaded|activated)?\s*|helps?\s+|provides?\s+)/i,
  /^(?:(?:always|only|must) )*(?:use|invoke|trigger|activate|load|apply|consult)(?: (?:this|the|it)(?: skill| guide)?)?(?: (?:proactively|always|only))*(?=:| when| whenever| if| for| to| before| after| while| as)[:,]?\s*/i,
  /^(?:when(?:ever)?|if) (?:you(?:'re| are)?|(?:the |an? )?(?:users?|developers?|someone|anyone|codex|claude|agents?)) (?:explicitly )?(?:wants?|asks?|needs?|requests?|has|have|is|are)?(?: you)?(?: (?:help|guidance|advice|questions?))?(?: (?:to|for|about|with|on))?\b\s*/i,
  /^(?:when(?:ever)?|if|while) (?=\w+ing\b)/i,
  /^(?:for|to)\s+/i,
  /^[\s.,;:–—-]+/,
  /^(?:provides?|offers?|gives?)\s+(?=(?:an? )?(?:\S+ ){0,2}(?:guid|reference|instruction))/i,
  /^(?:an? )?(?:(?:comprehensive|complete|practical|expert|detailed|operational|reference|step-by-step|best) )*(?:guide|guides|guidance|guidelines|knowledge|instructions|toolkit|practices)(?: users?)?(?: (?:for|to|on|about|through))+\s+/i,
];

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
