/**
 * The text that each client itself would show the model for these skills: what they cost without Haversack. The client's own bundled
 * skills are not included. The tests in test/clients compare these forms with real requests.
 */

export interface NativeSkill {
  name: string;
  description: string;
  /** The path of its file. */
  path: string;
}

/** An unknown client is treated like Claude Code. */
export function nativeListing(client: string, skills: readonly NativeSkill[]): string {
  return (FORMS[client] ?? listingText)(skills);
}

const FORMS: Readonly<Record<string, (skills: readonly NativeSkill[]) => string>> = {
  codex: codexListing,
  gemini: geminiListing,
  opencode: taggedListing,
};

/**
 * Codex 0.166.0: the root of the paths is listed once. Descriptions are cut to one length, so all lines together take 2% of a window of
 * 272,000 tokens, at four characters each; its own four skills take about 660 of that. Measured: 60 skills uncut, 120 cut to 118
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

/** Gemini CLI 0.61.0: besides the list, the names are in its tool: in the description and as values of the parameter. */
function geminiListing(skills: readonly NativeSkill[]): string {
  const names = skills.map(({ name }) => name);
  return [names.map((name) => `'${name}'`).join(", "), JSON.stringify(names), taggedListing(skills)].join("\n");
}

/** opencode 1.18.33, and part of Gemini's listing. Nothing is cut. */
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

/**
 * Which skill descriptions fit into the client's own listing. Every name is listed. Descriptions share 1% of the window, in listing
 * order; one that does not fit is silently left out, while later, shorter ones are still added.
 *
 * Measured with 2.1.325 on a scripted server: 8,000 characters in a window of 200,000 tokens and 30,000 in one of
 * 1,000,000. The client's own bundled skills take 6,053 to 6,066 of them first. A line is `- name: description`.
 */
export interface ListedSkill {
  name: string;
  description: string;
  /** Deliberately listed without its description. */
  isNameOnly?: boolean;
}

/** The listing that the model would receive in the larger window, without the client's own skills. */
function listingText(skills: readonly ListedSkill[]): string {
  const { dropped } = fitListing(skills, LISTINGS[1]);
  const left = new Set(dropped);
  return skills
    .map(({ name, description, isNameOnly }) =>
      isNameOnly || left.has(name) ? `- ${name}` : `- ${name}: ${description.slice(0, MAX_DESCRIPTION_CHARS)}`,
    )
    .join("\n");
}

interface ListingFit {
  windowTokens: number;
  budgetChars: number;
  /** Characters needed for all names and descriptions, including the client's own. */
  neededChars: number;
  total: number;
  kept: number;
  dropped: string[];
}

export const LISTINGS = [
  { windowTokens: 200_000, budgetChars: 8_000 },
  { windowTokens: 1_000_000, budgetChars: 30_000 },
] as const;

const BUNDLED_CHARS = 6_060;
const MAX_DESCRIPTION_CHARS = 1_536;

export function fitListing(
  skills: readonly ListedSkill[],
  { windowTokens, budgetChars }: { windowTokens: number; budgetChars: number },
): ListingFit {
  // "- ", the name and the end of the line.
  const nameChars = skills.reduce((sum, { name }) => sum + name.length + 3, BUNDLED_CHARS);
  let used = nameChars;
  let neededChars = nameChars;
  let kept = 0;
  const dropped: string[] = [];
  const described = skills.filter(({ isNameOnly }) => !isNameOnly);
  for (const { name, description } of described) {
    const chars = 2 + Math.min(description.length, MAX_DESCRIPTION_CHARS);
    neededChars += chars;
    if (used + chars <= budgetChars) {
      used += chars;
      kept++;
    } else dropped.push(name);
  }
  return { windowTokens, budgetChars, neededChars, total: described.length, kept, dropped };
}
