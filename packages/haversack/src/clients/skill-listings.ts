/**
 * What each client itself would put before the model of these skills, in its own form: what they cost without Haversack. The client's
 * own bundled skills are not in it. Forms as met by the tests in test/clients, which hold these texts against real requests.
 */
import { listingText } from "./claude-code/skill-listing.ts";

export interface NativeSkill {
  name: string;
  description: string;
  /** Of its file. */
  path: string;
}

/** A client that is not known lists as Claude Code does. */
export function nativeListing(client: string, skills: readonly NativeSkill[]): string {
  return (FORMS[client] ?? listingText)(skills);
}

const FORMS: Readonly<Record<string, (skills: readonly NativeSkill[]) => string>> = {
  codex: codexListing,
  gemini: geminiListing,
  opencode: taggedListing,
};

/**
 * Codex 0.166.0: the root of a path is told once. Descriptions are cut to one length, so that all lines have 2% of a window of 272,000
 * tokens, at four characters each; of that its own four skills take about 660. Measured: 60 skills whole, 120 cut to 118
 * characters, 300 to 14.
 */
const CODEX_CHARS = 21_100;

function codexListing(skills: readonly NativeSkill[]): string {
  const text = (longest: number) =>
    skills
      .map(({ name, description }) => `- ${name}: ${description.slice(0, longest)} (file: r0/${name}/SKILL.md)`)
      .join("\n");
  let [fits, tooLong] = [0, 1 + Math.max(0, ...skills.map(({ description }) => description.length))];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (text(middle).length <= CODEX_CHARS) fits = middle;
    else tooLong = middle;
  }
  return text(fits);
}

/** Gemini CLI 0.61.0: beside the list the names are in its tool, in the description and as the values of its parameter. */
function geminiListing(skills: readonly NativeSkill[]): string {
  const names = skills.map(({ name }) => name);
  return [names.map((name) => `'${name}'`).join(", "), JSON.stringify(names), taggedListing(skills)].join("\n");
}

/** opencode 1.18.33, and a part of Gemini's. Nothing is cut. */
function taggedListing(skills: readonly NativeSkill[]): string {
  return skills
    .map(({ name, description, path }) =>
      [
        "  <skill>",
        `    <name>${name}</name>`,
        `    <description>${description}</description>`,
        `    <location>${path}</location>`,
        "  </skill>",
      ].join("\n"),
    )
    .join("\n");
}
