/** What tokens of a window are attributed to. The order is the order of the report. */
export const CATEGORIES = [
  { key: "system", label: "System prompt and tools" },
  { key: "instructions", label: "Instruction files" },
  { key: "skill_listing", label: "Skill listing" },
  { key: "skill_bodies", label: "Skill bodies" },
  { key: "mcp_results", label: "MCP results" },
  { key: "file_reads", label: "File reads" },
  { key: "file_rereads", label: "Same text read again" },
  { key: "shell_output", label: "Shell output" },
  { key: "sub_agent_results", label: "Sub-agent results" },
  { key: "other_tools", label: "Other tool results" },
  { key: "pasted", label: "Pasted documents" },
  { key: "planning", label: "Planning before first edit" },
  { key: "injections", label: "Added by Haversack" },
  { key: "other_hooks", label: "Added by other hooks" },
  { key: "summaries", label: "Compaction summaries" },
  { key: "conversation", label: "Conversation and tool calls" },
] as const;

export type CategoryKey = (typeof CATEGORIES)[number]["key"];

export const CATEGORY_COUNT = CATEGORIES.length;

/** Places of the categories in an array of counts. */
export const AT = Object.fromEntries(CATEGORIES.map(({ key }, place) => [key, place])) as Record<CategoryKey, number>;

/** Tokens by category, plus reported tokens that nothing explains. */
export type Tokens = Record<CategoryKey | "unexplained", number>;

export const UNEXPLAINED_LABEL = "Not explained";

export function noTokens(): Tokens {
  return Object.fromEntries([...CATEGORIES.map(({ key }) => key), "unexplained"].map((key) => [key, 0])) as Tokens;
}

export function addTokens(to: Tokens, from: Tokens): void {
  for (const key of Object.keys(to) as (keyof Tokens)[]) to[key] += from[key];
}

export function sumOf(tokens: Tokens): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0);
}
