/** The answers of the `skill` tool and `haversack skill show`: markdown, resources by name, the nearest names. */

export interface SkillResources {
  reference: readonly string[];
  assets: readonly string[];
  scripts: readonly string[];
  /** How many names beyond the limit are not listed. */
  omitted?: number;
}

export interface SkillOutput {
  id: string;
  description: string;
  body: string;
  folder?: string | undefined;
  resources?: SkillResources | undefined;
  /** How to read a resource. Default: with the Read tool. */
  readHint?: string | undefined;
  /** Shown above the text: it changed since the window got it, or a required skill was not found. */
  notes?: readonly string[];
}

export function formatSkill({ id, description, body, folder, resources, readHint, notes = [] }: SkillOutput): string {
  const blocks = [
    `# ${id}`,
    ...notes.map((note) => `> ${note}`),
    ...(description ? [`*${description}*`] : []),
    withoutOwnTitle(body.trim(), id),
  ];
  const listed = resources && folder ? formatResources(folder, resources, readHint) : "";
  return [...blocks, ...(listed ? [listed] : [])].join("\n\n");
}

/** Removes a first heading that only repeats the skill's name. Keeps any other title. */
export function withoutOwnTitle(body: string, id: string): string {
  const title = /^#[ \t]+(.*?)[ \t#]*(?:\r?\n|$)/.exec(body);
  const plain = (text: string) => text.toLowerCase().replace(/\b(?:the|skill|guide)\b|[^\p{L}\p{N}]/gu, "");
  const name = plain(id.slice(id.lastIndexOf(":") + 1));
  return title && name !== "" && plain(title[1]!) === name ? body.slice(title[0].length).trimStart() : body;
}

/** The folder once, then relative names. */
function formatResources(
  folder: string,
  { reference, assets, scripts, omitted }: SkillResources,
  readHint = "Use the Read tool to access these resources.",
): string {
  const groups: [string, readonly string[]][] = [
    ["Reference Documentation", reference],
    ["Assets & Templates", assets],
    ["Executable Scripts", scripts],
  ];
  const lines = groups
    .filter(([, names]) => names.length > 0)
    .map(([title, names]) => `**${title}:**\n${names.map((name) => `  - ${name}`).join("\n")}`);
  if (lines.length === 0) return "";
  const more = omitted ? [`${omitted} more are in the folder.`] : [];
  return ["## Available Resources", `In ${folder}:`, ...lines, ...more, readHint].join("\n\n");
}

/** Lists the whole catalogue only if it is small: the answer to a typo must not cost more than the skill. */
export function formatUnknownSkill(
  name: string,
  nearest: readonly { id: string; brief: string }[],
  catalogue: readonly { id: string; brief: string }[],
): string {
  const line = ({ id, brief }: { id: string; brief: string }) => `  - ${id}${brief ? `: ${brief}` : ""}`;
  if (catalogue.length === 0) return `Skill '${name}' not found. No skill is installed.`;
  const guess = nearest[0] ? ` Did you mean '${nearest[0].id}'?` : "";
  if (catalogue.length <= 20)
    return `Skill '${name}' not found.${guess}\n\nAvailable skills:\n${catalogue.map(line).join("\n")}\n\nUse one of the above skill names.`;
  const near = nearest.length > 0 ? `\n\nNearest names:\n${nearest.map(line).join("\n")}` : "";
  return `Skill '${name}' not found.${near}\n\n${catalogue.length} skills are installed; search them by what you need.`;
}

export function formatAlreadyLoaded(id: string): string {
  return `Skill '${id}' is already in this window, unchanged; ask with reload to get its text again.`;
}
