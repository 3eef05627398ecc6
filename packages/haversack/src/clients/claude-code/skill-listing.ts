/**
 * What of the skills' descriptions fits into the client's own listing. Every name is listed; descriptions share 1% of the
 * window, in the order of the listing, and one that does not fit is left out silently while later, shorter ones still come in.
 *
 * Measured with 2.1.325 on a scripted server: 8,000 characters in a window of 200,000 tokens and 30,000 in one of
 * 1,000,000; the client's own bundled skills take 6,053 to 6,066 of them first; a line is `- name: description`.
 */
export interface ListedSkill {
  name: string;
  description: string;
  /** Listed without its description on purpose. */
  isNameOnly?: boolean;
}

/** The listing as the model would receive it, in the larger window: what it costs. The client's own skills are not in it. */
export function listingText(skills: readonly ListedSkill[]): string {
  const { dropped } = fitListing(skills, LISTINGS[1]);
  const left = new Set(dropped);
  return skills
    .map(({ name, description, isNameOnly }) =>
      isNameOnly || left.has(name) ? `- ${name}` : `- ${name}: ${description.slice(0, MAX_DESCRIPTION_CHARS)}`,
    )
    .join("\n");
}

export interface ListingFit {
  windowTokens: number;
  budgetChars: number;
  /** Characters that names and descriptions would need, the client's own included. */
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
